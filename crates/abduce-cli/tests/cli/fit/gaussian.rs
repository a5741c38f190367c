//! `fit gaussian`.

use crate::run::{Files, abduce, data};

/// The rows of faithful.csv.
fn faithful() -> Vec<[f64; 2]> {
    let text = std::fs::read_to_string(data("faithful.csv")).unwrap();
    let numbers = |line: &str| -> [f64; 2] {
        let cells = line.split(',').map(|cell| cell.parse().unwrap());
        let cells: Vec<f64> = cells.collect();
        [cells[0], cells[1]]
    };
    text.lines().skip(1).map(numbers).collect()
}

#[test]
fn the_likelihood_of_complete_rows_is_that_of_the_sample_covariance() {
    let rows = faithful();
    let n = rows.len() as f64;
    let mean = [0, 1].map(|c| rows.iter().map(|row| row[c]).sum::<f64>() / n);
    let moment = |a: usize, b: usize| {
        let products = rows
            .iter()
            .map(|row| (row[a] - mean[a]) * (row[b] - mean[b]));
        products.sum::<f64>() / n
    };
    let determinant = moment(0, 0) * moment(1, 1) - moment(0, 1).powi(2);
    let expected = -0.5 * n * (2.0 * (1.0 + std::f64::consts::TAU.ln()) + determinant.ln());
    let fit = [
        "fit",
        "gaussian",
        &data("faithful.csv"),
        "--variance-floor",
        "0",
        "--json",
    ];
    let fitted = abduce(&fit).succeeds().json();
    let log_likelihood = fitted["log_likelihood"].as_f64().unwrap();
    assert!((log_likelihood - expected).abs() < 1e-9 * expected.abs());
    assert_eq!(fitted["parameters"], 5);
    assert_eq!(fitted["model"], "gaussian");
}

#[test]
fn missing_values_are_imputed_by_regression() {
    let files = Files::new();
    // The maximum for a monotone pattern (Anderson 1957): the moments of x from all rows, the
    // regression of y on x from the complete rows.
    let table = files.write(
        "t.csv",
        "x,y\n1.5,2.1\n2.5,5.1\n3.5,5.1\n4.5,9.1\n6.5,\n9.5,\n",
    );
    let model = files.path("model.abduce");
    let fit = [
        "fit",
        "gaussian",
        &table,
        "--variance-floor",
        "0",
        "--tol",
        "1e-14",
    ];
    abduce(&[&fit[..], &["-o", &model]].concat()).succeeds();
    let filled = abduce(&["impute", &model, &table]).succeeds().stdout;
    let last: Vec<f64> = filled
        .lines()
        .last()
        .unwrap()
        .split(',')
        .map(|x| x.parse().unwrap())
        .collect();
    // The regression line is y = -0.95 + 2.1 x.
    assert!((last[1] - (-0.95 + 2.1 * 9.5)).abs() < 1e-5, "{filled}");
    let shown = abduce(&["show", &model, "--json"]).succeeds().json();
    let parameters = &shown["body"]["parameters"]["leaves"][0][0];
    let mean = parameters["mean"].as_array().unwrap();
    assert!((mean[0].as_f64().unwrap() - 28.0 / 6.0).abs() < 1e-12);
    assert!((mean[1].as_f64().unwrap() - (-0.95 + 2.1 * 28.0 / 6.0)).abs() < 1e-5);
}

#[test]
fn the_evaluated_likelihood_is_near_that_of_the_fit() {
    let outcome = abduce(&["evaluate", "gaussian", &data("faithful.csv"), "--json"]).succeeds();
    assert!(outcome.json()["log_likelihood"]["all"].as_f64().unwrap() < 0.0);
}

#[test]
fn columns_that_are_not_numbers_are_an_error() {
    let outcome = abduce(&["fit", "gaussian", &data("penguins.csv")]);
    outcome.fails(
        2,
        &["column \"species\"", "needs numeric columns", "--drop"],
    );
}
