//! Vectors of `f64` in the registers of the processor: AVX-512, AVX2, and the baseline of the
//! architecture (SSE2, NEON, or two plain numbers elsewhere). The compiler does not keep tiles
//! of plain arrays in registers (measured: an eighth of the speed), so the kernels that work on
//! tiles are written once, generic over [`Vector`].

/// Some `f64` in one register.
///
/// # Safety
/// Every function needs the processor features of the implementing type. `load` and `store`
/// access [`LANES`](Vector::LANES) numbers at their address, which need not be aligned.
pub(crate) trait Vector: Copy {
    /// The numbers in a register.
    const LANES: usize;
    /// The registers of the processor.
    const REGISTERS: usize;

    unsafe fn load(at: *const f64) -> Self;
    unsafe fn store(self, at: *mut f64);
    unsafe fn splat(x: f64) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    unsafe fn sqrt(self) -> Self;
    /// `a·b + c`, fused if the processor can.
    unsafe fn fma(a: Self, b: Self, c: Self) -> Self;
}

/// Implements [`Vector`] by intrinsics.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! vector {
    ($(#[$doc:meta])* $name:ident($register:ty), lanes: $lanes:literal, registers: $registers:literal,
     $load:ident, $store:ident, $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
     $sqrt:ident, fma: |$a:ident, $b:ident, $c:ident| $fma:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        impl Vector for $name {
            const LANES: usize = $lanes;
            const REGISTERS: usize = $registers;

            #[inline(always)]
            unsafe fn load(at: *const f64) -> Self {
                // SAFETY: the caller ensures the features and the address.
                unsafe { $name($load(at)) }
            }

            #[inline(always)]
            unsafe fn store(self, at: *mut f64) {
                // SAFETY: the caller ensures the features and the address.
                unsafe { $store(at, self.0) }
            }

            #[inline(always)]
            unsafe fn splat(x: f64) -> Self {
                // SAFETY: the caller ensures the features.
                unsafe { $name($splat(x)) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller ensures the features.
                unsafe { $name($add(self.0, other.0)) }
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                // SAFETY: the caller ensures the features.
                unsafe { $name($sub(self.0, other.0)) }
            }

            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                // SAFETY: the caller ensures the features.
                unsafe { $name($mul(self.0, other.0)) }
            }

            #[inline(always)]
            unsafe fn div(self, other: Self) -> Self {
                // SAFETY: the caller ensures the features.
                unsafe { $name($div(self.0, other.0)) }
            }

            #[inline(always)]
            unsafe fn sqrt(self) -> Self {
                // SAFETY: the caller ensures the features.
                unsafe { $name($sqrt(self.0)) }
            }

            #[inline(always)]
            unsafe fn fma(a: Self, b: Self, c: Self) -> Self {
                let ($a, $b, $c) = (a.0, b.0, c.0);
                // SAFETY: the caller ensures the features.
                unsafe { $name($fma) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512, Baseline};

#[cfg(target_arch = "x86_64")]
mod x86 {
    // Some intrinsics are safe inside functions with their features, others are not.
    #![allow(unused_unsafe)]

    use super::Vector;
    use std::arch::x86_64::*;

    vector! {
        /// Eight numbers.
        Avx512(__m512d), lanes: 8, registers: 32,
        _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_add_pd, _mm512_sub_pd,
        _mm512_mul_pd, _mm512_div_pd, _mm512_sqrt_pd,
        fma: |a, b, c| _mm512_fmadd_pd(a, b, c)
    }
    vector! {
        /// Four numbers.
        Avx2(__m256d), lanes: 4, registers: 16,
        _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_add_pd, _mm256_sub_pd,
        _mm256_mul_pd, _mm256_div_pd, _mm256_sqrt_pd,
        fma: |a, b, c| _mm256_fmadd_pd(a, b, c)
    }
    vector! {
        /// Two numbers, by SSE2; multiply-adds round twice.
        Baseline(__m128d), lanes: 2, registers: 16,
        _mm_loadu_pd, _mm_storeu_pd, _mm_set1_pd, _mm_add_pd, _mm_sub_pd,
        _mm_mul_pd, _mm_div_pd, _mm_sqrt_pd,
        fma: |a, b, c| _mm_add_pd(_mm_mul_pd(a, b), c)
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) use arm::Baseline;

#[cfg(target_arch = "aarch64")]
mod arm {
    // Some intrinsics are safe inside functions with their features, others are not.
    #![allow(unused_unsafe)]

    use super::Vector;
    use std::arch::aarch64::*;

    vector! {
        /// Two numbers, by NEON.
        Baseline(float64x2_t), lanes: 2, registers: 32,
        vld1q_f64, vst1q_f64, vdupq_n_f64, vaddq_f64, vsubq_f64,
        vmulq_f64, vdivq_f64, vsqrtq_f64,
        fma: |a, b, c| vfmaq_f64(c, a, b)
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use plain::Baseline;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod plain {
    use super::Vector;

    /// Two numbers.
    #[derive(Clone, Copy)]
    pub(crate) struct Baseline([f64; 2]);

    impl Vector for Baseline {
        const LANES: usize = 2;
        const REGISTERS: usize = 16;

        #[inline(always)]
        unsafe fn load(at: *const f64) -> Self {
            // SAFETY: the caller ensures the address.
            unsafe { Baseline([at.read(), at.add(1).read()]) }
        }

        #[inline(always)]
        unsafe fn store(self, at: *mut f64) {
            // SAFETY: the caller ensures the address.
            unsafe {
                at.write(self.0[0]);
                at.add(1).write(self.0[1]);
            }
        }

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            Baseline([x; 2])
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            Baseline([self.0[0] + other.0[0], self.0[1] + other.0[1]])
        }

        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            Baseline([self.0[0] - other.0[0], self.0[1] - other.0[1]])
        }

        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            Baseline([self.0[0] * other.0[0], self.0[1] * other.0[1]])
        }

        #[inline(always)]
        unsafe fn div(self, other: Self) -> Self {
            Baseline([self.0[0] / other.0[0], self.0[1] / other.0[1]])
        }

        #[inline(always)]
        unsafe fn sqrt(self) -> Self {
            Baseline(self.0.map(f64::sqrt))
        }

        #[inline(always)]
        unsafe fn fma(a: Self, b: Self, c: Self) -> Self {
            Baseline([a.0[0] * b.0[0] + c.0[0], a.0[1] * b.0[1] + c.0[1]])
        }
    }
}
