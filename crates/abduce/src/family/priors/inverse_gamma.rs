//! The inverse-gamma distribution: 1/x is gamma distributed. It is the distribution of a variance
//! whose precision is gamma distributed.

use crate::family::{Gamma, Univariate};
use crate::kernel::special::{inverse_gamma_p, inverse_gamma_q, ln_less_digamma, ln_poisson_mass};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// An inverse-gamma distribution with its shape and scale.
///
/// ```
/// use abduce::family::{InverseGamma, Univariate};
/// let variance = InverseGamma { shape: 3.0, scale: 4.0 };
/// assert_eq!((variance.mean(), variance.mode()), (Some(2.0), 1.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InverseGamma {
    /// The shape a.
    pub shape: f64,
    /// The scale b, the rate of the gamma distribution of 1/x.
    pub scale: f64,
}

impl InverseGamma {
    fn inverse(&self) -> Gamma {
        Gamma {
            shape: self.shape,
            rate: self.scale,
        }
    }
}

impl Univariate for InverseGamma {
    fn log_density(&self, x: f64) -> f64 {
        if x > 0.0 && x.is_finite() {
            ln_poisson_mass(self.shape, self.scale / x) + self.shape.ln() - x.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.inverse().survival(1.0 / x)
        } else {
            0.0
        }
    }

    fn survival(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.inverse().cdf(1.0 / x)
        } else {
            1.0
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        // From the tail in which p is small, since 1 − p loses its digits.
        match p {
            p if p <= 0.0 => 0.0,
            p if p >= 1.0 => f64::INFINITY,
            p if p <= 0.5 => self.scale / inverse_gamma_q(self.shape, p),
            p => self.scale / inverse_gamma_p(self.shape, 1.0 - p),
        }
    }

    fn mean(&self) -> Option<f64> {
        Some(if self.shape > 1.0 {
            self.scale / (self.shape - 1.0)
        } else {
            f64::INFINITY
        })
    }

    fn variance(&self) -> Option<f64> {
        match self.shape {
            a if a > 2.0 => {
                let mean = self.scale / (a - 1.0);
                Some(mean * mean / (a - 2.0))
            }
            a if a > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        self.scale / (self.shape + 1.0)
    }

    fn entropy(&self) -> f64 {
        let a = self.shape;
        // a + ln Γ(a) − (1 + a) ψ(a), without the cancellation.
        let rest = (a + 1.0) * ln_less_digamma(a) - 2.0 * a.ln();
        self.scale.ln() - ln_poisson_mass(a, a) + rest
    }

    fn kl(&self, other: &Self) -> f64 {
        self.inverse().kl(&other.inverse())
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        1.0 / self.inverse().draw(rng)
    }
}
