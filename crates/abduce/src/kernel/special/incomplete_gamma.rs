//! The regularised incomplete gamma functions P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a),
//! Q = 1 − P, and their inverses.
//!
//! The smaller tail is a product of positive numbers: P by its power series below the mean, Q by
//! its continued fraction above it (Gautschi, ACM TOMS 5, 1979; modified Lentz). For large a and
//! x near a, where both would take √a steps, the tail is integrated numerically, which takes a
//! few dozen steps for every a.

use super::gamma::{LN_TAU, ln_1p_defect, ln_gamma, ln_gamma_1p, ln_ratio_defect, stirling_rest};
use super::normal::normal_quantile;
use crate::kernel::quadrature::integrate_smooth;
use crate::kernel::roots::increasing_newton;

/// P(a, x), the mass of the gamma distribution below x, for a > 0. Relative error below 3e-13
/// for a from 1e-8 to 1e10, even at 1e-200.
pub(crate) fn gamma_p(a: f64, x: f64) -> f64 {
    tails(a, x).0
}

/// Q(a, x) = 1 − P(a, x), the mass above x. Relative error below 3e-13 for a from 1e-8 to 1e10,
/// even at 1e-200.
pub(crate) fn gamma_q(a: f64, x: f64) -> f64 {
    tails(a, x).1
}

/// The logarithm of x^a e^{−x} / Γ(a + 1), the Poisson mass of the count `a` at rate `x`,
/// without cancellation near a = x (Loader, *Fast and accurate computation of binomial
/// probabilities*, 2000). Error below 2e-15 times the larger of 1 and the result.
pub(crate) fn ln_poisson_mass(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return if a == 0.0 && x == 0.0 {
            0.0
        } else {
            f64::NEG_INFINITY
        };
    }
    if x.is_infinite() {
        return f64::NEG_INFINITY;
    }
    if a < 10.0 {
        return a * x.ln() - x - ln_gamma_1p(a);
    }
    -a * ln_ratio_defect(x, a) - 0.5 * (LN_TAU + a.ln()) - stirling_rest(a)
}

/// x ln(x/rate) − x + rate ≥ 0 without cancellation: how far the log-mass of x is below its
/// maximum over rates.
pub(crate) fn poisson_deviance(x: f64, rate: f64) -> f64 {
    match (x > 0.0, rate > 0.0) {
        (true, true) => x * ln_ratio_defect(rate, x),
        (true, false) => f64::INFINITY,
        (false, _) => rate,
    }
}

/// P and Q, each to a small relative error.
fn tails(a: f64, x: f64) -> (f64, f64) {
    if a.is_nan() || x.is_nan() || a <= 0.0 {
        return (f64::NAN, f64::NAN);
    }
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x.is_infinite() {
        return (1.0, 0.0);
    }
    let mass = ln_poisson_mass(a, x).exp();
    let near = a > 1000.0 && (x - a).abs() < 0.3 * a;
    if x > 1.1 && x >= a {
        let q = mass
            * a
            * if near {
                upper_integral(a, x)
            } else {
                upper_fraction(a, x)
            };
        return (1.0 - q, q);
    }
    if near {
        let p = mass * a * lower_integral(a, x);
        return (p, 1.0 - p);
    }
    let p = mass * lower_series(a, x);
    // For small a, nearly all mass is below x, and 1 − P would lose precision.
    let q = if p < 0.7 { 1.0 - p } else { upper_series(a, x) };
    (p, q)
}

/// P / mass = 1 + x/(a+1) + x²/(a+1)(a+2) + …
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, a);
    while term > sum * 1e-17 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

/// Q for x ≤ 1.1 and small a: 1 − xᵃ/Γ(1+a) − xᵃ/Γ(a) Σ (−x)ⁿ / n!(a+n), with
/// the first difference taken by expm1.
fn upper_series(a: f64, x: f64) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0);
    for n in 1..40 {
        let n = f64::from(n);
        power *= -x / n;
        sum += power / (a + n);
    }
    let head = a * x.ln() - ln_gamma_1p(a);
    -head.exp_m1() - a * head.exp() * sum
}

/// Q / (a · mass) as the continued fraction 1/(x+1−a − 1(1−a)/(x+3−a −
/// 2(2−a)/(x+5−a − …))).
fn upper_fraction(a: f64, x: f64) -> f64 {
    let mut denominator = x + 1.0 - a;
    let mut c = f64::INFINITY;
    let mut d = 1.0 / denominator;
    let mut value = d;
    for n in 1..100_000 {
        let n = f64::from(n);
        let numerator = -n * (n - a);
        denominator += 2.0;
        d = 1.0 / (denominator + numerator * d);
        c = denominator + numerator / c;
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// Q / (a · mass) = ∫₀^∞ (1+s)^{a−1} e^{−xs} ds for x ≥ a ≫ 1. The exponent decreases by
/// (x−a+1) s + (a−1)(s − ln(1+s)), a sum of positive terms.
fn upper_integral(a: f64, x: f64) -> f64 {
    let slope = x - a + 1.0;
    let fall = |s: f64| slope * s + (a - 1.0) * ln_1p_defect(s);
    integrate_smooth(|s| (-fall(s)).exp(), 0.0, reach(slope, a), PANELS)
}

/// P / (a · mass) = ∫₀¹ (1−s)^{a−1} e^{xs} ds for x < a.
fn lower_integral(a: f64, x: f64) -> f64 {
    let slope = a - 1.0 - x;
    let fall = |s: f64| slope * s + (a - 1.0) * ln_1p_defect(-s);
    integrate_smooth(|s| (-fall(s)).exp(), 0.0, reach(slope, a).min(0.9), PANELS)
}

/// The number of panels for a decrease of the exponent by about [`DEPTH`].
pub(super) const PANELS: usize = 4;

/// The decrease of the exponent beyond which the integrand is below rounding.
const DEPTH: f64 = 45.0;

/// The s at which slope · s + curvature · s²/2 reaches [`DEPTH`].
pub(super) fn reach(slope: f64, curvature: f64) -> f64 {
    let slope = slope.max(0.0);
    2.0 * DEPTH / (slope + (slope * slope + 2.0 * DEPTH * curvature).sqrt())
}

/// The x at which P(a, x) = p. Relative error below 3e-13 if p determines x so precisely.
pub(crate) fn inverse_gamma_p(a: f64, p: f64) -> f64 {
    inverse(a, p, 1.0 - p)
}

/// The x at which Q(a, x) = q, accurate even for tiny q.
pub(crate) fn inverse_gamma_q(a: f64, q: f64) -> f64 {
    inverse(a, 1.0 - q, q)
}

/// The x at which P = p and Q = q, from the smaller of the two. The logarithms of both tails are
/// concave in ln x, so that Newton's method converges.
fn inverse(a: f64, p: f64, q: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || a.is_nan() || a <= 0.0 {
        return f64::NAN;
    }
    if p == 0.0 {
        return 0.0;
    }
    if q == 0.0 {
        return f64::INFINITY;
    }
    let ln_p = if p < 0.5 { p.ln() } else { (-q).ln_1p() };
    // P ≤ xᵃ / Γ(1 + a), with equality in the limit of small x.
    let ln_least = (ln_p + ln_gamma_1p(a)) / a;
    if ln_least < -40.0 {
        return ln_least.exp();
    }
    let start = first_guess(a, p, q).max(ln_least.exp());
    let from_start = |u: f64| {
        let x = start * u.exp();
        let (lower, upper) = tails(a, x);
        let density = a * ln_poisson_mass(a, x).exp();
        if p < q {
            ((lower / p).ln(), density / lower)
        } else {
            (-(upper / q).ln(), density / upper)
        }
    };
    start * increasing_newton(-800.0, 800.0, 0.0, 2e-16, from_start).exp()
}

/// The start by Wilson and Hilferty (1931), in which the cube root of a chi-squared is nearly
/// normal; for small a by Q ≈ e^{−x} / xΓ(a).
fn first_guess(a: f64, p: f64, q: f64) -> f64 {
    if a < 1.0 {
        return -(q.ln() + ln_gamma(a)).min(0.0);
    }
    let z = if p < q {
        normal_quantile(p)
    } else {
        -normal_quantile(q)
    };
    let root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * a.sqrt());
    if root > 0.0 {
        a * root * root * root
    } else {
        0.0
    }
}
