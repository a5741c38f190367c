//! A finite mixture of distributions of one number: what is predicted when
//! parameters are known only as weighted points.

use super::univariate::{best_of, quantile_between};
use super::{Univariate, draw_index};
use rand::Rng;

/// Distributions with their weights, which sum to 1.
#[derive(Debug)]
pub struct Averaged {
    weights: Vec<f64>,
    parts: Vec<Box<dyn Univariate>>,
}

impl Averaged {
    /// A mixture; weights are brought to the sum 1, and parts of no weight
    /// are left out. At least one must have weight.
    pub fn new(parts: impl IntoIterator<Item = (f64, Box<dyn Univariate>)>) -> Option<Averaged> {
        let (weights, parts): (Vec<f64>, Vec<Box<dyn Univariate>>) = parts
            .into_iter()
            .filter(|(weight, _)| *weight > 0.0)
            .unzip();
        let total: f64 = weights.iter().sum();
        let weights = weights.iter().map(|weight| weight / total).collect();
        (!parts.is_empty() && total.is_finite()).then_some(Averaged { weights, parts })
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
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), own| {
            (low.min(own.0), high.max(own.1))
        })
    }

    fn is_discrete(&self) -> bool {
        self.parts.iter().all(|part| part.is_discrete())
    }

    /// Between the smallest and the largest quantile of the parts, which exist
    /// where moments do not.
    fn quantile(&self, p: f64) -> f64 {
        let (low, high) = self.support();
        match p {
            p if p <= 0.0 => return low,
            p if p >= 1.0 => return high,
            _ => {}
        }
        let own = self.parts.iter().map(|part| part.quantile(p));
        let own = own.map(|x| x.clamp(f64::MIN, f64::MAX));
        let (low, high) = own.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        match self.is_discrete() {
            true => quantile_between(self, p, low - 1.0, high),
            false if low == high => low,
            false => quantile_between(self, p, low, high),
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
        let quantiles = (1..64).map(|i| self.quantile(f64::from(i) / 64.0));
        best_of(self, modes.chain(quantiles))
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let part = draw_index(&self.weights, rng);
        self.parts[part].draw(rng)
    }
}
