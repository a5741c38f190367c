//! The variance of a column as its middle half suggests,
//!
//!   s² = ((q₃ − q₁) / 1.349)²,
//!
//! that of a Gaussian with these quartiles. One far row can make the variance of a column a
//! million times as large, and with it a variance floor that is a share of it; the quartiles it
//! does not move. They are those of 512 rows drawn by their number, so that threads, streams and
//! units change nothing; of fewer rows, all are taken.

use crate::data::{CHUNK_ROWS, Cells, Chunk};
use crate::family::LeafFamily;
use crate::kernel::hashing::mix;
use crate::leaf::Leaf;
use crate::leaf::Seen;

/// How many rows are drawn.
const MOST: usize = 512;

/// The ratio of the variance to that of the middle half beyond which the variance describes a few
/// far rows only. Groups that lie well apart stay below, and keep a floor that is a share of the
/// variance.
pub(crate) const FAR: f64 = 100.0;

/// Quartiles closer to each other than this share of themselves differ by rounding.
const ROUNDING: f64 = 1e-12;

/// The least share of the variance. Components with far rows have moments of their size, and a
/// covariance with a condition beyond 1e12 has no digits left: the usual floor, a millionth of
/// this, stays within that.
const LEAST: f64 = 1e-6;

/// Rows drawn from those seen.
pub(crate) struct Central {
    columns: Vec<usize>,
    rows: Vec<Drawn>,
}

struct Drawn {
    /// Rows with the lowest places are kept.
    place: u64,
    weight: f64,
    cells: Vec<Option<f64>>,
}

impl Central {
    /// No row yet, of the columns that Gaussians and t distributions take together. Models of
    /// classes have none: they change without their rows, and quartiles could not follow.
    pub fn nothing(leaves: &[Leaf], target: Option<usize>) -> Central {
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

    /// Adds rows of the chunk of this number.
    pub fn add(&mut self, chunk: &Chunk, number: usize) {
        if self.columns.is_empty() {
            return;
        }
        let place = |row: usize| mix((number * CHUNK_ROWS + row) as u64);
        let mut rows: Vec<(u64, usize)> =
            chunk.weighing_rows().map(|row| (place(row), row)).collect();
        if rows.len() > MOST {
            rows.select_nth_unstable(MOST);
            rows.truncate(MOST);
        }
        let columns = self.columns.iter();
        let columns: Vec<Cells> = columns
            .map(|c| chunk.column(*c).cells(0, chunk.rows()))
            .collect();
        let drawn = |(place, row): (u64, usize)| Drawn {
            place,
            weight: chunk.weights().map_or(1.0, |weights| weights[row]),
            cells: columns
                .iter()
                .map(|cells| cells.is_seen(row).then(|| cells.reals()[row]))
                .collect(),
        };
        self.rows.extend(rows.into_iter().map(drawn));
        self.keep();
    }

    /// Adds rows drawn from others.
    pub fn merge(&mut self, other: Central) {
        self.rows.extend(other.rows);
        self.keep();
    }

    fn keep(&mut self) {
        self.rows.sort_unstable_by_key(|row| row.place);
        self.rows.truncate(MOST);
    }

    /// Records the variances of columns whose variance is that of a few far rows.
    pub fn tell(&self, seen: &mut Seen) {
        for (at, column) in self.columns.iter().enumerate() {
            let Some(central) = self.variance(at) else {
                continue;
            };
            let variance = seen.variance(*column);
            if variance > FAR * central {
                seen.central.resize(seen.columns.len(), 0.0);
                seen.central[*column] = central.max(LEAST * variance);
            }
        }
    }

    /// The variance of the middle half; `None` where its numbers are the same.
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
