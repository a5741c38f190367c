//! Families over levels: one column of levels, or a column of counts for every
//! level.

use super::conjugate::{Maximum, Model, Predicts, no_unbiased_estimate, report};
use super::report::{Described, Estimate, Numbers, Prediction};
use super::rows::{error_unless, mean};
use super::{Request, standard_errors};
use crate::data::Source;
use crate::family::{
    Categorical, CategoricalProbabilities, CategoricalStats, Conjugate, DirichletMultinomial,
    Domain, MultinomialProbabilities, MultinomialStats, Poisson, Univariate, nothing_seen,
};
use crate::{Error, Result};
use std::sync::Arc;

/// Replaces the names of the probabilities by those of the levels.
fn rename(estimate: &mut Estimate, levels: &[String]) {
    let numbers = |numbers: &mut Numbers| {
        let names = numbers.0.iter_mut().zip(levels);
        names.for_each(|((name, _), level)| name.clone_from(level));
    };
    estimate.map.as_mut().map(numbers);
    estimate.mean.as_mut().map(numbers);
    for interval in &mut estimate.intervals {
        let place = interval
            .parameter
            .trim_start_matches("probability[")
            .trim_end_matches(']');
        let level = place
            .parse::<usize>()
            .ok()
            .and_then(|place| levels.get(place - 1));
        interval.parameter = level.cloned().unwrap_or_default();
    }
}

/// The maximum-likelihood estimate, the shares of the counts; levels without rows are ruled out.
fn shares(
    counts: &[f64],
    levels: &[String],
    log_likelihood: impl Fn(&[f64]) -> f64,
) -> Result<Maximum> {
    let total: f64 = counts.iter().sum();
    if total <= 0.0 {
        return Err(nothing_seen());
    }
    let shares: Vec<f64> = counts.iter().map(|count| count / total).collect();
    let error = |share: &f64| (share * (1.0 - share) / total).sqrt();
    let errors = levels
        .iter()
        .map(String::as_str)
        .zip(shares.iter().map(error));
    let errors = standard_errors::named(errors);
    let unseen = levels
        .iter()
        .zip(&shares)
        .filter(|(_, share)| **share == 0.0);
    Ok(Maximum {
        parameters: Numbers::new(levels, shares.clone()),
        log_likelihood: log_likelihood(&shares),
        errors,
        ruled_out: unseen.map(|(level, _)| level.clone()).collect(),
        fitted: Some(Arc::new(Categorical {
            probabilities: shares,
        })),
    })
}

pub(super) fn categorical(source: &dyn Source, request: &Request) -> Result<Estimate> {
    if !request.above.is_empty() {
        return Err(Error::parameter(
            "`above` is not supported for families over levels",
        ));
    }
    let levels = source.schema().fields[0].levels.clone();
    if levels.is_empty() {
        return Err(Error::data("there are no rows to estimate from"));
    }
    let count = levels.len();
    let pair = CategoricalProbabilities { levels: count };
    let maximum = |stats: &CategoricalStats| {
        shares(&stats.counts, &levels, |p| pair.log_likelihood(p, stats))
    };
    let model = Model {
        family: "categorical",
        pair,
        default: "jeffreys",
        wrong: &|_| None,
        maximum: &maximum,
        unbiased: &no_unbiased_estimate,
        predictive: "categorical",
        shift: 0.0,
    };
    let mut estimate = report(model, source, request)?;
    rename(&mut estimate, &levels);
    if let Some(predictive) = &mut estimate.predictive {
        let shares = std::mem::take(&mut predictive.distribution.parameters);
        let shares = Numbers::new(&levels, shares.0.into_iter().map(|(_, share)| share));
        // The order of the codes of levels means nothing.
        *predictive = Prediction {
            probabilities: Some(shares),
            ..Prediction::named(predictive.distribution.clone())
        };
    }
    Ok(estimate)
}

impl Predicts for DirichletMultinomial {
    fn prediction(self, name: &str, _: f64) -> (Prediction, Option<Arc<dyn Univariate>>) {
        (Prediction::named(Described::of(name, &self)), None)
    }
}

pub(super) fn multinomial(source: &dyn Source, request: &Request) -> Result<Estimate> {
    if !request.above.is_empty() {
        return Err(Error::parameter(
            "`above` is not supported for families over levels",
        ));
    }
    let levels: Vec<String> = source
        .schema()
        .fields
        .iter()
        .map(|f| f.name.clone())
        .collect();
    if levels.len() < 2 {
        return Err(
            Error::parameter("a multinomial needs a column of counts for every level")
                .with_hint("name the columns with `column=a,b,c`"),
        );
    }
    let wrong = |x: f64| error_unless(Poisson::supports(x), x, "a whole number from 0 up");
    // The next row is assumed to have the mean number of trials.
    let trials = mean(source, wrong, |row| row.iter().sum())?.round() as u64;
    let pair = MultinomialProbabilities {
        levels: levels.len(),
        trials,
    };
    let maximum = |stats: &MultinomialStats| {
        shares(&stats.counts, &levels, |p| pair.log_likelihood(p, stats))
    };
    let model = Model {
        family: "multinomial",
        pair,
        default: "jeffreys",
        wrong: &wrong,
        maximum: &maximum,
        unbiased: &no_unbiased_estimate,
        predictive: "dirichlet-multinomial",
        shift: 0.0,
    };
    let mut estimate = report(model, source, request)?;
    rename(&mut estimate, &levels);
    if let (Some(predictive), Some(mean)) = (&mut estimate.predictive, &estimate.mean) {
        predictive.probabilities = Some(mean.clone());
    }
    // Rows are not single numbers, so neither can be evaluated on other rows.
    estimate.fitted = None;
    estimate.risk.entropy = None;
    Ok(estimate)
}
