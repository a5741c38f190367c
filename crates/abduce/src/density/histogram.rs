//! Joint histograms: every column is divided into bins of equal width, and a cell of the
//! resulting grid has the density weight / (total · volume). Only cells with points are
//! stored. A pseudocount spread evenly over all cells gives empty cells a positive density.

use super::edges::{Bins, Edges};
use super::points::Points;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A histogram of one or more columns.
///
/// ```
/// use abduce::density::{Bins, Histogram, Points};
/// let points = Points::from_columns(&[vec![0.0, 1.0, 1.5, 4.0]], None)?;
/// let histogram = Histogram::fit(&points, Bins::Number(2), 0.0)?;
/// assert_eq!(histogram.log_density(&[Some(1.0)])?, (3.0f64 / 4.0 / 2.0).ln());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The bins of every column.
    pub edges: Vec<Edges>,
    /// The cells with points, in ascending order of their bins.
    pub cells: Vec<Cell>,
    /// The pseudocount spread evenly over all cells.
    pub smoothing: f64,
}

/// A cell of a histogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its bin in every column.
    pub bins: Vec<u32>,
    /// The weight of its points.
    pub weight: f64,
}

impl Histogram {
    /// The histogram of points, with the bins of every column chosen by the same rule.
    ///
    /// # Errors
    /// As [`with_edges`](Self::with_edges).
    pub fn fit(points: &Points, bins: Bins, smoothing: f64) -> Result<Histogram> {
        let edges = |c: usize| Edges::of(&points.column(c), points.weights(), bins);
        Histogram::with_edges(
            points,
            (0..points.columns()).map(edges).collect(),
            smoothing,
        )
    }

    /// The histogram of points in given bins; points outside them are ignored.
    ///
    /// # Errors
    /// If there are not valid bins for each column, the smoothing is negative, or there is
    /// no weight.
    pub fn with_edges(points: &Points, edges: Vec<Edges>, smoothing: f64) -> Result<Histogram> {
        if edges.len() != points.columns() {
            return Err(Error::parameter("each column needs bins"));
        }
        let mut cells: Vec<Cell> = points
            .rows()
            .zip(points.weights())
            .filter_map(|(row, weight)| {
                let bins = row
                    .iter()
                    .zip(&edges)
                    .map(|(x, edges)| edges.bin(*x).map(|bin| bin as u32));
                Some(Cell {
                    bins: bins.collect::<Option<_>>()?,
                    weight: *weight,
                })
            })
            .collect();
        // Stable, so that weights are added in the order of the points.
        cells.sort_by(|a, b| a.bins.cmp(&b.bins));
        cells.dedup_by(|next, kept| {
            let same = next.bins == kept.bins;
            if same {
                kept.weight += next.weight;
            }
            same
        });
        let histogram = Histogram {
            edges,
            cells,
            smoothing,
        };
        histogram.check()?;
        Ok(histogram)
    }

    /// Checks that the parts of the histogram are consistent.
    ///
    /// # Errors
    /// If they are not, as in a damaged file.
    pub fn check(&self) -> Result<()> {
        let invalid = |what: &str| Err(Error::data(format!("the histogram {what}")));
        if self.edges.is_empty() || !self.edges.iter().all(Edges::is_valid) {
            return invalid("has no valid bins");
        }
        if !(self.smoothing >= 0.0 && self.smoothing.is_finite()) {
            return invalid("has a negative or infinite smoothing");
        }
        let is_valid = |cell: &Cell| {
            let bins = cell.bins.iter().zip(&self.edges);
            cell.bins.len() == self.edges.len()
                && cell.weight > 0.0
                && cell.weight.is_finite()
                && bins
                    .into_iter()
                    .all(|(bin, edges)| (*bin as usize) < edges.bins)
        };
        if !self.cells.iter().all(is_valid) || !self.cells.is_sorted_by(|a, b| a.bins < b.bins) {
            return invalid("has a cell that is invalid or not in order");
        }
        if self.total() <= 0.0 {
            return invalid("has no weight");
        }
        Ok(())
    }

    /// The total weight of the cells and the smoothing.
    pub fn total(&self) -> f64 {
        self.cells.iter().map(|cell| cell.weight).sum::<f64>() + self.smoothing
    }

    /// The log-density of a row, with missing values integrated out; −∞ outside the bins
    /// and, without smoothing, in empty cells.
    ///
    /// # Errors
    /// If the row has another number of columns.
    pub fn log_density(&self, row: &[Option<f64>]) -> Result<f64> {
        if row.len() != self.edges.len() {
            return Err(Error::parameter(format!(
                "a row must have {} cells",
                self.edges.len()
            )));
        }
        let Some(bins) = self.bins(row) else {
            return Ok(f64::NEG_INFINITY);
        };
        let weight = self.weight_of(&bins) + self.smoothing_of_cell(self.observed(row));
        Ok((weight / self.total()).ln() - log_volume(self.observed(row)))
    }

    /// The log-likelihood of the points that the histogram was fitted to.
    pub(crate) fn log_likelihood_of_points(&self) -> f64 {
        let log_volume = log_volume(self.edges.iter());
        let (total, smoothing) = (self.total(), self.smoothing_of_cell(self.edges.iter()));
        let cells = self.cells.iter();
        cells
            .map(|cell| cell.weight * (((cell.weight + smoothing) / total).ln() - log_volume))
            .sum()
    }

    /// The edges of the columns in which a row has values.
    fn observed(&self, row: &[Option<f64>]) -> impl Iterator<Item = &Edges> {
        let columns = self.edges.iter().zip(row);
        columns.filter_map(|(edges, x)| x.map(|_| edges))
    }

    /// The smoothing of a cell of the grid over some columns.
    fn smoothing_of_cell<'a>(&self, columns: impl Iterator<Item = &'a Edges>) -> f64 {
        let log_cells: f64 = columns.map(|edges| (edges.bins as f64).ln()).sum();
        self.smoothing * (-log_cells).exp()
    }

    /// The bins of a row; `None` if a value is outside.
    fn bins(&self, row: &[Option<f64>]) -> Option<Vec<Option<u32>>> {
        let bins = self.edges.iter().zip(row).map(|(edges, x)| match x {
            Some(x) => edges.bin(*x).map(|bin| Some(bin as u32)),
            None => Some(None),
        });
        bins.collect()
    }

    fn weight_of(&self, bins: &[Option<u32>]) -> f64 {
        if let Some(all) = bins.iter().copied().collect::<Option<Vec<u32>>>() {
            let found = self.cells.binary_search_by(|cell| cell.bins.cmp(&all));
            return found.map_or(0.0, |place| self.cells[place].weight);
        }
        let matching = self.cells.iter().filter(|cell| matches(cell, bins));
        matching.map(|cell| cell.weight).sum()
    }

    /// The probabilities that a row comes from each cell or, last, from the smoothing; `None`
    /// if the row is impossible.
    pub(crate) fn shares(&self, row: &[Option<f64>]) -> Option<Vec<f64>> {
        let bins = self.bins(row)?;
        let is_possible = |cell: &Cell| matches(cell, &bins);
        let cells = self.cells.iter();
        let weights = cells.map(|cell| if is_possible(cell) { cell.weight } else { 0.0 });
        let smoothing = self.smoothing_of_cell(self.observed(row));
        let shares: Vec<f64> = weights.chain([smoothing]).collect();
        let total: f64 = shares.iter().sum();
        (total > 0.0).then(|| shares.iter().map(|share| share / total).collect())
    }

    /// The interval in a column that a share stands for.
    pub(crate) fn interval(&self, share: usize, column: usize) -> (f64, f64) {
        let edges = &self.edges[column];
        match self.cells.get(share) {
            Some(cell) => {
                let bin = cell.bins[column] as usize;
                (edges.edge(bin), edges.edge(bin + 1))
            }
            None => (edges.start, edges.end),
        }
    }
}

/// The logarithm of the volume of a cell over some columns.
fn log_volume<'a>(columns: impl Iterator<Item = &'a Edges>) -> f64 {
    columns.map(|edges| edges.width().ln()).sum()
}

/// Whether a cell has these bins, where they are known.
fn matches(cell: &Cell, bins: &[Option<u32>]) -> bool {
    let mut pairs = cell.bins.iter().zip(bins);
    pairs.all(|(bin, known)| known.is_none_or(|known| *bin == known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(n: usize) -> Vec<f64> {
        (0..n)
            .map(|i| (i as f64 * 0.7548).sin() * (1 + i % 4) as f64)
            .collect()
    }

    #[test]
    fn a_histogram_integrates_to_one_and_its_marginals_too() {
        let columns = [wave(200), wave(230)[30..].to_vec()];
        let points = Points::from_columns(&columns, None).unwrap();
        for smoothing in [0.0, 2.5] {
            let histogram = Histogram::fit(&points, Bins::Number(9), smoothing).unwrap();
            let [a, b] = [&histogram.edges[0], &histogram.edges[1]];
            let mut total = 0.0;
            for i in 0..9 {
                let x = a.edge(i) + 0.5 * a.width();
                let mut row = 0.0;
                for j in 0..9 {
                    let y = b.edge(j) + 0.5 * b.width();
                    row += histogram.log_density(&[Some(x), Some(y)]).unwrap().exp() * b.width();
                }
                let marginal = histogram.log_density(&[Some(x), None]).unwrap().exp();
                assert!((marginal - row).abs() < 1e-12);
                total += row * a.width();
            }
            assert!((total - 1.0).abs() < 1e-12, "{total}");
            assert_eq!(histogram.log_density(&[None, None]).unwrap(), 0.0);
        }
    }

    #[test]
    fn degenerate_columns_have_a_finite_density() {
        for x in [
            vec![5.0; 4],
            vec![0.0],
            vec![1e140, -1e140],
            vec![1e-300, 2e-300],
            vec![3.0, 3.0, 3.0, 9.0],
        ] {
            for bins in [
                Bins::Fd,
                Bins::Scott,
                Bins::Sturges,
                Bins::Knuth,
                Bins::Number(3),
            ] {
                let points = Points::from_columns(&[&x], None).unwrap();
                let histogram = Histogram::fit(&points, bins, 0.0).unwrap();
                let density = histogram.log_density(&[Some(x[0])]).unwrap();
                assert!(density.is_finite(), "{x:?} {bins:?}");
            }
        }
    }
}
