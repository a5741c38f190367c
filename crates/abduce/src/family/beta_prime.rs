//! The scaled beta-prime distribution of a positive number: x/(x + s) is
//! Beta(a, b); equally a gamma of shape a whose rate is Gamma(b, s) distributed.

use super::{Beta, Univariate};
use crate::kernel::special::ln_beta;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A scaled beta-prime distribution.
///
/// ```
/// use abduce::family::{BetaPrime, Univariate};
/// let x = BetaPrime { a: 2.0, b: 3.0, scale: 4.0 };
/// assert_eq!(x.mean(), Some(4.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetaPrime {
    /// The shape a at 0.
    pub a: f64,
    /// The shape b of the tail; moments up to it exist.
    pub b: f64,
    /// The scale s.
    pub scale: f64,
}

impl BetaPrime {
    fn share(&self) -> Beta {
        Beta {
            a: self.a,
            b: self.b,
        }
    }
}

impl Univariate for BetaPrime {
    fn log_density(&self, x: f64) -> f64 {
        if !(x >= 0.0 && x.is_finite()) {
            return f64::NEG_INFINITY;
        }
        let t = x / self.scale;
        let power = if self.a == 1.0 {
            0.0
        } else {
            (self.a - 1.0) * t.ln()
        };
        power - (self.a + self.b) * t.ln_1p() - self.scale.ln() - ln_beta(self.a, self.b)
    }

    fn cdf(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.share().cdf(x / (x + self.scale))
        } else {
            0.0
        }
    }

    fn survival(&self, x: f64) -> f64 {
        if x < self.scale {
            return self
                .share()
                .survival(x.max(0.0) / (x.max(0.0) + self.scale));
        }
        // Of the other share, whose digits 1 − x/(x + s) would lose.
        let rest = Beta {
            a: self.b,
            b: self.a,
        };
        rest.cdf(self.scale / (x + self.scale))
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        if p >= 1.0 {
            return f64::INFINITY;
        }
        if p <= 0.5 {
            let share = self.share().quantile(p);
            return self.scale * share / (1.0 - share);
        }
        let rest = Beta {
            a: self.b,
            b: self.a,
        }
        .quantile(1.0 - p);
        self.scale * (1.0 - rest) / rest
    }

    fn mean(&self) -> Option<f64> {
        Some(match self.b > 1.0 {
            true => self.scale * self.a / (self.b - 1.0),
            false => f64::INFINITY,
        })
    }

    fn variance(&self) -> Option<f64> {
        let BetaPrime { a, b, scale } = *self;
        match b {
            b if b > 2.0 => {
                Some(scale * scale * a * (a + b - 1.0) / ((b - 1.0) * (b - 1.0) * (b - 2.0)))
            }
            b if b > 1.0 => Some(f64::INFINITY),
            _ => None,
        }
    }

    fn mode(&self) -> f64 {
        self.scale * (self.a - 1.0).max(0.0) / (self.b + 1.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        self.quantile(rand::RngExt::random(rng))
    }
}
