//! Distributions over probabilities, counts, matrices and vectors, against SciPy.

use super::*;
use abduce::family::{
    Covariance, Dirichlet, DirichletMultinomial, InverseWishart, Multi, Multinomial,
    MultivariateGaussian, MultivariateT, NormalGamma, NormalInverseWishart, NormalWishart, Wishart,
};

/// Compares densities, and the moments and the entropy that the case has.
#[track_caller]
fn assert_agrees(distribution: &dyn Multi, case: &Value, tolerance: f64) {
    let points = rows(&case["points"]);
    let densities: Vec<f64> = points.iter().map(|x| distribution.log_density(x)).collect();
    assert_all_close(&densities, &numbers(&case["log_density"]), tolerance);
    for (name, obtained) in [
        ("mean", distribution.mean()),
        ("variance", distribution.variance()),
        ("mode", distribution.mode()),
    ] {
        if let Some(expected) = case.get(name) {
            assert_all_close(&obtained.unwrap(), &numbers(expected), tolerance);
        }
    }
    if let Some(entropy) = case.get("entropy") {
        assert_close(distribution.entropy(), number(entropy), tolerance);
    }
}

fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn distributions_over_probabilities_and_counts_are_those_of_scipy() {
    let golden = golden("vector_families");
    for case in list(&golden["dirichlet"]) {
        let dirichlet = Dirichlet::new(numbers(&case["concentration"])).unwrap();
        assert_agrees(&dirichlet, case, 1e-11);
    }
    for case in list(&golden["multinomial"]) {
        let probabilities = numbers(&case["probabilities"]);
        let multinomial = Multinomial::new(integer(&case["trials"]), probabilities).unwrap();
        assert_agrees(&multinomial, case, 1e-9);
    }
    for case in list(&golden["dirichlet_multinomial"]) {
        let concentration = numbers(&case["concentration"]);
        let compound = DirichletMultinomial::new(integer(&case["trials"]), concentration).unwrap();
        assert_agrees(&compound, case, 1e-11);
    }
}

#[test]
fn distributions_over_matrices_are_those_of_scipy() {
    let golden = golden("vector_families");
    for case in list(&golden["wishart"]) {
        let wishart = Wishart::new(number(&case["degrees"]), numbers(&case["scale"])).unwrap();
        assert_agrees(&wishart, case, 1e-11);
    }
    for case in list(&golden["inverse_wishart"]) {
        let scale = numbers(&case["scale"]);
        let inverse = InverseWishart::new(number(&case["degrees"]), scale).unwrap();
        assert_agrees(&inverse, case, 1e-11);
    }
}

#[test]
fn distributions_over_a_mean_and_a_precision_are_those_of_scipy() {
    let golden = golden("vector_families");
    for case in list(&golden["normal_gamma"]) {
        let of = |name: &str| number(&case[name]);
        let distribution =
            NormalGamma::new(of("mean_of_mean"), of("strength"), of("shape"), of("rate"));
        assert_agrees(&distribution.unwrap(), case, 1e-11);
    }
    for (name, by_precision) in [("normal_wishart", true), ("normal_inverse_wishart", false)] {
        for case in list(&golden[name]) {
            let mean = numbers(&case["mean_of_mean"]);
            let (strength, degrees) = (number(&case["strength"]), number(&case["degrees"]));
            let scale = numbers(&case["scale"]);
            let distribution: Box<dyn Multi> = if by_precision {
                Box::new(NormalWishart::new(mean, strength, degrees, scale).unwrap())
            } else {
                Box::new(NormalInverseWishart::new(mean, strength, degrees, scale).unwrap())
            };
            assert_agrees(&*distribution, case, 1e-11);
        }
    }
}

#[test]
fn distributions_over_vectors_are_those_of_scipy() {
    let golden = golden("vector_families");
    for case in list(&golden["multivariate_t"]) {
        let (location, scale) = (numbers(&case["location"]), numbers(&case["scale"]));
        let t = MultivariateT::new(number(&case["degrees"]), location, scale).unwrap();
        assert_agrees(&t, case, 1e-8);
    }
    for case in list(&golden["multivariate_normal"]) {
        let gaussian = MultivariateGaussian {
            mean: numbers(&case["mean"]),
            covariance: Covariance::Full(numbers(&case["covariance"])),
        };
        assert_agrees(&gaussian, case, 1e-12);
    }
}
