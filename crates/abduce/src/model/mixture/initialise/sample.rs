//! The rows on which starts are tried: some of them, evenly at random.

use crate::Result;
use crate::data::{Source, Table};
use crate::leaf::Leaf;
use crate::model::mixture::initialise::Points;
use rand::SeedableRng;

/// Rows on which starts are tried, and the most cells they may have together.
const SAMPLE_ROWS: usize = 20_000;
const SAMPLE_CELLS: usize = 4_000_000;

/// How many rows starts are tried on.
pub(crate) fn sample_size(source: &dyn Source, leaves: &[Leaf]) -> usize {
    (SAMPLE_CELLS / Points::width(source.schema(), leaves).max(1)).clamp(1000, SAMPLE_ROWS)
}

/// Some of the `rows` that weigh anything, evenly at random; all of a few.
pub(crate) fn sample_rows(
    source: &dyn Source,
    rows: usize,
    size: usize,
    seed: u64,
) -> Result<Table> {
    // Only where no row is left out, or a table in memory and the same streamed
    // would be cut into different chunks.
    let all = rows <= size && rows as u64 == source.rows();
    if let (Some(table), true) = (source.table(), all) {
        return Ok(table.clone());
    }
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed ^ 0x5a5a);
    let mut chosen = rand::seq::index::sample(&mut rng, rows, size.min(rows)).into_vec();
    chosen.sort_unstable();
    let mut parts = Vec::new();
    let mut next = chosen.into_iter().peekable();
    let mut first = 0;
    for chunk in source.scan()? {
        let chunk = chunk?;
        let weighing: Vec<usize> = chunk.weighing_rows().collect();
        let mut own = Vec::new();
        while let Some(row) = next.next_if(|row| *row < first + weighing.len()) {
            own.push(weighing[row - first] as u32);
        }
        first += weighing.len();
        if !own.is_empty() {
            parts.push(chunk.take(&own));
        }
        if next.peek().is_none() {
            break;
        }
    }
    Ok(Table::from_parts(source.schema().clone(), &parts))
}
