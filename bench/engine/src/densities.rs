//! Kernel densities, at queries by the tree and on a grid by binning.

use crate::{Meta, with_extra_memory};
use abduce::density::{Axis, Bandwidth, Kernel, KernelDensity, Points, Selection, Tolerance};
use serde::Deserialize;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// How many answers are told, to be held against exact ones.
const TOLD: usize = 200;

/// Each so many-th node of a grid is told.
const EVERY: usize = 256;

#[derive(Deserialize)]
struct Asked {
    bandwidth: f64,
    tolerance: f64,
    grid: [f64; 2],
    nodes: usize,
}

fn asked(folder: &Path) -> Result<Asked, Box<dyn Error>> {
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
    let (points, asked) = (points(folder, meta)?, asked(folder)?);
    let queries = rows(&folder.join("queries.f64"), meta.d)?;
    let tolerance = Tolerance {
        absolute: 0.0,
        relative: asked.tolerance,
    };
    let clock = Instant::now();
    let (answers, extra) = with_extra_memory(|| {
        let bandwidth = Bandwidth::Shared(asked.bandwidth);
        let density = KernelDensity::with_bandwidth(points, Kernel::Gaussian, bandwidth)?;
        density.with_tolerance(tolerance).log_densities(&queries)
    });
    let (answers, seconds) = (answers?, clock.elapsed().as_secs_f64());
    Ok(serde_json::json!({
        "seconds": seconds,
        "log_likelihood": answers.iter().sum::<f64>(),
        "log_densities": &answers[..TOLD.min(answers.len())],
        "extra_mb": extra,
    }))
}

pub fn on_grid(folder: &Path, meta: &Meta) -> Result<serde_json::Value, Box<dyn Error>> {
    let (points, asked) = (points(folder, meta)?, asked(folder)?);
    let axis = Axis {
        start: asked.grid[0],
        end: asked.grid[1],
        points: asked.nodes,
    };
    let clock = Instant::now();
    let (grid, extra) = with_extra_memory(|| {
        KernelDensity::fit(points, Kernel::Gaussian, &Selection::default())?.on_grid(&[axis])
    });
    let (grid, seconds) = (grid?, clock.elapsed().as_secs_f64());
    let told: Vec<f64> = grid.densities.iter().step_by(EVERY).copied().collect();
    Ok(serde_json::json!({
        "seconds": seconds,
        "log_likelihood": told.iter().map(|density| density.ln()).sum::<f64>(),
        "densities": told,
        "extra_mb": extra,
    }))
}
