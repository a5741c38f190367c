//! The variance of a column estimated from its middle half,
//!
//!   s² = ((q₃ − q₁) / 1.349)²,
//!
//! the variance of a Gaussian with these quartiles. A single outlier can make the variance of a
//! column, and a variance floor that is a share of it, a million times larger, but it does not move
//! the quartiles. They are the quartiles of 512 rows, or of all if there are fewer, drawn by a hash
//! of the row number, so that the result does not depend on threads, streaming or units.

use crate::data::{CHUNK_ROWS, Cells, Chunk};
use crate::family::LeafFamily;
use crate::kernel::hashing::mix;
use crate::leaf::{Leaf, TableSummary};

/// The maximum number of rows drawn.
const MAX_ROWS: usize = 512;

/// A variance that exceeds that of the middle half by more than this factor describes only a few
/// outliers. Well-separated clusters stay below it, and keep a floor that is a share of the
/// variance.
pub(crate) const FAR: f64 = 100.0;

/// Quartiles with a smaller relative difference than this differ only by rounding.
const ROUNDING: f64 = 1e-12;

/// The variance of the middle half is at least this share of the variance. Components with outliers
/// have variances of that size, and a covariance with a condition number beyond 1e12 has no correct
/// digits; the usual floor, a millionth of this, stays within that limit.
const MIN_SHARE: f64 = 1e-6;

/// Rows drawn from those added.
pub(crate) struct Central {
    columns: Vec<usize>,
    rows: Vec<Drawn>,
}

struct Drawn {
    /// A hash of the row number; the rows with the lowest hashes are kept.
    hash: u64,
    weight: f64,
    cells: Vec<Option<f64>>,
}

impl Central {
    /// No rows yet, of the columns of multivariate Gaussians and t distributions. Models of classes
    /// use no such columns: they are updated without their rows, from which new quartiles would
    /// have to be computed.
    pub fn empty(leaves: &[Leaf], target: Option<usize>) -> Central {
        let together = leaves.iter().filter(|leaf| {
            matches!(
                leaf.family,
                LeafFamily::Multivariate { .. } | LeafFamily::MultivariateStudentT { .. }
            )
        });
        Central {
            columns: match target {
                None => together.flat_map(|leaf| leaf.columns.clone()).collect(),
                Some(_) => Vec::new(),
            },
            rows: Vec::new(),
        }
    }

    /// Adds rows of the chunk with this number.
    pub fn add(&mut self, chunk: &Chunk, number: usize) {
        if self.columns.is_empty() {
            return;
        }
        let hash = |row: usize| mix((number * CHUNK_ROWS + row) as u64);
        let mut rows: Vec<(u64, usize)> = chunk
            .rows_with_weight()
            .map(|row| (hash(row), row))
            .collect();
        if rows.len() > MAX_ROWS {
            rows.select_nth_unstable(MAX_ROWS);
            rows.truncate(MAX_ROWS);
        }
        let columns = self.columns.iter();
        let columns: Vec<Cells> = columns
            .map(|c| chunk.column(*c).cells(0, chunk.rows()))
            .collect();
        let drawn = |(hash, row): (u64, usize)| Drawn {
            hash,
            weight: chunk.weights().map_or(1.0, |weights| weights[row]),
            cells: columns
                .iter()
                .map(|cells| cells.is_seen(row).then(|| cells.reals()[row]))
                .collect(),
        };
        self.rows.extend(rows.into_iter().map(drawn));
        self.keep();
    }

    /// Adds rows drawn from other chunks.
    pub fn merge(&mut self, other: Central) {
        self.rows.extend(other.rows);
        self.keep();
    }

    fn keep(&mut self) {
        self.rows.sort_unstable_by_key(|row| row.hash);
        self.rows.truncate(MAX_ROWS);
    }

    /// Records the variance of the middle half for columns whose variance is due to a few outliers.
    pub fn record(&self, summary: &mut TableSummary) {
        for (at, column) in self.columns.iter().enumerate() {
            let Some(central) = self.variance(at) else {
                continue;
            };
            let variance = summary.variance(*column);
            if variance > FAR * central {
                summary.central.resize(summary.columns.len(), 0.0);
                summary.central[*column] = central.max(MIN_SHARE * variance);
            }
        }
    }

    /// The variance of the middle half; `None` if its numbers are equal.
    fn variance(&self, at: usize) -> Option<f64> {
        let cells = self.rows.iter();
        let cells = cells.filter_map(|row| row.cells[at].map(|x| (x, row.weight)));
        let mut cells: Vec<(f64, f64)> = cells.collect();
        cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let total: f64 = cells.iter().map(|(_, weight)| weight).sum();
        let quantile = |share: f64| {
            let mut below = 0.0;
            let at = cells.iter().find(|(_, weight)| {
                below += weight;
                below >= share * total
            });
            at.or(cells.last()).map(|(x, _)| *x)
        };
        let (low, high) = (quantile(0.25)?, quantile(0.75)?);
        let range = high - low;
        let same = range <= ROUNDING * low.abs().max(high.abs());
        (!same).then(|| (range / 1.349).powi(2))
    }
}
