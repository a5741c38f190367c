//! Which instructions the processor has, and functions compiled for each level of them.
//!
//! [`multiversion!`] compiles a body of plain loops for AVX-512, for AVX2 with FMA and for the
//! baseline of the architecture, and chooses one at run time. Tiles that must stay in registers
//! are written with the vectors of [`vector`](super::vector) instead.

use crate::{Error, Result};
use std::sync::OnceLock;

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// What every processor of the architecture has: SSE2, or NEON.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The environment variable that limits the level.
const VARIABLE: &str = "ABDUCE_SIMD";

/// Whether fused multiply-adds are instructions of the baseline; elsewhere they would be slow
/// library calls.
pub(crate) const BASELINE_FUSES: bool = cfg!(target_arch = "aarch64");

/// The level in use: the highest that the processor has and that the environment variable
/// `ABDUCE_SIMD` allows. Read once.
#[inline]
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let limit = limit().ok().flatten();
        detected().min(limit.unwrap_or_else(detected))
    })
}

/// The vector instructions that the library uses: `"baseline"`, `"avx2"` or `"avx512"`.
///
/// These are the best that the processor has, unless the environment variable `ABDUCE_SIMD`
/// names a lower level. It is read once, at the first call.
///
/// ```
/// let level = abduce::simd_level()?;
/// assert!(["baseline", "avx2", "avx512"].contains(&level));
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If `ABDUCE_SIMD` has another value.
pub fn simd_level() -> Result<&'static str> {
    limit()?;
    Ok(match level() {
        Level::Baseline => "baseline",
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => "avx2",
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => "avx512",
    })
}

/// The highest level that the environment variable allows.
fn limit() -> Result<Option<Level>> {
    match std::env::var_os(VARIABLE) {
        None => Ok(None),
        Some(value) => parse(&value.to_string_lossy()),
    }
}

fn parse(value: &str) -> Result<Option<Level>> {
    match value {
        "" => Ok(None),
        "baseline" => Ok(Some(Level::Baseline)),
        #[cfg(target_arch = "x86_64")]
        "avx2" => Ok(Some(Level::Avx2)),
        #[cfg(target_arch = "x86_64")]
        "avx512" => Ok(Some(Level::Avx512)),
        // They name nothing that other processors have.
        #[cfg(not(target_arch = "x86_64"))]
        "avx2" | "avx512" => Ok(None),
        _ => Err(Error::parameter(format!(
            "{VARIABLE} is {value:?}; it may be baseline, avx2 or avx512"
        ))),
    }
}

/// The highest level that the processor has. The standard library caches what it finds.
pub(crate) fn detected() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma");
        if avx2 && has!("avx512f") && has!("avx512dq") {
            return Level::Avx512;
        }
        if avx2 {
            return Level::Avx2;
        }
    }
    Level::Baseline
}

/// `a·b + c`, with one rounding if `FUSED`.
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
            $body::<{ $crate::kernel::simd::BASELINE_FUSES }>($($arg),*)
        }
    };
}
pub(crate) use multiversion;

/// Declares a function whose body is generic over a vector type of
/// [`vector`](super::vector) and is compiled once per [`Level`]. The body is an `unsafe`
/// function that needs the features of the vector type. The function takes the level as its
/// first argument and panics if the processor does not have it.
macro_rules! vectorised {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:ident) => {
        $(#[$doc])*
        $vis fn $name(level: $crate::kernel::simd::Level, $($arg: $type),*) {
            use $crate::kernel::{simd::Level, vector};
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
            fn avx512($($arg: $type),*) {
                // SAFETY: this function has the features of the vector.
                unsafe { $body::<vector::Avx512>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) {
                // SAFETY: as above.
                unsafe { $body::<vector::Avx2>($($arg),*) }
            }
            assert!(level <= $crate::kernel::simd::detected());
            match level {
                // SAFETY: by the assertion, the processor has these features.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: every processor of the architecture has the baseline.
                Level::Baseline => unsafe { $body::<vector::Baseline>($($arg),*) },
            }
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_levels_are_refused_by_name() {
        let message = parse("sse9").unwrap_err().to_string();
        assert!(message.contains("ABDUCE_SIMD is \"sse9\""), "{message}");
        assert_eq!(parse("").unwrap(), None);
        assert_eq!(parse("baseline").unwrap(), Some(Level::Baseline));
    }

    #[test]
    fn a_limit_never_exceeds_what_the_processor_has() {
        assert!(level() <= detected());
        let limit = limit().unwrap().unwrap_or_else(detected);
        assert_eq!(level(), limit.min(detected()));
    }
}
