//! The log-normal distribution of a positive number: ln x is Gaussian.

use crate::data::{Cells, Rows};
use crate::family::scalar::NARROW;
use crate::family::{
    ExponentialFamily, Family, Gaussian, GaussianStats, Scalar, Scale, Stats, Unconstrained,
    Univariate,
};
use crate::kernel::special::LN_TAU;
use crate::{Error, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A log-normal distribution with mean and variance of the logarithm.
///
/// ```
/// use abduce::family::{LogNormal, Univariate};
/// let income = LogNormal { log_mean: 1.0, log_variance: 0.25 };
/// assert!((income.quantile(0.5) - 1.0_f64.exp()).abs() < 1e-12);
/// assert!((income.mean().unwrap() - 1.125_f64.exp()).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogNormal {
    /// The mean of ln x.
    pub log_mean: f64,
    /// The variance of ln x.
    pub log_variance: f64,
}

impl LogNormal {
    /// A log-normal distribution.
    ///
    /// # Errors
    /// If the mean is not finite or the variance not positive.
    pub fn new(log_mean: f64, log_variance: f64) -> Result<LogNormal> {
        let distribution = LogNormal {
            log_mean,
            log_variance,
        };
        if distribution.in_range() {
            Ok(distribution)
        } else {
            Err(Error::parameter(format!(
                "a log-normal distribution needs a finite mean and a positive variance of the \
                 logarithm, not {log_mean} and {log_variance}"
            )))
        }
    }

    /// The distribution of ln x.
    pub fn of_logarithm(&self) -> Gaussian {
        Gaussian {
            mean: self.log_mean,
            variance: self.log_variance,
        }
    }
}

impl Univariate for LogNormal {
    fn log_density(&self, x: f64) -> f64 {
        if x > 0.0 && x.is_finite() {
            self.of_logarithm().log_density(x.ln()) - x.ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.of_logarithm().cdf(x.ln())
        } else {
            0.0
        }
    }

    fn survival(&self, x: f64) -> f64 {
        if x > 0.0 {
            self.of_logarithm().survival(x.ln())
        } else {
            1.0
        }
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn quantile(&self, p: f64) -> f64 {
        self.of_logarithm().quantile(p).exp()
    }

    fn mean(&self) -> Option<f64> {
        Some((self.log_mean + 0.5 * self.log_variance).exp())
    }

    fn variance(&self) -> Option<f64> {
        // (e^v − 1) e^(2m + v), of which one factor may overflow and the other
        // underflow.
        let square = (2.0 * (self.log_mean + self.log_variance)).exp();
        Some(-(-self.log_variance).exp_m1() * square)
    }

    fn mode(&self) -> f64 {
        (self.log_mean - self.log_variance).exp()
    }

    fn entropy(&self) -> f64 {
        self.of_logarithm().entropy() + self.log_mean
    }

    fn kl(&self, other: &Self) -> f64 {
        self.of_logarithm().kl(&other.of_logarithm())
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        let x = self.of_logarithm().draw(rng).exp();
        x.clamp(f64::MIN_POSITIVE, f64::MAX)
    }
}

impl Scalar for LogNormal {
    const NAME: &'static str = "log-normal";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = true;
    /// Moments of the logarithms.
    type Stats = GaussianStats;

    fn supports(x: f64) -> bool {
        x > 0.0 && x.is_finite()
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut GaussianStats) {
        let (logs, weights): (Vec<f64>, Vec<f64>) = cells.map(|(x, w)| (x.ln(), w)).unzip();
        Gaussian::observe(&Rows::new(&[Cells::real(&logs)]), &weights, stats);
    }

    fn estimate(stats: &GaussianStats) -> Result<Self> {
        let fitted = Gaussian::mle(stats)?;
        LogNormal::new(fitted.mean, fitted.variance)
    }

    fn narrow(stats: &GaussianStats, wide: &Self) -> Option<Self> {
        Some(LogNormal {
            log_mean: stats.mean,
            log_variance: NARROW * wide.log_variance,
        })
    }

    fn log_likelihood_of(&self, stats: &GaussianStats) -> f64 {
        self.of_logarithm().log_likelihood(stats) - stats.weight * stats.mean
    }

    fn wide(scale: &Scale) -> Self {
        let mean = if scale.mean > 0.0 {
            scale.mean
        } else {
            scale.variance.sqrt()
        };
        let log_variance = (scale.variance / (mean * mean)).ln_1p().max(1e-12);
        LogNormal {
            log_mean: mean.ln() - 0.5 * log_variance,
            log_variance,
        }
    }

    fn expected(&self, rows: f64) -> GaussianStats {
        GaussianStats {
            weight: rows,
            mean: self.log_mean,
            scatter: rows * self.log_variance,
        }
    }

    fn in_range(&self) -> bool {
        self.log_mean.is_finite() && self.log_variance > 0.0 && self.log_variance.is_finite()
    }

    fn are_valid(stats: &GaussianStats) -> bool {
        stats.weight() >= 0.0 && stats.scatter >= 0.0
    }
}

impl Unconstrained for LogNormal {
    fn coordinates(&self, _: &(), unit: &Self) -> Option<Vec<f64>> {
        let place = (self.log_mean - unit.log_mean) / unit.log_variance.sqrt();
        Some(vec![place, self.log_variance.ln()])
    }

    fn at_coordinates(&self, _: &(), unit: &Self, coordinates: &[f64]) -> Option<Self> {
        let [place, spread] = coordinates else {
            return None;
        };
        Some(LogNormal {
            log_mean: unit.log_mean + place * unit.log_variance.sqrt(),
            log_variance: spread.exp(),
        })
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for LogNormal {
    fn examples() -> Vec<Self> {
        [(0.0, 1.0), (7.5, 0.01), (-3.0, 2.0)]
            .map(|(log_mean, log_variance)| LogNormal {
                log_mean,
                log_variance,
            })
            .to_vec()
    }
}

impl ExponentialFamily for LogNormal {
    fn natural(&self) -> Vec<f64> {
        self.of_logarithm().natural()
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let logarithm = self.of_logarithm().from_natural(natural)?;
        LogNormal::new(logarithm.mean, logarithm.variance)
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        self.of_logarithm().log_partition(natural)
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        self.of_logarithm().sufficient(&[x[0].ln()])
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        if x[0] > 0.0 {
            -0.5 * LN_TAU - x[0].ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        self.of_logarithm().expected_sufficient()
    }
}
