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
    /// The seed of posteriors that are sampled.
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
        let known = self.known.iter().find(|(known, _)| known == name);
        known.map(|(_, value)| *value)
    }

    /// An error if the level is out of range, or a known parameter is not one of the family or is
    /// given twice.
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
                .any(|known| known.0 == self.known[*at].0)
        };
        if let Some(at) = (0..self.known.len()).find(twice) {
            return Err(Error::parameter(format!(
                "the value of \"{}\" is given twice",
                self.known[at].0
            )));
        }
        let unknown = |(known, _): &&(String, f64)| !names.contains(&known.as_str());
        match self.known.iter().find(unknown) {
            None => Ok(()),
            Some((name, _)) => Err(Error::parameter(format!(
                "the family {family} does not take a known \"{name}\""
            ))
            .with_hint(match names {
                [] => "leave `known` out".to_string(),
                names => format!("it takes a known {}", names.join(" or ")),
            })),
        }
    }
}

/// The kind as which the columns of a family are read; `None` for a family that takes both numbers
/// and columns of two levels.
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
            "the family {} needs one column, not {}",
            family.name,
            fields.len()
        ))
        .with_hint("choose a column with `column`"));
    }
    (family.estimate)(source, request)
}

#[cfg(test)]
mod tests;
