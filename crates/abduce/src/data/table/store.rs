//! Stores encoded chunks in memory, or all of them in a temporary file once they exceed the
//! memory budget.

use crate::Result;
use crate::data::table::chunk::Chunk;
use crate::data::table::column::Column;
use crate::data::table::schema::Schema;
use crate::data::table::source::{Source, Table};
use crate::data::table::streamed::Spill;

/// Collects the chunks of a source.
pub(crate) struct Store {
    budget: u64,
    bytes: u64,
    chunks: Vec<Chunk>,
    spill: Option<Spill>,
}

impl Store {
    pub fn new(budget: u64) -> Store {
        Store {
            budget,
            bytes: 0,
            chunks: Vec::new(),
            spill: None,
        }
    }

    pub fn add(&mut self, chunk: Chunk) -> Result<()> {
        self.bytes += size(&chunk);
        match &mut self.spill {
            Some(spill) => spill.write(&chunk)?,
            None => self.chunks.push(chunk),
        }
        if self.spill.is_none() && self.bytes > self.budget {
            let mut spill = Spill::new()?;
            for chunk in std::mem::take(&mut self.chunks) {
                spill.write(&chunk)?;
            }
            self.spill = Some(spill);
        }
        Ok(())
    }

    pub fn finish(self, schema: Schema) -> Result<Box<dyn Source>> {
        Ok(match self.spill {
            Some(spill) => Box::new(spill.finish(schema)?),
            None => Box::new(Table::from_chunks(schema, self.chunks)),
        })
    }
}

fn size(chunk: &Chunk) -> u64 {
    let columns = chunk.columns().iter().map(|column| match column {
        Column::Real { values, .. } => 8 * values.len(),
        Column::Code { values, .. } => 4 * values.len(),
        Column::Text { values, .. } => 4 * values.len() + 12 * values.rows().codes().len(),
    });
    let nullable = chunk.columns().iter().filter(|c| c.nulls().is_some());
    let weights = chunk.weights().map_or(0, |w| 8 * w.len());
    (columns.sum::<usize>() + nullable.count() * chunk.rows() / 8 + weights) as u64
}
