//! The specification of a mixture, and the leaves it gives for a schema: the family of each
//! column, and whether the real columns are independent (naive Bayes) or share one Gaussian
//! (Gaussian discriminant analysis, Gaussian mixtures).

pub(crate) mod given;
pub(crate) mod noise;
pub(crate) mod normal_prior;
pub(crate) mod smoothing;
pub(crate) mod tails;
mod text_or_fields;

use crate::data::{Kind, Schema};
use crate::leaf::TableSummary;
use crate::leaf::{FamilyName, Leaf, Unseen};
use crate::model::mixture::{ClassPrior, Event, Held, MEstimate, NormalPrior, Tails};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The covariance of a Gaussian over several columns.
pub use crate::family::Structure as CovarianceKind;

/// The largest pseudocount or other prior parameter: sums and products of larger ones overflow.
pub(crate) const MAX_PRIOR: f64 = 1e100;

/// How real columns are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reals {
    /// Each column has its own distribution, independent of the others given the component.
    Alone,
    /// One multivariate Gaussian for all columns.
    Together {
        /// The structure of the covariance.
        covariance: CovarianceKind,
        /// Whether count columns are part of the Gaussian.
        counts: bool,
    },
}

/// The specification of a mixture: the family of each column, the number of components, and the
/// priors.
///
/// ```
/// use abduce::model::mixture::{CovarianceKind, Specification};
/// let naive = Specification::naive_bayes("species");
/// assert_eq!(naive.smoothing, 1.0);
/// let clusters = Specification::mixture(3, CovarianceKind::Tied);
/// assert_eq!(clusters.components, Some(3));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Specification {
    /// The column that holds the label.
    pub target: Option<String>,
    /// The number of components; with a target, it is the number of the target's levels.
    pub components: Option<usize>,
    /// How real columns are modelled.
    pub reals: Reals,
    /// The tails of the multivariate distribution of the real columns.
    #[serde(default, deserialize_with = "text_or_fields::text_or_fields")]
    #[serde(skip_serializing_if = "Tails::are_gaussian")]
    pub tails: Tails,
    /// Families chosen by the user for single columns.
    pub families: Vec<(String, FamilyName)>,
    /// α of the Dirichlet(1 + α) priors on the probabilities of levels.
    pub smoothing: f64,
    /// α of the Dirichlet(1 + α) prior on the weights of the components.
    pub weight_smoothing: f64,
    /// The prior scatter of variances, as a share of each column's variance: it keeps estimated
    /// variances above 0.
    pub variance_floor: f64,
    /// The constant added to every estimated variance of a Gaussian, in squared units of the
    /// table. Without a variance floor, this is the variance of a constant column. It may make the
    /// likelihood decrease slightly during a fit.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub ridge: f64,
    /// A constant that is also added to estimated variances, as a share of the largest variance of
    /// a column.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub ridge_share: f64,
    /// s of (1 − s)Σ + sI, by which the estimated covariance Σ of the real columns is replaced: it
    /// is shrunk towards the identity matrix, whatever the units of the columns (Friedman, *Journal
    /// of the American Statistical Association* 84, 1989).
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub unit_share: f64,
    /// The prior of multivariate Gaussians, in addition to the variance floor.
    #[serde(default, deserialize_with = "text_or_fields::optional_text_or_fields")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal_prior: Option<NormalPrior>,
    /// What is counted in documents; if it is given, the count columns are the word counts of a
    /// document. If not, every occurrence of a word is counted, and each count column has its own
    /// distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// Smoothing of levels and words by the m-estimate, instead of the same pseudocount for each.
    #[serde(default, deserialize_with = "text_or_fields::optional_text_or_fields")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m_estimate: Option<MEstimate>,
    /// How categories are treated that the fitted rows do not contain.
    #[serde(default, skip_serializing_if = "Unseen::is_impossible")]
    pub unseen: Unseen,
    /// α of the Dirichlet(1 + α) priors of single columns, with one number for each level or term.
    /// A count column that is one word of a document has one number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirichlet: Vec<(String, Vec<f64>)>,
    /// The prior probabilities of the classes.
    #[serde(default)]
    pub class_prior: ClassPrior,
    /// Whether predictions integrate out the parameters instead of using their estimates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub predictive: bool,
    /// Whether there is an additional noise component, uniform over the range of the rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub noise: bool,
    /// Distributions that are fixed in some components instead of learned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Held>,
    /// Columns whose distribution is the same in every component.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tied: Vec<String>,
    /// The weights of the components, if they are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
}

impl Specification {
    const DEFAULT_VARIANCE_FLOOR: f64 = 1e-6;

    /// Naive Bayes: every column has its own leaf, with Laplace smoothing.
    pub fn naive_bayes(target: impl Into<String>) -> Self {
        Specification {
            target: Some(target.into()),
            components: None,
            reals: Reals::Alone,
            tails: Tails::Gaussian,
            families: Vec::new(),
            smoothing: 1.0,
            weight_smoothing: 0.0,
            variance_floor: Self::DEFAULT_VARIANCE_FLOOR,
            ridge: 0.0,
            ridge_share: 0.0,
            unit_share: 0.0,
            normal_prior: None,
            event: None,
            m_estimate: None,
            unseen: Unseen::Impossible,
            dirichlet: Vec::new(),
            class_prior: ClassPrior::Learned,
            predictive: false,
            noise: false,
            held: Vec::new(),
            tied: Vec::new(),
            weights: None,
        }
    }

    /// Gaussian discriminant analysis: one Gaussian per class over all real and count columns.
    pub fn gda(target: impl Into<String>, covariance: CovarianceKind) -> Self {
        Specification {
            reals: Reals::Together {
                covariance,
                counts: true,
            },
            ..Specification::naive_bayes(target)
        }
    }

    /// A mixture without labels: one Gaussian per component over the real columns, the other
    /// columns independent, without smoothing.
    pub fn mixture(components: usize, covariance: CovarianceKind) -> Self {
        Specification {
            target: None,
            components: Some(components),
            reals: Reals::Together {
                covariance,
                counts: false,
            },
            smoothing: 0.0,
            ..Specification::naive_bayes("")
        }
    }

    /// A lower bound of what regularisation adds to an estimated variance.
    pub(crate) fn min_added_variance(&self, summary: &TableSummary) -> f64 {
        self.ridge_for(summary) + self.unit_share
    }

    /// The constant added to every estimated variance, for rows with these moments.
    pub(crate) fn ridge_for(&self, summary: &TableSummary) -> f64 {
        if self.ridge_share > 0.0 {
            self.ridge + self.ridge_share * summary.largest_variance()
        } else {
            self.ridge
        }
    }

    /// The leaves of this specification for a schema; their variance priors are not set yet.
    ///
    /// # Errors
    /// If a column is unknown, a family does not suit the kind of its column, an option is out of
    /// range, or no column is left to model.
    pub fn leaves(&self, schema: &Schema) -> Result<Vec<Leaf>> {
        self.check_ranges()?;
        let target = self
            .target
            .as_deref()
            .map(|name| schema.position(name))
            .transpose()?;
        self.check_dirichlet(schema, target)?;
        let chosen = self.chosen_families(schema)?;
        let mut leaves = Vec::new();
        let (mut multivariate, mut word_counts) = (Vec::new(), Vec::new());
        for (position, field) in schema.fields.iter().enumerate() {
            if Some(position) == target {
                continue;
            }
            match (chosen[position], field.kind) {
                (None, kind) if self.is_multivariate(kind) => multivariate.push(position),
                (None, Kind::Count) if self.event.is_some() => word_counts.push(position),
                (chosen, kind) => {
                    let family = chosen.unwrap_or_else(|| self.default_family(kind));
                    leaves.extend(family.leaf(field).map(|family| Leaf {
                        unseen: self.unseen,
                        ..Leaf::new(vec![position], family)
                    }));
                }
            }
        }
        if let (Some(event), false) = (self.event, word_counts.is_empty()) {
            leaves.push(event.leaf(word_counts));
        }
        if let (Reals::Together { covariance, .. }, false) = (self.reals, multivariate.is_empty()) {
            let family = self.tails.leaf(multivariate.len(), covariance)?;
            leaves.insert(0, Leaf::new(multivariate, family));
        }
        if leaves.is_empty() {
            return Err(Error::parameter("no column to model besides the target"));
        }
        Ok(leaves)
    }

    /// Fails if a number is out of its range.
    fn check_ranges(&self) -> Result<()> {
        for (value, name) in [
            (self.smoothing, "smoothing"),
            (self.weight_smoothing, "smoothing of the weights"),
            (self.variance_floor, "variance floor"),
            (self.ridge, "ridge"),
            (self.ridge_share, "share of a ridge"),
            (
                self.m_estimate.map_or(0.0, |estimate| estimate.rows),
                "m of the m-estimate",
            ),
        ] {
            if !(0.0..=MAX_PRIOR).contains(&value) {
                return Err(Error::parameter(format!(
                    "the {name} must be a number from 0 to {MAX_PRIOR:e}, not {value:e}"
                )));
            }
        }
        if !(0.0..=1.0).contains(&self.unit_share) {
            return Err(Error::parameter(format!(
                "the share of the identity matrix must be a number from 0 to 1, not {:e}",
                self.unit_share
            )));
        }
        Ok(())
    }

    /// Fails if a Dirichlet prior is given for a column that has neither levels nor words.
    fn check_dirichlet(&self, schema: &Schema, target: Option<usize>) -> Result<()> {
        for (name, _) in &self.dirichlet {
            let position = schema.position(name)?;
            let has_pseudocounts = match schema.fields[position].kind {
                Kind::Text => true,
                Kind::Count => self.event.is_some(),
                kind => kind.is_coded(),
            };
            if Some(position) == target || !has_pseudocounts {
                return Err(Error::parameter(
                    "only columns with levels or words have a Dirichlet prior",
                )
                .at_column(name)
                .with_hint("classes have the options `class_prior` and `class_smoothing`"));
            }
        }
        Ok(())
    }

    /// For each column, the family that the user chose or that a tied or fixed distribution
    /// requires.
    fn chosen_families(&self, schema: &Schema) -> Result<Vec<Option<FamilyName>>> {
        let mut chosen = vec![None; schema.fields.len()];
        let required = self.single_column_families(schema)?;
        for (name, family) in required.iter().chain(&self.families) {
            chosen[schema.position(name)?] = Some(*family);
        }
        for (field, family) in schema.fields.iter().zip(&chosen) {
            family.map_or(Ok(()), |family| family.check(field))?;
        }
        Ok(chosen)
    }

    /// Whether columns of a kind belong to the multivariate Gaussian or t.
    fn is_multivariate(&self, kind: Kind) -> bool {
        match self.reals {
            Reals::Alone => false,
            Reals::Together { counts, .. } => kind == Kind::Real || (counts && kind == Kind::Count),
        }
    }

    /// The family of a column of a kind for which none was chosen.
    fn default_family(&self, kind: Kind) -> FamilyName {
        match (self.event, kind) {
            (Some(event), Kind::Text) => event.family(),
            (_, kind) => FamilyName::usual(kind),
        }
    }
}

/// The number of free parameters of the leaves with this number of components, without the
/// weights.
pub(crate) fn free_parameters(leaves: &[Leaf], components: usize) -> usize {
    let leaves = leaves.iter().filter(|leaf| !leaf.fixed).map(|leaf| {
        let learned = leaf.learned(components).len();
        match (learned, leaf.tied) {
            (0, _) => 0,
            (_, true) => leaf.family.parameters_of_all(1),
            (learned, false) => leaf.family.parameters_of_all(learned),
        }
    });
    leaves.sum()
}
