//! Which pairs of a grid are different models. With a single column, all covariance structures
//! are one of two models: equal or varying variances (mclust's E and V). With a single component,
//! they are spherical, diagonal or full. Equal models are fitted once, as the first of them.

use crate::Result;
use crate::data::Schema;
use crate::family::LeafFamily;
use crate::model::mixture::{CovarianceKind, Grid, Specification};
use serde::{Deserialize, Serialize};

/// Covariance structures that are the same model for every number of components of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameCovariances {
    /// The structure that was fitted.
    pub covariance: CovarianceKind,
    /// The other structures.
    pub same: Vec<CovarianceKind>,
}

/// A covariance structure and a number of components.
pub(crate) type Pair = (CovarianceKind, usize);

/// The pairs of a grid, and which of them are the same model.
pub(crate) struct Distinct {
    /// The pairs that are different models, in the order of the grid.
    pub fitted: Vec<Pair>,
    /// The pairs of the grid without structures in `same`, each with the position of its model in
    /// `fitted`.
    pub pairs: Vec<(Pair, usize)>,
    /// The structures that are the same model for every number of components.
    pub same: Vec<SameCovariances>,
}

impl Distinct {
    /// Compares the pairs of a grid.
    ///
    /// # Errors
    /// If the specification does not fit the schema.
    pub fn of(specification: &Specification, grid: &Grid, schema: &Schema) -> Result<Distinct> {
        let leaves = specification.leaves(schema)?;
        let columns = leaves.iter().find_map(|leaf| match leaf.family {
            LeafFamily::Multivariate { .. } | LeafFamily::MultivariateStudentT { .. } => {
                Some(leaf.columns.len())
            }
            _ => None,
        });
        let simplest = |covariance: CovarianceKind, components: usize| match columns {
            None => CovarianceKind::default(),
            Some(1) if specification.normal_prior.is_some() => covariance.simplest(2, components),
            Some(columns) => covariance.simplest(columns, components),
        };
        // The variance floor is a prior too: it counts once for a shared variance, and once for
        // each component otherwise.
        let has_floor = specification.variance_floor > 0.0;
        let model = |(covariance, components): Pair| {
            let counts_once = has_floor && components > 1 && covariance.is_shared();
            (
                simplest(covariance, components),
                counts_once && columns == Some(1),
            )
        };
        let mut same: Vec<SameCovariances> = Vec::new();
        for covariance in &grid.covariances {
            let is_same = |group: &&mut SameCovariances| {
                let mut numbers = grid.components.iter();
                numbers.all(|k| model((group.covariance, *k)) == model((*covariance, *k)))
            };
            match same.iter_mut().find(is_same) {
                Some(group) => group.same.push(*covariance),
                None => same.push(SameCovariances {
                    covariance: *covariance,
                    same: Vec::new(),
                }),
            }
        }
        let (mut fitted, mut pairs): (Vec<Pair>, Vec<(Pair, usize)>) = Default::default();
        for group in &same {
            for components in &grid.components {
                let pair = (group.covariance, *components);
                let is_equal = |other: &Pair| other.1 == pair.1 && model(*other) == model(pair);
                let position = fitted.iter().position(is_equal).unwrap_or_else(|| {
                    fitted.push(pair);
                    fitted.len() - 1
                });
                pairs.push((pair, position));
            }
        }
        same.retain(|group| !group.same.is_empty());
        Ok(Distinct {
            fitted,
            pairs,
            same,
        })
    }
}
