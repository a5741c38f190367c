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
type RunKey = (Option<usize>, u64);

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
    let labels = target.map(|target| chunk.column(target).cells(0, chunk.rows()));
    let label_of = |row: usize| {
        labels.and_then(|cells| cells.is_seen(row).then(|| cells.codes()[row] as usize))
    };
    let patterns = Patterns::new(chunk, &incomplete);
    let key = |row: u32| (label_of(row as usize), patterns.numbers[row as usize]);
    let mut keyed: Vec<(RunKey, u32)> = rows.into_iter().map(|row| (key(row), row)).collect();
    let in_order = keyed.len() == chunk.rows() && keyed.is_sorted_by_key(|(key, _)| *key);
    if !in_order {
        keyed.sort();
    }
    let mut start = 0;
    let mut runs: Vec<Run> = Vec::new();
    for rows in keyed.chunk_by(|(one, _), (next, _)| one == next) {
        let ((label, _), first) = rows[0];
        let mut missing = vec![false; chunk.columns().len()];
        for (i, column) in incomplete.iter().enumerate() {
            missing[*column] = patterns.is_missing(first as usize, i);
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

/// The patterns of missing values of all rows of a chunk.
struct Patterns {
    /// A bit for each incomplete column, in some words for each row.
    bits: Vec<u64>,
    words: usize,
    /// A number of each row's pattern: its bits, or one of all those in the chunk.
    numbers: Vec<u64>,
}

impl Patterns {
    fn new(chunk: &Chunk, incomplete: &[usize]) -> Patterns {
        let words = incomplete.len().div_ceil(64);
        let mut bits = vec![0u64; words * chunk.rows()];
        for (i, column) in incomplete.iter().enumerate() {
            let nulls = chunk.column(*column).nulls();
            for (row, is_seen) in nulls.into_iter().flatten().enumerate() {
                bits[row * words + i / 64] |= u64::from(!is_seen) << (i % 64);
            }
        }
        let numbers = match words {
            0 => vec![0; chunk.rows()],
            1 => bits.clone(),
            _ => {
                // In order of appearance, so that every scan has the same order.
                let mut known = HashMap::new();
                let patterns = bits.chunks_exact(words);
                patterns
                    .map(|pattern| {
                        let next = known.len() as u64;
                        *known.entry(pattern).or_insert(next)
                    })
                    .collect()
            }
        };
        Patterns {
            bits,
            words,
            numbers,
        }
    }

    /// Whether the value of an incomplete column is missing in a row.
    fn is_missing(&self, row: usize, column: usize) -> bool {
        self.bits[row * self.words + column / 64] >> (column % 64) & 1 == 1
    }
}
