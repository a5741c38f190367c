//! Families of distributions, one file each: its statistics, its parameters,
//! its prior, its density, estimate and sampler. The list at the end of this
//! file is the only place that names them all; the mixture, the model file and
//! the laws are driven by it.

mod bernoulli;
mod categorical;
mod exponential;
mod gaussian;
mod multivariate;
mod poisson;

pub use bernoulli::{Bernoulli, BernoulliStats};
pub use categorical::{Categorical, CategoricalStats};
pub(crate) use categorical::{draw_index, most_probable};
pub use exponential::{Exponential, ExponentialStats};
pub use gaussian::{Gaussian, GaussianPrior, GaussianStats};
pub use multivariate::{
    Covariance, MultivariateGaussian, MultivariatePrior, MultivariateShape, MultivariateStats,
    Structure,
};
pub(crate) use multivariate::{GaussianRun, MultivariateKernel};
pub use poisson::{Poisson, PoissonStats};

use crate::data::Rows;
use crate::{Error, Result};
use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a family remembers of the rows it saw: a commutative monoid. The zero
/// is [`Family::zero`].
pub trait Stats:
    Clone + std::fmt::Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned
{
    /// The total weight of the rows seen.
    fn weight(&self) -> f64;

    /// Adds what `other` saw.
    fn merge(&mut self, other: &Self);

    /// Makes every row seen weigh `factor` times as much.
    fn scale(&mut self, factor: f64);

    /// Takes out what `other` saw.
    ///
    /// # Errors
    /// If `other` cannot have been part of what was seen.
    fn forget(&mut self, other: &Self) -> Result<()>;
}

/// How to fill a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// With the expected value; a coded cell gets its most probable level.
    Mean,
    /// With the most probable value.
    Mode,
    /// With a random draw.
    Draw,
}

/// One distribution over one column, or over one group of columns.
///
/// `rows` hold the family's columns only. A row is also written as a slice of
/// numbers, with a level as its code.
pub trait Family: Clone + std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned {
    /// The name users read.
    const NAME: &'static str;
    /// What it remembers of rows.
    type Stats: Stats;
    /// What is known before any row: the number of levels or of columns.
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

    /// Adds rows to the statistics, each with its weight; what is hidden adds
    /// nothing.
    fn observe(rows: &Rows, weights: &[f64], stats: &mut Self::Stats);

    /// Like [`observe`](Family::observe), with hidden cells replaced by what
    /// this distribution expects of them given the seen ones. Families of one
    /// column lose nothing by leaving hidden cells out.
    fn expect(&self, rows: &Rows, weights: &[f64], stats: &mut Self::Stats) {
        let _ = self;
        Self::observe(rows, weights, stats);
    }

    /// Adds each row's log-density to `out`, with hidden cells integrated out.
    fn add_log_density(&self, rows: &Rows, out: &mut [f64]);

    /// The mode of the posterior under a prior; with the default prior, the
    /// maximum-likelihood estimate.
    ///
    /// # Errors
    /// If the statistics do not determine it, as when nothing was seen.
    fn map(stats: &Self::Stats, prior: &Self::Prior) -> Result<Self>;

    /// The maximum-likelihood estimate.
    ///
    /// # Errors
    /// As [`map`](Family::map).
    fn mle(stats: &Self::Stats) -> Result<Self> {
        Self::map(stats, &Self::Prior::default())
    }

    /// The log-density of the prior at this distribution, up to a constant.
    fn log_prior(&self, prior: &Self::Prior) -> f64;

    /// The log-likelihood of the rows that the statistics sum up.
    fn log_likelihood(&self, stats: &Self::Stats) -> f64;

    /// The number of free parameters.
    fn parameters(shape: &Self::Shape) -> usize;

    /// Fills the holes of one row given what is seen of it; `row` and `out`
    /// hold the family's columns.
    fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]);

    /// The probabilities of the levels, for a family over levels.
    fn probabilities(&self) -> Option<Vec<f64>> {
        None
    }

    /// Draws one row.
    fn sample(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        let nothing = vec![None; out.len()];
        self.fill(Fill::Draw, &nothing, rng, out);
    }

    /// Distributions that the laws are tried on.
    fn examples() -> Vec<Self>;
}

pub(crate) fn nothing_seen() -> Error {
    Error::numeric("nothing was seen to estimate from")
}

/// Calls `$with!` with the list of families: variant, type.
macro_rules! with_families {
    ($with:ident) => {
        $with! {
            /// A real column.
            Gaussian(Gaussian),
            /// Real columns together.
            Multivariate(MultivariateGaussian),
            /// A column of levels.
            Categorical(Categorical),
            /// A column of noes and yeses.
            Bernoulli(Bernoulli),
            /// A column of counts.
            Poisson(Poisson),
            /// A column of waiting times.
            Exponential(Exponential),
        }
    };
}

macro_rules! closed_enums {
    ($($(#[$doc:meta])* $variant:ident($type:ident),)*) => {
        /// A distribution of any family: the leaf of a component.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(tag = "family", rename_all = "kebab-case")]
        pub enum Distribution { $($(#[$doc])* $variant($type),)* }

        /// The statistics of any family.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "family", rename_all = "kebab-case")]
        pub enum Statistics { $($(#[$doc])* $variant(<$type as Family>::Stats),)* }

        /// What is known of a leaf before any row, and the prior of its
        /// parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "family", rename_all = "kebab-case")]
        pub enum LeafFamily {
            $(
                $(#[$doc])*
                $variant {
                    /// The number of levels or columns.
                    shape: <$type as Family>::Shape,
                    /// The prior whose mode is estimated.
                    #[serde(default)]
                    prior: <$type as Family>::Prior,
                },
            )*
        }

        impl LeafFamily {
            /// The family's name.
            pub fn name(&self) -> &'static str {
                match self { $(LeafFamily::$variant { .. } => <$type as Family>::NAME,)* }
            }

            /// Statistics of no row.
            pub fn zero(&self) -> Statistics {
                match self {
                    $(LeafFamily::$variant { shape, .. } => {
                        Statistics::$variant(<$type as Family>::zero(shape))
                    })*
                }
            }

            /// Adds rows to statistics of this family.
            pub fn observe(&self, rows: &Rows, weights: &[f64], stats: &mut Statistics) {
                match stats {
                    $(Statistics::$variant(stats) => <$type as Family>::observe(rows, weights, stats),)*
                }
            }

            /// The posterior mode of the parameters.
            ///
            /// # Errors
            /// If the statistics do not determine it, or are of another family.
            pub fn map(&self, stats: &Statistics) -> Result<Distribution> {
                match (self, stats) {
                    $((LeafFamily::$variant { prior, .. }, Statistics::$variant(stats)) => {
                        <$type as Family>::map(stats, prior).map(Distribution::$variant)
                    })*
                    _ => Err(mixed_families()),
                }
            }

            /// The log-density of the prior, up to a constant.
            pub fn log_prior(&self, distribution: &Distribution) -> f64 {
                match (self, distribution) {
                    $((LeafFamily::$variant { prior, .. }, Distribution::$variant(d)) => d.log_prior(prior),)*
                    _ => 0.0,
                }
            }

            /// The number of free parameters of one distribution.
            pub fn parameters(&self) -> usize {
                match self {
                    $(LeafFamily::$variant { shape, .. } => <$type as Family>::parameters(shape),)*
                }
            }
        }

        impl Distribution {
            /// The family's name.
            pub fn name(&self) -> &'static str {
                match self { $(Distribution::$variant(_) => <$type as Family>::NAME,)* }
            }

            /// Adds each row's log-density to `out`.
            pub fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
                match self { $(Distribution::$variant(d) => d.add_log_density(rows, out),)* }
            }

            /// Adds rows to statistics of this family, with hidden cells
            /// replaced by what is expected of them.
            pub fn expect(&self, rows: &Rows, weights: &[f64], stats: &mut Statistics) {
                match (self, stats) {
                    $((Distribution::$variant(d), Statistics::$variant(stats)) => {
                        d.expect(rows, weights, stats)
                    })*
                    _ => debug_assert!(false, "statistics of another family"),
                }
            }

            /// The log-likelihood of the rows that the statistics sum up.
            pub fn log_likelihood(&self, stats: &Statistics) -> f64 {
                match (self, stats) {
                    $((Distribution::$variant(d), Statistics::$variant(stats)) => d.log_likelihood(stats),)*
                    _ => f64::NEG_INFINITY,
                }
            }

            /// Fills the holes of one row of the leaf's columns.
            pub fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
                match self { $(Distribution::$variant(d) => d.fill(how, row, rng, out),)* }
            }

            /// The probabilities of the levels, for a family over levels.
            pub fn probabilities(&self) -> Option<Vec<f64>> {
                match self { $(Distribution::$variant(d) => d.probabilities(),)* }
            }
        }

        impl Statistics {
            /// The total weight of the rows seen.
            pub fn weight(&self) -> f64 {
                match self { $(Statistics::$variant(s) => s.weight(),)* }
            }

            /// Adds what `other` saw; statistics of another family add nothing.
            pub fn merge(&mut self, other: &Statistics) {
                match (self, other) {
                    $((Statistics::$variant(a), Statistics::$variant(b)) => a.merge(b),)*
                    _ => debug_assert!(false, "statistics of another family"),
                }
            }

            /// Takes out what `other` saw.
            ///
            /// # Errors
            /// If `other` cannot have been part of what was seen.
            pub fn forget(&mut self, other: &Statistics) -> Result<()> {
                match (self, other) {
                    $((Statistics::$variant(a), Statistics::$variant(b)) => a.forget(b),)*
                    _ => Err(mixed_families()),
                }
            }
        }

        #[cfg(test)]
        mod laws_of_every_family {
            use super::*;
            $(
                #[test]
                #[allow(non_snake_case)]
                fn $variant() {
                    super::laws::hold_for::<$type>();
                }
            )*
        }
    };
}

fn mixed_families() -> Error {
    Error::parameter("statistics and distribution are of different families")
}

with_families!(closed_enums);

#[cfg(test)]
mod laws;
