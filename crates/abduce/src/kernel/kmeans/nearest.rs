//! The nearest and the second nearest centre of rows, by tiles of rows × groups of centres
//! whose scores stay in registers.

use super::packed::{LANES, Packed};
#[cfg(target_arch = "x86_64")]
use super::vector::{Avx2, Avx512};
use super::vector::{Least, Nearest, Plain, Vector};
#[cfg(target_arch = "x86_64")]
use crate::kernel::simd::{Level, level};

/// The rows of a tile.
const ROWS: usize = 4;
/// The groups of a tile, so that it takes half of the registers of AVX-512.
#[cfg(target_arch = "x86_64")]
const GROUPS: usize = 4;
/// The rows of a tile with one group.
const COLUMN: usize = 8;

/// Writes the nearest centre of each of some `rows` of `cells`, which has `centres.width()`
/// numbers per row.
pub(crate) fn nearest(centres: &Packed, cells: &[f64], rows: &[u32], out: &mut [Nearest]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
        fn avx512(centres: &Packed, cells: &[f64], rows: &[u32], out: &mut [Nearest]) {
            // SAFETY: the function has the features of the vectors.
            unsafe { nearest_by::<Avx512, GROUPS>(centres, cells, rows, out) }
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2(centres: &Packed, cells: &[f64], rows: &[u32], out: &mut [Nearest]) {
            // SAFETY: as above.
            unsafe { nearest_by::<Avx2, 1>(centres, cells, rows, out) }
        }
        match level() {
            // SAFETY: the processor has these features at this level.
            Level::Avx512 => return unsafe { avx512(centres, cells, rows, out) },
            // SAFETY: as above.
            Level::Avx2 => return unsafe { avx2(centres, cells, rows, out) },
            Level::Baseline => {}
        }
    }
    // SAFETY: plain numbers need no processor features.
    unsafe { nearest_by::<Plain, 1>(centres, cells, rows, out) }
}

/// Writes the scores of some `rows` for one group of centres.
pub(crate) fn scores(
    centres: &Packed,
    group: usize,
    cells: &[f64],
    rows: &[u32],
    out: &mut [[f64; LANES]],
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
        fn avx512(c: &Packed, group: usize, x: &[f64], rows: &[u32], out: &mut [[f64; LANES]]) {
            // SAFETY: the function has the features of the vectors.
            unsafe { scores_by::<Avx512>(c, group, x, rows, out) }
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2(c: &Packed, group: usize, x: &[f64], rows: &[u32], out: &mut [[f64; LANES]]) {
            // SAFETY: as above.
            unsafe { scores_by::<Avx2>(c, group, x, rows, out) }
        }
        match level() {
            // SAFETY: the processor has these features at this level.
            Level::Avx512 => return unsafe { avx512(centres, group, cells, rows, out) },
            // SAFETY: as above.
            Level::Avx2 => return unsafe { avx2(centres, group, cells, rows, out) },
            Level::Baseline => {}
        }
    }
    // SAFETY: plain numbers need no processor features.
    unsafe { scores_by::<Plain>(centres, group, cells, rows, out) }
}

/// # Safety
/// The processor must have the features of `V`. So for all functions below.
#[inline(always)]
unsafe fn nearest_by<V: Vector, const G: usize>(
    centres: &Packed,
    cells: &[f64],
    rows: &[u32],
    out: &mut [Nearest],
) {
    let (tiles, last) = rows.as_chunks::<ROWS>();
    let (outs, last_out) = out.as_chunks_mut::<ROWS>();
    for (rows, out) in tiles.iter().zip(outs) {
        // SAFETY: the caller ensures the features of `V`; slices are indexed with bounds checks.
        unsafe { tile::<V, ROWS, G>(centres, cells, rows, out) };
    }
    for (row, out) in last.iter().zip(last_out) {
        // SAFETY: the caller ensures the features of `V`; slices are indexed with bounds checks.
        unsafe { tile::<V, 1, G>(centres, cells, &[*row], std::array::from_mut(out)) };
    }
}

#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const G: usize>(
    centres: &Packed,
    cells: &[f64],
    rows: &[u32; R],
    out: &mut [Nearest; R],
) {
    let width = centres.width();
    let x: [&[f64]; R] = std::array::from_fn(|r| row(cells, width, rows[r]));
    // SAFETY: the caller ensures the features of `V`; slices are indexed with bounds checks.
    unsafe {
        let far = V::splat(f64::INFINITY);
        let mut least = [Least {
            best: far,
            mark: V::splat(0.0),
            second: far,
        }; R];
        let whole = centres.groups() / G * G;
        for first in (0..whole).step_by(G) {
            let scores = block::<V, R, G>(centres, first, &x);
            for (g, scores) in scores.iter().enumerate() {
                let mark = V::splat((first + g) as f64);
                for (least, score) in least.iter_mut().zip(scores) {
                    V::take(least, *score, mark);
                }
            }
        }
        for group in whole..centres.groups() {
            let [scores] = block::<V, R, 1>(centres, group, &x);
            let mark = V::splat(group as f64);
            for (least, score) in least.iter_mut().zip(scores) {
                V::take(least, score, mark);
            }
        }
        for (out, least) in out.iter_mut().zip(least) {
            *out = V::across(least);
        }
    }
}

#[inline(always)]
fn row(cells: &[f64], width: usize, row: u32) -> &[f64] {
    let start = row as usize * width;
    &cells[start..start + width]
}

/// The scores of `R` rows for `G` groups of centres.
#[inline(always)]
unsafe fn block<V: Vector, const R: usize, const G: usize>(
    centres: &Packed,
    first: usize,
    x: &[&[f64]; R],
) -> [[V; R]; G] {
    let width = centres.width();
    let groups: [&[[f64; LANES]]; G] = std::array::from_fn(|g| {
        let start = (first + g) * width;
        &centres.negated[start..start + width]
    });
    let x: [&[f64]; R] = std::array::from_fn(|r| &x[r][..width]);
    // SAFETY: the caller ensures the features of `V`; slices are indexed with bounds checks.
    unsafe {
        let mut scores: [[V; R]; G] =
            std::array::from_fn(|g| [V::load(&centres.half_norms[first + g]); R]);
        for c in 0..width {
            let x: [V; R] = std::array::from_fn(|r| V::splat(x[r][c]));
            for g in 0..G {
                let lanes = V::load(&groups[g][c]);
                for r in 0..R {
                    scores[g][r] = V::fma(x[r], lanes, scores[g][r]);
                }
            }
        }
        scores
    }
}

#[inline(always)]
unsafe fn scores_by<V: Vector>(
    centres: &Packed,
    group: usize,
    cells: &[f64],
    rows: &[u32],
    out: &mut [[f64; LANES]],
) {
    let width = centres.width();
    let (tiles, last) = rows.as_chunks::<COLUMN>();
    let (outs, last_out) = out.as_chunks_mut::<COLUMN>();
    // SAFETY: the caller ensures the features of `V`; slices are indexed with bounds checks.
    unsafe {
        for (rows, out) in tiles.iter().zip(outs) {
            let x = rows.map(|one| row(cells, width, one));
            let [scores] = block::<V, COLUMN, 1>(centres, group, &x);
            *out = scores.map(|score| score.store());
        }
        for (one, out) in last.iter().zip(last_out) {
            let [[score]] = block::<V, 1, 1>(centres, group, &[row(cells, width, *one)]);
            *out = score.store();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: f64) -> Vec<f64> {
        (0..count).map(|i| (i as f64 * seed).sin()).collect()
    }

    #[test]
    fn nearest_and_second_nearest_agree_with_plain_loops() {
        for (width, k) in [(1, 1), (3, 7), (5, 8), (32, 64), (17, 37)] {
            let (cells, centres) = (numbers(23 * width, 0.7), numbers(k * width, 1.3));
            let packed = Packed::new(&centres, width);
            let rows: Vec<u32> = (0..23).rev().collect();
            let empty = Nearest {
                label: 0,
                score: 0.0,
                second: 0.0,
            };
            let mut out = vec![empty; 23];
            nearest(&packed, &cells, &rows, &mut out);
            for (row, found) in rows.iter().zip(&out) {
                let x = &cells[*row as usize * width..][..width];
                let score =
                    |c: &[f64]| -> f64 { c.iter().zip(x).map(|(c, x)| 0.5 * c * c - x * c).sum() };
                let mut scores: Vec<(f64, u32)> =
                    centres.chunks(width).map(score).zip(0..).collect();
                scores.sort_by(|a, b| a.0.total_cmp(&b.0));
                assert_eq!(found.label, scores[0].1);
                assert!((found.score - scores[0].0).abs() < 1e-12);
                match scores.get(1) {
                    Some(second) => assert!((found.second - second.0).abs() < 1e-12),
                    None => assert_eq!(found.second, f64::INFINITY),
                }
            }
        }
    }

    #[test]
    fn the_result_of_a_row_does_not_depend_on_others() {
        let (width, k) = (13, 29);
        let (cells, centres) = (numbers(40 * width, 0.9), numbers(k * width, 0.4));
        let packed = Packed::new(&centres, width);
        let empty = Nearest {
            label: 0,
            score: 0.0,
            second: 0.0,
        };
        let (mut all, rows) = (vec![empty; 40], (0..40).collect::<Vec<u32>>());
        nearest(&packed, &cells, &rows, &mut all);
        for row in rows {
            let mut alone = [empty];
            nearest(&packed, &cells, &[row], &mut alone);
            assert_eq!(alone[0], all[row as usize]);
            let mut lanes = [[0.0; LANES]; 9];
            let group = all[row as usize].label as usize / LANES;
            scores(&packed, group, &cells, &[row; 9], &mut lanes);
            let lane = all[row as usize].label as usize % LANES;
            assert!(
                lanes
                    .iter()
                    .all(|scores| scores[lane] == all[row as usize].score)
            );
        }
    }
}
