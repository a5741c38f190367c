//! The beta-negative-binomial distribution of a count: a negative binomial
//! whose probability of success is beta distributed,
//! P(x) = Γ(x + r)/(x! Γ(r)) · B(a + r, b + x)/B(a, b).

use super::{Beta, NegativeBinomial, Scalar, Univariate};
use crate::kernel::special::{ln_beta, ln_beta_mass};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A beta-negative-binomial distribution; of size 1, a beta-geometric one.
///
/// ```
/// use abduce::family::{Beta, BetaNegativeBinomial, Univariate};
/// let failures = BetaNegativeBinomial { size: 1.0, probability: Beta { a: 2.0, b: 2.0 } };
/// assert!((failures.density(0.0) - 0.5).abs() < 1e-14);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetaNegativeBinomial {
    /// The number of successes waited for.
    pub size: f64,
    /// The distribution of the probability of success.
    pub probability: Beta,
}

impl Univariate for BetaNegativeBinomial {
    fn log_density(&self, x: f64) -> f64 {
        if !<NegativeBinomial as Scalar>::supports(x) {
            return f64::NEG_INFINITY;
        }
        let (Beta { a, b }, r) = (&self.probability, self.size);
        // Bayes' rule at the mean: the terms are small where x is likely.
        let (p, q) = (a / (a + b), b / (a + b));
        let likelihood = match x {
            0.0 => r * (-q).ln_1p(),
            x => ln_beta_mass(r, x, p, q) - x.ln(),
        };
        likelihood + ln_beta_mass(*a, *b, p, q) - ln_beta_mass(a + r, b + x, p, q)
    }

    /// The mean of the negative binomial's over the probability; a sum for a
    /// few counts.
    fn cdf(&self, x: f64) -> f64 {
        1.0 - self.survival(x)
    }

    fn survival(&self, x: f64) -> f64 {
        if x < 0.0 {
            return 1.0;
        }
        let (Beta { a, b }, x) = (&self.probability, x.floor());
        if self.size == 1.0 {
            return (ln_beta(*a, b + x + 1.0) - ln_beta(*a, *b)).exp();
        }
        if x < 1000.0 {
            let below: f64 = (0..=x as u32).map(|i| self.density(f64::from(i))).sum();
            // A small tail has no digits left as a difference.
            if below < 0.99 {
                return 1.0 - below;
            }
        }
        let tail = |probability: f64| {
            NegativeBinomial {
                size: self.size,
                probability,
            }
            .survival(x)
        };
        self.probability.expectation(&tail)
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        let Beta { a, b } = self.probability;
        Some(match a > 1.0 {
            true => self.size * b / (a - 1.0),
            false => f64::INFINITY,
        })
    }

    fn variance(&self) -> Option<f64> {
        let (Beta { a, b }, r) = (&self.probability, self.size);
        let (a, b) = (*a, *b);
        match a {
            a if a > 2.0 => {
                Some(r * (a + r - 1.0) * b * (a + b - 1.0) / ((a - 2.0) * (a - 1.0) * (a - 1.0)))
            }
            a if a > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        let (Beta { a, b }, r) = (&self.probability, self.size);
        match r > 1.0 && *b > 1.0 {
            true => (((r - 1.0) * (b - 1.0)) / (a + 1.0)).floor(),
            false => 0.0,
        }
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let probability = self.probability.draw(rng);
        NegativeBinomial {
            size: self.size,
            probability,
        }
        .draw(rng)
    }
}
