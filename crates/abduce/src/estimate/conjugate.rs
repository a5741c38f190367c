//! The report of a model with a conjugate prior, or with any prior on its one
//! parameter.

use super::Request;
use super::prior::{Meaning, meaning};
use super::report::{
    Described, Estimate, Exceedance, Interval, Numbers, Point, Prediction, RiskReport,
};
use super::rows::{Seen, each};
use super::standard_errors;
use crate::bayes::{Curve, QuadraturePosterior};
use crate::data::Source;
use crate::family::{Bernoulli, Conjugate, Prior, Univariate};
use crate::{Error, ErrorKind, Result};
use serde::Serialize;
use std::sync::Arc;

/// How the method of an estimate without a posterior starts; the reason follows.
const NO_POSTERIOR: &str = "none: ";

/// A family with its conjugate pair, and what the report says beside it.
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
    /// Added to every value, such as to the code of an only level.
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

pub(super) fn no_bias<S>(_: &S) -> Option<Numbers> {
    None
}

/// An error if there are no rows.
pub(super) fn something_seen(seen: &Seen) -> Result<()> {
    if seen.rows > 0 {
        Ok(())
    } else {
        Err(Error::data(
            "no row is seen: there is nothing to estimate from",
        ))
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

/// Reads the rows and reports.
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
    let seen = each(source, model.wrong, |row, weight| {
        rows.push(row, model.shift, weight);
        if rows.weights.len() == Buffer::ROWS {
            rows.flush(&model.pair, &mut stats);
        }
    })?;
    rows.flush(&model.pair, &mut stats);
    let mut estimate = begun(&model, &stats, seen, request);
    match meaning(&model.pair, request.prior.as_ref(), model.default)? {
        Meaning::Conjugate(prior, text) => {
            if !prior.is_proper() || request.prior.is_none() {
                something_seen(&seen)?;
            }
            let found = by_rule(&model, &prior, &text, &stats, request, &mut estimate);
            match found {
                Err(why) if estimate.fitted.is_some() && why.kind() == ErrorKind::Numeric => {
                    no_posterior(&mut estimate, text, &why);
                }
                found => found?,
            }
        }
        Meaning::Any(curve, text) => {
            by_quadrature(model, curve, text, &stats, request, &mut estimate)?;
        }
    }
    Ok((estimate, stats))
}

/// Reports that the rows are too few for the prior.
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
fn begun<C: Conjugate>(
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
    let fitted = maximum.as_ref().and_then(|own| own.fitted.clone());
    let risk = maximum
        .as_ref()
        .map_or_else(RiskReport::default, |own| RiskReport {
            log_loss: (seen.weight > 0.0).then(|| -own.log_likelihood / seen.weight + 0.0),
            entropy: own.fitted.as_ref().map(|own| own.entropy()),
            ruled_out: own.ruled_out.clone(),
        });
    Estimate {
        maximum_likelihood: maximum.map(|own| Point {
            parameters: own.parameters,
            standard_errors: own.errors,
            log_likelihood: own.log_likelihood,
        }),
        no_maximum,
        unbiased: (model.unbiased)(stats),
        risk,
        fitted,
        ..Estimate::of_rows(model.family, seen, request.level)
    }
}

/// Adds the intervals of parameters, and how probably they exceed the numbers asked for.
fn tell(
    estimate: &mut Estimate,
    parameters: Vec<(&str, &dyn Univariate)>,
    request: &Request,
) -> Result<()> {
    let interval = |(name, own): &(&str, &dyn Univariate)| Interval::of(*name, *own, request.level);
    estimate.intervals = parameters.iter().map(interval).collect();
    for (name, value) in &request.above {
        let wanted = name.as_deref().unwrap_or(parameters[0].0);
        let Some((name, own)) = parameters.iter().find(|(own, _)| *own == wanted) else {
            let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
            return Err(Error::parameter(format!("\"{wanted}\" is not a parameter"))
                .with_hint(format!("the parameters are {}", names.join(", "))));
        };
        estimate.above.push(Exceedance {
            parameter: name.to_string(),
            value: *value,
            probability: own.survival(*value),
        });
    }
    Ok(())
}

fn by_rule<C: Conjugate>(
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
    let own = posterior.marginals().into_iter();
    let own = own.map(|(i, own)| (names[i].clone(), own));
    let derived = pair.derived(&posterior);
    if let Some(means) = &mut estimate.mean {
        let mean = |(name, own): &(String, Box<dyn Univariate>)| Some((name.clone(), own.mean()?));
        means.0.extend(derived.iter().filter_map(mean));
    }
    let all: Vec<_> = own.chain(derived).collect();
    let each = all.iter().map(|(name, own)| (name.as_str(), own.as_ref()));
    tell(estimate, each.collect(), request)?;
    let predictive = pair.predictive(&posterior)?;
    let (prediction, predicted) = predictive.prediction(model.predictive, level);
    estimate.predictive = Some(prediction);
    estimate.predicted = predicted;
    estimate.log_evidence = pair.log_evidence(prior, stats)?;
    Ok(())
}

fn by_quadrature<C: Conjugate>(
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
    tell(estimate, vec![(names[0].as_str(), &posterior)], request)?;
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
