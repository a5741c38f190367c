//! Families of distributions, one file each: statistics, parameters, prior, density, estimate and
//! sampler. The list in `list.rs` names them all; mixtures, model files and the laws of families
//! follow it.

mod categorical;
mod components;
pub(crate) mod conjugate;
mod continuous;
mod counts;
mod domain;
mod exponential_family;
#[cfg(test)]
pub(crate) mod laws;
mod list;
mod list_methods;
mod multi;
mod multivariate;
mod named;
mod predictive;
mod priors;
mod scalar;
mod sums;
mod text;
mod unconstrained;
mod univariate;
mod validate;

pub use categorical::bernoulli::{Bernoulli, BernoulliStats};
pub use categorical::categorical::{Categorical, CategoricalStats};
pub(crate) use categorical::categorical::{draw_index, most_probable};
pub use categorical::multinomial::Multinomial;
pub use categorical::pseudocounts::Pseudocounts;
pub(crate) use components::merged;
pub use components::{Components, PriorStrength, Scale};
pub use conjugate::{
    BernoulliProbability, BinomialProbability, CategoricalProbabilities, Conjugate,
    ConjugateFamily, ExponentialRate, FailureStats, GammaRate, GaussianBoth, GaussianMean,
    GaussianPrecision, LogNormalBoth, Marginals, MeanAndMatrix, MultinomialProbabilities,
    MultinomialStats, MultivariateBoth, MultivariateMean, MultivariateMeanPrecision,
    MultivariatePrecision, NaturalExpectation, NegativeBinomialProbability, Parameters,
    PoissonRate, Prior, Row, UniformEnds, covariance_belief,
};
pub(crate) use conjugate::{improper, improper_because};
pub use continuous::beta::Beta;
pub use continuous::beta_stats::BetaStats;
pub use continuous::exponential::{Exponential, ExponentialStats};
pub use continuous::gamma::{Gamma, GammaStats};
pub use continuous::gaussian::{Gaussian, GaussianPrior, GaussianStats};
pub use continuous::histogram::HistogramPrior;
pub use continuous::kernel_density::KernelPrior;
pub use continuous::log_normal::LogNormal;
pub use continuous::point_stats::PointStats;
pub use continuous::student_t::StudentT;
pub use continuous::uniform::Uniform;
pub use continuous::von_mises::VonMises;
pub(crate) use continuous::von_mises::turned;
pub use continuous::von_mises_stats::VonMisesStats;
pub use counts::binomial::{BetaBinomial, Binomial, BinomialStats};
pub use counts::geometric::{Geometric, GeometricStats};
pub use counts::negative_binomial::NegativeBinomial;
pub use counts::point_mass::PointMass;
pub use counts::poisson::{Poisson, PoissonStats};
pub use counts::zero_inflated_poisson::{ZeroInflatedPoisson, ZeroInflatedPoissonStats};
pub use domain::Domain;
pub use exponential_family::ExponentialFamily;
pub use list::{Distribution, LeafFamily, Statistics};
pub use multi::{Divergence, Multi};
pub use multivariate::uniform_box::{BoxStats, Side, UniformBox};
pub use multivariate::{
    Covariance, MultivariateGaussian, MultivariatePrior, MultivariateShape, MultivariateStats,
    MultivariateStudentT, MultivariateStudentTShape, MultivariateStudentTStats, Structure,
};
pub(crate) use multivariate::{Filler, TogetherKernel, TogetherRun};
pub(crate) use named::{Named, densities};
pub use named::{named, names_of_numbers};
pub use predictive::averaged::Averaged;
pub use predictive::averaged_angles::AveragedAngles;
pub use predictive::beta_negative_binomial::BetaNegativeBinomial;
pub use predictive::beta_prime::BetaPrime;
pub use predictive::dirichlet_multinomial::DirichletMultinomial;
pub use predictive::exponentiated::Exponentiated;
pub use predictive::lomax::Lomax;
pub use predictive::multivariate_t::MultivariateT;
pub use predictive::uncertain_uniform::UniformPredictive;
pub use priors::bilateral_pareto::BilateralPareto;
pub use priors::dirichlet::Dirichlet;
pub use priors::inverse_gamma::InverseGamma;
pub use priors::inverse_wishart::InverseWishart;
pub use priors::normal_gamma::NormalGamma;
pub use priors::normal_wishart::{
    MatrixOfGaussian, NormalInverseWishart, NormalMatrix, NormalWishart,
};
pub use priors::wishart::Wishart;
pub use scalar::Scalar;
pub(crate) use sums::sums;
pub use text::presence::{Presence, PresencePrior};
pub use text::term_stats::TermStats;
pub use text::words::{Words, WordsShape};
pub use unconstrained::Unconstrained;
pub(crate) use unconstrained::{logarithms, shares};
pub(crate) use univariate::highest_between;
pub use univariate::{Univariate, divergence};
pub use validate::Validate;

use crate::data::Rows;
use crate::{Error, Result};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The sufficient statistics of rows: a commutative monoid, whose zero is [`Family::zero`].
pub trait Stats:
    Clone + std::fmt::Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned
{
    /// The total weight of the rows.
    fn weight(&self) -> f64;

    /// Adds the statistics of other rows.
    fn merge(&mut self, other: &Self);

    /// Multiplies the weight of every row by `factor`.
    fn scale(&mut self, factor: f64);

    /// Removes rows that were added before.
    ///
    /// # Errors
    /// If the rows cannot have been part of these.
    fn forget(&mut self, other: &Self) -> Result<()>;
}

/// How to fill a missing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// With the expected value; a level is the most probable one.
    Mean,
    /// With the most probable value.
    Mode,
    /// With a random draw.
    Draw,
}

/// One distribution over one column, or over one group of columns: how it is estimated
/// from statistics, its density and its draws.
///
/// `rows` hold the family's columns only. A row is also written as a slice of
/// numbers, with a level as its code.
///
/// What else a model asks of a family is in the traits [`Domain`], [`Components`],
/// [`Unconstrained`] and [`Validate`].
pub trait Family: Clone + std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned {
    /// The name users read.
    const NAME: &'static str;
    /// Whether each row has a latent variable. Estimates from
    /// [`observe`](Family::observe) are then only where EM starts, and the
    /// log-likelihood of statistics is an expected one.
    const LATENT: bool = false;
    /// The sufficient statistics of rows.
    type Stats: Stats;
    /// What is fixed before the fit: the number of levels or of columns.
    type Shape: Clone + std::fmt::Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned;
    /// The prior whose mode the estimate is; its default is flat.
    type Prior: Clone
        + std::fmt::Debug
        + PartialEq
        + Default
        + Send
        + Sync
        + Serialize
        + DeserializeOwned;

    /// Statistics of no row.
    fn zero(shape: &Self::Shape) -> Self::Stats;

    /// The shape that this distribution has.
    fn shape(&self) -> Self::Shape;

    /// Adds rows to the statistics, each with its weight; missing values add nothing.
    fn observe(rows: &Rows, weights: &[f64], stats: &mut Self::Stats);

    /// Like [`observe`](Family::observe), with missing values replaced by their
    /// expectation under this distribution given the observed ones. Families of one
    /// column lose nothing by leaving missing values out.
    fn expect(&self, rows: &Rows, weights: &[f64], stats: &mut Self::Stats) {
        let _ = self;
        Self::observe(rows, weights, stats);
    }

    /// Adds each row's log-density to `out`, with missing values integrated out.
    fn add_log_density(&self, rows: &Rows, out: &mut [f64]);

    /// The mode of the posterior under a prior; with the default prior, the
    /// maximum-likelihood estimate.
    ///
    /// # Errors
    /// If the statistics do not determine it, as when there are no rows.
    fn map(stats: &Self::Stats, prior: &Self::Prior) -> Result<Self>;

    /// The maximum-likelihood estimate.
    ///
    /// # Errors
    /// See [`map`](Family::map).
    fn mle(stats: &Self::Stats) -> Result<Self> {
        Self::map(stats, &Self::Prior::default())
    }

    /// The log-density of the prior at this distribution, up to a constant.
    fn log_prior(&self, prior: &Self::Prior) -> f64;

    /// The log-likelihood of the rows that the statistics summarise.
    fn log_likelihood(&self, stats: &Self::Stats) -> f64;

    /// The number of free parameters.
    fn parameters(shape: &Self::Shape) -> usize;

    /// Fills the missing values of one row given its observed ones; `row` and `out`
    /// hold the family's columns.
    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]);

    /// Draws one row.
    fn sample(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        let nothing = vec![None; out.len()];
        self.fill(Fill::Draw, &nothing, rng, out);
    }
}

/// Whether a number is 0, and so left out of files.
pub(crate) fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

pub(crate) fn nothing_seen() -> Error {
    Error::numeric("there are no rows to estimate from")
}

pub(crate) fn never_seen() -> Error {
    Error::data("rows to forget that were never fitted")
}

/// Whether a number is a count.
pub(crate) fn is_count(x: f64) -> bool {
    x >= 0.0 && x.is_finite() && x.fract() == 0.0
}

/// `count` · `log`, where 0 · −∞ is 0.
pub(crate) fn times(count: f64, log: f64) -> f64 {
    if count > 0.0 { count * log } else { 0.0 }
}
