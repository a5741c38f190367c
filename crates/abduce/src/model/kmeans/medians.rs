//! k-medians, for Manhattan distance: rows are assigned to the centre with the smallest Σ|x − c|,
//! and centres are the weighted medians of their rows in each column. Medians cannot be merged
//! like means, so all rows must be in memory.

use super::iterate::{Rows, RunResult};
use super::points::Points;
use super::seeding::Measure;
use super::specification::Options;
use crate::kernel::kmeans::{Packed, manhattan};
use crate::{Control, Progress};
use crate::{Error, Result};
use rayon::prelude::*;

/// Runs k-medians from initial centres.
pub(super) fn fit_medians(
    rows: &Rows,
    start: Vec<f64>,
    options: &Options,
    control: Control,
) -> Result<Option<RunResult>> {
    let clock = std::time::Instant::now();
    let Some(chunks) = rows.in_memory.as_deref() else {
        return Err(Error::parameter(
            "`distance=manhattan` needs all rows in memory, and there are too many",
        )
        .with_hint("use `distance=euclidean`, or fewer rows"));
    };
    let width = rows.frame.columns.len();
    let mut centres = start;
    let mut assigned = assign(chunks, &centres, width);
    let mut result = RunResult::at_start(assigned.total, clock);
    for number in 1..=options.max_iterations {
        if control.is_interrupted() {
            result.interrupted = true;
            break;
        }
        let mut next = cluster_medians(chunks, &assigned, &centres, width);
        let moved_empty = move_empty_centres(chunks, &assigned, &centres, &mut next, width);
        if next == centres {
            result.converged = true;
            break;
        }
        let after = assign(chunks, &next, width);
        let (before, now) = (assigned.total, after.total);
        result.monotone &= now <= before * (1.0 + 1e-9);
        (assigned, centres) = (after, next);
        result.record_iteration(number, now, clock);
        control.report(Progress::Round {
            number,
            of: options.max_iterations,
            inertia: now,
        });
        if !moved_empty && options.tolerance >= 0.0 && before - now <= options.tolerance * now {
            result.converged = true;
            break;
        }
    }
    result.weights = assigned.weights;
    result.cells = assigned.cells;
    result.centres = centres;
    Ok(Some(result))
}

/// The assignment of all rows to their nearest centres.
struct Assigned {
    /// The cluster of each row, by chunk.
    labels: Vec<Vec<u32>>,
    /// The weight of each cluster.
    weights: Vec<f64>,
    /// The weight of all seen cells.
    cells: f64,
    /// The weighted sum of distances.
    total: f64,
}

fn assign(chunks: &[Points], centres: &[f64], width: usize) -> Assigned {
    let packed = Packed::new(centres, width);
    let each: Vec<(Vec<u32>, f64)> = (chunks.par_iter())
        .map(|points| {
            let labels = Measure::Absolute.nearest_centres(points, centres, &packed, 0);
            let total = counted_rows(points).map(|row| {
                let centre = &centres[labels[row] as usize * width..][..width];
                points.weights[row] * distance(points, row, centre)
            });
            let total = total.sum();
            (labels, total)
        })
        .collect();
    let mut assigned = Assigned {
        labels: Vec::with_capacity(chunks.len()),
        weights: vec![0.0; packed.count()],
        cells: 0.0,
        total: 0.0,
    };
    // Summed in order, so that the result does not depend on the number of threads.
    for (points, (labels, total)) in chunks.iter().zip(each) {
        for row in counted_rows(points) {
            let seen = points.row(row).iter().filter(|x| !x.is_nan()).count();
            assigned.weights[labels[row] as usize] += points.weights[row];
            assigned.cells += points.weights[row] * seen as f64;
        }
        assigned.total += total;
        assigned.labels.push(labels);
    }
    assigned
}

/// The rows of positive weight with at least one value.
fn counted_rows(points: &Points) -> impl Iterator<Item = usize> + '_ {
    let rows = points.complete_rows.iter().chain(&points.incomplete_rows);
    rows.map(|row| *row as usize)
}

fn distance(points: &Points, row: usize, centre: &[f64]) -> f64 {
    if points.is_complete {
        manhattan(points.row(row), centre)
    } else {
        Measure::Absolute.between(points.row(row), centre)
    }
}

/// The median of each cluster in each column; the centre before if a cluster has no value.
fn cluster_medians(
    chunks: &[Points],
    assigned: &Assigned,
    before: &[f64],
    width: usize,
) -> Vec<f64> {
    let k = assigned.weights.len();
    let columns: Vec<Vec<f64>> = (0..width)
        .into_par_iter()
        .map(|c| {
            let mut cells: Vec<Vec<(f64, f64)>> = vec![Vec::new(); k];
            for (points, labels) in chunks.iter().zip(&assigned.labels) {
                for row in counted_rows(points) {
                    let x = points.cells[row * width + c];
                    if !x.is_nan() {
                        cells[labels[row] as usize].push((x, points.weights[row]));
                    }
                }
            }
            let each = cells.iter_mut().enumerate();
            each.map(|(j, cells)| median(cells).unwrap_or(before[j * width + c]))
                .collect()
        })
        .collect();
    let cells = (0..k).flat_map(|j| columns.iter().map(move |column| column[j]));
    cells.collect()
}

/// The weighted median; `None` without values.
fn median(cells: &mut [(f64, f64)]) -> Option<f64> {
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * cells.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut sum = 0.0;
    for (i, (x, weight)) in cells.iter().enumerate() {
        sum += weight;
        if sum > half {
            return Some(*x);
        }
        if sum == half {
            let above = cells.get(i + 1).map_or(*x, |next| next.0);
            return Some(0.5 * x + 0.5 * above);
        }
    }
    cells.last().map(|(x, _)| *x)
}

/// Moves the centres of empty clusters to the rows farthest from their centres, and returns
/// whether any was moved.
fn move_empty_centres(
    chunks: &[Points],
    assigned: &Assigned,
    centres: &[f64],
    next: &mut [f64],
    width: usize,
) -> bool {
    let weights = assigned.weights.iter().enumerate();
    let empty = weights
        .filter(|(_, weight)| **weight <= 0.0)
        .map(|(j, _)| j);
    let mut taken: Vec<Vec<f64>> = Vec::new();
    for cluster in empty {
        let mut far: Option<(f64, &[f64])> = None;
        for (points, labels) in chunks.iter().zip(&assigned.labels) {
            for row in counted_rows(points) {
                let centre = &centres[labels[row] as usize * width..][..width];
                let (gap, x) = (distance(points, row, centre), points.row(row));
                let is_taken = taken.iter().any(|other| other == x);
                if !is_taken && gap > far.map_or(0.0, |(largest, _)| largest) {
                    far = Some((gap, x));
                }
            }
        }
        let Some((_, x)) = far else { break };
        let centre = &mut next[cluster * width..(cluster + 1) * width];
        let cells = centre.iter_mut().zip(x);
        cells
            .filter(|(_, x)| !x.is_nan())
            .for_each(|(at, x)| *at = *x);
        taken.push(x.to_vec());
    }
    !taken.is_empty()
}
