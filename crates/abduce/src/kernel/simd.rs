//! Multiversioned functions: a body of plain loops is compiled for AVX-512, for AVX2 with FMA
//! and for the baseline, and the best version is chosen at run time.

/// The instruction set of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

pub(crate) fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        // The macro caches the result in an atomic.
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("fma")
        {
            return Level::Avx512;
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            return Level::Avx2;
        }
    }
    Level::Baseline
}

/// `a·b + c`, fused if the processor supports it; on the baseline, fusing would be a slow
/// library call.
#[inline(always)]
pub(crate) fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Declares a function whose body, an `#[inline(always)]` function generic over `FUSED`, is
/// compiled once per [`Level`] and chosen at run time.
macro_rules! multiversion {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)? = $body:ident) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
                fn avx512($($arg: $type),*) $(-> $out)? {
                    $body::<true>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $type),*) $(-> $out)? {
                    $body::<true>($($arg),*)
                }
                match $crate::kernel::simd::level() {
                    // SAFETY: the processor has these features at this level.
                    $crate::kernel::simd::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::kernel::simd::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::kernel::simd::Level::Baseline => {}
                }
            }
            $body::<false>($($arg),*)
        }
    };
}
pub(crate) use multiversion;
