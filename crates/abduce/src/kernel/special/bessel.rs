//! Modified Bessel functions of orders 0 and 1 for the von Mises distribution: ln I₀(x), the
//! mean resultant length A(x) = I₁(x) / I₀(x) and its inverse, and the distribution function.
//!
//! Below 20 by a series and a continued fraction with positive terms; beyond by the asymptotic
//! expansion Iᵥ(x) ~ eˣ / √(2πx) · (1 − (4v²−1)/8x + …) (Abramowitz & Stegun 9.7.1), whose
//! smallest term is then below e⁻⁴⁰.

use super::gamma::LN_TAU;
use crate::kernel::quadrature::integrate_smooth;
use crate::kernel::roots::increasing_newton;
use std::f64::consts::PI;

/// From here on the asymptotic expansions are accurate to rounding.
const LARGE: f64 = 20.0;

/// ln I₀(x) for x ≥ 0. Relative error below 1e-15.
pub(crate) fn ln_bessel_i0(x: f64) -> f64 {
    if x < LARGE {
        ln_small_i0(x)
    } else {
        x + ln_scaled_i0(x)
    }
}

/// ln(e⁻ˣ I₀(x)) for x ≥ 0. Error below 1e-15 times the larger of 1 and the result.
pub(crate) fn ln_scaled_i0(x: f64) -> f64 {
    if x >= LARGE {
        return asymptotic(x).0.ln() - 0.5 * (LN_TAU + x.ln());
    }
    ln_small_i0(x) - x
}

/// ln I₀(x) by I₀ = Σ (x²/4)ᵏ / k!².
fn ln_small_i0(x: f64) -> f64 {
    let quarter = 0.25 * x * x;
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..60 {
        let k = f64::from(k);
        term *= quarter / (k * k);
        sum += term;
    }
    f64::ln_1p(sum)
}

/// The asymptotic series of I₀ and I₀ − I₁, without the common factor eˣ / √(2πx).
fn asymptotic(x: f64) -> (f64, f64) {
    let (mut zero, mut one) = (1.0, 1.0);
    let (mut sum, mut difference) = (1.0, 0.0);
    for k in 1..30 {
        let odd = f64::from(2 * k - 1);
        let under = 8.0 * x * f64::from(k);
        zero *= odd * odd / under;
        one *= (odd * odd - 4.0) / under;
        sum += zero;
        difference += zero - one;
    }
    (sum, difference)
}

/// A(x) = I₁(x) / I₀(x) for x ≥ 0, from 0 to 1. Relative error below 1e-15.
pub(crate) fn bessel_ratio(x: f64) -> f64 {
    let (ratio, _) = ratio_and_rest(x);
    ratio
}

/// A(x) and 1 − A(x), each to a relative error below 1e-14.
pub(crate) fn ratio_and_rest(x: f64) -> (f64, f64) {
    if x == f64::INFINITY {
        return (1.0, 0.0);
    }
    if x >= LARGE {
        let (sum, difference) = asymptotic(x);
        let rest = difference / sum;
        return (1.0 - rest, rest);
    }
    // Iᵥ₊₁ / Iᵥ = x / (2(v + 1) + x Iᵥ₊₂ / Iᵥ₊₁), from an order so large that the first ratio
    // does not matter.
    let ratio = (1..=60)
        .rev()
        .fold(0.0, |above, order| x / (2.0 * f64::from(order) + x * above));
    (ratio, 1.0 - ratio)
}

/// The x at which A(x) = r, given r and `rest` = 1 − r, which is more precise for r near 1.
/// Relative error below 1e-13.
pub(crate) fn inverse_bessel_ratio(r: f64, rest: f64) -> f64 {
    if !(0.0..=1.0).contains(&r) {
        return f64::NAN;
    }
    if r == 0.0 || rest == 0.0 {
        return if r == 0.0 { 0.0 } else { f64::INFINITY };
    }
    // Best & Fisher (1981), accurate to a few per cent.
    let start = r * (2.0 - r * r) / (rest * (1.0 + r));
    // 1 / (1 − A) is nearly linear in x.
    let relative = |u: f64| {
        let x = start * (1.0 + u);
        let (ratio, rest_of_x) = ratio_and_rest(x);
        let excess = if r < 0.5 { ratio - r } else { rest - rest_of_x };
        // A′ = 1 − A/x − A² suffers from cancellation if A is near 1; the asymptotic series is
        // accurate enough for Newton's method.
        let slope = if x < LARGE {
            1.0 - ratio / x - ratio * ratio
        } else {
            (0.5 + (0.25 + 0.375 / x) / x) / (x * x)
        };
        (
            excess / rest_of_x,
            start * slope * rest / (rest_of_x * rest_of_x),
        )
    };
    start * (1.0 + increasing_newton(-0.9, 9.0, 0.0, 1e-16, relative))
}

/// The distribution function of the von Mises distribution with mean 0 and concentration κ ≥ 0,
/// from −π to π: ∫ exp(κ cos t) dt / 2π I₀(κ). Relative error below 2e-13 in the lower tail,
/// even at 1e-200.
pub(crate) fn von_mises_cdf(angle: f64, kappa: f64) -> f64 {
    if angle > 0.0 {
        return 1.0 - von_mises_cdf(-angle, kappa);
    }
    if angle <= -PI {
        return 0.0;
    }
    if kappa.is_infinite() {
        return if angle == 0.0 { 0.5 } else { 0.0 };
    }
    // cos(angle) − cos(angle − s) = 2 sin(s/2) sin(s/2 − angle) ≥ 0.
    let fall = |s: f64| 2.0 * kappa * (0.5 * s).sin() * (0.5 * s - angle).sin();
    // Below −π/2 the density is convex, so that the slope at the end is halved.
    let slope = 0.5 * kappa * -angle.sin();
    let curvature = kappa * angle.cos().max(0.0);
    // π minus its nearest double matters within 1e-4 of −π.
    let to_end = (PI + angle) + 1.224_646_799_147_353_2e-16;
    let reach = super::incomplete_gamma::reach(slope, curvature).min(to_end);
    let integral = integrate_smooth(|s| (-fall(s)).exp(), 0.0, reach, 8);
    let at_angle = -2.0 * kappa * (0.5 * angle).sin().powi(2);
    integral * (at_angle - ln_scaled_i0(kappa) - LN_TAU).exp()
}

/// The variance ∫ t² exp(κ cos t) dt / 2π I₀(κ) of the von Mises distribution from −π to π.
/// Relative error below 1e-13.
pub(crate) fn von_mises_variance(kappa: f64) -> f64 {
    // 1 − cos t = 2 sin²(t/2) ≥ 2 t²/π².
    let reach = super::incomplete_gamma::reach(0.0, 0.4 * kappa).min(PI);
    let term = |t: f64| t * t * (-2.0 * kappa * (0.5 * t).sin().powi(2)).exp();
    2.0 * integrate_smooth(term, 0.0, reach, 16) * (-ln_scaled_i0(kappa) - LN_TAU).exp()
}
