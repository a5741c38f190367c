//! Special functions against mpmath (`golden/special.py`), and inverses against functions.

use super::gamma::ln_gamma_1p;
use super::*;
use serde_json::Value;

/// The rows of one function: its arguments, then its value.
fn golden(name: &str) -> Vec<Vec<f64>> {
    let text = include_str!("../../../../../golden/special.json");
    let all: Value = serde_json::from_str(text).unwrap();
    serde_json::from_value(all[name].clone()).unwrap()
}

/// Asserts that every row is within `tolerance` times the larger of its value and `unit`.
fn assert_golden(name: &str, tolerance: f64, unit: f64, f: impl Fn(&[f64]) -> f64) {
    let rows = golden(name);
    assert!(rows.len() > 10, "{name} is nearly empty");
    for row in rows {
        let (expected, arguments) = row.split_last().unwrap();
        let obtained = f(arguments);
        let error = (obtained - expected).abs();
        assert!(
            error <= tolerance * expected.abs().max(unit),
            "{name}{arguments:?} is {obtained:e}, not {expected:e}: off by {error:.1e}"
        );
    }
}

#[test]
fn the_gamma_function_and_its_derivatives_are_those_of_mpmath() {
    assert_golden("ln_gamma", 1e-15, 0.0, |v| ln_gamma(v[0]));
    assert_golden("ln_gamma_1p", 2e-15, 0.0, |v| ln_gamma_1p(v[0]));
    assert_golden("ln_rising", 2e-15, 1.0, |v| ln_rising(v[0], v[1]));
    assert_golden("digamma", 1e-15, 1.0, |v| digamma(v[0]));
    assert_golden("digamma_rise", 1e-14, 0.0, |v| digamma_rise(v[0], v[1]));
    assert_golden("trigamma", 1e-15, 0.0, |v| trigamma(v[0]));
    assert_golden("ln_multigamma", 1e-15, 1.0, |v| {
        ln_multigamma(v[0], v[1] as usize)
    });
}

#[test]
fn small_differences_of_ln_gamma_have_a_small_relative_error() {
    for row in golden("ln_rising").iter().filter(|row| row[1] <= 1e-3) {
        // Near the root of ψ at 1.46 the step itself vanishes.
        let unit = 0.3 * row[1];
        let error = (ln_rising(row[0], row[1]) - row[2]).abs();
        assert!(
            error <= 1e-14 * row[2].abs().max(unit),
            "{row:?} off by {error:e}"
        );
    }
}

#[test]
fn the_incomplete_gamma_functions_are_those_of_mpmath_in_both_tails() {
    assert_golden("gamma_p", 3e-13, 0.0, |v| gamma_p(v[0], v[1]));
    assert_golden("gamma_q", 3e-13, 0.0, |v| gamma_q(v[0], v[1]));
    assert_golden("ln_poisson_mass", 2e-15, 1.0, |v| {
        ln_poisson_mass(v[0], v[1])
    });
    assert_eq!((gamma_p(2.0, 0.0), gamma_q(2.0, 0.0)), (0.0, 1.0));
    let end = f64::INFINITY;
    assert_eq!((gamma_p(2.0, end), gamma_q(2.0, end)), (1.0, 0.0));
}

#[test]
fn the_beta_function_is_that_of_mpmath() {
    assert_golden("ln_beta", 1e-15, 1.0, |v| ln_beta(v[0], v[1]));
    assert_golden("ln_choose", 1e-15, 1.0, |v| ln_choose(v[0], v[1]));
    assert_eq!(ln_choose(5.0, 6.0), f64::NEG_INFINITY);
}

#[test]
fn the_incomplete_beta_function_is_that_of_mpmath_in_both_tails() {
    assert_golden("beta_i", 3e-13, 0.0, |v| beta_i(v[0], v[1], v[2]));
    assert_golden("beta_i_complement", 3e-13, 0.0, |v| {
        beta_i_complement(v[0], v[1], v[2])
    });
    assert_eq!((beta_i(2.0, 3.0, 0.0), beta_i(2.0, 3.0, 1.0)), (0.0, 1.0));
}

#[test]
fn the_normal_distribution_is_that_of_mpmath_in_both_tails() {
    assert_golden("normal_cdf", 3e-13, 0.0, |v| normal_cdf(v[0]));
    assert_golden("normal_survival", 3e-13, 0.0, |v| normal_survival(v[0]));
    assert_golden("normal_quantile", 1e-15, 0.0, |v| normal_quantile(v[0]));
    assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(normal_quantile(1.0), f64::INFINITY);
    assert!(normal_quantile(1.1).is_nan());
}

#[test]
fn the_bessel_functions_are_those_of_mpmath() {
    assert_golden("ln_bessel_i0", 1e-15, 0.0, |v| ln_bessel_i0(v[0]));
    assert_golden("bessel_ratio", 1e-15, 0.0, |v| bessel_ratio(v[0]));
    assert_golden("von_mises_cdf", 3e-13, 0.0, |v| von_mises_cdf(v[0], v[1]));
}

#[test]
fn inverse_digamma_undoes_digamma() {
    for x in [1e-8, 1e-3, 0.3, 1.0, 1.4616, 2.7, 9.0, 1e3, 1e12, 1e20] {
        let found = inverse_digamma(digamma(x));
        // ψ = ln x does not determine the last digits of a large x.
        let tolerance = 1e-15 * (4.0 + digamma(x).abs());
        assert!((found / x - 1.0).abs() < tolerance, "{found} {x}");
    }
}

#[test]
fn inverse_bessel_ratio_undoes_the_ratio() {
    assert_eq!(inverse_bessel_ratio(0.0, 1.0), 0.0);
    assert_eq!(inverse_bessel_ratio(1.0, 0.0), f64::INFINITY);
    for x in [
        1e-12, 1e-5, 0.01, 0.7, 2.0, 6.0, 15.0, 19.0, 21.0, 300.0, 1e6, 1e15, 1e30,
    ] {
        let (ratio, rest) = ratio_and_rest(x);
        let found = inverse_bessel_ratio(ratio, rest);
        let allowed = (1e-15 * (10.0 + 3.0 * x)).min(1e-13);
        assert!((found / x - 1.0).abs() < allowed, "{found} {x}");
    }
}

/// Probabilities of a tail, and whether it is the lower one.
fn levels() -> impl Iterator<Item = (f64, bool)> {
    let small = [1e-280, 1e-100, 1e-20, 1e-9, 1e-3, 0.05, 0.3, 0.5];
    small
        .into_iter()
        .flat_map(|level| [(level, true), (level, false)])
}

#[test]
fn inverse_incomplete_gamma_undoes_both_tails() {
    for a in [1e-8, 1e-3, 0.1, 0.7, 1.0, 2.5, 30.0, 999.0, 1e4, 1e7, 1e10] {
        for (level, lower) in levels() {
            let (x, back) = if lower {
                let x = inverse_gamma_p(a, level);
                (x, gamma_p(a, x))
            } else {
                let x = inverse_gamma_q(a, level);
                (x, gamma_q(a, x))
            };
            if x < 1e-290 {
                continue;
            }
            // The effect of the rounding of x on the level.
            let slope = a * ln_poisson_mass(a, x).exp() / level;
            let tolerance = 3e-13 + 4.0 * f64::EPSILON * slope;
            assert!(
                (back / level - 1.0).abs() < tolerance,
                "a {a:e}, level {level:e} {lower}: x {x:e} gives {back:e}"
            );
        }
    }
}

#[test]
fn inverse_incomplete_beta_undoes_both_tails() {
    let parameters = [1e-8, 1e-3, 0.3, 1.0, 1.7, 20.0, 900.0, 2e3, 1e6, 1e9];
    for a in parameters {
        for b in parameters {
            for (level, lower) in levels() {
                let (x, back) = if lower {
                    let x = inverse_beta_i(a, b, level);
                    (x, beta_i(a, b, x))
                } else {
                    let x = inverse_beta_i_complement(a, b, level);
                    (x, beta_i_complement(a, b, x))
                };
                // Near the ends, no float x has this level.
                if !(1e-290..=1.0 - 1e-9).contains(&x) {
                    continue;
                }
                let density = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp() / (1.0 - x);
                let tolerance = 1e-12 + 8.0 * f64::EPSILON * density / level;
                assert!(
                    (back / level - 1.0).abs() < tolerance,
                    "a {a:e}, b {b:e}, level {level:e} {lower}: x {x:e} gives {back:e}"
                );
            }
        }
    }
}
