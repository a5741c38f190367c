//! The normal-gamma distribution over the mean μ and the precision λ of a
//! Gaussian: λ ~ Gamma(a, rate b), and μ given λ ~ N(m, 1/(κλ)),
//!
//! p(μ, λ) = bᵃ/Γ(a) √(κ/2π) λ^{a−½} exp(−λ (b + κ(μ − m)²/2)),
//!
//! the conjugate prior of both together.

use crate::family::multi::{all_finite, draw_gamma, draw_normal, positive};
use crate::family::{Divergence, ExponentialFamily, Multi};
use crate::kernel::special::{LN_TAU, digamma, ln_gamma};
use crate::{Error, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A normal-gamma over points (μ, λ). As an exponential family η = (a − ½, −b −
/// κm²/2, κm, −κ/2), u = (ln λ, λ, λμ, λμ²), h = 1.
///
/// ```
/// use abduce::family::{Multi, NormalGamma};
/// let belief = NormalGamma::new(1.5, 2.0, 3.0, 4.0)?;
/// assert_eq!(belief.mean(), Some(vec![1.5, 0.75]));
/// assert_eq!(belief.mode(), Some(vec![1.5, 0.625]));
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalGamma {
    /// The mean m of μ.
    pub mean: f64,
    /// The strength κ: the number of pseudo-rows at m.
    pub strength: f64,
    /// The shape a of λ.
    pub shape: f64,
    /// The rate b of λ.
    pub rate: f64,
}

impl NormalGamma {
    /// A normal-gamma with mean m, strength κ, shape a and rate b.
    ///
    /// # Errors
    /// Unless the last three are positive and all are finite.
    pub fn new(mean: f64, strength: f64, shape: f64, rate: f64) -> Result<Self> {
        all_finite("the mean", &[mean])?;
        Ok(NormalGamma {
            mean,
            strength: positive("the strength", strength)?,
            shape: positive("the shape", shape)?,
            rate: positive("the rate", rate)?,
        })
    }

    /// ln Γ(a) − a ln b.
    fn log_normalizer(&self) -> f64 {
        ln_gamma(self.shape) - self.shape * self.rate.ln()
    }

    /// The expectations of ln λ, λ, λμ and λμ².
    pub(crate) fn expectations(&self) -> [f64; 4] {
        let (m, expected) = (self.mean, self.shape / self.rate);
        [
            self.expected_log_precision(),
            expected,
            m * expected,
            1.0 / self.strength + m * m * expected,
        ]
    }

    /// E ln λ.
    fn expected_log_precision(&self) -> f64 {
        digamma(self.shape) - self.rate.ln()
    }
}

impl Multi for NormalGamma {
    fn dimension(&self) -> usize {
        2
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let &[mu, lambda] = x else {
            return f64::NEG_INFINITY;
        };
        if !(lambda > 0.0 && lambda.is_finite() && mu.is_finite()) {
            return f64::NEG_INFINITY;
        }
        let shift = mu - self.mean;
        (self.shape - 0.5) * lambda.ln()
            - lambda * (self.rate + 0.5 * self.strength * shift * shift)
            + 0.5 * (self.strength.ln() - LN_TAU)
            - self.log_normalizer()
    }

    /// (m, a/b); that of μ exists for a > ½ only.
    fn mean(&self) -> Option<Vec<f64>> {
        (self.shape > 0.5).then(|| vec![self.mean, self.shape / self.rate])
    }

    /// (b/(κ(a − 1)), a/b²), for a > 1.
    fn variance(&self) -> Option<Vec<f64>> {
        let of_mean = self.rate / (self.strength * (self.shape - 1.0));
        let of_precision = self.shape / (self.rate * self.rate);
        (self.shape > 1.0).then(|| vec![of_mean, of_precision])
    }

    /// (m, (a − ½)/b), for a > ½.
    fn mode(&self) -> Option<Vec<f64>> {
        (self.shape > 0.5).then(|| vec![self.mean, (self.shape - 0.5) / self.rate])
    }

    fn entropy(&self) -> f64 {
        let log_precision = self.expected_log_precision();
        let of_precision = self.log_normalizer() - (self.shape - 1.0) * log_precision + self.shape;
        of_precision + 0.5 * (1.0 + LN_TAU - self.strength.ln() - log_precision)
    }

    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let lambda = draw_gamma(self.shape, rng) / self.rate;
        let mu = self.mean + draw_normal(rng) / (self.strength * lambda).sqrt();
        vec![mu, lambda]
    }
}

impl Divergence for NormalGamma {
    fn kl(&self, other: &Self) -> f64 {
        let expected = self.shape / self.rate;
        let of_precision = other.log_normalizer() - self.log_normalizer()
            + (self.shape - other.shape) * self.expected_log_precision()
            + (other.rate - self.rate) * expected;
        let (ratio, shift) = (other.strength / self.strength, self.mean - other.mean);
        let of_mean = ratio - 1.0 - ratio.ln() + other.strength * expected * shift * shift;
        of_precision + 0.5 * of_mean
    }
}

impl ExponentialFamily for NormalGamma {
    fn natural(&self) -> Vec<f64> {
        let (m, kappa) = (self.mean, self.strength);
        vec![
            self.shape - 0.5,
            -self.rate - 0.5 * kappa * m * m,
            kappa * m,
            -0.5 * kappa,
        ]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let &[power, linear, pull, square] = natural else {
            return Err(Error::parameter("a normal-gamma has 4 natural parameters"));
        };
        let strength = -2.0 * square;
        let mean = pull / strength;
        NormalGamma::new(mean, strength, power + 0.5, -linear - 0.5 * pull * mean)
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        match self.from_natural(natural) {
            Ok(other) => other.log_normalizer() + 0.5 * (LN_TAU - other.strength.ln()),
            Err(_) => f64::NAN,
        }
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        let &[mu, lambda] = x else {
            return vec![f64::NAN; 4];
        };
        vec![lambda.ln(), lambda, lambda * mu, lambda * mu * mu]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if x.len() == 2 && x[1] > 0.0 {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        self.expectations().to_vec()
    }
}
