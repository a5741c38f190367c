//! The nearest centre by halves of squared distances in single precision, sixteen side by
//! side, with a bound on how wrong they are: rows whose two least differ by more have the
//! label that double precision gives them, the few others are computed again.
//!
//! With u = 2⁻²⁴, ½|x|² + ½|c|² − x·c of d products differs from the exact one by at most
//! (d + 5) u ½(|x| + |c|)², to first order in u: two roundings of the factors, three of the
//! norms and their sum, and one for each product. A little more is added at the beginning,
//! so that none is negative, and the last b bits of each make room for its label, which
//! changes it by less than 2^(b−23) of itself: the least then brings its label along.

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
    /// The labels of each group's centres.
    labels: Vec<[u32; LANES]>,
    /// How many bits labels take.
    bits: u32,
    /// Whether too few rows were settled to go on with it.
    hopeless: AtomicBool,
}

impl Clone for Single {
    fn clone(&self) -> Self {
        Single {
            negated: self.negated.clone(),
            half_norms: self.half_norms.clone(),
            labels: self.labels.clone(),
            bits: self.bits,
            hopeless: AtomicBool::new(self.hopeless.load(Ordering::Relaxed)),
        }
    }
}

/// The most bits that labels may take of a number.
const MOST_BITS: u32 = 10;

/// Squared norms between which single precision neither overflows nor vanishes.
const NORMS: std::ops::Range<f64> = 1e-30..1e30;

impl Single {
    /// The centres, one row of `width` numbers after the other; `None` where single
    /// precision cannot hold them or the chip has no use for it.
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
        let largest = centres.largest_norm.sqrt();
        let terms = (centres.width() as f64 + 5.0) * 2f64.powi(-24) * 1.05;
        // How wrong a half of a squared distance may be, which is also what it is more.
        let off = |norm: f64| terms * 0.5 * (largest + norm.sqrt()).powi(2);
        let begin = |row: u32| {
            let norm = norms[row as usize];
            (0.5 * norm + off(norm)) as f32
        };
        // SAFETY: centres are in single precision only where the chip has the features.
        unsafe { wide::nearest(single, centres.width(), cells, begin, rows, out) };
        let label = 2f64.powi(single.bits as i32 - 23);
        let mut unclear = Vec::new();
        for ((row, found), at) in rows.iter().zip(out.iter_mut()).zip(0..) {
            let norm = norms[*row as usize];
            let (off, more) = (off(norm), 0.5 * norm + off(norm));
            let least = found.score * (1.0 + label) + off - more;
            let others = found.second * (1.0 - label) - off - more;
            if others > least && norm < NORMS.end {
                (found.score, found.second) = (least, others);
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

    /// Rows ahead that are fetched from memory.
    const AHEAD: usize = 16;

    /// The least and the second least so far, lane by lane, each with its label in its last
    /// bits.
    #[derive(Clone, Copy)]
    struct Least {
        best: __m512,
        second: __m512,
    }

    impl Least {
        /// Of two.
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
    }

    /// # Safety
    /// The chip has these features.
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    pub(super) unsafe fn nearest(
        single: &Single,
        width: usize,
        cells: &[f64],
        begin: impl Fn(u32) -> f32,
        rows: &[u32],
        out: &mut [Nearest],
    ) {
        let mut narrow = vec![0f32; ROWS * width];
        let mut begins = [0f32; ROWS];
        for (at, out) in (0..rows.len()).step_by(ROWS).zip(out.chunks_mut(ROWS)) {
            let those = &rows[at..rows.len().min(at + ROWS)];
            if let Some(later) = rows.get(at + AHEAD..at + AHEAD + those.len()) {
                for row in later {
                    for cell in cells[*row as usize * width..][..width].iter().step_by(8) {
                        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(cell).cast());
                    }
                }
            }
            for ((own, begins), row) in (narrow.chunks_exact_mut(width).zip(&mut begins)).zip(those)
            {
                let x = &cells[*row as usize * width..][..width];
                own.iter_mut().zip(x).for_each(|(own, x)| *own = *x as f32);
                *begins = begin(*row);
            }
            // A last tile has some rows of the one before it, which nobody asks for.
            let found = tile(single, width, &narrow, &begins);
            out.copy_from_slice(&found[..out.len()]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn tile(
        single: &Single,
        width: usize,
        narrow: &[f32],
        begins: &[f32; ROWS],
    ) -> [Nearest; ROWS] {
        let far = _mm512_set1_ps(f32::MAX);
        let mut least = [Least {
            best: far,
            second: far,
        }; ROWS];
        let groups = single.half_norms.len();
        let whole = groups / GROUPS * GROUPS;
        for first in (0..whole).step_by(GROUPS) {
            take::<GROUPS>(single, width, narrow, begins, first, &mut least);
        }
        for group in whole..groups {
            take::<1>(single, width, narrow, begins, group, &mut least);
        }
        across(least, single.bits)
    }

    /// Takes some groups into the least.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn take<const G: usize>(
        single: &Single,
        width: usize,
        narrow: &[f32],
        begins: &[f32; ROWS],
        first: usize,
        least: &mut [Least; ROWS],
    ) {
        let mut halves = [[_mm512_setzero_ps(); ROWS]; G];
        for (halves, norms) in halves.iter_mut().zip(&single.half_norms[first..]) {
            // SAFETY: the array is as long as the register.
            let norms = unsafe { _mm512_loadu_ps(norms.as_ptr()) };
            for (half, begin) in halves.iter_mut().zip(begins) {
                *half = _mm512_add_ps(norms, _mm512_set1_ps(*begin));
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
                // (half and kept) or label
                let bits = _mm512_castps_si512(*half);
                let bits = _mm512_ternarylogic_epi32::<0xEA>(bits, kept, labels);
                let half = _mm512_castsi512_ps(bits);
                let farther = _mm512_max_ps(half, least.best);
                least.second = _mm512_min_ps(least.second, farther);
                least.best = _mm512_min_ps(least.best, half);
            }
        }
    }

    /// The least over all lanes of four rows at once: halves of two rows are put side by
    /// side, then quarters of four, and the rest is within quarters.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn across(least: [Least; ROWS], bits: u32) -> [Nearest; ROWS] {
        let [a, b, c, d] = least;
        let ab = Least::merged(
            Least {
                best: _mm512_shuffle_f32x4::<0x44>(a.best, b.best),
                second: _mm512_shuffle_f32x4::<0x44>(a.second, b.second),
            },
            Least {
                best: _mm512_shuffle_f32x4::<0xEE>(a.best, b.best),
                second: _mm512_shuffle_f32x4::<0xEE>(a.second, b.second),
            },
        );
        let cd = Least::merged(
            Least {
                best: _mm512_shuffle_f32x4::<0x44>(c.best, d.best),
                second: _mm512_shuffle_f32x4::<0x44>(c.second, d.second),
            },
            Least {
                best: _mm512_shuffle_f32x4::<0xEE>(c.best, d.best),
                second: _mm512_shuffle_f32x4::<0xEE>(c.second, d.second),
            },
        );
        let all = Least::merged(
            Least {
                best: _mm512_shuffle_f32x4::<0x88>(ab.best, cd.best),
                second: _mm512_shuffle_f32x4::<0x88>(ab.second, cd.second),
            },
            Least {
                best: _mm512_shuffle_f32x4::<0xDD>(ab.best, cd.best),
                second: _mm512_shuffle_f32x4::<0xDD>(ab.second, cd.second),
            },
        );
        let all = Least::merged(
            all,
            Least {
                best: _mm512_permute_ps::<0x4E>(all.best),
                second: _mm512_permute_ps::<0x4E>(all.second),
            },
        );
        let all = Least::merged(
            all,
            Least {
                best: _mm512_permute_ps::<0xB1>(all.best),
                second: _mm512_permute_ps::<0xB1>(all.second),
            },
        );
        let (mut best, mut second) = ([0f32; LANES], [0f32; LANES]);
        // SAFETY: the arrays are as long as the registers.
        unsafe {
            _mm512_storeu_ps(best.as_mut_ptr(), all.best);
            _mm512_storeu_ps(second.as_mut_ptr(), all.second);
        }
        let mut out = [Nearest::NOWHERE; ROWS];
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
