//! Mixtures of products of families, whose rows have a label that may be missing,
//!
//!   p(x, z) = π_z ∏_leaf p(x_leaf | θ_leaf,z).
//!
//! If every row has a label, this is naive Bayes or discriminant analysis, fitted in one pass; if
//! none has, it is clustering; if some have, it is semi-supervised learning. A leaf is a family
//! over one column or, for the multivariate Gaussian and Student t, several.

mod answer;
mod builder;
mod check;
mod fit;
mod fitted;
mod incremental;
mod initialise;
mod learner;
mod report;
mod select;
mod specification;
mod step;
mod stored;

pub use answer::discriminant::{ClassGaussians, Directions};
pub use answer::joint::LogJoint;
pub(crate) use fit::interrupted;
pub use fit::unlabelled::{Tried, Unlabelled, UnlabelledChoice};
pub use fit::{Fit, FitOptions, fit, fit_from, fit_from_mixture};
pub use fitted::{Details, Recipe};
pub use incremental::change::NO_MARKS;
pub use incremental::marks::Marks;
pub use initialise::Init;
pub use initialise::outcome::{Ended, Start};
pub use learner::{Choice, Mixture};
pub use report::diagnostics::{ComponentDiagnostics, Diagnostics};
pub use select::bootstrap::{BootstrapOptions, BootstrapStep, BootstrapTest, bootstrap_test};
pub use select::distinct::SameCovariances;
pub use select::{Candidate, Criterion, Grid, Selection, select};
pub use specification::given::Held;
pub use specification::normal_prior::NormalPrior;
pub use specification::smoothing::{ClassPrior, Event, MEstimate};
pub use specification::tails::Tails;
pub use specification::{CovarianceKind, Reals, Specification};

use crate::data::Schema;
use crate::family::{Distribution, Statistics};
use crate::leaf::{Leaf, TableSummary};
pub(crate) use initialise::sample::sample_rows;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use step::maximize::WeightPrior;

/// θ: the weights of the components and the distributions of each leaf.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    /// π, which sums to 1.
    pub weights: Vec<f64>,
    /// For each leaf, one distribution per component.
    pub leaves: Vec<Vec<Distribution>>,
    /// For each leaf over levels, the probability of an unseen category, one per component: a
    /// smoothed probability, or 1 if an unseen category is treated as a missing value. Empty if an
    /// unseen category is impossible.
    #[serde(default, skip_serializing_if = "nothing_unseen")]
    pub unseen: Vec<Vec<f64>>,
}

fn nothing_unseen(unseen: &[Vec<f64>]) -> bool {
    unseen.iter().all(Vec::is_empty)
}

/// Expected sufficient statistics of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureStatistics {
    /// The sum of the responsibilities of each component.
    pub weights: Vec<f64>,
    /// For each leaf, the statistics of each component.
    pub leaves: Vec<Vec<Statistics>>,
    /// The log-likelihood of the rows; −∞ where a class of prior 0 has some.
    #[serde(deserialize_with = "crate::validate::number_or_minus_infinity")]
    pub log_likelihood: f64,
    /// The total weight of the rows.
    pub total: f64,
}

/// A fitted mixture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FittedMixture {
    /// The columns of the table.
    pub schema: Schema,
    /// The column that holds the label, if there is one: its levels are the components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<usize>,
    /// The leaves: each component is a product of their distributions.
    pub leaves: Vec<Leaf>,
    /// α of the Dirichlet(1 + α) prior of the weights.
    #[serde(default)]
    pub weight_smoothing: f64,
    /// The weights, if they are given instead of learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_weights: Option<Vec<f64>>,
    /// Whether predictions integrate out the parameters instead of using θ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub predictive: bool,
    /// θ.
    pub parameters: Parameters,
    /// The statistics from which θ was estimated.
    pub statistics: MixtureStatistics,
    /// Counts and moments of all rows together.
    #[serde(default, rename = "seen")]
    pub summary: TableSummary,
    /// Hashes of the fitted rows, which recognize rows that were never fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
    /// The matrices that a model file stores separately; empty while the model is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    matrices: Vec<stored::StoredMatrix>,
    /// The posterior predictive distributions, computed when they are first used.
    #[serde(skip)]
    predictive_parameters: OnceLock<Box<Parameters>>,
}

impl FittedMixture {
    /// A mixture with given parameters that was not fitted to rows.
    pub fn given(
        schema: Schema,
        target: Option<usize>,
        leaves: Vec<Leaf>,
        parameters: Parameters,
    ) -> FittedMixture {
        FittedMixture {
            statistics: MixtureStatistics::zero(&leaves, parameters.weights.len()),
            summary: TableSummary::empty(schema.fields.len()),
            schema,
            target,
            leaves,
            weight_smoothing: 0.0,
            given_weights: None,
            predictive: false,
            parameters,
            marks: None,
            matrices: Vec::new(),
            predictive_parameters: OnceLock::new(),
        }
    }

    /// Whether it has densities: complement naive Bayes has only scores.
    pub fn is_generative(&self) -> bool {
        self.leaves.iter().all(|leaf| leaf.family.is_generative())
    }

    /// The number of components.
    pub fn components(&self) -> usize {
        self.parameters.weights.len()
    }

    /// Whether the last component is noise.
    pub fn has_noise(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.noise.is_some())
    }

    /// The names of the components: the labels, or numbers from 1, and `noise`.
    pub fn names(&self) -> Vec<String> {
        if let Some(target) = self.target {
            return self.schema.fields[target].levels.clone();
        }
        let clusters = self.components() - usize::from(self.has_noise());
        let names = (1..=clusters).map(|j| j.to_string());
        names
            .chain(self.has_noise().then(|| "noise".into()))
            .collect()
    }

    /// The number of free parameters.
    pub fn free_parameters(&self) -> usize {
        let weights = match self.given_weights {
            Some(_) => 0,
            None => self.components().saturating_sub(1),
        };
        // The volume of noise counts as one, as in mclust.
        let noise = usize::from(self.has_noise());
        weights + noise + specification::free_parameters(&self.leaves, self.components())
    }

    /// The prior of the weights.
    fn weight_prior(&self) -> WeightPrior {
        WeightPrior {
            smoothing: self.weight_smoothing,
            given: self.given_weights.clone(),
        }
    }

    /// The log-prior of the parameters, up to a constant.
    pub fn log_prior(&self) -> f64 {
        step::maximize::log_prior(&self.leaves, &self.weight_prior(), &self.parameters)
    }
}
