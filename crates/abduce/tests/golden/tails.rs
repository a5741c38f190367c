//! The multivariate t against SciPy: densities with missing values, and likelihood maxima
//! found by a general optimizer.

use super::{assert_all_close, assert_close, list, number, numbers};
use crate::common::{golden, real_table};
use abduce::Control;
use abduce::data::{Cells, Column, Rows};
use abduce::family::{
    Covariance, Distribution, Family, MultivariateGaussian, MultivariateStudentT,
};
use abduce::learn::EmOptions;
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, Tails, fit};
use serde_json::Value;

/// The columns of a table that is stored by rows, with `null` for missing values.
fn columns(x: &Value) -> Vec<Vec<Option<f64>>> {
    let width = list(&list(x)[0]).len();
    let column = |c: usize| list(x).iter().map(|row| row[c].as_f64()).collect();
    (0..width).map(column).collect()
}

fn fitted(case: &Value, components: usize, tails: Tails) -> Fit {
    let weights = case["weights"].as_array().filter(|_| components == 1);
    let weights = weights.map(|weights| weights.iter().map(number).collect());
    let table = real_table(columns(&case["x"]), weights);
    let specification = Specification {
        tails,
        variance_floor: 0.0,
        ..Specification::mixture(components, CovarianceKind::Full)
    };
    let options = FitOptions {
        em: EmOptions {
            tolerance: 1e-15,
            max_iterations: 20_000,
            ..EmOptions::default()
        },
        ..FitOptions::default()
    };
    fit(&specification, &table, &options, Control::default()).unwrap()
}

fn component(fit: &Fit, j: usize) -> &MultivariateStudentT {
    match &fit.mixture.parameters.leaves[0][j] {
        Distribution::MultivariateStudentT(t) => t,
        other => panic!("{other:?}"),
    }
}

fn assert_component(
    obtained: &MultivariateStudentT,
    location: &Value,
    scale: &Value,
    degrees: f64,
) {
    let tolerance = 2e-4;
    assert_all_close(&obtained.gaussian.mean, &numbers(location), tolerance);
    let d = obtained.gaussian.order();
    let matrix: Vec<f64> = (0..d * d)
        .map(|t| obtained.gaussian.covariance(t % d, t / d))
        .collect();
    assert_all_close(&matrix, &numbers(scale), tolerance);
    assert_close(obtained.degrees, degrees, tolerance);
}

#[test]
fn densities_with_missing_values_are_those_of_scipy() {
    for case in list(&golden("tails")["densities"]) {
        let t = MultivariateStudentT {
            degrees: number(&case["degrees"]),
            gaussian: MultivariateGaussian {
                mean: numbers(&case["location"]),
                covariance: Covariance::Full(numbers(&case["scale"])),
            },
        };
        let columns = columns(&case["x"]).into_iter().map(Column::from_numbers);
        let columns: Vec<Column> = columns.collect();
        let rows = list(&case["x"]).len();
        let cells: Vec<Cells> = columns.iter().map(|column| column.cells(0, rows)).collect();
        let mut obtained = vec![0.0; rows];
        t.add_log_density(&Rows::new(&cells), &mut obtained);
        assert_all_close(&obtained, &numbers(&case["log_density"]), 1e-10);
    }
}

#[test]
fn one_component_reaches_the_maximum_found_by_an_optimizer() {
    for case in list(&golden("tails")["single"]) {
        let degrees = case["given"].as_f64();
        let fit = fitted(case, 1, Tails::StudentT { degrees });
        assert!(fit.monotone);
        assert_eq!(fit.parameters, 5 + usize::from(degrees.is_none()));
        assert_close(fit.log_likelihood, number(&case["log_likelihood"]), 1e-9);
        let obtained = component(&fit, 0);
        assert_component(
            obtained,
            &case["location"],
            &case["scale"],
            number(&case["degrees"]),
        );
    }
}

#[test]
fn two_components_reach_the_maximum_found_by_an_optimizer() {
    let golden = golden("tails");
    let case = &golden["mixture"];
    let fit = fitted(case, 2, Tails::StudentT { degrees: None });
    assert!(fit.monotone);
    assert_eq!(fit.parameters, 13);
    assert_close(fit.log_likelihood, number(&case["log_likelihood"]), 1e-9);
    let first = |j: usize| component(&fit, j).gaussian.mean[0];
    let order = if first(0) < first(1) { [0, 1] } else { [1, 0] };
    for (expected, found) in order.into_iter().enumerate() {
        let weight = fit.mixture.parameters.weights[found];
        assert_close(weight, number(&case["weights"][expected]), 1e-4);
        let (location, scale) = (&case["location"][expected], &case["scale"][expected]);
        let degrees = number(&case["degrees"][expected]);
        assert_component(component(&fit, found), location, scale, degrees);
    }
}
