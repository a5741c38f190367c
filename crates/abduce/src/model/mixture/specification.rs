//! From a schema to leaves: which family each column gets, and whether the real
//! columns stand alone (naive Bayes) or together (Gaussian discriminant
//! analysis, Gaussian mixtures).

use super::Leaf;
use crate::data::{Kind, Schema};
use crate::family::{LeafFamily, MultivariateShape, Structure};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The covariance of a Gaussian over several columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CovarianceKind {
    /// Every component has its own matrix.
    #[default]
    Full,
    /// All components share one matrix.
    Tied,
    /// Every component has its own variances.
    Diagonal,
    /// Every component has its own single variance.
    Spherical,
}

impl FromStr for CovarianceKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "full" => Ok(CovarianceKind::Full),
            "tied" => Ok(CovarianceKind::Tied),
            "diagonal" => Ok(CovarianceKind::Diagonal),
            "spherical" => Ok(CovarianceKind::Spherical),
            _ => Err(Error::parameter(format!("\"{name}\" is not a covariance"))
                .with_hint("the covariances are full, tied, diagonal and spherical")),
        }
    }
}

/// A family that a user may name for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FamilyName {
    /// For numbers.
    Gaussian,
    /// For counts.
    Poisson,
    /// For numbers from 0 up.
    Exponential,
    /// For levels.
    Categorical,
    /// For binary columns.
    Bernoulli,
    /// A kernel density, for numbers of any shape.
    Kde,
    /// A histogram, for numbers of any shape.
    Histogram,
}

impl FamilyName {
    /// Every family a column can be given.
    pub const ALL: [(FamilyName, &'static str); 7] = [
        (FamilyName::Gaussian, "gaussian"),
        (FamilyName::Poisson, "poisson"),
        (FamilyName::Exponential, "exponential"),
        (FamilyName::Categorical, "categorical"),
        (FamilyName::Bernoulli, "bernoulli"),
        (FamilyName::Kde, "kde"),
        (FamilyName::Histogram, "histogram"),
    ];

    fn fits(self, kind: Kind) -> bool {
        match self {
            FamilyName::Gaussian | FamilyName::Exponential => {
                matches!(kind, Kind::Real | Kind::Count)
            }
            FamilyName::Kde | FamilyName::Histogram | FamilyName::Poisson => {
                kind == Kind::Count || kind == Kind::Real
            }
            FamilyName::Categorical => kind.is_coded(),
            FamilyName::Bernoulli => kind == Kind::Binary,
        }
    }
}

impl FromStr for FamilyName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        FamilyName::ALL
            .iter()
            .find(|(_, n)| *n == name)
            .map(|(family, _)| *family)
            .ok_or_else(|| {
                let names: Vec<&str> = FamilyName::ALL.iter().map(|(_, n)| *n).collect();
                Error::parameter(format!("\"{name}\" is not a family a column can have"))
                    .with_hint(format!("the families are {}", names.join(", ")))
            })
    }
}

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
    /// Families that users chose for columns.
    pub families: Vec<(String, FamilyName)>,
    /// α of the Dirichlet(1 + α) priors on probabilities of levels.
    pub smoothing: f64,
    /// α of the Dirichlet(1 + α) prior on the weights of the components.
    pub weight_smoothing: f64,
    /// The scatter that variances are believed to have before any row, as a
    /// share of each column's variance: it keeps them from vanishing.
    pub variance_floor: f64,
}

impl Specification {
    const FLOOR: f64 = 1e-6;

    /// Naive Bayes: every column its own leaf, Laplace smoothing.
    pub fn naive_bayes(target: impl Into<String>) -> Self {
        Specification {
            target: Some(target.into()),
            components: None,
            reals: Reals::Alone,
            families: Vec::new(),
            smoothing: 1.0,
            weight_smoothing: 0.0,
            variance_floor: Self::FLOOR,
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
            families: Vec::new(),
            smoothing: 0.0,
            weight_smoothing: 0.0,
            variance_floor: Self::FLOOR,
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
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::parameter(format!(
                    "the {name} must be 0 or more, not {value}"
                )));
            }
        }
        let target = self
            .target
            .as_deref()
            .map(|name| schema.position(name))
            .transpose()?;
        let mut chosen = vec![None; schema.fields.len()];
        for (name, family) in &self.families {
            let position = schema.position(name)?;
            let kind = schema.fields[position].kind;
            if !family.fits(kind) {
                return Err(Error::parameter(format!(
                    "the family does not fit the kind {}",
                    kind.name()
                ))
                .at_column(name)
                .with_hint("give the column another kind with --kind"));
            }
            chosen[position] = Some(*family);
        }
        let mut leaves = Vec::new();
        let mut together = Vec::new();
        for (position, field) in schema.fields.iter().enumerate() {
            if Some(position) == target || field.kind == Kind::Text {
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
            let family = chosen[position].unwrap_or(match field.kind {
                Kind::Real | Kind::Text => FamilyName::Gaussian,
                Kind::Count => FamilyName::Poisson,
                Kind::Binary => FamilyName::Bernoulli,
                Kind::Categorical | Kind::Ordinal => FamilyName::Categorical,
            });
            let family = match family {
                FamilyName::Gaussian => LeafFamily::Gaussian {
                    shape: (),
                    prior: Default::default(),
                    vague: None,
                },
                FamilyName::Poisson => LeafFamily::Poisson {
                    shape: (),
                    prior: Default::default(),
                    vague: None,
                },
                FamilyName::Exponential => LeafFamily::Exponential {
                    shape: (),
                    prior: Default::default(),
                    vague: None,
                },
                FamilyName::Kde => LeafFamily::Kde {
                    shape: (),
                    prior: Default::default(),
                    vague: None,
                },
                FamilyName::Histogram => LeafFamily::Histogram {
                    shape: (),
                    prior: Default::default(),
                    vague: None,
                },
                FamilyName::Bernoulli => LeafFamily::Bernoulli {
                    shape: (),
                    prior: self.smoothing,
                    vague: None,
                },
                FamilyName::Categorical => LeafFamily::Categorical {
                    shape: field.levels.len(),
                    prior: self.smoothing,
                    vague: None,
                },
            };
            leaves.push(Leaf {
                columns: vec![position],
                family,
                fixed: false,
            });
        }
        if let (Reals::Together { covariance, .. }, false) = (self.reals, together.is_empty()) {
            let structure = match covariance {
                CovarianceKind::Full => Structure::Full,
                CovarianceKind::Tied => Structure::Tied,
                CovarianceKind::Diagonal => Structure::Diagonal,
                CovarianceKind::Spherical => Structure::Spherical,
            };
            let shape = MultivariateShape {
                columns: together.len(),
                structure,
            };
            let leaf = Leaf {
                columns: together,
                family: LeafFamily::Multivariate {
                    shape,
                    prior: Default::default(),
                    vague: None,
                },
                fixed: false,
            };
            leaves.insert(0, leaf);
        }
        if leaves.is_empty() {
            return Err(Error::parameter(
                "there is no column to model besides the target",
            ));
        }
        Ok(leaves)
    }
}

/// The number of free parameters of `components` of these leaves.
pub(super) fn free_parameters(leaves: &[Leaf], components: usize) -> usize {
    let leaves = leaves
        .iter()
        .filter(|leaf| !leaf.fixed)
        .map(|leaf| leaf.family.parameters_of_all(components));
    components.saturating_sub(1) + leaves.sum::<usize>()
}
