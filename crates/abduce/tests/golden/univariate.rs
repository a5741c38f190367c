//! Densities, tails, quantiles, moments, entropy and divergence of SciPy and
//! mpmath, ordinary and extreme.
//!
//! A tail cannot be told more exactly than the point it is asked at: a relative
//! change of ε in x changes F(x) by ε·x·f(x)/F(x), and one of the exponent by
//! ε·|ln F(x)|. Tolerances are multiples of that, so that far tails and narrow
//! distributions are held to all the digits they have.

use super::*;
use abduce::family::{
    Bernoulli, Beta, BetaBinomial, BetaNegativeBinomial, BetaPrime, Binomial, Categorical,
    Exponential, Gamma, Gaussian, Geometric, InverseGamma, LogNormal, Lomax, NegativeBinomial,
    Poisson, StudentT, Uniform, Univariate, VonMises, ZeroInflatedPoisson,
};

/// What was compared and did not agree.
struct Differences {
    of: String,
    found: Vec<String>,
}

impl Differences {
    fn compare(&mut self, what: &str, obtained: f64, expected: f64, tolerance: f64) {
        let error = (obtained - expected).abs();
        if error > tolerance || error.is_nan() {
            let shares = error / tolerance;
            self.found.push(format!(
                "{} {what}: {obtained} is not {expected}, {shares:.1} tolerances away",
                self.of
            ));
        }
    }
}

/// How exactly entropies and divergences are known: to the last digits where
/// there is a formula, as exactly as they are integrated where there is none.
struct Exactness {
    entropy: f64,
    divergence: f64,
}

const FORMULA: Exactness = Exactness {
    entropy: 1e-12,
    divergence: 1e-12,
};
const INTEGRAL: Exactness = Exactness {
    entropy: 1e-9,
    divergence: 1e-9,
};

fn agrees<D: Univariate>(
    family: &str,
    exactness: &Exactness,
    build: impl Fn(&[f64]) -> D,
) -> Vec<String> {
    let golden = golden("univariate");
    let mut found = Vec::new();
    for case in list(&golden[family]) {
        let own = build(&numbers(&case["parameters"]));
        let mut differences = Differences {
            of: format!("{own:?}"),
            found: Vec::new(),
        };
        points(&own, case, &mut differences);
        quantiles(&own, case, &mut differences);
        moments(&own, case, &mut differences);
        if let Some(entropy) = case["entropy"].as_f64() {
            let tolerance = exactness.entropy * (1.0 + entropy.abs());
            differences.compare("entropy", own.entropy(), entropy, tolerance);
        }
        for other in list(&case["divergences"]) {
            let what = format!("divergence of {}", other["of"]);
            let value = number(&other["value"]);
            let obtained = own.kl(&build(&numbers(&other["of"])));
            let tolerance = exactness.divergence * (1.0 + value);
            differences.compare(&what, obtained, value, tolerance);
        }
        found.extend(differences.found);
    }
    found
}

fn points(own: &impl Univariate, case: &Value, differences: &mut Differences) {
    let densities = numbers(&case["log_density"]);
    let (cdf, survival) = (numbers(&case["cdf"]), numbers(&case["survival"]));
    for (i, x) in numbers(&case["points"]).into_iter().enumerate() {
        let tolerance = 1e-13 * (1.0 + densities[i].abs());
        let what = format!("log-density at {x}");
        differences.compare(&what, own.log_density(x), densities[i], tolerance);
        for (what, obtained, expected) in [
            ("cdf", own.cdf(x), cdf[i]),
            ("survival", own.survival(x), survival[i]),
        ] {
            let slope = (x * densities[i].exp()).abs();
            let digits = 1e-14 * (expected * (1.0 + expected.ln().abs()) + slope);
            let tolerance = if expected > 0.0 { digits } else { 0.0 };
            differences.compare(&format!("{what} at {x}"), obtained, expected, tolerance);
        }
    }
}

fn quantiles(own: &impl Univariate, case: &Value, differences: &mut Differences) {
    let expected = numbers(&case["quantiles"]);
    for (p, x) in numbers(&case["levels"]).into_iter().zip(expected) {
        let tail = p.min(1.0 - p);
        let slope = own.density(x);
        let tolerance = match own.is_discrete() {
            true => 0.0,
            false => 4e-15 * (x.abs() + tail * (1.0 + tail.ln().abs()) / slope),
        };
        differences.compare(&format!("quantile {p}"), own.quantile(p), x, tolerance);
    }
}

fn moments(own: &impl Univariate, case: &Value, differences: &mut Differences) {
    for (what, obtained) in [("mean", own.mean()), ("variance", own.variance())] {
        match case[what].as_f64() {
            Some(expected) => {
                let obtained = obtained.unwrap_or(f64::NAN);
                differences.compare(what, obtained, expected, 1e-12 * expected.abs());
            }
            None => assert!(!obtained.is_some_and(f64::is_finite), "{own:?} {what}"),
        }
    }
}

macro_rules! families {
    ($($test:ident: $name:literal, $exactness:expr, $build:expr;)*) => {
        $(#[test]
        fn $test() {
            let found = agrees($name, &$exactness, $build);
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
