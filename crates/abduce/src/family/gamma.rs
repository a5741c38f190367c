//! The gamma distribution of a positive number:
//! p(x) = bᵃ xᵃ⁻¹ e^(−bx) / Γ(a) with shape a and rate b.
//!
//! The estimate solves ln a − ψ(a) = ln x̄ − mean(ln x) by Minka's generalised
//! Newton steps (Minka 2002, "Estimating a Gamma distribution").

use super::scalar::NARROW;
use super::sums::sums;
use super::{ExponentialFamily, Scalar, Scale, Univariate, nothing_seen};
use crate::kernel::special::{
    digamma, gamma_p, gamma_q, inverse_gamma_p, inverse_gamma_q, ln_gamma, ln_less_digamma,
    ln_poisson_mass, trigamma,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A gamma distribution with its shape and rate.
///
/// ```
/// use abduce::family::{Gamma, Univariate};
/// let gamma = Gamma { shape: 3.0, rate: 2.0 };
/// assert_eq!((gamma.mean(), gamma.variance(), gamma.mode()), (Some(1.5), Some(0.75), 1.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gamma {
    /// The shape a.
    pub shape: f64,
    /// The rate b; the mean is a/b.
    pub rate: f64,
}

sums! {
    /// Sums over the positive numbers seen.
    GammaStats {
        /// The weighted sum of the numbers.
        sum,
        /// The weighted sum of their logarithms.
        log_sum,
    }
}

impl Gamma {
    /// A gamma distribution.
    ///
    /// # Errors
    /// If the shape or the rate is not positive.
    pub fn new(shape: f64, rate: f64) -> Result<Gamma> {
        let gamma = Gamma { shape, rate };
        match gamma.in_range() {
            true => Ok(gamma),
            false => Err(Error::parameter(format!(
                "shape and rate of a gamma distribution must be positive, not {shape} and {rate}"
            ))),
        }
    }
}

/// The shape with ln a − ψ(a) = s, for s > 0.
pub(super) fn shape_of(s: f64) -> f64 {
    let mut shape = (3.0 - s + ((s - 3.0) * (s - 3.0) + 24.0 * s).sqrt()) / (12.0 * s);
    for _ in 0..50 {
        let gradient = ln_less_digamma(shape) - s;
        let slope = shape * shape * (1.0 / shape - trigamma(shape));
        let next = 1.0 / (1.0 / shape + gradient / slope);
        if !(next > 0.0 && next.is_finite()) {
            break;
        }
        let done = (next - shape).abs() <= 1e-15 * shape;
        shape = next;
        if done {
            break;
        }
    }
    shape
}

impl Univariate for Gamma {
    fn log_density(&self, x: f64) -> f64 {
        let Gamma { shape, rate } = *self;
        if !(x >= 0.0 && x.is_finite()) {
            return f64::NEG_INFINITY;
        }
        if shape >= 10.0 {
            // Without the cancellation near the mode.
            return ln_poisson_mass(shape - 1.0, rate * x) + rate.ln();
        }
        let power = if shape == 1.0 {
            0.0
        } else {
            (shape - 1.0) * x.ln()
        };
        shape * rate.ln() + power - rate * x - ln_gamma(shape)
    }

    fn cdf(&self, x: f64) -> f64 {
        gamma_p(self.shape, (self.rate * x).max(0.0))
    }

    fn survival(&self, x: f64) -> f64 {
        gamma_q(self.shape, (self.rate * x).max(0.0))
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        match p {
            p if p <= 0.0 => 0.0,
            p if p >= 1.0 => f64::INFINITY,
            p if p <= 0.5 => inverse_gamma_p(self.shape, p) / self.rate,
            p => inverse_gamma_q(self.shape, 1.0 - p) / self.rate,
        }
    }

    fn mean(&self) -> Option<f64> {
        Some(self.shape / self.rate)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.shape / (self.rate * self.rate))
    }

    fn mode(&self) -> f64 {
        (self.shape - 1.0).max(0.0) / self.rate
    }

    fn entropy(&self) -> f64 {
        let a = self.shape;
        // a + ln Γ(a) + (1 − a) ψ(a), without the cancellation.
        (a - 1.0) * ln_less_digamma(a) - ln_poisson_mass(a, a) - self.rate.ln()
    }

    fn kl(&self, other: &Self) -> f64 {
        let (a, b) = (self.shape, other.shape);
        let ratio = other.rate / self.rate;
        let shapes = (a - b) * digamma(a) - ln_gamma(a) + ln_gamma(b);
        (shapes - b * ratio.ln() + a * (ratio - 1.0)).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        match rand_distr::Gamma::new(self.shape, 1.0) {
            // A small shape draws numbers below the smallest double.
            Ok(gamma) => (rng.sample(gamma) / self.rate).max(f64::MIN_POSITIVE),
            Err(_) => self.quantile(rng.random()),
        }
    }
}

impl Scalar for Gamma {
    const NAME: &'static str = "gamma";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = true;
    type Stats = GammaStats;

    fn supports(x: f64) -> bool {
        x > 0.0 && x.is_finite()
    }

    fn see(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut GammaStats) {
        for (x, weight) in cells {
            stats.weight += weight;
            stats.sum += weight * x;
            stats.log_sum += weight * x.ln();
        }
    }

    fn estimate(stats: &GammaStats) -> Result<Self> {
        if stats.weight <= 0.0 {
            return Err(nothing_seen());
        }
        let mean = stats.sum / stats.weight;
        let spread = mean.ln() - stats.log_sum / stats.weight;
        // Below this the two logarithms agree to rounding.
        let least = 8.0 * f64::EPSILON * (1.0 + mean.ln().abs());
        if !(spread > least && mean.is_finite()) {
            return Err(Error::numeric("the numbers are all the same"));
        }
        let shape = shape_of(spread);
        Gamma::new(shape, shape / mean)
    }

    fn narrow(stats: &GammaStats, wide: &Self) -> Option<Self> {
        let mean = stats.sum / stats.weight;
        let variance = NARROW * Univariate::variance(wide)?;
        Some(Gamma {
            shape: mean * mean / variance,
            rate: mean / variance,
        })
    }

    fn log_likelihood_of(&self, stats: &GammaStats) -> f64 {
        let Gamma { shape, rate } = *self;
        stats.weight * (shape * rate.ln() - ln_gamma(shape)) + (shape - 1.0) * stats.log_sum
            - rate * stats.sum
    }

    fn wide(scale: &Scale) -> Self {
        let mean = if scale.mean > 0.0 {
            scale.mean
        } else {
            scale.variance.sqrt()
        };
        let shape = (mean * mean / scale.variance).clamp(1e-3, 1e6);
        Gamma {
            shape,
            rate: shape / mean,
        }
    }

    fn expected(&self, rows: f64) -> GammaStats {
        GammaStats {
            weight: rows,
            sum: rows * self.shape / self.rate,
            log_sum: rows * (digamma(self.shape) - self.rate.ln()),
        }
    }

    fn in_range(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        positive(self.shape) && positive(self.rate)
    }

    fn are_sound(stats: &GammaStats) -> bool {
        stats.weight >= 0.0 && stats.sum >= 0.0 && stats.log_sum.is_finite()
    }

    fn instances() -> Vec<Self> {
        [(0.6, 2.0), (3.0, 0.01), (250.0, 5.0)]
            .map(|(shape, rate)| Gamma { shape, rate })
            .to_vec()
    }
}

impl ExponentialFamily for Gamma {
    fn natural(&self) -> Vec<f64> {
        vec![self.shape - 1.0, -self.rate]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Gamma::new(natural[0] + 1.0, -natural[1])
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        let shape = natural[0] + 1.0;
        ln_gamma(shape) - shape * (-natural[1]).ln()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0].ln(), x[0]]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if x[0] > 0.0 { 0.0 } else { f64::NEG_INFINITY }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![digamma(self.shape) - self.rate.ln(), self.shape / self.rate]
    }
}
