//! The multivariate Gaussian N(μ, Σ) over a group of real columns, with a full,
//! diagonal or spherical covariance, or one tied across components.
//!
//! A full covariance conditions on what is seen: a hidden cell is expected to be
//! μ_M + Σ_MO Σ_OO⁻¹ (x_O − μ_O), and its conditional covariance Σ_MM·O is added
//! to the scatter (Dempster, Laird & Rubin 1977; without it variances shrink).
//! Diagonal and spherical ones leave hidden cells out, column by column. The
//! prior p(Σ) ∝ exp(−tr(ΨΣ⁻¹)/2) keeps Σ from becoming singular.

mod family;
mod filler;
mod multi;
mod run;
mod stats;

pub(crate) use filler::Filler;
pub(crate) use run::{GaussianRun, MultivariateKernel};
pub use stats::MultivariateStats;
use stats::overall_mean;

use super::{Family, Stats, nothing_seen};
use crate::kernel::linear::submatrix;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a covariance may look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Structure {
    /// Any symmetric positive definite matrix.
    Full,
    /// The same for all components.
    Tied,
    /// One variance per column.
    Diagonal,
    /// One variance for all columns.
    Spherical,
}

/// The number of columns and the structure of the covariance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MultivariateShape {
    /// The number of columns.
    pub columns: usize,
    /// The structure of the covariance.
    pub structure: Structure,
}

/// A covariance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// The whole matrix, column by column.
    Full(Vec<f64>),
    /// The variances of the columns.
    Diagonal(Vec<f64>),
    /// The variance of every column.
    Spherical(f64),
}

/// A Gaussian over several columns.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Covariance, Family, MultivariateGaussian};
/// let normal = MultivariateGaussian {
///     mean: vec![0.0, 1.0],
///     covariance: Covariance::Full(vec![2.0, 0.5, 0.5, 1.0]),
/// };
/// let columns = [Cells::real(&[0.0]), Cells::real(&[1.0])];
/// let mut log_density = [0.0];
/// normal.add_log_density(&Rows::new(&columns), &mut log_density);
/// // −ln 2π − ½ ln |Σ|, with |Σ| = 1.75
/// assert!((log_density[0] + 2.117684960377345).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultivariateGaussian {
    /// The mean μ.
    pub mean: Vec<f64>,
    /// The covariance Σ.
    pub covariance: Covariance,
}

/// The prior p(Σ) ∝ exp(−tr(ΨΣ⁻¹)/2), with Ψ diagonal; flat when empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MultivariatePrior {
    /// The diagonal of Ψ, one entry per column.
    pub scatter: Vec<f64>,
}

impl MultivariatePrior {
    fn of(&self, column: usize) -> f64 {
        self.scatter.get(column).copied().unwrap_or(0.0)
    }
}

impl MultivariateGaussian {
    /// The number of columns.
    pub fn order(&self) -> usize {
        self.mean.len()
    }

    /// The covariance of two columns.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        match &self.covariance {
            Covariance::Full(matrix) => matrix[j * self.order() + i],
            Covariance::Diagonal(variances) if i == j => variances[i],
            Covariance::Spherical(variance) if i == j => *variance,
            _ => 0.0,
        }
    }

    /// Mean and variance of one column given the cells of `row` that are seen.
    pub(crate) fn conditional(&self, row: &[Option<f64>], column: usize) -> (f64, f64) {
        let d = self.order();
        let own = (self.mean[column], self.covariance(column, column));
        let Covariance::Full(matrix) = &self.covariance else {
            return own;
        };
        let seen: Vec<usize> = (0..d)
            .filter(|c| row[*c].is_some() && *c != column)
            .collect();
        let Some(lift) = run::Lift::new(matrix, d, &seen, &[column]) else {
            return own;
        };
        let shift: f64 = seen
            .iter()
            .zip(&lift.regression)
            .map(|(c, slope)| slope * (row[*c].unwrap_or(self.mean[*c]) - self.mean[*c]))
            .sum();
        (own.0 + shift, lift.conditional[0])
    }

    /// Estimates with one covariance for all components: their scatters are
    /// pooled. `shared` is what the prior believes of that one covariance.
    ///
    /// # Errors
    /// If nothing was seen or the pooled scatter is singular.
    pub fn map_tied(stats: &[&MultivariateStats], shared: &MultivariatePrior) -> Result<Vec<Self>> {
        let mut pooled: Option<MultivariateStats> = None;
        let mut total = 0.0;
        for one in stats {
            let MultivariateStats::Full {
                weight,
                mean,
                scatter,
            } = one
            else {
                return Err(Error::parameter("tied covariances are full"));
            };
            total += weight;
            let centred = MultivariateStats::Full {
                weight: *weight,
                mean: vec![0.0; mean.len()],
                scatter: scatter.clone(),
            };
            match &mut pooled {
                Some(pooled) => pooled.merge(&centred),
                None => pooled = Some(centred),
            }
        }
        let pooled = pooled.filter(|_| total > 0.0).ok_or_else(nothing_seen)?;
        let shared = Self::map(&pooled, shared)?;
        let center = overall_mean(stats);
        Ok(stats
            .iter()
            .map(|one| match one {
                MultivariateStats::Full { weight, mean, .. } if *weight > 0.0 => {
                    MultivariateGaussian {
                        mean: mean.clone(),
                        covariance: shared.covariance.clone(),
                    }
                }
                _ => MultivariateGaussian {
                    mean: center.clone(),
                    covariance: shared.covariance.clone(),
                },
            })
            .collect())
    }
}

/// The mean and covariance of some of the columns.
pub(crate) fn marginal(gaussian: &MultivariateGaussian, keep: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let mean = keep.iter().map(|c| gaussian.mean[*c]).collect();
    let covariance = match &gaussian.covariance {
        Covariance::Full(matrix) => submatrix(matrix, gaussian.order(), keep, keep),
        _ => keep.iter().map(|c| gaussian.covariance(*c, *c)).collect(),
    };
    (mean, covariance)
}
