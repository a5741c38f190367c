//! The beta distribution of a proportion:
//! p(x) = xᵃ⁻¹ (1 − x)ᵇ⁻¹ / B(a, b), 0 < x < 1.
//!
//! The estimate solves ψ(a) − ψ(a + b) = mean ln x, ψ(b) − ψ(a + b) =
//! mean ln(1 − x) by Newton steps on the logarithms of a and b.

use super::scalar::NARROW;
use super::sums::sums;
use super::{ExponentialFamily, Scalar, Scale, Univariate, nothing_seen};
use crate::kernel::special::{
    beta_i, beta_i_complement, inverse_beta_i, inverse_beta_i_complement, ln_beta, ln_beta_mass,
    ln_less_digamma, trigamma,
};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A beta distribution with its two shapes.
///
/// ```
/// use abduce::family::{Beta, Univariate};
/// let beta = Beta { a: 2.0, b: 6.0 };
/// assert_eq!(beta.mean(), Some(0.25));
/// assert!((beta.quantile(beta.cdf(0.3)) - 0.3).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beta {
    /// The shape a at 0.
    pub a: f64,
    /// The shape b at 1.
    pub b: f64,
}

sums! {
    /// Sums over the proportions seen.
    BetaStats {
        /// The weighted sum of ln x.
        log_sum,
        /// The weighted sum of ln(1 − x).
        log_complement_sum,
    }
}

impl Beta {
    /// A beta distribution.
    ///
    /// # Errors
    /// If a shape is not positive.
    pub fn new(a: f64, b: f64) -> Result<Beta> {
        let beta = Beta { a, b };
        match beta.in_range() {
            true => Ok(beta),
            false => Err(Error::parameter(format!(
                "the shapes of a beta distribution must be positive and have a finite sum, not {a:?} and {b:?}"
            ))),
        }
    }

    fn mean_log(&self) -> f64 {
        mean_log(self.a, self.b)
    }

    fn mean_log_complement(&self) -> f64 {
        mean_log(self.b, self.a)
    }
}

/// E ln x = ψ(a) − ψ(a + b), without cancellation where b is far smaller than a.
fn mean_log(a: f64, b: f64) -> f64 {
    -(b / a).ln_1p() - (ln_less_digamma(a) - ln_less_digamma(a + b))
}

impl Univariate for Beta {
    fn log_density(&self, x: f64) -> f64 {
        if !(0.0..=1.0).contains(&x) {
            return f64::NEG_INFINITY;
        }
        if self.a.min(self.b) >= 10.0 && x > 0.0 && x < 1.0 {
            return ln_beta_mass(self.a, self.b, x, 1.0 - x) - x.ln() - (-x).ln_1p();
        }
        // A power of 0 is 1 at the ends too.
        let power = |shape: f64, log: f64| {
            if shape == 1.0 {
                0.0
            } else {
                (shape - 1.0) * log
            }
        };
        power(self.a, x.ln()) + power(self.b, (-x).ln_1p()) - ln_beta(self.a, self.b)
    }

    fn cdf(&self, x: f64) -> f64 {
        beta_i(self.a, self.b, x.clamp(0.0, 1.0))
    }

    fn survival(&self, x: f64) -> f64 {
        beta_i_complement(self.a, self.b, x.clamp(0.0, 1.0))
    }

    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn quantile(&self, p: f64) -> f64 {
        match p {
            p if p <= 0.0 => 0.0,
            p if p >= 1.0 => 1.0,
            p if p <= 0.5 => inverse_beta_i(self.a, self.b, p),
            p => inverse_beta_i_complement(self.a, self.b, 1.0 - p),
        }
    }

    fn mean(&self) -> Option<f64> {
        Some(self.a / (self.a + self.b))
    }

    fn variance(&self) -> Option<f64> {
        let total = self.a + self.b;
        Some(self.a / total * (self.b / total) / (total + 1.0))
    }

    fn mode(&self) -> f64 {
        match (self.a > 1.0, self.b > 1.0) {
            (true, true) => (self.a - 1.0) / (self.a + self.b - 2.0),
            // Flat: any number would do.
            _ if self.a == 1.0 && self.b == 1.0 => 0.5,
            _ => f64::from(u8::from(self.a > self.b)),
        }
    }

    fn entropy(&self) -> f64 {
        // −ln p at the mean, and what the curvature of the logarithms adds.
        let Beta { a, b } = *self;
        let (x, y) = (a / (a + b), b / (a + b));
        let rest = (a - 1.0) * ln_less_digamma(a) + (b - 1.0) * ln_less_digamma(b)
            - (a + b - 2.0) * ln_less_digamma(a + b);
        x.ln() + y.ln() - ln_beta_mass(a, b, x, y) + rest
    }

    fn kl(&self, other: &Self) -> f64 {
        // ln p/q at the mean, and what the curvature of the logarithms adds.
        let Beta { a, b } = *self;
        let (x, y) = (a / (a + b), b / (a + b));
        let at_mean = ln_beta_mass(a, b, x, y) - ln_beta_mass(other.a, other.b, x, y);
        let both = ln_less_digamma(a + b);
        let rest = (a - other.a) * (ln_less_digamma(a) - both)
            + (b - other.b) * (ln_less_digamma(b) - both);
        (at_mean - rest).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        match rand_distr::Beta::new(self.a, self.b) {
            Ok(beta) => rng
                .sample::<f64, _>(beta)
                .clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0),
            Err(_) => self.quantile(rng.random()),
        }
    }
}

impl Scalar for Beta {
    const NAME: &'static str = "beta";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = false;
    type Stats = BetaStats;

    fn supports(x: f64) -> bool {
        x > 0.0 && x < 1.0
    }

    fn see(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut BetaStats) {
        for (x, weight) in cells {
            stats.weight += weight;
            stats.log_sum += weight * x.ln();
            stats.log_complement_sum += weight * (-x).ln_1p();
        }
    }

    fn estimate(stats: &BetaStats) -> Result<Self> {
        if stats.weight <= 0.0 {
            return Err(nothing_seen());
        }
        let log = stats.log_sum / stats.weight;
        let log_complement = stats.log_complement_sum / stats.weight;
        let rest = 1.0 - log.exp() - log_complement.exp();
        if !(rest > 1e-14 && log.is_finite() && log_complement.is_finite()) {
            return Err(Error::numeric("the numbers are all the same"));
        }
        let start = |mean: f64| (0.5 + 0.5 * mean.exp() / rest).ln();
        let (mut a, mut b) = (start(log), start(log_complement));
        let objective = |a: f64, b: f64| {
            let (a, b) = (a.exp(), b.exp());
            a * log + b * log_complement - ln_beta(a, b)
        };
        let mut value = objective(a, b);
        for _ in 0..200 {
            let beta = Beta {
                a: a.exp(),
                b: b.exp(),
            };
            let (da, db) = (
                log - beta.mean_log(),
                log_complement - beta.mean_log_complement(),
            );
            let both = trigamma(beta.a + beta.b);
            // Fisher's information of the logarithms.
            let (aa, bb) = (
                beta.a * beta.a * (trigamma(beta.a) - both),
                beta.b * beta.b * (trigamma(beta.b) - both),
            );
            let ab = -beta.a * beta.b * both;
            let determinant = aa * bb - ab * ab;
            let (ga, gb) = (beta.a * da, beta.b * db);
            let (mut step_a, mut step_b) = match determinant > 0.0 {
                true => (
                    (bb * ga - ab * gb) / determinant,
                    (aa * gb - ab * ga) / determinant,
                ),
                false => (ga / aa, gb / bb),
            };
            let mut better = false;
            for _ in 0..60 {
                let next = objective(a + step_a, b + step_b);
                // Near the maximum only rounding tells the two apart, and the
                // gradient knows better.
                if next >= value - 1e-13 * value.abs().max(1.0) {
                    value = next.max(value);
                    better = true;
                    break;
                }
                step_a *= 0.5;
                step_b *= 0.5;
            }
            if !better {
                break;
            }
            a += step_a;
            b += step_b;
            if step_a.abs().max(step_b.abs()) < 1e-14 {
                break;
            }
        }
        Beta::new(a.exp(), b.exp())
    }

    fn narrow(stats: &BetaStats, wide: &Self) -> Option<Self> {
        let mean = (stats.log_sum / stats.weight).exp();
        let rest = (stats.log_complement_sum / stats.weight).exp();
        let total = mean * rest / (NARROW * Univariate::variance(wide)?) - 1.0;
        Some(Beta {
            a: mean * total,
            b: rest * total,
        })
    }

    fn log_likelihood_of(&self, stats: &BetaStats) -> f64 {
        (self.a - 1.0) * stats.log_sum + (self.b - 1.0) * stats.log_complement_sum
            - stats.weight * ln_beta(self.a, self.b)
    }

    fn wide(scale: &Scale) -> Self {
        let mean = scale.mean.clamp(1e-3, 1.0 - 1e-3);
        let total = (mean * (1.0 - mean) / scale.variance - 1.0).clamp(0.1, 1e6);
        Beta {
            a: mean * total,
            b: (1.0 - mean) * total,
        }
    }

    fn expected(&self, rows: f64) -> BetaStats {
        BetaStats {
            weight: rows,
            log_sum: rows * self.mean_log(),
            log_complement_sum: rows * self.mean_log_complement(),
        }
    }

    fn in_range(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        positive(self.a) && positive(self.b) && positive(self.a + self.b)
    }

    fn are_sound(stats: &BetaStats) -> bool {
        stats.weight >= 0.0 && stats.log_sum <= 0.0 && stats.log_complement_sum <= 0.0
    }

    fn instances() -> Vec<Self> {
        [(2.0, 5.0), (0.5, 0.7), (80.0, 40.0)]
            .map(|(a, b)| Beta { a, b })
            .to_vec()
    }
}

impl ExponentialFamily for Beta {
    fn natural(&self) -> Vec<f64> {
        vec![self.a - 1.0, self.b - 1.0]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        Beta::new(natural[0] + 1.0, natural[1] + 1.0)
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        ln_beta(natural[0] + 1.0, natural[1] + 1.0)
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0].ln(), (-x[0]).ln_1p()]
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        match x[0] > 0.0 && x[0] < 1.0 {
            true => 0.0,
            false => f64::NEG_INFINITY,
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![self.mean_log(), self.mean_log_complement()]
    }
}
