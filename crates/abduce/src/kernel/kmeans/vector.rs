//! Vectors of eight numbers in the registers of the processor. The compiler does not keep tiles
//! of plain arrays in registers (measured: an eighth of the speed), so the operations of tiles
//! are defined here.

use super::packed::LANES;

/// Eight numbers.
///
/// # Safety
/// Every function needs the processor features that the implementing type is named after.
pub(super) trait Vector: Copy {
    unsafe fn load(x: &[f64; LANES]) -> Self;
    unsafe fn store(self) -> [f64; LANES];
    unsafe fn splat(x: f64) -> Self;
    /// `a·b + c`.
    unsafe fn fma(a: Self, b: Self, c: Self) -> Self;
    /// In each lane, keeps the least score with its mark, and the second least score; of ties,
    /// the earlier is kept.
    unsafe fn take(least: &mut Least<Self>, score: Self, mark: Self);
    /// The least over all lanes; marks are numbers of groups.
    #[inline(always)]
    unsafe fn across(least: Least<Self>) -> Nearest {
        // SAFETY: the caller ensures the features.
        unsafe { across_lanes(least.best.store(), least.mark.store(), least.second.store()) }
    }
}

/// The least over all lanes.
#[inline(always)]
fn across_lanes(best: [f64; LANES], mark: [f64; LANES], second: [f64; LANES]) -> Nearest {
    let mut nearest = Nearest {
        label: u32::MAX,
        score: f64::INFINITY,
        second: f64::INFINITY,
    };
    for l in 0..LANES {
        let label = mark[l] as u32 * LANES as u32 + l as u32;
        let closer = best[l] < nearest.score || (best[l] == nearest.score && label < nearest.label);
        let farther = if closer { nearest.score } else { best[l] };
        nearest.second = nearest.second.min(farther).min(second[l]);
        nearest.label = if closer { label } else { nearest.label };
        nearest.score = if closer { best[l] } else { nearest.score };
    }
    nearest
}

/// The centre with the least score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    /// Its number; of ties, the first.
    pub label: u32,
    /// Its score ½|c|² − x·c.
    pub score: f64,
    /// The least score of the others; infinite if there is no other.
    pub second: f64,
}

impl Nearest {
    /// A placeholder before the nearest is known.
    pub const NONE: Nearest = Nearest {
        label: 0,
        score: 0.0,
        second: 0.0,
    };
}

/// The least scores so far.
#[derive(Clone, Copy)]
pub(super) struct Least<V> {
    pub best: V,
    pub mark: V,
    pub second: V,
}

/// Plain numbers, for processors without AVX2.
#[derive(Clone, Copy)]
pub(super) struct Plain([f64; LANES]);

impl Vector for Plain {
    #[inline(always)]
    unsafe fn load(x: &[f64; LANES]) -> Self {
        Plain(*x)
    }

    #[inline(always)]
    unsafe fn store(self) -> [f64; LANES] {
        self.0
    }

    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        Plain([x; LANES])
    }

    #[inline(always)]
    unsafe fn fma(a: Self, b: Self, c: Self) -> Self {
        Plain(std::array::from_fn(|l| a.0[l] * b.0[l] + c.0[l]))
    }

    #[inline(always)]
    unsafe fn take(least: &mut Least<Self>, score: Self, mark: Self) {
        for l in 0..LANES {
            let (score, best, second) = (score.0[l], least.best.0[l], least.second.0[l]);
            let farther = if score < best { best } else { score };
            least.second.0[l] = if farther < second { farther } else { second };
            if score < best {
                least.best.0[l] = score;
                least.mark.0[l] = mark.0[l];
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use wide::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{LANES, Least, Nearest, Vector};
    use std::arch::x86_64::*;

    /// One register of eight.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512(__m512d);

    impl Vector for Avx512 {
        #[inline(always)]
        unsafe fn load(x: &[f64; LANES]) -> Self {
            // SAFETY: the caller ensures the features, and the array has eight numbers.
            unsafe { Avx512(_mm512_loadu_pd(x.as_ptr())) }
        }

        #[inline(always)]
        unsafe fn store(self) -> [f64; LANES] {
            let mut out = [0.0; LANES];
            // SAFETY: the caller ensures the features, and `out` has room for eight numbers.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr(), self.0) };
            out
        }

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe { Avx512(_mm512_set1_pd(x)) }
        }

        #[inline(always)]
        unsafe fn fma(a: Self, b: Self, c: Self) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe { Avx512(_mm512_fmadd_pd(a.0, b.0, c.0)) }
        }

        #[inline(always)]
        unsafe fn take(least: &mut Least<Self>, score: Self, mark: Self) {
            // SAFETY: the caller ensures the features.
            unsafe {
                let closer = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(score.0, least.best.0);
                let farther = _mm512_max_pd(score.0, least.best.0);
                least.second.0 = _mm512_min_pd(farther, least.second.0);
                least.best.0 = _mm512_min_pd(score.0, least.best.0);
                least.mark.0 = _mm512_mask_mov_pd(least.mark.0, closer, mark.0);
            }
        }

        #[inline(always)]
        unsafe fn across(least: Least<Self>) -> Nearest {
            let Least { best, mark, second } = least;
            // SAFETY: the caller ensures the features.
            unsafe {
                let score = _mm512_reduce_min_pd(best.0);
                let equal = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(best.0, _mm512_set1_pd(score));
                let lanes = _mm512_set_pd(7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0);
                let labels = _mm512_fmadd_pd(mark.0, _mm512_set1_pd(LANES as f64), lanes);
                let label = _mm512_mask_reduce_min_pd(equal, labels);
                let nearest = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(labels, _mm512_set1_pd(label));
                let others = _mm512_min_pd(best.0, second.0);
                let others = _mm512_mask_mov_pd(others, nearest, second.0);
                Nearest {
                    label: label as u32,
                    score,
                    second: _mm512_reduce_min_pd(others),
                }
            }
        }
    }

    /// Two registers of four.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2([__m256d; 2]);

    impl Vector for Avx2 {
        #[inline(always)]
        unsafe fn load(x: &[f64; LANES]) -> Self {
            // SAFETY: the caller ensures the features, and the array has eight numbers.
            unsafe {
                let (low, high) = x.split_at(4);
                Avx2([
                    _mm256_loadu_pd(low.as_ptr()),
                    _mm256_loadu_pd(high.as_ptr()),
                ])
            }
        }

        #[inline(always)]
        unsafe fn store(self) -> [f64; LANES] {
            let mut out = [0.0; LANES];
            let (low, high) = out.split_at_mut(4);
            // SAFETY: the caller ensures the features, and `out` has room for eight numbers.
            unsafe {
                _mm256_storeu_pd(low.as_mut_ptr(), self.0[0]);
                _mm256_storeu_pd(high.as_mut_ptr(), self.0[1]);
            }
            out
        }

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe { Avx2([_mm256_set1_pd(x); 2]) }
        }

        #[inline(always)]
        unsafe fn fma(a: Self, b: Self, c: Self) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe {
                Avx2([
                    _mm256_fmadd_pd(a.0[0], b.0[0], c.0[0]),
                    _mm256_fmadd_pd(a.0[1], b.0[1], c.0[1]),
                ])
            }
        }

        #[inline(always)]
        unsafe fn take(least: &mut Least<Self>, score: Self, mark: Self) {
            for half in 0..2 {
                let (score, best) = (score.0[half], least.best.0[half]);
                // SAFETY: the caller ensures the features.
                unsafe {
                    let closer = _mm256_cmp_pd::<_CMP_LT_OQ>(score, best);
                    let farther = _mm256_max_pd(score, best);
                    least.second.0[half] = _mm256_min_pd(farther, least.second.0[half]);
                    least.best.0[half] = _mm256_min_pd(score, best);
                    least.mark.0[half] = _mm256_blendv_pd(least.mark.0[half], mark.0[half], closer);
                }
            }
        }
    }
}
