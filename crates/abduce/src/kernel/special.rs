//! Special functions that the standard library lacks.

/// ln 2π.
pub(crate) const LN_TAU: f64 = 1.837_877_066_409_345_3;

/// `ln(x!)` for a count held as a number.
pub(crate) fn ln_factorial(x: f64) -> f64 {
    libm::lgamma(x + 1.0)
}
