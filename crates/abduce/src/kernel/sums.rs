//! Weighted sums of one column, in separate lanes that are vectorised and reduce rounding
//! errors.

use super::simd::{fma, multiversion};

const LANES: usize = 16;

multiversion! {
    /// Σx.
    pub(crate) fn sum(x: &[f64]) -> f64 = sum_body
}

#[inline(always)]
fn sum_body<const FUSED: bool>(x: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder().iter().sum::<f64>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += x);
    }
    lanes.iter().sum::<f64>() + rest
}

multiversion! {
    /// Adds `constant − ½((x − origin)·scale)²` for each number.
    pub(crate) fn add_standardised_squares(x: &[f64], origin: f64, scale: f64, constant: f64, out: &mut [f64]) = add_standardised_squares_body
}

#[inline(always)]
fn add_standardised_squares_body<const FUSED: bool>(
    x: &[f64],
    origin: f64,
    scale: f64,
    constant: f64,
    out: &mut [f64],
) {
    for (out, x) in out.iter_mut().zip(x) {
        let z = (x - origin) * scale;
        *out += fma::<FUSED>(-0.5 * z, z, constant);
    }
}

multiversion! {
    /// Adds `constant − ½((x − origin)·scale)²` for each number where the mask is not 0.
    pub(crate) fn add_masked_squares(x: &[f64], mask: &[f64], origin: f64, scale: f64, constant: f64, out: &mut [f64]) = add_masked_squares_body
}

#[inline(always)]
fn add_masked_squares_body<const FUSED: bool>(
    x: &[f64],
    mask: &[f64],
    origin: f64,
    scale: f64,
    constant: f64,
    out: &mut [f64],
) {
    for ((out, x), mask) in out.iter_mut().zip(x).zip(mask) {
        let z = (x - origin) * scale;
        let value = fma::<FUSED>(-0.5 * z, z, constant);
        *out += if *mask == 0.0 { 0.0 } else { value };
    }
}

multiversion! {
    /// `(Σw, Σw(x − origin), Σw(x − origin)²)`.
    pub(crate) fn shifted_moments(x: &[f64], weights: &[f64], origin: f64) -> (f64, f64, f64) = shifted_moments_body
}

#[inline(always)]
fn shifted_moments_body<const FUSED: bool>(
    x: &[f64],
    weights: &[f64],
    origin: f64,
) -> (f64, f64, f64) {
    let (mut weight, mut first, mut second) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (xs, ws) = (x.chunks_exact(LANES), weights.chunks_exact(LANES));
    let rest = xs.remainder().iter().zip(ws.remainder());
    for (x, w) in xs.zip(ws) {
        for lane in 0..LANES {
            let shift = x[lane] - origin;
            let weighted = w[lane] * shift;
            weight[lane] += w[lane];
            first[lane] += weighted;
            second[lane] = fma::<FUSED>(weighted, shift, second[lane]);
        }
    }
    for (lane, (x, w)) in rest.enumerate() {
        let shift = x - origin;
        weight[lane] += w;
        first[lane] += w * shift;
        second[lane] += w * shift * shift;
    }
    (weight.iter().sum(), first.iter().sum(), second.iter().sum())
}
