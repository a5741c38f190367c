//! Unknown parameters of a Gaussian over several columns: its mean with a
//! Gaussian prior, its precision matrix with a Wishart prior (a prior on the
//! precision, not on the covariance), or both with a normal-Wishart prior, or
//! mean and covariance with a normal-inverse-Wishart prior.
//!
//! With S the scatter about x̄ and T = S + κn/(κ + n) (x̄ − m)(x̄ − m)ᵀ: κ, ν grow
//! by n, m moves to (κm + n x̄)/(κ + n), and W⁻¹ or Ψ grows by T. The next row
//! is Student t with ν − d + 1 degrees of freedom.

mod both;
mod known;

pub use both::{MeanAndMatrix, MultivariateBoth, MultivariateMeanPrecision};
pub use known::{MultivariateMean, MultivariatePrecision, covariance_belief};

use super::Row;
use crate::data::{Cells, Rows};
use crate::family::{
    Covariance, Family, Multi, MultivariateGaussian, MultivariateShape, MultivariateStats,
    Structure,
};
use crate::kernel::definite::Definite;
use crate::{Error, Result};
use rand::Rng;

impl Row<MultivariateStats> for MultivariateGaussian {
    fn log_likelihood_of_rows(&self, stats: &MultivariateStats) -> f64 {
        self.log_likelihood(stats)
    }

    fn draw_row(&self, rng: &mut dyn Rng) -> Vec<f64> {
        self.draw(rng)
    }
}

fn zero(order: usize) -> MultivariateStats {
    MultivariateGaussian::zero(&MultivariateShape {
        columns: order,
        structure: Structure::Full,
    })
}

fn observe(order: usize, cells: &[f64], weights: &[f64], stats: &mut MultivariateStats) {
    let column = |c: usize| cells.iter().skip(c).step_by(order).copied().collect();
    let columns: Vec<Vec<f64>> = (0..order).map(column).collect();
    let columns: Vec<Cells> = columns.iter().map(|column| Cells::real(column)).collect();
    MultivariateGaussian::observe(&Rows::new(&columns), weights, stats);
}

fn gaussian(mean: &[f64], covariance: Vec<f64>) -> MultivariateGaussian {
    MultivariateGaussian {
        mean: mean.to_vec(),
        covariance: Covariance::Full(covariance),
    }
}

fn scaled(matrix: &[f64], factor: f64) -> Vec<f64> {
    matrix.iter().map(|entry| factor * entry).collect()
}

fn added(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn identity(order: usize, scale: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; order * order];
    (0..order).for_each(|i| matrix[i * order + i] = scale);
    matrix
}

fn not_definite() -> Error {
    Error::numeric("the matrix is not positive definite")
        .with_hint("use more rows than columns, or a proper prior")
}

fn inverse(matrix: &[f64], order: usize) -> Result<Vec<f64>> {
    let factored = Definite::new(matrix, order).ok_or_else(not_definite)?;
    Ok(factored.inverse())
}

/// Weight, mean and scatter.
fn parts(stats: &MultivariateStats) -> (f64, &[f64], &[f64]) {
    match stats {
        MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } => (*weight, mean, scatter),
        MultivariateStats::Columns { .. } => (0.0, &[], &[]),
    }
}

/// The scatter about the mean plus `share` times the square of the mean's shift from a
/// point.
fn scatter_about(stats: &MultivariateStats, point: &[f64], share: f64) -> Vec<f64> {
    let (weight, mean, scatter) = parts(stats);
    let order = mean.len();
    let mut about = scatter.to_vec();
    if weight > 0.0 {
        for j in 0..order {
            for i in 0..order {
                about[j * order + i] += share * (mean[i] - point[i]) * (mean[j] - point[j]);
            }
        }
    }
    about
}

fn mean_names(order: usize) -> Vec<String> {
    (1..=order).map(|i| format!("mean[{i}]")).collect()
}

fn matrix_names(what: &str, order: usize) -> Vec<String> {
    let name = |j: usize| (1..=order).map(move |i| format!("{what}[{i},{}]", j + 1));
    (0..order).flat_map(name).collect()
}
