//! The Lomax distribution of a positive number, an exponential whose rate is
//! gamma distributed: P(X > x) = (1 + x/s)^(−a).

use crate::family::Univariate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A Lomax (Pareto of the second kind) distribution.
///
/// ```
/// use abduce::family::{Lomax, Univariate};
/// let waiting = Lomax { shape: 3.0, scale: 10.0 };
/// assert_eq!(waiting.mean(), Some(5.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lomax {
    /// The shape a; moments up to it exist.
    pub shape: f64,
    /// The scale s.
    pub scale: f64,
}

impl Univariate for Lomax {
    fn log_density(&self, x: f64) -> f64 {
        if x >= 0.0 && x.is_finite() {
            self.shape.ln() - self.scale.ln() - (self.shape + 1.0) * (x / self.scale).ln_1p()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        -(-self.shape * (x.max(0.0) / self.scale).ln_1p()).exp_m1()
    }

    fn survival(&self, x: f64) -> f64 {
        (-self.shape * (x.max(0.0) / self.scale).ln_1p()).exp()
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        let p = p.clamp(0.0, 1.0);
        self.scale * (-(-p).ln_1p() / self.shape).exp_m1()
    }

    fn mean(&self) -> Option<f64> {
        Some(if self.shape > 1.0 {
            self.scale / (self.shape - 1.0)
        } else {
            f64::INFINITY
        })
    }

    fn variance(&self) -> Option<f64> {
        let a = self.shape;
        match a {
            a if a > 2.0 => Some(self.scale * self.scale * a / ((a - 1.0) * (a - 1.0) * (a - 2.0))),
            a if a > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        0.0
    }

    fn entropy(&self) -> f64 {
        1.0 + 1.0 / self.shape + (self.scale / self.shape).ln()
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        self.quantile(rand::RngExt::random(rng))
    }
}
