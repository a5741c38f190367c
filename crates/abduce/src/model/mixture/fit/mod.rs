//! Fitting a mixture: survey, start, EM, diagnostics. Fully labelled tables
//! without missing values among correlated columns are fitted in one pass; unlabelled
//! ones try several starts on a sample of rows and go on with the best.

pub(crate) mod finish;
pub(crate) mod parameter_draw;
pub(crate) mod saddle;
pub(crate) mod survey;
pub(crate) mod unlabelled;

use crate::data::{Labelled, Schema, Source, without};
use crate::family::Belief;
use crate::leaf::Leaf;
use crate::learn::{EStep, EmOptions, em};
use crate::model::classes_of;
use crate::model::mixture::fit::finish::finish;
use crate::model::mixture::fit::survey::Survey;
use crate::model::mixture::fit::unlabelled::{Unlabelled, UnlabelledChoice, choose};
use crate::model::mixture::incremental::marks::Marks;
use crate::model::mixture::initialise::Init;
use crate::model::mixture::initialise::begin::{Beginning, begun_at};
use crate::model::mixture::initialise::restarts::{Start, best_of_starts};
use crate::model::mixture::report::diagnostics::Diagnostics;
use crate::model::mixture::specification::noise::add_noise;
use crate::model::mixture::specification::normal_prior::{statistics_of_all, statistics_of_each};
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{Mixture, Parameters, Specification};
use crate::model::{LogLikelihoodOf, check_tries};
use crate::{Control, Progress};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How to fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// The E-step, the tolerance and the most iterations.
    pub em: EmOptions,
    /// How many starts to try where no labels say where to begin.
    pub restarts: usize,
    /// How starts are seeded.
    pub init: Init,
    /// The column whose levels say where unlabelled components begin; nothing is
    /// learned of it, and rows without a level begin as noise, if there is some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_by: Option<String>,
    /// How much rows without a label count beside the labelled ones.
    #[serde(default)]
    pub unlabelled: Unlabelled,
    /// Whether unlabelled components keep the numbers that they began with, and stay where
    /// they end without rows; otherwise the heaviest comes first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub numbered: bool,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether a model of classes keeps marks, which are hashes of up to 100,000 rows, to
    /// recognize rows to forget that were never fitted.
    #[serde(default)]
    pub marks: bool,
    /// Whether all rows are asked once more at the end how certain their components are.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub certainty: bool,
}

fn is_yes(own: &bool) -> bool {
    *own
}

fn yes() -> bool {
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
    pub mixture: Mixture,
    /// The number of rows.
    pub rows: u64,
    /// Their total weight.
    pub weight: f64,
    /// The log-likelihood of the rows under the model, or what stands in its place.
    pub log_likelihood: f64,
    /// What that is; the information criteria are of the same.
    pub log_likelihood_of: LogLikelihoodOf,
    /// The number of free parameters.
    pub parameters: usize,
    /// −2·log-likelihood + parameters·ln(weight); less is better.
    pub bic: f64,
    /// −2·log-likelihood + 2·parameters; less is better.
    pub aic: f64,
    /// How many E-steps went over all rows after the first.
    pub iterations: usize,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether the objective never fell.
    pub monotone: bool,
    /// Whether the caller stopped the fit.
    pub interrupted: bool,
    /// The log-likelihood before each step that was kept, and at the end. It never
    /// falls by more than rounding, unless a prior is maximised too.
    pub trace: Vec<f64>,
    /// The log-likelihood plus log-prior, up to a constant, wherever the trace has a
    /// log-likelihood: this never falls by more than rounding.
    pub objectives: Vec<f64>,
    /// What went before the trace, and may fall: rounds of drawn labels, passes of
    /// batches, or EM to a saddle of equal components, which were then parted.
    pub warmup: Vec<f64>,
    /// The lower bound of the log-likelihood (ELBO) after each maximisation, between
    /// two of the trace; of soft steps without a prior, it is above the first.
    pub bounds: Vec<f64>,
    /// Seconds from the start of EM to the end of each E-step of the trace.
    pub trace_seconds: Vec<f64>,
    /// The objective that each start reached, on a sample of the rows where these are many.
    pub restarts: Vec<f64>,
    /// What became of each start, those too that reached nothing.
    pub starts: Vec<Start>,
    /// How the mixture stands.
    pub diagnostics: Diagnostics,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// How much rows without a label count, where that was to be chosen.
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
        return fit_by(specification, source, Beginning::Own, options, control);
    };
    let (specification, column) = begun_at(specification, source.schema(), name)?;
    let start = Beginning::Column(source, column);
    let rows = without(source, column);
    fit_by(&specification, &*rows, start, options, control)
}

/// Fits a mixture by EM from given parameters, if there are any; see [`fit`].
///
/// # Errors
/// As [`fit`], and if the parameters are not of this specification.
pub fn fit_from(
    specification: &Specification,
    source: &dyn Source,
    start: Option<&Parameters>,
    options: &FitOptions,
    control: Control,
) -> Result<Fit> {
    match start {
        None => fit(specification, source, options, control),
        Some(start) => {
            let start = Beginning::Parameters(start);
            fit_by(specification, source, start, options, control)
        }
    }
}

/// Fits a mixture by EM from where another of the same columns is, as one fitted to
/// fewer rows; see [`fit`].
///
/// # Errors
/// As [`fit`], and if the other is not of this specification.
pub fn fit_from_mixture(
    specification: &Specification,
    source: &dyn Source,
    start: &Mixture,
    options: &FitOptions,
    control: Control,
) -> Result<Fit> {
    let start = Beginning::Mixture(start);
    fit_by(specification, source, start, options, control)
}

fn fit_by(
    specification: &Specification,
    source: &dyn Source,
    start: Beginning,
    options: &FitOptions,
    control: Control,
) -> Result<Fit> {
    let own = matches!(start, Beginning::Own);
    let schema = source.schema();
    let mut leaves = specification.leaves(schema)?;
    let target = specification
        .target
        .as_deref()
        .map(|name| schema.position(name))
        .transpose()?;
    let told_apart = leaves.iter().all(|leaf| leaf.family.is_generative());
    // What is no density cannot say how probable a label is.
    let counted = told_apart && options.unlabelled != Unlabelled::Weight(0.0);
    if let (Some(target), false, true) = (target, counted, own)
        && let Some(labelled) = Labelled::of(source, target, true)?
    {
        let mut fit = fit(specification, &labelled, options, control)?;
        fit.rows = source.rows();
        fit.log_likelihood_of = LogLikelihoodOf::Weighted;
        return Ok(fit);
    }
    let mut components = components(specification, source, target)?;
    control.report(Progress::Survey);
    let mut survey = Survey::of(source, &leaves, target, control)?.ok_or_else(stopped)?;
    if survey.seen.total <= 0.0 {
        return Err(Error::data("every row has weight 0"));
    }
    if let Some(reconsidered) = survey
        .seen
        .reconsidered(&leaves, specification.added(&survey.seen))
    {
        if reconsidered.is_empty() {
            return Err(Error::data("no cell of any column is seen"));
        }
        leaves = reconsidered;
        survey = Survey::of(source, &leaves, target, control)?.ok_or_else(stopped)?;
    }
    settle(specification, schema, &survey, &mut leaves)?;
    // The survey has the levels of labelled rows only.
    if specification.pools_levels() && survey.seen.unlabelled > 0.0 {
        let is_pooled = |leaf: &Leaf| leaf.family.levels().is_some() || leaf.family.is_text();
        let pooled: Vec<&Leaf> = leaves.iter().filter(|leaf| is_pooled(leaf)).collect();
        let all = statistics_of_each(source, &pooled, control)?;
        let pooled = leaves.iter_mut().filter(|leaf| is_pooled(leaf));
        for (leaf, all) in pooled.zip(all) {
            specification.smooth(leaf, schema, &[all])?;
        }
    }
    // More components than rows would have none.
    let asked = components;
    if target.is_none() && own && specification.holds_nothing() {
        components = components.min(survey.seen.rows as usize);
    }
    specification.hold(schema, components, &mut leaves)?;
    if specification.noise {
        add_noise(source, &survey.seen, &mut leaves)?;
    }
    if let Some(prior) = &specification.normal_prior {
        let whole = |_: usize, leaf: &Leaf| statistics_of_all(source, leaf);
        prior.settle(&survey.seen, components, &mut leaves, whole)?;
    }
    let mut task = Task {
        leaves: &leaves,
        target,
        components: components + usize::from(leaves.iter().any(|leaf| leaf.noise.is_some())),
        weights: specification.weight_belief(schema, target, components)?,
        unlabelled: 1.0,
        log_units: survey.seen.log_units(&leaves),
        given: matches!(start, Beginning::Parameters(_)),
        predictive: specification.predictive,
        seed: options.seed,
        control,
    };
    if target.is_some() && survey.labelled.total <= 0.0 {
        return Err(Error::data("no row has a label")
            .at_column(specification.target.as_deref().unwrap_or_default())
            .with_hint("fit a mixture to find clusters instead"));
    }
    let mut choice = None;
    if let (Some(target), true, true) = (target, survey.seen.unlabelled > 0.0, own) {
        task.unlabelled = match options.unlabelled {
            Unlabelled::Weight(weight) => weight,
            Unlabelled::Chosen => {
                let found = choose(&task, source, target, &survey.seen, options.seed, control)?;
                if found.weight == 0.0 {
                    let alone = FitOptions {
                        unlabelled: Unlabelled::Weight(0.0),
                        ..options.clone()
                    };
                    let mut fit = fit(specification, source, &alone, control)?;
                    fit.unlabelled = Some(found);
                    return Ok(fit);
                }
                choice.insert(found).weight
            }
        };
    }
    let mut starts = Vec::new();
    let result = if let Beginning::Column(whole, column) = start {
        let rows = survey.seen.total;
        task.begun_by_column((whole, column), source, rows, &options.em, control)?
    } else if let Some(begun) = start.parameters(&task, schema)? {
        let begun = match start {
            Beginning::Mixture(_) => task.brought_within(source, begun, &options.em, control)?,
            _ => Some(begun),
        };
        match begun {
            Some(begun) => em(&task, source, begun, &options.em, control)?,
            None => None,
        }
    } else if let Some(target) = target {
        let hidden = survey.seen.unlabelled > 0.0 && task.unlabelled > 0.0;
        match hidden || survey.seen.incomplete > 0.0 {
            true => task.begun_by_labels(source, target, &options.em, control)?,
            false => Some(task.in_one_pass(survey.labelled)),
        }
    } else {
        best_of_starts(&task, source, &survey.seen, options, control, &mut starts)?
    };
    let mut result = result.ok_or_else(stopped)?;
    // Classes may be the same; clusters that are would be one.
    if target.is_none() {
        result = saddle::left(&task, source, &survey.seen, options, control, result)?;
    }
    let mut fit = finish(&task, schema, survey.seen, options, result);
    if options.marks && target.is_some() {
        fit.mixture.marks = Marks::of(source)?;
    }
    if options.certainty {
        fit.diagnostics.look_at_rows(&task, &fit.mixture, source)?;
    }
    if components < asked {
        let told = format!("{asked} components are more than rows; {components} were fitted");
        fit.warnings.insert(0, told);
    }
    fit.restarts = starts.iter().filter_map(|start| start.objective).collect();
    fit.starts = starts;
    fit.unlabelled = choice;
    if task.unlabelled != 1.0 {
        fit.log_likelihood_of = LogLikelihoodOf::Weighted;
    }
    if options.em.step == EStep::Hard && fit.mixture.is_generative() && !fit.interrupted {
        fit.is_of_rows(&task, source, control)?;
    }
    Ok(fit)
}

fn components(
    specification: &Specification,
    source: &dyn Source,
    target: Option<usize>,
) -> Result<usize> {
    match target {
        Some(target) => classes_of(&source.schema().fields[target]),
        None => match specification.components {
            Some(k) if k > 0 => Ok(k),
            _ => Err(Error::parameter("a mixture needs at least one component")),
        },
    }
}

/// What is said where a fit was stopped too early.
pub(crate) fn stopped() -> Error {
    Error::numeric("stopped before there was a model")
}

/// Gives the leaves their priors: in the units of what was seen, and with the
/// smoothing that the specification asks for.
pub(crate) fn settle(
    specification: &Specification,
    schema: &Schema,
    survey: &Survey,
    leaves: &mut [Leaf],
) -> Result<()> {
    let belief = Belief {
        variance_floor: specification.variance_floor,
        ridge: specification.ridge_beside(&survey.seen),
        unit_share: specification.unit_share,
        // Counts have no range over which the rows of an m-estimate could be spread evenly:
        // they are worth that many rows at the mean of the column, pooled or not.
        smoothing: (specification.m_estimate).map_or(specification.smoothing, |own| own.rows),
        rows: survey.seen.total,
        row_weight: survey.seen.row_weight(),
    };
    for (number, leaf) in leaves.iter_mut().enumerate() {
        survey.seen.settle(leaf, &belief);
        specification.smooth(leaf, schema, &survey.labelled.leaves[number])?;
    }
    Ok(())
}
