//! The report of an estimate, ready to be printed or written as JSON.

use super::rows::Seen;
use crate::family::Univariate;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// Named numbers, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(pub Vec<(String, f64)>);

impl Numbers {
    /// Names with their numbers.
    pub fn new(names: &[String], values: impl IntoIterator<Item = f64>) -> Numbers {
        Numbers(names.iter().cloned().zip(values).collect())
    }

    /// Every number in the serialised form of a value, by the name of its field.
    pub fn of(value: &impl Serialize) -> Numbers {
        fn walk(name: &str, value: &serde_json::Value, into: &mut Vec<(String, f64)>) {
            match value {
                serde_json::Value::Number(number) => {
                    into.extend(number.as_f64().map(|x| (name.to_string(), x)));
                }
                serde_json::Value::Object(fields) => {
                    for (key, value) in fields {
                        walk(key, value, into);
                    }
                }
                serde_json::Value::Array(items) => {
                    for (i, value) in items.iter().enumerate() {
                        walk(&format!("{name}[{}]", i + 1), value, into);
                    }
                }
                // Infinity is written as null.
                serde_json::Value::Null => into.push((name.to_string(), f64::INFINITY)),
                _ => {}
            }
        }
        let mut into = Vec::new();
        let value = serde_json::to_value(value).unwrap_or_default();
        walk("", &value, &mut into);
        Numbers(into)
    }

    /// The number of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let entry = self.0.iter().find(|(key, _)| key == name);
        entry.map(|(_, value)| *value)
    }
}

impl Numbers {
    /// The numbers of each name, those of `name[1]`, `name[2]`, … together.
    pub fn grouped(&self) -> Vec<(&str, Vec<f64>)> {
        let mut groups: Vec<(&str, Vec<f64>)> = Vec::new();
        for (name, value) in &self.0 {
            match (numbered(name), groups.last_mut()) {
                (Some(stem), Some((last, values))) if *last == stem => values.push(*value),
                (stem, _) => groups.push((stem.unwrap_or(name), vec![*value])),
            }
        }
        groups
    }
}

/// The name of the list to which `name[2]` belongs.
fn numbered(name: &str) -> Option<&str> {
    let (stem, place) = name.strip_suffix(']')?.rsplit_once('[')?;
    let whole = !place.is_empty() && place.bytes().all(|b| b.is_ascii_digit());
    whole.then(|| stem.split('[').next().unwrap_or(stem))
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Members of a list are serialised together.
fn with_lists<S: Serializer>(numbers: &Numbers, to: S) -> Result<S::Ok, S::Error> {
    let groups = numbers.grouped();
    let mut map = to.serialize_map(Some(groups.len()))?;
    for (name, values) in groups {
        match (values.as_slice(), numbers.get(name)) {
            ([value], Some(_)) => map.serialize_entry(name, value)?,
            (values, _) => map.serialize_entry(name, values)?,
        }
    }
    map.end()
}

/// A distribution: its name and parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Described {
    /// The name.
    pub name: String,
    /// Its parameters.
    #[serde(serialize_with = "with_lists")]
    pub parameters: Numbers,
}

/// A point estimate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The parameters.
    pub parameters: Numbers,
    /// Their standard errors, from the observed information; those of parameters at a
    /// boundary are left out.
    pub standard_errors: Numbers,
    /// The log-likelihood of the rows under them.
    pub log_likelihood: f64,
}

/// Credible intervals of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The parameter, or a quantity derived from it.
    pub parameter: String,
    /// The interval that leaves out the same probability on either side.
    pub equal_tailed: (f64, f64),
    /// The shortest interval: of a posterior with one mode, the region of highest density.
    pub shortest: (f64, f64),
}

impl Described {
    /// A distribution with a name alone.
    pub(super) fn named(name: impl Into<String>) -> Described {
        Described {
            name: name.into(),
            parameters: Numbers::default(),
        }
    }

    /// A distribution with its parameters.
    pub fn of(name: impl Into<String>, distribution: &impl Serialize) -> Described {
        Described {
            name: name.into(),
            parameters: Numbers::of(distribution),
        }
    }
}

impl Interval {
    /// The intervals of a distribution.
    pub fn of(parameter: impl Into<String>, posterior: &dyn Univariate, level: f64) -> Interval {
        Interval {
            parameter: parameter.into(),
            equal_tailed: posterior.equal_tailed(level),
            shortest: posterior.highest_density(level),
        }
    }
}

/// A confidence interval, which covers any true value with at least the given probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Confidence {
    /// The name of the method.
    pub method: String,
    /// Its ends.
    pub interval: (f64, f64),
}

/// The probability that a parameter exceeds a number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exceedance {
    /// The parameter, or a quantity derived from it.
    pub parameter: String,
    /// The number.
    pub value: f64,
    /// The probability.
    pub probability: f64,
}

/// The prediction of the next row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The distribution.
    pub distribution: Described,
    /// Its mean, where there is one.
    pub mean: Option<f64>,
    /// Its standard deviation, where there is one.
    pub deviation: Option<f64>,
    /// The interval that leaves out the same probability on either side.
    pub interval: Option<(f64, f64)>,
    /// The probability of each level, for families over levels.
    pub probabilities: Option<Numbers>,
}

impl Prediction {
    /// The prediction of a distribution that is not of one number.
    pub fn named(distribution: Described) -> Prediction {
        Prediction {
            distribution,
            mean: None,
            deviation: None,
            interval: None,
            probabilities: None,
        }
    }

    /// The prediction of a distribution of one number.
    pub fn of(distribution: Described, predictive: &dyn Univariate, level: f64) -> Prediction {
        Prediction {
            distribution,
            mean: predictive.mean(),
            deviation: predictive.variance().map(f64::sqrt),
            interval: Some(predictive.equal_tailed(level)),
            probabilities: None,
        }
    }
}

/// Monte Carlo standard errors of the figures of a sampled posterior: how much they would differ
/// with other draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonteCarlo {
    /// The number of draws.
    pub draws: usize,
    /// The number of equally weighted draws they are worth.
    pub effective_sample_size: f64,
    /// The standard error of each posterior mean.
    pub mean: Numbers,
    /// The standard deviation of each parameter.
    pub posterior_deviation: Numbers,
    /// The standard error of each standard deviation.
    pub deviation: Numbers,
    /// The standard errors of the ends of the equal-tailed intervals, by parameter.
    pub intervals: Vec<(String, (f64, f64))>,
    /// The standard error of the log-evidence.
    pub log_evidence: Option<f64>,
    /// The standard error of the predictive mean.
    pub predictive_mean: Option<f64>,
    /// The standard error of the predictive standard deviation.
    pub predictive_deviation: Option<f64>,
    /// The standard errors of the ends of the predictive interval, for families
    /// with a density.
    pub predictive_interval: Option<(f64, f64)>,
}

/// The risk of the estimates, in nats per row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RiskReport {
    /// The log-loss of the maximum-likelihood estimate on the rows.
    pub log_loss: Option<f64>,
    /// The entropy of the maximum-likelihood estimate.
    pub entropy: Option<f64>,
    /// Possible outcomes that the maximum-likelihood estimate gives probability 0: its risk is
    /// infinite where they occur.
    pub ruled_out: Vec<String>,
}

/// The report of an estimate.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// The family.
    pub family: String,
    /// The rows seen.
    pub rows: u64,
    /// The rows left out because of missing values.
    pub hidden: u64,
    /// The total weight of the rows seen.
    pub weight: f64,
    /// Kish's effective sample size, (Σ w)² / Σ w²: the rows where all weigh the same.
    pub kish_sample_size: f64,
    /// The maximum-likelihood estimate, where there is one.
    pub maximum_likelihood: Option<Point>,
    /// Why there is none.
    pub no_maximum: Option<String>,
    /// Unbiased estimates of the parameters whose maximum-likelihood estimate is biased.
    pub unbiased: Option<Numbers>,
    /// The prior.
    pub prior: Described,
    /// Whether the prior integrates; `None` if that could not be determined.
    pub proper: Option<bool>,
    /// The posterior, where it is a named distribution.
    pub posterior: Option<Described>,
    /// The method: `conjugate`, `quadrature`, `importance sampling`, or `none` with the reason.
    pub method: String,
    /// The mode of the posterior.
    pub map: Option<Numbers>,
    /// The mean of the posterior.
    pub mean: Option<Numbers>,
    /// The probability of the intervals.
    pub level: f64,
    /// Credible intervals.
    pub intervals: Vec<Interval>,
    /// Probabilities that parameters exceed numbers.
    pub above: Vec<Exceedance>,
    /// Confidence intervals with guaranteed coverage.
    pub frequentist: Vec<Confidence>,
    /// The prediction of the next row.
    pub predictive: Option<Prediction>,
    /// The logarithm of the evidence p(rows); there is none under an improper prior.
    pub log_evidence: Option<f64>,
    /// Monte Carlo standard errors, where the posterior was sampled.
    pub monte_carlo: Option<MonteCarlo>,
    /// The risk of the estimates.
    pub risk: RiskReport,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The maximum-likelihood estimate as a distribution, where rows are single numbers.
    #[serde(skip)]
    pub fitted: Option<Arc<dyn Univariate>>,
    /// The prediction as a distribution, where rows are single numbers.
    #[serde(skip)]
    pub predicted: Option<Arc<dyn Univariate>>,
}

impl Estimate {
    /// The report of rows, with their counts alone.
    pub(super) fn of_rows(family: &str, seen: Seen, level: f64) -> Estimate {
        Estimate {
            family: family.into(),
            rows: seen.rows,
            hidden: seen.hidden,
            weight: seen.weight,
            kish_sample_size: seen.kish_sample_size(),
            maximum_likelihood: None,
            no_maximum: None,
            unbiased: None,
            prior: Described::named(""),
            proper: Some(true),
            posterior: None,
            method: "conjugate".into(),
            map: None,
            mean: None,
            level,
            intervals: Vec::new(),
            above: Vec::new(),
            frequentist: Vec::new(),
            predictive: None,
            log_evidence: None,
            monte_carlo: None,
            risk: RiskReport::default(),
            notes: Vec::new(),
            fitted: None,
            predicted: None,
        }
    }
}
