//! The columns of a block of rows and which of their products are features.

use crate::kernel::simd::multiversion;
use crate::kernel::tiles::{ALIGNMENT, Pair};

/// The size of the columns of a block in bytes: less than a usual L2 cache.
const BLOCK_BYTES: usize = 512 * 1024;

/// The rows of a block over few columns.
const MAX_ROWS: usize = 384;

/// The features of rows with so many columns: each column times the last one, which is of ones,
/// and the products of columns i ≤ j, or only the squares.
pub(super) fn pairs(order: usize, diagonal: bool) -> Vec<Pair> {
    let ones = order as u32;
    let linear = (0..ones).map(|c| [c, ones]);
    let products = (0..ones).flat_map(|i| {
        let last = if diagonal { i + 1 } else { ones };
        (i..last).map(move |j| [i, j])
    });
    linear.chain(products).collect()
}

/// The number of rows of a block whose columns fit the cache.
pub(crate) fn block_rows(order: usize) -> usize {
    let rows = BLOCK_BYTES / (8 * (order + 1));
    (rows / ALIGNMENT * ALIGNMENT).clamp(2 * ALIGNMENT, MAX_ROWS)
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

/// The largest |y|² of a block.
pub(super) fn largest_norm(columns: &[f64], stride: usize, sums: &mut Vec<f64>) -> f64 {
    sums.clear();
    sums.resize(stride, 0.0);
    for y in columns.chunks_exact(stride.max(1)) {
        for (sum, y) in sums.iter_mut().zip(y) {
            *sum += y * y;
        }
    }
    sums.iter().copied().fold(0.0, f64::max)
}
