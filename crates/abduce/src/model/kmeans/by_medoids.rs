//! Clusters about medoids: the distance is that of the coordinates, over the cells
//! that both rows have, scaled up to all columns. Medoids are
//! rows without missing values, where there are any.

use super::fit::Run;
use super::iterate::Found;
use super::medoids::{MOST_ROWS, Medoids, among};
use super::points::Points;
use super::seeding::Measure;
use super::specification::Distance;
use super::starts::Start;
use crate::data::Source;
use crate::model::mixture::{Ended, interrupted};
use crate::{Error, Result};

/// Fits medoids; `rows` is the number of rows of positive weight.
pub(super) fn by_medoids(
    run: &Run,
    source: &dyn Source,
    rows: u64,
    starts: &mut Vec<Start>,
) -> Result<Found> {
    if rows > MOST_ROWS as u64 {
        return Err(Error::parameter(format!(
            "`medoids` supports at most {MOST_ROWS} rows, and there are {rows}"
        ))
        .with_hint("fit a sample of the rows, or leave out `medoids`"));
    }
    let clock = std::time::Instant::now();
    let chunks = source
        .scan()?
        .map(|chunk| Ok(Points::of(&chunk?, run.frame)));
    let points = Points::together(&chunks.collect::<Result<Vec<_>>>()?);
    // Rows of weight 0 are left out.
    let rows: Vec<usize> = (0..points.rows)
        .filter(|row| points.weights[*row] > 0.0)
        .collect();
    let weights: Vec<f64> = rows.iter().map(|row| points.weights[*row]).collect();
    let distance = |a: usize, b: usize| between(run, points.row(rows[a]), points.row(rows[b]));
    // A row with few values is near to all others and would always be a medoid.
    let is_whole = |row: usize| points.row(row).iter().all(|x| !x.is_nan());
    let any_whole = !points.whole.is_empty();
    let may: Vec<bool> = rows
        .iter()
        .map(|row| !any_whole || is_whole(*row))
        .collect();
    let mut best: Option<Medoids> = None;
    for number in 1..=run.options.restarts.max(1) {
        let seed = (run.options.seed.wrapping_mul(1_000_003)).wrapping_add(number as u64);
        let (clusters, most) = (run.specification.clusters, run.options.max_iterations);
        let found = among(&weights, &may, clusters, &distance, most, seed, run.control)?;
        starts.push(Start {
            inertia: Some(run.in_units(found.total())),
            iterations: found.trace.len() - 1,
            ended: if found.converged {
                Ended::Converged
            } else if run.control.is_interrupted() {
                Ended::Interrupted
            } else {
                Ended::Unconverged
            },
        });
        if best
            .as_ref()
            .is_none_or(|best| found.total() < best.total())
        {
            best = Some(found);
        }
        if run.control.is_interrupted() {
            break;
        }
    }
    let best = best.ok_or_else(interrupted)?;
    let mut sizes = vec![0.0; best.rows.len()];
    for (label, weight) in best.labels.iter().zip(&weights) {
        sizes[*label] += weight;
    }
    let cell = |x: &f64| if x.is_nan() { 0.0 } else { *x };
    Ok(Found {
        centres: (best.rows.iter())
            .flat_map(|row| points.row(rows[*row]).iter().map(cell))
            .collect(),
        weights: sizes,
        cells: 0.0,
        labels: Vec::new(),
        nothing: 0.0,
        iterations: best.trace.len() - 1,
        seconds: vec![clock.elapsed().as_secs_f64(); best.trace.len()],
        trace: best.trace,
        converged: best.converged,
        monotone: true,
        interrupted: run.control.is_interrupted(),
    })
}

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
