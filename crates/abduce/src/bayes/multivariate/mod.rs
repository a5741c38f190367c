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
mod priors;

pub use both::{MultivariateBoth, MultivariateMeanPrecision};
pub use known::{MultivariateMean, MultivariatePrecision, covariance_belief};

use crate::family::{
    Covariance, Multi, MultivariateGaussian, MultivariateStats, Stats, Univariate,
};
use crate::kernel::definite::Definite;
use crate::kernel::special::LN_TAU;
use crate::{Error, Result};
use rand::Rng;

type Marginals = Vec<(usize, Box<dyn Univariate>)>;

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

fn definite(matrix: &[f64], order: usize) -> Result<Definite> {
    Definite::new(matrix, order).ok_or_else(|| {
        Error::numeric("the matrix is not positive definite")
            .with_hint("see more rows than columns, or give a proper prior")
    })
}

fn inverse(matrix: &[f64], order: usize) -> Result<Vec<f64>> {
    Ok(definite(matrix, order)?.inverse())
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

fn nothing(order: usize) -> MultivariateStats {
    MultivariateStats::Full {
        weight: 0.0,
        mean: vec![0.0; order],
        scatter: vec![0.0; order * order],
    }
}

fn see(row: &[f64], weight: f64, stats: &mut MultivariateStats) {
    let order = row.len();
    stats.merge(&MultivariateStats::Full {
        weight,
        mean: row.to_vec(),
        scatter: vec![0.0; order * order],
    });
}

/// The scatter about a point, with a weight for the shift of the mean.
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

/// Σ ln N(x; mean, precision⁻¹).
fn log_likelihood(mean: &[f64], precision: &[f64], stats: &MultivariateStats) -> f64 {
    let (weight, ..) = parts(stats);
    let order = mean.len();
    let Some(own) = Definite::new(precision, order) else {
        return f64::NEG_INFINITY;
    };
    let about = scatter_about(stats, mean, weight);
    let trace: f64 = precision.iter().zip(&about).map(|(a, b)| a * b).sum();
    -0.5 * (weight * (order as f64 * LN_TAU - own.log_determinant()) + trace)
}

fn draw(mean: &[f64], covariance: Vec<f64>, rng: &mut dyn Rng) -> Vec<f64> {
    let covariance = Covariance::Full(covariance);
    MultivariateGaussian {
        mean: mean.to_vec(),
        covariance,
    }
    .draw(rng)
}

fn mean_names(order: usize) -> Vec<String> {
    (1..=order).map(|i| format!("mean[{i}]")).collect()
}

fn matrix_names(what: &str, order: usize) -> Vec<String> {
    let name = |j: usize| (1..=order).map(move |i| format!("{what}[{i},{}]", j + 1));
    (0..order).flat_map(name).collect()
}

fn boxed<D: Univariate + 'static>(index: usize, own: D) -> (usize, Box<dyn Univariate>) {
    (index, Box::new(own))
}
