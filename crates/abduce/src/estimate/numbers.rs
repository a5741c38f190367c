//! Families of real numbers.

use super::conjugate::{Maximum, Model, no_bias, report};
use super::report::{Estimate, Numbers};
use super::rows::{each, must};
use super::{PriorChoice, Request, sampled};
use crate::bayes::{
    ExponentialRate, GammaRate, GaussianBoth, GaussianMean, GaussianPrecision, LogNormalBoth,
    UniformEnds,
};
use crate::data::Source;
use crate::family::{
    Beta, Exponential, Family, Gamma, Gaussian, GaussianStats, LogNormal, PointStats, Scalar,
    Stats, StudentT, Uniform, VonMises, VonMisesStats, nothing_seen,
};
use crate::{Error, Result};
use std::f64::consts::{PI, TAU};

const POSITIVE: &str = "a positive number";

fn positive(x: f64) -> Option<String> {
    must(x > 0.0, x, POSITIVE)
}

fn anything(_: f64) -> Option<String> {
    None
}

pub(super) fn exponential(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let wrong = |x: f64| must(x >= 0.0, x, "a number from 0 up");
    let model = Model {
        family: "exponential",
        pair: ExponentialRate,
        default: "jeffreys",
        wrong: &wrong,
        maximum: &|stats| {
            let fitted = Exponential::mle(stats)?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
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

pub(super) fn gamma(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let infinite = (0.0, f64::INFINITY);
    let Some(shape) = request.known("shape") else {
        return sampled::report::<Gamma>(
            source,
            request,
            &[
                ("shape", infinite, "1/x", false),
                ("rate", infinite, "1/x", false),
            ],
            POSITIVE,
            |x| Gamma::new(x[0], x[1]),
            |_| vec![1.0, 1.0],
        );
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
            Ok(Maximum::of(&fitted, fitted.log_likelihood_of(stats)))
        },
        unbiased: &no_bias,
        predictive: "beta-prime",
        shift: 0.0,
    };
    report(model, source, request)
}

pub(super) fn beta(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let infinite = (0.0, f64::INFINITY);
    sampled::report::<Beta>(
        source,
        request,
        &[("a", infinite, "1/x", false), ("b", infinite, "1/x", false)],
        "a number between 0 and 1",
        |x| Beta::new(x[0], x[1]),
        |_| vec![1.0, 1.0],
    )
}

/// The variance divided by n − 1 instead of n.
fn unbiased_variance(stats: &GaussianStats) -> Option<Numbers> {
    let variance = stats.scatter / (stats.weight - 1.0);
    (stats.weight > 1.0).then(|| Numbers(vec![("variance".into(), variance)]))
}

fn gaussian_maximum(stats: &GaussianStats) -> Result<Maximum> {
    let fitted = Gaussian::mle(stats)?;
    Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
}

pub(super) fn gaussian(source: &dyn Source, request: &Request) -> Result<Estimate> {
    match (request.known("mean"), request.known("variance")) {
        (Some(_), Some(_)) => Err(Error::parameter(
            "mean and variance are both known: there is nothing to estimate",
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
        (None, Some(variance)) => {
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
                    Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
                },
                unbiased: &no_bias,
                predictive: "gaussian",
                shift: 0.0,
            };
            report(model, source, request)
        }
        (Some(mean), None) => {
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
                    Ok(Maximum::of(&fitted, fitted.log_likelihood(stats)))
                },
                unbiased: &no_bias,
                predictive: "student-t",
                shift: 0.0,
            };
            report(model, source, request)
        }
    }
}

pub(super) fn log_normal(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "log-normal",
        pair: LogNormalBoth,
        default: "reference",
        wrong: &positive,
        maximum: &|stats| {
            let fitted = LogNormal::estimate(stats)?;
            Ok(Maximum::of(&fitted, fitted.log_likelihood_of(stats)))
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

pub(super) fn student_t(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let infinite = (0.0, f64::INFINITY);
    // Below 1, a scale near 0 about any one number seen twice outweighs all the
    // rest (Fernández & Steel 1999); above, the posterior is proper wherever the
    // estimate exists.
    let asked = |text: &str| {
        text.split(';')
            .any(|part| part.trim().starts_with("degrees"))
    };
    let degrees = match &request.prior {
        Some(PriorChoice::Text(text)) if asked(text) => ("degrees", infinite, "1", false),
        _ => (
            "degrees",
            (1.0, f64::INFINITY),
            "gamma(2,0.1) if x > 1 else 0",
            true,
        ),
    };
    let mut estimate = sampled::report::<StudentT>(
        source,
        request,
        &[
            ("location", (f64::NEG_INFINITY, f64::INFINITY), "1", false),
            ("scale", infinite, "1/x", false),
            degrees,
        ],
        "a number",
        |x| StudentT::new(x[0], x[1], x[2]),
        |cells| {
            let points = PointStats::new(cells.iter().copied());
            let deviation = points.variance().sqrt();
            vec![
                points.mean(),
                if deviation > 0.0 { deviation } else { 1.0 },
                5.0,
            ]
        },
    )?;
    let degrees = estimate
        .maximum_likelihood
        .as_ref()
        .and_then(|own| own.parameters.get("degrees"));
    if degrees.is_some_and(|degrees| degrees >= StudentT::MOST_DEGREES) {
        let note = "the likelihood grows with the degrees of freedom: the rows look Gaussian";
        estimate.notes.push(note.into());
    }
    Ok(estimate)
}

pub(super) fn von_mises(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut stats = VonMisesStats::default();
    each(source, anything, |row, weight| {
        least = least.min(row[0]);
        most = most.max(row[0]);
        VonMises::see(&mut std::iter::once((row[0], weight)), &mut stats);
    })?;
    // The circle is cut open opposite of where the rows point.
    let towards = stats.sines.atan2(stats.cosines);
    let turn = format!("uniform({},{})", towards - PI, towards + PI);
    let mut estimate = sampled::report::<VonMises>(
        source,
        request,
        &[
            ("direction", (f64::NEG_INFINITY, f64::INFINITY), &turn, true),
            (
                "concentration",
                (0.0, f64::INFINITY),
                "log_normal(0,4)",
                true,
            ),
        ],
        "a number",
        |x| VonMises::new(x[0], x[1]),
        |_| vec![0.0, 1.0],
    )?;
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
