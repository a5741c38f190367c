//! Asking about all rows of a source, chunk by chunk and on all threads.

use super::Predict;
use crate::data::{CHUNK_ROWS, Chunk, Source};
use crate::{Control, Error, Result};
use rayon::prelude::*;

/// Asks about every chunk and passes the answers on in the order of the rows. Chunks are taken
/// in waves, so that no more than a wave is in memory. `ask` is given the number of the chunk
/// and the chunk.
///
/// # Errors
/// The first error, in the order of the chunks, of the source, of `ask` or of `pass_on`.
pub fn in_order<T: Send, E: From<Error>>(
    source: &dyn Source,
    ask: impl Fn(usize, &Chunk) -> Result<T> + Sync,
    mut pass_on: impl FnMut(&Chunk, T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let wave = 2 * rayon::current_num_threads();
    let mut scan = source.scan()?;
    let mut first = 0;
    loop {
        let chunks: Vec<Chunk> = scan.by_ref().take(wave).collect::<Result<_>>()?;
        if chunks.is_empty() {
            return Ok(());
        }
        let numbered = chunks.par_iter().enumerate();
        let answers: Vec<Result<T>> = numbered
            .map(|(number, chunk)| ask(first + number, chunk))
            .collect();
        for (chunk, answer) in chunks.iter().zip(answers) {
            pass_on(chunk, answer?)?;
        }
        first += chunks.len();
    }
}

/// The answers about all rows, in their order. `ask` is given the number of rows before the
/// chunk, and the chunk: at most `most` rows, so that an interrupt is noticed soon. After one,
/// the answers are incomplete.
///
/// # Errors
/// The first error, in the order of the chunks, of the source or of `ask`.
pub fn answers<T: Clone + Send>(
    source: &dyn Source,
    most: usize,
    control: Control,
    ask: impl Fn(usize, &Chunk) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let ask = |(number, chunk): (usize, &Chunk)| -> Result<Vec<T>> {
        let before = number * CHUNK_ROWS;
        if control.is_interrupted() {
            return Ok(Vec::new());
        }
        if chunk.rows() <= most {
            return ask(before, chunk);
        }
        let starts = (0..chunk.rows()).step_by(most);
        let answers = starts.map(|start| {
            if control.is_interrupted() {
                return Ok(Vec::new());
            }
            let part = chunk.slice(start, most.min(chunk.rows() - start));
            ask(before + start, &part)
        });
        Ok(answers.collect::<Result<Vec<_>>>()?.concat())
    };
    let parts: Vec<Vec<T>> = if let Some(table) = source.table() {
        table
            .chunks()
            .par_iter()
            .enumerate()
            .map(ask)
            .collect::<Result<_>>()?
    } else if let Some(maker) = source.maker() {
        let chunks = source.rows().div_ceil(CHUNK_ROWS as u64) as usize;
        let numbers = (0..chunks).into_par_iter();
        let each = numbers.map(|number| ask((number, &maker(number)?)));
        each.collect::<Result<_>>()?
    } else {
        let mut parts = Vec::new();
        in_order(
            source,
            |number, chunk| ask((number, chunk)),
            |_, part| {
                parts.push(part);
                Ok::<(), Error>(())
            },
        )?;
        parts
    };
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| all.extend(part));
    Ok(all)
}

/// An answer about the rows of a chunk that a model can answer.
pub struct Answer<T> {
    /// The answer.
    pub of: T,
    /// The rows that it is about, if they are not all rows of the chunk.
    rows: Option<Vec<u32>>,
}

impl<T> Answer<T> {
    /// Asks about the rows of a chunk that the model can [answer](Predict::unanswerable).
    ///
    /// # Errors
    /// As `ask`.
    pub fn ask(
        model: &dyn Predict,
        chunk: &Chunk,
        ask: impl FnOnce(&Chunk) -> Result<T>,
    ) -> Result<Answer<T>> {
        let unanswerable = model.unanswerable(chunk);
        if unanswerable.is_empty() {
            return ask(chunk).map(|of| Answer { of, rows: None });
        }
        let is_answerable = |row: &u32| unanswerable.binary_search(&(*row as usize)).is_err();
        let rows: Vec<u32> = (0..chunk.rows() as u32).filter(is_answerable).collect();
        let of = ask(&chunk.take(&rows))?;
        Ok(Answer {
            of,
            rows: Some(rows),
        })
    }

    /// The row of the chunk at a position in the answer.
    pub fn row(&self, position: usize) -> usize {
        let rows = self.rows.as_ref();
        rows.map_or(position, |rows| rows[position] as usize)
    }

    /// The position of a row of the chunk in the answer, if it has one.
    pub fn position(&self, row: usize) -> Option<usize> {
        match &self.rows {
            None => Some(row),
            Some(rows) => rows.binary_search(&(row as u32)).ok(),
        }
    }
}
