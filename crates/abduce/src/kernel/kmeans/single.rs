//! The nearest centre by half squared distances in single precision, sixteen at a time, with an
//! error bound: a row whose two smallest distances differ by more has the same label as in
//! double precision; the few others are recomputed in double precision.
//!
//! With u = 2⁻²⁴, the error of ½|x|² + ½|c|² − x·c over d products is at most
//! (d + 5) u ½(|x| + |c|)² to first order in u: two roundings of the factors, three of the
//! norms and their sum, and one for each product. This bound is added at the start, so that no
//! result is negative, and the last b bits of each result are replaced by its label, a relative
//! change of less than 2^(b−23), so that the minimum includes its label.

use super::nearest::nearest;
use super::packed::Packed;
use super::vector::Nearest;
use std::sync::atomic::{AtomicBool, Ordering};

/// The centres of a group.
const LANES: usize = 16;

/// Centres in single precision.
#[derive(Debug)]
pub(super) struct Single {
    negated: Vec<[f32; LANES]>,
    half_norms: Vec<[f32; LANES]>,
    /// The labels of each group's centres.
    labels: Vec<[u32; LANES]>,
    /// The number of bits of a label.
    bits: u32,
    /// Whether single precision is given up, because it decided too few rows.
    given_up: AtomicBool,
}

impl Clone for Single {
    fn clone(&self) -> Self {
        Single {
            negated: self.negated.clone(),
            half_norms: self.half_norms.clone(),
            labels: self.labels.clone(),
            bits: self.bits,
            given_up: AtomicBool::new(self.given_up.load(Ordering::Relaxed)),
        }
    }
}

/// The most bits of a label.
const MOST_BITS: u32 = 10;

/// The range of squared norms in which single precision neither overflows nor underflows.
const NORMS: std::ops::Range<f64> = 1e-30..1e30;

impl Single {
    /// Packs centres, given as rows of `width` numbers; `None` if single precision cannot
    /// represent them or the processor lacks AVX-512.
    pub fn new(centres: &[f64], width: usize, largest_norm: f64) -> Option<Single> {
        if !is_wide() || !NORMS.contains(&largest_norm) || width == 0 {
            return None;
        }
        let count = centres.len() / width;
        let groups = count.div_ceil(LANES);
        let bits = (groups * LANES).next_power_of_two().trailing_zeros();
        if bits > MOST_BITS {
            return None;
        }
        let label = |group: usize| std::array::from_fn(|lane| (group * LANES + lane) as u32);
        let mut single = Single {
            labels: (0..groups).map(label).collect(),
            bits,
            negated: vec![[0.0; LANES]; groups * width],
            half_norms: vec![[f32::MAX; LANES]; groups],
            given_up: AtomicBool::new(false),
        };
        for (j, centre) in centres.chunks_exact(width).enumerate() {
            let (group, lane) = (j / LANES, j % LANES);
            let cells = &mut single.negated[group * width..(group + 1) * width];
            let cells = cells.iter_mut().zip(centre);
            cells.for_each(|(cell, x)| cell[lane] = -*x as f32);
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

/// The same labels as [`nearest`], given the squared norms of all rows of `cells`. The scores
/// are bounds: the first is at least that of the nearest centre, the second at most that of any
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
        && !single.given_up.load(Ordering::Relaxed)
    {
        let largest = centres.largest_norm.sqrt();
        let terms = (centres.width() as f64 + 5.0) * 2f64.powi(-24) * 1.05;
        // The bound on the error of a half squared distance.
        let error = |norm: f64| terms * 0.5 * (largest + norm.sqrt()).powi(2);
        let start = |row: u32| {
            let norm = norms[row as usize];
            (0.5 * norm + error(norm)) as f32
        };
        // SAFETY: `centres.single` exists only if the processor has the features.
        unsafe { wide::nearest(single, centres.width(), cells, start, rows, out) };
        let label = 2f64.powi(single.bits as i32 - 23);
        let mut undecided = Vec::new();
        for ((row, found), at) in rows.iter().zip(out.iter_mut()).zip(0..) {
            let norm = norms[*row as usize];
            let (error, start) = (error(norm), 0.5 * norm + error(norm));
            let least = found.score * (1.0 + label) + error - start;
            let others = found.second * (1.0 - label) - error - start;
            if others > least && norm < NORMS.end {
                (found.score, found.second) = (least, others);
            } else {
                undecided.push((*row, at));
            }
        }
        if undecided.len() * 2 > rows.len() {
            single.given_up.store(true, Ordering::Relaxed);
        }
        let again: Vec<u32> = undecided.iter().map(|(row, _)| *row).collect();
        let mut found = vec![Nearest::NONE; again.len()];
        nearest(centres, cells, &again, &mut found);
        for ((_, at), found) in undecided.iter().zip(found) {
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

    /// The number of rows that are prefetched.
    const AHEAD: usize = 16;

    /// The smallest and the second smallest distance so far in each lane, with labels in the
    /// last bits.
    #[derive(Clone, Copy)]
    struct Least {
        best: __m512,
        second: __m512,
    }

    impl Least {
        /// The two smallest distances of both.
        #[inline]
        #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
        fn merged(a: Least, b: Least) -> Least {
            let farther = _mm512_max_ps(a.best, b.best);
            let second = _mm512_min_ps(a.second, b.second);
            Least {
                best: _mm512_min_ps(a.best, b.best),
                second: _mm512_min_ps(second, farther),
            }
        }

        /// Merges the quarters of two rows that the masks `A` and `B` select.
        #[inline]
        #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
        fn merged_quarters<const A: i32, const B: i32>(one: Least, other: Least) -> Least {
            Least::merged(
                Least {
                    best: _mm512_shuffle_f32x4::<A>(one.best, other.best),
                    second: _mm512_shuffle_f32x4::<A>(one.second, other.second),
                },
                Least {
                    best: _mm512_shuffle_f32x4::<B>(one.best, other.best),
                    second: _mm512_shuffle_f32x4::<B>(one.second, other.second),
                },
            )
        }

        /// Merges lanes with those at the places that the mask gives within quarters.
        #[inline]
        #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
        fn merged_within<const MASK: i32>(self) -> Least {
            let permuted = Least {
                best: _mm512_permute_ps::<MASK>(self.best),
                second: _mm512_permute_ps::<MASK>(self.second),
            };
            Least::merged(self, permuted)
        }
    }

    /// # Safety
    /// The processor must have these features.
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    pub(super) unsafe fn nearest(
        single: &Single,
        width: usize,
        cells: &[f64],
        start: impl Fn(u32) -> f32,
        rows: &[u32],
        out: &mut [Nearest],
    ) {
        let mut narrow = vec![0f32; ROWS * width];
        let mut starts = [0f32; ROWS];
        for (at, out) in (0..rows.len()).step_by(ROWS).zip(out.chunks_mut(ROWS)) {
            let tile_rows = &rows[at..rows.len().min(at + ROWS)];
            if let Some(later) = rows.get(at + AHEAD..at + AHEAD + tile_rows.len()) {
                for row in later {
                    for cell in cells[*row as usize * width..][..width].iter().step_by(8) {
                        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(cell).cast());
                    }
                }
            }
            let targets = narrow.chunks_exact_mut(width).zip(&mut starts);
            for ((cells32, start32), row) in targets.zip(tile_rows) {
                let x = &cells[*row as usize * width..][..width];
                let cells32 = cells32.iter_mut().zip(x);
                cells32.for_each(|(cell, x)| *cell = *x as f32);
                *start32 = start(*row);
            }
            // The last tile may contain rows of the previous one, whose results are ignored.
            let found = tile(single, width, &narrow, &starts);
            out.copy_from_slice(&found[..out.len()]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn tile(
        single: &Single,
        width: usize,
        narrow: &[f32],
        starts: &[f32; ROWS],
    ) -> [Nearest; ROWS] {
        let far = _mm512_set1_ps(f32::MAX);
        let mut least = [Least {
            best: far,
            second: far,
        }; ROWS];
        let groups = single.half_norms.len();
        let whole = groups / GROUPS * GROUPS;
        for first in (0..whole).step_by(GROUPS) {
            update::<GROUPS>(single, width, narrow, starts, first, &mut least);
        }
        for group in whole..groups {
            update::<1>(single, width, narrow, starts, group, &mut least);
        }
        across(least, single.bits)
    }

    /// Updates the least by some groups of centres.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn update<const G: usize>(
        single: &Single,
        width: usize,
        narrow: &[f32],
        starts: &[f32; ROWS],
        first: usize,
        least: &mut [Least; ROWS],
    ) {
        let mut halves = [[_mm512_setzero_ps(); ROWS]; G];
        for (halves, norms) in halves.iter_mut().zip(&single.half_norms[first..]) {
            // SAFETY: the array is as long as the register.
            let norms = unsafe { _mm512_loadu_ps(norms.as_ptr()) };
            for (half, start) in halves.iter_mut().zip(starts) {
                *half = _mm512_add_ps(norms, _mm512_set1_ps(*start));
            }
        }
        let negated = &single.negated[first * width..(first + G) * width];
        let narrow = &narrow[..ROWS * width];
        for c in 0..width {
            let mut x = [_mm512_setzero_ps(); ROWS];
            for r in 0..ROWS {
                x[r] = _mm512_set1_ps(narrow[r * width + c]);
            }
            for g in 0..G {
                // SAFETY: as above.
                let lanes = unsafe { _mm512_loadu_ps(negated[g * width + c].as_ptr()) };
                for r in 0..ROWS {
                    halves[g][r] = _mm512_fmadd_ps(x[r], lanes, halves[g][r]);
                }
            }
        }
        let kept = _mm512_set1_epi32(-1 << single.bits);
        for (halves, labels) in halves.iter().zip(&single.labels[first..]) {
            // SAFETY: as above.
            let labels = unsafe { _mm512_loadu_si512(labels.as_ptr().cast()) };
            for (half, least) in halves.iter().zip(least.iter_mut()) {
                // (half & kept) | label
                let bits = _mm512_castps_si512(*half);
                let bits = _mm512_ternarylogic_epi32::<0xEA>(bits, kept, labels);
                let half = _mm512_castsi512_ps(bits);
                let farther = _mm512_max_ps(half, least.best);
                least.second = _mm512_min_ps(least.second, farther);
                least.best = _mm512_min_ps(least.best, half);
            }
        }
    }

    /// The least over all lanes of four rows: merges pairs of rows by halves, then all four by
    /// quarters, then lanes within quarters.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn across(least: [Least; ROWS], bits: u32) -> [Nearest; ROWS] {
        let [a, b, c, d] = least;
        let ab = Least::merged_quarters::<0x44, 0xEE>(a, b);
        let cd = Least::merged_quarters::<0x44, 0xEE>(c, d);
        let all = Least::merged_quarters::<0x88, 0xDD>(ab, cd);
        let all = all.merged_within::<0x4E>().merged_within::<0xB1>();
        let (mut best, mut second) = ([0f32; LANES], [0f32; LANES]);
        // SAFETY: the arrays are as long as the registers.
        unsafe {
            _mm512_storeu_ps(best.as_mut_ptr(), all.best);
            _mm512_storeu_ps(second.as_mut_ptr(), all.second);
        }
        let mut out = [Nearest::NONE; ROWS];
        for (r, out) in out.iter_mut().enumerate() {
            *out = Nearest {
                label: best[4 * r].to_bits() & !(u32::MAX << bits),
                score: f64::from(best[4 * r]),
                second: f64::from(second[4 * r]),
            };
        }
        out
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
            let mut exact = vec![Nearest::NONE; rows.len()];
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
