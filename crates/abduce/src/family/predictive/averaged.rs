//! A finite mixture of distributions of one number: the prediction when parameters are weighted
//! draws.

use crate::family::univariate::{best_of, quantile_between, quantile_near, resampled};
use crate::family::{Univariate, draw_index};
use crate::kernel::roots::increasing_root;
use rand::Rng;

/// With up to this many parts all of them bracket a quantile; of more, a sample of this size
/// gives a first guess.
pub(crate) const FEW: usize = 64;

/// Distributions with their weights, which sum to 1.
#[derive(Debug)]
pub struct Averaged {
    weights: Vec<f64>,
    parts: Vec<Box<dyn Univariate>>,
    /// A sample of the parts with equal weights, for first guesses.
    few: Vec<usize>,
}

impl Averaged {
    /// A mixture; weights are scaled to the sum 1, and parts of weight 0 are left out. At least
    /// one must have weight.
    pub fn new(parts: impl IntoIterator<Item = (f64, Box<dyn Univariate>)>) -> Option<Averaged> {
        let (weights, parts): (Vec<f64>, Vec<Box<dyn Univariate>>) = parts
            .into_iter()
            .filter(|(weight, _)| *weight > 0.0)
            .unzip();
        let total: f64 = weights.iter().sum();
        let weights: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let few = if parts.len() > FEW {
            resampled(&weights, FEW)
        } else {
            Vec::new()
        };
        let sound = !parts.is_empty() && total.is_finite();
        sound.then_some(Averaged {
            weights,
            parts,
            few,
        })
    }

    /// The quantile of a sample of the parts, and their density there.
    fn guess(&self, p: f64) -> (f64, f64) {
        let few = || self.few.iter().map(|i| self.parts[*i].as_ref());
        let mean = |f: &dyn Fn(&dyn Univariate) -> f64| few().map(f).sum::<f64>() / FEW as f64;
        let mut quantiles: Vec<f64> = few()
            .map(|part| part.quantile(p).clamp(f64::MIN, f64::MAX))
            .collect();
        quantiles.sort_by(f64::total_cmp);
        let (low, high) = (quantiles[0], quantiles[quantiles.len() - 1]);
        let guess = if self.is_discrete() || low == high {
            quantiles[quantiles.len() / 2]
        } else if p <= 0.5 {
            increasing_root(low, high, |x| mean(&|part| part.cdf(x)) - p)
        } else {
            increasing_root(low, high, |x| (1.0 - p) - mean(&|part| part.survival(x)))
        };
        (guess, mean(&|part| part.density(guess)))
    }

    fn sum(&self, f: impl Fn(&dyn Univariate) -> f64) -> f64 {
        let terms = self.weights.iter().zip(&self.parts);
        terms.map(|(weight, part)| weight * f(part.as_ref())).sum()
    }

    fn all(&self, f: impl Fn(&dyn Univariate) -> Option<f64>) -> Option<f64> {
        let terms = self.weights.iter().zip(&self.parts);
        terms
            .map(|(weight, part)| f(part.as_ref()).map(|x| weight * x))
            .sum()
    }
}

impl Univariate for Averaged {
    fn log_density(&self, x: f64) -> f64 {
        let logs: Vec<f64> = self.parts.iter().map(|part| part.log_density(x)).collect();
        let most = logs.iter().fold(f64::NEG_INFINITY, |most, l| most.max(*l));
        if most == f64::NEG_INFINITY {
            return most;
        }
        let terms = self.weights.iter().zip(&logs);
        most + terms
            .map(|(weight, l)| weight * (l - most).exp())
            .sum::<f64>()
            .ln()
    }

    fn cdf(&self, x: f64) -> f64 {
        self.sum(|part| part.cdf(x)).min(1.0)
    }

    fn survival(&self, x: f64) -> f64 {
        self.sum(|part| part.survival(x)).min(1.0)
    }

    fn support(&self) -> (f64, f64) {
        let ends = self.parts.iter().map(|part| part.support());
        ends.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(low, high), support| (low.min(support.0), high.max(support.1)),
        )
    }

    fn is_discrete(&self) -> bool {
        self.parts.iter().all(|part| part.is_discrete())
    }

    /// Between the smallest and the largest quantile of the parts, which exist where moments do
    /// not.
    fn quantile(&self, p: f64) -> f64 {
        let (low, high) = self.support();
        match p {
            p if p <= 0.0 => return low,
            p if p >= 1.0 => return high,
            _ => {}
        }
        if !self.few.is_empty() {
            let (guess, density) = self.guess(p);
            return quantile_near(self, p, guess, density);
        }
        let quantiles = self.parts.iter().map(|part| part.quantile(p));
        let quantiles = quantiles.map(|x| x.clamp(f64::MIN, f64::MAX));
        let (low, high) = quantiles.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        if self.is_discrete() {
            quantile_between(self, p, low - 1.0, high)
        } else if low == high {
            low
        } else {
            quantile_between(self, p, low, high)
        }
    }

    fn mean(&self) -> Option<f64> {
        self.all(|part| part.mean())
    }

    fn variance(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| mean.is_finite())?;
        self.all(|part| {
            let shift = part.mean()? - mean;
            Some(part.variance()? + shift * shift)
        })
    }

    /// The best of the parts' modes and of many quantiles.
    fn mode(&self) -> f64 {
        let step = (self.parts.len() / 64).max(1);
        let modes = self.parts.iter().step_by(step).map(|part| part.mode());
        let quantiles = (1..64).map(|i| f64::from(i) / 64.0);
        let quantiles = quantiles.map(|p| {
            if self.few.is_empty() {
                self.quantile(p)
            } else {
                self.guess(p).0
            }
        });
        best_of(self, modes.chain(quantiles))
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let part = draw_index(&self.weights, rng);
        self.parts[part].draw(rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Gamma, Poisson, StudentT};

    /// The parts, and each of them many times, with the same weight in all.
    fn once_and_often<D: Univariate + Clone + 'static>(parts: &[(f64, D)]) -> [Averaged; 2] {
        [1, 100].map(|times| {
            let each = parts
                .iter()
                .flat_map(|part| std::iter::repeat_n(part, times));
            let each = each.map(|(weight, part)| {
                let part: Box<dyn Univariate> = Box::new(part.clone());
                (weight / times as f64, part)
            });
            Averaged::new(each).unwrap()
        })
    }

    #[test]
    fn many_parts_have_the_quantiles_of_the_few_that_they_repeat() {
        let t = |location: f64, degrees: f64| StudentT {
            location,
            scale: 1.0,
            degrees,
        };
        let gamma = |shape: f64| Gamma::new(shape, 0.5).unwrap();
        let poisson = |rate: f64| Poisson { rate };
        let all = [
            once_and_often(&[(0.9, t(0.0, 1.0)), (0.1, t(50.0, 3.0))]),
            once_and_often(&[(0.5, gamma(0.1)), (0.3, gamma(7.0)), (0.2, gamma(90.0))]),
            once_and_often(&[(0.7, poisson(0.2)), (0.3, poisson(300.0))]),
        ];
        for [once, often] in &all {
            assert!(once.few.is_empty() && often.few.len() == FEW);
            for p in [0.0, 1e-6, 0.025, 0.3, 0.5, 0.72, 0.975, 1.0 - 1e-9, 1.0] {
                let (a, b) = (once.quantile(p), often.quantile(p));
                let near = a == b || (a - b).abs() <= 1e-9 * a.abs().max(1e-300);
                assert!(near, "{p}: {a} {b}");
            }
            assert_eq!(once.mean().is_some(), often.mean().is_some());
        }
    }
}
