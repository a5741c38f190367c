//! Special functions that the standard library lacks.

/// `ln(x!)` for a count held as a number.
pub(crate) fn ln_factorial(x: f64) -> f64 {
    libm::lgamma(x + 1.0)
}
