//! The univariate Gaussian N(μ, σ²).
//!
//! Statistics are (weight, mean, scatter about the mean), merged by Chan's rule (Chan, Golub &
//! LeVeque 1983), so that an offset of 1e8 loses no digits; Σx² is never formed. The prior p(σ²)
//! ∝ exp(−ψ/2σ²) keeps a variance from vanishing.

use crate::data::Rows;
use crate::family::{
    Components, Domain, ExponentialFamily, Family, Fill, PriorStrength, Scale, Stats,
    Unconstrained, Univariate, Validate, merged, nothing_seen,
};
use crate::kernel::special::{LN_TAU, normal_cdf, normal_quantile, normal_survival};
use crate::kernel::sums::{add_standardised_squares, shifted_moments};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// A Gaussian with a mean and a variance.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Family, Gaussian};
/// let columns = [Cells::real(&[1.0, 2.0, 6.0])];
/// let mut stats = Gaussian::zero(&());
/// Gaussian::observe(&Rows::new(&columns), &[1.0, 1.0, 1.0], &mut stats);
/// let fitted = Gaussian::mle(&stats)?;
/// assert_eq!((fitted.mean, fitted.variance), (3.0, 14.0 / 3.0));
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    /// The mean μ.
    pub mean: f64,
    /// The variance σ².
    pub variance: f64,
}

/// Weight, mean and scatter of the values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GaussianStats {
    /// The total weight.
    pub weight: f64,
    /// The weighted mean.
    pub mean: f64,
    /// The weighted sum of squares about the mean.
    pub scatter: f64,
}

/// The prior p(σ²) ∝ exp(−ψ/2σ²); flat when ψ is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GaussianPrior {
    /// ψ, the prior scatter.
    pub scatter: f64,
    /// What is added to the variance once it is estimated.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub ridge: f64,
}

impl GaussianStats {
    /// Adds two rows with the scatter within components about this mean; to statistics of no row,
    /// two rows with the scatter of all rows about their mean.
    pub(crate) fn shrink(&mut self, all: &GaussianStats, within: f64) {
        const ROWS: f64 = 2.0;
        if all.weight <= 0.0 {
            return;
        }
        if self.weight <= 0.0 {
            *self = all.clone();
            self.scale(ROWS / all.weight);
        } else {
            self.weight += ROWS;
            self.scatter += ROWS * within;
        }
    }
}

impl Stats for GaussianStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        if other.weight <= 0.0 {
            return;
        }
        if self.weight <= 0.0 {
            *self = other.clone();
            return;
        }
        let weight = self.weight + other.weight;
        let shift = other.mean - self.mean;
        let share = other.weight / weight;
        self.scatter += other.scatter + shift * shift * self.weight * share;
        self.mean += shift * share;
        self.weight = weight;
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.scatter *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        if other.weight <= 0.0 {
            return Ok(());
        }
        let weight = self.weight - other.weight;
        let rounding = 1e-9 * self.weight;
        if weight < -rounding {
            return Err(Error::data("more rows to forget than were fitted"));
        }
        if weight <= rounding {
            *self = GaussianStats::default();
            return Ok(());
        }
        let mean = self.mean + (self.mean - other.mean) * other.weight / weight;
        let shift = other.mean - mean;
        let between = shift * shift * weight * other.weight / self.weight;
        let scatter = self.scatter - other.scatter - between;
        if scatter < -1e-7 * (self.scatter + other.scatter + between) {
            return Err(crate::family::never_seen());
        }
        *self = GaussianStats {
            weight,
            mean,
            scatter: scatter.max(0.0),
        };
        Ok(())
    }
}

impl Family for Gaussian {
    const NAME: &'static str = "gaussian";
    type Stats = GaussianStats;
    type Shape = ();
    type Prior = GaussianPrior;

    fn zero(_: &()) -> GaussianStats {
        GaussianStats::default()
    }

    fn shape(&self) {}

    fn observe(rows: &Rows, weights: &[f64], stats: &mut GaussianStats) {
        let cells = rows.only();
        let x = cells.reals();
        let masked: Vec<f64>;
        let weights = match cells.seen {
            None => &weights[..x.len()],
            Some(seen) => {
                masked = (0..x.len())
                    .map(|i| if seen.get(i) { weights[i] } else { 0.0 })
                    .collect();
                &masked
            }
        };
        // The first pass finds the mean, the second sums squares about it.
        let origin = x.first().copied().unwrap_or(0.0);
        let (weight, sum, _) = shifted_moments(x, weights, origin);
        if weight <= 0.0 {
            return;
        }
        let mean = origin + sum / weight;
        let (_, left_over, squares) = shifted_moments(x, weights, mean);
        // Overflow must stay visible, so only a scatter below 0, from rounding, is set to 0.
        let scatter = squares - left_over * left_over / weight;
        let scatter = if scatter < 0.0 { 0.0 } else { scatter };
        stats.merge(&GaussianStats {
            weight,
            mean,
            scatter,
        });
    }

    fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
        let cells = rows.only();
        let constant = -0.5 * (LN_TAU + self.variance.ln());
        // By the deviation, whose inverse does not overflow as that of the variance does.
        let precision_root = 1.0 / self.variance.sqrt();
        if cells.is_complete() {
            add_standardised_squares(cells.reals(), self.mean, precision_root, constant, out);
            return;
        }
        for (i, (l, x)) in out.iter_mut().zip(cells.reals()).enumerate() {
            let z = (x - self.mean) * precision_root;
            let value = constant - 0.5 * z * z;
            *l += if cells.is_seen(i) { value } else { 0.0 };
        }
    }

    fn map(stats: &GaussianStats, prior: &GaussianPrior) -> Result<Self> {
        if stats.weight <= 0.0 {
            return Err(nothing_seen());
        }
        let variance = (stats.scatter + prior.scatter) / stats.weight + prior.ridge;
        if !(variance > 0.0 && variance.is_finite()) {
            return Err(Error::numeric("the variance is not positive"));
        }
        Ok(Gaussian {
            mean: stats.mean,
            variance,
        })
    }

    fn log_prior(&self, prior: &GaussianPrior) -> f64 {
        -0.5 * prior.scatter / self.variance
    }

    fn log_likelihood(&self, stats: &GaussianStats) -> f64 {
        let shift = stats.mean - self.mean;
        let scatter = stats.scatter + stats.weight * shift * shift;
        -0.5 * (stats.weight * (LN_TAU + self.variance.ln()) + scatter / self.variance)
    }

    fn parameters(_: &()) -> usize {
        2
    }

    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = row[0].unwrap_or_else(|| match how {
            Fill::Mean | Fill::Mode => self.mean,
            Fill::Draw => self.draw(rng),
        });
    }
}

impl Domain for Gaussian {
    const HAS_UNITS: bool = true;

    fn shape_of_column(_: usize) -> Option<()> {
        Some(())
    }
}

impl Components for Gaussian {
    fn weak_prior(scales: &[Scale], strength: &PriorStrength) -> GaussianPrior {
        GaussianPrior {
            scatter: strength.scatter() * scales[0].variance,
            ridge: strength.ridge,
        }
    }

    fn fallback(_: &(), scales: &[Scale]) -> Self {
        Gaussian {
            mean: scales[0].mean,
            variance: scales[0].variance,
        }
    }

    fn shrink_together(stats: &mut [GaussianStats]) {
        let all = merged(&*stats);
        let scatter: f64 = stats.iter().map(|component| component.scatter).sum();
        for component in stats {
            component.shrink(&all, scatter / all.weight);
        }
    }

    /// Where no prior keeps a variance from vanishing, it gets a small share of that of the
    /// column.
    fn map_one(
        _: &(),
        stats: &GaussianStats,
        prior: &GaussianPrior,
        fallback: &Self,
    ) -> Option<Self> {
        let least = GaussianPrior {
            scatter: prior.scatter + 1e-12 * fallback.variance * stats.weight,
            ..prior.clone()
        };
        (Self::map(stats, prior).or_else(|_| Self::map(stats, &least))).ok()
    }

    fn spread(&self, scales: &[Scale]) -> f64 {
        if scales[0].constant {
            return 1.0;
        }
        self.variance / scales[0].variance
    }
}

impl Unconstrained for Gaussian {
    fn coordinates(&self, _: &(), unit: &Self) -> Option<Vec<f64>> {
        let place = (self.mean - unit.mean) / unit.variance.sqrt();
        Some(vec![place, (self.variance / unit.variance).ln()])
    }

    fn at_coordinates(&self, _: &(), unit: &Self, coordinates: &[f64]) -> Option<Self> {
        let [place, log_variance] = coordinates else {
            return None;
        };
        Some(Gaussian {
            mean: unit.mean + place * unit.variance.sqrt(),
            variance: unit.variance * log_variance.exp(),
        })
    }
}

impl Validate for Gaussian {
    fn is_valid(&self, _: &()) -> bool {
        self.mean.is_finite() && self.variance.is_normal() && self.variance > 0.0
    }

    fn describes(_: &(), stats: &GaussianStats) -> bool {
        stats.weight >= 0.0 && stats.scatter >= 0.0
    }

    fn accepts(_: &(), prior: &GaussianPrior) -> bool {
        prior.scatter >= 0.0 && prior.ridge >= 0.0
    }
}

#[cfg(test)]
impl crate::family::laws::Examples for Gaussian {
    fn examples() -> Vec<Self> {
        vec![
            Gaussian {
                mean: 0.0,
                variance: 1.0,
            },
            Gaussian {
                mean: -3.5,
                variance: 0.04,
            },
            Gaussian {
                mean: 1e8,
                variance: 25.0,
            },
        ]
    }
}

impl Gaussian {
    /// A Gaussian.
    ///
    /// # Errors
    /// If the mean is not finite or the variance not positive.
    pub fn new(mean: f64, variance: f64) -> Result<Gaussian> {
        let gaussian = Gaussian { mean, variance };
        if gaussian.is_valid(&()) {
            Ok(gaussian)
        } else {
            Err(Error::parameter(format!(
                "a Gaussian needs a finite mean and a positive variance, not {mean} and {variance}"
            )))
        }
    }

    fn standard(&self, x: f64) -> f64 {
        (x - self.mean) / self.variance.sqrt()
    }
}

impl Univariate for Gaussian {
    fn log_density(&self, x: f64) -> f64 {
        let z = self.standard(x);
        -0.5 * (LN_TAU + self.variance.ln()) - 0.5 * z * z
    }

    fn cdf(&self, x: f64) -> f64 {
        normal_cdf(self.standard(x))
    }

    fn survival(&self, x: f64) -> f64 {
        normal_survival(self.standard(x))
    }

    fn quantile(&self, p: f64) -> f64 {
        match p {
            p if p <= 0.0 => f64::NEG_INFINITY,
            p if p >= 1.0 => f64::INFINITY,
            p => self.mean + self.variance.sqrt() * normal_quantile(p),
        }
    }

    fn mean(&self) -> Option<f64> {
        Some(self.mean)
    }

    fn variance(&self) -> Option<f64> {
        Some(self.variance)
    }

    fn mode(&self) -> f64 {
        self.mean
    }

    fn entropy(&self) -> f64 {
        0.5 * (1.0 + LN_TAU + self.variance.ln())
    }

    fn kl(&self, other: &Self) -> f64 {
        let ratio = self.variance / other.variance;
        let z = other.standard(self.mean);
        (0.5 * (ratio - 1.0 - ratio.ln() + z * z)).max(0.0)
    }

    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        self.mean + self.variance.sqrt() * rng.sample::<f64, _>(StandardNormal)
    }
}

impl ExponentialFamily for Gaussian {
    fn natural(&self) -> Vec<f64> {
        vec![self.mean / self.variance, -0.5 / self.variance]
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let variance = -0.5 / natural[1];
        Gaussian::new(natural[0] * variance, variance)
    }

    fn log_partition(&self, natural: &[f64]) -> f64 {
        -0.25 * natural[0] * natural[0] / natural[1] - 0.5 * (-2.0 * natural[1]).ln()
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        vec![x[0], x[0] * x[0]]
    }

    fn log_base(&self, _: &[f64]) -> f64 {
        -0.5 * LN_TAU
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        vec![self.mean, self.variance + self.mean * self.mean]
    }
}
