//! Encodes rows in chunks, which are kept in memory or in a temporary file.

use crate::data::encode::cell_encoder::CellEncoder;
use crate::data::missing::Missing;
use crate::data::read::Located;
use crate::data::table::chunk::{CHUNK_ROWS, Chunk};
use crate::data::table::column::Column;
use crate::data::table::schema::Schema;
use crate::data::table::source::Source;
use crate::data::table::store::Store;
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;

/// Encodes rows and stores them in chunks of [`CHUNK_ROWS`].
pub(super) struct ChunkWriter {
    /// An encoder for each field, then one for the weights if rows are weighted.
    encoders: Vec<(Option<usize>, CellEncoder)>,
    weighted: bool,
    /// The number of rows in the current chunk so far.
    filled: usize,
    missing_values: Vec<u64>,
    store: Store,
}

impl ChunkWriter {
    /// A writer without rows; the last encoder is for the weights, if rows are weighted.
    pub fn new(
        encoders: Vec<(Option<usize>, CellEncoder)>,
        weighted: bool,
        budget: u64,
    ) -> ChunkWriter {
        let columns = encoders.len() - usize::from(weighted);
        ChunkWriter {
            encoders,
            weighted,
            filled: 0,
            missing_values: vec![0; columns],
            store: Store::new(budget),
        }
    }

    /// The encoders of columns that the files have, with their positions in the table.
    pub fn encoders(&self) -> impl Iterator<Item = (usize, &CellEncoder)> {
        let encoders = self.encoders.iter();
        encoders.filter_map(|(at, encoder)| Some(((*at)?, encoder)))
    }

    /// Notes about levels and terms that the schema lacks.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let encoders = self.encoders.iter();
        encoders.filter_map(|(_, encoder)| encoder.note())
    }

    /// The number of missing values in each column, and the stored rows.
    pub fn finish(mut self, schema: Schema) -> Result<(Vec<u64>, Box<dyn Source>)> {
        self.flush()?;
        Ok((self.missing_values, self.store.finish(schema)?))
    }

    /// Appends the rows of some batches.
    pub fn append(&mut self, batches: &[Located<'_>], missing: &Missing) -> Result<()> {
        let mut runs = Vec::new();
        for (place, located) in batches.iter().enumerate() {
            let rows = located.batch.rows();
            let mut start = 0;
            while start < rows {
                let end = rows.min(start + CHUNK_ROWS - self.filled);
                runs.push((place, start..end));
                self.filled += end - start;
                start = end;
                if self.filled == CHUNK_ROWS {
                    self.encode(batches, &runs, missing)?;
                    runs.clear();
                    self.flush()?;
                }
            }
        }
        self.encode(batches, &runs, missing)
    }

    /// Encodes runs of rows of these batches.
    fn encode(
        &mut self,
        batches: &[Located<'_>],
        runs: &[(usize, Range<usize>)],
        missing: &Missing,
    ) -> Result<()> {
        first_error(self.encoders.par_iter_mut().map(|(at, encoder)| {
            runs.iter().try_for_each(|(place, rows)| {
                let located = &batches[*place];
                let encoded = encoder.append(located, *at, rows.clone(), missing);
                encoded.map_err(|error| (*place, error.at_file(located.name)))
            })
        }))
    }

    /// Stores the rows encoded so far as a chunk.
    fn flush(&mut self) -> Result<()> {
        if self.filled == 0 {
            return Ok(());
        }
        let fields = self.encoders.len() - usize::from(self.weighted);
        let (columns, weights) = self.encoders.split_at_mut(fields);
        // The threads that allocated the kept cells also allocate the new buffers, which can then
        // reuse memory that those cells free.
        let columns = columns.par_iter_mut().map(|(_, encoder)| encoder.take());
        let columns: Vec<Column> = columns.collect();
        let weights = weights.first_mut();
        let weights = weights.map(|(_, encoder)| encoder.take_weights());
        let chunk = Chunk::new(self.filled, columns, weights);
        self.count_missing(&chunk);
        self.filled = 0;
        self.store.add(chunk)
    }

    /// Counts the missing values in rows of positive weight.
    fn count_missing(&mut self, chunk: &Chunk) {
        for (count, column) in self.missing_values.iter_mut().zip(chunk.columns()) {
            let Some(nulls) = column.nulls() else {
                continue;
            };
            *count += match chunk.weights() {
                None => nulls.null_count() as u64,
                Some(_) => {
                    let rows = chunk.rows_with_weight();
                    rows.filter(|row| nulls.is_null(*row)).count() as u64
                }
            };
        }
    }
}

/// The error on the earliest line of the earliest batch, whichever thread found it.
pub(super) fn first_error(
    results: impl ParallelIterator<Item = std::result::Result<(), (usize, Error)>>,
) -> Result<()> {
    let errors: Vec<(usize, Error)> = results.filter_map(std::result::Result::err).collect();
    let first = errors.into_iter();
    let first = first.min_by_key(|(place, error)| (*place, error.line()));
    first.map_or(Ok(()), |(_, error)| Err(error))
}
