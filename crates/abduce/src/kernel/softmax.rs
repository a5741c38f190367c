//! The softmax of an EM step: log-sum-exp and responsibilities of a block of rows over all
//! components, with an exponential that the compiler can vectorise.
//!
//! Blocks are component-major: component `j` of row `i` is at `j * rows + i`.

use super::simd::{fma, multiversion};

/// ln 2 as a sum whose first part has few digits.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `exp(x)` for `x ≤ 709`, to about one unit in the last place; 0 below −708,
/// where the true value is under 1e-307. Cody–Waite reduction and a Taylor
/// polynomial of degree 13 on |r| ≤ ln 2 / 2.
#[inline(always)]
pub(crate) fn exp<const FUSED: bool>(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²: adding it rounds to a whole number
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
    // Rows whose maxima and sums fit the registers; the last rows are processed one by one.
    const TILE: usize = 32;
    let rows = totals.len();
    let whole = rows / TILE * TILE;
    for start in (0..whole).step_by(TILE) {
        softmax_of_rows::<FUSED, TILE>(joint, totals, start);
    }
    for row in whole..rows {
        softmax_of_rows::<FUSED, 1>(joint, totals, row);
    }
}

/// The softmax of the `N` rows from `start` on. The number is a constant so that the loops are
/// vectorised without masks.
#[inline(always)]
fn softmax_of_rows<const FUSED: bool, const N: usize>(
    joint: &mut [f64],
    totals: &mut [f64],
    start: usize,
) {
    let rows = totals.len();
    debug_assert_eq!(joint.len() % rows, 0);
    let mut top = [f64::NEG_INFINITY; N];
    for component in joint.chunks_exact(rows) {
        if let Some(cells) = component[start..].first_chunk::<N>() {
            for (top, cell) in top.iter_mut().zip(cells) {
                *top = if cell > top { *cell } else { *top };
            }
        }
    }
    // Avoids ∞ − ∞ for an impossible row.
    for top in &mut top {
        *top = if *top == f64::NEG_INFINITY { 0.0 } else { *top };
    }
    let mut sum = [0.0; N];
    for component in joint.chunks_exact_mut(rows) {
        if let Some(cells) = component[start..].first_chunk_mut::<N>() {
            for ((cell, top), sum) in cells.iter_mut().zip(&top).zip(&mut sum) {
                *cell = exp::<FUSED>(*cell - top);
                *sum += *cell;
            }
        }
    }
    for ((total, top), sum) in totals[start..].iter_mut().zip(&top).zip(&mut sum) {
        *total = top + ln::<FUSED>(*sum);
        *sum = if *sum > 0.0 { 1.0 / *sum } else { 0.0 };
    }
    for component in joint.chunks_exact_mut(rows) {
        if let Some(cells) = component[start..].first_chunk_mut::<N>() {
            for (cell, factor) in cells.iter_mut().zip(&sum) {
                *cell *= factor;
            }
        }
    }
}

/// `ln(x)` for normal numbers, to about one unit in the last place; −∞ for 0, NaN for all others.
/// The series of fdlibm in s = f / (2 + f), with x = 2ᵉ(1 + f) and |f| < √2 − 1.
#[inline(always)]
fn ln<const FUSED: bool>(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // The exponent relative to √½, so that the mantissa is from √½ to √2.
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF);
    // 2⁵² + the exponent, offset by 2048 to be positive: the bits of a number, without a conversion.
    let exponent = (shifted >> 52).wrapping_add(2048) & 0xfff;
    let e = f64::from_bits(exponent | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 2048.0);
    let mantissa = (shifted & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF);
    let f = f64::from_bits(mantissa) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = 1.479_819_860_511_658_6e-1;
    r = fma::<FUSED>(r, z, 1.531_383_769_920_937_3e-1);
    r = fma::<FUSED>(r, z, 1.818_357_216_161_805e-1);
    r = fma::<FUSED>(r, z, 2.222_219_843_214_978_4e-1);
    r = fma::<FUSED>(r, z, 2.857_142_874_366_239e-1);
    r = fma::<FUSED>(r, z, 3.999_999_999_940_942e-1);
    r = fma::<FUSED>(r, z, 6.666_666_666_666_735e-1);
    let half_square = 0.5 * f * f;
    let low = fma::<FUSED>(s, fma::<FUSED>(r, z, half_square), e * LN2_LOW);
    let value = fma::<FUSED>(e, LN2_HIGH, f - (half_square - low));
    if x > 0.0 {
        value
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::NAN
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
    fn the_logarithm_is_accurate_at_every_level() {
        for i in 0..200_000 {
            let x = 1.0 + f64::from(i) * 0.000_731;
            let near_one = 1.0 + f64::from(i) * f64::EPSILON;
            for x in [x, 1.0 / x, x * 1e200, x * 1e-200, near_one] {
                for value in [ln::<true>(x), ln::<false>(x)] {
                    let error = (value - x.ln()).abs();
                    assert!(error <= 4e-16 * x.ln().abs(), "{x}");
                }
            }
        }
        assert_eq!(ln::<false>(1.0), 0.0);
        assert_eq!(ln::<false>(0.0), f64::NEG_INFINITY);
        assert!(ln::<false>(f64::NAN).is_nan());
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
