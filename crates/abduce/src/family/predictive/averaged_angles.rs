//! A finite mixture of von Mises distributions: the prediction of an angle when direction and
//! concentration are weighted draws.
//!
//! Its mean is the mean direction, that of Σ w A(κ) (cos μ, sin μ), and the circle
//! is cut open opposite of it, so that no interval is longer than a turn.

use crate::family::predictive::averaged::FEW;
use crate::family::univariate::{best_of, quantile_between, resampled};
use crate::family::{Univariate, VonMises, draw_index, turned};
use crate::kernel::quadrature::integrate_smooth;
use crate::kernel::roots::increasing_root;
use crate::kernel::special::{bessel_ratio, von_mises_cdf};
use rand::Rng;
use std::f64::consts::{PI, TAU};

/// The maximum number of Newton steps and bisections to a quantile.
const MAX_STEPS: usize = 50;

/// Von Mises distributions with their weights, which sum to 1.
///
/// ```
/// use abduce::family::{AveragedAngles, Univariate, VonMises};
/// // Two directions on either side of the cut at π.
/// let parts = [3.0, -3.0].map(|d| (1.0, VonMises { direction: d, concentration: 9.0 }));
/// let next = AveragedAngles::new(parts).unwrap();
/// assert!((next.mean().unwrap().abs() - std::f64::consts::PI).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AveragedAngles {
    weights: Vec<f64>,
    parts: Vec<VonMises>,
    /// The mean direction, from −π to π.
    direction: f64,
    /// A sample of the parts with equal weights, for first guesses.
    few: Vec<usize>,
}

impl AveragedAngles {
    /// A mixture; weights are scaled to the sum 1, and parts of weight 0 are left out. At least
    /// one must have weight.
    pub fn new(parts: impl IntoIterator<Item = (f64, VonMises)>) -> Option<AveragedAngles> {
        let weighs = |(weight, _): &(f64, VonMises)| *weight > 0.0;
        let (weights, parts): (Vec<f64>, Vec<VonMises>) = parts.into_iter().filter(weighs).unzip();
        let total: f64 = weights.iter().sum();
        if parts.is_empty() || !total.is_finite() {
            return None;
        }
        let weights: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let (mut sine, mut cosine) = (0.0, 0.0);
        for (weight, part) in weights.iter().zip(&parts) {
            let length = weight * bessel_ratio(part.concentration);
            sine += length * part.direction.sin();
            cosine += length * part.direction.cos();
        }
        let few = if parts.len() > FEW {
            resampled(&weights, FEW)
        } else {
            Vec::new()
        };
        Some(AveragedAngles {
            weights,
            parts,
            few,
            direction: sine.atan2(cosine),
        })
    }

    fn sum(&self, f: impl Fn(&VonMises) -> f64) -> f64 {
        let terms = self.weights.iter().zip(&self.parts);
        terms.map(|(weight, part)| weight * f(part)).sum()
    }

    /// The probability of the arc from one angle up to another.
    fn arc(&self, from: f64, to: f64) -> f64 {
        self.sum(|part| arc_of(part, from, to)).clamp(0.0, 1.0)
    }

    /// The quantile of a sample of the parts.
    fn guess(&self, p: f64) -> f64 {
        let (low, high) = self.support();
        let share = |x: f64| {
            let few = self.few.iter().map(|i| arc_of(&self.parts[*i], low, x));
            few.sum::<f64>() / FEW as f64
        };
        increasing_root(low, high, |x| share(x) - p)
    }

    /// The quantile of all parts, by Newton steps from that of a sample; a step that would leave
    /// the bracket is replaced by a bisection. The distribution function of all parts is costly
    /// and needed once: from there on the density is integrated.
    fn refined(&self, p: f64) -> f64 {
        let (mut low, mut high) = self.support();
        let guess = self.guess(p);
        let rest = p - self.arc(low, guess);
        let density = |x: f64| self.sum(|part| part.density(x));
        let mut x = guess;
        for _ in 0..MAX_STEPS {
            let missing = rest - integrate_smooth(density, guess, x, 1);
            if missing > 0.0 {
                low = x;
            } else {
                high = x;
            }
            let newton = x + missing / density(x);
            let next = if (low..=high).contains(&newton) {
                newton
            } else {
                0.5 * (low + high)
            };
            let step = (next - x).abs();
            x = next;
            if step < 1e-6 {
                break;
            }
        }
        x
    }

    /// The mean square of the distance of one part's angles from the mean direction.
    fn square_of(&self, part: &VonMises) -> f64 {
        // Beyond this the probability is 0.
        let reach = (12.0 / part.concentration.sqrt()).min(PI);
        let away = turned(part.direction - self.direction);
        let square = |t: f64| turned(away + t).powi(2) * part.density(part.direction + t);
        let cut = if away > 0.0 { PI - away } else { -PI - away };
        let cut = cut.clamp(-reach, reach);
        let ends = [-reach, cut.min(0.0), cut.max(0.0), reach];
        let pieces = ends.windows(2).filter(|piece| piece[0] < piece[1]);
        let integral = |piece: &[f64]| integrate_smooth(square, piece[0], piece[1], 2);
        pieces.map(integral).sum()
    }
}

/// The probability under one part of the arc from one angle up to another.
fn arc_of(part: &VonMises, from: f64, to: f64) -> f64 {
    // A distribution function that grows by 1 with every turn.
    let onwards = |x: f64| {
        let angle = x - part.direction;
        let turns = (angle / TAU).round();
        turns + von_mises_cdf(turned(angle), part.concentration)
    };
    onwards(to) - onwards(from)
}

impl Univariate for AveragedAngles {
    fn log_density(&self, x: f64) -> f64 {
        if x.is_finite() {
            self.sum(|part| part.density(x)).ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        let (low, high) = self.support();
        self.arc(low, x.clamp(low, high))
    }

    fn survival(&self, x: f64) -> f64 {
        let (low, high) = self.support();
        self.arc(x.clamp(low, high), high)
    }

    fn support(&self) -> (f64, f64) {
        (self.direction - PI, self.direction + PI)
    }

    fn quantile(&self, p: f64) -> f64 {
        let (low, high) = self.support();
        match p {
            p if p <= 0.0 => low,
            p if p >= 1.0 => high,
            p if self.few.is_empty() => quantile_between(self, p, low, high),
            p => self.refined(p),
        }
    }

    /// The mean direction.
    fn mean(&self) -> Option<f64> {
        Some(self.direction)
    }

    /// About the mean direction, on the circle cut open opposite of it.
    fn variance(&self) -> Option<f64> {
        Some(self.sum(|part| self.square_of(part)))
    }

    /// The best of the parts' modes and of many quantiles.
    fn mode(&self) -> f64 {
        let step = (self.parts.len() / 64).max(1);
        let modes = self.parts.iter().step_by(step).map(VonMises::mode);
        let quantiles = (1..64).map(|i| f64::from(i) / 64.0);
        let quantiles = quantiles.map(|p| {
            if self.few.is_empty() {
                self.quantile(p)
            } else {
                self.guess(p)
            }
        });
        best_of(self, modes.chain(quantiles))
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let part = draw_index(&self.weights, rng);
        self.direction + turned(self.parts[part].draw(rng) - self.direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::quadrature::integrate;

    #[test]
    fn many_parts_have_the_quantiles_and_the_variance_of_their_density() {
        let part = |direction: f64, concentration: f64| VonMises {
            direction,
            concentration,
        };
        let parts = [
            (0.5, part(3.0, 2.0)),
            (0.3, part(-2.5, 0.0)),
            (0.2, part(1.0, 400.0)),
        ];
        let [once, often] = [1, 100].map(|times| {
            let each = parts
                .iter()
                .flat_map(|part| std::iter::repeat_n(part, times));
            let each = each.map(|(weight, part)| (weight / times as f64, part.clone()));
            AveragedAngles::new(each).unwrap()
        });
        assert!(once.few.is_empty() && often.few.len() == FEW);
        for p in [0.0, 0.025, 0.3, 0.5, 0.975, 1.0] {
            let (a, b) = (once.quantile(p), often.quantile(p));
            assert!((a - b).abs() < 1e-8, "{p}: {a} {b}");
        }
        let (low, high) = once.support();
        let square = |x: f64| (x - once.direction).powi(2) * once.density(x);
        let breaks =
            [1.0, 1.0 - 0.5, 1.0 + 0.5].map(|x| once.direction + turned(x - once.direction));
        let expected = integrate(square, low, high, &breaks, 1e-11).value;
        for average in [&once, &often] {
            let variance = average.variance().unwrap();
            assert!(
                (variance / expected - 1.0).abs() < 1e-7,
                "{variance} {expected}"
            );
        }
    }

    #[test]
    fn quantiles_between_narrow_peaks_are_found() {
        // Between the peaks the density is nearly 0, and a Newton step leaves the circle.
        let parts = (0..200).map(|i| {
            let direction = -2.0 + 0.02 * f64::from(i % 3) + 2.0 * f64::from(i % 2);
            let concentration = 1e4;
            (
                1.0,
                VonMises {
                    direction,
                    concentration,
                },
            )
        });
        let mixture = AveragedAngles::new(parts).unwrap();
        for i in 1..100 {
            let p = f64::from(i) / 100.0;
            let x = mixture.quantile(p);
            let off = (mixture.cdf(x) - p).abs();
            assert!(off < 1e-6, "{p}: {x} {off}");
        }
    }
}
