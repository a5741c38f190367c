//! Kernel densities: at query points by a tree, and on a grid by binning.

use crate::{Meta, with_extra_memory};
use abduce::density::{Axis, Bandwidth, Kernel, KernelDensity, Points, Selection, Tolerance};
use serde::Deserialize;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// The number of densities that are reported, to be compared with exact ones.
const REPORTED: usize = 200;

/// Every this many nodes of a grid, the density is reported.
const GRID_STEP: usize = 256;

#[derive(Deserialize)]
struct Settings {
    bandwidth: f64,
    tolerance: f64,
    grid: [f64; 2],
    nodes: usize,
}

fn settings(folder: &Path) -> Result<Settings, Box<dyn Error>> {
    let bytes = std::fs::read(folder.join("density.json"))?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn rows(path: &Path, columns: usize) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let numbers = bytes.chunks_exact(8);
    let numbers: Vec<f64> = numbers
        .map(|b| f64::from_le_bytes(std::array::from_fn(|i| b[i])))
        .collect();
    Ok(numbers.chunks_exact(columns).map(<[f64]>::to_vec).collect())
}

fn points(folder: &Path, meta: &Meta) -> Result<Points, Box<dyn Error>> {
    let rows = rows(&folder.join("x.f64"), meta.d)?;
    let column = |c: usize| rows.iter().map(|row| row[c]).collect();
    let columns: Vec<Vec<f64>> = (0..meta.d).map(column).collect();
    Ok(Points::from_columns(&columns, None)?)
}

pub fn at_queries(folder: &Path, meta: &Meta) -> Result<serde_json::Value, Box<dyn Error>> {
    let (points, settings) = (points(folder, meta)?, settings(folder)?);
    let queries = rows(&folder.join("queries.f64"), meta.d)?;
    let tolerance = Tolerance {
        absolute: 0.0,
        relative: settings.tolerance,
    };
    let clock = Instant::now();
    let (answers, extra) = with_extra_memory(|| {
        let bandwidth = Bandwidth::Shared(settings.bandwidth);
        let density = KernelDensity::with_bandwidth(points, Kernel::Gaussian, bandwidth)?;
        density.with_tolerance(tolerance).log_densities(&queries)
    });
    let (answers, seconds) = (answers?, clock.elapsed().as_secs_f64());
    Ok(serde_json::json!({
        "seconds": seconds,
        "log_likelihood": answers.iter().sum::<f64>(),
        "log_densities": &answers[..REPORTED.min(answers.len())],
        "extra_mb": extra,
    }))
}

pub fn on_grid(folder: &Path, meta: &Meta) -> Result<serde_json::Value, Box<dyn Error>> {
    let (points, settings) = (points(folder, meta)?, settings(folder)?);
    let axis = Axis {
        start: settings.grid[0],
        end: settings.grid[1],
        points: settings.nodes,
    };
    let clock = Instant::now();
    let (grid, extra) = with_extra_memory(|| {
        KernelDensity::fit(points, Kernel::Gaussian, &Selection::default())?.on_grid(&[axis])
    });
    let (grid, seconds) = (grid?, clock.elapsed().as_secs_f64());
    let reported: Vec<f64> = grid.densities.iter().step_by(GRID_STEP).copied().collect();
    Ok(serde_json::json!({
        "seconds": seconds,
        "log_likelihood": reported.iter().map(|density| density.ln()).sum::<f64>(),
        "densities": reported,
        "extra_mb": extra,
    }))
}
