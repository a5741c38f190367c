//! Densities fitted to tables: their queries, their errors, and degenerate tables.

use super::{histogram, mixture_log_density, rng};
use abduce::Control;
use abduce::ask::{Conditional, Joint, Predict};
use abduce::data::{Chunk, Column, Field, Kind, Schema, Table};
use abduce::density::{BandwidthShape, Kernel, Rule, Selection};
use abduce::family::Fill;
use abduce::model::density::{DensityModel, Estimator, Fit, Recipe, Specification, fit};
use abduce::store::Model;

fn schema() -> Schema {
    Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::new("y", Kind::Real),
        Field::with_levels("z", Kind::Categorical, ["a", "b"]),
    ])
}

/// Two clusters of correlated columns, and a missing value in each column.
fn table(rows: usize) -> Table {
    let wave = |i: usize, f: f64| (i as f64 * f).sin() + (i as f64 * f * 1.7).cos();
    let label = |i: usize| u32::from(i.is_multiple_of(3));
    let x = |i: usize| wave(i, 0.9) + 4.0 * f64::from(label(i));
    let y = |i: usize| 0.5 * x(i) + wave(i, 2.3);
    let columns = vec![
        Column::from_numbers((0..rows).map(|i| (i != 5).then(|| x(i)))),
        Column::from_numbers((0..rows).map(|i| (i != 8).then(|| y(i)))),
        Column::from_codes((0..rows).map(|i| (i != 11).then(|| label(i)))),
    ];
    Table::new(schema(), columns, None).unwrap()
}

fn kde(kernel: Kernel, shape: BandwidthShape) -> Estimator {
    let selection = Selection {
        shape,
        ..Selection::default()
    };
    Estimator::Kde { kernel, selection }
}

fn fitted(estimator: Estimator) -> Fit {
    let specification = Specification {
        target: Some("z".into()),
        estimator,
    };
    fit(&specification, &table(120), Control::default()).unwrap()
}

/// Every density that can be integrated.
fn proper() -> Vec<DensityModel> {
    let kernels = Kernel::ALL.iter().flat_map(|(kernel, _)| {
        [BandwidthShape::Diagonal, BandwidthShape::Full].map(|shape| kde(*kernel, shape))
    });
    let all = kernels.chain([histogram(0.0), histogram(1.0)]);
    all.map(|estimator| fitted(estimator).model).collect()
}

fn row(x: Option<f64>, y: Option<f64>, z: Option<u32>) -> Chunk {
    let columns = vec![
        Column::from_numbers([x]),
        Column::from_numbers([y]),
        Column::from_codes([z]),
    ];
    Chunk::new(1, columns, None)
}

fn log_density(model: &DensityModel, x: Option<f64>, y: Option<f64>, z: Option<u32>) -> f64 {
    model.log_density(&row(x, y, z)).unwrap()[0]
}

#[test]
fn rows_with_missing_values_or_without_a_label_are_left_out_and_counted() {
    let fit = fitted(kde(Kernel::Gaussian, BandwidthShape::Diagonal));
    assert_eq!(fit.rows, 117);
    assert!(
        fit.warnings[0].starts_with("2 rows have a missing value"),
        "{:?}",
        fit.warnings
    );
    assert!(
        fit.warnings[1].starts_with("1 row has no label"),
        "{:?}",
        fit.warnings
    );
    assert!(fit.log_likelihood.is_finite());
}

#[test]
fn missing_values_are_integrated_out() {
    for model in proper() {
        for x in [0.3, 3.9] {
            let seen = log_density(&model, Some(x), None, None).exp();
            let (steps, start, end) = (4000, -40.0, 40.0);
            let width = (end - start) / f64::from(steps);
            let sum: f64 = (0..steps)
                .map(|i| start + (f64::from(i) + 0.5) * width)
                .map(|y| log_density(&model, Some(x), Some(y), None).exp() * width)
                .sum();
            // The grid is coarse at the edges of top-hat kernels and bins.
            assert!((seen / sum - 1.0).abs() < 0.03, "{seen} {sum}");
            let labels: f64 = (0..2)
                .map(|z| log_density(&model, Some(x), None, Some(z)).exp())
                .sum();
            assert!((labels / seen - 1.0).abs() < 1e-9);
        }
        assert!(log_density(&model, None, None, None).abs() < 1e-12);
    }
}

#[test]
fn draws_have_the_conditional_means_and_label_probabilities() {
    for model in proper() {
        let given = [Some(2.0), None, None];
        let drawn = model.sample(&given, 4000, &mut rng()).unwrap();
        let y = drawn.column(1).cells(0, 4000).reals().to_vec();
        let mean = y.iter().sum::<f64>() / 4000.0;
        let expected = model
            .complete(&row(Some(2.0), None, None), Fill::Mean, &mut rng())
            .unwrap();
        let expected = expected.column(1).cells(0, 1).reals()[0];
        let spread = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        assert!(
            (mean - expected).abs() < 5.0 * spread / 4000f64.sqrt(),
            "{mean} {expected}"
        );
        let posterior = model.posterior(&row(Some(2.0), None, Some(1))).unwrap();
        let share = drawn.column(2).cells(0, 4000).codes().iter().sum::<u32>() as f64 / 4000.0;
        assert!(
            (share - posterior.row(0)[1]).abs() < 0.04,
            "{share} {posterior:?}"
        );
        for how in [Fill::Mode, Fill::Draw] {
            let filled = model
                .complete(&row(None, Some(1.0), None), how, &mut rng())
                .unwrap();
            let x = filled.column(0).cells(0, 1).reals()[0];
            assert_eq!(filled.column(1).cells(0, 1).reals(), [1.0]);
            let z = filled.column(2).cells(0, 1).codes()[0];
            assert!(log_density(&model, Some(x), Some(1.0), Some(z)).is_finite());
        }
    }
}

#[test]
fn conditional_density_of_gaussian_kernels_is_joint_over_marginal() {
    for shape in [BandwidthShape::Diagonal, BandwidthShape::Full] {
        let model = fitted(kde(Kernel::Gaussian, shape)).model;
        let Conditional::Numbers(parts) = model.condition(&[Some(1.0), None, None], 1).unwrap()
        else {
            panic!("expected a numeric conditional");
        };
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        assert!((total - 1.0).abs() < 1e-12);
        for y in [-0.5, 0.7, 2.0] {
            let mixed = mixture_log_density(&parts, y);
            let expected = log_density(&model, Some(1.0), Some(y), None)
                - log_density(&model, Some(1.0), None, None);
            assert!((mixed - expected).abs() < 1e-6, "{mixed} {expected}");
        }
    }
}

#[test]
fn nearest_neighbours_classify_and_reject_unsupported_queries() {
    let model = fitted(Estimator::Knn {
        neighbours: Some(5),
    })
    .model;
    let near_b = model.posterior(&row(Some(5.0), Some(2.5), None)).unwrap();
    assert_eq!(near_b.best(0), 1);
    for error in [
        model.log_density(&row(Some(1.0), None, None)).unwrap_err(),
        model
            .sample(&[None, None, None], 0, &mut rng())
            .unwrap_err(),
        model
            .complete(&row(None, None, Some(0)), Fill::Mean, &mut rng())
            .unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("cannot be integrated"),
            "{error}"
        );
    }
    assert!(log_density(&model, None, None, None).abs() < 1e-12);
}

#[test]
fn files_round_trip_and_damaged_files_are_rejected() {
    let estimators = [
        kde(Kernel::Cosine, BandwidthShape::Full),
        histogram(0.5),
        Estimator::Knn { neighbours: None },
    ];
    for estimator in estimators {
        let specification = Specification {
            target: Some("z".into()),
            estimator,
        };
        let fit = fit(&specification, &table(120), Control::default()).unwrap();
        let recipe = Recipe {
            density: specification,
        };
        let model = Model::new("test", fit.learned(recipe), vec![]);
        let text = model.to_json().unwrap();
        let back = Model::from_json(&text).unwrap();
        assert_eq!(back.to_json().unwrap(), text);
        let query = row(Some(1.0), Some(1.5), None);
        let before = model.joint().unwrap().log_density(&query).unwrap();
        assert_eq!(before, back.joint().unwrap().log_density(&query).unwrap());
        assert!(Model::from_json(&text.replacen("\"target\": 2", "\"target\": 1", 1)).is_err());
        assert!(
            Model::from_json(&text.replacen("\"columns\": [\n      0,", "\"columns\": [\n", 1))
                .is_err()
        );
    }
}

#[test]
fn degenerate_tables_have_finite_densities() {
    let one = |x: Vec<f64>| vec![x.clone(), x];
    let tables = [
        one(vec![1.0]),
        one(vec![0.0, 0.0]),
        one(vec![3.0; 20]),
        vec![(0..30).map(f64::from).collect(), vec![7.0; 30]],
        one(vec![1e140, -1e140, 0.0]),
        one(vec![1e-300, 2e-300, 5e-300]),
        one(vec![1.0, 1.0, 1.0, 1.0, 1e9]),
    ];
    let rules = [Rule::Scott, Rule::Silverman, Rule::Cv, Rule::Number(2.0)];
    for columns in tables {
        let n = columns[0].len();
        for target in [None, Some("z".to_string())] {
            let mut cells: Vec<Column> = columns
                .iter()
                .map(|column| Column::from_numbers(column.iter().copied().map(Some)))
                .collect();
            let mut schema = schema();
            match target {
                Some(_) => cells.push(Column::from_codes((0..n).map(|i| Some(i as u32 % 2)))),
                None => schema.fields.truncate(2),
            }
            let table = Table::new(schema, cells, None).unwrap();
            let kernels = Kernel::ALL.iter().flat_map(|(kernel, _)| {
                rules.map(|rule| {
                    let selection = Selection {
                        rule,
                        ..Selection::default()
                    };
                    Estimator::Kde {
                        kernel: *kernel,
                        selection,
                    }
                })
            });
            let others = [
                histogram(0.0),
                histogram(1.0),
                Estimator::Knn { neighbours: None },
            ];
            for estimator in kernels.chain(others) {
                let specification = Specification {
                    target: target.clone(),
                    estimator,
                };
                let fit = match fit(&specification, &table, Control::default()) {
                    Ok(fit) => fit,
                    // A bandwidth of 2 is too small for values of 1e140.
                    Err(error) => {
                        assert!(error.to_string().contains("too small"), "{error}");
                        continue;
                    }
                };
                assert!(!fit.log_likelihood.is_nan(), "{specification:?}");
                let chunk = &table.chunks()[0];
                let densities = fit.model.log_density(chunk).unwrap();
                assert!(
                    densities.iter().all(|l| l.is_finite()),
                    "{specification:?} {densities:?}"
                );
                let posterior = fit.model.posterior(chunk).unwrap();
                assert!((posterior.row(0).iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn tables_without_complete_labelled_rows_are_an_error() {
    let specification = Specification {
        target: Some("z".into()),
        estimator: histogram(0.0),
    };
    let text = |columns: Vec<Column>| {
        let table = Table::new(schema(), columns, None).unwrap();
        fit(&specification, &table, Control::default())
            .unwrap_err()
            .to_string()
    };
    let numbers = |cells: &[Option<f64>]| Column::from_numbers(cells.iter().copied());
    let empty = || Column::from_numbers([]);
    assert!(text(vec![empty(), empty(), Column::from_codes([])]).contains("no rows"));
    let incomplete = vec![
        numbers(&[None]),
        numbers(&[Some(1.0)]),
        Column::from_codes([Some(0)]),
    ];
    assert!(text(incomplete).contains("missing value"));
    let unlabelled = vec![
        numbers(&[Some(1.0)]),
        numbers(&[Some(1.0)]),
        Column::from_codes([None]),
    ];
    assert!(text(unlabelled).contains("label"));
    let untargeted = Specification {
        target: None,
        ..specification
    };
    let error = fit(&untargeted, &table(10), Control::default()).unwrap_err();
    assert_eq!(error.column(), Some("z"));
    assert!(error.to_string().contains("`drop=z`"), "{error}");
}
