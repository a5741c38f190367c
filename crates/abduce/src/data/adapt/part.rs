//! The rows of some folds as a source. Each scan goes through the whole source and regroups
//! the wanted rows into full chunks, so that memory does not grow with the table.

use crate::Result;
use crate::data::{CHUNK_ROWS, Chunk, Schema, Source, Table};

/// The rows of some folds of a source.
pub(super) struct Part<'a> {
    pub source: &'a dyn Source,
    /// The fold of every row of the source.
    pub of_row: &'a [u32],
    /// Whether a fold is wanted.
    pub wanted: Box<dyn Fn(u32) -> bool + Send + Sync + 'a>,
    /// The number of wanted rows.
    pub rows: u64,
}

impl Source for Part<'_> {
    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        Ok(Box::new(Selected {
            scan: self.source.scan()?,
            part: self,
            rows_scanned: 0,
            pending: Vec::new(),
        }))
    }
}

/// A scan that regroups the wanted rows into full chunks.
struct Selected<'a> {
    scan: Box<dyn Iterator<Item = Result<Chunk>> + Send + 'a>,
    part: &'a Part<'a>,
    rows_scanned: usize,
    pending: Vec<Chunk>,
}

impl Iterator for Selected<'_> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Result<Chunk>> {
        while self.pending.iter().map(Chunk::rows).sum::<usize>() < CHUNK_ROWS {
            match self.scan.next() {
                Some(Ok(chunk)) => {
                    let folds =
                        &self.part.of_row[self.rows_scanned..self.rows_scanned + chunk.rows()];
                    let rows = 0..chunk.rows() as u32;
                    let wanted = |row: &u32| (self.part.wanted)(folds[*row as usize]);
                    let rows: Vec<u32> = rows.filter(wanted).collect();
                    self.rows_scanned += chunk.rows();
                    if !rows.is_empty() {
                        self.pending.push(chunk.take(&rows));
                    }
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        let whole = Table::from_parts(self.part.schema().clone(), &self.pending);
        let (first, rest) = whole.chunks().split_first()?;
        self.pending = rest.to_vec();
        Some(Ok(first.clone()))
    }
}
