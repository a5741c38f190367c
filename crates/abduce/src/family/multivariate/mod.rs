//! The multivariate Gaussian N(μ, Σ) over a group of real columns, with a covariance of any
//! structure, parts of which components may share.
//!
//! With a full covariance, a missing value is conditioned on the observed ones: it has the
//! expectation μ_M + Σ_MO Σ_OO⁻¹ (x_O − μ_O), and its conditional covariance Σ_MM·O is added to the
//! scatter (Dempster, Laird & Rubin 1977; without it variances shrink). With diagonal and spherical
//! covariances, missing values are left out column by column. The prior p(Σ) ∝ exp(−tr(ΨΣ⁻¹)/2)
//! keeps Σ from becoming singular.

mod cache;
mod coordinates;
mod estimate;
mod family;
mod filler;
mod incomplete_columns;
mod multi;
mod run;
mod short_runs;
mod stats;
mod structure;
mod tails;
mod together;
pub(crate) mod uniform_box;

pub(crate) use filler::Filler;
use incomplete_columns::IncompleteColumns;
use run::{GaussianRun, MultivariateKernel};
use short_runs::ShortRuns;
pub use stats::MultivariateStats;
pub use structure::Structure;
pub use tails::{MultivariateStudentT, MultivariateStudentTShape, MultivariateStudentTStats};
pub(crate) use together::{TogetherKernel, TogetherRun};

use crate::kernel::linear::submatrix;
use serde::{Deserialize, Serialize};

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

/// The prior p(μ, Σ) ∝ |Σ|^{−m/2} exp(−tr(ΨΣ⁻¹)/2) · N(μ; c, Σ/κ); flat by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MultivariatePrior {
    /// Ψ: its diagonal, one entry per column, or the whole matrix; empty for 0.
    pub scatter: Vec<f64>,
    /// m, the number of pseudo-rows with this scatter.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub rows: f64,
    /// c, the prior mean of the means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub center: Vec<f64>,
    /// κ, the number of pseudo-rows at c; 0 for a flat prior.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub center_rows: f64,
    /// Added to the diagonal of every estimated covariance.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub ridge: f64,
    /// s, where (1 − s)Σ + sI replaces every estimated covariance Σ.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub unit_share: f64,
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

    /// The same mean with a covariance of another structure: the whole matrix, the variances, or
    /// their mean.
    pub(crate) fn restructured(&self, structure: Structure) -> MultivariateGaussian {
        let d = self.order();
        let variances: Vec<f64> = (0..d).map(|c| self.covariance(c, c)).collect();
        let covariance = if structure.is_correlated() {
            let cells = (0..d * d).map(|at| self.covariance(at % d, at / d));
            Covariance::Full(cells.collect())
        } else if structure.is_spherical() {
            Covariance::Spherical(variances.iter().sum::<f64>() / d as f64)
        } else {
            Covariance::Diagonal(variances)
        };
        MultivariateGaussian {
            mean: self.mean.clone(),
            covariance,
        }
    }

    /// Mean and variance of one column given the observed values of `row`.
    pub(crate) fn conditional(&self, row: &[Option<f64>], column: usize) -> (f64, f64) {
        let d = self.order();
        let unconditional = (self.mean[column], self.covariance(column, column));
        let Covariance::Full(matrix) = &self.covariance else {
            return unconditional;
        };
        let seen: Vec<usize> = (0..d)
            .filter(|c| row[*c].is_some() && *c != column)
            .collect();
        let Some(regression) = run::Regression::new(matrix, d, &seen, &[column]) else {
            return unconditional;
        };
        let shift: f64 = seen
            .iter()
            .zip(&regression.slopes)
            .map(|(c, slope)| slope * (row[*c].unwrap_or(self.mean[*c]) - self.mean[*c]))
            .sum();
        (unconditional.0 + shift, regression.conditional[0])
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
