//! The softmax of an EM step: log-sum-exp and responsibilities of a block of rows over all
//! components, with an exponential that the compiler can vectorise.
//!
//! Blocks are component-major: component `j` of row `i` is at `j * rows + i`.

use super::simd::{fma, multiversion};

/// `exp(x)` for `x ≤ 709`, to about one unit in the last place; 0 below −708,
/// where the true value is under 1e-307. Cody–Waite reduction and a Taylor
/// polynomial of degree 13 on |r| ≤ ln 2 / 2.
#[inline(always)]
pub(crate) fn exp<const FUSED: bool>(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²: adding it rounds to a whole number
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // `max` would turn NaN into a number.
    let clamped = if x < -708.0 { -708.0 } else { x };
    let shifted = fma::<FUSED>(clamped, std::f64::consts::LOG2_E, SHIFT);
    let whole = shifted - SHIFT;
    let r = fma::<FUSED>(whole, -LN2_HIGH, clamped);
    let r = fma::<FUSED>(whole, -LN2_LOW, r);
    let mut p = 1.605_904_383_682_161_5e-10; // 1/13!
    p = fma::<FUSED>(p, r, 2.087_675_698_786_81e-9);
    p = fma::<FUSED>(p, r, 2.505_210_838_544_172e-8);
    p = fma::<FUSED>(p, r, 2.755_731_922_398_589e-7);
    p = fma::<FUSED>(p, r, 2.755_731_922_398_589_3e-6);
    p = fma::<FUSED>(p, r, 2.480_158_730_158_73e-5);
    p = fma::<FUSED>(p, r, 1.984_126_984_126_984e-4);
    p = fma::<FUSED>(p, r, 1.388_888_888_888_889e-3);
    p = fma::<FUSED>(p, r, 8.333_333_333_333_333e-3);
    p = fma::<FUSED>(p, r, 4.166_666_666_666_666_4e-2);
    p = fma::<FUSED>(p, r, 1.666_666_666_666_666_6e-1);
    p = fma::<FUSED>(p, r, 0.5);
    p = fma::<FUSED>(p, r, 1.0);
    p = fma::<FUSED>(p, r, 1.0);
    // The low bits of `shifted` are the exponent in two's complement.
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    if x < -708.0 { 0.0 } else { p * scale }
}

multiversion! {
    /// Replaces joint log-densities by responsibilities and writes each row's log-density to
    /// `totals`. A row that is impossible under all components (−∞) gets the log-density −∞ and
    /// responsibilities of 0.
    pub(crate) fn softmax(joint: &mut [f64], totals: &mut [f64]) = softmax_body
}

#[inline(always)]
fn softmax_body<const FUSED: bool>(joint: &mut [f64], totals: &mut [f64]) {
    let rows = totals.len();
    if rows == 0 {
        return;
    }
    debug_assert_eq!(joint.len() % rows, 0);
    // Tiles of rows that fit registers and the L1 cache.
    const TILE: usize = 64;
    let mut top = [0.0f64; TILE];
    let mut sum = [0.0f64; TILE];
    let mut start = 0;
    while start < rows {
        let len = TILE.min(rows - start);
        top[..len].fill(f64::NEG_INFINITY);
        sum[..len].fill(0.0);
        for component in joint.chunks_exact(rows) {
            for (t, &l) in top[..len].iter_mut().zip(&component[start..start + len]) {
                *t = if l > *t { l } else { *t };
            }
        }
        // Avoids ∞ − ∞ for an impossible row.
        for t in &mut top[..len] {
            *t = if *t == f64::NEG_INFINITY { 0.0 } else { *t };
        }
        for component in joint.chunks_exact_mut(rows) {
            let cells = &mut component[start..start + len];
            for i in 0..len {
                let e = exp::<FUSED>(cells[i] - top[i]);
                cells[i] = e;
                sum[i] += e;
            }
        }
        for i in 0..len {
            totals[start + i] = top[i] + sum[i].ln();
            sum[i] = if sum[i] > 0.0 { 1.0 / sum[i] } else { 0.0 };
        }
        for component in joint.chunks_exact_mut(rows) {
            for (r, &s) in component[start..start + len].iter_mut().zip(&sum[..len]) {
                *r *= s;
            }
        }
        start += len;
    }
}

multiversion! {
    /// The softmax of one long row: replaces log-weights by shares that sum to 1 and returns the
    /// logarithm of their sum; if all are −∞, shares of 0 and −∞.
    pub(crate) fn softmax_of_one(row: &mut [f64]) -> f64 = softmax_of_one_body
}

#[inline(always)]
fn softmax_of_one_body<const FUSED: bool>(row: &mut [f64]) -> f64 {
    // Separate lanes are vectorised.
    const LANES: usize = 16;
    let mut tops = [f64::NEG_INFINITY; LANES];
    for cells in row.chunks(LANES) {
        for (top, l) in tops.iter_mut().zip(cells) {
            *top = if *l > *top { *l } else { *top };
        }
    }
    let top = tops.into_iter().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        row.fill(0.0);
        return top;
    }
    let mut sums = [0.0; LANES];
    for cells in row.chunks_mut(LANES) {
        for (sum, cell) in sums.iter_mut().zip(cells) {
            *cell = exp::<FUSED>(*cell - top);
            *sum += *cell;
        }
    }
    let sum: f64 = sums.iter().sum();
    row.iter_mut().for_each(|cell| *cell /= sum);
    top + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responsibilities_sum_to_one_and_totals_are_log_sums() {
        let (rows, components) = (131, 5);
        let mut joint: Vec<f64> = (0..rows * components)
            .map(|i| ((i * 7919) % 1000) as f64 * 1.7 - 900.0)
            .collect();
        let before = joint.clone();
        let mut totals = vec![0.0; rows];
        softmax(&mut joint, &mut totals);
        for i in 0..rows {
            let top = (0..components)
                .map(|j| before[j * rows + i])
                .fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = (0..components)
                .map(|j| (before[j * rows + i] - top).exp())
                .sum();
            assert!((totals[i] - (top + sum.ln())).abs() < 1e-12);
            let sum: f64 = (0..components).map(|j| joint[j * rows + i]).sum();
            assert!((sum - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn the_softmax_of_one_row_equals_that_of_many() {
        for len in [0, 1, 15, 16, 131] {
            let log = |i: usize| match i % 7 {
                3 => f64::NEG_INFINITY,
                _ => ((i * 7919) % 1000) as f64 * 0.01 - 900.0,
            };
            let mut one: Vec<f64> = (0..len).map(log).collect();
            let (mut other, mut total) = (one.clone(), [f64::NEG_INFINITY]);
            softmax(&mut other, &mut total);
            let sum = softmax_of_one(&mut one);
            assert!(sum == total[0] || (sum - total[0]).abs() < 1e-12);
            assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-15));
        }
    }

    #[test]
    fn an_impossible_row_has_no_responsibilities_and_no_nan() {
        let mut joint = vec![f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY, f64::NEG_INFINITY];
        let mut totals = vec![0.0; 2];
        softmax(&mut joint, &mut totals);
        assert_eq!(totals, [f64::NEG_INFINITY, 0.0]);
        assert_eq!(joint, [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn the_exponential_is_accurate_at_every_level() {
        for i in 0..70_000 {
            let x = -700.0 + f64::from(i) * 0.01003;
            for value in [exp::<true>(x), exp::<false>(x)] {
                assert!((value / x.exp() - 1.0).abs() < 4e-16 * 2.0, "{x}");
            }
        }
        assert_eq!(exp::<false>(-1e9), 0.0);
        assert_eq!(exp::<false>(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp::<false>(0.0), 1.0);
    }
}
