//! Manhattan distance: rows go to the centre with the least Σ|x − c|, centres to the
//! weighted median of their rows in every column (k-medians). A median is no sum, so
//! the rows must fit into memory.

use super::iterate::{Found, Rows};
use super::points::Points;
use super::seeding::Measure;
use super::specification::Options;
use crate::kernel::kmeans::{Packed, manhattan};
use crate::{Control, Progress};
use crate::{Error, Result};
use rayon::prelude::*;

/// Runs the loop from given centres; `None` when the caller stopped it at once.
pub(super) fn medians(
    rows: &Rows,
    start: Vec<f64>,
    options: &Options,
    control: Control,
) -> Result<Option<Found>> {
    let clock = std::time::Instant::now();
    let Some(held) = rows.held.as_deref() else {
        return Err(Error::parameter(
            "`distance=manhattan` needs all rows in memory, and there are too many",
        )
        .with_hint("use `distance=euclidean`, or fewer rows"));
    };
    let width = rows.frame.columns.len();
    let mut centres = start;
    let mut assigned = assign(held, &centres, width);
    let mut found = Found {
        trace: vec![assigned.total],
        seconds: vec![clock.elapsed().as_secs_f64()],
        centres: Vec::new(),
        weights: Vec::new(),
        cells: 0.0,
        labels: Vec::new(),
        nothing: 0.0,
        iterations: 0,
        converged: false,
        monotone: true,
        interrupted: false,
    };
    for number in 1..=options.max_iterations {
        if control.is_interrupted() {
            found.interrupted = true;
            break;
        }
        let mut next = medians_of(held, &assigned, &centres, width);
        let placed = fill_empty(held, &assigned, &centres, &mut next, width);
        if next == centres {
            found.converged = true;
            break;
        }
        let after = assign(held, &next, width);
        let (before, now) = (assigned.total, after.total);
        found.monotone &= now <= before * (1.0 + 1e-9);
        (assigned, centres) = (after, next);
        found.iterations = number;
        found.trace.push(now);
        found.seconds.push(clock.elapsed().as_secs_f64());
        control.report(Progress::Round {
            number,
            of: options.max_iterations,
            inertia: now,
        });
        if !placed && options.tolerance >= 0.0 && before - now <= options.tolerance * now {
            found.converged = true;
            break;
        }
    }
    found.weights = assigned.weights;
    found.cells = assigned.cells;
    found.centres = centres;
    Ok(Some(found))
}

struct Assigned {
    labels: Vec<Vec<u32>>,
    weights: Vec<f64>,
    cells: f64,
    total: f64,
}

fn assign(held: &[Points], centres: &[f64], width: usize) -> Assigned {
    let packed = Packed::new(centres, width);
    let each: Vec<(Vec<u32>, f64)> = (held.par_iter())
        .map(|points| {
            let labels = Measure::Absolute.labels(points, centres, &packed, 0);
            let total = counting(points).map(|row| {
                let centre = &centres[labels[row] as usize * width..][..width];
                points.weights[row] * distance(points, row, centre)
            });
            let total = total.sum();
            (labels, total)
        })
        .collect();
    let mut assigned = Assigned {
        labels: Vec::with_capacity(held.len()),
        weights: vec![0.0; packed.count()],
        cells: 0.0,
        total: 0.0,
    };
    // One after the other: the same sum on any number of threads.
    for (points, (labels, total)) in held.iter().zip(each) {
        for row in counting(points) {
            let seen = points.row(row).iter().filter(|x| !x.is_nan()).count();
            assigned.weights[labels[row] as usize] += points.weights[row];
            assigned.cells += points.weights[row] * seen as f64;
        }
        assigned.total += total;
        assigned.labels.push(labels);
    }
    assigned
}

fn counting(points: &Points) -> impl Iterator<Item = usize> + '_ {
    let rows = points.whole.iter().chain(&points.incomplete);
    rows.map(|row| *row as usize)
}

fn distance(points: &Points, row: usize, centre: &[f64]) -> f64 {
    if points.complete {
        manhattan(points.row(row), centre)
    } else {
        Measure::Absolute.between(points.row(row), centre)
    }
}

fn medians_of(held: &[Points], assigned: &Assigned, before: &[f64], width: usize) -> Vec<f64> {
    let k = assigned.weights.len();
    let columns: Vec<Vec<f64>> = (0..width)
        .into_par_iter()
        .map(|c| {
            let mut cells: Vec<Vec<(f64, f64)>> = vec![Vec::new(); k];
            for (points, labels) in held.iter().zip(&assigned.labels) {
                for row in counting(points) {
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

/// The weighted median: half of the weight is not above it and half not below.
fn median(cells: &mut [(f64, f64)]) -> Option<f64> {
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * cells.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut so_far = 0.0;
    for (i, (x, weight)) in cells.iter().enumerate() {
        so_far += weight;
        if so_far > half {
            return Some(*x);
        }
        if so_far == half {
            let above = cells.get(i + 1).map_or(*x, |next| next.0);
            return Some(0.5 * x + 0.5 * above);
        }
    }
    cells.last().map(|(x, _)| *x)
}

fn fill_empty(
    held: &[Points],
    assigned: &Assigned,
    centres: &[f64],
    next: &mut [f64],
    width: usize,
) -> bool {
    let weights = assigned.weights.iter().enumerate();
    let empty = weights
        .filter(|(_, weight)| **weight <= 0.0)
        .map(|(j, _)| j);
    let mut placed: Vec<Vec<f64>> = Vec::new();
    for cluster in empty {
        let mut far: Option<(f64, &[f64])> = None;
        for (points, labels) in held.iter().zip(&assigned.labels) {
            for row in counting(points) {
                let centre = &centres[labels[row] as usize * width..][..width];
                let (gap, x) = (distance(points, row, centre), points.row(row));
                let taken = placed.iter().any(|place| place == x);
                if !taken && gap > far.map_or(0.0, |(most, _)| most) {
                    far = Some((gap, x));
                }
            }
        }
        let Some((_, x)) = far else { break };
        let own = &mut next[cluster * width..(cluster + 1) * width];
        let cells = own.iter_mut().zip(x);
        cells
            .filter(|(_, x)| !x.is_nan())
            .for_each(|(at, x)| *at = *x);
        placed.push(x.to_vec());
    }
    !placed.is_empty()
}
