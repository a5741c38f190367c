//! The rows of a chunk sorted into runs with the same label and the same pattern of missing
//! values in correlated columns, so that one factorisation serves a whole run.

use crate::data::Chunk;
use crate::kernel::gaussian::MANY_ROWS;
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

impl Run {
    /// Whether it has too few rows for a block of its own.
    fn is_short(&self) -> bool {
        self.len < MANY_ROWS
    }

    /// The position after its last row.
    pub fn end(&self) -> usize {
        self.start + self.len
    }
}

/// Splits runs into groups. A group is a single run, or consecutive short runs with the same label
/// and at most `max_rows` rows in all.
pub(crate) fn group_runs(runs: &[Run], max_rows: usize) -> impl Iterator<Item = &[Run]> {
    let mut rows = 0;
    runs.chunk_by(move |run, next| {
        let both = [run, next];
        rows = if rows == 0 { run.len } else { rows } + next.len;
        let fit = run.label == next.label && rows <= max_rows;
        let together = fit && both.iter().all(|run| run.is_short());
        if !together {
            rows = 0;
        }
        together
    })
}

/// A sort key: 32 bits of the label plus 1 (0 without a label), 64 bits of the pattern number, 32
/// bits of the row number, highest first.
type RowKey = u128;

const ROW_BITS: u32 = 32;
const PATTERN_BITS: u32 = 64;

/// The runs of a chunk and the order of rows in which they are contiguous; `None` if that is the
/// order of the chunk. The short runs of each label follow its other runs. With
/// `skip_zero_weights`, rows of weight 0 are left out.
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
        chunk.rows_with_weight().map(|row| row as u32).collect()
    } else {
        (0..chunk.rows() as u32).collect()
    };
    let labels = target.map(|target| chunk.column(target).cells(0, chunk.rows()));
    let label_of = |row: usize| {
        labels.and_then(|cells| cells.is_seen(row).then(|| cells.codes()[row] as usize))
    };
    let patterns = Patterns::new(chunk, &incomplete);
    let key = |row: u32| -> RowKey {
        let label = label_of(row as usize).map_or(0, |label| label as u128 + 1);
        let pattern = u128::from(patterns.numbers[row as usize]);
        (((label << PATTERN_BITS) | pattern) << ROW_BITS) | u128::from(row)
    };
    let row_of = |key: RowKey| key as u32;
    let mut keys: Vec<RowKey> = rows.into_iter().map(key).collect();
    let in_order = keys.len() == chunk.rows() && keys.is_sorted();
    if !in_order {
        keys.sort_unstable();
    }
    let mut start = 0;
    let mut runs: Vec<Run> = Vec::new();
    for rows in keys.chunk_by(|one, next| one >> ROW_BITS == next >> ROW_BITS) {
        let first = row_of(rows[0]) as usize;
        let mut missing = vec![false; chunk.columns().len()];
        for (i, column) in incomplete.iter().enumerate() {
            missing[*column] = patterns.is_missing(first, i);
        }
        runs.push(Run {
            start,
            len: rows.len(),
            label: label_of(first),
            missing,
        });
        start += rows.len();
    }
    let mut order: Vec<u32> = keys.into_iter().map(row_of).collect();
    let moved = move_short_runs_last(&mut runs, &mut order);
    ((moved || !in_order).then_some(order), runs)
}

/// Moves the short runs of each label behind its other runs, so that they are adjacent. Returns
/// whether that changed the order.
fn move_short_runs_last(runs: &mut [Run], order: &mut Vec<u32>) -> bool {
    let key = |run: &Run| (run.label, run.is_short());
    if runs.is_sorted_by_key(key) {
        return false;
    }
    runs.sort_by_key(key);
    let mut moved = Vec::with_capacity(order.len());
    for run in runs {
        let rows = run.start..run.end();
        run.start = moved.len();
        moved.extend_from_slice(&order[rows]);
    }
    *order = moved;
    true
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
