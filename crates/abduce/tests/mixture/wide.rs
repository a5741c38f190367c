//! More columns than rows with full covariances: files are compact and restore every bit, and
//! fits that need too much memory are refused.

use abduce::Control;
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::family::{Covariance, Distribution};
use abduce::model::gda::Gda;
use abduce::model::mixture::{
    CovarianceKind, FitOptions, FittedMixture, Mixture, Recipe, Specification, Tails,
};
use abduce::model::{Learned, Learner};
use abduce::store::Model;
use serde_json::Value;

const COLUMNS: usize = 70;

/// Rows of two classes, with numbers from a multiplicative hash.
fn table(rows: usize, columns: usize) -> Table {
    let noise = |row: usize, column: usize| {
        let mixed = (row * columns + column + 1) as u32;
        f64::from(mixed.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24)
    };
    let mut fields: Vec<Field> = (0..columns)
        .map(|c| Field::new(format!("x{c}"), Kind::Real))
        .collect();
    let cells = |c: usize| {
        let shift = |row: usize| if row % 2 == c % 3 { 0.5 } else { 0.0 };
        Column::from_numbers((0..rows).map(|row| Some(noise(row, c) + shift(row))))
    };
    let mut all: Vec<Column> = (0..columns).map(cells).collect();
    fields.push(Field::with_levels("y", Kind::Categorical, ["a", "b"]));
    all.push(Column::from_codes(
        (0..rows).map(|row| Some((row % 2) as u32)),
    ));
    Table::new(Schema::new(fields), all, None).unwrap()
}

fn gda(covariance: CovarianceKind) -> Gda {
    let specification = Specification::gda("y", covariance);
    Gda(Recipe::new(specification, FitOptions::default()))
}

fn model(learned: Learned) -> Model {
    Model::new("model", learned, Vec::new())
}

fn mixture(model: &Model) -> &FittedMixture {
    model.body.get::<FittedMixture>().unwrap()
}

/// The file of a model and the length of its matrices, after checking that it restores every
/// number.
fn checked_file(model: &Model) -> (usize, Value) {
    let text = model.to_json().unwrap();
    let read = Model::from_json(&text).unwrap();
    let (fitted_mixture, read_mixture) = (mixture(model), mixture(&read));
    assert_eq!(
        fitted_mixture.parameters.leaves,
        read_mixture.parameters.leaves
    );
    assert_eq!(fitted_mixture.statistics, read_mixture.statistics);
    assert_eq!(fitted_mixture.leaves, read_mixture.leaves);
    assert_eq!(read.to_json().unwrap(), text);
    let parsed: Value = serde_json::from_str(&text).unwrap();
    (parsed["body"]["matrices"].to_string().len(), parsed)
}

/// The bytes of half a matrix in base64.
const HALF: usize = COLUMNS * (COLUMNS + 1) / 2 * 8 * 4 / 3;

#[test]
fn a_file_has_half_of_each_scatter_and_no_covariance_that_follows_from_it() {
    let table = table(24, COLUMNS);
    let fitted = model(
        gda(CovarianceKind::Full)
            .learn(&table, Control::default())
            .unwrap(),
    );
    let (length, file) = checked_file(&fitted);
    assert_eq!(file["version"], 2);
    assert!(length > 2 * HALF && length < 3 * HALF, "{length}");
    let leaf = &file["body"]["parameters"]["leaves"][0][0];
    assert_eq!(leaf["covariance"]["full"], Value::Array(Vec::new()));
    let Distribution::Multivariate(gaussian) = &mixture(&fitted).parameters.leaves[0][0] else {
        panic!("the columns are together");
    };
    assert!(matches!(&gaussian.covariance, Covariance::Full(m) if m.len() == COLUMNS * COLUMNS));
}

#[test]
fn a_covariance_of_all_classes_is_stored_once() {
    let table = table(24, COLUMNS);
    let fitted = gda(CovarianceKind::Tied).learn(&table, Control::default());
    let (length, file) = checked_file(&model(fitted.unwrap()));
    assert!(length < 3 * HALF, "{length}");
    let matrices = file["body"]["matrices"].as_array().unwrap();
    let same = |matrix: &&Value| matrix["numbers"]["same"] == 0;
    assert_eq!(matrices.iter().filter(same).count(), 1);
}

#[test]
fn covariances_of_components_and_of_heavy_tails_are_restored() {
    let rows = table(300, COLUMNS);
    let specification = Specification {
        target: None,
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    let options = FitOptions {
        restarts: 1,
        ..FitOptions::default()
    };
    for tails in [Tails::Gaussian, "student-t(4)".parse().unwrap()] {
        let specification = Specification {
            tails,
            ..specification.clone()
        };
        let learner = Mixture::of(Recipe::new(specification, options.clone()));
        let fitted = learner.learn(&rows, Control::default()).unwrap();
        let (length, _) = checked_file(&model(fitted));
        assert!(length < 5 * HALF, "{length}");
    }
}

#[test]
fn few_columns_are_stored_as_lists_of_numbers_in_version_1() {
    let fitted = gda(CovarianceKind::Full).learn(&table(24, 5), Control::default());
    let (_, file) = checked_file(&model(fitted.unwrap()));
    assert_eq!(file["version"], 1);
    assert!(file["body"].get("matrices").is_none());
}

#[test]
fn damaged_matrices_are_refused_with_their_place() {
    let table = table(24, COLUMNS);
    let fitted = gda(CovarianceKind::Full).learn(&table, Control::default());
    let (_, file) = checked_file(&model(fitted.unwrap()));
    let matrices = file["body"]["matrices"].as_array().unwrap();
    let scatter = matrices
        .iter()
        .position(|matrix| matrix["numbers"].get("triangle").is_some())
        .unwrap();
    type Damage = fn(&mut Value);
    let damages: [Damage; 5] = [
        |matrix| matrix["leaf"] = 7.into(),
        |matrix| matrix["of"] = serde_json::json!({"scatter": 9}),
        |matrix| matrix["numbers"] = serde_json::json!({"triangle": "AAAAAAAAAAA="}),
        |matrix| matrix["numbers"] = serde_json::json!({"same": 0}),
        |matrix| matrix["numbers"] = serde_json::json!({"triangle": "AAAA"}),
    ];
    for damage in damages {
        let mut damaged = file.clone();
        damage(&mut damaged["body"]["matrices"][scatter]);
        let error = Model::from_json(&damaged.to_string())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("damaged") || error.contains("body.matrices["),
            "{error}"
        );
    }
    let mut missing = file.clone();
    missing["body"]["matrices"].as_array_mut().unwrap().pop();
    assert!(Model::from_json(&missing.to_string()).is_err());
}

#[test]
fn updates_of_a_file_with_compact_matrices_equal_those_of_the_model() {
    let rows = table(24, COLUMNS);
    let fitted = gda(CovarianceKind::Full).learn(&rows, Control::default());
    let fitted = model(fitted.unwrap());
    let read = Model::from_json(&fitted.to_json().unwrap()).unwrap();
    let update = |model: &Model| {
        let changed = model.update(&rows, Vec::new(), None, Control::default());
        changed.unwrap().model.to_json().unwrap()
    };
    assert_eq!(update(&fitted), update(&read));
}

#[test]
fn covariances_beyond_the_memory_limit_are_refused_before_the_fit() {
    let rows = table(4, 13_000);
    let error = gda(CovarianceKind::Full).learn(&rows, Control::default());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("memory") && error.contains("diagonal"),
        "{error}"
    );
    let diagonal = gda(CovarianceKind::Diagonal).learn(&rows, Control::default());
    let warnings = diagonal.unwrap().report.warnings;
    assert!(
        !warnings.iter().any(|warning| warning.contains("memory")),
        "{warnings:?}"
    );
}
