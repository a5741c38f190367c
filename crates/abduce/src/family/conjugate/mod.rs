//! Conjugate priors, one file per group of families; one suite of laws for all of them.
//!
//! p(θ | D) = p(D | θ) p(θ) / p(D). A prior is conjugate when the posterior is of the same
//! kind, so that statistics are all that is needed of the rows: one row after the other, all
//! at once or shard by shard gives the same posterior.

mod gaussian;
mod gaussian_both;
mod levels;
mod multivariate;
mod prior;
mod priors;
mod proportion;
mod pseudo_rows;
mod rate;
mod uniform;

pub use gaussian::{GaussianMean, GaussianPrecision};
pub use gaussian_both::{GaussianBoth, LogNormalBoth};
pub use levels::{CategoricalProbabilities, MultinomialProbabilities, MultinomialStats};
pub use multivariate::{
    MeanAndMatrix, MultivariateBoth, MultivariateMean, MultivariateMeanPrecision,
    MultivariatePrecision, covariance_belief,
};
pub use prior::{Marginals, Parameters, Prior};
pub use proportion::{
    BernoulliProbability, BinomialProbability, FailureStats, NegativeBinomialProbability,
};
pub use pseudo_rows::{ConjugateFamily, NaturalExpectation};
pub use rate::{ExponentialRate, GammaRate, PoissonRate};
pub use uniform::UniformEnds;

use crate::data::{Cells, Rows};
use crate::family::{Family, Stats, Univariate};
use crate::{Error, Result};
use rand::Rng;

/// A family, with the parameters that are known, and a conjugate prior on the others.
///
/// ```
/// use abduce::family::{BernoulliProbability, Beta, Conjugate};
/// let pair = BernoulliProbability;
/// let mut seen = pair.zero();
/// pair.observe(&[1.0, 1.0, 0.0], &[1.0; 3], &mut seen);
/// let posterior = pair.posterior(&Beta { a: 2.0, b: 2.0 }, &seen)?;
/// assert_eq!(posterior, Beta { a: 4.0, b: 3.0 });
/// assert_eq!(pair.predictive(&posterior)?.probability, 4.0 / 7.0);
/// # Ok::<(), abduce::Error>(())
/// ```
pub trait Conjugate: Send + Sync {
    /// The distribution of a row once all parameters are known.
    type Row: Row<Self::Stats>;
    /// The distribution of the parameters, as a prior and as a posterior.
    type Prior: Prior;
    /// The sufficient statistics of rows.
    type Stats: Stats;
    /// The distribution of the next row.
    type Predictive;

    /// The names of the parameters.
    fn parameters(&self) -> Vec<String>;

    /// Statistics of no row.
    fn zero(&self) -> Self::Stats;

    /// Adds rows, each with its weight; `cells` holds them one after the other.
    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut Self::Stats);

    /// The distribution of a row under parameters; `None` if they are out of range.
    fn row(&self, parameters: &[f64]) -> Option<Self::Row>;

    /// The posterior distribution of the parameters.
    ///
    /// # Errors
    /// If the posterior is improper, as with an improper prior and no rows.
    fn posterior(&self, prior: &Self::Prior, stats: &Self::Stats) -> Result<Self::Prior>;

    /// The distribution of the next row, with the parameters integrated out.
    ///
    /// # Errors
    /// If the distribution of the parameters is improper.
    fn predictive(&self, belief: &Self::Prior) -> Result<Self::Predictive>;

    /// The prior that a user names: `beta` with numbers, or `jeffreys`,
    /// `uniform` and the like without.
    ///
    /// # Errors
    /// If there is no such prior, or its numbers are out of range.
    fn prior(&self, name: &str, numbers: &[f64]) -> Result<Self::Prior>;

    /// The log-likelihood of the rows under parameters.
    fn log_likelihood(&self, parameters: &[f64], stats: &Self::Stats) -> f64 {
        let row = self.row(parameters);
        row.map_or(f64::NEG_INFINITY, |row| row.log_likelihood_of_rows(stats))
    }

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
    /// If the distribution of the parameters is improper.
    fn log_predictive(&self, belief: &Self::Prior, row: &[f64]) -> Result<f64> {
        let mut next = self.zero();
        self.observe(row, &[1.0], &mut next);
        self.log_evidence(belief, &next)?.ok_or_else(improper)
    }
}

/// The distribution of a row, as seen from the statistics of many.
pub trait Row<S>: Sized {
    /// The log-likelihood of the rows that the statistics summarise.
    fn log_likelihood_of_rows(&self, stats: &S) -> f64;

    /// Draws a row.
    fn draw_row(&self, rng: &mut dyn Rng) -> Vec<f64>;

    /// The distribution, where a row is one number.
    fn into_univariate(self) -> Option<Box<dyn Univariate>> {
        None
    }
}

impl<F: Family + Univariate + 'static> Row<F::Stats> for F {
    fn log_likelihood_of_rows(&self, stats: &F::Stats) -> f64 {
        self.log_likelihood(stats)
    }

    fn draw_row(&self, rng: &mut dyn Rng) -> Vec<f64> {
        vec![self.draw(rng)]
    }

    fn into_univariate(self) -> Option<Box<dyn Univariate>> {
        Some(Box::new(self))
    }
}

/// Adds numbers, each a row, to the statistics of a family of one real column.
fn observe_reals<F: Family>(cells: &[f64], weights: &[f64], stats: &mut F::Stats) {
    F::observe(&Rows::new(&[Cells::real(cells)]), weights, stats);
}

/// Adds codes of levels, each a row, to the statistics of a family over levels.
fn observe_codes<F: Family>(cells: &[f64], weights: &[f64], stats: &mut F::Stats) {
    let codes: Vec<u32> = cells.iter().map(|x| *x as u32).collect();
    F::observe(&Rows::new(&[Cells::code(&codes)]), weights, stats);
}

pub(crate) fn improper() -> Error {
    improper_because("the rows do not determine the parameters")
}

/// A posterior that does not integrate.
pub(crate) fn improper_because(why: &str) -> Error {
    Error::numeric(format!("the posterior is improper: {why}"))
        .with_hint("use more rows or a proper prior")
}

/// The distribution, if it is proper.
fn proper<P: Prior>(belief: P) -> Result<P> {
    if belief.is_proper() {
        Ok(belief)
    } else {
        Err(improper())
    }
}

fn unknown_prior(name: &str, known: &str) -> Error {
    Error::parameter(format!("\"{name}\" is not a prior of this family"))
        .with_hint(format!("the priors are {known}"))
}

/// The numbers of a prior, as many as it has.
fn numbers<const N: usize>(name: &str, given: &[f64]) -> Result<[f64; N]> {
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

/// A prior that takes no numbers.
fn without_numbers<P>(name: &str, given: &[f64], prior: P) -> Result<P> {
    numbers::<0>(name, given).map(|_| prior)
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod natural_laws;
