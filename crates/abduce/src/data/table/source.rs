//! Sources of chunks that can be scanned repeatedly, and tables, which are sources in memory.

use crate::data::table::chunk::{CHUNK_ROWS, Chunk};
use crate::data::table::column::Column;
use crate::data::table::schema::{Kind, Schema};
use crate::{Error, Result};

/// Rows that can be scanned repeatedly, in chunks of [`CHUNK_ROWS`].
pub trait Source: Send + Sync {
    /// The columns.
    fn schema(&self) -> &Schema;

    /// The number of rows.
    fn rows(&self) -> u64;

    /// The chunks in order; all but the last have [`CHUNK_ROWS`] rows.
    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>>;

    /// The table, if all of it is in memory.
    fn table(&self) -> Option<&Table> {
        None
    }

    /// A function that makes chunks on demand, if the source can make any chunk on any thread;
    /// a parallel pass then makes each chunk where it is used.
    fn maker(&self) -> Option<Maker<'_>> {
        None
    }
}

/// Makes the chunk with a given number.
pub type Maker<'a> = Box<dyn Fn(usize) -> Result<Chunk> + Sync + 'a>;

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

    /// A table of concatenated chunks of any sizes.
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

    /// The same table with columns of very large or small numbers rescaled to a
    /// [unit](crate::data::Field::unit), as files are read with
    /// [`units`](crate::data::ReadOptions::units). Questions to a model of such a table are
    /// in these units.
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
                let numbers = (0..chunk.rows()).filter_map(|row| cells.number(row));
                numbers.fold(0.0, |most: f64, x| most.max(x.abs()))
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

    /// The rows at the given positions, in that order, as a table.
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

    /// One column, of all rows.
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
