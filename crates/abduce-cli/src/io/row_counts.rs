//! Counts of rows that are reported after a command has processed a whole table.

use crate::context::Context;
use crate::io::failure::Outcome;
use crate::render::text_table::counted;
use abduce::ask::{Answer, Predict, in_order};
use abduce::data::{Chunk, Source};
use std::collections::BTreeMap;

/// Rows without an answer, and rows with new values in constant columns.
#[derive(Default)]
pub struct RowCounts {
    unanswered: u64,
    first_unanswered: u64,
    constants: ChangedConstants,
}

impl RowCounts {
    /// Prints a warning about rows without an answer, where `consequence` says what was done with
    /// them, and a note about changed constants.
    pub fn report(&self, model: &dyn Predict, context: &Context, consequence: &str) {
        let first = self.first_unanswered;
        let rows = match self.unanswered {
            0 => None,
            1 => Some(format!("row {first} has a missing value")),
            rows => Some(format!(
                "{rows} rows have a missing value (first: row {first})"
            )),
        };
        if let Some(rows) = rows {
            let reason = "which this model cannot integrate over";
            context.warn(&format!("{rows}, {reason}; {consequence}"));
        }
        self.constants.report(model, context);
    }
}

/// Asks about all chunks in parallel and passes the answers to `visit` in the order of the rows,
/// with the number of the first row of the chunk, from 1. The answers lack the rows that the model
/// cannot answer.
pub fn visit_answers<T: Send>(
    model: &dyn Predict,
    source: &dyn Source,
    ask: impl Fn(&Chunk) -> abduce::Result<T> + Sync,
    mut visit: impl FnMut(&Chunk, &Answer<T>, u64) -> Outcome,
) -> Outcome<RowCounts> {
    let mut counts = RowCounts::default();
    let mut first_row = 1;
    in_order(
        source,
        |_, chunk| Answer::ask(model, chunk, &ask),
        |chunk, answer| {
            counts.constants.add(model, chunk);
            for row in (0..chunk.rows()).filter(|row| answer.position(*row).is_none()) {
                if counts.unanswered == 0 {
                    counts.first_unanswered = first_row + row as u64;
                }
                counts.unanswered += 1;
            }
            visit(chunk, &answer, first_row)?;
            first_row += chunk.rows() as u64;
            Outcome::Ok(())
        },
    )?;
    Ok(counts)
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
