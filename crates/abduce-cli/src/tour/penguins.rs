//! The penguins with their missing values: naive Bayes with all labels and with half of them
//! hidden, and discriminant analysis with nine in ten hidden. No row is dropped.

use super::{Group, Line, open, table};
use crate::io::cells::value;
use abduce::Control;
use abduce::Result;
use abduce::ask::{Joint, Predict};
use abduce::data::{Column, ReadOptions, Source, Table};
use abduce::family::Fill;
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, fit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

pub const GROUP: Group = Group {
    name: "Penguins with missing values: fit, predict, impute, score",
    run,
};

const TARGET: &str = "species";
const FOLDS: usize = 10;

fn run() -> Result<Vec<Line>> {
    let options = ReadOptions {
        target: Some(TARGET.into()),
        ..ReadOptions::default()
    };
    let opened = open(include_str!("../../data/penguins.csv"), &options)?;
    let table = table(&opened)?;
    let target = table.schema().position(TARGET)?;
    let rows = table.rows();
    let model = learn(table)?;
    let half = learn(&hide_labels(table, target, |row| row % 2 == 0)?)?;
    let mut lines = vec![
        Line::count("missing values in the table", 19, missing_values(table)),
        Line::count("rows used by the fit", rows, model.rows),
        Line::count(
            "rows predicted",
            rows,
            predictions(&model, table)?.len() as u64,
        ),
    ];
    let mut scored = 0;
    let mut filled = Vec::new();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for chunk in table.chunks() {
        let densities = model.mixture.log_density(chunk)?;
        scored += densities
            .iter()
            .filter(|density| density.is_finite())
            .count();
        filled.push(model.mixture.complete(chunk, Fill::Mean, &mut rng)?);
    }
    let filled = Table::from_chunks(table.schema().clone(), filled);
    lines.extend([
        Line::count("rows scored", rows, scored as u64),
        Line::count("missing values after imputing", 0, missing_values(&filled)),
        Line::at_least(
            "accuracy, 10-fold",
            0.97,
            cross_validated_accuracy(table, target)?,
            4,
        ),
        Line::count("rows used, half of the labels hidden", rows, half.rows),
        Line::count(
            "rows predicted, half of the labels hidden",
            rows,
            predictions(&half, table)?.len() as u64,
        ),
        Line::at_least(
            "accuracy of gda, 90% of the labels hidden",
            0.97,
            accuracy_with_90_percent_unlabelled()?,
            4,
        ),
    ]);
    Ok(lines)
}

fn learn(table: &Table) -> Result<Fit> {
    fit(
        &Specification::naive_bayes(TARGET),
        table,
        &FitOptions::default(),
        Control::default(),
    )
}

/// The accuracy of Gaussian discriminant analysis on the four measurements, with nine in ten
/// labels hidden; measured on the rows without a label.
fn accuracy_with_90_percent_unlabelled() -> Result<f64> {
    let measurements = [
        "bill_length_mm",
        "bill_depth_mm",
        "flipper_length_mm",
        "body_mass_g",
    ];
    let options = ReadOptions {
        target: Some(TARGET.into()),
        columns: Some(measurements.map(String::from).into()),
        ..ReadOptions::default()
    };
    let opened = open(include_str!("../../data/penguins.csv"), &options)?;
    let table = table(&opened)?;
    let target = table.schema().position(TARGET)?;
    let hidden = |row: usize| !row.is_multiple_of(10);
    let model = fit(
        &Specification::gda(TARGET, CovarianceKind::Full),
        &hide_labels(table, target, hidden)?,
        &FitOptions::default(),
        Control::default(),
    )?;
    accuracy(&model, table, target, hidden)
}

fn hide_labels(table: &Table, target: usize, hidden: impl Fn(usize) -> bool) -> Result<Table> {
    let labels = table.column(target);
    let remaining = (0..labels.len()).map(|row| {
        let label = value(&labels, row).map(|code| code as u32);
        label.filter(|_| !hidden(row))
    });
    table.with_column(target, Column::from_codes(remaining))
}

fn missing_values(table: &Table) -> u64 {
    let columns = table.chunks().iter().flat_map(|chunk| chunk.columns());
    columns
        .filter_map(Column::nulls)
        .map(|nulls| nulls.null_count() as u64)
        .sum()
}

fn predictions(fit: &Fit, table: &Table) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    for chunk in table.chunks() {
        let posterior = fit.mixture.posterior(chunk)?;
        all.extend((0..chunk.rows()).map(|row| posterior.best(row)));
    }
    Ok(all)
}

/// The share of rows whose prediction is correct, among the selected ones.
fn accuracy(
    fit: &Fit,
    table: &Table,
    target: usize,
    selected: impl Fn(usize) -> bool,
) -> Result<f64> {
    let labels = table.column(target);
    let predicted = predictions(fit, table)?;
    let rows: Vec<usize> = (0..labels.len()).filter(|row| selected(*row)).collect();
    let correct = rows
        .iter()
        .filter(|&&row| value(&labels, row) == Some(predicted[row] as f64))
        .count();
    Ok(correct as f64 / rows.len() as f64)
}

/// The share of rows predicted correctly by the model that was fitted to the other folds.
fn cross_validated_accuracy(table: &Table, target: usize) -> Result<f64> {
    let rows = table.rows() as usize;
    let mut correct = 0.0;
    for fold in 0..FOLDS {
        let (held_out, training): (Vec<usize>, Vec<usize>) =
            (0..rows).partition(|row| row % FOLDS == fold);
        let model = learn(&table.take(&training))?;
        let rows_held_out = held_out.len() as f64;
        correct += accuracy(&model, &table.take(&held_out), target, |_| true)? * rows_held_out;
    }
    Ok(correct / rows as f64)
}
