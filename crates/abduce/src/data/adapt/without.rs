//! A source without one of its columns.

use crate::Result;
use crate::data::table::chunk::Chunk;
use crate::data::table::schema::Schema;
use crate::data::table::source::{Source, Table};

/// The rows of a source without a column.
struct Without<'a> {
    source: &'a dyn Source,
    position: usize,
    schema: Schema,
}

/// A source without the column at a position; a table in memory stays one.
pub(crate) fn without(source: &dyn Source, position: usize) -> Box<dyn Source + '_> {
    let mut schema = source.schema().clone();
    schema.fields.remove(position);
    if let Some(table) = source.table() {
        let chunks = table.chunks().iter().map(|chunk| chunk.without(position));
        return Box::new(Table::from_chunks(schema, chunks.collect()));
    }
    Box::new(Without {
        source,
        position,
        schema,
    })
}

impl Chunk {
    /// The same rows without the column at a position.
    pub(crate) fn without(&self, position: usize) -> Chunk {
        let mut columns = self.columns().to_vec();
        columns.remove(position);
        Chunk::new(self.rows(), columns, self.weights().map(<[f64]>::to_vec))
    }
}

impl Source for Without<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        let shorter = |chunk: Result<Chunk>| chunk.map(|chunk| chunk.without(self.position));
        Ok(Box::new(self.source.scan()?.map(shorter)))
    }
}
