//! Maximum-likelihood fits against roots of the gradient, exact intervals against SciPy, and
//! conjugate pairs against numerical integration.

use super::*;
use abduce::bayes::clopper_pearson;
use abduce::data::{Cells, Column, Field, Kind, Rows, Schema, Table};
use abduce::estimate::{PriorChoice, Request, estimate};
use abduce::family::{
    BernoulliProbability, Beta, BinomialProbability, Conjugate, Exponential, ExponentialRate,
    Family, Gamma, GammaRate, Gaussian, GaussianBoth, GaussianMean, GaussianPrecision, Geometric,
    LogNormal, NegativeBinomial, NegativeBinomialProbability, Poisson, PoissonRate, Prior,
    StudentT, Uniform, Univariate, VonMises, ZeroInflatedPoisson,
};

/// Fits every sample of a family. The reference maxima are roots of the gradient, which are
/// accurate to nearly all digits; maximizing the likelihood alone gives half of them.
fn assert_fits<F: Family<Shape = ()>>(
    family: &str,
    digits: f64,
    parameters: impl Fn(&F) -> Vec<f64>,
) {
    for case in list(&golden("estimates")["fits"][family]) {
        let values = numbers(&case["values"]);
        let mut stats = F::zero(&());
        let weights = weights(&case["weights"], values.len());
        F::observe(&Rows::new(&[Cells::real(&values)]), &weights, &mut stats);
        let fitted = F::mle(&stats).unwrap();
        let expected = numbers(&case["parameters"]);
        for (obtained, expected) in parameters(&fitted).iter().zip(&expected) {
            assert!(
                (obtained - expected).abs() <= digits * expected.abs(),
                "{fitted:?} is not {expected:?}"
            );
        }
        let maximum = number(&case["log_likelihood"]);
        assert_close(fitted.log_likelihood(&stats), maximum, digits.max(1e-12));
    }
}

#[test]
fn gamma_fits_are_where_the_gradient_is_0() {
    // The mean of numbers at 1e6 ± 1 is rounded by a part in 1e10 of the deviation.
    assert_fits("gamma", 1e-9, |fitted: &Gamma| {
        vec![fitted.shape, fitted.rate]
    });
}

#[test]
fn beta_fits_are_where_the_gradient_is_0() {
    assert_fits("beta", 1e-10, |fitted: &Beta| vec![fitted.a, fitted.b]);
}

#[test]
fn student_t_fits_are_where_the_gradient_is_0() {
    // The last sample lies 1e7 scales away from 0.
    assert_fits("student-t", 1e-9, |fitted: &StudentT| {
        vec![fitted.location, fitted.scale, fitted.degrees]
    });
}

#[test]
fn von_mises_fits_are_where_the_gradient_is_0() {
    assert_fits("von-mises", 1e-10, |fitted: &VonMises| {
        vec![fitted.direction, fitted.concentration]
    });
}

#[test]
fn negative_binomial_fits_are_where_the_gradient_is_0() {
    assert_fits("negative-binomial", 1e-10, |fitted: &NegativeBinomial| {
        vec![fitted.size, fitted.probability]
    });
}

#[test]
fn zero_inflated_poisson_fits_are_where_the_gradient_is_0() {
    assert_fits(
        "zero-inflated-poisson",
        1e-10,
        |fitted: &ZeroInflatedPoisson| vec![fitted.inflation, fitted.rate],
    );
}

#[test]
fn fits_in_closed_form_are_those_of_scipy() {
    assert_fits("log-normal", 1e-13, |fitted: &LogNormal| {
        vec![fitted.log_mean, fitted.log_variance]
    });
    assert_fits("geometric", 1e-14, |fitted: &Geometric| {
        vec![fitted.probability]
    });
    assert_fits("poisson", 1e-14, |fitted: &Poisson| vec![fitted.rate]);
    assert_fits("exponential", 1e-14, |fitted: &Exponential| {
        vec![fitted.rate]
    });
    assert_fits("uniform", 0.0, |fitted: &Uniform| {
        vec![fitted.low, fitted.high]
    });
    assert_fits("gaussian", 1e-13, |fitted: &Gaussian| {
        vec![fitted.mean, fitted.variance]
    });
}

#[test]
fn exact_intervals_are_those_of_scipy() {
    for case in list(&golden("estimates")["clopper_pearson"]) {
        let [successes, failures, level] =
            ["successes", "failures", "level"].map(|of| number(&case[of]));
        let (low, high) = clopper_pearson(successes, failures, level).unwrap();
        // SciPy computes the bounds to twelve digits.
        assert_all_close(&[low, high], &numbers(&case["interval"]), 1e-11);
    }
}

/// Compares evidence, posterior mean and predictions with numerical integrals. SciPy's
/// integrals over two parameters are accurate to ten digits.
fn assert_agrees_with_integrals<C: Conjugate>(pair: C, prior: &str, case: &Value, digits: f64)
where
    C::Predictive: Univariate,
{
    let prior = pair.prior(prior, &numbers(&case["prior"])).unwrap();
    let mut seen = pair.zero();
    for x in numbers(&case["rows"]) {
        pair.observe(&[x], &[1.0], &mut seen);
    }
    let evidence = pair.log_evidence(&prior, &seen).unwrap().unwrap();
    assert_close(evidence, number(&case["log_evidence"]), digits);
    let posterior = pair.posterior(&prior, &seen).unwrap();
    if let Some(mean) = case["mean"].as_f64() {
        assert_close(posterior.means().unwrap()[0], mean, digits);
    }
    let predictive = pair.predictive(&posterior).unwrap();
    for (x, expected) in numbers(&case["points"])
        .into_iter()
        .zip(numbers(&case["log_predictive"]))
    {
        assert_close(predictive.log_density(x), expected, digits);
        assert_close(
            pair.log_predictive(&posterior, &[x]).unwrap(),
            expected,
            digits,
        );
    }
}

#[test]
fn conjugate_pairs_agree_with_numerical_integration() {
    let golden = golden("estimates");
    let of = |name: &str| &golden["pairs"][name];
    let known = |name: &str, what: &str| number(&golden["pairs"][name][what]);
    let exact = 1e-13;
    assert_agrees_with_integrals(BernoulliProbability, "beta", of("bernoulli"), exact);
    let trials = known("binomial", "trials") as u64;
    assert_agrees_with_integrals(
        BinomialProbability { trials },
        "beta",
        of("binomial"),
        exact,
    );
    let failures = |size: f64| NegativeBinomialProbability { size };
    assert_agrees_with_integrals(failures(1.0), "beta", of("geometric"), exact);
    let size = known("negative-binomial", "size");
    assert_agrees_with_integrals(failures(size), "beta", of("negative-binomial"), exact);
    assert_agrees_with_integrals(PoissonRate, "gamma", of("poisson"), exact);
    assert_agrees_with_integrals(ExponentialRate, "gamma", of("exponential"), exact);
    let shape = known("gamma", "shape");
    assert_agrees_with_integrals(GammaRate { shape }, "gamma", of("gamma"), exact);
    let variance = known("gaussian-mean", "variance");
    assert_agrees_with_integrals(
        GaussianMean { variance },
        "normal",
        of("gaussian-mean"),
        exact,
    );
    let mean = known("gaussian-precision", "mean_known");
    assert_agrees_with_integrals(
        GaussianPrecision { mean },
        "gamma",
        of("gaussian-precision"),
        exact,
    );
    assert_agrees_with_integrals(
        GaussianBoth,
        "normal-gamma",
        &golden["gaussian_both"],
        1e-10,
    );
}

#[test]
fn nonconjugate_priors_agree_with_numerical_integration() {
    let golden = golden("estimates");
    let expected = &golden["drug_trial"];
    let rows = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0].map(|x| Some(f64::from(x)));
    let schema = Schema::new(vec![Field::new("cured", Kind::Real)]);
    let table = Table::new(schema, vec![Column::from_numbers(rows)], None).unwrap();
    let request = Request {
        prior: Some(PriorChoice::Text("0.8 if x > 0.5 else 0.2".into())),
        above: vec![(None, 0.5)],
        ..Request::default()
    };
    let found = estimate("bernoulli", &table, &request).unwrap();
    let evidence = found.log_evidence.unwrap();
    assert_close(evidence, number(&expected["log_evidence"]), 1e-12);
    let mean = found.mean.unwrap().get("probability").unwrap();
    assert_close(mean, number(&expected["mean"]), 1e-12);
    let above = found.above[0].probability;
    assert_close(above, number(&expected["above_half"]), 1e-12);
    let predicted = found.predicted.unwrap().density(1.0);
    assert_close(predicted, number(&expected["mean"]), 1e-12);
}
