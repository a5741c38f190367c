//! Sums of complete rows by label: Σ w·x, and the scatter Σ w |x − m|² about given means.

use super::distances::squared_body;
use crate::kernel::simd::{fma, multiversion};

multiversion! {
    /// Adds `w·x` of every row of `width` cells to the sums of its label.
    pub(crate) fn add_rows(cells: &[f64], width: usize, labels: &[u32], weights: &[f64], sums: &mut [f64]) = add_rows_body
}

#[inline(always)]
fn add_rows_body<const FUSED: bool>(
    cells: &[f64],
    width: usize,
    labels: &[u32],
    weights: &[f64],
    sums: &mut [f64],
) {
    let rows = cells.chunks_exact(width).zip(labels).zip(weights);
    for ((x, label), weight) in rows {
        let sums = &mut sums[*label as usize * width..][..width];
        for (sum, x) in sums.iter_mut().zip(x) {
            *sum = fma::<FUSED>(*weight, *x, *sum);
        }
    }
}

multiversion! {
    /// Adds `w |x − m|²` of every row to the scatter of its label.
    pub(crate) fn add_scatter(cells: &[f64], width: usize, labels: &[u32], weights: &[f64], means: &[f64], scatter: &mut [f64]) = add_scatter_body
}

#[inline(always)]
fn add_scatter_body<const FUSED: bool>(
    cells: &[f64],
    width: usize,
    labels: &[u32],
    weights: &[f64],
    means: &[f64],
    scatter: &mut [f64],
) {
    let rows = cells.chunks_exact(width).zip(labels).zip(weights);
    for ((x, label), weight) in rows {
        let mean = &means[*label as usize * width..][..width];
        scatter[*label as usize] += weight * squared_body::<FUSED>(x, mean);
    }
}
