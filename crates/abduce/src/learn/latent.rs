//! What EM asks of a model: expected statistics of rows and the parameters that make
//! them most probable; beside that, which steps to accept, and parameters as unconstrained
//! numbers for steps longer than EM's.

use crate::Result;
use crate::data::Chunk;
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
    /// Labels by a draw, cells by their expectation: stochastic EM, whose rounds of
    /// draws come before soft steps; see [`EmOptions::rounds`](super::EmOptions::rounds).
    /// A row of weight 2 is drawn once, so that it equals two rows only on average.
    Sampled,
}

/// What a pass over the rows is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// How hidden labels and cells are filled in.
    pub step: EStep,
    /// The number of the pass, which sets the draws of a sampled step.
    pub round: usize,
    /// Whether only the log-likelihood and the weight of the rows are wanted.
    pub likelihood_only: bool,
}

impl Pass {
    /// An E-step.
    pub const fn expectation(step: EStep) -> Pass {
        Pass {
            step,
            round: 0,
            likelihood_only: false,
        }
    }
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
    type Statistics: Expected;

    /// Makes parameters ready for a pass over many chunks.
    ///
    /// # Errors
    /// If they are not parameters of this model.
    fn prepare<'a>(
        &'a self,
        parameters: &'a Self::Parameters,
        pass: Pass,
    ) -> Result<Self::Prepared<'a>>;

    /// Statistics of no row.
    fn zero(&self) -> Self::Statistics;

    /// Adds the expected statistics of the chunk of this number.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn expect(
        &self,
        prepared: &Self::Prepared<'_>,
        number: usize,
        chunk: &Chunk,
        statistics: &mut Self::Statistics,
    ) -> Result<()>;

    /// How many chunks are added to the same statistics before these are
    /// merged: more where statistics are large beside a chunk.
    fn segment(&self) -> usize {
        1
    }

    /// The parameters that maximise the expected log-likelihood plus the
    /// log-prior; where that takes a search, at least better ones than those
    /// `before`, under which the statistics were expected.
    fn maximize(
        &self,
        statistics: &Self::Statistics,
        before: Option<&Self::Parameters>,
    ) -> Self::Parameters;

    /// The log-likelihood of the rows under parameters, completed by the expected hidden
    /// labels and cells.
    fn complete_log_likelihood(
        &self,
        statistics: &Self::Statistics,
        parameters: &Self::Parameters,
    ) -> f64;

    /// The log-prior of parameters, up to a constant.
    fn log_prior(&self, parameters: &Self::Parameters) -> f64;
}

/// Expected statistics of rows.
pub trait Expected: Send {
    /// Adds the statistics of other rows.
    fn merge(&mut self, other: Self);

    /// Makes every row weigh `factor` times as much.
    fn scale(&mut self, factor: f64);

    /// The total weight of the rows.
    fn weight(&self) -> f64;

    /// The log-likelihood of the rows under the parameters they were expected with.
    fn log_likelihood(&self) -> f64;

    /// Replaces the stored log-likelihood, as by a lower bound of that of parameters
    /// estimated from these statistics.
    fn set_log_likelihood(&mut self, log_likelihood: f64);
}

/// Which steps of EM are accepted, and when a fit has converged.
pub trait Safeguards: Latent {
    /// What to add to a mean log-likelihood to free it of the units of the
    /// columns, so that a change of units does not change when a fit ends.
    fn log_units(&self) -> f64;

    /// Whether the step after so many others may lower the objective: where it leads
    /// to is no maximum, or where it starts is nowhere that a step of this model leads.
    fn may_decrease(&self, _steps: usize) -> bool {
        false
    }

    /// Whether parameters are so close to a singular maximum that rounding may spoil what
    /// is computed from them.
    fn is_singular(&self, _parameters: &Self::Parameters) -> bool {
        false
    }

    /// Whether drawn labels leave every component rows enough to be estimated from.
    fn has_enough_rows(&self, _statistics: &Self::Statistics) -> bool {
        true
    }
}

/// Parameters as unconstrained numbers, on which straight lines may be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// The numbers; none has a unit.
    pub values: Vec<f64>,
    /// How much each counts in the length of a line: those of a component as much
    /// as its share of the rows, so that one which vanishes does not set the pace.
    pub importance: Vec<f64>,
    /// Coordinates of the same pace share a step length: 0 is that of most, every other
    /// number that of coordinates which converge at a rate of their own.
    pub pace: Vec<usize>,
}

/// A model whose steps can be longer than EM's.
pub trait Accelerated: Latent {
    /// Parameters as unconstrained numbers; `None` where the model has none, and is never
    /// accelerated.
    fn coordinates(&self, _parameters: &Self::Parameters) -> Option<Coordinates> {
        None
    }

    /// The parameters at these coordinates; those without a coordinate are as in `near`.
    /// `None` where they would be out of range.
    fn at_coordinates(
        &self,
        _near: &Self::Parameters,
        _values: &[f64],
    ) -> Option<Self::Parameters> {
        None
    }
}
