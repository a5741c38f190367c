//! A random sample of rows, on which starts are tried.

use crate::Result;
use crate::data::{Source, Table};
use crate::leaf::Leaf;
use crate::model::mixture::initialise::Points;
use rand::SeedableRng;

/// The maximum numbers of rows and of coordinates of a sample.
const MAX_ROWS: usize = 20_000;
const MAX_COORDINATES: usize = 4_000_000;

/// The number of rows on which starts are tried.
pub(crate) fn sample_size(source: &dyn Source, leaves: &[Leaf]) -> usize {
    (MAX_COORDINATES / Points::width(source.schema(), leaves).max(1)).clamp(1000, MAX_ROWS)
}

/// A uniform random sample of the `rows` of positive weight; all of them if there are at most
/// `size`.
pub(crate) fn sample_rows(
    source: &dyn Source,
    rows: usize,
    size: usize,
    seed: u64,
) -> Result<Table> {
    // A table is only reused if it has no rows of weight 0: otherwise a table in memory and the
    // same rows in a stream would have different chunks.
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
        let weighted: Vec<usize> = chunk.rows_with_weight().collect();
        let mut taken = Vec::new();
        while let Some(row) = next.next_if(|row| *row < first + weighted.len()) {
            taken.push(weighted[row - first] as u32);
        }
        first += weighted.len();
        if !taken.is_empty() {
            parts.push(chunk.take(&taken));
        }
        if next.peek().is_none() {
            break;
        }
    }
    Ok(Table::from_parts(source.schema().clone(), &parts))
}
