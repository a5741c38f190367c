//! The normal-gamma distribution of a mean and a precision:
//! λ ~ Gamma(a, b), μ | λ ~ N(m, 1/κλ).

use super::{Gamma, Gaussian, Univariate};
use crate::{Error, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A normal-gamma distribution over (mean, precision).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalGamma {
    /// The mean m of the mean.
    pub mean: f64,
    /// The strength κ of belief in it, in rows.
    pub strength: f64,
    /// The shape a of the precision.
    pub shape: f64,
    /// The rate b of the precision.
    pub rate: f64,
}

impl NormalGamma {
    /// A normal-gamma distribution.
    ///
    /// # Errors
    /// If the mean is not finite or another number not positive.
    pub fn new(mean: f64, strength: f64, shape: f64, rate: f64) -> Result<NormalGamma> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        match mean.is_finite() && positive(strength) && positive(shape) && positive(rate) {
            true => Ok(NormalGamma {
                mean,
                strength,
                shape,
                rate,
            }),
            false => Err(Error::parameter(
                "strength, shape and rate must be positive",
            )),
        }
    }

    pub(crate) fn log_density(&self, x: &[f64]) -> f64 {
        let precision = Gamma {
            shape: self.shape,
            rate: self.rate,
        };
        let mean = Gaussian {
            mean: self.mean,
            variance: 1.0 / (self.strength * x[1]),
        };
        precision.log_density(x[1]) + mean.log_density(x[0])
    }

    pub(crate) fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let precision = Gamma {
            shape: self.shape,
            rate: self.rate,
        }
        .draw(rng);
        let mean = Gaussian {
            mean: self.mean,
            variance: 1.0 / (self.strength * precision),
        };
        vec![mean.draw(rng), precision]
    }
}
