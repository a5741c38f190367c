//! The multivariate Student t over a group of real columns: a Gaussian whose covariance is
//! divided by a latent number of each row,
//!
//!   x | u ~ N(μ, Σ/u),  u ~ Gamma(ν/2, ν/2),
//!
//! so that far rows have a small u and little influence. Given the observed values of a row, u
//! has the mean (ν + d)/(ν + δ), where d is their number and δ their distance (x−μ)ᵀΣ⁻¹(x−μ). Σ
//! has any structure that a Gaussian's may have (Liu & Rubin, *Statistica Sinica* 5, 1995; Peel &
//! McLachlan, *Statistics and Computing* 10, 2000).

mod degrees;
mod family;
mod run;
mod stats;

pub(crate) use run::{TailedKernel, TailedRun};
pub use stats::MultivariateStudentTStats;

use crate::family::StudentT;
use crate::family::multivariate::{Covariance, MultivariateGaussian, Structure};
use crate::kernel::linear::{cholesky, invert_lower, submatrix};
use serde::{Deserialize, Serialize};

/// A Student t over several columns.
///
/// ```
/// use abduce::data::{Cells, Rows};
/// use abduce::family::{Covariance, Family, MultivariateGaussian, MultivariateStudentT};
/// let t = MultivariateStudentT {
///     degrees: 4.0,
///     gaussian: MultivariateGaussian {
///         mean: vec![0.0, 1.0],
///         covariance: Covariance::Full(vec![2.0, 0.5, 0.5, 1.0]),
///     },
/// };
/// let columns = [Cells::real(&[0.0]), Cells::real(&[1.0])];
/// let mut log_density = [0.0];
/// t.add_log_density(&Rows::new(&columns), &mut log_density);
/// // At the location it is that of the Gaussian where there are two columns.
/// assert!((log_density[0] + 2.117684960377345).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultivariateStudentT {
    /// The degrees of freedom ν.
    pub degrees: f64,
    /// The location μ and the scale matrix Σ; the covariance is Σ ν/(ν − 2).
    #[serde(flatten)]
    pub gaussian: MultivariateGaussian,
}

/// The number of columns, the structure of the scale matrix, and the degrees of
/// freedom where they are given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultivariateStudentTShape {
    /// The number of columns.
    pub columns: usize,
    /// The structure of the scale matrix.
    pub structure: Structure,
    /// ν, where it is not learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
}

impl MultivariateStudentT {
    /// The least degrees of freedom.
    pub const MIN_DEGREES: f64 = 0.01;
    /// The most degrees of freedom that may be given.
    pub const MAX_DEGREES: f64 = 1e6;
    /// The most that are learned. The divergence of a t with more from a Gaussian is about
    /// d(d+2)/4ν² for each row, too little to be seen in some ten thousand rows.
    pub const MAX_LEARNED: f64 = 200.0;

    /// The distribution of one column given the observed values of `row`: a t with one more
    /// degree of freedom for each of them, and wider the farther they are off.
    pub(crate) fn conditional(&self, row: &[Option<f64>], column: usize) -> StudentT {
        let seen: Vec<usize> = (0..row.len())
            .filter(|c| row[*c].is_some() && *c != column)
            .collect();
        let (location, variance) = self.gaussian.conditional(row, column);
        let shifts: Vec<f64> = seen
            .iter()
            .map(|c| row[*c].unwrap_or(self.gaussian.mean[*c]) - self.gaussian.mean[*c])
            .collect();
        let distance = Whitening::new(&self.gaussian, &seen).distance(&shifts);
        let degrees = self.degrees + seen.len() as f64;
        StudentT {
            location,
            scale: (variance * (self.degrees + distance) / degrees).sqrt(),
            degrees,
        }
    }
}

/// A root of the inverse of the scale matrix of some columns: a lower triangle, or
/// one over the deviations of independent columns.
pub(super) enum Whitening {
    Triangle(Vec<f64>),
    Columns(Vec<f64>),
}

impl Whitening {
    pub(super) fn new(gaussian: &MultivariateGaussian, columns: &[usize]) -> Whitening {
        let deviations = || {
            let variances = columns.iter().map(|c| gaussian.covariance(*c, *c));
            Whitening::Columns(variances.map(|v| 1.0 / v.sqrt()).collect())
        };
        let Covariance::Full(matrix) = &gaussian.covariance else {
            return deviations();
        };
        let scale = submatrix(matrix, gaussian.order(), columns, columns);
        match cholesky(&scale, columns.len()) {
            Ok(factor) => Whitening::Triangle(invert_lower(&factor, columns.len())),
            Err(_) => deviations(),
        }
    }

    /// The squared length of differences from the mean.
    pub(super) fn distance(&self, differences: &[f64]) -> f64 {
        let d = differences.len();
        match self {
            Whitening::Columns(roots) => {
                let white = roots.iter().zip(differences).map(|(root, x)| root * x);
                white.map(|x| x * x).sum()
            }
            Whitening::Triangle(inverse) => (0..d)
                .map(|i| {
                    let row = (0..=i).map(|j| inverse[j * d + i] * differences[j]);
                    row.sum::<f64>().powi(2)
                })
                .sum(),
        }
    }
}
