//! The risk of an estimate: on rows it was not fitted to, and against a known true distribution.

use super::counts::bernoulli_shift;
use super::families;
use super::report::Estimate;
use super::rows::{error_unless, for_each_row};
use crate::bayes::Risk;
use crate::data::Source;
use crate::family::Univariate;
use crate::{Error, Result};
use serde::Serialize;

/// The log-loss of an estimate on rows, in nats per row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestRisk {
    /// The number of rows.
    pub rows: u64,
    /// The log-loss of the maximum-likelihood estimate; infinite if a row is impossible under it.
    pub maximum_likelihood: Option<f64>,
    /// The rows that are impossible under the maximum-likelihood estimate.
    pub impossible: u64,
    /// The log-loss of the prediction, under which no row is impossible if the prior is proper.
    pub predictive: Option<f64>,
}

/// Entropy, cross-entropy and divergence for a known true distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrueRisk {
    /// The entropy of the true distribution, the least possible risk.
    pub entropy: f64,
    /// The cross-entropy of the maximum-likelihood estimate.
    pub maximum_likelihood: Option<f64>,
    /// KL(truth ‖ maximum-likelihood estimate).
    pub divergence: Option<f64>,
    /// The cross-entropy of the prediction.
    pub predictive: Option<f64>,
    /// KL(truth ‖ prediction).
    pub predictive_divergence: Option<f64>,
}

impl Estimate {
    /// The log-loss on other rows of the same column.
    ///
    /// # Errors
    /// If rows cannot be read or are impossible under the family, or there are none.
    pub fn risk_on(&self, source: &dyn Source) -> Result<TestRisk> {
        let (mut sums, mut impossible) = ([0.0, 0.0], 0);
        let both = [&self.fitted, &self.predicted];
        let field = &source.schema().fields[0];
        let coded = field.kind.is_coded();
        let family = families::find(&self.family)?;
        let shift = if family.name == "bernoulli" {
            bernoulli_shift(field)
        } else {
            0.0
        };
        // A count can be possible for the family and still too large: more successes than trials.
        let discrete = self.predicted.as_deref().filter(|d| d.is_discrete());
        let (low, high) = discrete.map_or((f64::NEG_INFINITY, f64::INFINITY), Univariate::support);
        let outside =
            |x: f64| error_unless((low..=high).contains(&x), x, &format!("at most {high}"));
        let wrong = |x: f64| (family.domain)(x).or_else(|| outside(x));
        let seen = for_each_row(
            source,
            |x| wrong(x).filter(|_| !coded),
            |row, weight| {
                let x = row[0] + shift;
                for (sum, distribution) in sums.iter_mut().zip(both) {
                    if let Some(distribution) = distribution {
                        *sum -= weight * distribution.log_density(x);
                    }
                }
                let rules_out = |d: &dyn Univariate| d.log_density(x) == f64::NEG_INFINITY;
                impossible += u64::from(self.fitted.as_deref().is_some_and(rules_out));
            },
        )?;
        if seen.weight <= 0.0 {
            return Err(Error::data("there are no rows to test on"));
        }
        let mean = |i: usize| both[i].as_ref().map(|_| sums[i] / seen.weight + 0.0);
        Ok(TestRisk {
            rows: seen.rows,
            maximum_likelihood: mean(0),
            impossible,
            predictive: mean(1),
        })
    }

    /// The risk where rows follow a given distribution.
    pub fn risk_against(&self, truth: &dyn Univariate) -> TrueRisk {
        let risk_of = |distribution: &Option<std::sync::Arc<dyn Univariate>>| {
            distribution.as_deref().map(|d| Risk::between(truth, d))
        };
        let (fitted, predicted) = (risk_of(&self.fitted), risk_of(&self.predicted));
        TrueRisk {
            entropy: truth.entropy(),
            maximum_likelihood: fitted.map(|risk| risk.cross_entropy),
            divergence: fitted.map(|risk| risk.divergence),
            predictive: predicted.map(|risk| risk.cross_entropy),
            predictive_divergence: predicted.map(|risk| risk.divergence),
        }
    }
}
