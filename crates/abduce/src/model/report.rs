//! The part of a fit's report that all models have in common.

use crate::Result;
use crate::validate::{countable, not_negative, number_or_infinity, number_or_minus_infinity};
use serde::{Deserialize, Serialize};

/// How a fit went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// The number of rows.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// The log-likelihood of the rows, or the figure that takes its place; −∞ where the model
    /// has no densities.
    #[serde(deserialize_with = "number_or_minus_infinity")]
    pub log_likelihood: f64,
    /// What `log_likelihood` is; the information criteria are of the same. Files of early
    /// versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_likelihood_of: Option<LogLikelihoodOf>,
    /// The Bayesian information criterion; less is better. Not finite where a model has none.
    #[serde(deserialize_with = "number_or_infinity")]
    pub bic: f64,
    /// Akaike's information criterion; less is better.
    #[serde(deserialize_with = "number_or_infinity")]
    pub aic: f64,
    /// The number of free parameters.
    pub parameters: usize,
    /// The number of iterations.
    pub iterations: usize,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether the objective never fell.
    pub monotone: bool,
    /// Log-likelihoods before each iteration and at the end; for k-means, inertias.
    pub trace: Vec<Option<f64>>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl FitReport {
    /// Checks a report that was read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        countable("fit.rows", self.rows)?;
        countable("fit.parameters", self.parameters as u64)?;
        countable("fit.iterations", self.iterations as u64)?;
        not_negative("fit.weight", [&self.weight])
    }

    /// An information criterion of a model: the penalty per free parameter minus twice the
    /// log-likelihood.
    pub(crate) fn criterion(log_likelihood: f64, parameters: usize, penalty: f64) -> f64 {
        penalty * parameters as f64 - 2.0 * log_likelihood
    }
}

/// Numbers for a file, in which only finite ones can be written.
pub(crate) fn finite(numbers: &[f64]) -> Vec<Option<f64>> {
    let numbers = numbers.iter();
    numbers.map(|x| x.is_finite().then_some(*x)).collect()
}

/// What the log-likelihood of a report is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLikelihoodOf {
    /// The log-likelihood of all rows.
    #[default]
    Rows,
    /// A sum over the rows in which unlabelled rows have another weight than labelled ones, or
    /// none.
    Weighted,
    /// A lower bound of the log-likelihood: the expected values of missing cells and labels are
    /// those of earlier parameters.
    Bound,
}

impl LogLikelihoodOf {
    /// A remark to print beside the figure, if it is not the log-likelihood of the rows.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            LogLikelihoodOf::Rows => None,
            LogLikelihoodOf::Weighted => Some("unlabelled rows weighted"),
            LogLikelihoodOf::Bound => Some("lower bound"),
        }
    }
}
