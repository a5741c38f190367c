//! Every special function against mpmath (`golden/special.py`), and the laws of inverses.

use super::*;
use serde_json::Value;

/// The rows of one function: its arguments, then its value.
fn golden(name: &str) -> Vec<Vec<f64>> {
    let text = include_str!("../../../../../golden/special.json");
    let all: Value = serde_json::from_str(text).unwrap();
    serde_json::from_value(all[name].clone()).unwrap()
}

/// How far off the worst row is, relative to its value.
fn worst(name: &str, f: impl Fn(&[f64]) -> f64) -> f64 {
    worst_of(name, f, |value| value.abs().max(1e-300))
}

/// The same where the value may pass through zero.
fn worst_mixed(name: &str, f: impl Fn(&[f64]) -> f64) -> f64 {
    worst_of(name, f, |value| value.abs().max(1.0))
}

fn worst_of(name: &str, f: impl Fn(&[f64]) -> f64, size: impl Fn(f64) -> f64) -> f64 {
    let mut worst = (0.0, Vec::new());
    for row in golden(name) {
        let (expected, arguments) = row.split_last().unwrap();
        let obtained = f(arguments);
        let error = (obtained - expected).abs() / size(*expected);
        assert!(!error.is_nan(), "{name}{arguments:?} is NaN");
        if error > worst.0 {
            worst = (error, row.clone());
        }
    }
    println!("{name}: {:.1e} at {:?}", worst.0, worst.1);
    worst.0
}
#[test]
fn all() {
    worst("ln_gamma", |v| ln_gamma(v[0]));
    worst("ln_gamma_1p", |v| ln_gamma_1p(v[0]));
    worst_mixed("ln_rising", |v| ln_rising(v[0], v[1]));
    worst("ln_rising", |v| ln_rising(v[0], v[1]));
    worst("digamma", |v| digamma(v[0]));
    worst("trigamma", |v| trigamma(v[0]));
    worst_mixed("ln_multigamma", |v| ln_multigamma(v[0], v[1] as usize));
    worst("gamma_p", |v| gamma_p(v[0], v[1]));
    worst("gamma_q", |v| gamma_q(v[0], v[1]));
    worst_mixed("ln_poisson_mass", |v| ln_poisson_mass(v[0], v[1]));
    worst_mixed("ln_beta", |v| ln_beta(v[0], v[1]));
    worst_mixed("ln_choose", |v| ln_choose(v[0], v[1]));
    worst("ln_choose", |v| ln_choose(v[0], v[1]));
    worst("beta_i", |v| beta_i(v[0], v[1], v[2]));
    worst("beta_i_complement", |v| beta_i_complement(v[0], v[1], v[2]));
    worst("normal_cdf", |v| normal_cdf(v[0]));
    worst("normal_survival", |v| normal_survival(v[0]));
    worst("normal_quantile", |v| normal_quantile(v[0]));
    worst("ln_bessel_i0", |v| ln_bessel_i0(v[0]));
    worst("bessel_ratio", |v| bessel_ratio(v[0]));
    worst("von_mises_cdf", |v| von_mises_cdf(v[0], v[1]));
}
