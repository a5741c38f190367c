//! The point mass: one number with probability 1. It is treated as a count, whose "density" is a
//! probability.

use crate::family::Univariate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// All probability on one number.
///
/// ```
/// use abduce::family::{PointMass, Univariate};
/// let certain = PointMass { value: 3.5 };
/// assert_eq!((certain.density(3.5), certain.density(3.4)), (1.0, 0.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointMass {
    /// The number.
    pub value: f64,
}

impl Univariate for PointMass {
    fn log_density(&self, x: f64) -> f64 {
        if x == self.value {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        f64::from(u8::from(x >= self.value))
    }

    fn survival(&self, x: f64) -> f64 {
        f64::from(u8::from(x < self.value))
    }

    fn support(&self) -> (f64, f64) {
        (self.value, self.value)
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn quantile(&self, _: f64) -> f64 {
        self.value
    }

    fn mean(&self) -> Option<f64> {
        Some(self.value)
    }

    fn variance(&self) -> Option<f64> {
        Some(0.0)
    }

    fn mode(&self) -> f64 {
        self.value
    }

    fn entropy(&self) -> f64 {
        0.0
    }

    fn kl(&self, other: &Self) -> f64 {
        if self.value == other.value {
            0.0
        } else {
            f64::INFINITY
        }
    }

    fn draw(&self, _: &mut dyn Rng) -> f64 {
        self.value
    }

    fn expectation(&self, f: &dyn Fn(f64) -> f64) -> f64 {
        f(self.value)
    }
}
