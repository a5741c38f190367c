//! Student's t distribution about a location μ with a scale σ and ν degrees of
//! freedom: p(x) ∝ (1 + z²/ν)^(−(ν + 1)/2) with z = (x − μ)/σ.

mod centres;
mod estimate;
#[cfg(test)]
mod tests;

use crate::family::{Scalar, Univariate};
use crate::kernel::special::{
    beta_i, beta_i_complement, digamma, inverse_beta_i, inverse_beta_i_complement, ln_beta,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A Student t distribution.
///
/// ```
/// use abduce::family::{StudentT, Univariate};
/// let cauchy = StudentT { location: 0.0, scale: 1.0, degrees: 1.0 };
/// assert!((cauchy.cdf(1.0) - 0.75).abs() < 1e-14);
/// assert_eq!((cauchy.mean(), cauchy.variance()), (None, None));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudentT {
    /// The location μ.
    pub location: f64,
    /// The scale σ.
    pub scale: f64,
    /// The degrees of freedom ν.
    pub degrees: f64,
}

impl StudentT {
    /// From here on it is a Gaussian to double precision.
    pub(crate) const MAX_DEGREES: f64 = 1e7;

    /// A Student t distribution.
    ///
    /// # Errors
    /// If the location is not finite, or scale or degrees are not positive.
    pub fn new(location: f64, scale: f64, degrees: f64) -> Result<StudentT> {
        let t = StudentT {
            location,
            scale,
            degrees,
        };
        if t.in_range() {
            Ok(t)
        } else {
            Err(Error::parameter(format!(
                "a Student t distribution needs a finite location and a positive scale and \
                 degrees of freedom, not {location}, {scale} and {degrees}"
            )))
        }
    }

    fn standard(&self, x: f64) -> f64 {
        (x - self.location) / self.scale
    }

    /// The log-density at the location.
    fn log_peak(&self) -> f64 {
        // Γ((ν+1)/2)/(√(νπ) Γ(ν/2)) = 1/(√ν B(½, ν/2)).
        let nu = self.degrees;
        -0.5 * nu.ln() - ln_beta(0.5, 0.5 * nu) - self.scale.ln()
    }

    /// ln(1 + z²/ν), also where z² is beyond the largest number.
    fn log_stretch(&self, z: f64) -> f64 {
        let t = z.abs() / self.degrees.sqrt();
        if t < FAR {
            (t * t).ln_1p()
        } else {
            2.0 * t.ln()
        }
    }

    /// P(T > |z|).
    fn tail(&self, z: f64) -> f64 {
        let nu = self.degrees;
        let t = z.abs() / nu.sqrt();
        if t >= FAR {
            return (-nu * t.ln() - self.log_far()).exp();
        }
        let square = t * t;
        if square < 1.0 {
            0.5 * beta_i_complement(0.5, 0.5 * nu, square / (1.0 + square))
        } else {
            0.5 * beta_i(0.5 * nu, 0.5, 1.0 / (1.0 + square))
        }
    }

    /// The logarithm of t^ν times the tail far out, where t = z/√ν.
    fn log_far(&self) -> f64 {
        let nu = self.degrees;
        nu.ln() + ln_beta(0.5 * nu, 0.5)
    }
}

/// The distance in √ν beyond which only the leading term of the tails matters.
const FAR: f64 = 1e8;

impl Univariate for StudentT {
    fn log_density(&self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        self.log_peak() - 0.5 * (self.degrees + 1.0) * self.log_stretch(self.standard(x))
    }

    fn cdf(&self, x: f64) -> f64 {
        let z = self.standard(x);
        if z <= 0.0 {
            self.tail(z)
        } else {
            1.0 - self.tail(z)
        }
    }

    fn survival(&self, x: f64) -> f64 {
        let z = self.standard(x);
        if z >= 0.0 {
            self.tail(z)
        } else {
            1.0 - self.tail(z)
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        if p <= 0.0 || p >= 1.0 {
            return if p <= 0.0 {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            };
        }
        let nu = self.degrees;
        let tail = p.min(1.0 - p);
        let log_distance = -(tail.ln() + self.log_far()) / nu;
        let size = if log_distance > FAR.ln() {
            nu.sqrt() * log_distance.exp()
        } else if tail < 0.25 {
            // The smaller of the two shares has more digits.
            let share = inverse_beta_i_complement(0.5, 0.5 * nu, 2.0 * tail);
            if share < 0.5 {
                (nu * share / (1.0 - share)).sqrt()
            } else {
                let rest = inverse_beta_i(0.5 * nu, 0.5, 2.0 * tail);
                (nu * (1.0 - rest) / rest).sqrt()
            }
        } else {
            let y = inverse_beta_i(0.5, 0.5 * nu, 1.0 - 2.0 * tail);
            (nu * y / (1.0 - y)).sqrt()
        };
        let z = if p < 0.5 { -size } else { size };
        self.location + self.scale * z
    }

    fn mean(&self) -> Option<f64> {
        (self.degrees > 1.0).then_some(self.location)
    }

    fn variance(&self) -> Option<f64> {
        let square = self.scale * self.scale;
        match self.degrees {
            nu if nu > 2.0 => Some(square * (nu / (nu - 2.0))),
            nu if nu > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        self.location
    }

    fn entropy(&self) -> f64 {
        let nu = self.degrees;
        let half = 0.5 * (nu + 1.0);
        // ψ is smooth: its difference over ½ loses digits for large ν only
        // where the factor (ν+1)/2 is about to restore them.
        let rise = if nu > 1e5 {
            0.5 + 0.75 / nu
        } else {
            half * (digamma(half) - digamma(0.5 * nu))
        };
        rise + 0.5 * nu.ln() + ln_beta(0.5 * nu, 0.5) + self.scale.ln()
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        match rand_distr::StudentT::new(self.degrees) {
            Ok(t) => self.location + self.scale * rng.sample(t),
            Err(_) => self.quantile(rng.random()),
        }
    }
}
