//! The negative binomial distribution of a count: the failures before the r-th
//! success, P(x) = Γ(x + r)/(x! Γ(r)) pʳ (1 − p)ˣ, for any r > 0; equally a
//! Poisson whose rate is gamma distributed.
//!
//! For a given r the best p is r/(r + x̄); the best r is the root of the derivative of the
//! profile likelihood. Counts no more spread than a Poisson's have no root: r is then the largest
//! allowed, where the distribution is a Poisson's.

use crate::family::counts::lattice::next_count;
use crate::family::{
    PointStats, Scalar, Scale, Stats, Unconstrained, Univariate, is_count, nothing_seen,
};
use crate::kernel::roots::increasing_root;
use crate::kernel::special::{beta_i, beta_i_complement, digamma_rise, ln_beta_mass};
use crate::{Error, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A negative binomial distribution with its size and probability.
///
/// ```
/// use abduce::family::{NegativeBinomial, Univariate};
/// let counts = NegativeBinomial { size: 3.0, probability: 0.5 };
/// assert_eq!((counts.mean(), counts.variance()), (Some(3.0), Some(6.0)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NegativeBinomial {
    /// The number r of successes waited for; any positive number.
    pub size: f64,
    /// The probability p of success.
    pub probability: f64,
}

impl NegativeBinomial {
    /// From this size on it is a Poisson distribution to double precision.
    pub(crate) const MAX_SIZE: f64 = 1e7;
    const MIN_SIZE: f64 = 1e-9;

    /// A negative binomial distribution.
    ///
    /// # Errors
    /// If the size is not positive or the probability not above 0 and at most 1.
    pub fn new(size: f64, probability: f64) -> Result<NegativeBinomial> {
        let counts = NegativeBinomial { size, probability };
        if counts.in_range() {
            Ok(counts)
        } else {
            Err(Error::parameter(format!(
                "a negative binomial distribution needs a positive size and a probability above 0 \
                 and at most 1, not {size} and {probability}"
            )))
        }
    }

    fn of_size(size: f64, mean: f64) -> NegativeBinomial {
        NegativeBinomial {
            size,
            probability: size / (size + mean),
        }
    }
}

impl Univariate for NegativeBinomial {
    fn log_density(&self, x: f64) -> f64 {
        if !<Self as Scalar>::supports(x) {
            return f64::NEG_INFINITY;
        }
        let p = self.probability;
        if x == 0.0 {
            return self.size * p.ln();
        }
        if p == 1.0 {
            return f64::NEG_INFINITY;
        }
        // Γ(x + r)/(x! Γ(r)) = 1/(x B(x, r)), without the cancellation.
        ln_beta_mass(self.size, x, p, 1.0 - p) - x.ln()
    }

    fn cdf(&self, x: f64) -> f64 {
        next_count(x).map_or(0.0, |next| beta_i(self.size, next, self.probability))
    }

    fn survival(&self, x: f64) -> f64 {
        next_count(x).map_or(1.0, |next| {
            beta_i_complement(self.size, next, self.probability)
        })
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn mean(&self) -> Option<f64> {
        Some(self.size * (1.0 - self.probability) / self.probability)
    }

    fn variance(&self) -> Option<f64> {
        let p = self.probability;
        Some(self.size * (1.0 - p) / (p * p))
    }

    fn mode(&self) -> f64 {
        let p = self.probability;
        // At a whole number, it and the count below are equally probable.
        let top = (self.size - 1.0).max(0.0) * (1.0 - p) / p;
        (top.ceil() - 1.0).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        if self.probability == 1.0 {
            return 0.0;
        }
        let rate = self.probability / (1.0 - self.probability);
        let rate = crate::family::Gamma {
            shape: self.size,
            rate,
        }
        .draw(rng);
        crate::family::Poisson { rate }.draw(rng)
    }
}

impl Scalar for NegativeBinomial {
    const NAME: &'static str = "negative-binomial";
    const PARAMETERS: usize = 2;
    const HAS_UNITS: bool = false;
    /// How often every count was seen.
    type Stats = PointStats;

    fn supports(x: f64) -> bool {
        is_count(x)
    }

    fn observe_values(cells: &mut dyn Iterator<Item = (f64, f64)>, stats: &mut PointStats) {
        stats.merge(&PointStats::new(cells));
    }

    fn estimate(stats: &PointStats) -> Result<Self> {
        let weight = stats.weight();
        if weight <= 0.0 {
            return Err(nothing_seen());
        }
        let mean = stats.mean();
        if mean <= 0.0 {
            return NegativeBinomial::new(1.0, 1.0);
        }
        // With r on a logarithmic scale; falling, so its opposite is increasing.
        let slope = |log_size: f64| {
            let r = log_size.exp();
            (mean / r).ln_1p() - stats.sum(|x| digamma_rise(r, x)) / weight
        };
        let (low, high) = (Self::MIN_SIZE.ln(), Self::MAX_SIZE.ln());
        // Where the likelihood grows with r without bound, its limit is a Poisson's.
        let overdispersed = stats.variance() > mean * (1.0 + 1e-7);
        let size = if slope(low) >= 0.0 {
            Self::MIN_SIZE
        } else if overdispersed && slope(high) > 0.0 {
            increasing_root(low, high, slope).exp()
        } else {
            Self::MAX_SIZE
        };
        Ok(NegativeBinomial::of_size(size, mean))
    }

    fn log_likelihood_of(&self, stats: &PointStats) -> f64 {
        stats.sum(|x| self.log_density(x))
    }

    fn wide(scale: &Scale) -> Self {
        let mean = scale.mean.max(1e-9);
        let size = mean * mean / (scale.variance - mean).max(1e-3 * mean);
        NegativeBinomial::of_size(size.clamp(1e-3, 1e6), mean)
    }

    /// Rows at the quantiles.
    fn expected(&self, rows: f64) -> PointStats {
        PointStats::at_quantiles(self, rows)
    }

    fn in_range(&self) -> bool {
        self.size > 0.0
            && self.size.is_finite()
            && self.probability > 0.0
            && self.probability <= 1.0
    }

    fn are_valid(stats: &PointStats) -> bool {
        stats.is_valid() && stats.values.iter().all(|x| <Self as Scalar>::supports(*x))
    }
}

impl Unconstrained for NegativeBinomial {}

#[cfg(test)]
impl crate::family::laws::Examples for NegativeBinomial {
    fn examples() -> Vec<Self> {
        [(3.0, 0.4), (0.5, 0.05), (40.0, 0.5)]
            .map(|(size, probability)| NegativeBinomial { size, probability })
            .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_hardly_more_spread_than_a_poisson_have_a_size_within_reach() {
        // For the counts μ ± √(μ + μ²/r) the root r is known; the difference of two digammas
        // would lose all digits.
        for (mean, size) in [(4e4_f64, 1e5), (1e6, 2e6), (1e6, 5e6)] {
            let deviation = (mean + mean * mean / size).sqrt().round();
            let rows = [mean - deviation, mean + deviation].map(|x| (x, 1.0));
            let fitted = NegativeBinomial::estimate(&PointStats::new(rows)).unwrap();
            let exact = mean * mean / (deviation * deviation - mean);
            assert!(
                (fitted.size / exact - 1.0).abs() < 0.02,
                "{fitted:?} {exact}"
            );
        }
    }
}
