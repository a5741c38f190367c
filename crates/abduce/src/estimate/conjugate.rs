//! The report of a family with a conjugate prior, or with any prior of its only unknown
//! parameter.

use super::Request;
use super::prior::{Meaning, meaning};
use super::report::{
    Described, Estimate, Exceedance, Interval, Numbers, Point, Prediction, RiskReport,
};
use super::rows::{Seen, for_each_row};
use super::standard_errors;
use crate::bayes::{Curve, QuadraturePosterior};
use crate::data::Source;
use crate::family::{Bernoulli, Conjugate, Prior, Univariate};
use crate::{Error, ErrorKind, Result};
use serde::Serialize;
use std::sync::Arc;

/// The beginning of the method of an estimate without a posterior; the reason follows it.
const NO_POSTERIOR: &str = "none: ";

/// A family with its conjugate pair, and what its report needs besides.
pub(super) struct Model<'a, C: Conjugate> {
    pub family: &'static str,
    pub pair: C,
    /// The prior where none is given.
    pub default: &'static str,
    /// The error message for an impossible value, if it is one.
    pub wrong: &'a dyn Fn(f64) -> Option<String>,
    /// The maximum-likelihood estimate, with the family's own parameters.
    pub maximum: &'a dyn Fn(&C::Stats) -> Result<Maximum>,
    pub unbiased: &'a dyn Fn(&C::Stats) -> Option<Numbers>,
    /// The name of the predictive distribution.
    pub predictive: &'static str,
    /// Added to every value; see [`bernoulli_shift`](super::counts::bernoulli_shift).
    pub shift: f64,
}

/// Rows to be observed together.
#[derive(Default)]
struct Buffer {
    cells: Vec<f64>,
    weights: Vec<f64>,
}

impl Buffer {
    const ROWS: usize = 1 << 16;

    fn push(&mut self, row: &[f64], shift: f64, weight: f64) {
        self.cells.extend(row.iter().map(|cell| cell + shift));
        self.weights.push(weight);
    }

    fn flush<C: Conjugate>(&mut self, pair: &C, stats: &mut C::Stats) {
        pair.observe(&self.cells, &self.weights, stats);
        self.cells.clear();
        self.weights.clear();
    }
}

/// A maximum-likelihood estimate.
pub(super) struct Maximum {
    pub parameters: Numbers,
    pub log_likelihood: f64,
    pub fitted: Option<Arc<dyn Univariate>>,
    pub ruled_out: Vec<String>,
    /// The standard errors of the parameters.
    pub errors: Numbers,
}

impl Maximum {
    /// The estimate of a distribution of one number.
    pub fn of<D: Univariate + Clone + Serialize + 'static>(
        fitted: &D,
        log_likelihood: f64,
    ) -> Maximum {
        Maximum {
            parameters: Numbers::of(fitted),
            log_likelihood,
            fitted: Some(Arc::new(fitted.clone())),
            ruled_out: Vec::new(),
            errors: Numbers::default(),
        }
    }

    /// Adds standard errors; those that are not positive, as at a boundary, are left out.
    pub fn with_errors<'a>(self, errors: impl IntoIterator<Item = (&'a str, f64)>) -> Maximum {
        Maximum {
            errors: standard_errors::named(errors),
            ..self
        }
    }
}

pub(super) fn no_unbiased_estimate<S>(_: &S) -> Option<Numbers> {
    None
}

/// An error if there are no rows.
pub(super) fn check_rows(seen: &Seen) -> Result<()> {
    if seen.rows > 0 {
        Ok(())
    } else {
        Err(Error::data("there are no rows to estimate from"))
    }
}

/// A predictive distribution that can be reported.
pub(super) trait Predicts {
    fn prediction(self, name: &str, level: f64) -> (Prediction, Option<Arc<dyn Univariate>>);
}

impl<D: Univariate + Serialize + 'static> Predicts for D {
    fn prediction(self, name: &str, level: f64) -> (Prediction, Option<Arc<dyn Univariate>>) {
        let prediction = Prediction::of(Described::of(name, &self), &self, level);
        (prediction, Some(Arc::new(self)))
    }
}

/// Reads the rows and estimates.
pub(super) fn report<C: Conjugate>(
    model: Model<C>,
    source: &dyn Source,
    request: &Request,
) -> Result<Estimate>
where
    C::Predictive: Predicts,
{
    Ok(report_with_statistics(model, source, request)?.0)
}

/// Reads the rows and reports, with the statistics of the rows.
pub(super) fn report_with_statistics<C: Conjugate>(
    model: Model<C>,
    source: &dyn Source,
    request: &Request,
) -> Result<(Estimate, C::Stats)>
where
    C::Predictive: Predicts,
{
    let mut stats = model.pair.zero();
    let mut rows = Buffer::default();
    let seen = for_each_row(source, model.wrong, |row, weight| {
        rows.push(row, model.shift, weight);
        if rows.weights.len() == Buffer::ROWS {
            rows.flush(&model.pair, &mut stats);
        }
    })?;
    rows.flush(&model.pair, &mut stats);
    let mut estimate = maximum_likelihood_report(&model, &stats, seen, request);
    match meaning(&model.pair, request.prior.as_ref(), model.default)? {
        Meaning::Conjugate(prior, text) => {
            if !prior.is_proper() || request.prior.is_none() {
                check_rows(&seen)?;
            }
            let found =
                add_conjugate_posterior(&model, &prior, &text, &stats, request, &mut estimate);
            match found {
                Err(why) if estimate.fitted.is_some() && why.kind() == ErrorKind::Numeric => {
                    no_posterior(&mut estimate, text, &why);
                }
                found => found?,
            }
        }
        Meaning::Any(curve, text) => {
            add_quadrature_posterior(model, curve, text, &stats, request, &mut estimate)?;
        }
    }
    Ok((estimate, stats))
}

/// Reports that there are too few rows for the prior.
fn no_posterior(estimate: &mut Estimate, prior: String, why: &Error) {
    estimate.method = format!("{NO_POSTERIOR}{why}");
    estimate.proper = Some(false);
    estimate.prior = Described::named(prior);
}

impl Estimate {
    /// Why there is no posterior, if there is none.
    pub fn no_posterior(&self) -> Option<&str> {
        self.method.strip_prefix(NO_POSTERIOR)
    }
}

/// The part of the report that does not depend on the prior.
fn maximum_likelihood_report<C: Conjugate>(
    model: &Model<C>,
    stats: &C::Stats,
    seen: Seen,
    request: &Request,
) -> Estimate {
    let maximum = (model.maximum)(stats);
    let (maximum, no_maximum) = match maximum {
        Ok(maximum) => (Some(maximum), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let fitted = maximum.as_ref().and_then(|maximum| maximum.fitted.clone());
    let risk = maximum
        .as_ref()
        .map_or_else(RiskReport::default, |maximum| RiskReport {
            log_loss: (seen.weight > 0.0).then(|| -maximum.log_likelihood / seen.weight + 0.0),
            entropy: maximum.fitted.as_ref().map(|fitted| fitted.entropy()),
            ruled_out: maximum.ruled_out.clone(),
        });
    Estimate {
        maximum_likelihood: maximum.map(|maximum| Point {
            parameters: maximum.parameters,
            standard_errors: maximum.errors,
            log_likelihood: maximum.log_likelihood,
        }),
        no_maximum,
        unbiased: (model.unbiased)(stats),
        risk,
        fitted,
        ..Estimate::of_rows(model.family, seen, request.level)
    }
}

/// Adds the intervals of parameters, and the requested probabilities of exceeding numbers.
fn add_intervals(
    estimate: &mut Estimate,
    parameters: Vec<(&str, &dyn Univariate)>,
    request: &Request,
) -> Result<()> {
    let interval =
        |(name, marginal): &(&str, &dyn Univariate)| Interval::of(*name, *marginal, request.level);
    estimate.intervals = parameters.iter().map(interval).collect();
    for (name, value) in &request.above {
        let requested = name.as_deref().unwrap_or(parameters[0].0);
        let Some((name, marginal)) = parameters.iter().find(|(known, _)| *known == requested)
        else {
            let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
            return Err(
                Error::parameter(format!("\"{requested}\" is not a parameter"))
                    .with_hint(format!("the parameters are {}", names.join(", "))),
            );
        };
        estimate.above.push(Exceedance {
            parameter: name.to_string(),
            value: *value,
            probability: marginal.survival(*value),
        });
    }
    Ok(())
}

fn add_conjugate_posterior<C: Conjugate>(
    model: &Model<C>,
    prior: &C::Prior,
    text: &str,
    stats: &C::Stats,
    request: &Request,
    estimate: &mut Estimate,
) -> Result<()>
where
    C::Predictive: Predicts,
{
    let pair = &model.pair;
    let names = pair.parameters();
    let posterior = pair.posterior(prior, stats)?;
    let named = |values: Option<Vec<f64>>| values.map(|values| Numbers::new(&names, values));
    estimate.proper = Some(prior.is_proper());
    estimate.prior = if prior.is_proper() {
        Described::of(C::Prior::NAME, prior)
    } else {
        Described::named(text)
    };
    estimate.posterior = Some(Described::of(C::Prior::NAME, &posterior));
    estimate.map = named(posterior.modes());
    estimate.mean = named(posterior.means());
    let level = estimate.level;
    let marginals = posterior.marginals().into_iter();
    let marginals = marginals.map(|(i, marginal)| (names[i].clone(), marginal));
    let derived = pair.derived(&posterior);
    if let Some(means) = &mut estimate.mean {
        let mean = |(name, quantity): &(String, Box<dyn Univariate>)| {
            Some((name.clone(), quantity.mean()?))
        };
        means.0.extend(derived.iter().filter_map(mean));
    }
    let all: Vec<_> = marginals.chain(derived).collect();
    let each = all
        .iter()
        .map(|(name, marginal)| (name.as_str(), marginal.as_ref()));
    add_intervals(estimate, each.collect(), request)?;
    let predictive = pair.predictive(&posterior)?;
    let (prediction, predicted) = predictive.prediction(model.predictive, level);
    estimate.predictive = Some(prediction);
    estimate.predicted = predicted;
    estimate.log_evidence = pair.log_evidence(prior, stats)?;
    Ok(())
}

fn add_quadrature_posterior<C: Conjugate>(
    model: Model<C>,
    curve: Curve,
    text: String,
    stats: &C::Stats,
    request: &Request,
    estimate: &mut Estimate,
) -> Result<()> {
    let names = model.pair.parameters();
    let bernoulli = model.family == "bernoulli";
    let family = model.family;
    let posterior = QuadraturePosterior::new(model.pair, curve, stats)?;
    let level = estimate.level;
    estimate.method = "quadrature".into();
    estimate.prior = Described::named(text);
    estimate.log_evidence = posterior.log_evidence();
    estimate.proper = posterior.is_prior_proper();
    estimate.map = Some(Numbers::new(&names, [posterior.mode()]));
    let mean = posterior.mean();
    estimate.mean = mean.map(|mean| Numbers::new(&names, [mean]));
    add_intervals(estimate, vec![(names[0].as_str(), &posterior)], request)?;
    let (prediction, predicted): (_, Option<Arc<dyn Univariate>>) = match (bernoulli, mean) {
        (true, Some(probability)) => Bernoulli { probability }.prediction("bernoulli", level),
        _ => {
            let average = Described::named(format!("{family} averaged over the posterior"));
            let predicted = posterior.predictive()?;
            (
                Prediction::of(average, &predicted, level),
                Some(Arc::new(predicted)),
            )
        }
    };
    estimate.predictive = Some(prediction);
    estimate.predicted = predicted;
    Ok(())
}
