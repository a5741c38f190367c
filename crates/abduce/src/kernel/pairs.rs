//! Sums over the pairs of one query and a block of points, the inner loop of
//! every density made of points. A block is [`BLOCK`] points with their
//! coordinates one after the other, so that the compiler unrolls it into
//! vector code without a remainder.

use super::simd::{fma, multiversion};
use super::softmax::exp;

/// Points of a block: four vectors of eight.
pub(crate) const BLOCK: usize = 32;

/// One number for each point of a block.
pub(crate) type Lanes = [f64; BLOCK];

multiversion! {
    /// Writes the squared distance of every point of a block to the query.
    /// The block holds the first coordinates of all its points, then the second.
    pub(crate) fn squared_distances(block: &[f64], query: &[f64], out: &mut Lanes) = squared_distances_body
}

#[inline(always)]
fn squared_distances_body<const FUSED: bool>(block: &[f64], query: &[f64], out: &mut Lanes) {
    let mut sums = [0.0; BLOCK];
    for (coordinates, at) in block.chunks_exact(BLOCK).zip(query) {
        for (sum, x) in sums.iter_mut().zip(coordinates) {
            let gap = x - at;
            *sum = fma::<FUSED>(gap, gap, *sum);
        }
    }
    *out = sums;
}

/// Centres in groups of [`GROUP`]: the first coordinates of the group, then the second. Those that
/// fill the last group are infinitely far.
pub(crate) fn grouped_centres(centres: &[Vec<f64>]) -> Vec<[f64; GROUP]> {
    let width = centres.first().map_or(0, Vec::len);
    let groups = centres.chunks(GROUP);
    groups
        .flat_map(|group| {
            let cell = move |j: usize, c: usize| group.get(j).map_or(f64::INFINITY, |own| own[c]);
            (0..width).map(move |c| std::array::from_fn(|j| cell(j, c)))
        })
        .collect()
}

multiversion! {
    /// The centre nearest to each point of so many columns, the first of equals. Every distance
    /// is summed in the order of the columns, whatever the chip.
    pub(crate) fn nearest_centres(points: &[f64], width: usize, centres: &[[f64; GROUP]]) -> Vec<usize> = nearest_centres_body
}

#[inline(always)]
fn nearest_centres_body<const _FUSED: bool>(
    points: &[f64],
    width: usize,
    centres: &[[f64; GROUP]],
) -> Vec<usize> {
    let mut nearest = Vec::with_capacity(points.len() / width);
    // Loops, since the code of closures is not that of the chip.
    for point in points.chunks_exact(width) {
        let (mut best, mut least) = (0, f64::INFINITY);
        for (number, group) in centres.chunks_exact(width).enumerate() {
            let mut squares = [0.0; GROUP];
            for (x, own) in point.iter().zip(group) {
                for (square, centre) in squares.iter_mut().zip(own) {
                    *square += (x - centre) * (x - centre);
                }
            }
            for (j, square) in squares.iter().enumerate() {
                if *square < least {
                    (best, least) = (number * GROUP + j, *square);
                }
            }
        }
        nearest.push(best);
    }
    nearest
}

multiversion! {
    /// Σ w·exp(exponent − reference); no exponent may exceed the reference by
    /// 700.
    pub(crate) fn sum_of_exponentials(exponents: &Lanes, weights: &[f64], reference: f64) -> f64 = sum_of_exponentials_body
}

#[inline(always)]
fn sum_of_exponentials_body<const FUSED: bool>(
    exponents: &Lanes,
    weights: &[f64],
    reference: f64,
) -> f64 {
    // Values first, sums later: the first loop has no order to keep, and becomes
    // vector code.
    let mut values = *exponents;
    for value in &mut values {
        *value = exp::<FUSED>(*value - reference);
    }
    let mut sums = [0.0; GROUP];
    let groups = values.chunks_exact(GROUP).zip(weights.chunks_exact(GROUP));
    for (values, weights) in groups {
        for lane in 0..GROUP {
            sums[lane] = fma::<FUSED>(weights[lane], values[lane], sums[lane]);
        }
    }
    sums.iter().sum()
}

/// Points that are worked on side by side.
pub(crate) const GROUP: usize = 8;

/// How a monomial u^α/α! follows from an earlier one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The place of the earlier one.
    pub before: usize,
    /// The column to multiply with.
    pub column: usize,
    /// One over the exponent of that column.
    pub inverse: f64,
}

multiversion! {
    /// Adds w (x − centre)^α / α! of every point of a block to `sums`, the first being
    /// the weight and each other following by its step. `monomials` is working space.
    pub(crate) fn add_moments(block: &[f64], weights: &[f64], centre: &[f64], steps: &[Step], monomials: &mut [[f64; GROUP]], sums: &mut [[f64; GROUP]]) = add_moments_body
}

#[inline(always)]
fn add_moments_body<const _FUSED: bool>(
    block: &[f64],
    weights: &[f64],
    centre: &[f64],
    steps: &[Step],
    monomials: &mut [[f64; GROUP]],
    sums: &mut [[f64; GROUP]],
) {
    for (group, weights) in weights.chunks_exact(GROUP).enumerate() {
        let mut offsets = [[0.0; GROUP]; 3];
        let columns = offsets
            .iter_mut()
            .zip(centre)
            .zip(block.chunks_exact(BLOCK));
        for ((own, centre), x) in columns {
            for lane in 0..GROUP {
                // What fills up the last block weighs nothing and is infinitely far.
                let offset = x[group * GROUP + lane] - centre;
                own[lane] = if weights[lane] > 0.0 { offset } else { 0.0 };
            }
        }
        monomials[0].copy_from_slice(weights);
        sums[0]
            .iter_mut()
            .zip(weights)
            .for_each(|(sum, weight)| *sum += weight);
        for (number, step) in steps.iter().enumerate() {
            let (before, by) = (monomials[step.before], offsets[step.column]);
            let (own, sum) = (&mut monomials[number + 1], &mut sums[number + 1]);
            for lane in 0..GROUP {
                own[lane] = before[lane] * by[lane] * step.inverse;
                sum[lane] += own[lane];
            }
        }
    }
}

/// The smallest of a block's numbers.
pub(crate) fn least(lanes: &Lanes) -> f64 {
    let smaller = |a: f64, b: f64| if b < a { b } else { a };
    let mut low = [f64::INFINITY; GROUP];
    for group in lanes.chunks_exact(GROUP) {
        for lane in 0..GROUP {
            low[lane] = smaller(low[lane], group[lane]);
        }
    }
    low.into_iter().fold(f64::INFINITY, smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_gives_what_plain_loops_give() {
        let block: Vec<f64> = (0..3 * BLOCK).map(|i| (i as f64 * 0.37).sin()).collect();
        let weights: Vec<f64> = (0..BLOCK).map(|i| 1.0 + i as f64).collect();
        let query = [0.2, -0.4, 1.5];
        let mut distances = [0.0; BLOCK];
        squared_distances(&block, &query, &mut distances);
        let mut sum = 0.0;
        for (i, distance) in distances.iter().enumerate() {
            let plain: f64 = (0..3)
                .map(|c| (block[c * BLOCK + i] - query[c]).powi(2))
                .sum();
            assert!((distance - plain).abs() < 1e-14);
            sum += weights[i] * plain.exp();
        }
        let obtained = sum_of_exponentials(&distances, &weights, 0.0);
        assert!((obtained / sum - 1.0).abs() < 1e-14);
        assert!(distances.contains(&least(&distances)));
    }
}
