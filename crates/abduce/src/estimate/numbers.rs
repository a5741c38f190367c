//! Families of real numbers.

use super::conjugate::{Maximum, Model, no_unbiased_estimate, report};
use super::report::{Estimate, Numbers};
use super::rows::{error_unless, for_each_row};
use super::sampled::{self, Range, Sampled, Slot};
use super::{PriorChoice, Request};
use crate::bayes::{Domain, Parameter};
use crate::data::Source;
use crate::family::{
    AveragedAngles, Beta, Exponential, ExponentialRate, Family, Gamma, GammaRate, Gaussian,
    GaussianBoth, GaussianMean, GaussianPrecision, GaussianStats, LogNormal, LogNormalBoth,
    PointStats, Scalar, Stats, StudentT, Uniform, UniformEnds, VonMises, nothing_seen,
};
use crate::{Error, Result};
use std::f64::consts::TAU;
use std::sync::Arc;

const POSITIVE: &str = "a positive number";

pub(super) fn positive(x: f64) -> Option<String> {
    error_unless(x > 0.0, x, POSITIVE)
}

pub(super) fn not_negative(x: f64) -> Option<String> {
    error_unless(x >= 0.0, x, "a number from 0 up")
}

const SHARE: &str = "a number between 0 and 1";

pub(super) fn share(x: f64) -> Option<String> {
    error_unless(x > 0.0 && x < 1.0, x, SHARE)
}

pub(super) fn anything(_: f64) -> Option<String> {
    None
}

pub(super) fn exponential(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "exponential",
        pair: ExponentialRate,
        default: "jeffreys",
        wrong: &not_negative,
        maximum: &|stats| {
            let fitted = Exponential::mle(stats)?;
            let error = fitted.rate / stats.weight().sqrt();
            let maximum = Maximum::of(&fitted, fitted.log_likelihood(stats));
            Ok(maximum.with_errors([("rate", error)]))
        },
        unbiased: &|stats| {
            let rate = (stats.weight - 1.0) / stats.sum;
            (stats.weight > 1.0 && rate.is_finite()).then(|| Numbers(vec![("rate".into(), rate)]))
        },
        predictive: "lomax",
        shift: 0.0,
    };
    report(model, source, request)
}

/// A parameter above 0 with a flat prior of its logarithm.
fn scale(name: &'static str) -> Slot {
    Slot {
        name,
        range: Range::Above(0.0),
        most: f64::INFINITY,
        prior: "1/x",
    }
}

pub(super) fn gamma(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let Some(shape) = request.known("shape") else {
        let family = Sampled {
            slots: &[scale("shape"), scale("rate")],
            domain: POSITIVE,
            build: |x| Gamma::new(x[0], x[1]),
            wide: |_| vec![1.0, 1.0],
            improper: None,
            average: sampled::averaged,
        };
        return sampled::report(source, request, &family);
    };
    if !(shape > 0.0 && shape.is_finite()) {
        return Err(Error::parameter(format!(
            "the shape must be positive, not {shape}"
        )));
    }
    let model = Model {
        family: "gamma",
        pair: GammaRate { shape },
        default: "jeffreys",
        wrong: &positive,
        maximum: &|stats| {
            let fitted =
                Gamma::new(shape, shape * stats.weight / stats.sum).map_err(|_| nothing_seen())?;
            let error = fitted.rate / (shape * stats.weight).sqrt();
            let maximum = Maximum::of(&fitted, fitted.log_likelihood_of(stats));
            Ok(maximum.with_errors([("rate", error)]))
        },
        unbiased: &no_unbiased_estimate,
        predictive: "beta-prime",
        shift: 0.0,
    };
    report(model, source, request)
}

pub(super) fn beta(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let family = Sampled {
        slots: &[scale("a"), scale("b")],
        domain: SHARE,
        build: |x| Beta::new(x[0], x[1]),
        wide: |_| vec![1.0, 1.0],
        improper: None,
        average: sampled::averaged,
    };
    sampled::report(source, request, &family)
}

/// The variance divided by n − 1 instead of n.
fn unbiased_variance(stats: &GaussianStats) -> Option<Numbers> {
    let variance = stats.scatter / (stats.weight - 1.0);
    (stats.weight > 1.0).then(|| Numbers(vec![("variance".into(), variance)]))
}

/// The standard errors of the mean and the variance of a Gaussian: √(σ²/n) and σ² √(2/n).
fn gaussian_errors(variance: f64, rows: f64) -> [f64; 2] {
    [(variance / rows).sqrt(), variance * (2.0 / rows).sqrt()]
}

fn gaussian_maximum(stats: &GaussianStats) -> Result<Maximum> {
    let fitted = Gaussian::mle(stats)?;
    let [mean, variance] = gaussian_errors(fitted.variance, stats.weight);
    let maximum = Maximum::of(&fitted, fitted.log_likelihood(stats));
    Ok(maximum.with_errors([("mean", mean), ("variance", variance)]))
}

pub(super) fn gaussian(source: &dyn Source, request: &Request) -> Result<Estimate> {
    match (request.known("mean"), request.known("variance")) {
        (Some(_), Some(_)) => Err(Error::parameter(
            "mean and variance are both known, so there is nothing to estimate",
        )),
        (None, None) => {
            let model = Model {
                family: "gaussian",
                pair: GaussianBoth,
                default: "reference",
                wrong: &anything,
                maximum: &gaussian_maximum,
                unbiased: &unbiased_variance,
                predictive: "student-t",
                shift: 0.0,
            };
            report(model, source, request)
        }
        (None, Some(variance)) => gaussian_mean(source, request, variance),
        (Some(mean), None) => gaussian_variance(source, request, mean),
    }
}

/// A Gaussian of known variance.
fn gaussian_mean(source: &dyn Source, request: &Request, variance: f64) -> Result<Estimate> {
    if !(variance > 0.0 && variance.is_finite()) {
        return Err(Error::parameter(format!(
            "the variance must be positive, not {variance}"
        )));
    }
    let model = Model {
        family: "gaussian",
        pair: GaussianMean { variance },
        default: "uniform",
        wrong: &anything,
        maximum: &|stats| {
            if stats.weight <= 0.0 {
                return Err(nothing_seen());
            }
            let fitted = Gaussian {
                mean: stats.mean,
                variance,
            };
            let [error, _] = gaussian_errors(variance, stats.weight);
            let maximum = Maximum::of(&fitted, fitted.log_likelihood(stats));
            Ok(maximum.with_errors([("mean", error)]))
        },
        unbiased: &no_unbiased_estimate,
        predictive: "gaussian",
        shift: 0.0,
    };
    report(model, source, request)
}

/// A Gaussian of known mean.
fn gaussian_variance(source: &dyn Source, request: &Request, mean: f64) -> Result<Estimate> {
    if !mean.is_finite() {
        return Err(Error::parameter("the mean must be a number"));
    }
    let model = Model {
        family: "gaussian",
        pair: GaussianPrecision { mean },
        default: "jeffreys",
        wrong: &anything,
        maximum: &|stats| {
            let shift = stats.mean - mean;
            let variance = stats.scatter / stats.weight + shift * shift;
            let fitted = Gaussian::new(mean, variance).map_err(|_| {
                Error::numeric("the variance of the rows about the mean is not positive")
            })?;
            let [_, error] = gaussian_errors(variance, stats.weight);
            let maximum = Maximum::of(&fitted, fitted.log_likelihood(stats));
            Ok(maximum.with_errors([("variance", error)]))
        },
        unbiased: &no_unbiased_estimate,
        predictive: "student-t",
        shift: 0.0,
    };
    report(model, source, request)
}

pub(super) fn log_normal(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "log-normal",
        pair: LogNormalBoth,
        default: "reference",
        wrong: &positive,
        maximum: &|stats| {
            let fitted = LogNormal::estimate(stats)?;
            let [mean, variance] = gaussian_errors(fitted.log_variance, stats.weight());
            let maximum = Maximum::of(&fitted, fitted.log_likelihood_of(stats));
            Ok(maximum.with_errors([("log_mean", mean), ("log_variance", variance)]))
        },
        unbiased: &|stats| {
            let variance = stats.scatter / (stats.weight - 1.0);
            (stats.weight > 1.0).then(|| Numbers(vec![("log_variance".into(), variance)]))
        },
        predictive: "log of student-t",
        shift: 0.0,
    };
    report(model, source, request)
}

/// Why a repeated number makes the posterior improper, if it does: the density is unbounded for a
/// location at that number and scales near 0 (Fernández & Steel 1999). If k of n rows are equal,
/// the likelihood near them goes as σ^(ν(n − k) − k), over a width of σ, and the prior as σᵃ, so
/// that the integral over σ exists only for ν > (k − 2 − a)/(n − k).
fn improper_by_repeated_number(points: &PointStats, parameters: &[Parameter]) -> Option<String> {
    let [location, scale, degrees] = parameters else {
        return None;
    };
    let log_prior = |of: &Parameter, x: f64| of.log_prior(x).unwrap_or(f64::NEG_INFINITY);
    let possible = points
        .iter()
        .filter(|(x, _)| log_prior(location, *x) > f64::NEG_INFINITY);
    let (tie, k) = possible.fold(
        (0.0, 0.0),
        |most: (f64, f64), point| {
            if point.1 > most.1 { point } else { most }
        },
    );
    let [near, far] = [1e-100, 1e-200].map(|x| log_prior(scale, x));
    let power = if far > f64::NEG_INFINITY {
        (near - far) / (1e-100_f64.ln() - 1e-200_f64.ln())
    } else {
        f64::INFINITY
    };
    let rest = (points.weight() - k).max(0.0);
    let excess = k - 2.0 - power;
    if excess.is_nan() || excess <= 0.0 {
        return None;
    }
    let least = excess / rest;
    let Domain::Above(low) = degrees.domain else {
        return None;
    };
    // A large number stands for infinity, where all rows are the same.
    let reach = least.min(1e6) - low;
    let shares = (0..=60).map(|i| 1.0 - f64::from(i) / 60.0);
    let below = shares.map(|share| low + reach * share.powi(4));
    let is_possible = |x: f64| x > low && log_prior(degrees, x) > f64::NEG_INFINITY;
    (reach > 0.0 && below.into_iter().any(is_possible)).then(|| {
        let reason = if least.is_finite() {
            format!("the prior allows {least:.3} degrees of freedom and fewer")
        } else {
            "all values are equal".to_string()
        };
        format!("{tie} is repeated so often that it does not bound the scale from below: {reason}")
    })
}

pub(super) fn student_t(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let has_degrees = |text: &str| {
        text.split(';')
            .any(|part| part.trim().starts_with("degrees"))
    };
    let degrees = match &request.prior {
        Some(PriorChoice::Text(text)) if has_degrees(text) => Slot {
            name: "degrees",
            range: Range::Above(0.0),
            most: StudentT::MAX_DEGREES,
            prior: "1",
        },
        // Above 1 the posterior is proper wherever the estimate exists.
        _ => Slot {
            name: "degrees",
            range: Range::Above(1.0),
            most: StudentT::MAX_DEGREES,
            prior: "gamma(2,0.1) if x > 1 else 0",
        },
    };
    let location = Slot {
        name: "location",
        range: Range::Anywhere,
        most: f64::INFINITY,
        prior: "1",
    };
    let family = Sampled {
        slots: &[location, scale("scale"), degrees],
        domain: "a number",
        build: |x| StudentT::new(x[0], x[1], x[2]),
        wide: |cells| {
            let points = PointStats::new(cells.iter().copied());
            let deviation = points.variance().sqrt();
            let deviation = if deviation > 0.0 { deviation } else { 1.0 };
            vec![points.mean(), deviation, 5.0]
        },
        improper: Some(improper_by_repeated_number),
        average: sampled::averaged,
    };
    let mut estimate = sampled::report(source, request, &family)?;
    let degrees = estimate
        .maximum_likelihood
        .as_ref()
        .and_then(|maximum| maximum.parameters.get("degrees"));
    if degrees.is_some_and(|degrees| degrees >= StudentT::MAX_DEGREES) {
        let note = "the likelihood grows with the degrees of freedom: the rows look Gaussian";
        estimate.notes.push(note.into());
    }
    Ok(estimate)
}

pub(super) fn von_mises(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for_each_row(source, anything, |row, _| {
        least = least.min(row[0]);
        most = most.max(row[0]);
    })?;
    let direction = Slot {
        name: "direction",
        range: Range::Angle { held_by: 1 },
        most: f64::INFINITY,
        prior: "uniform(-pi,pi)",
    };
    let concentration = Slot {
        name: "concentration",
        range: Range::Above(0.0),
        most: f64::INFINITY,
        prior: "log_normal(0,4)",
    };
    let family = Sampled {
        slots: &[direction, concentration],
        domain: "a number",
        build: |x| VonMises::new(x[0], x[1]),
        wide: |_| vec![0.0, 1.0],
        improper: None,
        average: |parts| {
            let average = AveragedAngles::new(parts)?;
            Some(Arc::new(average))
        },
    };
    let mut estimate = sampled::report(source, request, &family)?;
    if most - least > TAU * (1.0 + 1e-9) {
        estimate.notes.push(
            "the angles span more than a turn; they are taken as radians (divide degrees by \
             57.29578)"
                .into(),
        );
    }
    Ok(estimate)
}

pub(super) fn uniform(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "uniform",
        pair: UniformEnds,
        default: "reference",
        wrong: &anything,
        maximum: &|stats| {
            let fitted = Uniform::estimate(stats)?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood_of(stats)))
        },
        unbiased: &|stats| {
            let n = stats.weight();
            let fitted = Uniform::estimate(stats).ok().filter(|_| n > 1.0)?;
            let reach = (fitted.high - fitted.low) / (n - 1.0);
            Some(Numbers(vec![
                ("low".into(), fitted.low - reach),
                ("high".into(), fitted.high + reach),
            ]))
        },
        predictive: "uniform of uncertain ends",
        shift: 0.0,
    };
    report(model, source, request)
}
