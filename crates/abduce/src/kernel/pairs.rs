//! Sums over the pairs of a query and a block of points, the inner loop of densities made of
//! points. A block is [`BLOCK`] points, coordinate by coordinate, so that loops over it are
//! vectorised without a remainder.

use super::simd::{fma, multiversion};
use super::softmax::exp;

/// The number of points in a block: four vectors of eight.
pub(crate) const BLOCK: usize = 32;

/// One number for each point of a block.
pub(crate) type Lanes = [f64; BLOCK];

multiversion! {
    /// Writes the squared distance of every point of a block to the query. The block has the
    /// first coordinates of all its points, then the second ones, and so on.
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

/// Centres in groups of [`GROUP`]: the first coordinates of a group, then the second ones, and
/// so on. The last group is padded with centres at infinity.
pub(crate) fn grouped_centres(centres: &[Vec<f64>]) -> Vec<[f64; GROUP]> {
    let width = centres.first().map_or(0, Vec::len);
    let groups = centres.chunks(GROUP);
    groups
        .flat_map(|group| {
            let cell =
                move |j: usize, c: usize| group.get(j).map_or(f64::INFINITY, |centre| centre[c]);
            (0..width).map(move |c| std::array::from_fn(|j| cell(j, c)))
        })
        .collect()
}

multiversion! {
    /// The centre nearest to each point of `width` coordinates, the first of ties. Distances are
    /// summed in the order of the coordinates on every processor.
    pub(crate) fn nearest_centres(points: &[f64], width: usize, centres: &[[f64; GROUP]]) -> Vec<usize> = nearest_centres_body
}

#[inline(always)]
fn nearest_centres_body<const _FUSED: bool>(
    points: &[f64],
    width: usize,
    centres: &[[f64; GROUP]],
) -> Vec<usize> {
    let mut nearest = Vec::with_capacity(points.len() / width);
    // Loops, because closures are not compiled for the target features.
    for point in points.chunks_exact(width) {
        let (mut best, mut least) = (0, f64::INFINITY);
        for (number, group) in centres.chunks_exact(width).enumerate() {
            let mut squares = [0.0; GROUP];
            for (x, centres) in point.iter().zip(group) {
                for (square, centre) in squares.iter_mut().zip(centres) {
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
    // A separate loop for the exponentials is vectorised.
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

/// The number of points that are processed together.
pub(crate) const GROUP: usize = 8;

/// How a monomial u^α/α! is computed from an earlier one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The index of the earlier one.
    pub before: usize,
    /// The column to multiply by.
    pub column: usize,
    /// The reciprocal of that column's exponent.
    pub inverse: f64,
}

multiversion! {
    /// Adds w (x − centre)^α / α! of every point of a block to `sums`. The first monomial is the
    /// weight, the others follow by `steps`; `monomials` is a buffer for them.
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
        for ((offsets, centre), x) in columns {
            for lane in 0..GROUP {
                // The padding of the last block has weight 0 and is at infinity.
                let offset = x[group * GROUP + lane] - centre;
                offsets[lane] = if weights[lane] > 0.0 { offset } else { 0.0 };
            }
        }
        monomials[0].copy_from_slice(weights);
        sums[0]
            .iter_mut()
            .zip(weights)
            .for_each(|(sum, weight)| *sum += weight);
        for (number, step) in steps.iter().enumerate() {
            let (before, by) = (monomials[step.before], offsets[step.column]);
            let (monomial, sum) = (&mut monomials[number + 1], &mut sums[number + 1]);
            for lane in 0..GROUP {
                monomial[lane] = before[lane] * by[lane] * step.inverse;
                sum[lane] += monomial[lane];
            }
        }
    }
}

/// The smallest number of a block.
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
    fn blocks_agree_with_plain_loops() {
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
