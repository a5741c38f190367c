//! Ten thousand columns: the density of each row overflows or underflows, and posterior
//! probabilities remain exact.

use abduce::Control;
use abduce::ask::{Joint, Predict};
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::eval::Classifier;
use abduce::model::Learner;
use abduce::model::mixture::{FitOptions, Specification, fit};
use abduce::model::naive_bayes::NaiveBayes;

const COLUMNS: usize = 10_000;
const ROWS: usize = 60;
const CLASSES: usize = 3;

/// Numbers and levels from a multiplicative hash, shifted by `shift` times the class.
fn table(shift: f64) -> Table {
    let noise = |row: usize, column: usize| {
        let mixed = (row * COLUMNS + column) as u32;
        f64::from(mixed.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24)
    };
    let mut fields = Vec::with_capacity(COLUMNS + 1);
    let mut columns = Vec::with_capacity(COLUMNS + 1);
    for column in 0..COLUMNS {
        let cell = |row: usize| {
            let class = ((row + column) % CLASSES) as f64;
            noise(row, column) + shift * class
        };
        // One cell in thirty is missing.
        let seen = |row: usize| !(row * 7 + column).is_multiple_of(30);
        let name = format!("c{column}");
        if column % 2 == 0 {
            fields.push(Field::new(name, Kind::Real));
            let cells = (0..ROWS).map(|row| seen(row).then(|| cell(row)));
            columns.push(Column::from_numbers(cells));
        } else {
            fields.push(Field::with_levels(name, Kind::Categorical, ["u", "v", "w"]));
            let cells = (0..ROWS).map(|row| seen(row).then(|| (cell(row) as u32).min(2)));
            columns.push(Column::from_codes(cells));
        }
    }
    let levels = (0..CLASSES).map(|class| class.to_string());
    fields.push(Field::with_levels("y", Kind::Categorical, levels));
    let labels = (0..ROWS).map(|row| Some((row % CLASSES) as u32));
    columns.push(Column::from_codes(labels));
    Table::new(Schema::new(fields), columns, None).unwrap()
}

#[test]
fn probabilities_of_ten_thousand_columns_are_finite_and_sum_to_one() {
    let specification = Specification::naive_bayes("y");
    for shift in [0.0, 1e-3, 1.0] {
        let table = table(shift);
        let fit = fit(
            &specification,
            &table,
            &FitOptions::default(),
            Control::default(),
        )
        .unwrap();
        let chunk = &table.chunks()[0];
        let posterior = fit.mixture.posterior(chunk).unwrap();
        for row in 0..ROWS {
            let p = posterior.row(row);
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{p:?}");
        }
        let densities = fit.mixture.log_density(chunk).unwrap();
        assert!(densities.iter().all(|density| density.is_finite()));
        assert!(densities.iter().any(|density| density.abs() > 1000.0));
    }
}

#[test]
fn the_log_loss_of_wrong_labels_of_ten_thousand_columns_is_large_and_finite() {
    let table = table(1.0);
    let learned = NaiveBayes::new("y").learn(&table, Control::default());
    let classifier = Classifier {
        model: learned.unwrap().model,
        calibration: None,
    };
    let wrong = Column::from_codes((0..ROWS).map(|row| Some(((row + 1) % CLASSES) as u32)));
    let metrics = classifier.evaluate(&table.with_column(COLUMNS, wrong).unwrap());
    let metrics = metrics.unwrap();
    assert_eq!(metrics.accuracy(), 0.0);
    assert!(metrics.log_loss().is_finite() && metrics.log_loss() > 708.0);
    assert_eq!(metrics.impossible(), 0.0);
}
