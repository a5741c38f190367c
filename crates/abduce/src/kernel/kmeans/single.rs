//! The nearest centre by scores in single precision, sixteen side by side, with a bound on
//! how wrong they are: rows whose two least scores differ by more have the label that
//! double precision gives them, the few others are computed again.
//!
//! With u = 2⁻²⁴, a score ½|c|² − x·c of d products differs from the exact one by at most
//! (d + 3) u (½|c|² + |x||c|), to first order in u: two roundings of the factors, one of
//! the norm, and one for each sum.

use super::nearest::nearest;
use super::packed::Packed;
use super::vector::Nearest;
use std::sync::atomic::{AtomicBool, Ordering};

/// Centres of a group.
const LANES: usize = 16;

/// Centres in single precision.
#[derive(Debug)]
pub(super) struct Single {
    negated: Vec<[f32; LANES]>,
    half_norms: Vec<[f32; LANES]>,
    /// Whether too few rows were settled to go on with it.
    hopeless: AtomicBool,
}

impl Clone for Single {
    fn clone(&self) -> Self {
        Single {
            negated: self.negated.clone(),
            half_norms: self.half_norms.clone(),
            hopeless: AtomicBool::new(self.hopeless.load(Ordering::Relaxed)),
        }
    }
}

/// Squared norms between which single precision neither overflows nor vanishes.
const NORMS: std::ops::Range<f64> = 1e-30..1e30;

impl Single {
    /// The centres, one row of `width` numbers after the other; `None` where single
    /// precision cannot hold them or the chip has no use for it.
    pub fn new(centres: &[f64], width: usize, largest_norm: f64) -> Option<Single> {
        if !is_wide() || !NORMS.contains(&largest_norm) || width == 0 {
            return None;
        }
        let groups = (centres.len() / width).div_ceil(LANES);
        let mut single = Single {
            negated: vec![[0.0; LANES]; groups * width],
            half_norms: vec![[f32::INFINITY; LANES]; groups],
            hopeless: AtomicBool::new(false),
        };
        for (j, centre) in centres.chunks_exact(width).enumerate() {
            let (group, lane) = (j / LANES, j % LANES);
            let own = &mut single.negated[group * width..(group + 1) * width];
            let cells = own.iter_mut().zip(centre);
            cells.for_each(|(at, x)| at[lane] = -*x as f32);
            let norm: f64 = centre.iter().map(|x| x * x).sum();
            single.half_norms[group][lane] = (0.5 * norm) as f32;
        }
        Some(single)
    }
}

fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::kernel::simd::{Level, level};
        level() == Level::Avx512
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// As [`nearest`] labels the rows, whose squared norms are given for all rows of `cells`;
/// the score is not below that of the nearest, the second score not above that of any
/// other.
pub(crate) fn nearest_within(
    centres: &Packed,
    cells: &[f64],
    norms: &[f64],
    rows: &[u32],
    out: &mut [Nearest],
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(single) = &centres.single
        && !single.hopeless.load(Ordering::Relaxed)
    {
        // SAFETY: centres are in single precision only where the chip has the features.
        unsafe { wide::nearest(single, centres.width(), cells, rows, out) };
        let largest = centres.largest_norm.sqrt();
        let terms = (centres.width() as f64 + 3.0) * 2f64.powi(-24) * 1.05;
        let mut unclear = Vec::new();
        for ((row, found), at) in rows.iter().zip(out.iter_mut()).zip(0..) {
            let norm = norms[*row as usize];
            let off = terms * largest * (0.5 * largest + norm.sqrt());
            if found.second - found.score > 2.0 * off && norm < NORMS.end {
                found.score += off;
                found.second -= off;
            } else {
                unclear.push((*row, at));
            }
        }
        if unclear.len() * 2 > rows.len() {
            single.hopeless.store(true, Ordering::Relaxed);
        }
        let again: Vec<u32> = unclear.iter().map(|(row, _)| *row).collect();
        let mut found = vec![Nearest::NOWHERE; again.len()];
        nearest(centres, cells, &again, &mut found);
        for ((_, at), found) in unclear.iter().zip(found) {
            out[*at] = found;
        }
        return;
    }
    let _ = norms;
    nearest(centres, cells, rows, out);
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{LANES, Nearest, Single};
    use std::arch::x86_64::*;

    const ROWS: usize = 4;
    const GROUPS: usize = 4;

    /// The least scores so far, lane by lane.
    #[derive(Clone, Copy)]
    struct Least {
        best: __m512,
        mark: __m512,
        second: __m512,
    }

    /// # Safety
    /// The chip has these features.
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    pub(super) unsafe fn nearest(
        single: &Single,
        width: usize,
        cells: &[f64],
        rows: &[u32],
        out: &mut [Nearest],
    ) {
        let mut narrow = vec![0f32; ROWS * width];
        for (rows, out) in rows.chunks(ROWS).zip(out.chunks_mut(ROWS)) {
            for (own, row) in narrow.chunks_exact_mut(width).zip(rows) {
                let x = &cells[*row as usize * width..][..width];
                own.iter_mut().zip(x).for_each(|(own, x)| *own = *x as f32);
            }
            // A last tile has some rows of the one before it, which nobody asks for.
            let found = tile(single, width, &narrow);
            out.copy_from_slice(&found[..out.len()]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn tile(single: &Single, width: usize, narrow: &[f32]) -> [Nearest; ROWS] {
        let far = _mm512_set1_ps(f32::INFINITY);
        let mut least = [Least {
            best: far,
            mark: _mm512_setzero_ps(),
            second: far,
        }; ROWS];
        let groups = single.half_norms.len();
        let whole = groups / GROUPS * GROUPS;
        for first in (0..whole).step_by(GROUPS) {
            take::<GROUPS>(single, width, narrow, first, &mut least);
        }
        for group in whole..groups {
            take::<1>(single, width, narrow, group, &mut least);
        }
        least.map(|own| across(own))
    }

    /// Takes the scores of some groups into the least.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn take<const G: usize>(
        single: &Single,
        width: usize,
        narrow: &[f32],
        first: usize,
        least: &mut [Least; ROWS],
    ) {
        let groups: [&[[f32; LANES]]; G] = std::array::from_fn(|g| {
            let start = (first + g) * width;
            &single.negated[start..start + width]
        });
        let x: [&[f32]; ROWS] = std::array::from_fn(|r| &narrow[r * width..(r + 1) * width]);
        let load = |lanes: &[f32; LANES]| {
            // SAFETY: the array is as long as the register.
            unsafe { _mm512_loadu_ps(lanes.as_ptr()) }
        };
        let mut scores: [[__m512; ROWS]; G] =
            std::array::from_fn(|g| [load(&single.half_norms[first + g]); ROWS]);
        for c in 0..width {
            let x: [__m512; ROWS] = std::array::from_fn(|r| _mm512_set1_ps(x[r][c]));
            for g in 0..G {
                let lanes = load(&groups[g][c]);
                for r in 0..ROWS {
                    scores[g][r] = _mm512_fmadd_ps(x[r], lanes, scores[g][r]);
                }
            }
        }
        for (g, scores) in scores.iter().enumerate() {
            let mark = _mm512_set1_ps((first + g) as f32);
            for (least, score) in least.iter_mut().zip(scores) {
                let closer = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(*score, least.best);
                let farther = _mm512_max_ps(*score, least.best);
                least.second = _mm512_min_ps(farther, least.second);
                least.best = _mm512_min_ps(*score, least.best);
                least.mark = _mm512_mask_mov_ps(least.mark, closer, mark);
            }
        }
    }

    /// The least over all lanes; of equals any, as they are looked at again.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn across(least: Least) -> Nearest {
        let Least { best, mark, second } = least;
        let score = _mm512_reduce_min_ps(best);
        let equal = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(best, _mm512_set1_ps(score));
        let lane = equal.trailing_zeros().min(LANES as u32 - 1);
        let mut marks = [0f32; LANES];
        // SAFETY: the array is as long as the register.
        unsafe { _mm512_storeu_ps(marks.as_mut_ptr(), mark) };
        let others = _mm512_mask_mov_ps(best, 1 << lane, second);
        let others = _mm512_min_ps(others, second);
        Nearest {
            label: marks[lane as usize] as u32 * LANES as u32 + lane,
            score: f64::from(score),
            second: f64::from(_mm512_reduce_min_ps(others)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_double_precision_and_scores_are_bounds() {
        let numbers = |count: usize, seed: f64| -> Vec<f64> {
            (0..count).map(|i| (i as f64 * seed).sin()).collect()
        };
        for (width, k, offset) in [
            (1, 1, 0.0),
            (3, 7, 0.0),
            (5, 16, 1e3),
            (32, 64, 0.0),
            (17, 85, 1e7),
            (2, 33, 1e-3),
        ] {
            let rows: Vec<u32> = (0..301).rev().collect();
            let place = |x: &f64| x + offset;
            let cells: Vec<f64> = numbers(301 * width, 0.7).iter().map(place).collect();
            let mut centres: Vec<f64> = numbers(k * width, 1.3).iter().map(place).collect();
            // Rows on centres, and between two that differ in the last digits.
            centres[..width].copy_from_slice(&cells[..width]);
            if k > 2 {
                let twin: Vec<f64> = centres[..width].iter().map(|x| x * (1.0 + 1e-15)).collect();
                centres[2 * width..3 * width].copy_from_slice(&twin);
            }
            let packed = Packed::new(&centres, width);
            let norm = |x: &[f64]| x.iter().map(|x| x * x).sum();
            let norms: Vec<f64> = cells.chunks_exact(width).map(norm).collect();
            let mut exact = vec![Nearest::NOWHERE; rows.len()];
            nearest(&packed, &cells, &rows, &mut exact);
            let mut found = exact.clone();
            nearest_within(&packed, &cells, &norms, &rows, &mut found);
            for (found, exact) in found.iter().zip(&exact) {
                assert_eq!(found.label, exact.label);
                assert!(found.score >= exact.score && found.second <= exact.second);
            }
        }
    }
}
