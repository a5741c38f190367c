//! Statistics of the rows of each cluster: weight, mean and scatter about the mean, merged by
//! Chan's rule. They depend only on the labels, so that a chunk with unchanged labels need not be
//! summed again. The inertia about any centres follows as
//!
//!   Σ_i w_i |x_i − c|² = S + W |m − c|²,
//!
//! a sum of non-negative terms, without cancellation.

use super::points::Points;
use crate::kernel::kmeans::{add_rows, add_scatter};

/// Statistics of the clusters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statistics {
    pub width: usize,
    /// The weight of the rows of each cluster.
    pub weights: Vec<f64>,
    /// The weight of the seen cells of each cluster, column by column; `None` if no value is
    /// missing, when it is the weight of the rows.
    pub seen: Option<Vec<f64>>,
    /// The means, one cluster after another.
    pub means: Vec<f64>,
    /// The scatter of each cluster.
    pub scatter: Vec<f64>,
}

impl Statistics {
    /// Statistics of the rows of a chunk.
    pub fn of(points: &Points, labels: &[u32], clusters: usize) -> Statistics {
        let width = points.width;
        let mut statistics = Statistics {
            width,
            weights: vec![0.0; clusters],
            seen: None,
            means: vec![0.0; clusters * width],
            scatter: vec![0.0; clusters],
        };
        for (label, weight) in labels.iter().zip(&points.weights) {
            statistics.weights[*label as usize] += weight;
        }
        if points.is_complete {
            statistics.sum_complete(points, labels);
        } else {
            statistics.sum_incomplete(points, labels);
        }
        statistics
    }

    fn sum_complete(&mut self, points: &Points, labels: &[u32]) {
        let width = self.width;
        add_rows(
            &points.cells,
            width,
            labels,
            &points.weights,
            &mut self.means,
        );
        for (mean, weight) in self.means.chunks_exact_mut(width).zip(&self.weights) {
            if *weight > 0.0 {
                mean.iter_mut().for_each(|sum| *sum /= weight);
            }
        }
        let (means, scatter) = (&self.means, &mut self.scatter);
        add_scatter(
            &points.cells,
            width,
            labels,
            &points.weights,
            means,
            scatter,
        );
    }

    fn sum_incomplete(&mut self, points: &Points, labels: &[u32]) {
        let width = self.width;
        let mut seen = vec![0.0; self.means.len()];
        let counting = || {
            (points.complete_rows.iter().chain(&points.incomplete_rows)).map(|row| *row as usize)
        };
        for row in counting() {
            let (first, weight) = (labels[row] as usize * width, points.weights[row]);
            for (c, x) in points
                .row(row)
                .iter()
                .enumerate()
                .filter(|(_, x)| !x.is_nan())
            {
                seen[first + c] += weight;
                self.means[first + c] += weight * x;
            }
        }
        for (mean, seen) in self.means.iter_mut().zip(&seen) {
            *mean = if *seen > 0.0 { *mean / seen } else { 0.0 };
        }
        for row in counting() {
            let label = labels[row] as usize;
            let mean = &self.means[label * width..][..width];
            let square = crate::kernel::kmeans::seen_squared(points.row(row), mean);
            self.scatter[label] += points.weights[row] * square;
        }
        self.seen = Some(seen);
    }

    /// The weight of the seen cells of a cluster in a column.
    pub fn seen_of(&self, cluster: usize, column: usize) -> f64 {
        match &self.seen {
            Some(seen) => seen[cluster * self.width + column],
            None => self.weights[cluster],
        }
    }

    /// Adds the statistics of other rows.
    pub fn merge(&mut self, other: &Statistics) {
        let width = self.width;
        let all: Option<Vec<f64>> = (self.seen.is_some() || other.seen.is_some()).then(|| {
            let cells = 0..self.means.len();
            cells
                .map(|at| self.seen_of(at / width, at % width))
                .collect()
        });
        self.seen = all;
        for cluster in 0..self.weights.len() {
            let mut between = 0.0;
            for column in 0..width {
                let at = cluster * width + column;
                let (a, b) = (
                    self.seen_of(cluster, column),
                    other.seen_of(cluster, column),
                );
                if b > 0.0 {
                    let shift = other.means[at] - self.means[at];
                    let share = b / (a + b);
                    between += shift * shift * a * share;
                    self.means[at] += if a > 0.0 { shift * share } else { shift };
                }
                if let Some(seen) = &mut self.seen {
                    seen[at] = a + b;
                }
            }
            self.scatter[cluster] += other.scatter[cluster] + between;
            self.weights[cluster] += other.weights[cluster];
        }
    }

    /// Σ w |x − c|² of the rows about the centres of their clusters.
    pub fn inertia(&self, centres: &[f64]) -> f64 {
        let mut inertia = 0.0;
        for cluster in 0..self.weights.len() {
            let mut shift = 0.0;
            for column in 0..self.width {
                let at = cluster * self.width + column;
                let gap = self.means[at] - centres[at];
                shift += self.seen_of(cluster, column) * gap * gap;
            }
            inertia += self.scatter[cluster] + shift;
        }
        inertia
    }

    /// The variance of all rows, averaged over columns.
    pub fn mean_variance(&self) -> f64 {
        let mut total: f64 = self.scatter.iter().sum();
        for column in 0..self.width {
            let (mut weight, mut mean) = (0.0, 0.0);
            for cluster in 0..self.weights.len() {
                let seen = self.seen_of(cluster, column);
                if seen > 0.0 {
                    let shift = self.means[cluster * self.width + column] - mean;
                    total += shift * shift * weight * seen / (weight + seen);
                    weight += seen;
                    mean += shift * seen / weight;
                }
            }
        }
        total / self.cells()
    }

    /// The sum of the squares of all cells.
    pub fn squares(&self) -> f64 {
        let clusters = 0..self.weights.len();
        let cells = clusters.flat_map(|cluster| (0..self.width).map(move |c| (cluster, c)));
        let means = cells.map(|(cluster, column)| {
            self.seen_of(cluster, column) * self.means[cluster * self.width + column].powi(2)
        });
        self.scatter.iter().sum::<f64>() + means.sum::<f64>()
    }

    /// The weight of all seen cells.
    pub fn cells(&self) -> f64 {
        match &self.seen {
            Some(seen) => seen.iter().sum(),
            None => self.weights.iter().sum::<f64>() * self.width as f64,
        }
    }

    /// The best centres for these rows: the means, scaled to length 1 if they are directions. A
    /// coordinate without seen cells stays as it was.
    pub fn centres(&self, before: &[f64], unit: bool) -> Vec<f64> {
        let mut centres = before.to_vec();
        for (cluster, centre) in centres.chunks_exact_mut(self.width).enumerate() {
            let mean = &self.means[cluster * self.width..][..self.width];
            let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
            for (column, at) in centre.iter_mut().enumerate() {
                if self.seen_of(cluster, column) > 0.0 && (!unit || length > 0.0) {
                    *at = if unit {
                        mean[column] / length
                    } else {
                        mean[column]
                    };
                }
            }
        }
        centres
    }
}
