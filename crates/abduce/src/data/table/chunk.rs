//! A chunk: some thousands of consecutive rows of a table, encoded. All chunks have the same
//! size, so that sums over a table are formed in the same order whatever its source and the
//! number of threads.

use crate::data::table::column::Column;

/// The number of rows of every chunk of a source except its last.
pub const CHUNK_ROWS: usize = 4096;

/// Consecutive rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    rows: usize,
    columns: Vec<Column>,
    weights: Option<Vec<f64>>,
}

impl Chunk {
    /// A chunk of columns of equal length; every row has weight 1 without `weights`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn new(rows: usize, columns: Vec<Column>, weights: Option<Vec<f64>>) -> Self {
        assert!(columns.iter().all(|column| column.len() == rows));
        assert!(weights.as_ref().is_none_or(|w| w.len() == rows));
        Chunk {
            rows,
            columns,
            weights,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order of the schema.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column at a position of the schema.
    pub fn column(&self, position: usize) -> &Column {
        &self.columns[position]
    }

    /// The row weights; `None` if every row has weight 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The sum of the row weights.
    pub fn total_weight(&self) -> f64 {
        self.weights
            .as_ref()
            .map_or(self.rows as f64, |w| w.iter().sum())
    }

    /// The rows of positive weight.
    pub fn rows_with_weight(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rows).filter(|row| self.weights.as_ref().is_none_or(|w| w[*row] > 0.0))
    }

    /// The rows at the positions `rows`, in that order.
    pub fn take(&self, rows: &[u32]) -> Chunk {
        Chunk {
            rows: rows.len(),
            columns: self
                .columns
                .iter()
                .map(|column| column.take(rows))
                .collect(),
            weights: self
                .weights
                .as_ref()
                .map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
        }
    }

    /// The rows `start..start + len`, sharing the columns' memory.
    pub fn slice(&self, start: usize, len: usize) -> Chunk {
        Chunk {
            rows: len,
            columns: self
                .columns
                .iter()
                .map(|column| column.slice(start, len))
                .collect(),
            weights: self
                .weights
                .as_ref()
                .map(|w| w[start..start + len].to_vec()),
        }
    }

    /// The same rows with one column replaced.
    pub fn with_column(mut self, position: usize, column: Column) -> Chunk {
        assert_eq!(column.len(), self.rows);
        self.columns[position] = column;
        self
    }
}
