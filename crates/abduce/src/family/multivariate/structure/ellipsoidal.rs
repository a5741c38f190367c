//! Covariances of correlated columns: the maximum of
//!
//!   −½ Σ_j (n_j ln |Σ_j| + tr(Σ_j⁻¹ S_j)),
//!
//! where n_j and S_j are weight and scatter of component j.

use crate::family::multivariate::structure::axes::along_one_set_of_axes;
use crate::family::multivariate::structure::{ROUNDS, Structure, positive, until_settled};
use crate::kernel::eigen::{Eigen, eigen};
use crate::kernel::linear::{Square, cholesky, divide_by_scales, gram, invert_lower, log_diagonal};
use crate::{Error, Result};

/// The smallest share of a column's variance that the columns before it may leave unexplained.
const PIVOT: f64 = 1e-13;

/// Weight and scatter of one component, including the prior's.
pub(crate) struct Whole {
    pub weight: f64,
    pub scatter: Square,
}

/// The covariances of the components, each `order`². Where there is more than one maximum, the
/// search starts at the covariances `before`.
///
/// # Errors
/// If a scatter is singular whose inverse the structure needs.
pub(crate) fn matrices(
    structure: Structure,
    order: usize,
    all: &[Whole],
    before: Option<&[Square]>,
) -> Result<Vec<Square>> {
    let total: f64 = all.iter().map(|stats| stats.weight).sum();
    let d = order as f64;
    let found = match structure {
        Structure::Tied => {
            let shared = times(1.0 / total, &weighted_sum(all, |_| 1.0));
            return Ok(vec![definite(shared, order)?; all.len()]);
        }
        Structure::Vee => multiples_of_one(all, order)?,
        Structure::Eve | Structure::Vve => along_one_set_of_axes(structure, all, order, before)?,
        Structure::Eev => {
            let eigens: Vec<Eigen> = all
                .iter()
                .map(|stats| eigen(&stats.scatter, order))
                .collect();
            let shape = (0..order).map(|i| eigens.iter().map(|e| e.values[i]).sum::<f64>() / total);
            let shape: Vec<f64> = shape.collect();
            eigens.iter().map(|e| turned(&e.vectors, &shape)).collect()
        }
        Structure::Vev => turned_multiples_of_one(all, order)?,
        Structure::Evv => {
            let mut volumes = Vec::with_capacity(all.len());
            for stats in all {
                volumes.push((log_determinant(&stats.scatter, order)? / d).exp());
            }
            let volume = volumes.iter().sum::<f64>() / total;
            let pairs = all.iter().zip(&volumes);
            pairs
                .map(|(stats, v)| times(volume / v, &stats.scatter))
                .collect()
        }
        _ => all
            .iter()
            .map(|stats| times(1.0 / stats.weight, &stats.scatter))
            .collect(),
    };
    found
        .into_iter()
        .map(|matrix| definite(matrix, order))
        .collect()
}

/// Σ_j = λ_j C: each of λ and C is maximised given the other.
fn multiples_of_one(all: &[Whole], order: usize) -> Result<Vec<Square>> {
    let (d, total) = (
        order as f64,
        all.iter().map(|stats| stats.weight).sum::<f64>(),
    );
    let mut volumes = vec![1.0; all.len()];
    let mut shared = Square::new();
    until_settled(ROUNDS, || {
        shared = times(1.0 / total, &weighted_sum(all, |j| 1.0 / volumes[j]));
        let precision = inverse(&shared, order)?;
        let mut objective = total * log_determinant(&shared, order)?;
        for (stats, volume) in all.iter().zip(&mut volumes) {
            let trace: f64 = stats
                .scatter
                .iter()
                .zip(&precision)
                .map(|(s, p)| s * p)
                .sum();
            *volume = positive(trace / (stats.weight * d), 0)?;
            objective += stats.weight * d * volume.ln();
        }
        Ok(objective)
    })?;
    Ok(volumes.iter().map(|v| times(*v, &shared)).collect())
}

/// Σ_j = λ_j D_j A D_jᵀ: D_j are the axes of S_j, and each of λ and A is maximised given the
/// other.
fn turned_multiples_of_one(all: &[Whole], order: usize) -> Result<Vec<Square>> {
    let (d, total) = (
        order as f64,
        all.iter().map(|stats| stats.weight).sum::<f64>(),
    );
    let eigens: Vec<Eigen> = all
        .iter()
        .map(|stats| eigen(&stats.scatter, order))
        .collect();
    let mut volumes = vec![1.0; all.len()];
    let mut shape = vec![1.0; order];
    until_settled(ROUNDS, || {
        for (i, share) in shape.iter_mut().enumerate() {
            let values = eigens.iter().zip(&volumes).map(|(e, v)| e.values[i] / v);
            *share = positive(values.sum::<f64>() / total, i)?;
        }
        let mut objective = total * shape.iter().map(|a| a.ln()).sum::<f64>();
        for ((e, whole), volume) in eigens.iter().zip(all).zip(&mut volumes) {
            let trace: f64 = e.values.iter().zip(&shape).map(|(w, a)| w / a).sum();
            *volume = positive(trace / (whole.weight * d), 0)?;
            objective += whole.weight * d * volume.ln();
        }
        Ok(objective)
    })?;
    let scaled = |v: &f64| shape.iter().map(|a| v * a).collect::<Vec<f64>>();
    let pairs = eigens.iter().zip(&volumes);
    Ok(pairs.map(|(e, v)| turned(&e.vectors, &scaled(v))).collect())
}

/// V diag(values) Vᵀ.
pub(super) fn turned(vectors: &[f64], values: &[f64]) -> Square {
    let d = values.len();
    let mut matrix = vec![0.0; d * d];
    for (value, axis) in values.iter().zip(vectors.chunks_exact(d.max(1))) {
        for j in 0..d {
            for i in 0..d {
                matrix[j * d + i] += value * axis[i] * axis[j];
            }
        }
    }
    matrix
}

pub(super) fn weighted_sum(all: &[Whole], weight: impl Fn(usize) -> f64) -> Square {
    let mut sum = vec![0.0; all.first().map_or(0, |stats| stats.scatter.len())];
    for (j, stats) in all.iter().enumerate() {
        let w = weight(j);
        sum.iter_mut()
            .zip(&stats.scatter)
            .for_each(|(a, s)| *a += w * s);
    }
    sum
}

fn times(factor: f64, matrix: &[f64]) -> Square {
    matrix.iter().map(|x| factor * x).collect()
}

/// A matrix scaled to correlations, so that units have no effect, factored.
fn factor(matrix: &[f64], order: usize) -> Result<(Square, Vec<f64>)> {
    let mut root = Vec::with_capacity(order);
    for c in 0..order {
        root.push(positive(matrix[c * order + c], c)?.sqrt());
    }
    let mut scaled = matrix.to_vec();
    divide_by_scales(&mut scaled, &root);
    let factor = cholesky(&scaled, order).map_err(|column| {
        Error::numeric(format!(
            "column {} is a linear combination of the ones before it",
            column + 1
        ))
    })?;
    Ok((factor, root))
}

/// The matrix, if it is well conditioned: other rounding errors must not make it singular.
pub(super) fn definite(matrix: Square, order: usize) -> Result<Square> {
    let (factor, _) = factor(&matrix, order)?;
    let pivots = (0..order).map(|c| factor[c * (order + 1)].powi(2));
    if pivots.fold(1.0, f64::min) > PIVOT {
        Ok(matrix)
    } else {
        Err(Error::numeric(
            "columns are nearly linear combinations of each other",
        ))
    }
}

fn log_determinant(matrix: &[f64], order: usize) -> Result<f64> {
    let (factor, root) = factor(matrix, order)?;
    Ok(2.0 * (log_diagonal(&factor, order) + root.iter().map(|r| r.ln()).sum::<f64>()))
}

fn inverse(matrix: &[f64], order: usize) -> Result<Square> {
    let (factor, root) = factor(matrix, order)?;
    let mut inverse = gram(&invert_lower(&factor, order), order);
    divide_by_scales(&mut inverse, &root);
    Ok(inverse)
}
