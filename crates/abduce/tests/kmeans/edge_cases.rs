//! Edge cases: identical rows, constant columns, extreme values, interrupted fits.

use super::*;
use abduce::Progress;
use abduce::ask::Predict;
use abduce::model::kmeans::{Distance, Recipe};
use abduce::store::Model;

fn numbers(cells: &[f64]) -> Vec<Row> {
    cells.iter().map(|x| vec![Some(*x)]).collect()
}

fn converged_fit(rows: &[Row], k: usize) -> Fit {
    let fit = fitted(&Specification::new(k), rows, &Options::default());
    let labels = fit.model.posterior(&table(rows, None).chunks()[0]).unwrap();
    assert_eq!(labels.rows(), rows.len());
    assert!(fit.monotone && fit.converged);
    fit
}

#[test]
fn identical_rows_are_one_cluster() {
    let fit = converged_fit(&vec![vec![Some(3.0), Some(-1.0)]; 50], 4);
    assert_eq!(fit.model.centres, [[3.0, -1.0]]);
    assert_eq!(fit.inertia, 0.0);
    assert!(fit.warnings[0].contains("1 of 4 clusters"));
    assert!(fit.model.gaussians().is_err());
}

#[test]
fn more_clusters_than_rows_give_one_cluster_per_row() {
    let fit = converged_fit(&numbers(&[1.0, 5.0, 9.0]), 10);
    assert_eq!(fit.model.centres, [[1.0], [5.0], [9.0]]);
    assert_eq!(fit.inertia, 0.0);
}

#[test]
fn one_row_is_one_cluster() {
    assert_eq!(converged_fit(&numbers(&[7.5]), 1).model.centres, [[7.5]]);
}

#[test]
fn ten_identical_points_per_cluster_are_found() {
    let cells: Vec<f64> = (0..50).map(|i| f64::from(i / 10) * 3.0).collect();
    let fit = converged_fit(&numbers(&cells), 5);
    assert_eq!(fit.inertia, 0.0);
    assert_eq!(fit.model.sizes, [10.0; 5]);
}

#[test]
fn a_far_outlier_beside_a_constant_column_is_a_cluster_of_its_own() {
    let mut rows: Vec<Row> = (clustered(200, 2, 2, 1).into_iter())
        .map(|mut row| {
            row.push(Some(1e6));
            row
        })
        .collect();
    rows.push(vec![Some(1e9), Some(-1e9), Some(1e6)]);
    let fit = converged_fit(&rows, 3);
    assert_eq!(fit.model.sizes.iter().sum::<f64>(), 201.0);
    assert_eq!(fit.model.sizes[2], 1.0);
}

#[test]
fn more_columns_than_rows_can_be_fitted() {
    let fit = converged_fit(&clustered(12, 40, 3, 1), 3);
    assert_eq!(fit.model.centres[0].len(), 40);
    assert_eq!(fit.model.sizes.iter().sum::<f64>(), 12.0);
}

#[test]
fn values_whose_squares_overflow_or_underflow_are_clustered_alike() {
    let plain = converged_fit(&numbers(&[1.0, 1.5, 8.0, 9.0]), 2);
    for scale in [1e300, 1e-300] {
        let cells: Vec<f64> = [1.0, 1.5, 8.0, 9.0].iter().map(|x| x * scale).collect();
        let fit = converged_fit(&numbers(&cells), 2);
        assert_eq!(fit.model.sizes, plain.model.sizes);
        for (a, b) in fit.model.centres.iter().zip(&plain.model.centres) {
            assert_close(a[0], b[0] * scale, 1e-12);
        }
    }
}

#[test]
fn empty_rows_and_columns_change_nothing() {
    let mut rows: Vec<Row> = numbers(&[1.0, 2.0, 10.0, 11.0, 12.0]);
    let plain = converged_fit(&rows, 2);
    rows.push(vec![None]);
    let with_empty: Vec<Row> = rows.iter().map(|row| vec![row[0], None]).collect();
    let fit = converged_fit(&with_empty, 2);
    assert_eq!(fit.inertia, plain.inertia);
    assert_eq!(fit.model.sizes, plain.model.sizes);
    assert_eq!(fit.model.column_names(), ["x0"]);
    let posterior = fit
        .model
        .posterior(&table(&with_empty, None).chunks()[0])
        .unwrap();
    assert_eq!(posterior.best(5), 0);
    assert!(
        fit.warnings
            .iter()
            .any(|warning| warning.contains("without any value"))
    );
}

#[test]
fn data_that_cannot_be_fitted_are_an_error_with_the_reason() {
    let fails = |rows: &[Row], weights: Option<Vec<f64>>, k: usize| {
        let table = table(rows, weights);
        let options = Options::default();
        let error = fit(&Specification::new(k), &table, &options, Control::default()).unwrap_err();
        error.to_string()
    };
    assert!(fails(&[], None, 2).contains("no rows"));
    let one = numbers(&[1.0]);
    assert!(fails(&one, None, 0).contains("at least one cluster"));
    assert!(fails(&one, Some(vec![0.0]), 1).contains("weight 0"));
    assert!(fails(&[vec![None]], None, 1).contains("all values are missing"));
}

#[test]
fn initial_centres_of_the_wrong_shape_are_an_error() {
    let table = table(&numbers(&[1.0, 2.0]), None);
    for start in [vec![vec![1.0, 2.0]], vec![vec![f64::NAN]], vec![]] {
        let options = Options::default();
        let specification = Specification::new(1);
        let fit = fit_from(
            &specification,
            &table,
            Some(&start),
            &options,
            Control::default(),
        );
        assert!(fit.is_err());
    }
}

#[test]
fn files_round_trip_and_damaged_files_are_rejected() {
    let rows = with_missing_values(clustered(100, 2, 2, 1));
    let (specification, options) = (Specification::new(2), Options::default());
    let fit = fitted(&specification, &rows, &options);
    let log_likelihood = fit.model.log_likelihood(&table(&rows, None)).unwrap();
    let recipe = Recipe {
        kmeans: specification,
        kmeans_options: options,
    };
    let learned = fit.learned(recipe, Some(log_likelihood));
    let model = Model::new("kmeans", learned, Vec::new());
    let text = model.to_json().unwrap();
    let read = Model::from_json(&text).unwrap();
    assert_eq!(read.to_json().unwrap(), text);
    assert_eq!(read.provenance, model.provenance);
    let table = table(&rows, None);
    let chunk = &table.chunks()[0];
    assert_eq!(
        read.posterior(chunk).unwrap(),
        model.posterior(chunk).unwrap()
    );
    let bits = |model: &Model| model.joint().unwrap().log_density(chunk).unwrap();
    assert_eq!(bits(&read), bits(&model));
    for (from, to) in [
        ("\"power\": 1.0", "\"power\": 0.0"),
        ("\"sizes\": [", "\"sizes\": [1.0,"),
    ] {
        assert!(text.contains(from));
        assert!(
            Model::from_json(&text.replacen(from, to, 1)).is_err(),
            "{to}"
        );
    }
}

#[test]
fn an_interrupted_fit_returns_the_model_so_far() {
    let rows = clustered(3000, 2, 3, 1);
    let (start, table) = (first_rows(&rows, 9), table(&rows, None));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let watch = |progress| {
        if matches!(progress, Progress::Round { number: 2, .. }) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let control = Control {
        interrupt: Some(&stop),
        progress: Some(&watch),
    };
    for distance in [Distance::Euclidean, Distance::Manhattan] {
        stop.store(false, std::sync::atomic::Ordering::Relaxed);
        let specification = Specification {
            distance,
            ..Specification::new(9)
        };
        let options = Options::default();
        let fit = fit_from(&specification, &table, Some(&start), &options, control).unwrap();
        assert!(fit.interrupted && !fit.converged);
        assert_eq!((fit.iterations, fit.model.centres.len()), (2, 9));
        assert_eq!(fit.trace.len(), 3);
    }
}

#[test]
fn copies_of_a_few_rows_have_variance_0_not_rounding_error() {
    let places = [[0.1, 0.7], [1e3 / 3.0, 0.3], [-7.7, 1.0 / 3.0]];
    let rows = (0..99).map(|i| places[i % 3].map(Some).to_vec());
    let fit = converged_fit(&rows.collect::<Vec<Row>>(), 3);
    assert_eq!(fit.model.variance, 0.0, "inertia {:e}", fit.inertia);
    assert!(fit.monotone);
}

#[test]
fn rounding_of_directions_never_raises_the_inertia() {
    let offset = 1e12;
    let far = clustered(200, 3, 2, 4).into_iter();
    let far = far.map(|row| row.into_iter().map(|x| x.map(|x| x + offset)).collect());
    let rows: Vec<Row> = far.collect();
    let specification = Specification {
        distance: Distance::Cosine,
        ..Specification::new(2)
    };
    let fit = fitted(&specification, &rows, &Options::default());
    assert!(fit.monotone, "{:?}", fit.trace);
}
