//! Bayesian estimation of one family: conjugate priors, one file per group of
//! pairs; any prior at all on one parameter by quadrature; several parameters
//! without a conjugate prior by importance sampling; intervals and risk.
//!
//! p(θ | D) = p(D | θ) p(θ) / p(D). A pair is conjugate when the posterior is of
//! the prior's kind, so that statistics are all that is ever needed of the rows:
//! one after the other, all at once or shard by shard gives the same posterior.

mod curve;
mod expression;
mod gaussian;
mod gaussian_both;
mod integral;
mod interval;
mod levels;
mod mode;
mod multivariate;
mod prior;
mod proportion;
mod quadrature;
mod rate;
mod risk;
mod sampled;
mod uniform;

pub use curve::Curve;
pub use expression::Expression;
pub use gaussian::{GaussianMean, GaussianPrecision};
pub use gaussian_both::{GaussianBoth, LogNormalBoth};
pub use interval::{clopper_pearson, hoeffding};
pub use levels::{CategoricalProbabilities, MultinomialProbabilities, MultinomialStats};
pub use multivariate::{
    MultivariateBoth, MultivariateMean, MultivariateMeanPrecision, MultivariatePrecision,
    covariance_belief,
};
pub use prior::Prior;
pub use proportion::{
    BernoulliProbability, BinomialProbability, FailureStats, NegativeBinomialProbability,
};
pub use quadrature::QuadraturePosterior;
pub use rate::{ExponentialRate, GammaRate, PoissonRate};
pub use risk::{Risk, log_loss};
pub use sampled::{Domain, Parameter, SampledPosterior};
pub use uniform::{BilateralPareto, UniformEnds, UniformPredictive, UniformStats};

use crate::family::{Stats, Univariate};
use crate::{Error, Result};
use rand::Rng;

/// A likelihood with what is known of it, whose unknown parameters have a
/// conjugate prior.
///
/// ```
/// use abduce::bayes::{BernoulliProbability, Conjugate};
/// use abduce::family::{Beta, Univariate};
/// let pair = BernoulliProbability;
/// let mut seen = pair.zero();
/// for row in [1.0, 1.0, 0.0] {
///     pair.observe(&[row], 1.0, &mut seen);
/// }
/// let posterior = pair.posterior(&Beta { a: 2.0, b: 2.0 }, &seen)?;
/// assert_eq!(posterior, Beta { a: 4.0, b: 3.0 });
/// assert_eq!(pair.predictive(&posterior)?.probability, 4.0 / 7.0);
/// # Ok::<(), abduce::Error>(())
/// ```
pub trait Conjugate: Send + Sync {
    /// What is believed of the parameters, before and after.
    type Prior: Prior;
    /// What is remembered of rows.
    type Stats: Stats;
    /// What is predicted of the next row.
    type Predictive;

    /// The names of the parameters.
    fn parameters(&self) -> Vec<String>;

    /// Statistics of no row.
    fn zero(&self) -> Self::Stats;

    /// Adds a row.
    fn observe(&self, row: &[f64], weight: f64, stats: &mut Self::Stats);

    /// Adds many rows, each with its weight.
    fn observe_all(&self, rows: &mut dyn Iterator<Item = (&[f64], f64)>, stats: &mut Self::Stats) {
        rows.for_each(|(row, weight)| self.observe(row, weight, stats));
    }

    /// What is believed after the rows were seen.
    ///
    /// # Errors
    /// If the posterior is improper, as when an improper prior meets no row.
    fn posterior(&self, prior: &Self::Prior, stats: &Self::Stats) -> Result<Self::Prior>;

    /// The distribution of the next row, with the parameters integrated out.
    ///
    /// # Errors
    /// If the belief is improper.
    fn predictive(&self, belief: &Self::Prior) -> Result<Self::Predictive>;

    /// The log-likelihood of the rows under parameters.
    fn log_likelihood(&self, parameters: &[f64], stats: &Self::Stats) -> f64;

    /// The distribution of a row under parameters, where it is one number.
    fn row(&self, _parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        None
    }

    /// The smallest and the largest value of a single parameter.
    fn range(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// Draws a row under parameters.
    fn draw_row(&self, parameters: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        self.row(parameters)
            .map_or_else(Vec::new, |row| vec![row.draw(rng)])
    }

    /// The prior that a user names: `beta` with numbers, or `jeffreys`,
    /// `uniform` and the like without.
    ///
    /// # Errors
    /// If there is no such prior, or its numbers are out of range.
    fn prior(&self, name: &str, numbers: &[f64]) -> Result<Self::Prior>;

    /// Distributions of quantities that follow from the parameters, such as
    /// the variance from the precision.
    fn derived(&self, _belief: &Self::Prior) -> Vec<(String, Box<dyn Univariate>)> {
        Vec::new()
    }

    /// The logarithm of the evidence p(D), by Bayes' rule at the posterior
    /// mean; `None` under an improper prior, which has none.
    ///
    /// # Errors
    /// If the posterior is improper.
    fn log_evidence(&self, prior: &Self::Prior, stats: &Self::Stats) -> Result<Option<f64>> {
        if !prior.is_proper() {
            return Ok(None);
        }
        let posterior = self.posterior(prior, stats)?;
        let parameters = posterior
            .means()
            .filter(|means| means.iter().all(|x| x.is_finite()))
            .or_else(|| posterior.modes());
        let Some(parameters) = parameters else {
            return Ok(None);
        };
        let likelihood = self.log_likelihood(&parameters, stats);
        Ok(Some(
            likelihood + prior.log_density_of(&parameters) - posterior.log_density_of(&parameters),
        ))
    }

    /// The log-density of a next row: the evidence of it alone.
    ///
    /// # Errors
    /// If the belief is improper.
    fn log_predictive(&self, belief: &Self::Prior, row: &[f64]) -> Result<f64> {
        let mut next = self.zero();
        self.observe(row, 1.0, &mut next);
        self.log_evidence(belief, &next)?.ok_or_else(improper)
    }
}

pub(crate) fn improper() -> Error {
    improper_because("the rows do not determine the parameters")
}

/// A posterior that does not integrate.
pub(crate) fn improper_because(why: &str) -> Error {
    Error::numeric(format!("the posterior is improper: {why}"))
        .with_hint("see more rows, or give a proper prior")
}

/// The belief, if it is proper.
pub(crate) fn proper<P: Prior>(belief: P) -> Result<P> {
    match belief.is_proper() {
        true => Ok(belief),
        false => Err(improper()),
    }
}

/// A prior that a pair does not have.
pub(crate) fn unknown_prior(name: &str, known: &str) -> Error {
    Error::parameter(format!("\"{name}\" is not a prior of this model"))
        .with_hint(format!("the priors are {known}"))
}

/// The numbers of a prior, as many as it has.
pub(crate) fn numbers<const N: usize>(name: &str, given: &[f64]) -> Result<[f64; N]> {
    given.try_into().map_err(|_| {
        Error::parameter(format!(
            "the prior {name} has {N} numbers, and {} are given",
            given.len()
        ))
        .with_hint(match N {
            0 => format!("write {name} alone"),
            _ => format!("write {name}({})", vec!["…"; N].join(",")),
        })
    })
}

#[cfg(test)]
mod laws;
