//! k-means from given centres: a number of iterations, or a whole fit until no centre moves.

use crate::{Meta, columns, fields, with_extra_memory};
use abduce::Control;
use abduce::data::{Schema, Table};
use abduce::model::kmeans::{Algorithm, Fit, Options, Specification, fit_from};
use std::error::Error;
use std::path::Path;

/// Runs the iterations given in `meta`, or until convergence.
pub fn clusters(
    folder: &Path,
    meta: &Meta,
    algorithm: Algorithm,
    converged: bool,
) -> Result<serde_json::Value, Box<dyn Error>> {
    let table = Table::new(Schema::new(fields(meta.d)), columns(folder, meta)?, None)?;
    let start: Vec<Vec<f64>> =
        serde_json::from_slice(&std::fs::read(folder.join("centres.json"))?)?;
    let options = Options {
        algorithm,
        // A tolerance below 0 is never met, so that all iterations are run.
        tolerance: if converged { 0.0 } else { -1.0 },
        max_iterations: if converged { 1000 } else { meta.iterations },
        ..Options::default()
    };
    let specification = Specification::new(meta.k);
    let clock = std::time::Instant::now();
    let (fit, extra) = with_extra_memory(|| {
        fit_from(
            &specification,
            &table,
            Some(&start),
            &options,
            Control::default(),
        )
    });
    let seconds = clock.elapsed().as_secs_f64();
    let Fit {
        inertia,
        iterations,
        trace_seconds,
        algorithm,
        ..
    } = fit?;
    let passes = trace_seconds.last().copied().unwrap_or(0.0);
    Ok(serde_json::json!({
        "seconds": seconds,
        "seconds_per_iteration": passes / iterations.max(1) as f64,
        "log_likelihood": inertia,
        "iterations": iterations,
        "algorithm": algorithm,
        "extra_mb": extra,
    }))
}
