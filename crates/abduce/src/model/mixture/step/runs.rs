//! A chunk's rows sorted into runs that share a label and, where columns are
//! correlated, what is hidden: one factorisation then serves a whole run.

use crate::data::Chunk;
use std::collections::HashMap;

/// Rows that share a label and what is hidden in correlated columns.
pub(crate) struct Run {
    /// Where it begins in the order of rows.
    pub start: usize,
    /// How many rows it has.
    pub len: usize,
    /// The label of its rows.
    pub label: Option<usize>,
    /// For every column, whether it is hidden in all of its rows; said of
    /// correlated columns only.
    pub hidden: Vec<bool>,
}

/// The runs of a chunk, and the order of rows in which they are runs: `None`
/// where it is the chunk's own. With `weighing`, rows of weight 0 are left out.
pub(crate) fn arrange(
    chunk: &Chunk,
    target: Option<usize>,
    correlated: &[usize],
    weighing: bool,
) -> (Option<Vec<u32>>, Vec<Run>) {
    let holes: Vec<usize> = correlated
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
    // Patterns are numbered as they appear, so that the order is the same on
    // every scan.
    let mut numbers: HashMap<Vec<bool>, usize> = HashMap::new();
    let mut patterns: Vec<Vec<bool>> = Vec::new();
    let mut key_of = |row: usize| {
        let label =
            labels.and_then(|cells| cells.is_seen(row).then(|| cells.codes()[row] as usize));
        if holes.is_empty() {
            return (label, 0);
        }
        let is_hidden = |c: &usize| chunk.column(*c).nulls().is_some_and(|n| n.is_null(row));
        let pattern: Vec<bool> = holes.iter().map(is_hidden).collect();
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
            holes
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
