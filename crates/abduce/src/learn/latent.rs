//! The traits of models that EM can fit: expected statistics of rows and the parameters that
//! maximise their likelihood, which steps to accept, and parameters as unconstrained coordinates
//! for accelerated steps.

use crate::Result;
use crate::data::Chunk;
use serde::{Deserialize, Serialize};

/// How missing labels and values are filled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EStep {
    /// By their expectation.
    #[default]
    Soft,
    /// By their most probable value: labels, clusters, and the missing values of Gaussians with
    /// full covariance. Missing values of independent columns are left out in either case.
    Hard,
    /// Labels by a draw, values by their expectation: stochastic EM, whose rounds of draws come
    /// before soft steps; see [`EmOptions::rounds`](super::EmOptions::rounds). A row of weight 2
    /// gets a single draw, so it equals two rows only on average.
    Sampled,
}

/// The kind of a pass over the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// How missing labels and values are filled in.
    pub step: EStep,
    /// The number of the round, which determines the draws of a sampled step.
    pub round: usize,
    /// Whether only the log-likelihood and the weight of the rows are needed.
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
    /// The parameters θ.
    type Parameters: Clone + Send + Sync;
    /// Parameters prepared for many chunks.
    type Prepared<'a>: Sync
    where
        Self: 'a;
    /// Expected sufficient statistics, with the log-likelihood of their rows.
    type Statistics: Expected;

    /// Prepares parameters for a pass over many chunks.
    ///
    /// # Errors
    /// If they are not parameters of this model.
    fn prepare<'a>(
        &'a self,
        parameters: &'a Self::Parameters,
        pass: Pass,
    ) -> Result<Self::Prepared<'a>>;

    /// The statistics of no rows.
    fn zero(&self) -> Self::Statistics;

    /// Adds the expected statistics of a chunk; `number` is its position in the source.
    ///
    /// # Errors
    /// If a numerical error occurs.
    fn expect(
        &self,
        prepared: &Self::Prepared<'_>,
        number: usize,
        chunk: &Chunk,
        statistics: &mut Self::Statistics,
    ) -> Result<()>;

    /// The number of chunks that are added to the same statistics before these are merged; more
    /// than one is useful if statistics are large compared with a chunk.
    fn segment(&self) -> usize {
        1
    }

    /// The parameters that maximise the expected log-likelihood plus the log-prior. `before` are
    /// those under which the statistics were expected; if there is no closed form, the result is at
    /// least as good as they are.
    fn maximize(
        &self,
        statistics: &Self::Statistics,
        before: Option<&Self::Parameters>,
    ) -> Self::Parameters;

    /// The expected complete-data log-likelihood under parameters.
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

    /// Multiplies the weight of every row by `factor`.
    fn scale(&mut self, factor: f64);

    /// The total weight of the rows.
    fn weight(&self) -> f64;

    /// The log-likelihood of the rows under the parameters they were expected with.
    fn log_likelihood(&self) -> f64;

    /// Replaces the stored log-likelihood, for example by a lower bound of the one under the
    /// parameters estimated from these statistics.
    fn set_log_likelihood(&mut self, log_likelihood: f64);
}

/// Which steps of EM are accepted, and when a fit has converged.
pub trait Safeguards: Latent {
    /// The number to be added to a mean log-likelihood to make it independent of the units of the
    /// columns, so that a change of units does not change when a fit ends.
    fn log_units(&self) -> f64;

    /// Whether the step after `steps` others may decrease the objective, because it does not
    /// maximise the objective exactly, or because it starts from parameters that violate the
    /// constraints of the model.
    fn may_decrease(&self, _steps: usize) -> bool {
        false
    }

    /// Whether parameters are so close to a singular maximum that rounding errors may be large.
    fn is_singular(&self, _parameters: &Self::Parameters) -> bool {
        false
    }

    /// Whether every component has enough rows to be estimated from, after labels were drawn.
    fn has_enough_rows(&self, _statistics: &Self::Statistics) -> bool {
        true
    }
}

/// Parameters as unconstrained coordinates, which can be extrapolated along straight lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// The coordinates, which have no units.
    pub values: Vec<f64>,
    /// The weight of each coordinate in lengths: for a component its share of the rows, so that a
    /// vanishing component does not determine the step length.
    pub importance: Vec<f64>,
    /// Coordinates of the same pace have the same step length. Most have pace 0; other numbers are
    /// for coordinates that converge at another rate.
    pub pace: Vec<usize>,
}

/// A model for which EM can be accelerated.
pub trait Accelerated: Latent {
    /// Parameters as unconstrained coordinates; `None` if the model has none and is never
    /// accelerated.
    fn coordinates(&self, _parameters: &Self::Parameters) -> Option<Coordinates> {
        None
    }

    /// The parameters at these coordinates; those without coordinates are as in `near`. `None` if a
    /// parameter would be out of range.
    fn at_coordinates(
        &self,
        _near: &Self::Parameters,
        _values: &[f64],
    ) -> Option<Self::Parameters> {
        None
    }
}
