//! The logarithms of the beta function and of binomial coefficients of real numbers.

use super::gamma::{LN_TAU, ln_gamma, ln_gamma_1p, ln_rising, stirling_rest};

/// ln B(a, b) = ln Γ(a) + ln Γ(b) − ln Γ(a + b) for a, b > 0. Error below 1e-14 times the
/// larger of 1 and the result.
pub(crate) fn ln_beta(a: f64, b: f64) -> f64 {
    let (a, b) = if a < b { (a, b) } else { (b, a) };
    if a < 10.0 {
        return ln_gamma(a) - ln_rising(b, a);
    }
    let main = -(a - 0.5) * (b / a).ln_1p() - b * (a / b).ln_1p();
    0.5 * (LN_TAU - b.ln()) + main + (stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b))
}

/// The logarithm of the binomial coefficient n over k for real n ≥ k ≥ 0; −∞ for other k.
/// Error below 1e-14 times the larger of 1 and the result.
pub(crate) fn ln_choose(n: f64, k: f64) -> f64 {
    let k = k.min(n - k);
    if k < 0.0 {
        return f64::NEG_INFINITY;
    }
    if k < 10.0 {
        return ln_rising(n - k + 1.0, k) - ln_gamma_1p(k);
    }
    -(n + 1.0).ln() - ln_beta(k + 1.0, n - k + 1.0)
}
