//! Statistics of rows whose component is known, from labels or from an initial clustering. Each
//! column is sorted by group, so that a family sees the rows of a group as one run.

use crate::data::{Cells, Chunk, Gather, Rows};
use crate::family::Statistics;
use crate::leaf::Leaf;
use crate::model::mixture::MixtureStatistics;

/// How rows with missing values in correlated columns are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IncompleteRows {
    /// They are left out of the leaf.
    Skip,
    /// Missing values are replaced by their expectation under the prior of the leaf.
    Expect,
}

/// Adds the rows of a chunk to the statistics of their groups, and returns the weight of the
/// rows without a group.
pub(crate) fn observe_groups(
    leaves: &[Leaf],
    chunk: &Chunk,
    group_of: impl Fn(usize) -> Option<usize>,
    incomplete: IncompleteRows,
    statistics: &mut MixtureStatistics,
) -> f64 {
    let (order, ends) = sort_by_group(&group_of, chunk.rows(), statistics.weights.len());
    let weights: Vec<f64> = match chunk.weights() {
        Some(weights) => order.iter().map(|row| weights[*row as usize]).collect(),
        None => vec![1.0; order.len()],
    };
    let runs: Vec<(usize, usize)> = std::iter::once(0)
        .chain(ends.iter().copied())
        .zip(ends.iter().copied())
        .collect();
    for (total, (start, end)) in statistics.weights.iter_mut().zip(&runs) {
        *total += weights[*start..*end].iter().sum::<f64>();
    }
    let mut gathers: Vec<Gather> = Vec::new();
    for (leaf, groups) in leaves.iter().zip(&mut statistics.leaves) {
        if leaf.family.is_text() {
            observe_documents(leaf, chunk, &group_of, groups);
            continue;
        }
        gathers.resize_with(gathers.len().max(leaf.columns.len()), Gather::default);
        let columns: Vec<Cells> = leaf
            .columns
            .iter()
            .zip(&mut gathers)
            .map(|(column, gather)| gather.cells(chunk.column(*column), &order))
            .collect();
        for (group, (start, end)) in groups.iter_mut().zip(&runs) {
            if start == end {
                continue;
            }
            let cells: Vec<Cells> = columns
                .iter()
                .map(|cells| cells.slice(*start, end - start))
                .collect();
            let (rows, weights) = (Rows::new(&cells), &weights[*start..*end]);
            match (incomplete, leaf.family.fallback()) {
                (IncompleteRows::Expect, Some(fallback)) => fallback.expect(&rows, weights, group),
                _ => leaf.family.observe(&rows, weights, group),
            }
        }
    }
    let grouped = runs.last().map_or(0, |(_, end)| *end);
    statistics.total += weights[..grouped].iter().sum::<f64>();
    weights[grouped..].iter().sum()
}

/// Adds documents to the statistics of their groups without sorting them, which would be slow.
/// Does nothing if `statistics` is empty.
pub(crate) fn observe_documents(
    leaf: &Leaf,
    chunk: &Chunk,
    group_of: &impl Fn(usize) -> Option<usize>,
    statistics: &mut [Statistics],
) {
    if statistics.is_empty() {
        return;
    }
    let columns = leaf.cells(chunk, 0, chunk.rows());
    if let [only] = columns.as_slice()
        && let Some(documents) = only.terms()
    {
        for row in (0..chunk.rows()).filter(|row| only.is_seen(*row)) {
            let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
            let (codes, counts) = documents.row(row);
            match group_of(row)
                .filter(|_| weight > 0.0)
                .map(|group| &mut statistics[group])
            {
                Some(Statistics::Words(words)) => words.add(codes, counts, weight),
                Some(Statistics::Presence(presence)) => presence.add_once(codes, weight),
                _ => {}
            }
        }
        return;
    }
    let mut cells = Vec::with_capacity(columns.len());
    for row in 0..chunk.rows() {
        let weight = chunk.weights().map_or(1.0, |weights| weights[row]);
        let Some(group) = group_of(row).filter(|_| weight > 0.0) else {
            continue;
        };
        cells.clear();
        cells.extend(columns.iter().map(|cells| cells.slice(row, 1)));
        leaf.family
            .observe(&Rows::new(&cells), &[weight], &mut statistics[group]);
    }
}

/// The rows sorted by group, those without a group last, and the end of each group.
fn sort_by_group(
    group_of: &impl Fn(usize) -> Option<usize>,
    rows: usize,
    groups: usize,
) -> (Vec<u32>, Vec<usize>) {
    let mut places = vec![0; groups + 2];
    for row in 0..rows {
        places[group_of(row).unwrap_or(groups) + 1] += 1;
    }
    for group in 1..places.len() {
        places[group] += places[group - 1];
    }
    let mut order = vec![0; rows];
    for row in 0..rows {
        let place = &mut places[group_of(row).unwrap_or(groups)];
        order[*place] = row as u32;
        *place += 1;
    }
    // Each place is now the end of its group.
    places.truncate(groups);
    (order, places)
}
