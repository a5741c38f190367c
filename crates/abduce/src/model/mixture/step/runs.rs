//! The rows of a chunk sorted into runs with the same label and the same pattern of missing
//! values in correlated columns, so that one factorisation serves a whole run.

use crate::data::Chunk;
use std::collections::HashMap;

/// Rows with the same label and the same pattern of missing values in correlated columns.
pub(crate) struct Run {
    /// The position of its first row in the order of rows.
    pub start: usize,
    /// The number of rows.
    pub len: usize,
    /// The label of its rows.
    pub label: Option<usize>,
    /// For each column, whether it is correlated and missing in these rows.
    pub missing: Vec<bool>,
}

/// What the rows of a run have in common: their label and the number of their pattern.
type RunKey = (Option<usize>, usize);

/// The runs of a chunk, and the order of its rows in which these are contiguous; `None` if that
/// is the order of the chunk. With `skip_zero_weights`, rows of weight 0 are left out.
pub(crate) fn sort_into_runs(
    chunk: &Chunk,
    target: Option<usize>,
    correlated: &[usize],
    skip_zero_weights: bool,
) -> (Option<Vec<u32>>, Vec<Run>) {
    let incomplete: Vec<usize> = correlated
        .iter()
        .copied()
        .filter(|c| chunk.column(*c).nulls().is_some())
        .collect();
    let rows: Vec<u32> = if skip_zero_weights {
        chunk.weighing_rows().map(|row| row as u32).collect()
    } else {
        (0..chunk.rows() as u32).collect()
    };
    let (mut keyed, patterns) = keys_of_rows(chunk, target, &incomplete, &rows);
    let in_order = keyed.len() == chunk.rows() && keyed.is_sorted_by_key(|(key, _)| *key);
    if !in_order {
        keyed.sort();
    }
    let mut start = 0;
    let mut runs: Vec<Run> = Vec::new();
    for rows in keyed.chunk_by(|(one, _), (next, _)| one == next) {
        let (label, pattern) = rows[0].0;
        let mut missing = vec![false; chunk.columns().len()];
        if let Some(pattern) = patterns.get(pattern) {
            let columns = incomplete.iter().zip(pattern);
            columns.for_each(|(column, is_missing)| missing[*column] = *is_missing);
        }
        runs.push(Run {
            start,
            len: rows.len(),
            label,
            missing,
        });
        start += rows.len();
    }
    let order = (!in_order).then(|| keyed.into_iter().map(|(_, row)| row).collect());
    (order, runs)
}

/// Rows with their keys, and the patterns of missing values in the `incomplete` columns by
/// number: for each column, whether it is missing.
fn keys_of_rows(
    chunk: &Chunk,
    target: Option<usize>,
    incomplete: &[usize],
    rows: &[u32],
) -> (Vec<(RunKey, u32)>, Vec<Vec<bool>>) {
    let labels = target.map(|target| chunk.column(target).cells(0, chunk.rows()));
    // Patterns are numbered in order of appearance, so that every scan has the same order.
    let mut numbers: HashMap<Vec<bool>, usize> = HashMap::new();
    let mut patterns: Vec<Vec<bool>> = Vec::new();
    let mut key_of = |row: usize| {
        let label =
            labels.and_then(|cells| cells.is_seen(row).then(|| cells.codes()[row] as usize));
        if incomplete.is_empty() {
            return (label, 0);
        }
        let is_missing = |c: &usize| chunk.column(*c).nulls().is_some_and(|n| n.is_null(row));
        let pattern: Vec<bool> = incomplete.iter().map(is_missing).collect();
        let number = *numbers.entry(pattern).or_insert_with_key(|pattern| {
            patterns.push(pattern.clone());
            patterns.len() - 1
        });
        (label, number)
    };
    let keyed = rows.iter().map(|row| (key_of(*row as usize), *row));
    (keyed.collect(), patterns)
}
