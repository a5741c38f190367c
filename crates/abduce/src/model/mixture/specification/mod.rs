//! From a schema to leaves: which family each column gets, and whether the real
//! columns stand alone (naive Bayes) or together (Gaussian discriminant
//! analysis, Gaussian mixtures).

pub(crate) mod given;
pub(crate) mod noise;
pub(crate) mod normal_prior;
pub(crate) mod smoothing;
pub(crate) mod tails;
mod written;

use crate::data::{Kind, Schema};
use crate::leaf::Seen;
use crate::leaf::{FamilyName, Leaf, Unseen};
use crate::model::mixture::{ClassPrior, Event, Held, MEstimate, NormalPrior, Tails};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The covariance of a Gaussian over several columns.
pub use crate::family::Structure as CovarianceKind;

/// The most that is believed before any row: sums and products of more would leave
/// double precision.
pub(crate) const MOST: f64 = 1e100;

/// How the real columns are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reals {
    /// Each by itself, independent given the component.
    Alone,
    /// In one Gaussian with this covariance; counts too when `counts`.
    Together {
        /// What the covariance looks like.
        covariance: CovarianceKind,
        /// Whether counts are taken as real numbers.
        counts: bool,
    },
}

/// What to fit: how columns become leaves, and how strong the priors are.
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
    /// The number of components; the target's levels decide where there is a
    /// target.
    pub components: Option<usize>,
    /// How the real columns are modelled.
    pub reals: Reals,
    /// The tails of real columns taken together.
    #[serde(default, deserialize_with = "written::text_or_fields")]
    #[serde(skip_serializing_if = "Tails::are_gaussian")]
    pub tails: Tails,
    /// Families that users chose for columns.
    pub families: Vec<(String, FamilyName)>,
    /// α of the Dirichlet(1 + α) priors on probabilities of levels.
    pub smoothing: f64,
    /// α of the Dirichlet(1 + α) prior on the weights of the components.
    pub weight_smoothing: f64,
    /// The scatter that variances are believed to have before any row, as a
    /// share of each column's variance: it keeps them from vanishing.
    pub variance_floor: f64,
    /// What is added to every variance of a Gaussian once it is estimated, in the numbers of
    /// the table squared: without a floor, a constant column then has this variance. The likelihood of a
    /// fit may fall by as little as this moves it.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub ridge: f64,
    /// The share of the largest variance of a column that is added besides.
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub ridge_share: f64,
    /// s of (1 − s)Σ + sI, which the covariance of real columns taken together becomes once it is
    /// estimated: it draws them towards spheres, whatever the units of the columns
    /// (Friedman, *Journal of the American Statistical Association* 84, 1989).
    #[serde(default, skip_serializing_if = "crate::family::is_zero")]
    pub unit_share: f64,
    /// What is believed of the Gaussians of real columns taken together, besides the
    /// floor of their variances.
    #[serde(default, deserialize_with = "written::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal_prior: Option<NormalPrior>,
    /// What is counted of documents, and counts taken together as words of a
    /// document; without it, words are, and each column of counts stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// Smoothing of levels and words by rows in given proportions, instead of
    /// the same for each.
    #[serde(default, deserialize_with = "written::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m_estimate: Option<MEstimate>,
    /// What a category is taken for that the fitted rows do not have.
    #[serde(default, skip_serializing_if = "Unseen::is_impossible")]
    pub unseen: Unseen,
    /// α of the Dirichlet(1 + α) priors of single columns, a number for each of
    /// their levels or terms; of counts taken together as words, one number for each column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirichlet: Vec<(String, Vec<f64>)>,
    /// Where the weights of the classes come from.
    #[serde(default)]
    pub class_prior: ClassPrior,
    /// Whether questions are answered with the parameters integrated out, instead
    /// of set to their estimates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub predictive: bool,
    /// Whether there is one more component, of noise: uniform over the range of the
    /// rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub noise: bool,
    /// What columns are held to in some components, instead of learned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Held>,
    /// Columns whose distribution is the same in every component.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tied: Vec<String>,
    /// The weights of the components, where they are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
}

impl Specification {
    const FLOOR: f64 = 1e-6;

    /// Naive Bayes: every column its own leaf, Laplace smoothing.
    pub fn naive_bayes(target: impl Into<String>) -> Self {
        Specification {
            target: Some(target.into()),
            components: None,
            reals: Reals::Alone,
            tails: Tails::Gaussian,
            families: Vec::new(),
            smoothing: 1.0,
            weight_smoothing: 0.0,
            variance_floor: Self::FLOOR,
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

    /// Gaussian discriminant analysis: all numbers in one Gaussian per class.
    pub fn gda(target: impl Into<String>, covariance: CovarianceKind) -> Self {
        Specification {
            reals: Reals::Together {
                covariance,
                counts: true,
            },
            ..Specification::naive_bayes(target)
        }
    }

    /// A mixture of `components`: the real columns in one Gaussian, the others
    /// each by itself, no smoothing.
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

    /// The least that is added to a variance once it is estimated.
    pub(crate) fn added(&self, seen: &Seen) -> f64 {
        self.ridge_beside(seen) + self.unit_share
    }

    /// What is added to every variance of such rows once it is estimated.
    pub(crate) fn ridge_beside(&self, seen: &Seen) -> f64 {
        match self.ridge_share > 0.0 {
            true => self.ridge + self.ridge_share * seen.largest_variance(),
            false => self.ridge,
        }
    }

    /// The leaves of this specification on a schema, their variance priors
    /// still flat.
    ///
    /// # Errors
    /// If a column is unknown, a family does not fit its kind, an option is out
    /// of range or nothing is left to model.
    pub fn leaves(&self, schema: &Schema) -> Result<Vec<Leaf>> {
        for (value, name) in [
            (self.smoothing, "smoothing"),
            (self.weight_smoothing, "smoothing of the weights"),
            (self.variance_floor, "variance floor"),
            (self.ridge, "ridge"),
            (self.ridge_share, "share of a ridge"),
            (
                self.m_estimate.map_or(0.0, |own| own.rows),
                "m of the m-estimate",
            ),
        ] {
            if !(0.0..=MOST).contains(&value) {
                return Err(Error::parameter(format!(
                    "the {name} must be a number from 0 to {MOST:e}, not {value:e}"
                )));
            }
        }
        if !(0.0..=1.0).contains(&self.unit_share) {
            return Err(Error::parameter(format!(
                "the share of the unit matrix must be a number from 0 to 1, not {:e}",
                self.unit_share
            )));
        }
        let target = self
            .target
            .as_deref()
            .map(|name| schema.position(name))
            .transpose()?;
        for (name, _) in &self.dirichlet {
            let position = schema.position(name)?;
            let field = &schema.fields[position];
            let counted = match field.kind {
                Kind::Text => true,
                Kind::Count => self.event.is_some(),
                kind => kind.is_coded(),
            };
            if Some(position) == target || !counted {
                return Err(Error::parameter(
                    "only columns with levels or words have a Dirichlet prior",
                )
                .at_column(name)
                .with_hint("classes have the options `class_prior` and `class_smoothing`"));
            }
        }
        let mut chosen = vec![None; schema.fields.len()];
        let alone = self.alone(schema)?;
        for (name, family) in alone.iter().chain(&self.families) {
            chosen[schema.position(name)?] = Some(*family);
        }
        for (field, family) in schema.fields.iter().zip(&chosen) {
            family.map_or(Ok(()), |family| family.check(field))?;
        }
        let mut leaves = Vec::new();
        let (mut together, mut counted) = (Vec::new(), Vec::new());
        for (position, field) in schema.fields.iter().enumerate() {
            if Some(position) == target {
                continue;
            }
            let joins = match self.reals {
                Reals::Alone => false,
                Reals::Together { counts, .. } => {
                    field.kind == Kind::Real || (counts && field.kind == Kind::Count)
                }
            };
            if joins && chosen[position].is_none() {
                together.push(position);
                continue;
            }
            if let (Some(_), Kind::Count, None) = (self.event, field.kind, chosen[position]) {
                counted.push(position);
                continue;
            }
            let usual = match (self.event, field.kind) {
                (Some(event), Kind::Text) => event.family(),
                (_, kind) => FamilyName::usual(kind),
            };
            let family = chosen[position].unwrap_or(usual);
            let Some(family) = family.leaf(field) else {
                continue;
            };
            leaves.push(Leaf {
                unseen: self.unseen,
                ..Leaf::new(vec![position], family)
            });
        }
        if let (Some(event), false) = (self.event, counted.is_empty()) {
            leaves.push(event.leaf(counted));
        }
        if let (Reals::Together { covariance, .. }, false) = (self.reals, together.is_empty()) {
            let family = self.tails.leaf(together.len(), covariance)?;
            leaves.insert(0, Leaf::new(together, family));
        }
        if leaves.is_empty() {
            return Err(Error::parameter(
                "there is no column to model besides the target",
            ));
        }
        Ok(leaves)
    }
}

/// The number of free parameters of `components` of these leaves, without their
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
