//! Comparisons with reference values from other programs; `golden/README.md` lists the
//! programs and how to renew the values.

mod density;
mod estimates;
mod evaluation;
mod event_models;
mod families;
mod kmeans;
mod mclust;
mod models;
mod svmlight;
mod tails;
mod text;
mod univariate;
mod vector_families;

use crate::common::golden;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

fn weights(value: &Value, rows: usize) -> Vec<f64> {
    if value.is_null() {
        vec![1.0; rows]
    } else {
        numbers(value)
    }
}

fn transposed(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..rows[0].len())
        .map(|c| rows.iter().map(|row| row[c]).collect())
        .collect()
}

#[track_caller]
fn assert_close(obtained: f64, expected: f64, relative: f64) {
    let error = (obtained - expected).abs();
    assert!(
        error <= relative * (1.0 + expected.abs()),
        "obtained {obtained}, expected {expected}"
    );
}

#[track_caller]
fn assert_all_close(obtained: &[f64], expected: &[f64], relative: f64) {
    assert_eq!(obtained.len(), expected.len());
    for (obtained, expected) in obtained.iter().zip(expected) {
        assert_close(*obtained, *expected, relative);
    }
}
