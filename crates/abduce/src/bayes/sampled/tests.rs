//! Sampled posteriors compared with exact results.

use super::super::{Curve, Expression};
use super::*;
use crate::family::{Beta, Gamma, Gaussian, VonMises};
use crate::kernel::special::{LN_TAU, ln_beta, ln_gamma};
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
    let posterior =
        SampledPosterior::new(&parameters, log_likelihood, &[0.5, 2.0], 4096, 1).unwrap();
    let probability = Beta { a: 8.0, b: 6.0 };
    let rate = Gamma {
        shape: 14.0,
        rate: 5.0,
    };
    let means = posterior.means();
    assert!((means[0] - 8.0 / 14.0).abs() < 1e-3, "{means:?}");
    assert!((means[1] - 2.8).abs() < 3e-3, "{means:?}");
    assert!((posterior.mode[0] - probability.mode()).abs() < 1e-4);
    assert!((posterior.mode[1] - rate.mode()).abs() < 1e-4);
    let [(low, high), (from, to)] = posterior.intervals(0, 0.9);
    let (l, h) = probability.equal_tailed(0.9);
    assert!(
        (low - l).abs() < 4e-3 && (high - h).abs() < 4e-3,
        "{low} {high}"
    );
    assert!(to - from <= high - low);
    assert!(posterior.effective > 1000.0, "{}", posterior.effective);
    let evidence = |normalizer: f64, shape: f64, rate: f64| {
        normalizer + ln_gamma(shape) - shape * f64::ln(rate)
    };
    let exact = ln_beta(8.0, 6.0) - ln_beta(2.0, 2.0) + evidence(0.0, 14.0, 5.0);
    let evidence = posterior.log_evidence.unwrap();
    assert!((evidence - exact).abs() < 2e-3, "{evidence} {exact}");
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
    let posterior = SampledPosterior::new(
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
    let predictive = posterior.unwrap().predictive(row).unwrap();
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
fn another_seed_gives_other_draws_and_the_same_posterior() {
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
fn directions_are_averaged_on_the_circle() {
    // Angles about π, seen from a start on the other side of the cut.
    let angles = VonMises {
        direction: 3.1,
        concentration: 30.0,
    };
    for prior in ["uniform(-pi,pi)", "uniform(0,2*pi)", "von_mises(0,0)"] {
        let domain = Domain::Angle {
            around: -3.0,
            held: None,
        };
        let parameters = [parameter("direction", domain, prior)];
        let log_likelihood = |x: &[f64]| angles.log_density(x[0]);
        let posterior =
            SampledPosterior::new(&parameters, log_likelihood, &[-3.0], 2048, 1).unwrap();
        assert!(
            (posterior.means()[0] - 3.1).abs() < 2e-3,
            "{:?}",
            posterior.means()
        );
        assert!(
            (posterior.mode[0] - 3.1).abs() < 1e-4,
            "{:?}",
            posterior.mode
        );
        assert!(posterior.draws.iter().all(|draw| draw[0].abs() <= PI));
        assert!((posterior.log_evidence.unwrap() + LN_TAU).abs() < 2e-3);
        let exact = 2.0 * (angles.quantile(0.95) - 3.1);
        for (low, high) in posterior.intervals(0, 0.9) {
            assert!(low < 3.1 && 3.1 < high && (high - low - exact).abs() < 0.02);
            assert!((0.5 * (low + high) - 3.1).abs() < 0.02, "{low} {high}");
        }
    }
}

/// The probability of a range.
fn within(of: &dyn Univariate, (low, high): (f64, f64)) -> f64 {
    of.cdf(high) - of.cdf(low)
}

#[test]
fn priors_of_bounded_range_truncate_the_posterior() {
    // Beta(7, 5), Gamma(13, 4) and N(3, 1) are the posteriors under flat priors.
    let share = Beta { a: 7.0, b: 5.0 };
    let rate = Gamma {
        shape: 13.0,
        rate: 4.0,
    };
    let mean = Gaussian {
        mean: 3.0,
        variance: 1.0,
    };
    let log_likelihood =
        |x: &[f64]| share.log_density(x[0]) + rate.log_density(x[1]) + mean.log_density(x[2]);
    let line = Domain::Anywhere {
        around: 0.0,
        unit: 1.0,
    };
    let ends = [(0.2, 0.45), (2.0, 4.0), (-1.0, 2.5)];
    let uniform = ["uniform(0.2,0.45)", "uniform(2,4)", "uniform(-1,2.5)"];
    let condition = [
        "1 if 0.2 < x <= 0.45 else 0",
        "x > 2 and x < 4",
        "max(0, min(1, (x+1)*(2.5-x)*1e9))",
    ];
    for priors in [uniform, condition] {
        let parameters = [
            parameter("share", Domain::Share, priors[0]),
            parameter("rate", ABOVE, priors[1]),
            parameter("mean", line, priors[2]),
        ];
        // The start is where the likelihood is highest, outside of the priors.
        let posterior =
            SampledPosterior::new(&parameters, log_likelihood, &[0.6, 4.5, 3.0], 4096, 1);
        let posterior = posterior.unwrap();
        assert!(posterior.effective > 1000.0, "{}", posterior.effective);
        for (k, (low, high)) in ends.into_iter().enumerate() {
            assert!(posterior.draws.iter().all(|x| low <= x[k] && x[k] <= high));
            let of: [&dyn Univariate; 3] = [&share, &rate, &mean];
            let whole = within(of[k], (low, high));
            let quantile = |p: f64| of[k].quantile(of[k].cdf(low) + p * whole);
            let [(from, to), _] = posterior.intervals(k, 0.9);
            let error = 0.01 * (high - low);
            assert!((from - quantile(0.05)).abs() < error, "{k}: {from}");
            assert!((to - quantile(0.95)).abs() < error, "{k}: {to}");
        }
        let of: [&dyn Univariate; 3] = [&share, &rate, &mean];
        let parts = of.iter().zip(ends);
        let exact: f64 = parts
            .map(|(of, (low, high))| (within(*of, (low, high)) / (high - low)).ln())
            .sum();
        let found = posterior.log_evidence.unwrap();
        assert!((found - exact).abs() < 5e-3, "{found} {exact}");
        let highest = [0.45, 3.0, 2.5];
        for (found, exact) in posterior.mode.iter().zip(highest) {
            assert!((found - exact).abs() < 1e-3, "{:?}", posterior.mode);
        }
    }
}

#[test]
fn no_peak_of_a_prior_is_lost() {
    let rate = Gamma {
        shape: 13.0,
        rate: 3.0,
    };
    let share = Beta { a: 7.0, b: 5.0 };
    let two = "0.5*normal(2,0.0004) + 0.5*normal(7,0.0004)";
    for prior in [two, "exp(-(x-2)^2/0.0008) + exp(-(x-7)^2/0.0008)"] {
        let parameters = [
            parameter("share", Domain::Share, "uniform(0,1)"),
            parameter("rate", ABOVE, prior),
        ];
        let log_likelihood = |x: &[f64]| share.log_density(x[0]) + rate.log_density(x[1]);
        let posterior =
            SampledPosterior::new(&parameters, log_likelihood, &[0.6, 4.3], 4096, 1).unwrap();
        let (low, high) = (rate.density(2.0), rate.density(7.0));
        let own_low = posterior
            .draws
            .iter()
            .zip(&posterior.weights)
            .filter(|(x, _)| x[1] < 4.0);
        let found: f64 = own_low.map(|(_, weight)| weight).sum();
        assert!((found - low / (low + high)).abs() < 5e-3, "{found}");
        let evidence = posterior.log_evidence.unwrap();
        assert!(
            (evidence - (0.5 * (low + high)).ln()).abs() < 5e-3,
            "{evidence}"
        );
    }
}

#[test]
fn too_few_effective_draws_are_an_error() {
    let parameters = [parameter("rate", ABOVE, "gamma(2,1)")];
    let log_likelihood = |x: &[f64]| 12.0 * x[0].ln() - 4.0 * x[0];
    let few = SampledPosterior::new(&parameters, log_likelihood, &[2.0], 40, 1);
    let why = few.unwrap_err().to_string();
    assert!(why.contains("effective number"), "{why}");
}

#[test]
fn the_predictive_averages_all_draws_and_errors_cover_what_seeds_change() {
    let parameters = [parameter("rate", ABOVE, "gamma(2,1)")];
    let log_likelihood = |x: &[f64]| 10.0 * x[0].ln() - 4.0 * x[0];
    // The posterior is Gamma(12, 5).
    let of = |seed| SampledPosterior::new(&parameters, log_likelihood, &[2.0], 2048, seed).unwrap();
    let posterior = of(1);
    // Draws that rounding leaves no weight have no part in it.
    assert!(posterior.weighted().count() > 2000);
    let (mean, deviation) = (posterior.means()[0], posterior.deviations()[0]);
    let (mean_error, (low, high)) = (
        posterior.mean_errors()[0],
        posterior.interval_errors(0, 0.95),
    );
    assert!((mean - 2.4).abs() < 4.0 * mean_error, "{mean} {mean_error}");
    let expected = 12f64.sqrt() / 5.0;
    assert!((deviation.0 - expected).abs() < 4.0 * deviation.1);
    // The error of independent draws of the same worth.
    let plain = expected / posterior.effective.sqrt();
    assert!(mean_error > 0.5 * plain && mean_error < 2.0 * plain);
    assert!(low > 0.0 && high > low, "{low} {high}");
    assert!(posterior.log_evidence_error().unwrap() < 0.05);
}
