//! Sources of chunks that can be scanned as often as learning needs, and the
//! reduction over them. Partial results are merged along a fixed binary tree
//! over chunk numbers, so that 1, 2 or 64 threads, in memory or streamed, give
//! the same bits; at most about `threads × log₂(chunks)` of them are alive.

use super::chunk::{CHUNK_ROWS, Chunk};
use super::column::Column;
use super::schema::{Field, Kind, Schema};
use crate::{Error, Result};

/// Rows that can be scanned again and again, in chunks of [`CHUNK_ROWS`].
pub trait Source: Send + Sync {
    /// The columns.
    fn schema(&self) -> &Schema;

    /// The number of rows.
    fn rows(&self) -> u64;

    /// The chunks in order; all but the last have [`CHUNK_ROWS`] rows.
    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>>;

    /// The table, where all of it is in memory.
    fn table(&self) -> Option<&Table> {
        None
    }
}

/// A table in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    schema: Schema,
    chunks: Vec<Chunk>,
    rows: u64,
}

impl Table {
    /// A table of whole columns in the order of the schema.
    ///
    /// # Errors
    /// If the columns do not fit the schema or each other.
    pub fn new(schema: Schema, columns: Vec<Column>, weights: Option<Vec<f64>>) -> Result<Table> {
        if columns.len() != schema.fields.len() {
            return Err(Error::data(format!(
                "the schema has {} columns, the table {}",
                schema.fields.len(),
                columns.len()
            )));
        }
        let rows = columns
            .first()
            .map(Column::len)
            .or(weights.as_ref().map(Vec::len))
            .unwrap_or(0);
        for (field, column) in schema.fields.iter().zip(&columns) {
            if column.len() != rows {
                return Err(
                    Error::data(format!("{} cells instead of {rows}", column.len()))
                        .at_column(&field.name),
                );
            }
            if !column.fits(field.kind) {
                return Err(Error::data(format!(
                    "the cells do not fit the kind {}",
                    field.kind.name()
                ))
                .at_column(&field.name));
            }
            let cells = column.cells(0, rows);
            let mut codes = cells.codes().iter().enumerate();
            if let Some((_, code)) = codes
                .find(|(row, code)| cells.is_seen(*row) && **code as usize >= field.levels.len())
            {
                return Err(Error::data(format!("code {code} has no level")).at_column(&field.name));
            }
            if let Column::Text { values, .. } = column
                && values.width() > field.terms()
            {
                return Err(Error::data("a term is not in the vocabulary").at_column(&field.name));
            }
        }
        if weights.as_ref().is_some_and(|w| w.len() != rows) {
            return Err(Error::data("there are not as many weights as rows"));
        }
        if weights
            .as_ref()
            .is_some_and(|w| w.iter().any(|x| !x.is_finite() || *x < 0.0))
        {
            return Err(Error::data("a weight is negative or not a number"));
        }
        Ok(Table::of_whole(schema, Chunk::new(rows, columns, weights)))
    }

    /// A table of chunks as a [`Source`] yields them.
    ///
    /// # Panics
    /// If a chunk other than the last is not full.
    pub fn from_chunks(schema: Schema, chunks: Vec<Chunk>) -> Table {
        let full = chunks.len().saturating_sub(1);
        assert!(
            chunks[..full]
                .iter()
                .all(|chunk| chunk.rows() == CHUNK_ROWS)
        );
        let rows = chunks.iter().map(|chunk| chunk.rows() as u64).sum();
        Table {
            schema,
            chunks,
            rows,
        }
    }

    /// A table of chunks of any sizes, put together.
    pub fn from_parts(schema: Schema, parts: &[Chunk]) -> Table {
        let starts: Vec<usize> = parts
            .iter()
            .scan(0, |first, part| {
                *first += part.rows();
                Some(*first - part.rows())
            })
            .collect();
        let rows = parts.iter().map(Chunk::rows).sum::<usize>();
        let cell = |row: usize| {
            let part = starts.partition_point(|start| *start <= row) - 1;
            (&parts[part], row - starts[part])
        };
        let columns = (0..schema.fields.len())
            .map(|c| {
                Column::gather(
                    (0..rows).map(|row| {
                        let (part, i) = cell(row);
                        (part.column(c), i)
                    }),
                    schema.fields[c].kind,
                )
            })
            .collect();
        let weights = parts.iter().any(|part| part.weights().is_some()).then(|| {
            (0..rows)
                .map(|row| {
                    let (part, i) = cell(row);
                    part.weights().map_or(1.0, |w| w[i])
                })
                .collect()
        });
        Table::of_whole(schema, Chunk::new(rows, columns, weights))
    }

    fn of_whole(schema: Schema, whole: Chunk) -> Table {
        let rows = whole.rows();
        let chunks = (0..rows)
            .step_by(CHUNK_ROWS)
            .map(|start| whole.slice(start, CHUNK_ROWS.min(rows - start)))
            .collect();
        Table {
            schema,
            chunks,
            rows: rows as u64,
        }
    }

    /// The same with every column of real numbers in a [unit](Field::unit) of its own where
    /// their squares would leave double precision, as files are read. What is asked of a
    /// model of such a table has to be in its units.
    ///
    /// ```
    /// use abduce::data::{Column, Field, Kind, Schema, Table};
    /// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    /// let huge = Column::from_numbers([Some(1e300), Some(-3e300), None]);
    /// let table = Table::new(schema, vec![huge], None)?.in_units();
    /// let unit = table.schema().fields[0].unit;
    /// let cells = table.chunks()[0].column(0).cells(0, 2);
    /// assert_eq!(cells.reals()[1] * unit, -3e300);
    /// # use abduce::data::Source;
    /// # Ok::<(), abduce::Error>(())
    /// ```
    pub fn in_units(mut self) -> Table {
        for (position, field) in self.schema.fields.iter_mut().enumerate() {
            if field.kind != Kind::Real || field.unit != 1.0 {
                continue;
            }
            let size = |chunk: &Chunk| {
                let cells = chunk.column(position).cells(0, chunk.rows());
                let seen = (0..chunk.rows()).filter_map(|row| cells.number(row));
                seen.fold(0.0, |most: f64, x| most.max(x.abs()))
            };
            *field = field
                .clone()
                .in_unit_of(self.chunks.iter().map(size).fold(0.0, f64::max));
            if field.unit == 1.0 {
                continue;
            }
            for chunk in &mut self.chunks {
                let cells = chunk.column(position).cells(0, chunk.rows());
                let scaled = (0..chunk.rows()).map(|row| Some(cells.number(row)? / field.unit));
                let column = Column::from_numbers(scaled.collect::<Vec<_>>());
                *chunk = chunk.clone().with_column(position, column);
            }
        }
        self
    }

    /// The chunks.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The rows at the given positions, in that order, as a table of its own.
    pub fn take(&self, rows: &[usize]) -> Table {
        let columns = (0..self.schema.fields.len())
            .map(|position| self.take_column(position, rows))
            .collect();
        let weights = self.chunks.first().and_then(Chunk::weights).map(|_| {
            rows.iter()
                .map(|&row| {
                    self.chunks[row / CHUNK_ROWS]
                        .weights()
                        .map_or(1.0, |w| w[row % CHUNK_ROWS])
                })
                .collect()
        });
        Table::of_whole(
            self.schema.clone(),
            Chunk::new(rows.len(), columns, weights),
        )
    }

    fn take_column(&self, position: usize, rows: &[usize]) -> Column {
        let cells = rows.iter().map(|&row| {
            (
                self.chunks[row / CHUNK_ROWS].column(position),
                row % CHUNK_ROWS,
            )
        });
        Column::gather(cells, self.schema.fields[position].kind)
    }

    /// The same table with one column replaced.
    ///
    /// # Errors
    /// If the column does not fit.
    pub fn with_column(&self, position: usize, column: Column) -> Result<Table> {
        if column.len() as u64 != self.rows {
            return Err(Error::data("the new column has another length"));
        }
        let chunks = self
            .chunks
            .iter()
            .enumerate()
            .map(|(i, chunk)| {
                chunk
                    .clone()
                    .with_column(position, column.slice(i * CHUNK_ROWS, chunk.rows()))
            })
            .collect();
        Ok(Table {
            schema: self.schema.clone(),
            chunks,
            rows: self.rows,
        })
    }

    /// The whole of one column.
    pub fn column(&self, position: usize) -> Column {
        self.take_column(position, &(0..self.rows as usize).collect::<Vec<_>>())
    }
}

impl Source for Table {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        Ok(Box::new(self.chunks.iter().cloned().map(Ok)))
    }

    fn table(&self) -> Option<&Table> {
        Some(self)
    }
}

/// How many chunks of a streamed source are held at once: a power of two, so
/// that a wave is a whole subtree of the tree an in-memory table is merged by,
/// and fewer of a wide table.
fn wave(schema: &Schema) -> usize {
    const CELLS: usize = 1 << 22;
    // A text has as many cells as words.
    const WORDS: usize = 256;
    let cells = |field: &Field| if field.kind == Kind::Text { WORDS } else { 1 };
    let cells: usize = schema.fields.iter().map(cells).sum();
    let chunks = CELLS / (CHUNK_ROWS * cells.max(1));
    // The largest power of two not above it.
    (chunks.clamp(1, 16) + 1).next_power_of_two() / 2
}

/// Computes a partial result from every chunk, in parallel, and merges them
/// along the fixed tree; `None` when there is no chunk. `each` is given the
/// chunk's number and the chunk.
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

/// Like [`reduce`], where partial results are costly to begin and to merge:
/// `segment` consecutive chunks, a power of two, are added to the same one,
/// which is `None` before the first.
///
/// # Errors
/// As [`reduce`].
pub fn fold<S: Send>(
    source: &dyn Source,
    segment: usize,
    add: impl Fn(&mut Option<S>, usize, &Chunk) -> Result<()> + Sync,
    merge: impl Fn(&mut S, S) + Sync,
) -> Result<Option<S>> {
    let segment = segment.max(1).next_power_of_two();
    let each = Each { segment, add };
    if let Some(table) = source.table() {
        return tree(&table.chunks, 0, &each, &merge).transpose();
    }
    let mut scan = source.scan()?;
    let size = wave(source.schema()).max(segment);
    // A binary counter of finished subtrees: (number of waves, result).
    let mut stack: Vec<(usize, S)> = Vec::new();
    let mut first = 0;
    loop {
        let wave = scan.by_ref().take(size).collect::<Result<Vec<_>>>()?;
        let Some(result) = tree(&wave, first, &each, &merge).transpose()? else {
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

/// What becomes of segments of chunks.
struct Each<A> {
    segment: usize,
    add: A,
}

fn tree<S: Send, A: Fn(&mut Option<S>, usize, &Chunk) -> Result<()> + Sync>(
    chunks: &[Chunk],
    first: usize,
    each: &Each<A>,
    merge: &(impl Fn(&mut S, S) + Sync),
) -> Option<Result<S>> {
    match chunks.len() {
        0 => None,
        few if few <= each.segment => {
            let mut partial = None;
            for (chunk, number) in chunks.iter().zip(first..) {
                if let Err(error) = (each.add)(&mut partial, number, chunk) {
                    return Some(Err(error));
                }
            }
            partial.map(Ok)
        }
        _ => {
            let left = chunks.len().next_power_of_two() / 2;
            let (a, b) = chunks.split_at(left);
            let (a, b) = rayon::join(
                || tree(a, first, each, merge),
                || tree(b, first + left, each, merge),
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

    struct Streamed(Table);

    impl Source for Streamed {
        fn schema(&self) -> &Schema {
            self.0.schema()
        }
        fn rows(&self) -> u64 {
            self.0.rows()
        }
        fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
            self.0.scan()
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
    fn streamed_and_in_memory_sums_have_the_same_bits_on_any_number_of_threads() {
        for rows in [0, 1, 4096, 4097, 200_000, 300_001, 1_000_000] {
            let table = harmonic(rows);
            let expected = sum(&table).map(f64::to_bits);
            for threads in [1, 2, 7] {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                assert_eq!(pool.install(|| sum(&table)).map(f64::to_bits), expected);
                let streamed = pool.install(|| sum(&Streamed(table.clone())));
                assert_eq!(
                    streamed.map(f64::to_bits),
                    expected,
                    "{rows} rows, {threads} threads"
                );
            }
        }
    }
}
