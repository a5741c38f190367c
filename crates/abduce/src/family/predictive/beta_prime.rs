//! The scaled beta-prime distribution of a positive number: x/(x + s) is
//! Beta(a, b); equally a gamma of shape a whose rate is Gamma(b, s) distributed.

use crate::family::{Beta, Univariate};
use crate::kernel::special::{inverse_beta_i, inverse_beta_i_complement, ln_beta, ln_beta_mass};
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

    /// The complement s/(x + s), whose digits 1 − x/(x + s) would lose.
    fn rest(&self) -> Beta {
        Beta {
            a: self.b,
            b: self.a,
        }
    }
}

impl Univariate for BetaPrime {
    fn log_density(&self, x: f64) -> f64 {
        if !(x >= 0.0 && x.is_finite()) {
            return f64::NEG_INFINITY;
        }
        if x > 0.0 {
            let (within, beyond) = (x / (x + self.scale), self.scale / (x + self.scale));
            return ln_beta_mass(self.a, self.b, within, beyond) - x.ln();
        }
        // At 0 the density is 0, finite or infinite.
        let power = match self.a {
            1.0 => 0.0,
            a => (a - 1.0) * x.ln(),
        };
        power - self.scale.ln() - ln_beta(self.a, self.b)
    }

    fn cdf(&self, x: f64) -> f64 {
        match x {
            x if x <= 0.0 => 0.0,
            x if x < self.scale => self.share().cdf(x / (x + self.scale)),
            x => self.rest().survival(self.scale / (x + self.scale)),
        }
    }

    fn survival(&self, x: f64) -> f64 {
        if x < self.scale {
            return self
                .share()
                .survival(x.max(0.0) / (x.max(0.0) + self.scale));
        }
        self.rest().cdf(self.scale / (x + self.scale))
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        if p >= 1.0 {
            return f64::INFINITY;
        }
        // From the smaller share, which has more digits.
        if self.cdf(self.scale) >= p {
            let share = self.share().quantile(p);
            return self.scale * share / (1.0 - share);
        }
        let rest = if p <= 0.5 {
            inverse_beta_i_complement(self.b, self.a, p)
        } else {
            inverse_beta_i(self.b, self.a, 1.0 - p)
        };
        self.scale * (1.0 - rest) / rest
    }

    fn mean(&self) -> Option<f64> {
        Some(if self.b > 1.0 {
            self.scale * self.a / (self.b - 1.0)
        } else {
            f64::INFINITY
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
