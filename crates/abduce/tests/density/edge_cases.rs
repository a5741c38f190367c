//! Edge cases of class densities: classes without complete rows, points of density 0,
//! constant columns.

use super::{histogram, mixture_log_density, rng};
use abduce::Control;
use abduce::ask::{Conditional, Joint, Predict};
use abduce::data::{Chunk, Column, Field, Kind, Schema, Table};
use abduce::density::{BandwidthShape, Kernel, Rule, Selection};
use abduce::family::Fill;
use abduce::model::density::{DensityModel, Estimator, Fit, Specification, fit};

type Row = (Option<f64>, Option<f64>, Option<u32>);

fn chunk(rows: &[Row]) -> Chunk {
    let columns = vec![
        Column::from_numbers(rows.iter().map(|row| row.0)),
        Column::from_numbers(rows.iter().map(|row| row.1)),
        Column::from_codes(rows.iter().map(|row| row.2)),
    ];
    Chunk::new(rows.len(), columns, None)
}

fn fitted(estimator: Estimator, rows: &[Row], weights: Option<Vec<f64>>) -> Fit {
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::new("y", Kind::Real),
        Field::with_levels("z", Kind::Categorical, ["a", "b", "c"]),
    ]);
    let columns = chunk(rows).columns().to_vec();
    let table = Table::new(schema, columns, weights).unwrap();
    let specification = Specification {
        target: Some("z".into()),
        estimator,
    };
    fit(&specification, &table, Control::default()).unwrap()
}

fn kde(kernel: Kernel, rule: Rule) -> Estimator {
    let selection = Selection {
        rule,
        shape: match rule {
            Rule::Number(_) => BandwidthShape::Diagonal,
            _ => BandwidthShape::Full,
        },
    };
    Estimator::Kde { kernel, selection }
}

const KNN: Estimator = Estimator::Knn { neighbours: None };

/// Two classes of ten rows, separated along x; b has two missing values. The one row of c
/// has a missing value.
fn rows() -> Vec<Row> {
    let y = |i: u32| Some((f64::from(i) * 1.3).sin() + 0.3 * f64::from(i));
    let of_a = (0..10).map(|i| (Some(f64::from(i) * 0.1), y(i), Some(0)));
    let of_b = (0..10).map(|i| (Some(5.0 + f64::from(i) * 0.1), y(i), Some(1)));
    let mut rows: Vec<Row> = of_a.chain(of_b).collect();
    rows[13].1 = None;
    rows[17].0 = None;
    rows.push((Some(2.0), None, Some(2)));
    rows
}

fn log_density(model: &DensityModel, row: Row) -> f64 {
    model.log_density(&chunk(&[row])).unwrap()[0]
}

#[test]
fn rows_with_missing_values_count_in_class_weights() {
    for estimator in [kde(Kernel::Gaussian, Rule::Scott), histogram(1.0), KNN] {
        let fit = fitted(estimator, &rows(), None);
        assert_eq!(fit.model.weights, [0.5, 0.5, 0.0]);
        assert_eq!((fit.rows, fit.weight), (18, 18.0));
        let empty_row = fit.model.posterior(&chunk(&[(None, None, None)])).unwrap();
        assert_eq!(empty_row.row(0), [0.5, 0.5, 0.0]);
    }
}

#[test]
fn a_class_without_complete_rows_has_density_0_and_is_imputed_from_all_rows() {
    for estimator in [kde(Kernel::Gaussian, Rule::Scott), histogram(1.0)] {
        let model = fitted(estimator, &rows(), None).model;
        assert_eq!(
            log_density(&model, (Some(5.1), Some(1.0), Some(2))),
            f64::NEG_INFINITY
        );
        assert_eq!(
            log_density(&model, (None, None, Some(2))),
            f64::NEG_INFINITY
        );
        assert!(
            model
                .sample(&[None, None, Some(2.0)], 3, &mut rng())
                .is_err()
        );
        for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
            let labelled = chunk(&[(Some(5.1), None, Some(2))]);
            let unlabelled = chunk(&[(Some(5.1), None, None)]);
            let y = |rows: &Chunk| {
                let filled = model.complete(rows, how, &mut rng()).unwrap();
                filled.column(1).cells(0, 1).reals()[0]
            };
            assert_eq!(y(&labelled), y(&unlabelled));
            let filled = model.complete(&labelled, how, &mut rng()).unwrap();
            assert_eq!(filled.column(2).cells(0, 1).codes(), [2]);
        }
    }
}

#[test]
fn observed_values_of_density_0_are_ignored_by_imputation() {
    for estimator in [
        kde(Kernel::Epanechnikov, Rule::Scott),
        kde(Kernel::Tophat, Rule::Number(0.5)),
        histogram(0.0),
    ] {
        let model = fitted(estimator, &rows(), None).model;
        for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
            let y = |x: Option<f64>| {
                let row = chunk(&[(x, None, Some(0))]);
                let filled = model.complete(&row, how, &mut rng()).unwrap();
                filled.column(1).cells(0, 1).reals()[0]
            };
            let far = y(Some(1e6));
            assert!((-3.0..6.0).contains(&far), "{estimator:?} {how:?}: {far}");
            if how != Fill::Draw {
                assert_eq!(far, y(None));
            }
        }
    }
    // An observed value in an empty bin: imputation uses the whole range.
    let model = fitted(histogram(1.0), &rows(), None).model;
    let empty = chunk(&[(Some(3.0), None, Some(0))]);
    let mode = model.complete(&empty, Fill::Mode, &mut rng()).unwrap();
    let mean = model.complete(&empty, Fill::Mean, &mut rng()).unwrap();
    assert_eq!(
        mode.column(1).cells(0, 1).reals(),
        mean.column(1).cells(0, 1).reals()
    );
}

#[test]
fn extreme_points_have_density_0_and_never_nan() {
    for estimator in [
        kde(Kernel::Gaussian, Rule::Scott),
        kde(Kernel::Gaussian, Rule::Number(1e-140)),
        kde(Kernel::Exponential, Rule::Number(1e-140)),
        histogram(0.0),
        KNN,
    ] {
        let model = fitted(estimator, &rows(), None).model;
        for place in [(1e300, 1e300), (1e300, -1e300), (f64::MAX, 0.0)] {
            let row = (Some(place.0), Some(place.1), None);
            assert_eq!(log_density(&model, row), f64::NEG_INFINITY, "{estimator:?}");
            let posterior = model.posterior(&chunk(&[row])).unwrap();
            assert_eq!(posterior.row(0), model.weights);
        }
        if estimator != KNN {
            let far = chunk(&[(Some(1e300), None, None), (Some(f64::MAX), None, Some(1))]);
            let filled = model.complete(&far, Fill::Mean, &mut rng()).unwrap();
            assert!(
                filled
                    .column(1)
                    .cells(0, 2)
                    .reals()
                    .iter()
                    .all(|y| y.is_finite())
            );
        }
    }
}

#[test]
fn conditional_density_of_histograms_is_joint_over_marginal() {
    let model = fitted(histogram(1.0), &rows(), None).model;
    let Conditional::Numbers(parts) = model.condition(&[Some(0.4), None, None], 1).unwrap() else {
        panic!("numbers were query for");
    };
    for y in [0.1, 1.2, 2.2] {
        let mixed = mixture_log_density(&parts, y);
        let expected = log_density(&model, (Some(0.4), Some(y), None))
            - log_density(&model, (Some(0.4), None, None));
        assert!((mixed - expected).abs() < 1e-12, "{mixed} {expected}");
    }
}

#[test]
fn a_number_too_large_is_reported_with_its_column() {
    let mut with_outlier = rows();
    with_outlier[4].1 = Some(1e200);
    let table = Table::new(
        Schema::new(vec![
            Field::new("x", Kind::Real),
            Field::new("y", Kind::Real),
        ]),
        chunk(&with_outlier).columns()[..2].to_vec(),
        None,
    );
    let specification = Specification {
        target: None,
        estimator: KNN,
    };
    let error = fit(&specification, &table.unwrap(), Control::default()).unwrap_err();
    assert_eq!(error.column(), Some("y"));
}

#[test]
fn all_columns_that_are_not_numeric_are_named_with_the_option_that_drops_them() {
    let fields = [
        Field::new("x", Kind::Real),
        Field::with_levels("island", Kind::Categorical, ["a", "b"]),
        Field::with_levels("sex", Kind::Binary, ["f", "m"]),
        Field::with_levels("a, b", Kind::Ordinal, ["1", "2"]),
    ];
    let text = |kept: usize| {
        let schema = Schema::new(fields[..kept].to_vec());
        let specification = Specification {
            target: None,
            estimator: KNN,
        };
        specification.columns(&schema).unwrap_err().to_string()
    };
    assert!(
        text(3).contains("island (categorical), sex (binary)"),
        "{}",
        text(3)
    );
    assert!(text(3).contains("`drop=island,sex`,"), "{}", text(3));
    assert!(
        text(4).contains("`drop='island,sex,\"a, b\"'`,"),
        "{}",
        text(4)
    );
}

fn warnings(estimator: Estimator, rows: &[Row]) -> String {
    fitted(estimator, rows, None).warnings.join("\n")
}

#[test]
fn constant_classes_and_columns_are_reported() {
    let one: [Row; 1] = [(Some(1.0), Some(2.0), Some(0))];
    let equal: [Row; 4] = [(Some(1.0), Some(2.0), Some(0)); 4];
    let mut with_single_row = rows();
    with_single_row.push((Some(9.0), Some(9.0), Some(2)));
    let mut with_constant = rows();
    with_constant.iter_mut().for_each(|row| row.1 = Some(3.0));
    for estimator in [kde(Kernel::Gaussian, Rule::Scott), histogram(1.0), KNN] {
        for rows in [&one[..], &equal] {
            let text = warnings(estimator, rows);
            assert!(text.contains("and so no variance: class \"a\""), "{text}");
            assert!(text.contains("constant"), "{text}");
        }
        let text = warnings(estimator, &with_single_row);
        assert!(text.contains("and so no variance: class \"c\""), "{text}");
        let text = warnings(estimator, &with_constant);
        let left_out = "constant, and left out of densities: column \"y\"";
        assert!(text.contains(left_out), "{text}");
        let text = warnings(estimator, &rows());
        assert!(!text.contains("spread"), "{text}");
    }
}

#[test]
fn bandwidth_rules_without_a_solution_are_reported() {
    let mut copies = rows();
    copies.retain(|row| row.0.is_some() && row.1.is_some());
    copies = [copies.clone(), copies.clone(), copies].concat();
    let selection = Selection {
        rule: Rule::Cv,
        ..Selection::default()
    };
    let cv = Estimator::Kde {
        kernel: Kernel::Gaussian,
        selection,
    };
    let text = warnings(cv, &copies);
    assert!(
        text.contains("Scott's rule: class \"a\", class \"b\""),
        "{text}"
    );
    assert!(!warnings(cv, &rows()).contains("Scott"));
}

#[test]
fn more_neighbours_than_rows_use_all_rows_and_give_a_warning() {
    let knn = |neighbours| Estimator::Knn {
        neighbours: Some(neighbours),
    };
    let fit = fitted(knn(9), &rows(), None);
    let text = fit.warnings.join("\n");
    assert!(
        text.contains("all of them are counted: class \"b\""),
        "{text}"
    );
    let all = fitted(knn(8), &rows(), None);
    assert!(!all.warnings.join("\n").contains("`neighbours`"));
    let place = (Some(4.0), Some(1.0), Some(1));
    assert_eq!(
        log_density(&fit.model, place),
        log_density(&all.model, place)
    );
}

#[test]
fn nearest_neighbours_reject_partly_missing_rows() {
    let query = chunk(&[
        (Some(1.0), None, None),
        (Some(1.0), Some(2.0), None),
        (None, None, Some(0)),
        (None, Some(1.0), Some(1)),
    ]);
    let neighbours = fitted(KNN, &rows(), None).model;
    assert_eq!(neighbours.unanswerable(&query), [0, 3]);
    let others = query.take(&[1, 2]);
    assert!(neighbours.log_density(&others).is_ok() && neighbours.log_density(&query).is_err());
    let kernels = fitted(kde(Kernel::Gaussian, Rule::Scott), &rows(), None).model;
    assert!(kernels.unanswerable(&query).is_empty());
}

#[test]
fn integer_weights_equal_repeated_rows() {
    let rows = rows();
    let weights: Vec<f64> = (0..rows.len()).map(|i| (1 + i % 2) as f64).collect();
    let second = rows.iter().enumerate().filter(|(i, _)| i % 2 == 1);
    let repeated: Vec<Row> = rows
        .iter()
        .copied()
        .chain(second.map(|(_, row)| *row))
        .collect();
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * (1.0 + b.abs());
    for estimator in [
        kde(Kernel::Gaussian, Rule::Scott),
        kde(Kernel::Cosine, Rule::Cv),
        histogram(1.0),
        KNN,
    ] {
        let weighted = fitted(estimator, &rows, Some(weights.clone()));
        let repeated = fitted(estimator, &repeated, None);
        assert!(near(weighted.weight, repeated.weight));
        assert!(
            near(weighted.log_likelihood, repeated.log_likelihood),
            "{estimator:?}"
        );
        for row in [
            (Some(1.0), Some(1.0), None),
            (Some(5.2), Some(2.0), Some(1)),
        ] {
            let (a, b) = (
                log_density(&weighted.model, row),
                log_density(&repeated.model, row),
            );
            assert!(near(a, b), "{estimator:?}: {a} {b}");
        }
    }
}

#[test]
fn a_histogram_of_many_columns_and_few_rows_gives_a_warning() {
    let names = ["a", "b", "c", "d", "e"];
    let fields = names.map(|name| Field::new(name, Kind::Real)).to_vec();
    let column = |c: u32| Column::from_numbers((0..40).map(|i| Some(f64::from(i * i % (11 + c)))));
    let table = Table::new(Schema::new(fields), (0..5).map(column).collect(), None).unwrap();
    let specification = Specification {
        target: None,
        estimator: histogram(1.0),
    };
    let text = fit(&specification, &table, Control::default())
        .unwrap()
        .warnings
        .join("; ");
    assert!(
        text.contains("a joint histogram of 5 columns is empty nearly everywhere"),
        "{text}"
    );
}
