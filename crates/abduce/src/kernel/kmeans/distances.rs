//! Distances of single pairs, summed in lanes. A missing cell is NaN and contributes 0.

use crate::kernel::simd::{fma, multiversion};

const LANES: usize = 8;

multiversion! {
    /// |a − b|².
    pub(crate) fn squared(a: &[f64], b: &[f64]) -> f64 = squared_body
}

#[inline(always)]
pub(super) fn squared_body<const FUSED: bool>(a: &[f64], b: &[f64]) -> f64 {
    summed(a, b, |gap, sum| fma::<FUSED>(gap, gap, sum))
}

multiversion! {
    /// Σ |a − b|.
    pub(crate) fn manhattan(a: &[f64], b: &[f64]) -> f64 = manhattan_body
}

#[inline(always)]
fn manhattan_body<const _FUSED: bool>(a: &[f64], b: &[f64]) -> f64 {
    summed(a, b, |gap, sum| sum + gap.abs())
}

/// |a − b|² over the cells that neither `a` nor `b` lacks.
pub(crate) fn seen_squared(a: &[f64], b: &[f64]) -> f64 {
    summed(
        a,
        b,
        |gap, sum| if gap.is_nan() { sum } else { sum + gap * gap },
    )
}

/// Σ |a − b| over the cells that neither `a` nor `b` lacks.
pub(crate) fn seen_manhattan(a: &[f64], b: &[f64]) -> f64 {
    summed(
        a,
        b,
        |gap, sum| if gap.is_nan() { sum } else { sum + gap.abs() },
    )
}

#[inline(always)]
fn summed(a: &[f64], b: &[f64], add: impl Fn(f64, f64) -> f64) -> f64 {
    let (a, rest_a) = a.as_chunks::<LANES>();
    let (b, rest_b) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] = add(a[l] - b[l], sums[l]);
        }
    }
    for ((a, b), sum) in rest_a.iter().zip(rest_b).zip(&mut sums) {
        *sum = add(a - b, *sum);
    }
    sums.iter().sum()
}
