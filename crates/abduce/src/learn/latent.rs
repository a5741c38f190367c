//! What EM asks of a model: expected statistics of rows, the parameters that make
//! them most probable, and, where steps are to be longer than EM's, parameters as
//! free numbers.

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

/// Parameters as free numbers, on which straight lines may be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// The numbers; none has a unit.
    pub values: Vec<f64>,
    /// How much each counts in the length of a line: those of a component as much
    /// as its share of the rows, so that one which dies does not set the pace.
    pub importance: Vec<f64>,
    /// Which of them go at one pace: 0 says those that hang together, every other
    /// number those that EM moves by themselves.
    pub pace: Vec<usize>,
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

    /// Makes parameters ready for many chunks; draws of a sampled step are others in
    /// every `round`.
    ///
    /// # Errors
    /// If they are not parameters of this model.
    fn prepare<'a>(
        &'a self,
        parameters: &'a Self::Parameters,
        step: EStep,
        round: usize,
    ) -> Result<Self::Prepared<'a>>;

    /// The same where the log-likelihood and the weight of rows are wanted alone: whatever else
    /// statistics have is then worth nothing.
    fn measuring<'a>(&'a self, prepared: Self::Prepared<'a>) -> Self::Prepared<'a> {
        prepared
    }

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

    /// Adds the statistics of other rows.
    fn merge(&self, statistics: &mut Self::Statistics, other: Self::Statistics);

    /// Makes every row of the statistics weigh `factor` times as much.
    fn scale(&self, statistics: &mut Self::Statistics, factor: f64);

    /// The log-likelihood of the rows under the parameters they were expected
    /// with, and the rows' total weight.
    fn log_likelihood(&self, statistics: &Self::Statistics) -> (f64, f64);

    /// Lets statistics of one step be those of parameters estimated from them, for which the
    /// log-likelihood is at least this.
    fn rebind(&self, statistics: &mut Self::Statistics, bound: f64);

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

    /// Whether drawn labels leave every component rows enough to be estimated from.
    fn determines(&self, _statistics: &Self::Statistics) -> bool {
        true
    }

    /// Whether the step after so many others may end lower than it began: where it leads
    /// to is no maximum, or where it begins is nowhere that a step of this model leads.
    fn may_fall(&self, _steps: usize) -> bool {
        false
    }

    /// Whether parameters are next to ones that have no density, so that rounding may
    /// spoil what is computed from them.
    fn is_singular(&self, _parameters: &Self::Parameters) -> bool {
        false
    }

    /// The log-prior of parameters, up to a constant.
    fn log_prior(&self, parameters: &Self::Parameters) -> f64;

    /// What to add to a mean log-likelihood to free it of the units of the
    /// columns, so that a change of units does not change when a fit ends.
    fn log_units(&self) -> f64;

    /// Parameters as free numbers; `None` where the model has none, and is never
    /// accelerated.
    fn coordinates(&self, _parameters: &Self::Parameters) -> Option<Coordinates> {
        None
    }

    /// The parameters at these coordinates; what has none is as in `near`. `None`
    /// where they would be out of range.
    fn at_coordinates(
        &self,
        _near: &Self::Parameters,
        _values: &[f64],
    ) -> Option<Self::Parameters> {
        None
    }
}
