//! A density on an even grid over one or two columns. The weight of every point is
//! divided between the nodes around it (linear binning), and the result is convolved with
//! the kernel by a Fourier transform (Silverman 1982, Wand 1994). With steps δ and a Gaussian
//! of width h the error is at most (δ/h)²/8 of the peak of a kernel; if that is more than
//! [`WORST`], or for another kernel, the density is computed node by node instead.

use super::kernel_density::KernelDensity;
use super::points::Points;
use crate::{Error, Result};
use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};

/// The largest allowed error of binning, as a share of the peak of a kernel.
const WORST: f64 = 1e-3;

/// The maximum number of nodes of a transform.
const MAX_NODES: usize = 1 << 24;

/// The maximum number of nodes of a grid.
const LARGEST_GRID: usize = 1 << 27;

/// Beyond this many widths a Gaussian is negligible beside its peak.
const REACH: f64 = 8.6;

/// Evenly spaced nodes along one column, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The first node.
    pub start: f64,
    /// The last node.
    pub end: f64,
    /// The number of nodes.
    pub points: usize,
}

impl Axis {
    /// The distance between two nodes; the whole length if there is only one.
    pub fn step(&self) -> f64 {
        (self.end - self.start) / self.steps()
    }

    /// The coordinate of a node.
    pub fn node(&self, number: usize) -> f64 {
        let share = number as f64 / self.steps();
        self.start * (1.0 - share) + self.end * share
    }

    fn steps(&self) -> f64 {
        self.points.saturating_sub(1).max(1) as f64
    }

    fn is_valid(&self) -> bool {
        self.points >= 2 && self.start < self.end && self.step().is_finite()
    }

    /// The same axis with more nodes before and after.
    fn wider(&self, nodes: usize) -> Axis {
        Axis {
            start: self.start - self.step() * nodes as f64,
            end: self.end + self.step() * nodes as f64,
            points: self.points + 2 * nodes,
        }
    }
}

/// Densities on the nodes of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// One axis for each column.
    pub axes: Vec<Axis>,
    /// The densities; the last axis runs fastest.
    pub densities: Vec<f64>,
}

impl Grid {
    /// The density at a point, interpolated linearly; 0 outside the grid, and on axes of
    /// fewer than two nodes or of no length.
    ///
    /// ```
    /// use abduce::density::{Axis, Grid};
    /// let axis = Axis { start: 0.0, end: 1.0, points: 2 };
    /// let grid = Grid { axes: vec![axis], densities: vec![1.0, 3.0] };
    /// assert_eq!(grid.density(&[0.25]), 1.5);
    /// ```
    pub fn density(&self, place: &[f64]) -> f64 {
        let mut sum = 0.0;
        share_out(&self.axes, place, |node, share| {
            sum += share * self.densities.get(node).copied().unwrap_or_default();
        });
        sum
    }
}

/// Divides a weight of 1 at a point between the 2 or 4 nodes around it.
#[inline]
fn share_out(axes: &[Axis], place: &[f64], mut take: impl FnMut(usize, f64)) {
    let along = |axis: &Axis, x: f64| {
        let at = (x - axis.start) / (axis.end - axis.start) * axis.steps();
        let inside = axis.points >= 2 && at >= 0.0 && at <= axis.steps();
        let node = (at as usize).min(axis.points.saturating_sub(2));
        inside.then_some((node, at - node as f64))
    };
    match (axes, place) {
        ([axis], [x]) => {
            if let Some((node, right)) = along(axis, *x) {
                take(node, 1.0 - right);
                take(node + 1, right);
            }
        }
        ([first, second], [x, y]) => {
            if let (Some((row, down)), Some((column, right))) =
                (along(first, *x), along(second, *y))
            {
                let node = row * second.points + column;
                take(node, (1.0 - down) * (1.0 - right));
                take(node + 1, (1.0 - down) * right);
                take(node + second.points, down * (1.0 - right));
                take(node + second.points + 1, down * right);
            }
        }
        _ => {}
    }
}

/// The weights of points divided between the nodes of one or two axes; points outside the
/// grid are ignored. Parts of fixed size are added in order, so that the result does not
/// depend on the number of threads.
pub(super) fn binned(points: &Points, axes: &[Axis]) -> Vec<f64> {
    const PART: usize = 1 << 18;
    let nodes: usize = axes.iter().map(|axis| axis.points).product();
    // Copies of a large grid cost more than they save.
    let part = PART.max(4 * nodes);
    let parts: Vec<Vec<f64>> = (0..points.len())
        .step_by(part)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|first| {
            let mut sums = vec![0.0; nodes];
            for point in first..points.len().min(first + part) {
                let weight = points.weights()[point];
                share_out(axes, points.row(point), |node, share| {
                    sums[node] += weight * share
                });
            }
            sums
        })
        .collect();
    let mut parts = parts.into_iter();
    let mut sums = parts.next().unwrap_or_else(|| vec![0.0; nodes]);
    for part in parts {
        sums.iter_mut()
            .zip(part)
            .for_each(|(sum, weight)| *sum += weight);
    }
    sums
}

/// 2 Σ x cos(πk(2n + 1) / 2N) for every k.
pub(super) fn cosine_transform(x: &[f64]) -> Vec<f64> {
    let mirrored = x.iter().chain(x.iter().rev());
    let mut both: Vec<Complex<f64>> = mirrored.map(|x| Complex::new(*x, 0.0)).collect();
    FftPlanner::new()
        .plan_fft_forward(both.len())
        .process(&mut both);
    let turn = std::f64::consts::PI / both.len() as f64;
    let half = both.iter().take(x.len()).enumerate();
    half.map(|(k, y)| (y * Complex::from_polar(1.0, -turn * k as f64)).re)
        .collect()
}

impl KernelDensity {
    /// The density on a grid of one or two columns.
    ///
    /// ```
    /// use abduce::density::{Axis, Kernel, KernelDensity, Points, Selection};
    /// let points = Points::from_columns(&[vec![0.0, 1.0, 4.0]], None)?;
    /// let density = KernelDensity::fit(points, Kernel::Gaussian, &Selection::default())?;
    /// let axis = Axis { start: -10.0, end: 15.0, points: 1024 };
    /// let grid = density.on_grid(&[axis])?;
    /// let total: f64 = grid.densities.iter().sum::<f64>() * axis.step();
    /// assert!((total - 1.0).abs() < 1e-6);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is not one axis for each of one or two columns, or an axis has fewer
    /// than two nodes or no length, or there are more than 2²⁷ nodes.
    pub fn on_grid(&self, axes: &[Axis]) -> Result<Grid> {
        let columns = self.points().columns();
        if axes.len() != columns || columns > 2 {
            return Err(Error::parameter(format!(
                "a grid needs one or two columns and an axis for each; there are {columns} \
                 columns and {} axes",
                axes.len()
            )));
        }
        if !axes.iter().all(Axis::is_valid) {
            return Err(Error::parameter(
                "an axis needs at least two nodes, and an end greater than its start",
            ));
        }
        let nodes = axes
            .iter()
            .try_fold(1usize, |n, axis| n.checked_mul(axis.points));
        if nodes.is_none_or(|nodes| nodes > LARGEST_GRID) {
            return Err(Error::parameter(format!(
                "a grid has at most {LARGEST_GRID} nodes"
            )));
        }
        let densities = match self.by_transform(axes) {
            Some(densities) => densities,
            None => self.node_by_node(axes)?,
        };
        Ok(Grid {
            axes: axes.to_vec(),
            densities,
        })
    }

    fn node_by_node(&self, axes: &[Axis]) -> Result<Vec<f64>> {
        let nodes: Vec<Vec<f64>> = match axes {
            [first, second] => (0..first.points * second.points)
                .map(|n| {
                    vec![
                        first.node(n / second.points),
                        second.node(n % second.points),
                    ]
                })
                .collect(),
            _ => (0..axes[0].points).map(|n| vec![axes[0].node(n)]).collect(),
        };
        let logs = self.log_densities(&nodes)?;
        Ok(logs.into_iter().map(f64::exp).collect())
    }

    /// The densities by binning and a Fourier transform, where that is accurate enough.
    fn by_transform(&self, axes: &[Axis]) -> Option<Vec<f64>> {
        let error = self.binning_error(axes);
        if !self.is_gaussian() || error.is_nan() || error > WORST {
            return None;
        }
        let margins = self.margins(axes)?;
        let wider = axes.iter().zip(&margins);
        let wider: Vec<Axis> = wider.map(|(axis, nodes)| axis.wider(*nodes)).collect();
        if !wider.iter().all(Axis::is_valid) {
            return None;
        }
        let (rows, columns) = transform_size(&wider)?;
        let mut weights = vec![Complex::new(0.0, 0.0); rows * columns];
        let width = wider[wider.len() - 1].points;
        let binned = binned(self.points(), &wider);
        for (row, sums) in binned.chunks_exact(width).enumerate() {
            for (cell, sum) in weights[row * columns..].iter_mut().zip(sums) {
                cell.re = *sum;
            }
        }
        let mut kernel = self.kernel_on_grid(axes, rows, columns);
        transform(&mut weights, rows, columns, FftDirection::Forward);
        transform(&mut kernel, rows, columns, FftDirection::Forward);
        weights.iter_mut().zip(kernel).for_each(|(w, k)| *w *= k);
        transform(&mut weights, rows, columns, FftDirection::Inverse);
        let nodes = (rows * columns) as f64;
        let (first_row, kept_rows) = match axes.len() {
            1 => (0, 1),
            _ => (margins[0], axes[0].points),
        };
        let (first, kept) = (margins[axes.len() - 1], axes[axes.len() - 1].points);
        let inner = (first_row..first_row + kept_rows).flat_map(|row| {
            let start = row * columns + first;
            weights[start..start + kept].iter()
        });
        // Rounding leaves small negative numbers where the density is 0.
        Some(inner.map(|w| (w.re / nodes).max(0.0)).collect())
    }

    /// The error of binning, as a share of the peak of a kernel.
    fn binning_error(&self, axes: &[Axis]) -> f64 {
        let along = |c: usize| {
            let mut step = vec![0.0; axes.len()];
            step[c] = axes[c].step();
            self.squared_length(&step) / 8.0
        };
        (0..axes.len()).map(along).sum()
    }

    /// The number of nodes on each axis that a kernel extends to either side; `None` if there
    /// are too many.
    fn margins(&self, axes: &[Axis]) -> Option<Vec<usize>> {
        let widths = self.bandwidth().widths(axes.len());
        let margins = axes.iter().zip(widths).map(|(axis, width)| {
            let nodes = REACH * width / axis.step();
            (nodes <= MAX_NODES as f64).then_some(nodes.ceil() as usize)
        });
        margins.collect()
    }

    /// The kernel around node 0, wrapped around at the borders.
    fn kernel_on_grid(&self, axes: &[Axis], rows: usize, columns: usize) -> Vec<Complex<f64>> {
        let offset = |node: usize, size: usize, step: f64| {
            let signed = if node <= size / 2 {
                node as f64
            } else {
                node as f64 - size as f64
            };
            signed * step
        };
        let constant = self.log_constant() - self.points().weight().ln();
        let kernel = |node: usize| {
            let offset: Vec<f64> = match axes {
                [axis] => vec![offset(node, columns, axis.step())],
                _ => vec![
                    offset(node / columns, rows, axes[0].step()),
                    offset(node % columns, columns, axes[1].step()),
                ],
            };
            let log = constant - 0.5 * self.squared_length(&offset);
            Complex::new(log.exp(), 0.0)
        };
        (0..rows * columns).map(kernel).collect()
    }
}

/// The rows and columns of a transform over one or two axes; `None` if there are too many.
fn transform_size(axes: &[Axis]) -> Option<(usize, usize)> {
    let sizes = axes
        .iter()
        .map(|axis| axis.points.checked_next_power_of_two());
    let (rows, columns) = match sizes.collect::<Option<Vec<usize>>>()?[..] {
        [columns] => (1, columns),
        [rows, columns] => (rows, columns),
        _ => return None,
    };
    let nodes = rows.checked_mul(columns)?;
    (nodes <= MAX_NODES).then_some((rows, columns))
}

/// The Fourier transform of every row, and then of every column.
fn transform(cells: &mut [Complex<f64>], rows: usize, columns: usize, direction: FftDirection) {
    let mut planner = FftPlanner::new();
    let along = planner.plan_fft(columns, direction);
    cells
        .par_chunks_mut(columns)
        .for_each(|row| along.process(row));
    if rows > 1 {
        let down = planner.plan_fft(rows, direction);
        let mut transpose = transposed(cells, rows, columns);
        transpose
            .par_chunks_mut(rows)
            .for_each(|column| down.process(column));
        cells.copy_from_slice(&transposed(&transpose, columns, rows));
    }
}

/// The transpose of a matrix.
fn transposed(cells: &[Complex<f64>], rows: usize, columns: usize) -> Vec<Complex<f64>> {
    let cell = |place: usize| cells[place % rows * columns + place / rows];
    (0..rows * columns).map(cell).collect()
}

#[cfg(test)]
#[path = "grid_laws.rs"]
mod laws;
