//! The options of mixtures to be fitted, as methods that can be chained.

use super::{
    Choice, ClassPrior, CovarianceKind, Criterion, Grid, Mixture, NormalPrior, Reals, Recipe,
    Tails, Unlabelled,
};
use crate::leaf::{FamilyName, Unseen};
use crate::learn::EmOptions;
use crate::model::gaussian::Gaussian;
use crate::model::gda::Gda;
use crate::model::naive_bayes::NaiveBayes;
use std::ops::RangeInclusive;

/// Defines methods of the type `$model` that change the recipe `$recipe` of the value `$learner`.
macro_rules! options {
    ($model:ident, $learner:ident => $recipe:expr; $(
        $(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) |$set:ident| $body:expr;
    )*) => {
        impl $model {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $($argument: $type),*) -> Self {
                let $learner = &mut self;
                let $set: &mut Recipe = $recipe;
                $body;
                self
            })*
        }
    };
}

/// The options of every mixture.
macro_rules! common_options {
    ($model:ident, $learner:ident => $recipe:expr) => {
        options! { $model, $learner => $recipe;
            /// The prior scatter of each variance, as a share of the variance of the column; it
            /// keeps variances from collapsing to zero.
            variance_floor(share: f64) |recipe| recipe.specification.variance_floor = share;
            /// The seed of all random numbers.
            seed(seed: u64) |recipe| recipe.options.seed = seed;
            /// The relative change of the mean log-likelihood at which the fit ends.
            tolerance(tolerance: f64) |recipe| recipe.options.em.tolerance = tolerance;
            /// The maximum number of iterations.
            max_iterations(number: usize) |recipe| recipe.options.em.max_iterations = number;
            /// How EM runs.
            em(options: EmOptions) |recipe| recipe.options.em = options;
        }
    };
}

/// The options of mixtures whose columns may be of any kind.
macro_rules! column_options {
    ($model:ident, $learner:ident => $recipe:expr) => {
        options! { $model, $learner => $recipe;
            /// The family of a column, which otherwise follows from its kind.
            family(column: impl Into<String>, family: FamilyName) |recipe| {
                recipe.specification.families.push((column.into(), family));
            };
            /// The pseudocount added to each level and each word.
            smoothing(pseudocount: f64) |recipe| recipe.specification.smoothing = pseudocount;
            /// How categories that the fitted rows do not have are treated.
            unseen(unseen: Unseen) |recipe| recipe.specification.unseen = unseen;
            /// Gives a column the same distribution in every class or component.
            tie(column: impl Into<String>) |recipe| {
                recipe.specification.tied.push(column.into());
            };
        }
    };
}

/// The options of labelled classes.
macro_rules! class_options {
    ($model:ident) => {
        options! { $model, learner => &mut learner.0;
            /// Where the probabilities of the classes come from.
            class_prior(prior: ClassPrior) |recipe| recipe.specification.class_prior = prior;
            /// The weight of rows without a label.
            unlabelled(weight: f64) |recipe| {
                recipe.options.unlabelled = Unlabelled::Weight(weight);
            };
            /// Keeps a hash of every row, to recognize rows to forget that were never fitted.
            marks(keep: bool) |recipe| recipe.options.marks = keep;
        }
    };
}

/// The options of numbers that are modelled together.
macro_rules! normal_options {
    ($model:ident, $learner:ident => $recipe:expr) => {
        options! { $model, $learner => $recipe;
            /// The structure of the covariance.
            covariance(kind: CovarianceKind) |recipe| {
                if let Reals::Together { covariance, .. } = &mut recipe.specification.reals {
                    *covariance = kind;
                }
            };
            /// The prior of the Gaussians.
            prior(prior: NormalPrior) |recipe| recipe.specification.normal_prior = Some(prior);
            /// The tails of the numbers.
            tails(tails: Tails) |recipe| recipe.specification.tails = tails;
        }
    };
}

common_options! { NaiveBayes, learner => &mut learner.0 }
common_options! { Gda, learner => &mut learner.0 }
common_options! { Gaussian, learner => &mut learner.0 }
common_options! { Mixture, learner => &mut learner.recipe }
column_options! { NaiveBayes, learner => &mut learner.0 }
column_options! { Gda, learner => &mut learner.0 }
column_options! { Mixture, learner => &mut learner.recipe }
class_options! { NaiveBayes }
class_options! { Gda }
normal_options! { Gda, learner => &mut learner.0 }
normal_options! { Gaussian, learner => &mut learner.0 }
normal_options! { Mixture, learner => &mut learner.recipe }

options! { NaiveBayes, learner => &mut learner.0;
    /// Whether questions are answered with the parameters integrated out.
    predictive(predictive: bool) |recipe| recipe.specification.predictive = predictive;
}

options! { Mixture, learner => &mut learner.recipe;
    /// The number of starts.
    restarts(number: usize) |recipe| recipe.options.restarts = number;
    /// Adds a component of noise, uniform over the range of the rows.
    noise(noise: bool) |recipe| recipe.specification.noise = noise;
}

impl Mixture {
    /// As many clusters as a criterion chooses.
    ///
    /// ```
    /// use abduce::prelude::*;
    /// use abduce::model::mixture::Criterion;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("rows.csv");
    /// # let rows: String = (0..60).map(|i| format!("{}\n", f64::from(i % 2 * 9) + f64::from(i).sin())).collect();
    /// # std::fs::write(&path, format!("x\n{rows}"))?;
    /// let table = Table::read(&path)?;
    /// let model = Mixture::choose(1..=2, Criterion::Bic).fit(&table)?;
    /// assert_eq!(model.names().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn choose(components: RangeInclusive<usize>, criterion: Criterion) -> Mixture {
        Mixture {
            choice: Choice::Grid(Grid {
                components: components.collect(),
                covariances: Vec::new(),
                criterion,
                folds: 5,
            }),
            ..Mixture::new(1)
        }
    }
}
