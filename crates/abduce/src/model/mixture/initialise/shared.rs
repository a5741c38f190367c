//! Groups of the rows of one table from which several fits start. The points, the hierarchical
//! clustering and the seeds of k-means depend on the rows and the number of components, but not on
//! the covariance structure, so a grid computes them once for all its fits.

use crate::Control;
use crate::data::{Source as _, Table};
use crate::leaf::{Leaf, TableSummary};
use crate::model::mixture::FitOptions;
use crate::model::mixture::initialise::restarts::tries;
use crate::model::mixture::initialise::{Init, Points, Tree};
use rayon::prelude::*;
use std::collections::HashMap;

/// The maximum size in bytes of the groups of all starts.
const MAX_BYTES: u64 = 256 << 20;

/// The group of each row; `None` for rows that the start does not use.
pub(super) type Groups = Vec<Option<usize>>;

/// The points of a table, and the same points whitened.
pub(super) struct Seeding {
    points: Points,
    whitened: Option<Points>,
}

impl Seeding {
    pub fn of(table: &Table, leaves: &[Leaf], summary: &TableSummary) -> Seeding {
        let points = Points::of(table, leaves, summary);
        Seeding {
            whitened: points.whitened(),
            points,
        }
    }

    /// The points of start `number`. Even starts use whitened points, as clusters may differ only
    /// along a direction of small variance.
    pub fn points(&self, number: usize) -> &Points {
        match &self.whitened {
            Some(whitened) if number.is_multiple_of(2) => whitened,
            _ => &self.points,
        }
    }
}

/// The groups of start `number`, counted from 1. The hierarchical clustering of these points is
/// computed if it is not given.
pub(super) fn groups_of_start(
    points: &Points,
    k: usize,
    number: usize,
    options: &FitOptions,
    tree: Option<&Tree>,
) -> Groups {
    let (init, without_k_means) = match (options.init, number) {
        (Init::Auto, 1) => (Init::Hierarchical, false),
        (Init::Auto, number) if number % 6 == 3 => (Init::Random, true),
        (Init::Auto, number) => (Init::KMeansPlusPlus, number % 6 == 0),
        (init, _) => (init, false),
    };
    let seed = options.seed.wrapping_mul(1_000_003);
    let seed = seed.wrapping_add(number as u64);
    match tree.filter(|_| init == Init::Hierarchical) {
        Some(tree) => points.group_by_tree(tree, k),
        None if without_k_means => points.group_by_nearest_seed(k, init, seed),
        None => points.group(k, init, seed),
    }
}

/// The groups of all starts of several numbers of components.
pub(crate) struct SharedGroups {
    /// The columns of the points.
    columns: Vec<usize>,
    /// By the number of components and the number of the start.
    groups: HashMap<(usize, usize), Groups>,
}

impl SharedGroups {
    /// Groups the rows of a table for each number of components, before the fits run in parallel.
    /// If the first fit that needs groups computed them in parallel, its thread could meanwhile run
    /// another fit, which would wait for these groups forever. `None` if the groups would need too
    /// much memory or the caller stopped the fit; each fit then groups the rows itself.
    pub fn of(
        table: &Table,
        leaves: &[Leaf],
        summary: &TableSummary,
        components: &[usize],
        options: &FitOptions,
        control: Control,
    ) -> Option<SharedGroups> {
        let starts: usize = components.iter().map(|k| tries(options, *k)).sum();
        let bytes = size_of::<Option<usize>>() as u64 * table.rows() * starts as u64;
        if bytes > MAX_BYTES {
            return None;
        }
        let seeding = Seeding::of(table, leaves, summary);
        // Only the first start, if any, uses the tree.
        let is_hierarchical = matches!(options.init, Init::Auto | Init::Hierarchical);
        let tree = is_hierarchical.then(|| seeding.points(1).tree());
        let starts = |k: usize| (1..=tries(options, k)).map(move |number| (k, number));
        let starts: Vec<(usize, usize)> = components.iter().copied().flat_map(starts).collect();
        let group = |(k, number): (usize, usize)| {
            let points = seeding.points(number);
            let group = || groups_of_start(points, k, number, options, tree.as_ref());
            (!control.is_interrupted()).then(|| ((k, number), group()))
        };
        let groups: Option<HashMap<_, _>> = starts.into_par_iter().map(group).collect();
        Some(SharedGroups {
            columns: columns(leaves),
            groups: groups?,
        })
    }

    /// The groups of a start, if the leaves have the columns that were grouped.
    pub(super) fn get(&self, leaves: &[Leaf], k: usize, number: usize) -> Option<&Groups> {
        let groups = self.groups.get(&(k, number))?;
        (columns(leaves) == self.columns).then_some(groups)
    }
}

fn columns(leaves: &[Leaf]) -> Vec<usize> {
    let columns = leaves.iter().flat_map(|leaf| &leaf.columns);
    columns.copied().collect()
}
