//! Estimation of one family from rows: the maximum-likelihood estimate, the posterior with its
//! mode, mean and intervals, the prediction of the next row, the evidence and the risk. The list
//! in `families.rs` names every family with its models.

mod conjugate;
mod counts;
mod families;
mod levels;
mod numbers;
mod prior;
mod report;
mod risk;
mod rows;
mod sampled;
mod standard_errors;
mod together;

pub use families::{described_families, families};
pub use prior::PriorChoice;
pub use report::{
    Confidence, Described, Estimate, Exceedance, Interval, MonteCarlo, Numbers, Point, Prediction,
    RiskReport,
};
pub use risk::{TestRisk, TrueRisk};

use crate::data::{Kind, Source};
use crate::{Error, Result};

/// Options of an estimate.
#[derive(Debug)]
pub struct Request {
    /// The prior; without one, a non-informative one that the report names.
    pub prior: Option<PriorChoice>,
    /// Parameters that are known, by name.
    pub known: Vec<(String, f64)>,
    /// The probability of the intervals.
    pub level: f64,
    /// Numbers for which the probability that a parameter exceeds them is reported; the parameter
    /// may be left out where there is only one.
    pub above: Vec<(Option<String>, f64)>,
    /// Shifts the points of posteriors that are sampled.
    pub seed: u64,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            prior: None,
            known: Vec::new(),
            level: 0.95,
            above: Vec::new(),
            seed: 0,
        }
    }
}

impl Request {
    /// A known parameter.
    fn known(&self, name: &str) -> Option<f64> {
        let own = self.known.iter().find(|(own, _)| own == name);
        own.map(|(_, value)| *value)
    }

    /// Refuses known parameters that a model does not have.
    fn check(&self, family: &str, names: &[&str]) -> Result<()> {
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Error::parameter(format!(
                "the level must be between 0 and 1, not {}",
                self.level
            )));
        }
        let twice = |at: &usize| {
            self.known[..*at]
                .iter()
                .any(|own| own.0 == self.known[*at].0)
        };
        if let Some(at) = (0..self.known.len()).find(twice) {
            return Err(Error::parameter(format!(
                "\"{}\" is said to be known twice",
                self.known[at].0
            )));
        }
        let strange = |(own, _): &&(String, f64)| !names.contains(&own.as_str());
        match self.known.iter().find(strange) {
            None => Ok(()),
            Some((name, _)) => Err(Error::parameter(format!(
                "\"{name}\" cannot be known beforehand of the family {family}"
            ))
            .with_hint(match names {
                [] => "leave `known` out".to_string(),
                names => format!("what can be known is {}", names.join(", ")),
            })),
        }
    }
}

/// The kind that the columns of a family must be read as; `None` where any
/// column of two levels will do.
///
/// # Errors
/// If there is no such family.
pub fn kind_of(family: &str) -> Result<Option<Kind>> {
    Ok(families::find(family)?.kind)
}

/// Estimates a family from the columns of a source, all of them.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::estimate::{PriorChoice, Request, estimate};
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let column = Column::from_numbers([3.0, 5.0, 4.0].map(Some));
/// let table = Table::new(schema, vec![column], None)?;
/// let request = Request {
///     prior: Some(PriorChoice::Text("gamma(2,1)".into())),
///     ..Request::default()
/// };
/// let poisson = estimate("poisson", &table, &request)?;
/// assert_eq!(poisson.maximum_likelihood.unwrap().parameters.get("rate"), Some(4.0));
/// assert_eq!(poisson.mean.unwrap().get("rate"), Some(3.5));
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If there is no such family, a row is impossible under it, or there is nothing to estimate.
pub fn estimate(family: &str, source: &dyn Source, request: &Request) -> Result<Estimate> {
    let family = families::find(family)?;
    request.check(family.name, family.known)?;
    let fields = &source.schema().fields;
    if fields.is_empty() || (fields.len() > 1 && !family.several) {
        return Err(Error::parameter(format!(
            "the family {} is of one column, and there are {}",
            family.name,
            fields.len()
        ))
        .with_hint("choose one with `column`"));
    }
    (family.estimate)(source, request)
}

#[cfg(test)]
mod tests;
