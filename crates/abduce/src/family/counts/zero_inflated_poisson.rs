//! The zero-inflated Poisson distribution of a count: with probability π it is 0, otherwise
//! Poisson.
//!
//! The weight of the zeros and the Poisson statistics of the other counts are sufficient. The
//! estimated rate solves λ/(1 − e^(−λ)) = mean of the positive counts; where there are fewer
//! zeros than under a Poisson, π is 0.

use crate::family::{
    Family, Poisson, PoissonStats, Scalar, Scale, Stats, Unconstrained, Univariate, Validate,
    is_count, never_seen, nothing_seen, times,
};
use crate::kernel::roots::increasing_root;
use crate::kernel::special::ln_poisson_mass;
use crate::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A zero-inflated Poisson distribution.
///
/// ```
/// use abduce::family::{Univariate, ZeroInflatedPoisson};
/// let visits = ZeroInflatedPoisson { inflation: 0.5, rate: 4.0 };
/// assert_eq!(visits.mean(), Some(2.0));
/// assert!((visits.density(0.0) - (0.5 + 0.5 * (-4.0_f64).exp())).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZeroInflatedPoisson {
    /// The probability π of an extra zero.
    pub inflation: f64,
    /// The rate λ of the other counts.
    pub rate: f64,
}

/// The zeros and the statistics of the other counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct ZeroInflatedPoissonStats {
    /// The weight of the zeros.
    pub zeros: f64,
    /// The counts above 0.
    pub counts: PoissonStats,
}

/// Statistics as in files; the first versions had sums over all counts.
#[derive(Deserialize)]
struct Stored {
    zeros: f64,
    counts: Option<PoissonStats>,
    #[serde(default)]
    weight: f64,
    #[serde(default)]
    sum: f64,
    #[serde(default)]
    log_factorials: f64,
}

impl From<Stored> for ZeroInflatedPoissonStats {
    fn from(stored: Stored) -> ZeroInflatedPoissonStats {
        let (sum, weight) = (stored.sum, stored.weight - stored.zeros);
        let old = || PoissonStats {
            weight,
            sum,
            peak: times(sum, (sum / weight).ln()) - sum - stored.log_factorials,
        };
        ZeroInflatedPoissonStats {
            zeros: stored.zeros,
            counts: stored.counts.clone().unwrap_or_else(old),
        }
    }
}

impl Stats for ZeroInflatedPoissonStats {
    fn weight(&self) -> f64 {
        self.zeros + self.counts.weight
    }

    fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        self.counts.merge(&other.counts);
    }

    fn scale(&mut self, factor: f64) {
        self.zeros *= factor;
        self.counts.scale(factor);
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let zeros = self.zeros - other.zeros;
        if zeros < -1e-9 * self.weight() {
            return Err(never_seen());
        }
        self.counts.forget(&other.counts)?;
        self.zeros = zeros.max(0.0);
        Ok(())
    }
}

impl ZeroInflatedPoisson {
    /// A zero-inflated Poisson distribution.
    ///
    /// # Errors
    /// If the inflation is not a probability or the rate negative.
    pub fn new(inflation: f64, rate: f64) -> Result<ZeroInflatedPoisson> {
        let counts = ZeroInflatedPoisson { inflation, rate };
        if counts.in_range() {
            Ok(counts)
        } else {
            Err(Error::parameter(format!(
                "a zero-inflated Poisson distribution needs an inflation from 0 to 1 and a rate \
                 of 0 or more, not {inflation} and {rate}"
            )))
        }
    }

    fn poisson(&self) -> Poisson {
        Poisson { rate: self.rate }
    }

    fn log_zero(&self) -> f64 {
        (self.inflation + (1.0 - self.inflation) * (-self.rate).exp()).ln()
    }

    fn log_counting(&self) -> f64 {
        (-self.inflation).ln_1p()
    }
}

impl Univariate for ZeroInflatedPoisson {
    fn log_density(&self, x: f64) -> f64 {
        match x {
            0.0 => self.log_zero(),
            x => self.log_counting() + self.poisson().log_density(x),
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        let zeros = if x >= 0.0 { self.inflation } else { 0.0 };
        zeros + (1.0 - self.inflation) * self.poisson().cdf(x)
    }

    fn survival(&self, x: f64) -> f64 {
        let zeros = if x >= 0.0 { 0.0 } else { self.inflation };
        zeros + (1.0 - self.inflation) * self.poisson().survival(x)
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        Some((1.0 - self.inflation) * self.rate)
    }

    fn variance(&self) -> Option<f64> {
        let ZeroInflatedPoisson { inflation, rate } = *self;
        Some((1.0 - inflation) * rate * (1.0 + inflation * rate))
    }

    fn mode(&self) -> f64 {
        let other = self.poisson().mode();
        if self.log_density(other) > self.log_zero() {
            other
        } else {
            0.0
        }
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        if rng.random::<f64>() < self.inflation {
            0.0
        } else {
            self.poisson().draw(rng)
        }
    }
}

impl Scalar for ZeroInflatedPoisson {
    const NAME: &'static str = "zero-inflated-poisson";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = false;
    type Stats = ZeroInflatedPoissonStats;

    fn supports(x: f64) -> bool {
        is_count(x)
    }

    fn observe_values(
        cells: &mut dyn Iterator<Item = (f64, f64)>,
        stats: &mut ZeroInflatedPoissonStats,
    ) {
        let mut zeros = 0.0;
        let above = cells.filter(|(x, weight)| {
            zeros += if *x == 0.0 { *weight } else { 0.0 };
            *x > 0.0
        });
        let counts = PoissonStats::new(above);
        stats.merge(&ZeroInflatedPoissonStats { zeros, counts });
    }

    fn estimate(stats: &ZeroInflatedPoissonStats) -> Result<Self> {
        let (weight, positive) = (stats.weight(), stats.counts.weight);
        if weight <= 0.0 {
            return Err(nothing_seen());
        }
        let plain = ZeroInflatedPoisson::new(0.0, stats.counts.sum / weight);
        if positive <= 0.0 || stats.zeros <= 0.0 {
            return plain;
        }
        let mean = stats.counts.sum / positive;
        // The mean of the positive counts is between the rate and one more.
        let excess = |rate: f64| rate / -(-rate).exp_m1() - mean;
        let low = (mean - 1.0).max(1e-12);
        if excess(low) >= 0.0 {
            return plain;
        }
        let rate = increasing_root(low, mean, excess);
        let counting = positive / weight / -(-rate).exp_m1();
        if counting < 1.0 {
            ZeroInflatedPoisson::new(1.0 - counting, rate)
        } else {
            plain
        }
    }

    fn log_likelihood_of(&self, stats: &ZeroInflatedPoissonStats) -> f64 {
        times(stats.zeros, self.log_zero())
            + times(stats.counts.weight, self.log_counting())
            + self.poisson().log_likelihood(&stats.counts)
    }

    fn wide(scale: &Scale) -> Self {
        let mean = scale.mean.max(1e-9);
        let inflation = 1.0 - 1.0 / (1.0 + (scale.variance / mean - 1.0).max(0.0) / mean);
        let inflation = inflation.clamp(0.0, 0.99);
        ZeroInflatedPoisson {
            inflation,
            rate: mean / (1.0 - inflation),
        }
    }

    fn expected(&self, rows: f64) -> ZeroInflatedPoissonStats {
        let zero = self.log_zero().exp();
        let weight = 1.0 - zero;
        let sum = (1.0 - self.inflation) * self.rate;
        let mass = |x: f64| times(x.min(1.0), ln_poisson_mass(x, sum / weight));
        let mut expected = ZeroInflatedPoissonStats {
            zeros: zero,
            counts: PoissonStats {
                weight,
                sum,
                peak: self.expectation(&mass),
            },
        };
        expected.scale(rows);
        expected
    }

    fn in_range(&self) -> bool {
        (0.0..=1.0).contains(&self.inflation) && self.rate >= 0.0 && self.rate.is_finite()
    }

    fn are_valid(stats: &ZeroInflatedPoissonStats) -> bool {
        stats.zeros >= 0.0 && Poisson::describes(&(), &stats.counts)
    }
}

impl Unconstrained for ZeroInflatedPoisson {}

#[cfg(test)]
impl crate::family::laws::Examples for ZeroInflatedPoisson {
    fn examples() -> Vec<Self> {
        [(0.4, 3.0), (0.9, 0.5), (0.0, 12.0)]
            .map(|(inflation, rate)| ZeroInflatedPoisson { inflation, rate })
            .to_vec()
    }
}
