//! Rows as points: the numbers of a chunk about the middle of the table, row after
//! row. A hidden cell is not a number; a row of which nothing is seen, or that
//! weighs nothing, has no say.

use super::frame::Frame;
use crate::data::{Chunk, Values};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The points of a chunk.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub rows: usize,
    pub width: usize,
    /// Row after row.
    pub cells: Vec<f64>,
    /// What each row counts for; 0 where nothing of it is seen.
    pub weights: Vec<f64>,
    /// |x|² of whole rows.
    pub norms: Vec<f64>,
    /// The rows that count and are seen whole.
    pub whole: Vec<u32>,
    /// The rows that count and have a missing value.
    pub incomplete: Vec<u32>,
    /// Whether no cell is hidden.
    pub complete: bool,
}

/// Rows copied at once: their cells stay in the first cache.
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
                let place = frame.placing(c);
                let places = block.iter_mut().skip(c).step_by(width);
                places
                    .zip(&column[first..last])
                    .for_each(|(at, x)| *at = place(*x));
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
        let (mut norms, mut whole, mut incomplete) = (vec![0.0; rows], Vec::new(), Vec::new());
        let mut complete = true;
        for (row, x) in cells.chunks_exact_mut(width).enumerate() {
            let seen = frame.turn(x);
            complete &= seen == width;
            if seen == 0 {
                weights[row] = 0.0;
            }
            if weights[row] > 0.0 {
                let list = if seen == width {
                    &mut whole
                } else {
                    &mut incomplete
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
            whole,
            incomplete,
            complete,
        }
    }

    /// Points that are in coordinates already.
    pub fn placed(cells: Vec<f64>, width: usize, weights: Vec<f64>) -> Points {
        let rows = weights.len();
        Points {
            norms: cells.chunks_exact(width).map(norm).collect(),
            whole: (0..rows as u32)
                .filter(|row| weights[*row as usize] > 0.0)
                .collect(),
            incomplete: Vec::new(),
            complete: true,
            rows,
            width,
            cells,
            weights,
        }
    }

    /// The points of several chunks, put together.
    pub fn together(parts: &[Points]) -> Points {
        let width = parts.first().map_or(1, |part| part.width);
        let mut all = Points {
            rows: 0,
            width,
            cells: Vec::new(),
            weights: Vec::new(),
            norms: Vec::new(),
            whole: Vec::new(),
            incomplete: Vec::new(),
            complete: true,
        };
        for part in parts {
            let first = all.rows as u32;
            all.rows += part.rows;
            all.cells.extend_from_slice(&part.cells);
            all.weights.extend_from_slice(&part.weights);
            all.norms.extend_from_slice(&part.norms);
            all.whole.extend(part.whole.iter().map(|row| first + row));
            all.incomplete
                .extend(part.incomplete.iter().map(|row| first + row));
            all.complete &= part.complete;
        }
        all
    }

    /// The different points that count, in the order of their values, each with the weight of
    /// all that are equal to it.
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
        let (incomplete, whole): (Vec<u32>, Vec<u32>) = (0..rows as u32).partition(has_missing);
        Points {
            rows,
            width: self.width,
            norms: cells.chunks_exact(self.width).map(norm).collect(),
            complete: incomplete.is_empty(),
            cells,
            weights,
            whole,
            incomplete,
        }
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.width..(row + 1) * self.width]
    }

    /// The bytes that points of so many rows take.
    pub fn bytes(rows: u64, width: usize) -> u64 {
        rows * (8 * width as u64 + 24)
    }
}

/// The cells of a column as numbers, as they lie where none is hidden, and otherwise copied
/// with NaN for those that are.
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

/// |x|², in several sums side by side.
fn norm(x: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let whole = x.chunks_exact(sums.len());
    let rest: f64 = whole.remainder().iter().map(|x| x * x).sum();
    for some in whole {
        let each = sums.iter_mut().zip(some);
        each.for_each(|(sum, x)| *sum += x * x);
    }
    sums.iter().sum::<f64>() + rest
}
