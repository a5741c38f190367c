//! The geometric distribution of the failures before the first success:
//! P(x) = p (1 − p)ˣ, x = 0, 1, 2, … (not of the trials, which are one more).

use crate::family::counts::lattice::next_count;
use crate::family::sums::sums;
use crate::family::unconstrained::{logarithms, shares};
use crate::family::{
    ExponentialFamily, Scalar, Scale, Unconstrained, Univariate, is_count, nothing_seen,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A geometric distribution with its probability of success.
///
/// ```
/// use abduce::family::{Geometric, Univariate};
/// let failures = Geometric { probability: 0.25 };
/// assert_eq!((failures.mean(), failures.density(0.0)), (Some(3.0), 0.25));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Geometric {
    /// The probability p of success.
    pub probability: f64,
}

sums! {
    /// Sums over the counts seen.
    GeometricStats {
        /// The weighted sum of the failures.
        sum,
    }
}

impl Geometric {
    /// A geometric distribution.
    ///
    /// # Errors
    /// If the probability is not above 0 and at most 1.
    pub fn new(probability: f64) -> Result<Geometric> {
        let geometric = Geometric { probability };
        if geometric.in_range() {
            Ok(geometric)
        } else {
            Err(Error::parameter(format!(
                "the probability of a geometric distribution must be above 0 and at most 1, not \
                 {probability}"
            )))
        }
    }

    fn log_failure(&self) -> f64 {
        (-self.probability).ln_1p()
    }
}

impl Univariate for Geometric {
    fn log_density(&self, x: f64) -> f64 {
        if !<Self as Scalar>::supports(x) {
            return f64::NEG_INFINITY;
        }
        let failures = if x > 0.0 { x * self.log_failure() } else { 0.0 };
        self.probability.ln() + failures
    }

    fn cdf(&self, x: f64) -> f64 {
        next_count(x).map_or(0.0, |next| -(next * self.log_failure()).exp_m1())
    }

    fn survival(&self, x: f64) -> f64 {
        next_count(x).map_or(1.0, |next| (next * self.log_failure()).exp())
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        Some((1.0 - self.probability) / self.probability)
    }

    fn variance(&self) -> Option<f64> {
        Some((1.0 - self.probability) / (self.probability * self.probability))
    }

    fn mode(&self) -> f64 {
        0.0
    }

    fn entropy(&self) -> f64 {
        let p = self.probability;
        if p < 1.0 {
            -p.ln() - (1.0 - p) / p * self.log_failure()
        } else {
            0.0
        }
    }

    fn kl(&self, other: &Self) -> f64 {
        let (p, q) = (self.probability, other.probability);
        let successes = (p / q).ln();
        if p == 1.0 {
            return successes;
        }
        let failures = (1.0 - p) / p * (self.log_failure() - other.log_failure());
        (successes + failures).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        // 1 − u is above 0, so that its logarithm is finite.
        let log = (-rng.random::<f64>()).ln_1p();
        (log / self.log_failure()).floor().max(0.0)
    }
}

impl Scalar for Geometric {
    const NAME: &'static str = "geometric";
    const PARAMETERS: usize = 1;
    const HAS_UNITS: bool = false;
    type Stats = GeometricStats;

    fn supports(x: f64) -> bool {
        is_count(x)
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut GeometricStats) {
        for (x, weight) in cells {
            stats.weight += weight;
            stats.sum += weight * x;
        }
    }

    fn estimate(stats: &GeometricStats) -> Result<Self> {
        if stats.weight <= 0.0 {
            return Err(nothing_seen());
        }
        Geometric::new(stats.weight / (stats.weight + stats.sum))
    }

    fn log_likelihood_of(&self, stats: &GeometricStats) -> f64 {
        let failures = if stats.sum > 0.0 {
            stats.sum * self.log_failure()
        } else {
            0.0
        };
        stats.weight * self.probability.ln() + failures
    }

    fn wide(scale: &Scale) -> Self {
        Geometric {
            probability: 1.0 / (1.0 + scale.mean.max(1e-9)),
        }
    }

    fn expected(&self, rows: f64) -> GeometricStats {
        GeometricStats {
            weight: rows,
            sum: rows * (1.0 - self.probability) / self.probability,
        }
    }

    fn in_range(&self) -> bool {
        self.probability > 0.0 && self.probability <= 1.0
    }

    fn are_valid(stats: &GeometricStats) -> bool {
        stats.weight >= 0.0 && stats.sum >= 0.0
    }
}

impl Unconstrained for Geometric {
    fn coordinates(&self, _: &(), _: &Self) -> Option<Vec<f64>> {
        Some(logarithms(&[1.0 - self.probability, self.probability]))
    }

    fn at_coordinates(&self, _: &(), _: &Self, coordinates: &[f64]) -> Option<Self> {
        let moved = shares(&[1.0 - self.probability, self.probability], coordinates)?;
        Some(Geometric {
            probability: moved[1],
        })
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Geometric {
    fn examples() -> Vec<Self> {
        [0.3, 0.004, 1.0]
            .map(|probability| Geometric { probability })
            .to_vec()
    }
}

impl ExponentialFamily for Geometric {
    fn natural(&self) -> Vec<f64> {
        vec![self.log_failure()]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Geometric::new(-natural[0].exp_m1())
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        -(-natural[0].exp_m1()).ln()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if <Self as Scalar>::supports(x[0]) {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![(1.0 - self.probability) / self.probability]
    }
}
