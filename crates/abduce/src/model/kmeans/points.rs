//! Rows as points: the coordinates of the rows of a chunk, one row after another. A missing value
//! is NaN. Rows of weight 0 or without any value are ignored.

use super::frame::Frame;
use crate::data::{Chunk, Values};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The points of a chunk.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub rows: usize,
    pub width: usize,
    /// The coordinates, one row after another.
    pub cells: Vec<f64>,
    /// The weight of each row; 0 if it has no value.
    pub weights: Vec<f64>,
    /// |x|² of complete rows.
    pub norms: Vec<f64>,
    /// The rows of positive weight without missing values.
    pub complete_rows: Vec<u32>,
    /// The rows of positive weight with a missing value.
    pub incomplete_rows: Vec<u32>,
    /// Whether no value is missing.
    pub is_complete: bool,
}

/// The number of rows copied at a time, whose cells fit into the first-level cache.
const BLOCK: usize = 64;

impl Points {
    /// The rows of a chunk.
    pub fn of(chunk: &Chunk, frame: &Frame) -> Points {
        let (rows, width) = (chunk.rows(), frame.columns.len());
        let mut cells = vec![0.0; rows * width];
        let columns = frame.columns.iter();
        let columns: Vec<Cow<[f64]>> = columns.map(|column| numbers_of(chunk, *column)).collect();
        for first in (0..rows).step_by(BLOCK) {
            let last = (first + BLOCK).min(rows);
            let block = &mut cells[first * width..last * width];
            for (c, column) in columns.iter().enumerate() {
                let coordinate = frame.coordinate_of(c);
                let cells = block.iter_mut().skip(c).step_by(width);
                cells
                    .zip(&column[first..last])
                    .for_each(|(cell, x)| *cell = coordinate(*x));
            }
        }
        let weights = match chunk.weights() {
            Some(weights) => weights.to_vec(),
            None => vec![1.0; rows],
        };
        Points::new(cells, width, weights, frame)
    }

    fn new(mut cells: Vec<f64>, width: usize, mut weights: Vec<f64>, frame: &Frame) -> Points {
        let rows = weights.len();
        let (mut norms, mut complete_rows, mut incomplete_rows) =
            (vec![0.0; rows], Vec::new(), Vec::new());
        let mut is_complete = true;
        for (row, x) in cells.chunks_exact_mut(width).enumerate() {
            let seen = frame.transform_row(x);
            is_complete &= seen == width;
            if seen == 0 {
                weights[row] = 0.0;
            }
            if weights[row] > 0.0 {
                let list = if seen == width {
                    &mut complete_rows
                } else {
                    &mut incomplete_rows
                };
                list.push(row as u32);
            }
            norms[row] = norm(x);
        }
        Points {
            rows,
            width,
            cells,
            weights,
            norms,
            complete_rows,
            incomplete_rows,
            is_complete,
        }
    }

    /// Points from coordinates without missing values.
    pub fn from_coordinates(cells: Vec<f64>, width: usize, weights: Vec<f64>) -> Points {
        let rows = weights.len();
        Points {
            norms: cells.chunks_exact(width).map(norm).collect(),
            complete_rows: (0..rows as u32)
                .filter(|row| weights[*row as usize] > 0.0)
                .collect(),
            incomplete_rows: Vec::new(),
            is_complete: true,
            rows,
            width,
            cells,
            weights,
        }
    }

    /// The points of several chunks in one.
    pub fn concatenate(parts: &[Points]) -> Points {
        let width = parts.first().map_or(1, |part| part.width);
        let mut all = Points {
            rows: 0,
            width,
            cells: Vec::new(),
            weights: Vec::new(),
            norms: Vec::new(),
            complete_rows: Vec::new(),
            incomplete_rows: Vec::new(),
            is_complete: true,
        };
        for part in parts {
            let first = all.rows as u32;
            all.rows += part.rows;
            all.cells.extend_from_slice(&part.cells);
            all.weights.extend_from_slice(&part.weights);
            all.norms.extend_from_slice(&part.norms);
            all.complete_rows
                .extend(part.complete_rows.iter().map(|row| first + row));
            all.incomplete_rows
                .extend(part.incomplete_rows.iter().map(|row| first + row));
            all.is_complete &= part.is_complete;
        }
        all
    }

    /// The distinct points of positive weight in the order of their values, each with the total
    /// weight of all equal points.
    pub fn distinct(&self) -> Points {
        let compare = |a: &[f64], b: &[f64]| {
            let cells = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
            cells.fold(Ordering::Equal, Ordering::then)
        };
        let mut order: Vec<usize> = (0..self.rows).filter(|i| self.weights[*i] > 0.0).collect();
        order.sort_by(|a, b| compare(self.row(*a), self.row(*b)));
        let mut cells: Vec<f64> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        let mut last: Option<usize> = None;
        for row in order {
            let same = |last: usize| compare(self.row(last), self.row(row)).is_eq();
            match weights.last_mut() {
                Some(weight) if last.is_some_and(same) => *weight += self.weights[row],
                _ => {
                    cells.extend_from_slice(self.row(row));
                    weights.push(self.weights[row]);
                }
            }
            last = Some(row);
        }
        let rows = weights.len();
        let has_missing = |row: &u32| {
            let start = *row as usize * self.width;
            cells[start..start + self.width].iter().any(|x| x.is_nan())
        };
        let (incomplete_rows, complete_rows): (Vec<u32>, Vec<u32>) =
            (0..rows as u32).partition(has_missing);
        Points {
            rows,
            width: self.width,
            norms: cells.chunks_exact(self.width).map(norm).collect(),
            is_complete: incomplete_rows.is_empty(),
            cells,
            weights,
            complete_rows,
            incomplete_rows,
        }
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.width..(row + 1) * self.width]
    }

    /// The memory in bytes for the points of this number of rows.
    pub fn bytes(rows: u64, width: usize) -> u64 {
        rows * (8 * width as u64 + 24)
    }
}

/// The cells of a column as numbers: borrowed if none is missing, otherwise a copy with NaN for
/// missing values.
pub(super) fn numbers_of(chunk: &Chunk, column: usize) -> Cow<'_, [f64]> {
    let cells = chunk.column(column).cells(0, chunk.rows());
    match (cells.values, cells.seen) {
        (Values::Real(values), None) => Cow::Borrowed(values),
        _ => {
            let number = |row: usize| cells.number(row).unwrap_or(f64::NAN);
            (0..chunk.rows()).map(number).collect()
        }
    }
}

/// |x|², by several sums in parallel.
fn norm(x: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let blocks = x.chunks_exact(sums.len());
    let rest: f64 = blocks.remainder().iter().map(|x| x * x).sum();
    for block in blocks {
        let lanes = sums.iter_mut().zip(block);
        lanes.for_each(|(sum, x)| *sum += x * x);
    }
    sums.iter().sum::<f64>() + rest
}
