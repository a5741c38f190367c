//! Maximum-likelihood fits at the root of the gradient, exact intervals of
//! SciPy, and conjugate pairs against integrals that know nothing of conjugacy.

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

/// Fits every sample of a family. A maximum found by its likelihood alone is
/// good to half of the digits; found by its gradient, to nearly all of them.
fn fits<F: Family<Shape = ()>>(family: &str, digits: f64, parameters: impl Fn(&F) -> Vec<f64>) {
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
        let most = number(&case["log_likelihood"]);
        assert_close(fitted.log_likelihood(&stats), most, digits.max(1e-12));
    }
}

#[test]
fn gamma_fits_are_where_the_gradient_is_0() {
    // The mean of numbers at 1e6 ± 1 is rounded by a part in 1e10 of the deviation.
    fits("gamma", 1e-9, |own: &Gamma| vec![own.shape, own.rate]);
}

#[test]
fn beta_fits_are_where_the_gradient_is_0() {
    fits("beta", 1e-10, |own: &Beta| vec![own.a, own.b]);
}

#[test]
fn student_t_fits_are_where_the_gradient_is_0() {
    // The last sample lies 1e7 scales away from 0.
    fits("student-t", 1e-9, |own: &StudentT| {
        vec![own.location, own.scale, own.degrees]
    });
}

#[test]
fn von_mises_fits_are_where_the_gradient_is_0() {
    fits("von-mises", 1e-10, |own: &VonMises| {
        vec![own.direction, own.concentration]
    });
}

#[test]
fn negative_binomial_fits_are_where_the_gradient_is_0() {
    fits("negative-binomial", 1e-10, |own: &NegativeBinomial| {
        vec![own.size, own.probability]
    });
}

#[test]
fn zero_inflated_poisson_fits_are_where_the_gradient_is_0() {
    fits(
        "zero-inflated-poisson",
        1e-10,
        |own: &ZeroInflatedPoisson| vec![own.inflation, own.rate],
    );
}

#[test]
fn fits_in_closed_form_are_those_of_scipy() {
    fits("log-normal", 1e-13, |own: &LogNormal| {
        vec![own.log_mean, own.log_variance]
    });
    fits("geometric", 1e-14, |own: &Geometric| vec![own.probability]);
    fits("poisson", 1e-14, |own: &Poisson| vec![own.rate]);
    fits("exponential", 1e-14, |own: &Exponential| vec![own.rate]);
    fits("uniform", 0.0, |own: &Uniform| vec![own.low, own.high]);
    fits("gaussian", 1e-13, |own: &Gaussian| {
        vec![own.mean, own.variance]
    });
}

#[test]
fn exact_intervals_are_those_of_scipy() {
    for case in list(&golden("estimates")["clopper_pearson"]) {
        let [successes, failures, level] =
            ["successes", "failures", "level"].map(|of| number(&case[of]));
        let (low, high) = clopper_pearson(successes, failures, level).unwrap();
        // SciPy looks for its ends to twelve digits.
        assert_all_close(&[low, high], &numbers(&case["interval"]), 1e-11);
    }
}

/// Evidence, posterior mean and predictions against integrals; SciPy's over
/// two parameters are good to ten digits.
fn integrates<C: Conjugate>(pair: C, prior: &str, case: &Value, digits: f64)
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
fn conjugate_pairs_are_what_integration_gives() {
    let golden = golden("estimates");
    let of = |name: &str| &golden["pairs"][name];
    let known = |name: &str, what: &str| number(&golden["pairs"][name][what]);
    let exact = 1e-13;
    integrates(BernoulliProbability, "beta", of("bernoulli"), exact);
    let trials = known("binomial", "trials") as u64;
    integrates(
        BinomialProbability { trials },
        "beta",
        of("binomial"),
        exact,
    );
    let failures = |size: f64| NegativeBinomialProbability { size };
    integrates(failures(1.0), "beta", of("geometric"), exact);
    let size = known("negative-binomial", "size");
    integrates(failures(size), "beta", of("negative-binomial"), exact);
    integrates(PoissonRate, "gamma", of("poisson"), exact);
    integrates(ExponentialRate, "gamma", of("exponential"), exact);
    let shape = known("gamma", "shape");
    integrates(GammaRate { shape }, "gamma", of("gamma"), exact);
    let variance = known("gaussian-mean", "variance");
    integrates(
        GaussianMean { variance },
        "normal",
        of("gaussian-mean"),
        exact,
    );
    let mean = known("gaussian-precision", "mean_known");
    integrates(
        GaussianPrecision { mean },
        "gamma",
        of("gaussian-precision"),
        exact,
    );
    integrates(
        GaussianBoth,
        "normal-gamma",
        &golden["gaussian_both"],
        1e-10,
    );
}

#[test]
fn any_prior_is_what_integration_gives() {
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
