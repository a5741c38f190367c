//! The regularised incomplete beta function
//! I(x) = ∫₀ˣ tᵃ⁻¹ (1−t)ᵇ⁻¹ dt / B(a, b), its complement, and their inverses.
//!
//! As with the incomplete gamma functions, the smaller tail is a product of positive numbers: by
//! the power series if its terms decrease at once, by the continued fraction of DiDonato &
//! Morris (ACM TOMS 18, 1992) below the mean, and by numerical integration if both parameters
//! are large or a small one leaves nearly all mass on one side. A point is a pair (x, y) with
//! x + y = 1, both to full precision.

use super::beta::ln_beta;
use super::gamma::{LN_TAU, ln_1p_defect, ln_gamma_1p, ln_rising, stirling_rest};
use super::incomplete_gamma::{PANELS, reach};
use super::normal::normal_quantile;
use crate::kernel::quadrature::integrate_smooth;
use crate::kernel::roots::increasing_newton;

/// I(x), the mass of the beta distribution below x, for a, b > 0. Relative error below 3e-13
/// for parameters from 1e-8 to 1e9, even at 1e-200.
pub(crate) fn beta_i(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x, 1.0 - x).0
}

/// 1 − I(x), the mass above x, to the same relative error. With exchanged parameters it is
/// I(1 − x), even for an x so small that 1 − x would be rounded.
pub(crate) fn beta_i_complement(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x, 1.0 - x).1
}

/// I(x) and 1 − I(x), each to a small relative error.
fn tails(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    if x.is_nan() || !(a > 0.0 && b > 0.0) {
        return (f64::NAN, f64::NAN);
    }
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if y <= 0.0 {
        return (1.0, 0.0);
    }
    let small = a.min(b) <= 1.0;
    let beyond = if small {
        x > 0.5
    } else {
        below_mean(a, b, x, y) < 0.0
    };
    if beyond {
        let (upper, lower) = tails_below(b, a, y, x);
        (lower, upper)
    } else {
        tails_below(a, b, x, y)
    }
}

/// The tails for x up to the mean or, with a parameter up to 1, up to one half.
fn tails_below(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    if b * x <= 0.7 || (b <= 1.0 && x <= 0.5) {
        return series(a, b, x);
    }
    let mass = ln_beta_mass(a, b, x, y).exp();
    if a.min(b) <= 1.0 {
        let upper = mass * upper_integral(a, b, x);
        return (1.0 - upper, upper);
    }
    let lower = if a.min(b) > 1000.0 {
        mass * lower_integral(a, b, x, y)
    } else {
        mass * lower_fraction(a, b, x, y)
    };
    (lower, 1.0 - lower)
}

/// The distance of x below the mean a / (a + b), times a + b: a y − b x = a − (a + b) x. It is
/// rounded only once, and computed from the smaller of x and y, which is exact.
fn below_mean(a: f64, b: f64, x: f64, y: f64) -> f64 {
    /// a − (a + b) x, compensated for the rounding of the products and their sum.
    fn rest(a: f64, b: f64, x: f64) -> f64 {
        let (p, q) = (a * x, b * x);
        let products = a.mul_add(x, -p) + b.mul_add(x, -q);
        let sum = p + q;
        let shadow = sum - p;
        let lost = (p - (sum - shadow)) + (q - shadow);
        (a - sum) - (lost + products)
    }
    if x <= y {
        rest(a, b, x)
    } else {
        -rest(b, a, y)
    }
}

/// ln(xᵃ yᵇ / B(a, b)) for x + y = 1, without cancellation near the mean (Loader 2000): the
/// beta density at x times x y, and up to a factor the binomial and negative binomial
/// probabilities. Error below 1e-14 times the larger of 1 and the result.
pub(crate) fn ln_beta_mass(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if a.min(b) < 10.0 {
        let (ln_x, ln_y) = if x < y {
            (x.ln(), (-x).ln_1p())
        } else {
            ((-y).ln_1p(), y.ln())
        };
        return a * ln_x + b * ln_y - ln_beta(a, b);
    }
    // x = mean · (1 − below/a) and y = (1 − mean)(1 + below/b).
    let below = below_mean(a, b, x, y);
    let defect = |excess: f64, ratio: f64| {
        if excess < -0.5 {
            excess - ratio.ln()
        } else {
            ln_1p_defect(excess)
        }
    };
    let n = a + b;
    let fall = a * defect(-below / a, x / a * n) + b * defect(below / b, y / b * n);
    let at_mean = 0.5 * ((a / n).ln() + b.ln() - LN_TAU);
    at_mean - fall + (stirling_rest(n) - stirling_rest(a) - stirling_rest(b))
}

/// Both tails by the power series: with head = xᵃ / aB(a, b), the lower is head (1 + a S) with
/// S = Σ (1−b)(2−b)…(n−b) xⁿ / n!(a+n). The upper, if it is small, is (1 − head) − head a S,
/// with 1 − head by expm1.
fn series(a: f64, b: f64, x: f64) -> (f64, f64) {
    let (mut power, mut sum, mut n) = (1.0, 0.0f64, 0.0);
    loop {
        n += 1.0;
        power *= x * (n - b) / n;
        let term: f64 = power / (a + n);
        sum += term;
        if term.abs() <= 1e-17 * sum.abs() || n > 10_000.0 {
            break;
        }
    }
    let ln_head = a * x.ln() - ln_a_beta(a, b);
    let head = ln_head.exp();
    let lower = head * (1.0 + a * sum);
    if lower < 0.7 {
        (lower, 1.0 - lower)
    } else {
        (lower, -ln_head.exp_m1() - head * a * sum)
    }
}

/// ln(a B(a, b)) = ln Γ(1 + a) Γ(b) / Γ(a + b), which vanishes with a.
fn ln_a_beta(a: f64, b: f64) -> f64 {
    if a < 1.0 {
        ln_gamma_1p(a) - ln_rising(b, a)
    } else {
        a.ln() + ln_beta(a, b)
    }
}

/// The lower tail divided by the mass by continued fraction, for a, b > 1 and x below the mean.
fn lower_fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let below = below_mean(a, b, x, y);
    let denominator = |n: f64| {
        n + n * (b - n) * x / (a + 2.0 * n - 1.0)
            + (a + n) * (below + 1.0 + n * (1.0 + y)) / (a + 2.0 * n + 1.0)
    };
    let first = a * (below + 1.0) / (a + 1.0);
    let mut c = f64::INFINITY;
    let mut d = 1.0 / first;
    let mut value = d;
    for n in 1..100_000 {
        let n = f64::from(n);
        let step = a + 2.0 * n - 1.0;
        let numerator = (a + n - 1.0) / step * ((a + b + n - 1.0) / step) * n * (b - n) * x * x;
        let denominator = denominator(n);
        d = 1.0 / (denominator + numerator * d);
        c = denominator + numerator / c;
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// The lower tail divided by the mass for large a and b: ∫₀¹ (1−s)^{a−1} (1 + sx/y)^{b−1} ds / y,
/// whose exponent decreases by a sum of positive terms.
fn lower_integral(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let odds = x / y;
    let slope = (below_mean(a, b, x, y) - y + x) / y;
    let fall =
        |s: f64| slope * s + (a - 1.0) * ln_1p_defect(-s) + (b - 1.0) * ln_1p_defect(odds * s);
    let reach = reach(slope, a + b * odds * odds).min(0.9);
    integrate_smooth(|s| (-fall(s)).exp(), 0.0, reach, PANELS) / y
}

/// The upper tail divided by the mass for a ≤ 1, bx > 0.7 and x ≤ ½:
/// ∫₀^∞ e^{as} (1 + x(eˢ − 1))^{−a−b} ds over the log-odds, with a log-concave integrand.
fn upper_integral(a: f64, b: f64, x: f64) -> f64 {
    let fall = |s: f64| (a + b) * (x * s.exp_m1()).ln_1p() - a * s;
    let reach = ((50.0 / b).exp_m1() / x).ln_1p();
    integrate_smooth(|s| (-fall(s)).exp(), 0.0, reach, 2 * PANELS)
}

/// The x at which I(x) = p. Relative error below 1e-12 if p determines x so precisely.
pub(crate) fn inverse_beta_i(a: f64, b: f64, p: f64) -> f64 {
    inverse(a, b, p, 1.0 - p)
}

/// The x at which 1 − I(x) = q, accurate even for tiny q.
pub(crate) fn inverse_beta_i_complement(a: f64, b: f64, q: f64) -> f64 {
    inverse(a, b, 1.0 - q, q)
}

/// The x at which I = p and 1 − I = q, from the smaller of the two. The logarithms of both tails
/// are concave in the log-odds of x, so that Newton's method converges.
fn inverse(a: f64, b: f64, p: f64, q: f64) -> f64 {
    if !((0.0..=1.0).contains(&p) && a > 0.0 && b > 0.0) {
        return f64::NAN;
    }
    if p == 0.0 || q == 0.0 {
        return if p == 0.0 { 0.0 } else { 1.0 };
    }
    let (ln_p, ln_q) = if p < q {
        (p.ln(), (-p).ln_1p())
    } else {
        ((-q).ln_1p(), q.ln())
    };
    // I ≈ xᵃ / aB(a, b) for small x, and likewise at the other end.
    let ln_x = (ln_p + ln_a_beta(a, b)) / a;
    let ln_y = (ln_q + ln_a_beta(b, a)) / b;
    if ln_x + b.max(1.0).ln() < -40.0 {
        return ln_x.exp();
    }
    if ln_y + a.max(1.0).ln() < -40.0 {
        return -ln_y.exp_m1();
    }
    let start = if a.min(b) > 1.0 {
        let z = if p < q {
            normal_quantile(p)
        } else {
            -normal_quantile(q)
        };
        (a / b).ln() + z * (1.0 / a + 1.0 / b).sqrt()
    } else if p < q {
        ln_x.min(0.0)
    } else {
        -ln_y.min(0.0)
    };
    let at = |log_odds: f64| {
        let (x, y) = (
            1.0 / (1.0 + (-log_odds).exp()),
            1.0 / (1.0 + log_odds.exp()),
        );
        let (lower, upper) = tails(a, b, x, y);
        let density = ln_beta_mass(a, b, x, y).exp();
        if p < q {
            ((lower / p).ln(), density / lower)
        } else {
            (-(upper / q).ln(), density / upper)
        }
    };
    let log_odds = increasing_newton(-800.0, 800.0, start, 1e-16, at);
    1.0 / (1.0 + (-log_odds).exp())
}
