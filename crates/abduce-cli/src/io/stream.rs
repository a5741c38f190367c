//! Counts of rows that are reported after a model has been asked about a whole table.

use crate::context::Context;
use crate::render::text_table::counted;
use abduce::ask::Predict;
use abduce::data::Chunk;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

/// The number of rows without an answer, and the first of them.
#[derive(Default)]
pub struct Unanswered {
    rows: u64,
    first: u64,
}

impl Unanswered {
    /// Counts a row by its number, from 1.
    pub fn add(&mut self, row: u64) {
        self.rows += 1;
        if self.rows == 1 {
            self.first = row;
        }
    }

    /// Warns of these rows, if there are any; `fate` is what happened to them.
    pub fn report(&self, context: &Context, fate: &str) {
        let text = match self.rows {
            0 => return,
            1 => format!("row {} has a missing value", self.first),
            many => format!(
                "{many} rows have a missing value (first: row {})",
                self.first
            ),
        };
        context.warn(&format!(
            "{text}, which this model cannot integrate over; {fate}"
        ));
    }
}

/// Rows with new values in columns that were constant in the fitted rows.
#[derive(Default)]
pub struct ChangedConstants(BTreeMap<usize, u64>);

impl ChangedConstants {
    /// Counts the rows of a chunk.
    pub fn add(&mut self, model: &dyn Predict, chunk: &Chunk) {
        for (column, rows) in model.changed_constants(chunk) {
            *self.0.entry(column).or_default() += rows as u64;
        }
    }

    /// Adds the counts of other rows.
    pub fn merge(&mut self, other: ChangedConstants) {
        for (column, rows) in other.0 {
            *self.0.entry(column).or_default() += rows;
        }
    }

    /// Prints a note for each column.
    pub fn report(&self, model: &dyn Predict, context: &Context) {
        for (column, rows) in &self.0 {
            context.note(&format!(
                "column {} was constant when the model was fitted; {} with another value, \
                 which is ignored",
                model.schema().fields[*column].name,
                counted(*rows, "row")
            ));
        }
    }
}

/// The random numbers of one chunk, the same for any number of threads.
pub fn chunk_rng(seed: u64, copy: u64, chunk: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((copy << 40) | chunk as u64);
    rng
}
