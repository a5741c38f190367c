//! Fitting a mixture: survey, start, EM, diagnostics. A table whose labels and correlated cells
//! are all seen is fitted in one pass. Without labels, several starts are tried on a sample of
//! the rows, and EM continues from the best.

pub(crate) mod finish;
pub(crate) mod fitting;
pub(crate) mod identical;
pub(crate) mod parameter_draw;
mod size;
pub(crate) mod survey;
pub(crate) mod unlabelled;

use crate::data::{Source, without};
use crate::learn::EmOptions;
use crate::model::mixture::fit::fitting::Fitting;
use crate::model::mixture::fit::unlabelled::{Unlabelled, UnlabelledChoice};
use crate::model::mixture::initialise::Init;
use crate::model::mixture::initialise::outcome::Start;
use crate::model::mixture::initialise::starting_point::{StartingPoint, start_column};
use crate::model::mixture::report::diagnostics::Diagnostics;
use crate::model::mixture::{FittedMixture, Parameters, Specification};
use crate::model::{LogLikelihoodOf, check_tries};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// The options of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// The E-step, the tolerance and the maximum number of iterations.
    pub em: EmOptions,
    /// The number of starts, if there are no labels to start from.
    pub restarts: usize,
    /// How starts are initialised.
    pub init: Init,
    /// A column whose levels are the initial components of an unlabelled mixture. It is not
    /// part of the model. Rows with a missing value start as noise, if the model has noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_by: Option<String>,
    /// The weight of rows without a label.
    #[serde(default)]
    pub unlabelled: Unlabelled,
    /// Whether unlabelled components keep their initial order, and empty ones are kept;
    /// otherwise they are sorted by weight, the largest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub numbered: bool,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Whether a classifier keeps a hash of every row, for up to 100,000 rows, to reject rows
    /// to forget that were never fitted.
    #[serde(default)]
    pub marks: bool,
    /// Whether one more pass over the rows computes the certainty of the components.
    #[serde(default = "default_true", skip_serializing_if = "is_true")]
    pub certainty: bool,
}

fn is_true(value: &bool) -> bool {
    *value
}

fn default_true() -> bool {
    true
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions {
            em: EmOptions::default(),
            restarts: 10,
            init: Init::default(),
            start_by: None,
            unlabelled: Unlabelled::default(),
            numbered: false,
            seed: 0,
            marks: false,
            certainty: true,
        }
    }
}

/// A fitted mixture and how the fit went.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub mixture: FittedMixture,
    /// The number of rows.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// The log-likelihood of the rows, or the quantity that replaces it.
    pub log_likelihood: f64,
    /// Which quantity that is; the information criteria use the same.
    pub log_likelihood_of: LogLikelihoodOf,
    /// The number of free parameters.
    pub parameters: usize,
    /// −2·log-likelihood + parameters·ln(weight); less is better.
    pub bic: f64,
    /// −2·log-likelihood + 2·parameters; less is better.
    pub aic: f64,
    /// The number of E-steps over all rows after the first.
    pub iterations: usize,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether the objective never decreased.
    pub monotone: bool,
    /// Whether the caller stopped the fit.
    pub interrupted: bool,
    /// The log-likelihood before each accepted step, and at the end. Without a prior, it never
    /// decreases by more than rounding.
    pub trace: Vec<f64>,
    /// The log-likelihood plus the log-prior, up to a constant, for each entry of the trace. It
    /// never decreases by more than rounding.
    pub objectives: Vec<f64>,
    /// The log-likelihoods before the trace, which may decrease: rounds of stochastic EM,
    /// passes of mini-batches, or EM up to a saddle point with identical components.
    pub warmup: Vec<f64>,
    /// The lower bound of the log-likelihood (ELBO) after each M-step, between two entries of
    /// the trace. With a soft E-step and no prior, it is at least the first of the two.
    pub bounds: Vec<f64>,
    /// The seconds from the start of EM to the end of each E-step of the trace.
    pub trace_seconds: Vec<f64>,
    /// The objective that each start reached; for a large table, on a sample of its rows.
    pub restarts: Vec<f64>,
    /// The outcome of each start, failed ones included.
    pub starts: Vec<Start>,
    /// How certain the components are, and how well the fit converged.
    pub diagnostics: Diagnostics,
    /// Problems that the user should know about.
    pub warnings: Vec<String>,
    /// The weight of rows without a label, if cross-validation chose it.
    pub unlabelled: Option<UnlabelledChoice>,
}

/// Fits a mixture to a source.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::Control;
/// use abduce::model::mixture::{CovarianceKind, FitOptions, Specification, fit};
/// let x = [1.0, 1.2, 0.8, 7.9, 8.0, 8.3].map(Some);
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let table = Table::new(schema, vec![Column::from_numbers(x)], None)?;
/// let specification = Specification::mixture(2, CovarianceKind::Full);
/// let fit = fit(&specification, &table, &FitOptions::default(), Control::default())?;
/// assert!(fit.converged && fit.monotone);
/// assert_eq!(fit.mixture.parameters.weights, [0.5, 0.5]);
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If the specification does not fit the source, or the source cannot be read.
pub fn fit(
    specification: &Specification,
    source: &dyn Source,
    options: &FitOptions,
    control: Control,
) -> Result<Fit> {
    check_tries("restarts", options.restarts)?;
    let Some(name) = &options.start_by else {
        let start = StartingPoint::Automatic;
        return Fitting::new(specification, source, start, options, control).run();
    };
    let (specification, column) = start_column(specification, source.schema(), name)?;
    let start = StartingPoint::Column(source, column);
    let rows = without(source, column);
    Fitting::new(&specification, &*rows, start, options, control).run()
}

/// Fits a mixture by EM from initial parameters, if they are given; see [`fit`].
///
/// # Errors
/// As [`fit`], and if the parameters do not match the specification.
pub fn fit_from(
    specification: &Specification,
    source: &dyn Source,
    start: Option<&Parameters>,
    options: &FitOptions,
    control: Control,
) -> Result<Fit> {
    match start {
        None => fit(specification, source, options, control),
        Some(parameters) => {
            let start = StartingPoint::Parameters(parameters);
            Fitting::new(specification, source, start, options, control).run()
        }
    }
}

/// Fits a mixture by EM from the parameters of another mixture of the same columns, for
/// example one fitted to fewer rows; see [`fit`].
///
/// # Errors
/// As [`fit`], and if the other mixture does not match the specification.
pub fn fit_from_mixture(
    specification: &Specification,
    source: &dyn Source,
    start: &FittedMixture,
    options: &FitOptions,
    control: Control,
) -> Result<Fit> {
    let start = StartingPoint::Mixture(start);
    Fitting::new(specification, source, start, options, control).run()
}

/// The error of a fit that was interrupted too early.
pub(crate) fn interrupted() -> Error {
    Error::numeric("the fit was interrupted before it produced a model")
}
