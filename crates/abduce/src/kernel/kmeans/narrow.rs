//! Vectors of `f32` in the registers of the processor, for the search of the nearest centre in
//! single precision. Labels are kept in the last bits of the numbers.

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use std::array;

/// The rows of a tile.
pub(super) const ROWS: usize = 4;

/// Some `f32` in one register.
///
/// # Safety
/// Every function needs the processor features of the implementing type. `load` and `store`
/// access [`LANES`](Narrow::LANES) numbers at their address, which need not be aligned.
pub(super) trait Narrow: Copy {
    /// The numbers in a register.
    const LANES: usize;
    /// Whether `fma` rounds once.
    const FUSED: bool;

    unsafe fn load(at: *const f32) -> Self;
    unsafe fn store(self, at: *mut f32);
    unsafe fn splat(x: f32) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn min(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    /// `a·b + c`, fused if the processor can.
    unsafe fn fma(a: Self, b: Self, c: Self) -> Self;
    /// The bits of `self` that the bits of `kept` select, and those of `label`.
    unsafe fn labelled(self, kept: Self, label: Self) -> Self;

    /// The least of every row over all lanes.
    #[inline(always)]
    unsafe fn across(least: [Least<Self>; ROWS]) -> [(f32, f32); ROWS] {
        // SAFETY: the caller ensures the features; the arrays are as long as the registers.
        unsafe {
            least.map(|least| {
                let (mut best, mut second) = ([0f32; 16], [0f32; 16]);
                least.best.store(best.as_mut_ptr());
                least.second.store(second.as_mut_ptr());
                let mut lanes = best.into_iter().zip(second).take(Self::LANES);
                let start = lanes.next().unwrap_or((f32::MAX, f32::MAX));
                lanes.fold(start, |(best, second), (b, s)| {
                    (best.min(b), second.min(s).min(best.max(b)))
                })
            })
        }
    }
}

/// The smallest and the second smallest distance so far in each lane, with labels in the last
/// bits.
#[derive(Clone, Copy)]
pub(super) struct Least<V> {
    pub best: V,
    pub second: V,
}

impl<V: Narrow> Least<V> {
    /// The two smallest distances of both.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    unsafe fn merged(self, other: Self) -> Self {
        // SAFETY: the caller ensures the features.
        unsafe {
            let farther = self.best.max(other.best);
            Least {
                best: self.best.min(other.best),
                second: self.second.min(other.second).min(farther),
            }
        }
    }

    /// Adds a distance with its label.
    #[inline(always)]
    pub unsafe fn take(&mut self, distance: V) {
        // SAFETY: the caller ensures the features.
        unsafe {
            let farther = distance.max(self.best);
            self.second = self.second.min(farther);
            self.best = self.best.min(distance);
        }
    }

    /// Applies a permutation of lanes to both distances.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    fn map(self, permute: impl Fn(V) -> V) -> Self {
        Least {
            best: permute(self.best),
            second: permute(self.second),
        }
    }

    /// Combines the lanes of two.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    fn combined(self, other: Self, combine: impl Fn(V, V) -> V) -> Self {
        Least {
            best: combine(self.best, other.best),
            second: combine(self.second, other.second),
        }
    }
}

/// Implements the arithmetic of [`Narrow`] by intrinsics.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! arithmetic {
    (
        $name:ident, lanes: $lanes:literal, fused: $fused:literal,
        $load:ident, $store:ident, $splat:ident, $add:ident, $min:ident, $max:ident,
        fma: |$a:ident, $b:ident, $c:ident| $fma:expr,
        labelled: |$x:ident, $kept:ident, $label:ident| $labelled:expr
    ) => {
        const LANES: usize = $lanes;
        const FUSED: bool = $fused;

        #[inline(always)]
        unsafe fn load(at: *const f32) -> Self {
            // SAFETY: the caller ensures the features and the address.
            unsafe { $name($load(at)) }
        }

        #[inline(always)]
        unsafe fn store(self, at: *mut f32) {
            // SAFETY: the caller ensures the features and the address.
            unsafe { $store(at, self.0) }
        }

        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe { $name($splat(x)) }
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe { $name($add(self.0, other.0)) }
        }

        #[inline(always)]
        unsafe fn min(self, other: Self) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe { $name($min(self.0, other.0)) }
        }

        #[inline(always)]
        unsafe fn max(self, other: Self) -> Self {
            // SAFETY: the caller ensures the features.
            unsafe { $name($max(self.0, other.0)) }
        }

        #[inline(always)]
        unsafe fn fma(a: Self, b: Self, c: Self) -> Self {
            let ($a, $b, $c) = (a.0, b.0, c.0);
            // SAFETY: the caller ensures the features.
            unsafe { $name($fma) }
        }

        #[inline(always)]
        unsafe fn labelled(self, kept: Self, label: Self) -> Self {
            let ($x, $kept, $label) = (self.0, kept.0, label.0);
            // SAFETY: the caller ensures the features.
            unsafe { $name($labelled) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512, Baseline};

#[cfg(target_arch = "x86_64")]
mod x86 {
    // Some intrinsics are safe inside functions with their features, others are not.
    #![allow(unused_unsafe)]

    use super::{Least, Narrow, ROWS};
    use std::arch::x86_64::*;

    /// Sixteen numbers.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512(__m512);

    impl Narrow for Avx512 {
        arithmetic! {
            Avx512, lanes: 16, fused: true,
            _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,
            _mm512_add_ps, _mm512_min_ps, _mm512_max_ps,
            fma: |a, b, c| _mm512_fmadd_ps(a, b, c),
            labelled: |x, kept, label| _mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0xEA>(
                _mm512_castps_si512(x), _mm512_castps_si512(kept), _mm512_castps_si512(label)
            ))
        }

        /// Merges pairs of rows by halves, then all four by quarters, then lanes within quarters.
        #[inline(always)]
        unsafe fn across(least: [Least<Self>; ROWS]) -> [(f32, f32); ROWS] {
            // SAFETY: the caller ensures the features.
            unsafe {
                let [a, b, c, d] = least;
                let halves = |a: Least<Self>, b: Least<Self>| {
                    let low = a.combined(b, |a, b| Avx512(_mm512_shuffle_f32x4::<0x44>(a.0, b.0)));
                    let high = a.combined(b, |a, b| Avx512(_mm512_shuffle_f32x4::<0xEE>(a.0, b.0)));
                    low.merged(high)
                };
                let (ab, cd) = (halves(a, b), halves(c, d));
                let even = ab.combined(cd, |a, b| Avx512(_mm512_shuffle_f32x4::<0x88>(a.0, b.0)));
                let odd = ab.combined(cd, |a, b| Avx512(_mm512_shuffle_f32x4::<0xDD>(a.0, b.0)));
                let all = even.merged(odd);
                let all = all.merged(all.map(|x| Avx512(_mm512_permute_ps::<0x4E>(x.0))));
                let all = all.merged(all.map(|x| Avx512(_mm512_permute_ps::<0xB1>(x.0))));
                let (mut best, mut second) = ([0f32; 16], [0f32; 16]);
                all.best.store(best.as_mut_ptr());
                all.second.store(second.as_mut_ptr());
                std::array::from_fn(|row| (best[4 * row], second[4 * row]))
            }
        }
    }

    /// Eight numbers.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(__m256);

    impl Narrow for Avx2 {
        arithmetic! {
            Avx2, lanes: 8, fused: true,
            _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps,
            _mm256_add_ps, _mm256_min_ps, _mm256_max_ps,
            fma: |a, b, c| _mm256_fmadd_ps(a, b, c),
            labelled: |x, kept, label| _mm256_or_ps(_mm256_and_ps(x, kept), label)
        }

        /// Merges pairs of rows by halves, then all four by pairs of lanes, then the lanes of
        /// pairs.
        #[inline(always)]
        unsafe fn across(least: [Least<Self>; ROWS]) -> [(f32, f32); ROWS] {
            // SAFETY: the caller ensures the features.
            unsafe {
                let [a, b, c, d] = least;
                let halves = |a: Least<Self>, b: Least<Self>| {
                    let low = a.combined(b, |a, b| Avx2(_mm256_permute2f128_ps::<0x20>(a.0, b.0)));
                    let high = a.combined(b, |a, b| Avx2(_mm256_permute2f128_ps::<0x31>(a.0, b.0)));
                    low.merged(high)
                };
                let (ab, cd) = (halves(a, b), halves(c, d));
                let low = ab.combined(cd, |a, b| Avx2(_mm256_shuffle_ps::<0x44>(a.0, b.0)));
                let high = ab.combined(cd, |a, b| Avx2(_mm256_shuffle_ps::<0xEE>(a.0, b.0)));
                let all = low.merged(high);
                let all = all.merged(all.map(|x| Avx2(_mm256_permute_ps::<0xB1>(x.0))));
                let (mut best, mut second) = ([0f32; 8], [0f32; 8]);
                all.best.store(best.as_mut_ptr());
                all.second.store(second.as_mut_ptr());
                [0, 4, 2, 6].map(|lane| (best[lane], second[lane]))
            }
        }
    }

    /// Four numbers, by SSE2; multiply-adds round twice.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Baseline(__m128);

    impl Narrow for Baseline {
        arithmetic! {
            Baseline, lanes: 4, fused: false,
            _mm_loadu_ps, _mm_storeu_ps, _mm_set1_ps, _mm_add_ps, _mm_min_ps, _mm_max_ps,
            fma: |a, b, c| _mm_add_ps(_mm_mul_ps(a, b), c),
            labelled: |x, kept, label| _mm_or_ps(_mm_and_ps(x, kept), label)
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(super) use arm::Baseline;

#[cfg(target_arch = "aarch64")]
mod arm {
    // Some intrinsics are safe inside functions with their features, others are not.
    #![allow(unused_unsafe)]

    use super::Narrow;
    use std::arch::aarch64::*;

    /// Four numbers, by NEON.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Baseline(float32x4_t);

    impl Narrow for Baseline {
        arithmetic! {
            Baseline, lanes: 4, fused: true,
            vld1q_f32, vst1q_f32, vdupq_n_f32, vaddq_f32, vminq_f32, vmaxq_f32,
            fma: |a, b, c| vfmaq_f32(c, a, b),
            labelled: |x, kept, label| vreinterpretq_f32_u32(vorrq_u32(
                vandq_u32(vreinterpretq_u32_f32(x), vreinterpretq_u32_f32(kept)),
                vreinterpretq_u32_f32(label)
            ))
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use plain::Baseline;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod plain {
    use super::{Narrow, array};

    /// Four numbers.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Baseline([f32; 4]);

    impl Baseline {
        #[inline(always)]
        fn zip(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
            Baseline(array::from_fn(|lane| combine(self.0[lane], other.0[lane])))
        }
    }

    impl Narrow for Baseline {
        const LANES: usize = 4;
        const FUSED: bool = false;

        #[inline(always)]
        unsafe fn load(at: *const f32) -> Self {
            // SAFETY: the caller ensures the address.
            unsafe { Baseline(array::from_fn(|lane| at.add(lane).read())) }
        }

        #[inline(always)]
        unsafe fn store(self, at: *mut f32) {
            for (lane, x) in self.0.into_iter().enumerate() {
                // SAFETY: the caller ensures the address.
                unsafe { at.add(lane).write(x) }
            }
        }

        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            Baseline([x; 4])
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            self.zip(other, |a, b| a + b)
        }

        #[inline(always)]
        unsafe fn min(self, other: Self) -> Self {
            self.zip(other, |a, b| if a < b { a } else { b })
        }

        #[inline(always)]
        unsafe fn max(self, other: Self) -> Self {
            self.zip(other, |a, b| if a > b { a } else { b })
        }

        #[inline(always)]
        unsafe fn fma(a: Self, b: Self, c: Self) -> Self {
            a.zip(b, |a, b| a * b).zip(c, |ab, c| ab + c)
        }

        #[inline(always)]
        unsafe fn labelled(self, kept: Self, label: Self) -> Self {
            let bits = self.zip(kept, |x, kept| f32::from_bits(x.to_bits() & kept.to_bits()));
            bits.zip(label, |x, label| {
                f32::from_bits(x.to_bits() | label.to_bits())
            })
        }
    }
}
