//! Covariances with the same axes, Σ_j = D Λ_j Dᵀ (common principal components: Flury & Gautschi,
//! *SIAM J. Sci. Stat. Comput.* 7, 1986). Given D the best Λ_j are the diagonals of T_j = Dᵀ S_j
//! D. Given the Λ_j, rotating two axes i and l in their plane changes Σ_j tr(Λ_j⁻¹ T_j) only by
//! the form of the 2×2 matrix
//!
//!   Σ_j (1/Λ_ji − 1/Λ_jl) T_j,
//!
//! in which the eigenvector of the smaller eigenvalue is the best direction of axis i. Each
//! rotation is exact, so the likelihood never falls.

use crate::Result;
use crate::family::multivariate::structure::ellipsoidal::{Whole, turned, weighted_sum};
use crate::family::multivariate::structure::{ROUNDS, Structure, positive, until_settled};
use crate::kernel::eigen::{eigen, rotate_both_sides, rotate_columns, rotation};
use crate::kernel::linear::Square;
use crate::kernel::product::{Matrix, add_product};

/// The number of rounds of rotations that start at given axes.
const FEW: usize = 4;

/// The covariances with one volume (EVE) or one for each component (VVE).
pub(super) fn along_one_set_of_axes(
    structure: Structure,
    all: &[Whole],
    order: usize,
    before: Option<&[Square]>,
) -> Result<Vec<Square>> {
    let mut axes = match before {
        Some(before) => common_axes(before, order),
        None => eigen(&weighted_sum(all, |j| 1.0 / all[j].weight), order).vectors,
    };
    let mut forms: Vec<Square> = all
        .iter()
        .map(|stats| form(&stats.scatter, &axes, order))
        .collect();
    let mut spreads = Vec::new();
    let rounds = match before {
        // EM repeats this step; a few rounds each time are as good as many.
        Some(_) => FEW,
        None => ROUNDS,
    };
    until_settled(rounds, || {
        let objective;
        (spreads, objective) = best_spreads(structure, all, &forms, order)?;
        for i in 0..order {
            for l in i + 1..order {
                turn(i, l, &spreads, &mut forms, &mut axes, order);
            }
        }
        Ok(objective)
    })?;
    let (spreads, _) = best_spreads(structure, all, &forms, order)?;
    Ok(spreads.iter().map(|spread| turned(&axes, spread)).collect())
}

/// The common axes of covariances. Their weighted sum has the same axes. As the weights have no
/// simple ratios, two axes whose variances differ in some covariance also differ in the sum.
fn common_axes(before: &[Square], order: usize) -> Square {
    let mut sum = vec![0.0; order * order];
    for (j, matrix) in before.iter().enumerate() {
        let trace: f64 = (0..order).map(|c| matrix[c * order + c]).sum();
        let weight = (2.0 + (1.0 + j as f64).sin()) / trace;
        sum.iter_mut()
            .zip(matrix)
            .for_each(|(a, s)| *a += weight * s);
    }
    eigen(&sum, order).vectors
}

/// Dᵀ S D.
fn form(scatter: &[f64], axes: &[f64], order: usize) -> Square {
    let d = order;
    let axes = Matrix::new(axes, d, d, d);
    let mut half = vec![0.0; d * d];
    add_product(&mut half, d, Matrix::new(scatter, d, d, d), axes);
    let mut form = vec![0.0; d * d];
    let half = Matrix::new(&half, d, d, d);
    add_product(&mut form, d, axes.transposed(), half);
    form
}

/// The best variances along the axes, and −2 log-likelihood up to a constant.
fn best_spreads(
    structure: Structure,
    all: &[Whole],
    forms: &[Square],
    order: usize,
) -> Result<(Vec<Vec<f64>>, f64)> {
    let mut spreads = Vec::with_capacity(forms.len());
    let mut objective = 0.0;
    for (stats, form) in all.iter().zip(forms) {
        let each = (0..order).map(|i| positive(form[i * order + i] / stats.weight, i));
        let each: Vec<f64> = each.collect::<Result<_>>()?;
        objective += stats.weight * each.iter().map(|v| v.ln()).sum::<f64>();
        spreads.push(each);
    }
    if structure == Structure::Eve {
        let volume = |spread: &Vec<f64>| {
            let logs = spread.iter().map(|v| v.ln()).sum::<f64>();
            (logs / order as f64).exp()
        };
        let total: f64 = all.iter().map(|stats| stats.weight).sum();
        let volumes: Vec<f64> = spreads.iter().map(volume).collect();
        let shared = all.iter().zip(&volumes).map(|(stats, v)| stats.weight * v);
        let shared = shared.sum::<f64>() / total;
        for (spread, volume) in spreads.iter_mut().zip(&volumes) {
            spread.iter_mut().for_each(|v| *v *= shared / volume);
        }
        objective = total * order as f64 * shared.ln();
    }
    Ok((spreads, objective))
}

fn turn(
    i: usize,
    l: usize,
    spreads: &[Vec<f64>],
    forms: &mut [Square],
    axes: &mut [f64],
    order: usize,
) {
    let (mut a, mut c, mut b) = (0.0, 0.0, 0.0);
    for (spread, form) in spreads.iter().zip(forms.iter()) {
        let weight = 1.0 / spread[i] - 1.0 / spread[l];
        a += weight * form[i * order + i];
        c += weight * form[l * order + i];
        b += weight * form[l * order + l];
    }
    let (mut cosine, mut sine) = (1.0, 0.0);
    if c.abs() > f64::EPSILON * (a.abs() + b.abs()) {
        (cosine, sine) = rotation(a, c, b);
    }
    // If axis i would get the larger eigenvalue, the two axes are exchanged.
    let value = cosine * cosine * a - 2.0 * cosine * sine * c + sine * sine * b;
    if value > a + b - value {
        (cosine, sine) = (sine, -cosine);
    }
    if (cosine, sine) == (1.0, 0.0) {
        return;
    }
    rotate_columns(axes, order, i, l, cosine, sine);
    for form in forms {
        rotate_both_sides(form, order, i, l, cosine, sine);
    }
}
