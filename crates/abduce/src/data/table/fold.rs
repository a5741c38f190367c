//! Parallel reduction over the chunks of a source. Partial results are merged along a fixed
//! binary tree over chunk numbers, so that the result has the same bits for any number of
//! threads and for chunks in memory, streamed or made on demand. At most about
//! `threads × log₂(chunks)` partial results are alive.

use crate::Result;
use crate::data::table::chunk::{CHUNK_ROWS, Chunk};
use crate::data::table::schema::{Field, Kind, Schema};
use crate::data::table::source::Source;
use std::ops::Range;

/// The number of chunks of a streamed source in memory at once: a power of two, so that a
/// wave is a subtree of the tree for a table in memory, and fewer for a wide table.
fn wave(schema: &Schema) -> usize {
    const CELLS: usize = 1 << 22;
    // A text takes as much memory as this many cells.
    const WORDS: usize = 256;
    let cells = |field: &Field| if field.kind == Kind::Text { WORDS } else { 1 };
    let cells: usize = schema.fields.iter().map(cells).sum();
    let chunks = CELLS / (CHUNK_ROWS * cells.max(1));
    // The largest power of two up to `chunks`.
    (chunks.clamp(1, 16) + 1).next_power_of_two() / 2
}

/// Computes a partial result from every chunk, in parallel, and merges them along the fixed
/// tree; `None` if there is no chunk. `each` gets the chunk's number and the chunk.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table, reduce};
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let x = Column::from_numbers((0..10_000).map(|i| Some(i as f64)));
/// let table = Table::new(schema, vec![x], None)?;
/// let rows = reduce(&table, |_, chunk| Ok(chunk.rows()), |a, b| *a += b)?;
/// assert_eq!(rows, Some(10_000));
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// The first error, in the order of the chunks, of the scan or of `each`.
pub fn reduce<S: Send>(
    source: &dyn Source,
    each: impl Fn(usize, &Chunk) -> Result<S> + Sync,
    merge: impl Fn(&mut S, S) + Sync,
) -> Result<Option<S>> {
    let each = |partial: &mut Option<S>, number: usize, chunk: &Chunk| {
        *partial = Some(each(number, chunk)?);
        Ok(())
    };
    fold(source, 1, each, merge)
}

/// Like [`reduce`], for partial results that are costly to create and to merge: `segment`
/// consecutive chunks, a power of two, are added to the same one, which starts as `None`.
///
/// # Errors
/// As [`reduce`].
pub fn fold<S: Send>(
    source: &dyn Source,
    segment: usize,
    add: impl Fn(&mut Option<S>, usize, &Chunk) -> Result<()> + Sync,
    merge: impl Fn(&mut S, S) + Sync,
) -> Result<Option<S>> {
    if let Some(table) = source.table() {
        let each =
            |partial: &mut Option<S>, number: usize| add(partial, number, &table.chunks()[number]);
        return fold_numbers(table.chunks().len(), segment, each, merge);
    }
    if let Some(maker) = source.maker() {
        let each = |partial: &mut Option<S>, number: usize| add(partial, number, &maker(number)?);
        let chunks = source.rows().div_ceil(CHUNK_ROWS as u64) as usize;
        return fold_numbers(chunks, segment, each, merge);
    }
    let segment = segment.max(1).next_power_of_two();
    let mut scan = source.scan()?;
    let size = wave(source.schema()).max(segment);
    // The finished subtrees, as a binary counter: (number of waves, result).
    let mut stack: Vec<(usize, S)> = Vec::new();
    let mut first = 0;
    loop {
        let wave = scan.by_ref().take(size).collect::<Result<Vec<_>>>()?;
        let each =
            |partial: &mut Option<S>, number: usize| add(partial, number, &wave[number - first]);
        let numbers = first..first + wave.len();
        let Some(result) = tree(numbers, segment, &each, &merge).transpose()? else {
            break;
        };
        first += wave.len();
        let mut node = (1, result);
        while stack.last().is_some_and(|(size, _)| *size == node.0) {
            if let Some((size, mut left)) = stack.pop() {
                merge(&mut left, node.1);
                node = (2 * size, left);
            }
        }
        stack.push(node);
        if wave.len() < size {
            break;
        }
    }
    let Some((_, mut result)) = stack.pop() else {
        return Ok(None);
    };
    while let Some((_, mut left)) = stack.pop() {
        merge(&mut left, result);
        result = left;
    }
    Ok(Some(result))
}

/// Like [`fold`], over the numbers of the chunks only.
///
/// # Errors
/// The first error of `add`, in the order of the numbers.
pub(crate) fn fold_numbers<S: Send>(
    chunks: usize,
    segment: usize,
    add: impl Fn(&mut Option<S>, usize) -> Result<()> + Sync,
    merge: impl Fn(&mut S, S) + Sync,
) -> Result<Option<S>> {
    let segment = segment.max(1).next_power_of_two();
    tree(0..chunks, segment, &add, &merge).transpose()
}

fn tree<S: Send>(
    numbers: Range<usize>,
    segment: usize,
    add: &(impl Fn(&mut Option<S>, usize) -> Result<()> + Sync),
    merge: &(impl Fn(&mut S, S) + Sync),
) -> Option<Result<S>> {
    match numbers.len() {
        0 => None,
        few if few <= segment => {
            let mut partial = None;
            for number in numbers {
                if let Err(error) = add(&mut partial, number) {
                    return Some(Err(error));
                }
            }
            partial.map(Ok)
        }
        _ => {
            let middle = numbers.start + numbers.len().next_power_of_two() / 2;
            let (a, b) = rayon::join(
                || tree(numbers.start..middle, segment, add, merge),
                || tree(middle..numbers.end, segment, add, merge),
            );
            Some(match (a, b) {
                (Some(Ok(mut a)), Some(Ok(b))) => {
                    merge(&mut a, b);
                    Ok(a)
                }
                (Some(Err(error)), _) | (_, Some(Err(error))) => Err(error),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => return None,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Maker, Table};

    /// A table behind a source that streams its chunks or makes them on demand.
    struct Other {
        table: Table,
        made: bool,
    }

    impl Source for Other {
        fn schema(&self) -> &Schema {
            self.table.schema()
        }
        fn rows(&self) -> u64 {
            self.table.rows()
        }
        fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
            self.table.scan()
        }
        fn maker(&self) -> Option<Maker<'_>> {
            let make = |number: usize| Ok(self.table.chunks()[number].clone());
            self.made.then(|| Box::new(make) as Maker)
        }
    }

    fn harmonic(rows: usize) -> Table {
        let x = Column::from_numbers((0..rows).map(|i| Some(1.0 / (i + 1) as f64)));
        Table::new(
            Schema::new(vec![Field::new("x", Kind::Real)]),
            vec![x],
            None,
        )
        .unwrap()
    }

    fn sum(source: &dyn Source) -> Option<f64> {
        reduce(
            source,
            |_, chunk| {
                Ok(chunk
                    .column(0)
                    .cells(0, chunk.rows())
                    .reals()
                    .iter()
                    .sum::<f64>())
            },
            |a, b| *a += b,
        )
        .unwrap()
    }

    #[test]
    fn streamed_made_and_in_memory_sums_have_the_same_bits_on_any_number_of_threads() {
        for rows in [0, 1, 4096, 4097, 200_000, 300_001, 1_000_000] {
            let table = harmonic(rows);
            let expected = sum(&table).map(f64::to_bits);
            for threads in [1, 2, 7] {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                assert_eq!(pool.install(|| sum(&table)).map(f64::to_bits), expected);
                for made in [false, true] {
                    let table = table.clone();
                    let other = pool.install(|| sum(&Other { table, made }));
                    assert_eq!(
                        other.map(f64::to_bits),
                        expected,
                        "{rows} rows, {threads} threads"
                    );
                }
            }
        }
    }
}
