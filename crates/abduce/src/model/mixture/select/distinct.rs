//! Which pairs of a grid are different models. In one column every covariance has one
//! volume or one for each component, mclust's E and V; of one component it is spherical,
//! diagonal or whole. What is the same is fitted once, as what was asked for first.

use crate::Result;
use crate::data::Schema;
use crate::family::LeafFamily;
use crate::model::mixture::{CovarianceKind, Grid, Specification};
use serde::{Deserialize, Serialize};

/// Covariances that are one model whatever the number of components asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameCovariances {
    /// The one that was fitted.
    pub covariance: CovarianceKind,
    /// The others.
    pub same: Vec<CovarianceKind>,
}

/// A covariance and a number of components.
pub(crate) type Pair = (CovarianceKind, usize);

/// The pairs of a grid, and which of them are one model.
pub(crate) struct Distinct {
    /// The pairs that differ, in the order of the grid.
    pub fitted: Vec<Pair>,
    /// All pairs of covariances that differ somewhere, with the place of the fit.
    pub pairs: Vec<(Pair, usize)>,
    /// The covariances that differ nowhere.
    pub same: Vec<SameCovariances>,
}

impl Distinct {
    /// # Errors
    /// If the specification does not fit the schema.
    pub fn of(specification: &Specification, grid: &Grid, schema: &Schema) -> Result<Distinct> {
        let leaves = specification.leaves(schema)?;
        let together = leaves.iter().find_map(|leaf| match leaf.family {
            LeafFamily::Multivariate { .. } | LeafFamily::MultivariateStudentT { .. } => {
                Some(leaf.columns.len())
            }
            _ => None,
        });
        let simplest = |covariance: CovarianceKind, components: usize| match together {
            None => CovarianceKind::default(),
            Some(1) if specification.normal_prior.is_some() => covariance.simplest(2, components),
            Some(columns) => covariance.simplest(columns, components),
        };
        // The floor of variances is a prior too: believed once of what is shared, and as often
        // as there are components of what is not.
        let believed = specification.variance_floor > 0.0;
        let model = |(covariance, components): Pair| {
            let once = believed && components > 1 && covariance.is_shared();
            (
                simplest(covariance, components),
                once && together == Some(1),
            )
        };
        let mut same: Vec<SameCovariances> = Vec::new();
        for covariance in &grid.covariances {
            let is_same = |own: &&mut SameCovariances| {
                let mut numbers = grid.components.iter();
                numbers.all(|k| model((own.covariance, *k)) == model((*covariance, *k)))
            };
            match same.iter_mut().find(is_same) {
                Some(own) => own.same.push(*covariance),
                None => same.push(SameCovariances {
                    covariance: *covariance,
                    same: Vec::new(),
                }),
            }
        }
        let (mut fitted, mut pairs): (Vec<Pair>, Vec<(Pair, usize)>) = Default::default();
        for own in &same {
            for components in &grid.components {
                let pair = (own.covariance, *components);
                let is_fitted = |own: &Pair| own.1 == pair.1 && model(*own) == model(pair);
                let place = fitted.iter().position(is_fitted).unwrap_or_else(|| {
                    fitted.push(pair);
                    fitted.len() - 1
                });
                pairs.push((pair, place));
            }
        }
        same.retain(|own| !own.same.is_empty());
        Ok(Distinct {
            fitted,
            pairs,
            same,
        })
    }
}
