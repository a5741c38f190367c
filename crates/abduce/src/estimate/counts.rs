//! Families of binary columns and of counts.

use super::Request;
use super::conjugate::{Maximum, Model, no_unbiased_estimate, report, report_with_statistics};
use super::report::{Confidence, Estimate, Numbers};
use super::rows::{error_unless, mean};
use super::sampled::{self, Range, Sampled, Slot};
use crate::bayes::{clopper_pearson, hoeffding};
use crate::data::{Field, Source, is_no};
use crate::family::{
    Bernoulli, BernoulliProbability, BernoulliStats, Binomial, BinomialProbability, BinomialStats,
    Conjugate, Family, Geometric, GeometricStats, NegativeBinomial, NegativeBinomialProbability,
    Poisson, PoissonRate, Scalar, ZeroInflatedPoisson, is_count, nothing_seen,
};
use crate::{Error, Result};
use std::cell::Cell;

const COUNT: &str = "a whole number from 0 up";

pub(super) fn count(x: f64) -> Option<String> {
    error_unless(is_count(x), x, COUNT)
}

/// Adds frequentist intervals, whose coverage is guaranteed for every true probability.
fn add_coverage_intervals(estimate: &mut Estimate, successes: f64, failures: f64) -> Result<()> {
    let level = estimate.level;
    let exact = clopper_pearson(successes, failures, level)?;
    let plain = hoeffding(successes, failures, 0.0, level)?;
    let smoothed = hoeffding(successes, failures, 1.0, level)?;
    let confidence = |method: &str, interval| Confidence {
        method: method.into(),
        interval,
    };
    estimate.frequentist = vec![
        confidence("Clopper-Pearson", exact),
        confidence("Hoeffding", plain),
        confidence("Hoeffding, of the smoothed proportion", smoothed),
    ];
    Ok(())
}

/// Added to the codes of a Bernoulli column: where only one level occurs, its code 0 means
/// success, unless the level is a word for no.
pub(super) fn bernoulli_shift(field: &Field) -> f64 {
    let success = match field.levels.as_slice() {
        [only] => field.kind.is_coded() && !is_no(only),
        _ => false,
    };
    f64::from(u8::from(success))
}

pub(super) fn bernoulli(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let field = &source.schema().fields[0];
    let coded = field.kind.is_coded();
    if coded && field.levels.len() > 2 {
        return Err(Error::data(format!(
            "{} levels are too many for a Bernoulli",
            field.levels.len()
        ))
        .at_column(&field.name)
        .with_hint("use the family categorical"));
    }
    // The probability is that of the second level, or of the only one.
    let names = match field.levels.as_slice() {
        [no, yes] => [no.clone(), yes.clone()],
        [only] if is_no(only) => [only.clone(), "anything else".into()],
        [only] => ["anything else".into(), only.clone()],
        _ => ["0".into(), "1".into()],
    };
    let shift = bernoulli_shift(field);
    let maximum = |stats: &BernoulliStats| {
        let fitted = Bernoulli::mle(stats)?;
        let p = fitted.probability;
        let error = (p * (1.0 - p) / (stats.successes + stats.failures)).sqrt();
        let maximum = Maximum::of(&fitted, fitted.log_likelihood(stats));
        let mut maximum = maximum.with_errors([("probability", error)]);
        maximum.ruled_out = [(fitted.probability, 1), (1.0 - fitted.probability, 0)]
            .into_iter()
            .filter(|(probability, _)| *probability == 0.0)
            .map(|(_, outcome)| names[outcome].clone())
            .collect();
        Ok(maximum)
    };
    let model = Model {
        family: "bernoulli",
        pair: BernoulliProbability,
        default: "jeffreys",
        wrong: &zero_or_one,
        maximum: &maximum,
        unbiased: &no_unbiased_estimate,
        predictive: "bernoulli",
        shift,
    };
    let (mut estimate, stats) = report_with_statistics(model, source, request)?;
    add_coverage_intervals(&mut estimate, stats.successes, stats.failures)?;
    if coded && names != ["0", "1"] {
        estimate
            .notes
            .push(format!("the probability is that of \"{}\"", names[1]));
    }
    Ok(estimate)
}

pub(super) fn zero_or_one(x: f64) -> Option<String> {
    error_unless(x == 0.0 || x == 1.0, x, "0 or 1")
}

/// The number of trials, the same for all rows or from a second column.
fn trials(source: &dyn Source, request: &Request) -> Result<Option<u64>> {
    let columns = source.schema().fields.len();
    match (request.known("trials"), columns) {
        (Some(trials), 1) if is_count(trials) && trials <= MAX_TRIALS => Ok(Some(trials as u64)),
        (Some(trials), 1) => Err(Error::parameter(format!(
            "the number of trials must be a whole number up to 1e15, not {trials}"
        ))),
        (None, 2) => Ok(None),
        (None, 1) => Err(
            Error::parameter("the number of trials of a binomial must be known")
                .with_hint("pass `trials=10`, or the column that holds it: `trials=COL`"),
        ),
        _ => Err(Error::parameter(
            "a binomial needs a column of successes, and a column of trials unless their number is known",
        )),
    }
}

const MAX_TRIALS: f64 = 1e15;

/// The error message for successes and, where every row has its own, trials.
fn binomial_domain(trials: Option<u64>) -> impl Fn(f64) -> Option<String> {
    // The values of a row come one after the other, successes first.
    let successes = Cell::new(None);
    move |x: f64| match (trials, successes.take()) {
        (Some(trials), _) => {
            let what = format!("a whole number from 0 to {trials}");
            error_unless(Binomial::supports_in(trials, x), x, &what)
        }
        (None, None) => {
            successes.set(Some(x));
            count(x)
        }
        (None, Some(successes)) => {
            let what = format!("a whole number of trials for {successes} successes");
            let possible = is_count(x) && (successes..=MAX_TRIALS).contains(&x);
            error_unless(possible, x, &what)
        }
    }
}

pub(super) fn binomial(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let known = trials(source, request)?;
    let trials = match known {
        Some(trials) => trials,
        // The next row is assumed to have the mean number of trials.
        None => mean(source, binomial_domain(None), |row| row[1])?.round() as u64,
    };
    let maximum = |stats: &BinomialStats| binomial_maximum(trials, stats);
    let model = Model {
        family: "binomial",
        pair: BinomialProbability { trials },
        default: "jeffreys",
        wrong: &binomial_domain(known),
        maximum: &maximum,
        unbiased: &no_unbiased_estimate,
        predictive: "beta-binomial",
        shift: 0.0,
    };
    let (mut estimate, stats) = report_with_statistics(model, source, request)?;
    add_coverage_intervals(&mut estimate, stats.successes, stats.failures)?;
    if known.is_none() {
        estimate.notes.push(format!(
            "the next row is taken to have {trials} trials, as many as the rows have on average"
        ));
        // Each row has another distribution.
        estimate.fitted = None;
        estimate.predicted = None;
        estimate.risk.entropy = None;
    }
    Ok(estimate)
}

fn binomial_maximum(trials: u64, stats: &BinomialStats) -> Result<Maximum> {
    let total = stats.successes + stats.failures;
    if total <= 0.0 {
        return Err(nothing_seen());
    }
    let probability = stats.successes / total;
    let fitted = Binomial {
        trials,
        probability,
    };
    let log_likelihood = BinomialProbability { trials }.log_likelihood(&[probability], stats);
    let error = (probability * (1.0 - probability) / total).sqrt();
    let maximum = Maximum::of(&fitted, log_likelihood);
    let mut maximum = maximum.with_errors([("probability", error)]);
    maximum.parameters = Numbers(vec![("probability".into(), probability)]);
    if probability == 0.0 {
        maximum.ruled_out.push("a success".into());
    } else if probability == 1.0 {
        maximum.ruled_out.push("a failure".into());
    }
    Ok(maximum)
}

/// The outcomes that the estimate rules out if all counts are 0.
fn above_zero(zeros: bool) -> Vec<String> {
    let counts = "every count above 0".to_string();
    zeros.then_some(counts).into_iter().collect()
}

pub(super) fn geometric(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "geometric",
        pair: NegativeBinomialProbability { size: 1.0 },
        default: "uniform",
        wrong: &count,
        maximum: &|stats| {
            let sums = GeometricStats {
                weight: stats.weight,
                sum: stats.failures,
            };
            let fitted = Geometric::estimate(&sums)?;
            let p = fitted.probability;
            let error = p * ((1.0 - p) / stats.weight).sqrt();
            let maximum = Maximum::of(&fitted, fitted.log_likelihood_of(&sums));
            let mut maximum = maximum.with_errors([("probability", error)]);
            maximum.ruled_out = above_zero(fitted.probability == 1.0);
            Ok(maximum)
        },
        unbiased: &no_unbiased_estimate,
        predictive: "beta-geometric",
        shift: 0.0,
    };
    let mut estimate = report(model, source, request)?;
    estimate
        .notes
        .push("counts are failures before the first success, from 0 up".into());
    Ok(estimate)
}

pub(super) fn negative_binomial(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let Some(size) = request.known("size") else {
        return negative_binomial_of_unknown_size(source, request);
    };
    if !(size > 0.0 && size.is_finite()) {
        return Err(Error::parameter(format!(
            "the size must be positive, not {size}"
        )));
    }
    let model = Model {
        family: "negative-binomial",
        pair: NegativeBinomialProbability { size },
        default: "uniform",
        wrong: &count,
        maximum: &|stats| {
            let successes = size * stats.weight;
            if successes <= 0.0 {
                return Err(nothing_seen());
            }
            let fitted = NegativeBinomial::new(size, successes / (successes + stats.failures))?;
            let p = fitted.probability;
            let pair = NegativeBinomialProbability { size };
            let error = p * ((1.0 - p) / successes).sqrt();
            let maximum = Maximum::of(&fitted, pair.log_likelihood(&[p], stats));
            let mut maximum = maximum.with_errors([("probability", error)]);
            maximum.ruled_out = above_zero(p == 1.0);
            Ok(maximum)
        },
        unbiased: &no_unbiased_estimate,
        predictive: "beta-negative-binomial",
        shift: 0.0,
    };
    report(model, source, request)
}

fn negative_binomial_of_unknown_size(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let family = Sampled {
        slots: &[
            Slot {
                name: "size",
                range: Range::Above(0.0),
                most: NegativeBinomial::MAX_SIZE,
                prior: "log_normal(0,4)",
            },
            Slot {
                name: "probability",
                range: Range::Share,
                most: f64::INFINITY,
                prior: "uniform(0,1)",
            },
        ],
        domain: COUNT,
        build: |x| NegativeBinomial::new(x[0], x[1]),
        wide: |_| vec![1.0, 0.5],
        improper: None,
        average: sampled::averaged,
    };
    let mut estimate = sampled::report(source, request, &family)?;
    let maximum = estimate.maximum_likelihood.as_ref();
    let fitted = |name: &str| maximum.and_then(|maximum| maximum.parameters.get(name));
    let (size, probability) = (fitted("size"), fitted("probability"));
    if size.is_some_and(|size| size >= NegativeBinomial::MAX_SIZE) {
        let note = "the likelihood grows with the size without bound: the counts are no more \
                    spread than a Poisson's, and the ML estimate tends to a Poisson";
        estimate.notes.push(note.into());
    }
    estimate.risk.ruled_out = above_zero(probability == Some(1.0));
    Ok(estimate)
}

pub(super) fn poisson(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let model = Model {
        family: "poisson",
        pair: PoissonRate,
        default: "jeffreys",
        wrong: &count,
        maximum: &|stats| {
            let fitted = Poisson::mle(stats)?;
            let error = (fitted.rate / stats.weight).sqrt();
            let maximum = Maximum::of(&fitted, fitted.log_likelihood(stats));
            let mut maximum = maximum.with_errors([("rate", error)]);
            maximum.ruled_out = above_zero(fitted.rate == 0.0);
            Ok(maximum)
        },
        unbiased: &no_unbiased_estimate,
        predictive: "negative-binomial",
        shift: 0.0,
    };
    report(model, source, request)
}

pub(super) fn zero_inflated_poisson(source: &dyn Source, request: &Request) -> Result<Estimate> {
    let family = Sampled {
        slots: &[
            Slot {
                name: "inflation",
                range: Range::Share,
                most: f64::INFINITY,
                prior: "uniform(0,1)",
            },
            Slot {
                name: "rate",
                range: Range::Above(0.0),
                most: f64::INFINITY,
                prior: "x^-0.5",
            },
        ],
        domain: COUNT,
        build: |x| ZeroInflatedPoisson::new(x[0], x[1]),
        wide: |_| vec![0.5, 1.0],
        improper: None,
        average: sampled::averaged,
    };
    sampled::report(source, request, &family)
}
