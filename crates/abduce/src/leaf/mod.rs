//! Leaves: a family over one or more columns, a summary of the table, and kernels that evaluate all
//! components of a leaf together. A component of a mixture is a product of leaves.

pub(crate) mod central;
pub(crate) mod columns;
mod family_name;
pub(crate) mod kernels;
mod summary;
mod unseen;

pub(crate) use family_name::COMPLEMENT;
pub use family_name::FamilyName;
pub use summary::TableSummary;
pub(crate) use summary::divisor;
pub use unseen::Unseen;

use crate::data::{Cells, Chunk};
use crate::family::{Distribution, LeafFamily, Structure};
use serde::{Deserialize, Serialize};

/// A family over some columns, the same for every component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaf {
    /// Positions in the schema.
    pub columns: Vec<usize>,
    /// The family, its shape and its prior.
    #[serde(flatten)]
    pub family: LeafFamily,
    /// Whether this is a constant column: its distribution is the constant in every
    /// component, and it has no part in densities, likelihoods and scores.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
    /// Whether all components share one distribution, learned from all rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tied: bool,
    /// Distributions that are fixed in some components: the component, counted from 0, and its
    /// distribution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<(usize, Distribution)>,
    /// How an unseen category is treated, in a leaf over levels.
    #[serde(default, skip_serializing_if = "Unseen::is_impossible")]
    pub unseen: Unseen,
    /// The distribution of noise, which is the last component, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Distribution>,
}

impl Leaf {
    /// A family over some columns, learned in every component.
    pub fn new(columns: Vec<usize>, family: LeafFamily) -> Leaf {
        Leaf {
            columns,
            family,
            fixed: false,
            tied: false,
            held: Vec::new(),
            unseen: Unseen::default(),
            noise: None,
        }
    }

    /// Whether its variances are fixed to 1.
    pub(crate) fn has_given_spread(&self) -> bool {
        let structure = match &self.family {
            LeafFamily::Multivariate { shape, .. } => shape.structure,
            LeafFamily::MultivariateStudentT { shape, .. } => shape.structure,
            _ => return false,
        };
        structure == Structure::Identity
    }

    /// The cells of its columns in some rows of a chunk.
    pub(crate) fn cells<'c>(&self, chunk: &'c Chunk, start: usize, len: usize) -> Vec<Cells<'c>> {
        let columns = self.columns.iter();
        columns
            .map(|column| chunk.column(*column).cells(start, len))
            .collect()
    }

    /// The distribution to which a component is fixed.
    pub(crate) fn held_in(&self, component: usize) -> Option<&Distribution> {
        let mut held = self.held.iter();
        held.find(|(held_in, _)| *held_in == component)
            .map(|(_, distribution)| distribution)
    }

    /// The components that are learned, of this number of components.
    pub(crate) fn learned(&self, components: usize) -> Vec<usize> {
        let before_noise = components - usize::from(self.noise.is_some());
        (0..before_noise)
            .filter(|j| self.held_in(*j).is_none())
            .collect()
    }
}
