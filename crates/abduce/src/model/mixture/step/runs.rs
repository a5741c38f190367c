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
    pub hidden: Vec<bool>,
}

/// The runs of a chunk, and the order of its rows in which these are contiguous; `None` if that
/// is the order of the chunk. With `weighing`, rows of weight 0 are left out.
pub(crate) fn arrange(
    chunk: &Chunk,
    target: Option<usize>,
    correlated: &[usize],
    weighing: bool,
) -> (Option<Vec<u32>>, Vec<Run>) {
    let incomplete: Vec<usize> = correlated
        .iter()
        .copied()
        .filter(|c| chunk.column(*c).nulls().is_some())
        .collect();
    let labels = target.map(|target| chunk.column(target).cells(0, chunk.rows()));
    let rows: Vec<u32> = if weighing {
        chunk.weighing_rows().map(|row| row as u32).collect()
    } else {
        (0..chunk.rows() as u32).collect()
    };
    // Patterns are numbered in order of appearance, so that every scan has the same order.
    let mut numbers: HashMap<Vec<bool>, usize> = HashMap::new();
    let mut patterns: Vec<Vec<bool>> = Vec::new();
    let mut key_of = |row: usize| {
        let label =
            labels.and_then(|cells| cells.is_seen(row).then(|| cells.codes()[row] as usize));
        if incomplete.is_empty() {
            return (label, 0);
        }
        let is_hidden = |c: &usize| chunk.column(*c).nulls().is_some_and(|n| n.is_null(row));
        let pattern: Vec<bool> = incomplete.iter().map(is_hidden).collect();
        let number = *numbers.entry(pattern).or_insert_with_key(|pattern| {
            patterns.push(pattern.clone());
            patterns.len() - 1
        });
        (label, number)
    };
    let mut keyed: Vec<((Option<usize>, usize), u32)> = rows
        .iter()
        .map(|row| (key_of(*row as usize), *row))
        .collect();
    let in_order = keyed.len() == chunk.rows() && keyed.is_sorted_by_key(|(key, _)| *key);
    if !in_order {
        keyed.sort();
    }
    let mut runs: Vec<Run> = Vec::new();
    for (position, (key, _)) in keyed.iter().enumerate() {
        if position > 0 && keyed[position - 1].0 == *key {
            if let Some(run) = runs.last_mut() {
                run.len += 1;
            }
            continue;
        }
        let mut hidden = vec![false; chunk.columns().len()];
        if let Some(pattern) = patterns.get(key.1) {
            incomplete
                .iter()
                .zip(pattern)
                .for_each(|(c, is)| hidden[*c] = *is);
        }
        runs.push(Run {
            start: position,
            len: 1,
            label: key.0,
            hidden,
        });
    }
    let order = (!in_order).then(|| keyed.into_iter().map(|(_, row)| row).collect());
    (order, runs)
}
