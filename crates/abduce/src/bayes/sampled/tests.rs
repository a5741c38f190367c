//! Sampled posteriors against what is known of them.

use super::super::{Curve, Expression};
use super::*;
use crate::family::{Beta, Gaussian, VonMises};
use crate::kernel::special::ln_beta;
use std::f64::consts::PI;

fn curve(text: &str) -> Curve {
    Curve::Expression(Expression::parse(text, &["x"]).unwrap())
}

fn parameter(name: &str, domain: Domain, prior: &str) -> Parameter {
    Parameter {
        name: name.into(),
        domain,
        prior: curve(prior),
    }
}

const ABOVE: Domain = Domain::Above(0.0);

#[test]
fn independent_parameters_keep_their_conjugate_posteriors() {
    // A probability seen 6 of 10 times, a rate of 12 events in 4 hours.
    let parameters = [
        parameter("probability", Domain::Share, "beta(2,2)"),
        parameter("rate", ABOVE, "gamma(2,1)"),
    ];
    let log_likelihood =
        |x: &[f64]| 6.0 * x[0].ln() + 4.0 * (-x[0]).ln_1p() + 12.0 * x[1].ln() - 4.0 * x[1];
    let own = SampledPosterior::new(&parameters, log_likelihood, &[0.5, 2.0], 4096, 1).unwrap();
    let probability = Beta { a: 8.0, b: 6.0 };
    let rate = Gamma {
        shape: 14.0,
        rate: 5.0,
    };
    let means = own.means();
    assert!((means[0] - 8.0 / 14.0).abs() < 1e-3, "{means:?}");
    assert!((means[1] - 2.8).abs() < 3e-3, "{means:?}");
    assert!((own.mode[0] - probability.mode()).abs() < 1e-4);
    assert!((own.mode[1] - rate.mode()).abs() < 1e-4);
    let [(low, high), (from, to)] = own.intervals(0, 0.9);
    let (l, h) = probability.equal_tailed(0.9);
    assert!(
        (low - l).abs() < 4e-3 && (high - h).abs() < 4e-3,
        "{low} {high}"
    );
    assert!(to - from <= high - low);
    assert!(own.effective > 1000.0, "{}", own.effective);
    let evidence = |own: f64, shape: f64, rate: f64| own + ln_gamma(shape) - shape * f64::ln(rate);
    let exact = ln_beta(8.0, 6.0) - ln_beta(2.0, 2.0) + evidence(0.0, 14.0, 5.0);
    assert!(
        (own.log_evidence - exact).abs() < 2e-3,
        "{} {exact}",
        own.log_evidence
    );
}

#[test]
fn prediction_averages_over_the_draws() {
    let parameters = [parameter(
        "mean",
        Domain::Anywhere {
            around: 0.0,
            unit: 1.0,
        },
        "normal(0,4)",
    )];
    let own = SampledPosterior::new(
        &parameters,
        |x| -0.5 * (x[0] - 3.0).powi(2),
        &[0.0],
        2048,
        1,
    );
    let row = |x: &[f64]| -> Option<Box<dyn Univariate>> {
        Some(Box::new(Gaussian {
            mean: x[0],
            variance: 1.0,
        }))
    };
    let predictive = own.unwrap().predictive(row).unwrap();
    assert!((predictive.mean().unwrap() - 2.4).abs() < 0.01);
    assert!((predictive.variance().unwrap() - 1.8).abs() < 0.02);
}

/// A posterior with two parameters above 0 under priors of the same kind.
fn pair(prior: &str, log_likelihood: impl Fn(&[f64]) -> f64 + Sync) -> Result<SampledPosterior> {
    let parameters = ["a", "b"].map(|name| parameter(name, ABOVE, prior));
    SampledPosterior::new(&parameters, log_likelihood, &[1.0, 1.0], 1024, 1)
}

#[test]
fn a_posterior_that_does_not_fall_along_a_parameter_is_improper() {
    // Ten zeros of a zero-inflated Poisson say nothing of a large rate.
    let zeros = |x: &[f64]| 10.0 * (x[0] + (1.0 - x[0]) * (-x[1]).exp()).ln();
    let both = |rate: &str| {
        let parameters = [
            parameter("inflation", Domain::Share, "uniform(0,1)"),
            parameter("rate", ABOVE, rate),
        ];
        SampledPosterior::new(&parameters, zeros, &[0.5, 1.0], 1024, 1)
    };
    let why = both("x^-0.5").unwrap_err().to_string();
    assert!(
        why.contains("improper") && why.contains("rate towards infinity"),
        "{why}"
    );
    assert!(both("gamma(0.5,0.1)").is_ok());
    // Towards 0, where 1/x is not integrable without rows that speak against it.
    assert!(pair("1/x", |x| -x[0] - x[1]).is_err());
    assert!(pair("1/x", |x| x[0].ln() + x[1].ln() - x[0] - x[1]).is_ok());
    assert!(pair("1/(1 + x^2)", |_| 0.0).is_ok());
    assert!(pair("1/(1 + x)", |_| 0.0).is_err());
}

#[test]
fn a_ridge_that_leads_out_makes_a_posterior_improper() {
    // Equal rows: the likelihood grows with both parameters as long as b is a,
    // with the power of half their number.
    let ridge = |rows: f64| {
        move |x: &[f64]| {
            let off = (x[1] / x[0]).ln();
            0.5 * rows * (x[0].ln() - x[0] * off * off)
        }
    };
    assert!(pair("1/(1 + x^2)", ridge(3.0)).is_ok());
    assert!(pair("1/(1 + x^2)", ridge(8.0)).is_err());
    assert!(pair("log_normal(0,4)", ridge(8.0)).is_ok());
}

#[test]
fn another_seed_draws_others_that_say_the_same() {
    let seeded = |seed: u64| {
        let parameters = [parameter("rate", ABOVE, "gamma(2,1)")];
        let log_likelihood = |x: &[f64]| 12.0 * x[0].ln() - 4.0 * x[0];
        SampledPosterior::new(&parameters, log_likelihood, &[2.0], 2048, seed).unwrap()
    };
    let (one, two) = (seeded(1), seeded(2));
    assert_eq!(one, seeded(1));
    assert_ne!(one.draws, two.draws);
    assert!((one.means()[0] - 2.8).abs() < 3e-3 && (two.means()[0] - 2.8).abs() < 3e-3);
}

#[test]
fn a_prior_that_is_negative_where_draws_fall_is_refused() {
    let parameters = [parameter("rate", ABOVE, "3 - x")];
    let log_likelihood = |x: &[f64]| 12.0 * x[0].ln() - 4.0 * x[0];
    assert!(SampledPosterior::new(&parameters, log_likelihood, &[2.0], 1024, 1).is_err());
}

#[test]
fn directions_are_summed_up_on_the_circle() {
    // Angles about π, seen from a start on the other side of the cut.
    let angles = VonMises {
        direction: 3.1,
        concentration: 30.0,
    };
    for prior in ["uniform(-pi,pi)", "uniform(0,2*pi)", "von_mises(0,0)"] {
        let parameters = [parameter("direction", Domain::Angle(-3.0), prior)];
        let own = |x: &[f64]| angles.log_density(x[0]);
        let own = SampledPosterior::new(&parameters, own, &[-3.0], 2048, 1).unwrap();
        assert!((own.means()[0] - 3.1).abs() < 2e-3, "{:?}", own.means());
        assert!((own.mode[0] - 3.1).abs() < 1e-4, "{:?}", own.mode);
        assert!(own.draws.iter().all(|draw| draw[0].abs() <= PI));
        assert!((own.log_evidence + LN_TAU).abs() < 2e-3);
        let exact = 2.0 * (angles.quantile(0.95) - 3.1);
        for (low, high) in own.intervals(0, 0.9) {
            assert!(low < 3.1 && 3.1 < high && (high - low - exact).abs() < 0.02);
            assert!((0.5 * (low + high) - 3.1).abs() < 0.02, "{low} {high}");
        }
    }
}
