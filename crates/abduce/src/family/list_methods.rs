//! The methods of distributions and statistics of any family: one `match` over the list in
//! `list.rs`.

use crate::data::Rows;
use crate::density::{Histogram, KernelDensity};
use crate::family::list::{Distribution, Statistics, with_families};
use crate::family::{
    Bernoulli, Beta, Categorical, Components, Domain, Exponential, Family, Fill, Gamma, Gaussian,
    Geometric, LogNormal, MultivariateGaussian, MultivariateStudentT, NegativeBinomial, Poisson,
    Presence, Scale, Stats, StudentT, Uniform, UniformBox, VonMises, Words, ZeroInflatedPoisson,
};
use crate::{Error, Result};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident($type:ident),)*) => {
        $(impl From<$type> for Distribution {
            fn from(distribution: $type) -> Distribution {
                Distribution::$variant(distribution)
            }
        })*

        impl Distribution {
            /// The family's name.
            pub fn name(&self) -> &'static str {
                match self { $(Distribution::$variant(_) => <$type as Family>::NAME,)* }
            }

            /// Adds each row's log-density to `out`.
            pub fn add_log_density(&self, rows: &Rows, out: &mut [f64]) {
                match self { $(Distribution::$variant(d) => d.add_log_density(rows, out),)* }
            }

            /// Adds rows to statistics of this family, with missing values replaced by their
            /// expectation.
            pub fn expect(&self, rows: &Rows, weights: &[f64], stats: &mut Statistics) {
                match (self, stats) {
                    $((Distribution::$variant(d), Statistics::$variant(stats)) => {
                        d.expect(rows, weights, stats)
                    })*
                    _ => debug_assert!(false, "statistics of another family"),
                }
            }

            /// The log-likelihood of the rows that the statistics summarise.
            pub fn log_likelihood(&self, stats: &Statistics) -> f64 {
                match (self, stats) {
                    $((Distribution::$variant(d), Statistics::$variant(stats)) => d.log_likelihood(stats),)*
                    // No rows have the likelihood 1 under any family.
                    (_, stats) if stats.weight() <= 0.0 => 0.0,
                    _ => f64::NEG_INFINITY,
                }
            }

            /// Fills the missing values of one row of the leaf's columns.
            pub fn fill(&self, how: Fill, row: &[Option<f64>], rng: &mut dyn Rng, out: &mut [f64]) {
                match self { $(Distribution::$variant(d) => d.fill(how, row, rng, out),)* }
            }

            /// The smallest variance in any direction, as a share of the table's.
            pub fn spread(&self, scales: &[Scale]) -> f64 {
                match self { $(Distribution::$variant(d) => d.spread(scales),)* }
            }

            /// Its mean, or its probabilities of levels; empty for documents.
            pub fn place(&self) -> Vec<f64> {
                if let Some(probabilities) = self.probabilities() {
                    return probabilities;
                }
                match self {
                    $(Distribution::$variant(d) => {
                        if <$type as Domain>::TEXT {
                            return Vec::new();
                        }
                        let columns = <$type as Domain>::columns(&d.shape());
                        let mut mean = vec![0.0; columns];
                        let mut rng = ChaCha8Rng::seed_from_u64(0);
                        d.fill(Fill::Mean, &vec![None; columns], &mut rng, &mut mean);
                        mean
                    })*
                }
            }

            /// The probabilities of the levels, for a family over levels.
            pub fn probabilities(&self) -> Option<Vec<f64>> {
                match self { $(Distribution::$variant(d) => d.probabilities(),)* }
            }
        }

        impl Statistics {
            /// The total weight of the rows.
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

            /// Multiplies the weight of every row by `factor`.
            pub fn scale(&mut self, factor: f64) {
                match self { $(Statistics::$variant(s) => s.scale(factor),)* }
            }

            /// Takes out what `other` saw.
            ///
            /// # Errors
            /// If `other` cannot have been part of these rows.
            pub fn forget(&mut self, other: &Statistics) -> Result<()> {
                match (self, other) {
                    $((Statistics::$variant(a), Statistics::$variant(b)) => a.forget(b),)*
                    _ => Err(mixed_families()),
                }
            }
        }
    };
}

fn mixed_families() -> Error {
    Error::parameter("statistics and distribution are of different families")
}

with_families!(methods);
