//! Histograms: every column is cut into bins of equal width, and a cell of the
//! grid they make has the density weight / (total · volume). Only cells with
//! points are kept, so many columns cost no more than the points. A pseudo-weight α spread
//! evenly over the whole box keeps places without points possible.

use super::edges::{Bins, Edges};
use super::points::Points;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

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
    /// The weight spread evenly over the whole box.
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
    /// The histogram of points, each column's bins chosen by the same rule.
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

    /// The histogram of points in given bins; points outside them are left out.
    ///
    /// # Errors
    /// If the bins are not proper, one axis for each column, or the smoothing is
    /// negative, or no weight is left.
    pub fn with_edges(points: &Points, edges: Vec<Edges>, smoothing: f64) -> Result<Histogram> {
        if edges.len() != points.columns() {
            return Err(Error::parameter("there must be bins for each column"));
        }
        let mut cells: Vec<Cell> = points
            .rows()
            .zip(points.weights())
            .filter_map(|(row, weight)| {
                let bins = row
                    .iter()
                    .zip(&edges)
                    .map(|(x, own)| own.bin(*x).map(|b| b as u32));
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

    /// Whether it is a density at all.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::data(format!("the histogram {what}")));
        if self.edges.is_empty() || !self.edges.iter().all(Edges::is_proper) {
            return wrong("has no proper bins");
        }
        if !(self.smoothing >= 0.0 && self.smoothing.is_finite()) {
            return wrong("has a negative smoothing");
        }
        let inside = |cell: &Cell| {
            let bins = cell.bins.iter().zip(&self.edges);
            cell.bins.len() == self.edges.len()
                && cell.weight > 0.0
                && cell.weight.is_finite()
                && bins
                    .into_iter()
                    .all(|(bin, edges)| (*bin as usize) < edges.bins)
        };
        if !self.cells.iter().all(inside) || !self.cells.is_sorted_by(|a, b| a.bins < b.bins) {
            return wrong("has a cell out of place");
        }
        if self.total() <= 0.0 {
            return wrong("has no weight");
        }
        Ok(())
    }

    /// The weight of all cells and the smoothing.
    pub fn total(&self) -> f64 {
        self.cells.iter().map(|cell| cell.weight).sum::<f64>() + self.smoothing
    }

    /// The logarithm of the density of a place, hidden columns integrated out; −∞
    /// outside the box and, without smoothing, in empty cells.
    ///
    /// # Errors
    /// If the place has another number of columns.
    pub fn log_density(&self, place: &[Option<f64>]) -> Result<f64> {
        if place.len() != self.edges.len() {
            return Err(Error::parameter(format!(
                "a place must have {} numbers",
                self.edges.len()
            )));
        }
        let Some(bins) = self.bins(place) else {
            return Ok(f64::NEG_INFINITY);
        };
        let seen = || self.edges.iter().zip(place).filter(|(_, x)| x.is_some());
        let log_cell: f64 = seen().map(|(edges, _)| edges.width().ln()).sum();
        let log_cells: f64 = seen().map(|(edges, _)| (edges.bins as f64).ln()).sum();
        let weight = self.weight_of(&bins) + self.smoothing * (-log_cells).exp();
        Ok((weight / self.total()).ln() - log_cell)
    }

    /// The log-likelihood of the points it was made of.
    pub(crate) fn own_log_likelihood(&self) -> f64 {
        let log_cell: f64 = self.edges.iter().map(|edges| edges.width().ln()).sum();
        let log_cells: f64 = self
            .edges
            .iter()
            .map(|edges| (edges.bins as f64).ln())
            .sum();
        let (total, spread) = (self.total(), self.smoothing * (-log_cells).exp());
        let cells = self.cells.iter();
        cells
            .map(|cell| cell.weight * (((cell.weight + spread) / total).ln() - log_cell))
            .sum()
    }

    /// The bins of a place, where it lies in the box.
    fn bins(&self, place: &[Option<f64>]) -> Option<Vec<Option<u32>>> {
        let bins = self.edges.iter().zip(place).map(|(edges, x)| match x {
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

    /// The weights of what a place may come from: each cell, and last the
    /// smoothing over the whole box.
    pub(crate) fn shares(&self, place: &[Option<f64>]) -> Option<Vec<f64>> {
        let bins = self.bins(place)?;
        let own = self.cells.iter().map(|cell| match matches(cell, &bins) {
            true => cell.weight,
            false => 0.0,
        });
        let seen = self.edges.iter().zip(place).filter(|(_, x)| x.is_some());
        let cells: f64 = seen.map(|(edges, _)| (edges.bins as f64).ln()).sum();
        let shares: Vec<f64> = own.chain([self.smoothing * (-cells).exp()]).collect();
        let total: f64 = shares.iter().sum();
        (total > 0.0).then(|| shares.iter().map(|share| share / total).collect())
    }

    /// The interval of a column from which a share comes.
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

fn matches(cell: &Cell, bins: &[Option<u32>]) -> bool {
    let mut pairs = cell.bins.iter().zip(bins);
    pairs.all(|(own, asked)| asked.is_none_or(|asked| own.cmp(&asked) == Ordering::Equal))
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
    fn odd_columns_have_bins_too() {
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
