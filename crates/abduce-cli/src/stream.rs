//! Answers in the order of the rows while several threads work: chunks are
//! taken in waves, so that no more than a wave is ever in memory. A row that a model
//! cannot answer is not asked about, and told of at the end.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::text_table::counted;
use abduce::ask::Predict;
use abduce::data::{Chunk, Source};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Asks something of every chunk and passes the answers on in order. `ask` is
/// given the number of the chunk and the chunk.
pub fn in_order<T: Send>(
    source: &dyn Source,
    ask: impl Fn(usize, &Chunk) -> abduce::Result<T> + Sync,
    mut pass_on: impl FnMut(&Chunk, T) -> Outcome,
) -> Outcome {
    let wave = 2 * rayon::current_num_threads();
    let mut scan = source.scan()?;
    let mut first = 0;
    loop {
        let chunks = scan
            .by_ref()
            .take(wave)
            .collect::<abduce::Result<Vec<_>>>()?;
        if chunks.is_empty() {
            return Ok(());
        }
        let answers: Vec<abduce::Result<T>> = chunks
            .par_iter()
            .enumerate()
            .map(|(number, chunk)| ask(first + number, chunk))
            .collect();
        for (chunk, answer) in chunks.iter().zip(answers) {
            pass_on(chunk, answer.map_err(Failure::from)?)?;
        }
        first += chunks.len();
    }
}

/// An answer about the rows of a chunk that the model can answer.
pub struct Answer<T> {
    pub of: T,
    /// These rows, where they are not all.
    rows: Option<Vec<u32>>,
}

impl<T> Answer<T> {
    /// Asks something of the rows that the model can answer.
    pub fn ask(
        model: &dyn Predict,
        chunk: &Chunk,
        ask: impl FnOnce(&Chunk) -> abduce::Result<T>,
    ) -> abduce::Result<Answer<T>> {
        let lacking = model.unanswerable(chunk);
        if lacking.is_empty() {
            return ask(chunk).map(|of| Answer { of, rows: None });
        }
        let is_there = |row: &u32| lacking.binary_search(&(*row as usize)).is_err();
        let rows: Vec<u32> = (0..chunk.rows() as u32).filter(is_there).collect();
        let of = ask(&chunk.take(&rows))?;
        Ok(Answer {
            of,
            rows: Some(rows),
        })
    }

    /// The row of the chunk that a row of the answer is about.
    pub fn row(&self, place: usize) -> usize {
        self.rows
            .as_ref()
            .map_or(place, |rows| rows[place] as usize)
    }

    /// Where in the answer a row of the chunk is.
    pub fn place(&self, row: usize) -> Option<usize> {
        match &self.rows {
            None => Some(row),
            Some(rows) => rows.binary_search(&(row as u32)).ok(),
        }
    }
}

/// Rows without an answer: how many, and the first.
#[derive(Default)]
pub struct Unanswered {
    rows: u64,
    first: u64,
}

impl Unanswered {
    /// Notes a row, counted from 1.
    pub fn add(&mut self, row: u64) {
        self.rows += 1;
        if self.rows == 1 {
            self.first = row;
        }
    }

    /// Warns of them, if there are any.
    pub fn tell(&self, context: &Context, what: &str) {
        let text = match self.rows {
            0 => return,
            1 => format!("row {} has a missing value", self.first),
            many => format!(
                "{many} rows have a missing value (first: row {})",
                self.first
            ),
        };
        context.warn(&format!(
            "{text}, which this model cannot integrate over; {what}"
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

    /// Adds the rows that another has counted.
    pub fn merge(&mut self, other: ChangedConstants) {
        for (column, rows) in other.0 {
            *self.0.entry(column).or_default() += rows;
        }
    }

    /// Reports them, a note for each column.
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

/// The random numbers of one chunk, whichever thread draws them.
pub fn chunk_rng(seed: u64, copy: u64, chunk: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((copy << 40) | chunk as u64);
    rng
}
