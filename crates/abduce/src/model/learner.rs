//! A model to be fitted: its name, its specification and its options.

use crate::data::Source;
use crate::model::{AnyModel, FitReport, FittedModel};
use crate::{Control, Result};

/// A model that can be fitted, with all options of its fit.
pub trait Learner: Send + Sync {
    /// The name that users type.
    const NAME: &'static str;
    /// What the model is, in a few words.
    const ABOUT: &'static str;
    /// The kind of model that a fit gives.
    type Model: FittedModel;

    /// The column of labels, if there is one.
    fn target(&self) -> Option<&str> {
        None
    }

    /// Whether the model finds clusters in rows without labels.
    fn finds_clusters(&self) -> bool {
        false
    }

    /// Fits the model to rows.
    ///
    /// # Errors
    /// If the options do not fit the rows, or the rows cannot be read.
    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned>;
}

/// A fitted model and how its fit went.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The common part of the report.
    pub report: FitReport,
    /// The model, with the details of its fit.
    pub model: AnyModel,
    /// Whether the caller stopped the fit.
    pub interrupted: bool,
    /// The objective that each start reached, on a sample of the rows where there are many.
    pub restarts: Vec<f64>,
    /// The lower bound of the log-likelihood (ELBO) after each M-step.
    pub bounds: Vec<f64>,
}

/// A [`Learner`] whose type is known at run time only.
pub trait AnyLearner: Send + Sync {
    /// The name that users type.
    fn name(&self) -> &'static str;

    /// The column of labels, if there is one.
    fn target(&self) -> Option<&str>;

    /// Whether the model finds clusters in rows without labels.
    fn finds_clusters(&self) -> bool;

    /// Fits the model to rows; see [`Learner::learn`].
    ///
    /// # Errors
    /// As there.
    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned>;
}

impl<L: Learner> AnyLearner for L {
    fn name(&self) -> &'static str {
        L::NAME
    }

    fn target(&self) -> Option<&str> {
        Learner::target(self)
    }

    fn finds_clusters(&self) -> bool {
        Learner::finds_clusters(self)
    }

    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        Learner::learn(self, rows, control)
    }
}
