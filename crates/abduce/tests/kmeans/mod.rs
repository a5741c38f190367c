//! Laws of k-means that hold for all rows.

mod distances;
mod edge_cases;
mod laws;
mod queries;

use crate::common::{Streamed, real_table, with_threads};
use abduce::Control;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::model::kmeans::{Algorithm, Fit, Options, Specification, fit, fit_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Row = Vec<Option<f64>>;

/// Rows around `k` centres in `d` columns.
fn clustered(rows: usize, d: usize, k: usize, seed: u64) -> Vec<Row> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || {
        let sum: f64 = (0..12).map(|_| rng.random::<f64>()).sum();
        sum - 6.0
    };
    let centres: Vec<Vec<f64>> = (0..k)
        .map(|_| (0..d).map(|_| 2.0 * normal()).collect())
        .collect();
    let mut row = |i: usize| {
        let centre = &centres[(i * i + i / 3) % k];
        centre.iter().map(|x| Some(x + normal())).collect()
    };
    (0..rows).map(&mut row).collect()
}

/// Hides some cells; many rows stay complete.
fn with_missing_values(mut rows: Vec<Row>) -> Vec<Row> {
    for (i, row) in rows.iter_mut().enumerate() {
        let width = row.len();
        if i % 3 == 0 {
            row[i / 3 % width] = None;
        }
        if i % 7 == 0 {
            row[(i / 7 + 1) % width] = None;
        }
    }
    rows
}

fn table(rows: &[Row], weights: Option<Vec<f64>>) -> Table {
    let width = rows.first().map_or(1, Vec::len);
    real_table(
        (0..width).map(|c| rows.iter().map(move |row| row[c])),
        weights,
    )
}

/// The first rows as initial centres, with 0 for missing values.
fn first_rows(rows: &[Row], k: usize) -> Vec<Vec<f64>> {
    let cells = |row: &Row| row.iter().map(|x| x.unwrap_or(0.0)).collect();
    rows[..k].iter().map(cells).collect()
}

fn fitted(specification: &Specification, rows: &[Row], options: &Options) -> Fit {
    fit(
        specification,
        &table(rows, None),
        options,
        Control::default(),
    )
    .unwrap()
}

/// Fits from the first rows as centres until no centre moves.
fn fit_from_first_rows(rows: &[Row], k: usize, algorithm: Algorithm) -> Fit {
    let options = Options {
        algorithm,
        tolerance: 0.0,
        ..Options::default()
    };
    let (start, table) = (first_rows(rows, k), table(rows, None));
    fit_from(
        &Specification::new(k),
        &table,
        Some(&start),
        &options,
        Control::default(),
    )
    .unwrap()
}

#[track_caller]
fn assert_close(obtained: f64, expected: f64, relative: f64) {
    let error = (obtained - expected).abs();
    assert!(
        error <= relative * expected.abs(),
        "obtained {obtained}, expected {expected}"
    );
}

#[track_caller]
fn assert_same_centres(obtained: &Fit, expected: &Fit, error: f64) {
    assert_eq!(obtained.model.sizes.len(), expected.model.sizes.len());
    for (a, b) in obtained.model.centres.iter().zip(&expected.model.centres) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= error * (1.0 + b.abs()), "{a} {b}");
        }
    }
}
