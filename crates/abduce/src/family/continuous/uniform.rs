//! The uniform distribution between two numbers, estimated by the smallest and the largest
//! number.

use crate::family::scalar::NARROW;
use crate::family::{PointStats, Scalar, Scale, Stats, Unconstrained, Univariate, nothing_seen};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A uniform distribution.
///
/// ```
/// use abduce::family::{Uniform, Univariate};
/// let uniform = Uniform { low: 2.0, high: 6.0 };
/// assert_eq!((uniform.density(3.0), uniform.cdf(3.0)), (0.25, 0.25));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uniform {
    /// The smallest number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
}

impl Uniform {
    /// A uniform distribution.
    ///
    /// # Errors
    /// If the ends are not finite, or not in order.
    pub fn new(low: f64, high: f64) -> Result<Uniform> {
        let uniform = Uniform { low, high };
        if uniform.in_range() {
            Ok(uniform)
        } else {
            Err(Error::parameter(format!(
                "a uniform distribution needs a smaller and a larger number, not {low} and {high}"
            )))
        }
    }

    fn width(&self) -> f64 {
        self.high - self.low
    }
}

impl Univariate for Uniform {
    fn log_density(&self, x: f64) -> f64 {
        if (self.low..=self.high).contains(&x) {
            -self.width().ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        ((x - self.low) / self.width()).clamp(0.0, 1.0)
    }

    fn survival(&self, x: f64) -> f64 {
        ((self.high - x) / self.width()).clamp(0.0, 1.0)
    }

    fn support(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    fn quantile(&self, p: f64) -> f64 {
        // From the nearer end, so that both ends are exact.
        match p {
            p if p <= 0.5 => self.low + p.max(0.0) * self.width(),
            p => self.high - (1.0 - p).max(0.0) * self.width(),
        }
    }

    fn mean(&self) -> Option<f64> {
        Some(0.5 * self.low + 0.5 * self.high)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.width() * self.width() / 12.0)
    }

    /// The middle; the density is the same everywhere.
    fn mode(&self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    fn entropy(&self) -> f64 {
        self.width().ln()
    }

    fn kl(&self, other: &Self) -> f64 {
        if other.low <= self.low && self.high <= other.high {
            (other.width() / self.width()).ln()
        } else {
            f64::INFINITY
        }
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        self.quantile(rng.random())
    }

    fn highest_density(&self, level: f64) -> (f64, f64) {
        self.equal_tailed(level)
    }
}

impl Scalar for Uniform {
    const NAME: &'static str = "uniform";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = true;
    type Stats = PointStats;

    fn supports(x: f64) -> bool {
        x.is_finite()
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut PointStats) {
        stats.merge(&PointStats::new(cells));
    }

    fn estimate(stats: &PointStats) -> Result<Self> {
        match stats.ends() {
            Some((low, high)) if low < high => Uniform::new(low, high),
            Some(_) => Err(Error::numeric("the numbers are all the same")),
            None => Err(nothing_seen()),
        }
    }

    fn narrow(stats: &PointStats, wide: &Self) -> Option<Self> {
        let (x, reach) = (*stats.values.first()?, 0.5 * NARROW.sqrt() * wide.width());
        Some(Uniform {
            low: x - reach,
            high: x + reach,
        })
    }

    fn log_likelihood_of(&self, stats: &PointStats) -> f64 {
        stats.sum(|x| self.log_density(x))
    }

    fn wide(scale: &Scale) -> Self {
        let reach = (3.0 * scale.variance).sqrt();
        Uniform {
            low: scale.mean - reach,
            high: scale.mean + reach,
        }
    }

    /// None: a pseudo-row would move the ends however little it weighs.
    fn expected(&self, _: f64) -> PointStats {
        PointStats::default()
    }

    fn in_range(&self) -> bool {
        self.low < self.high && self.width().is_finite()
    }

    fn are_valid(stats: &PointStats) -> bool {
        stats.is_valid()
    }
}

impl Unconstrained for Uniform {}

#[cfg(test)]
impl crate::family::laws::Examples for Uniform {
    fn examples() -> Vec<Self> {
        [(0.0, 1.0), (-5.0, 20.0), (1e8, 1e8 + 3.0)]
            .map(|(low, high)| Uniform { low, high })
            .to_vec()
    }
}
