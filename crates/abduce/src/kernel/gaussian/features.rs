//! Φ of a block: standardised columns and their products, column by column.

use crate::kernel::simd::multiversion;

/// The size of Φ of a block in bytes: half of a usual L2 cache.
const BLOCK_BYTES: usize = 512 * 1024;

/// The number of features of a row.
pub(super) fn feature_count(order: usize, diagonal: bool) -> usize {
    if diagonal {
        2 * order
    } else {
        order + order * (order + 1) / 2
    }
}

/// The number of rows of a block whose Φ fits the cache.
pub(crate) fn block_rows(order: usize, diagonal: bool) -> usize {
    if super::has_wide() {
        // The wide kernel does not store Φ; it has tiles of 24 and of 128 rows.
        return 384;
    }
    let rows = BLOCK_BYTES / (8 * feature_count(order, diagonal).max(1));
    (rows / 8 * 8).clamp(8, 256)
}

multiversion! {
    pub(super) fn standardise(x: &[f64], center: f64, factor: f64, out: &mut [f64]) = standardise_body
}

#[inline(always)]
fn standardise_body<const FUSED: bool>(x: &[f64], center: f64, factor: f64, out: &mut [f64]) {
    for (y, x) in out.iter_mut().zip(x) {
        *y = (x - center) * factor;
    }
}

multiversion! {
    /// The products y_i·y_j, i ≤ j, or only the squares.
    pub(super) fn multiply_features(linear: &[f64], rows: usize, diagonal: bool, out: &mut [f64]) = multiply_features_body
}

#[inline(always)]
fn multiply_features_body<const FUSED: bool>(
    linear: &[f64],
    rows: usize,
    diagonal: bool,
    out: &mut [f64],
) {
    if rows == 0 {
        return;
    }
    let order = linear.len() / rows;
    let mut targets = out.chunks_exact_mut(rows);
    for i in 0..order {
        let a = &linear[i * rows..(i + 1) * rows];
        let last = if diagonal { i + 1 } else { order };
        for j in i..last {
            let b = &linear[j * rows..(j + 1) * rows];
            if let Some(target) = targets.next() {
                for ((t, a), b) in target.iter_mut().zip(a).zip(b) {
                    *t = a * b;
                }
            }
        }
    }
}

/// The largest |y|² of a block.
pub(super) fn largest_norm(linear: &[f64], rows: usize, sums: &mut Vec<f64>) -> f64 {
    sums.clear();
    sums.resize(rows, 0.0);
    for y in linear.chunks_exact(rows.max(1)) {
        for (sum, y) in sums.iter_mut().zip(y) {
            *sum += y * y;
        }
    }
    sums.iter().copied().fold(0.0, f64::max)
}
