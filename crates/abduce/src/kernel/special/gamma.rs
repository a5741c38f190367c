//! The logarithm of the gamma function, its derivatives and its differences.
//!
//! Differences of ln Γ at large or close arguments are computed without cancellation by
//! Stirling's series ln Γ(x) = (x − ½) ln x − x + ½ ln 2π + δ(x),
//! δ(x) = Σ B₂ₖ / (2k(2k−1) x²ᵏ⁻¹), whose large terms cancel analytically (DiDonato & Morris,
//! ACM TOMS 18, 1992).

/// ln 2π.
pub(crate) const LN_TAU: f64 = 1.837_877_066_409_345_3;

/// Euler's constant γ.
const EULER: f64 = 0.577_215_664_901_532_9;

/// From here on the asymptotic series are accurate to rounding.
const LARGE: f64 = 10.0;

/// ln(x!) for a count x.
pub(crate) fn ln_factorial(x: f64) -> f64 {
    libm::lgamma(x + 1.0)
}

/// ln Γ(x) for x > 0. Relative error below 1e-15, even near its roots 1 and 2.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ln Γ(1 + x) for x > −½, accurate for small x. Relative error below 2e-15.
pub(crate) fn ln_gamma_1p(x: f64) -> f64 {
    /// ζ(k) − 1 from k = 2.
    const ZETA_LESS_ONE: [f64; 26] = [
        0.644_934_066_848_226_4,
        0.202_056_903_159_594_3,
        0.082_323_233_711_138_19,
        0.036_927_755_143_369_93,
        0.017_343_061_984_449_14,
        0.008_349_277_381_922_827,
        0.004_077_356_197_944_34,
        0.002_008_392_826_082_214_4,
        0.000_994_575_127_818_085_3,
        0.000_494_188_604_119_464_6,
        0.000_246_086_553_308_048_3,
        0.000_122_713_347_578_489_15,
        6.124_813_505_870_483e-5,
        3.058_823_630_702_049e-5,
        1.528_225_940_865_187e-5,
        7.637_197_637_899_762e-6,
        3.817_293_264_999_84e-6,
        1.908_212_716_553_939e-6,
        9.539_620_338_727_96e-7,
        4.769_329_867_878_065e-7,
        2.384_505_027_277_33e-7,
        1.192_199_259_653_110_7e-7,
        5.960_818_905_125_948e-8,
        2.980_350_351_465_228e-8,
        1.490_155_482_836_504e-8,
        7.450_711_789_835_43e-9,
    ];
    if (0.5..1.5).contains(&x) {
        // Γ(1 + x) = x Γ(x), and x − 1 is exact.
        return (x - 1.0).ln_1p() + ln_gamma_1p(x - 1.0);
    }
    if x.abs() > 0.5 {
        return libm::lgamma(1.0 + x);
    }
    // ln Γ(1 + x) = −ln(1 + x) + (1 − γ) x + Σ (−1)ᵏ (ζ(k) − 1) xᵏ / k
    let mut tail = 0.0;
    for (i, zeta) in ZETA_LESS_ONE.iter().enumerate().rev() {
        let k = (i + 2) as f64;
        tail = zeta / k - x * tail;
    }
    ln_1p_defect(x) - EULER * x + x * x * tail
}

/// x − ln(1 + x) ≥ 0 without cancellation. Relative error below 1e-15.
pub(crate) fn ln_1p_defect(x: f64) -> f64 {
    if !(-0.5..=0.7).contains(&x) {
        return x - x.ln_1p();
    }
    // ln(1 + x) = 2 artanh(r) with r = x / (2 + x), and x − 2r = x r.
    let r = x / (2.0 + x);
    let square = r * r;
    let mut series = 0.0;
    for k in (1..=16).rev() {
        series = series * square + 1.0 / f64::from(2 * k + 1);
    }
    r * (x - 2.0 * square * series)
}

/// x/m − 1 − ln(x/m) ≥ 0 for x, m > 0 without cancellation. Relative error below 1e-15 for exact
/// arguments.
pub(crate) fn ln_ratio_defect(x: f64, m: f64) -> f64 {
    let excess = (x - m) / m;
    if excess < -0.5 {
        excess - (x / m).ln()
    } else {
        ln_1p_defect(excess)
    }
}

/// Coefficients of δ in powers of 1/x²: B₂ₖ / (2k (2k − 1)).
const STIRLING: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
    43_867.0 / 244_188.0,
];

/// δ(x), the remainder of Stirling's formula, for x ≥ 10. Relative error below 1e-15.
pub(super) fn stirling_rest(x: f64) -> f64 {
    let square = 1.0 / (x * x);
    STIRLING.iter().rev().fold(0.0, |sum, c| sum * square + c) / x
}

/// x ln x − x − ln Γ(x) for x > 0, about ½ ln(x/2π) for large x, without cancellation.
pub(crate) fn ln_gamma_defect(x: f64) -> f64 {
    if x < LARGE {
        x * x.ln() - x - ln_gamma(x)
    } else {
        0.5 * (x.ln() - LN_TAU) - stirling_rest(x)
    }
}

/// ln Γ(x + a) − ln Γ(x) for x > 0, a ≥ 0, the logarithm of the rising factorial
/// x (x + 1) … (x + a − 1), without cancellation if a is far smaller than x. Relative error
/// below 1e-14.
pub(crate) fn ln_rising(x: f64, a: f64) -> f64 {
    // Γ(x + 1) = x Γ(x) shifts x to where Stirling's series is accurate.
    let mut shift = 0.0;
    let mut base = x;
    while base < LARGE {
        shift += (a / base).ln_1p();
        base += 1.0;
    }
    // (base + a − ½) ln(1 + a/base) − a + a ln base; the first two terms nearly cancel.
    let share = a / base;
    let main = a * base.ln() - base * ln_1p_defect(share) + (a - 0.5) * share.ln_1p();
    main - fall(&STIRLING, 1, base, a) - shift
}

/// Σ cₖ (x⁻ᵐ − (x + a)⁻ᵐ) for x ≥ 10, where m is `first`, 1 or 2, and grows by 2:
/// term by term, as 1 − rᵐ = (1 − r)(1 + r + … + rᵐ⁻¹) with r = x / (x + a).
fn fall(coefficients: &[f64], first: u8, x: f64, a: f64) -> f64 {
    let r = x / (x + a);
    let square = 1.0 / (x * x);
    let (mut power, mut geometric, mut r_power) = match first {
        1 => (1.0 / x, 1.0, 1.0),
        _ => (square, 1.0 + r, r),
    };
    let mut sum = 0.0;
    for c in coefficients {
        sum += c * power * geometric;
        power *= square;
        geometric += r_power * r * (1.0 + r);
        r_power *= r * r;
    }
    sum * (a / (x + a))
}

/// B₂ₖ / 2k, the coefficients of ψ in powers of 1/x².
const DIGAMMA: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
    43_867.0 / 14_364.0,
];

/// ψ(x), the derivative of ln Γ, for x > 0: shifted to 10, then by the asymptotic series.
/// Relative error below 1e-15, absolute error below 1e-15 near the root 1.4616.
pub(crate) fn digamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (x, shift) = shifted(x, |x| 1.0 / x);
    (x.ln() - far_ln_less_digamma(x)) - shift
}

/// ln x − ψ(x) for x > 0, about 1/2x for large x, without cancellation. Relative error below
/// 1e-14.
pub(crate) fn ln_less_digamma(x: f64) -> f64 {
    if x < LARGE {
        x.ln() - digamma(x)
    } else {
        far_ln_less_digamma(x)
    }
}

/// ln x − ψ(x) by the asymptotic series, for x from about 10 on.
fn far_ln_less_digamma(x: f64) -> f64 {
    let square = 1.0 / (x * x);
    let series = DIGAMMA.iter().rev().fold(0.0, |sum, c| (sum + c) * square);
    0.5 / x + series
}

/// ψ(x + a) − ψ(x) for x > 0, a ≥ 0, without cancellation. Relative error below 1e-14.
pub(crate) fn digamma_rise(x: f64, a: f64) -> f64 {
    let mut shift = 0.0;
    let mut base = x;
    while base < LARGE {
        shift += a / (base * (base + a));
        base += 1.0;
    }
    let main = (a / base).ln_1p() + 0.5 * a / (base * (base + a));
    shift + (main + fall(&DIGAMMA, 2, base, a))
}

/// ψ′(x), the derivative of [`digamma`], for x > 0. Relative error below 1e-15.
pub(crate) fn trigamma(x: f64) -> f64 {
    /// B₂ₖ.
    const BERNOULLI: [f64; 9] = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
        -3617.0 / 510.0,
        43_867.0 / 798.0,
    ];
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (x, shift) = shifted(x, |x| 1.0 / (x * x));
    let square = 1.0 / (x * x);
    let series = BERNOULLI
        .iter()
        .rev()
        .fold(0.0, |sum, c| (sum + c) * square);
    (series + 0.5 / x + 1.0) / x + shift
}

/// The first of x, x + 1, … that is at least [`LARGE`], and the sum of `step` over the earlier
/// ones.
fn shifted(x: f64, step: impl Fn(f64) -> f64) -> (f64, f64) {
    let steps = (LARGE - x).ceil().max(0.0) as u32;
    let terms = (0..steps).rev().map(|i| step(x + f64::from(i)));
    (x + f64::from(steps), terms.sum())
}

/// The x > 0 at which ψ(x) = y, by Newton's method from the start of Minka (*Estimating a
/// Dirichlet distribution*, 2000). Relative error below 1e-14.
pub(crate) fn inverse_digamma(y: f64) -> f64 {
    if y > 40.0 {
        // ψ(x) = ln x − 1/2x − …
        return y.exp() + 0.5;
    }
    let mut x = if y > -2.22 {
        y.exp() + 0.5
    } else {
        -1.0 / (y + EULER)
    };
    for _ in 0..20 {
        let step = (digamma(x) - y) / trigamma(x);
        // Limited steps keep x positive.
        x = if step < 0.5 * x { x - step } else { 0.5 * x };
        if step.abs() <= 1e-15 * x {
            break;
        }
    }
    x
}

/// The logarithm of the multivariate gamma function Γₚ(a) = π^{p(p−1)/4} Π Γ(a − j/2) over
/// j < p, for a > (p − 1)/2. Relative error as of [`ln_gamma`].
pub(crate) fn ln_multigamma(a: f64, order: usize) -> f64 {
    const LN_PI: f64 = 1.144_729_885_849_400_2;
    let p = order as f64;
    let terms = (0..order).map(|j| ln_gamma(a - 0.5 * j as f64));
    0.25 * p * (p - 1.0) * LN_PI + terms.sum::<f64>()
}
