//! Fits of clusters about medoids. The distance between two rows is computed over the cells that
//! both have and scaled up to all columns. If there are complete rows, only these become medoids.

use super::fit::Run;
use super::iterate::RunResult;
use super::medoids::{MAX_ROWS, Medoids, medoids_among};
use super::points::Points;
use super::seeding::Measure;
use super::specification::Distance;
use super::starts::Start;
use crate::data::Source;
use crate::model::mixture::{Ended, interrupted};
use crate::{Error, Result};
use std::time::Instant;

/// Fits medoids from several starts; `rows` is the number of rows of positive weight.
pub(super) fn fit_medoids(
    run: &Run,
    source: &dyn Source,
    rows: u64,
    starts: &mut Vec<Start>,
) -> Result<RunResult> {
    if rows > MAX_ROWS as u64 {
        return Err(Error::parameter(format!(
            "`medoids` supports at most {MAX_ROWS} rows, and there are {rows}"
        ))
        .with_hint("fit a sample of the rows, or leave out `medoids`"));
    }
    let clock = Instant::now();
    let chunks = source
        .scan()?
        .map(|chunk| Ok(Points::of(&chunk?, run.frame)));
    let points = Points::concatenate(&chunks.collect::<Result<Vec<_>>>()?);
    // Rows of weight 0 are left out.
    let rows: Vec<usize> = (0..points.rows)
        .filter(|row| points.weights[*row] > 0.0)
        .collect();
    let weights: Vec<f64> = rows.iter().map(|row| points.weights[*row]).collect();
    let best = best_of_starts(run, &points, &rows, &weights, starts)?;
    let mut sizes = vec![0.0; best.rows.len()];
    for (label, weight) in best.labels.iter().zip(&weights) {
        sizes[*label] += weight;
    }
    let cell = |x: &f64| if x.is_nan() { 0.0 } else { *x };
    Ok(RunResult {
        centres: (best.rows.iter())
            .flat_map(|row| points.row(rows[*row]).iter().map(cell))
            .collect(),
        weights: sizes,
        iterations: best.trace.len() - 1,
        seconds: vec![clock.elapsed().as_secs_f64(); best.trace.len()],
        trace: best.trace,
        converged: best.converged,
        interrupted: run.control.is_interrupted(),
        ..RunResult::at_start(f64::INFINITY, clock)
    })
}

/// The best medoids of several starts; their outcomes are added to `starts`.
fn best_of_starts(
    run: &Run,
    points: &Points,
    rows: &[usize],
    weights: &[f64],
    starts: &mut Vec<Start>,
) -> Result<Medoids> {
    let distance = |a: usize, b: usize| between(run, points.row(rows[a]), points.row(rows[b]));
    // A row with few values is near to all others and would always become a medoid.
    let is_complete = |row: usize| points.row(row).iter().all(|x| !x.is_nan());
    let any_complete = !points.complete_rows.is_empty();
    let allowed: Vec<bool> = rows
        .iter()
        .map(|row| !any_complete || is_complete(*row))
        .collect();
    let mut best: Option<Medoids> = None;
    for number in 1..=run.options.restarts.max(1) {
        let found = medoids_among(
            weights,
            &allowed,
            run.specification.clusters,
            &distance,
            run.options.max_iterations,
            run.seed_of_start(number),
            run.control,
        )?;
        starts.push(Start {
            inertia: Some(run.in_table_units(found.total())),
            iterations: found.trace.len() - 1,
            ended: if found.converged {
                Ended::Converged
            } else if run.control.is_interrupted() {
                Ended::Interrupted
            } else {
                Ended::Unconverged
            },
        });
        let is_better = |best: &Medoids| found.total() < best.total();
        if best.as_ref().is_none_or(is_better) {
            best = Some(found);
        }
        if run.control.is_interrupted() {
            break;
        }
    }
    best.ok_or_else(interrupted)
}

/// The distance of two rows, over the cells that both have.
fn between(run: &Run, a: &[f64], b: &[f64]) -> f64 {
    let shared = a
        .iter()
        .zip(b)
        .filter(|(a, b)| !a.is_nan() && !b.is_nan())
        .count();
    let scale = a.len() as f64 / shared.max(1) as f64;
    let gap = scale * run.measure.between(a, b);
    match (run.measure, run.specification.distance) {
        (Measure::Squared, Distance::Cosine) => gap,
        (Measure::Squared, _) => gap.sqrt(),
        (Measure::Absolute, _) => gap,
    }
}
