//! The beta-negative-binomial distribution of a count: a negative binomial
//! whose probability of success is beta distributed,
//! P(x) = Γ(x + r)/(x! Γ(r)) · B(a + r, b + x)/B(a, b).

use crate::family::counts::lattice::sum_of_masses;
use crate::family::{Beta, NegativeBinomial, Univariate, is_count};
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

impl BetaNegativeBinomial {
    /// The log-probability at any number from 0 up.
    fn log_mass(&self, x: f64) -> f64 {
        let (Beta { a, b }, r) = (&self.probability, self.size);
        // Bayes' rule at the posterior mean: no term is larger than the result.
        let total = a + r + b + x;
        let (p, q) = ((a + r) / total, (b + x) / total);
        let likelihood = match x {
            0.0 => r * (-q).ln_1p(),
            x => ln_beta_mass(r, x, p, q) - x.ln(),
        };
        likelihood + ln_beta_mass(*a, *b, p, q) - ln_beta_mass(a + r, b + x, p, q)
    }

    /// P(X ≤ x) and P(X > x): the smaller is summed, the other is its complement.
    fn tails(&self, x: f64) -> (f64, f64) {
        let (Beta { a, b }, x) = (&self.probability, x.floor());
        if x < 0.0 {
            return (0.0, 1.0);
        }
        if self.size == 1.0 {
            let upper = (ln_beta(*a, b + x + 1.0) - ln_beta(*a, *b)).exp();
            return (1.0 - upper, upper);
        }
        let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
        let widths = finite(self.mean()).zip(finite(self.variance()).map(f64::sqrt));
        let sum =
            |low: f64, high: f64| sum_of_masses(|x| self.log_mass(x), low, high, widths).min(1.0);
        // A few counts are summed more exactly than the infinite tail.
        let enough = if x < 100.0 { 0.99 } else { 0.5 };
        match sum(0.0, x) {
            lower if lower <= enough => (lower, 1.0 - lower),
            _ => {
                let upper = sum(x + 1.0, f64::INFINITY);
                (1.0 - upper, upper)
            }
        }
    }
}

impl Univariate for BetaNegativeBinomial {
    fn log_density(&self, x: f64) -> f64 {
        if is_count(x) {
            self.log_mass(x)
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        self.tails(x).0
    }

    fn survival(&self, x: f64) -> f64 {
        self.tails(x).1
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        let Beta { a, b } = self.probability;
        Some(if a > 1.0 {
            self.size * b / (a - 1.0)
        } else {
            f64::INFINITY
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
        // At a whole number, it and the count below are equally probable.
        let top = (r - 1.0).max(0.0) * (b - 1.0).max(0.0) / (a + 1.0);
        (top.ceil() - 1.0).max(0.0)
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
