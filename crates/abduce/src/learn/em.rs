//! The one EM loop. Each iteration maximises the parameters given the expected
//! statistics and takes the expectation again; with a soft E-step this is EM,
//! with a hard one k-means' way. The objective, log-likelihood plus log-prior,
//! never falls: that is checked in every fit and the whole trace is kept.

use super::control::{Control, Progress};
use crate::data::{Chunk, Source, fold};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How hidden labels and cells are filled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EStep {
    /// By their expectation.
    #[default]
    Soft,
    /// By their most probable value: labels and clusters, and the hidden cells
    /// of full-covariance Gaussians. Cells of independent columns tell nothing
    /// about each other and are left out in either case.
    Hard,
}

/// A model that EM can fit.
pub trait Latent: Sync {
    /// θ.
    type Parameters: Clone + Send + Sync;
    /// θ made ready for many chunks.
    type Prepared<'a>: Sync
    where
        Self: 'a;
    /// Expected sufficient statistics, with the log-likelihood of their rows.
    type Statistics: Send;

    /// Makes parameters ready for many chunks.
    ///
    /// # Errors
    /// If they are not parameters of this model.
    fn prepare<'a>(
        &'a self,
        parameters: &'a Self::Parameters,
        step: EStep,
    ) -> Result<Self::Prepared<'a>>;

    /// Statistics of no row.
    fn zero(&self) -> Self::Statistics;

    /// Adds the expected statistics of a chunk.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn expect(
        &self,
        prepared: &Self::Prepared<'_>,
        chunk: &Chunk,
        statistics: &mut Self::Statistics,
    ) -> Result<()>;

    /// How many chunks are added to the same statistics before these are
    /// merged: more where statistics are large beside a chunk.
    fn segment(&self) -> usize {
        1
    }

    /// Adds the statistics of other rows.
    fn merge(&self, statistics: &mut Self::Statistics, other: Self::Statistics);

    /// The log-likelihood of the rows under the parameters they were expected
    /// with, and the rows' total weight.
    fn log_likelihood(&self, statistics: &Self::Statistics) -> (f64, f64);

    /// The parameters that maximise the expected log-likelihood plus the
    /// log-prior; where that takes a search, at least better ones than those
    /// `before`, under which the statistics were expected.
    fn maximize(
        &self,
        statistics: &Self::Statistics,
        before: Option<&Self::Parameters>,
    ) -> Self::Parameters;

    /// The log-likelihood that parameters give to the rows together with what was
    /// expected of the hidden.
    fn complete_log_likelihood(
        &self,
        statistics: &Self::Statistics,
        parameters: &Self::Parameters,
    ) -> f64;

    /// The log-prior of parameters, up to a constant.
    fn log_prior(&self, parameters: &Self::Parameters) -> f64;

    /// What to add to a mean log-likelihood to free it of the units of the
    /// columns, so that a change of units does not change when a fit ends.
    fn log_units(&self) -> f64;
}

/// When to stop, and the first dial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmOptions {
    /// How hidden things are filled in.
    pub step: EStep,
    /// The relative change of the mean objective at which the fit has
    /// converged.
    pub tolerance: f64,
    /// The most iterations.
    pub max_iterations: usize,
}

impl Default for EmOptions {
    fn default() -> Self {
        EmOptions {
            step: EStep::Soft,
            tolerance: 1e-8,
            max_iterations: 1000,
        }
    }
}

/// What an EM fit found.
#[derive(Clone, Debug)]
pub struct EmResult<P, S> {
    /// The parameters of the last E-step.
    pub parameters: P,
    /// The statistics expected under them.
    pub statistics: S,
    /// The log-likelihood under the parameters before each iteration, and last
    /// under the parameters returned. With a hard E-step it is that of the rows
    /// completed by their most probable labels and cells.
    pub trace: Vec<f64>,
    /// After each iteration's maximisation, the lower bound of the log-likelihood
    /// (ELBO) that the expectation before it gives: above the likelihood before and
    /// below the one after it, by the Kullback–Leibler divergence of what was
    /// expected of the hidden from what it now is.
    pub bounds: Vec<f64>,
    /// The log-likelihood plus log-prior at the end.
    pub objective: f64,
    /// How many times the parameters were maximised.
    pub iterations: usize,
    /// Whether the change of the objective fell below the tolerance.
    pub converged: bool,
    /// Whether the objective never fell by more than rounding.
    pub monotone: bool,
    /// Whether the caller stopped the fit.
    pub interrupted: bool,
    /// Seconds from the start to the end of each E-step in the trace.
    pub seconds: Vec<f64>,
}

/// Relative fall of the objective that rounding can explain.
const ROUNDING: f64 = 1e-9;

/// Runs EM from given parameters until it converges.
///
/// # Errors
/// If the source cannot be read or the arithmetic fails; not converging is no
/// error.
pub fn em<M: Latent>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    options: &EmOptions,
    control: Control,
) -> Result<Option<EmResult<M::Parameters, M::Statistics>>> {
    let clock = std::time::Instant::now();
    let Some(statistics) = expect_all(model, source, &start, options.step, control)? else {
        return Ok(None);
    };
    let (log_likelihood, weight) = model.log_likelihood(&statistics);
    let mut result = EmResult {
        objective: log_likelihood + model.log_prior(&start),
        parameters: start,
        statistics,
        trace: vec![log_likelihood],
        bounds: Vec::new(),
        iterations: 0,
        converged: false,
        monotone: true,
        interrupted: false,
        seconds: vec![clock.elapsed().as_secs_f64()],
    };
    let weight = weight.max(f64::MIN_POSITIVE);
    for number in 1..=options.max_iterations {
        let parameters = model.maximize(&result.statistics, Some(&result.parameters));
        let before = model.complete_log_likelihood(&result.statistics, &result.parameters);
        let after = model.complete_log_likelihood(&result.statistics, &parameters);
        let last = result.trace.last().copied().unwrap_or(f64::NAN);
        let Some(statistics) = expect_all(model, source, &parameters, options.step, control)?
        else {
            result.interrupted = true;
            break;
        };
        let (log_likelihood, _) = model.log_likelihood(&statistics);
        let objective = log_likelihood + model.log_prior(&parameters);
        let change = (objective - result.objective) / weight;
        let size = 1.0 + (objective / weight + model.log_units()).abs();
        if change < -ROUNDING * (1.0 + (objective / weight).abs()) {
            result.monotone = false;
        }
        result.parameters = parameters;
        result.statistics = statistics;
        result.objective = objective;
        result.iterations = number;
        result.bounds.push(last + (after - before));
        result.trace.push(log_likelihood);
        result.seconds.push(clock.elapsed().as_secs_f64());
        control.report(Progress::Iteration {
            number,
            of: options.max_iterations,
            mean_log_likelihood: log_likelihood / weight,
        });
        if change.abs() <= options.tolerance * size {
            result.converged = true;
            break;
        }
    }
    Ok(Some(result))
}

/// One E-step over all rows; `None` when the caller stopped it.
fn expect_all<M: Latent>(
    model: &M,
    source: &dyn Source,
    parameters: &M::Parameters,
    step: EStep,
    control: Control,
) -> Result<Option<M::Statistics>> {
    let prepared = model.prepare(parameters, step)?;
    let total = fold(
        source,
        model.segment(),
        |partial, _, chunk| {
            let statistics = partial.get_or_insert_with(|| Some(model.zero()));
            match statistics {
                Some(own) if !control.is_interrupted() => model.expect(&prepared, chunk, own)?,
                _ => *statistics = None,
            }
            Ok(())
        },
        |total, more| match (total.as_mut(), more) {
            (Some(statistics), Some(more)) => model.merge(statistics, more),
            _ => *total = None,
        },
    )?;
    // What came in while the caller stopped it may be only a part.
    let total = total.flatten().filter(|_| !control.is_interrupted());
    if total
        .as_ref()
        .is_some_and(|statistics| model.log_likelihood(statistics).0.is_nan())
    {
        return Err(Error::numeric("the likelihood is not a number")
            .with_hint("are some values too large or too small?"));
    }
    Ok(total)
}
