//! Gaussian mixtures: iterations from a given start, and fits with default options.

use crate::{Meta, columns, fields, with_extra_memory};
use abduce::Control;
use abduce::data::{Column, Schema, Table};
use abduce::family::{Covariance, Distribution, MultivariateGaussian};
use abduce::learn::EmOptions;
use abduce::model::mixture::{
    CovarianceKind, Fit, FitOptions, Parameters, Specification, fit, fit_from,
};
use serde::Deserialize;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

#[derive(Deserialize)]
struct Start {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Vec<Vec<Vec<f64>>>,
}

type Answer = Result<serde_json::Value, Box<dyn Error>>;

fn table(folder: &Path, meta: &Meta) -> Result<Table, Box<dyn Error>> {
    Ok(Table::new(
        Schema::new(fields(meta.d)),
        columns(folder, meta)?,
        None,
    )?)
}

pub fn full(folder: &Path, meta: &Meta) -> Answer {
    let full = |matrix: Vec<Vec<f64>>| Covariance::Full(matrix.concat());
    iterations(
        &table(folder, meta)?,
        folder,
        meta,
        CovarianceKind::Full,
        full,
    )
}

/// The same with a fifth of the cells missing.
pub fn missing(folder: &Path, meta: &Meta) -> Answer {
    let columns = columns(folder, meta)?.into_iter().enumerate();
    let blanked = columns.map(|(c, column)| {
        let cells = column.cells(0, meta.n);
        let cells = cells.reals().iter().enumerate();
        Column::from_numbers(cells.map(|(row, x)| {
            let hash = ((row * meta.d + c) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (!(mixed >> 40).is_multiple_of(5)).then_some(*x)
        }))
    });
    let table = Table::new(Schema::new(fields(meta.d)), blanked.collect(), None)?;
    let full = |matrix: Vec<Vec<f64>>| Covariance::Full(matrix.concat());
    iterations(&table, folder, meta, CovarianceKind::Full, full)
}

pub fn diagonal(folder: &Path, meta: &Meta) -> Answer {
    let diagonal = |matrix: Vec<Vec<f64>>| {
        Covariance::Diagonal((0..matrix.len()).map(|c| matrix[c][c]).collect())
    };
    iterations(
        &table(folder, meta)?,
        folder,
        meta,
        CovarianceKind::Diagonal,
        diagonal,
    )
}

fn iterations(
    table: &Table,
    folder: &Path,
    meta: &Meta,
    kind: CovarianceKind,
    covariance: fn(Vec<Vec<f64>>) -> Covariance,
) -> Answer {
    let start: Start = serde_json::from_slice(&std::fs::read(folder.join("start.json"))?)?;
    let gaussians = start.means.into_iter().zip(start.covariances);
    let gaussians = gaussians.map(|(mean, matrix)| {
        let covariance = covariance(matrix);
        Distribution::Multivariate(MultivariateGaussian { mean, covariance })
    });
    let start = Parameters {
        unseen: Vec::new(),
        weights: start.weights,
        leaves: vec![gaussians.collect()],
    };
    let specification = Specification {
        variance_floor: 0.0,
        ..Specification::mixture(meta.k, kind)
    };
    // A tolerance below 0 is never met, so that all iterations are run.
    let em = EmOptions {
        tolerance: -1.0,
        max_iterations: meta.iterations,
        ..EmOptions::PLAIN
    };
    let options = FitOptions {
        em,
        ..FitOptions::default()
    };
    let (fit, extra) = with_extra_memory(|| {
        fit_from(
            &specification,
            table,
            Some(&start),
            &options,
            Control::default(),
        )
    });
    let Fit {
        trace,
        trace_seconds,
        iterations,
        ..
    } = fit?;
    // After the first E-step, every iteration is an M-step and an E-step.
    let seconds = trace_seconds[iterations] - trace_seconds[0];
    Ok(serde_json::json!({
        "seconds_per_iteration": seconds / iterations as f64,
        "log_likelihood": trace[iterations - 1],
        "iterations": iterations,
        "extra_mb": extra,
    }))
}

/// A fit with default options, and the seconds until it reaches the likelihood of the other
/// program.
pub fn cold(folder: &Path, meta: &Meta) -> Answer {
    let table = table(folder, meta)?;
    let target: f64 = serde_json::from_slice(&std::fs::read(folder.join("mark.json"))?)?;
    let specification = Specification::mixture(meta.k, CovarianceKind::Full);
    let clock = Instant::now();
    let (fit, extra) = with_extra_memory(|| {
        fit(
            &specification,
            &table,
            &FitOptions::default(),
            Control::default(),
        )
    });
    let total = clock.elapsed().as_secs_f64();
    let fit = fit?;
    let end = fit.trace_seconds.last().copied().unwrap_or(total);
    let reached = fit.trace.iter().position(|l| *l >= target);
    let within = reached.map_or(end, |iteration| fit.trace_seconds[iteration]);
    Ok(serde_json::json!({
        "seconds": total - end + within,
        "seconds_before_em": total - end,
        "seconds_to_the_end": total,
        "log_likelihood": fit.log_likelihood,
        "iterations": fit.iterations,
        "extra_mb": extra,
    }))
}
