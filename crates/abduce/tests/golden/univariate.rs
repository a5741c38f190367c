//! Densities, tail probabilities, quantiles, moments, entropies and divergences against SciPy
//! and mpmath, for ordinary and extreme parameters.
//!
//! A tail probability is no more accurate than its argument: a relative change of ε in x
//! changes F(x) by a relative ε·x·f(x)/F(x), and a change of ε in the exponent by ε·|ln F(x)|.
//! Tolerances are multiples of these, so that far tails and narrow distributions are compared
//! to all the digits they have.

use super::*;
use abduce::family::{
    Bernoulli, Beta, BetaBinomial, BetaNegativeBinomial, BetaPrime, Binomial, Categorical,
    Exponential, Gamma, Gaussian, Geometric, InverseGamma, LogNormal, Lomax, NegativeBinomial,
    Poisson, StudentT, Uniform, Univariate, VonMises, ZeroInflatedPoisson,
};

/// The values that differ by more than their tolerance.
struct Differences {
    distribution: String,
    found: Vec<String>,
}

impl Differences {
    fn compare(&mut self, what: &str, obtained: f64, expected: f64, tolerance: f64) {
        let error = (obtained - expected).abs();
        if error > tolerance || error.is_nan() {
            let multiple = error / tolerance;
            self.found.push(format!(
                "{} {what}: {obtained} is not {expected}, off by {multiple:.1} tolerances",
                self.distribution
            ));
        }
    }
}

/// Tolerances of entropies and divergences: the last digits where there is a formula, and the
/// accuracy of integration where there is none.
struct Accuracy {
    entropy: f64,
    divergence: f64,
}

const FORMULA: Accuracy = Accuracy {
    entropy: 1e-12,
    divergence: 1e-12,
};
const INTEGRAL: Accuracy = Accuracy {
    entropy: 1e-9,
    divergence: 1e-9,
};

fn all_differences<D: Univariate>(
    family: &str,
    accuracy: &Accuracy,
    build: impl Fn(&[f64]) -> D,
) -> Vec<String> {
    let golden = golden("univariate");
    let mut found = Vec::new();
    for case in list(&golden[family]) {
        let distribution = build(&numbers(&case["parameters"]));
        let mut differences = Differences {
            distribution: format!("{distribution:?}"),
            found: Vec::new(),
        };
        compare_points(&distribution, case, &mut differences);
        compare_quantiles(&distribution, case, &mut differences);
        compare_moments(&distribution, case, &mut differences);
        if let Some(entropy) = case["entropy"].as_f64() {
            let tolerance = accuracy.entropy * (1.0 + entropy.abs());
            differences.compare("entropy", distribution.entropy(), entropy, tolerance);
        }
        for other in list(&case["divergences"]) {
            let what = format!("divergence of {}", other["of"]);
            let value = number(&other["value"]);
            let obtained = distribution.kl(&build(&numbers(&other["of"])));
            let tolerance = accuracy.divergence * (1.0 + value);
            differences.compare(&what, obtained, value, tolerance);
        }
        found.extend(differences.found);
    }
    found
}

fn compare_points(distribution: &impl Univariate, case: &Value, differences: &mut Differences) {
    let densities = numbers(&case["log_density"]);
    let (cdf, survival) = (numbers(&case["cdf"]), numbers(&case["survival"]));
    for (i, x) in numbers(&case["points"]).into_iter().enumerate() {
        let tolerance = 1e-13 * (1.0 + densities[i].abs());
        let what = format!("log-density at {x}");
        differences.compare(&what, distribution.log_density(x), densities[i], tolerance);
        for (what, obtained, expected) in [
            ("cdf", distribution.cdf(x), cdf[i]),
            ("survival", distribution.survival(x), survival[i]),
        ] {
            let slope = (x * densities[i].exp()).abs();
            let digits = 1e-14 * (expected * (1.0 + expected.ln().abs()) + slope);
            let tolerance = if expected > 0.0 { digits } else { 0.0 };
            differences.compare(&format!("{what} at {x}"), obtained, expected, tolerance);
        }
    }
}

fn compare_quantiles(distribution: &impl Univariate, case: &Value, differences: &mut Differences) {
    let expected = numbers(&case["quantiles"]);
    for (p, x) in numbers(&case["levels"]).into_iter().zip(expected) {
        let tail = p.min(1.0 - p);
        let slope = distribution.density(x);
        let tolerance = if distribution.is_discrete() {
            0.0
        } else {
            4e-15 * (x.abs() + tail * (1.0 + tail.ln().abs()) / slope)
        };
        differences.compare(
            &format!("quantile {p}"),
            distribution.quantile(p),
            x,
            tolerance,
        );
    }
}

fn compare_moments(distribution: &impl Univariate, case: &Value, differences: &mut Differences) {
    for (what, obtained) in [
        ("mean", distribution.mean()),
        ("variance", distribution.variance()),
    ] {
        match case[what].as_f64() {
            Some(expected) => {
                let obtained = obtained.unwrap_or(f64::NAN);
                differences.compare(what, obtained, expected, 1e-12 * expected.abs());
            }
            None => assert!(
                !obtained.is_some_and(f64::is_finite),
                "{distribution:?} {what}"
            ),
        }
    }
}

macro_rules! families {
    ($($test:ident: $name:literal, $accuracy:expr, $build:expr;)*) => {
        $(#[test]
        fn $test() {
            let found = all_differences($name, &$accuracy, $build);
            assert!(found.is_empty(), "{}", found.join("\n"));
        })*
    };
}

families! {
    bernoulli: "bernoulli", FORMULA, |p| Bernoulli { probability: p[0] };
    binomial: "binomial", INTEGRAL, |p| Binomial::new(p[0] as u64, p[1]).unwrap();
    beta_binomial: "beta-binomial", INTEGRAL, |p| BetaBinomial {
        trials: p[0] as u64,
        probability: Beta::new(p[1], p[2]).unwrap(),
    };
    geometric: "geometric", FORMULA, |p| Geometric::new(p[0]).unwrap();
    negative_binomial: "negative-binomial", INTEGRAL,
        |p| NegativeBinomial::new(p[0], p[1]).unwrap();
    beta_negative_binomial: "beta-negative-binomial", INTEGRAL, |p| BetaNegativeBinomial {
        size: p[0],
        probability: Beta::new(p[1], p[2]).unwrap(),
    };
    poisson: "poisson", INTEGRAL, |p| Poisson { rate: p[0] };
    zero_inflated_poisson: "zero-inflated-poisson", INTEGRAL,
        |p| ZeroInflatedPoisson::new(p[0], p[1]).unwrap();
    exponential: "exponential", FORMULA, |p| Exponential { rate: p[0] };
    gamma: "gamma", FORMULA, |p| Gamma::new(p[0], p[1]).unwrap();
    inverse_gamma: "inverse-gamma", FORMULA, |p| InverseGamma { shape: p[0], scale: p[1] };
    beta: "beta", FORMULA, |p| Beta::new(p[0], p[1]).unwrap();
    beta_prime: "beta-prime", INTEGRAL, |p| BetaPrime { a: p[0], b: p[1], scale: p[2] };
    log_normal: "log-normal", FORMULA, |p| LogNormal::new(p[0], p[1]).unwrap();
    gaussian: "gaussian", FORMULA, |p| Gaussian::new(p[0], p[1]).unwrap();
    student_t: "student-t", INTEGRAL, |p| StudentT::new(p[0], p[1], p[2]).unwrap();
    von_mises: "von-mises", FORMULA, |p| VonMises::new(p[0], p[1]).unwrap();
    uniform: "uniform", FORMULA, |p| Uniform::new(p[0], p[1]).unwrap();
    lomax: "lomax", INTEGRAL, |p| Lomax { shape: p[0], scale: p[1] };
    categorical: "categorical", FORMULA, |p| Categorical { probabilities: p.to_vec() };
}
