//! Edge cases (identical rows, empty columns, collinear columns, extreme values): each gives a
//! valid model or a clear error; no answer is NaN and probabilities stay in [0, 1].

use crate::common::real_table;
use abduce::ErrorKind;
use abduce::ask::{Joint, Predict};
use abduce::data::{Chunk, Column, Field, Kind, Schema, Source, Table};
use abduce::family::{Distribution, Fill};
use abduce::learn::{EStep, EmOptions};
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Reals, Specification, fit};
use abduce::{Control, Progress};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::{AtomicBool, Ordering};

const KINDS: [CovarianceKind; 14] = CovarianceKind::ALL;

fn reals(columns: &[Vec<Option<f64>>]) -> Table {
    real_table(columns.iter().map(|c| c.iter().copied()), None)
}

fn labelled(columns: &[Vec<Option<f64>>], labels: &[Option<u32>], levels: usize) -> Table {
    let table = reals(columns);
    let mut fields = table.schema().fields.clone();
    fields.push(Field::with_levels(
        "y",
        Kind::Categorical,
        (0..levels).map(|l| format!("class {l}")),
    ));
    let mut all: Vec<Column> = (0..columns.len()).map(|c| table.column(c)).collect();
    all.push(Column::from_codes(labels.iter().copied()));
    Table::new(Schema::new(fields), all, None).unwrap()
}

fn learn(specification: &Specification, table: &Table) -> Fit {
    fit(
        specification,
        table,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap()
}

fn assert_valid(fit: &Fit, table: &Table) {
    assert!(fit.monotone, "{:?}", fit.trace);
    assert!(!fit.log_likelihood.is_nan());
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for chunk in table.chunks() {
        let densities = fit.mixture.log_density(chunk).unwrap();
        assert!(densities.iter().all(|l| !l.is_nan()), "{densities:?}");
        let posterior = fit.mixture.posterior(chunk).unwrap();
        for row in 0..chunk.rows() {
            let p = posterior.row(row);
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{p:?}");
        }
        for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
            let filled = fit.mixture.complete(chunk, how, &mut rng).unwrap();
            for leaf in &fit.mixture.leaves {
                let mut columns = leaf.columns.iter();
                assert!(columns.all(|c| filled.column(*c).nulls().is_none()));
            }
            let finite = |c: &Column| match c {
                Column::Real { values, .. } => values.iter().all(|x| x.is_finite()),
                Column::Code { .. } | Column::Text { .. } => true,
            };
            assert!(filled.columns().iter().all(finite));
        }
    }
    let text = serde_json::to_string(&fit.mixture)
        .unwrap()
        .replace("\"shape\":null", "");
    assert!(!text.contains("null"), "the model contains NaN or infinity");
}

fn assert_mixtures_valid(table: &Table, components: &[usize]) {
    for kind in KINDS {
        for k in components {
            for step in [EStep::Soft, EStep::Hard] {
                let em = EmOptions {
                    step,
                    ..EmOptions::default()
                };
                let options = FitOptions {
                    em,
                    restarts: 2,
                    ..FitOptions::default()
                };
                let fit = fit(
                    &Specification::mixture(*k, kind),
                    table,
                    &options,
                    Control::default(),
                )
                .unwrap_or_else(|e| panic!("{kind:?} {k} {step:?}: {e}"));
                assert_valid(&fit, table);
            }
        }
    }
}

fn assert_classifiers_valid(table: &Table) {
    let mut all = vec![Specification::naive_bayes("y")];
    all.extend(KINDS.map(|kind| Specification::gda("y", kind)));
    for specification in all {
        let fit = fit(
            &specification,
            table,
            &FitOptions::default(),
            Control::default(),
        )
        .unwrap_or_else(|e| panic!("{specification:?}: {e}"));
        assert_valid(&fit, table);
    }
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

#[test]
fn one_row_gives_valid_models() {
    assert_mixtures_valid(&reals(&[some(&[3.0]), some(&[4.0])]), &[1, 3]);
    assert_classifiers_valid(&labelled(&[some(&[3.0]), some(&[4.0])], &[Some(0)], 1));
}

#[test]
fn identical_rows_give_valid_models() {
    assert_mixtures_valid(
        &reals(&[vec![Some(2.5); 50], vec![Some(-1.0); 50]]),
        &[1, 2, 5],
    );
}

#[test]
fn more_components_than_rows_give_valid_models() {
    assert_mixtures_valid(
        &reals(&[some(&[1.0, 2.0, 9.0]), some(&[0.0, 1.0, 1.0])]),
        &[4, 10],
    );
}

#[test]
fn constant_and_duplicated_columns_give_valid_models() {
    let x: Vec<f64> = (0..60)
        .map(|i| (f64::from(i) * 0.7).sin() + f64::from(i % 2) * 5.0)
        .collect();
    let table = reals(&[some(&x), vec![Some(7.0); 60], some(&x)]);
    assert_mixtures_valid(&table, &[1, 2]);
    let labels: Vec<Option<u32>> = (0..60).map(|i| Some(i % 2)).collect();
    assert_classifiers_valid(&labelled(
        &[some(&x), vec![Some(7.0); 60], some(&x)],
        &labels,
        2,
    ));
}

#[test]
fn empty_rows_and_columns_give_valid_models() {
    let x: Vec<Option<f64>> = (0..40)
        .map(|i| (i % 5 != 0).then(|| f64::from(i)))
        .collect();
    let y: Vec<Option<f64>> = (0..40)
        .map(|i| (i % 5 != 0 && i % 3 != 0).then(|| f64::from(i * i)))
        .collect();
    let table = [x, y, vec![None; 40]];
    assert_mixtures_valid(&reals(&table), &[1, 2]);
    let labels: Vec<Option<u32>> = (0..40).map(|i| (i % 7 != 0).then_some(i / 20)).collect();
    assert_classifiers_valid(&labelled(&table, &labels, 2));
}

#[test]
fn more_columns_than_rows_give_valid_models() {
    let columns: Vec<Vec<Option<f64>>> = (0..12)
        .map(|c| {
            (0..6)
                .map(|r| Some(f64::from(r * c % 7) + 0.1 * f64::from(r)))
                .collect()
        })
        .collect();
    assert_mixtures_valid(&reals(&columns), &[1, 2]);
}

#[test]
fn outliers_and_extreme_values_give_valid_models_or_an_error() {
    let mut x: Vec<f64> = (0..80).map(|i| (f64::from(i) * 1.3).cos()).collect();
    x[17] = 1e12;
    assert_mixtures_valid(&reals(&[some(&x)]), &[1, 2, 3]);
    let huge: Vec<f64> = (0..80)
        .map(|i| 1e120 * (1.0 + 0.1 * f64::from(i % 9)))
        .collect();
    assert_mixtures_valid(&reals(&[some(&huge)]), &[1, 2]);
    let beyond: Vec<f64> = (0..80).map(|i| 1e300 * f64::from(i % 9)).collect();
    let specification = Specification::mixture(2, CovarianceKind::Full);
    let error = fit(
        &specification,
        &reals(&[some(&beyond)]),
        &FitOptions::default(),
        Control::default(),
    );
    let error = error.unwrap_err();
    assert_eq!(
        (error.kind(), error.column()),
        (ErrorKind::Data, Some("x0"))
    );
    for scale in [1e300, 1e-300] {
        let x: Vec<f64> = beyond.iter().map(|x| x / 1e300 * scale).collect();
        let y: Vec<f64> = (0..80).map(|i| f64::from(i % 7)).collect();
        assert_mixtures_valid(&reals(&[some(&x), some(&y)]).in_units(), &[1, 2, 5]);
    }
}

#[test]
fn classes_with_one_row_or_none_give_valid_models() {
    let x: Vec<f64> = (0..30).map(|i| f64::from(i) * 0.5).collect();
    let z: Vec<f64> = (0..30).map(|i| (f64::from(i) * 2.1).sin()).collect();
    let labels: Vec<Option<u32>> = (0..30).map(|i| Some(if i == 4 { 1 } else { 0 })).collect();
    assert_classifiers_valid(&labelled(&[some(&x), some(&z)], &labels, 3));
    let few: Vec<Option<u32>> = (0..30)
        .map(|i| if i < 2 { Some(i) } else { None })
        .collect();
    assert_classifiers_valid(&labelled(&[some(&x), some(&z)], &few, 2));
}

#[test]
fn tables_without_labels_weights_or_rows_are_an_error() {
    let table = labelled(&[some(&[1.0, 2.0])], &[None, None], 2);
    let specification = Specification::naive_bayes("y");
    let error = fit(
        &specification,
        &table,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"y\": no row has a label; fit a mixture to find clusters instead"
    );
    let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    let x = Column::from_numbers([Some(1.0), Some(2.0)]);
    let table = Table::new(schema.clone(), vec![x], Some(vec![0.0, 0.0])).unwrap();
    let mixture = Specification::mixture(1, CovarianceKind::Full);
    let error = fit(&mixture, &table, &FitOptions::default(), Control::default()).unwrap_err();
    assert_eq!(error.to_string(), "every row has weight 0");
    let empty = Table::new(schema, vec![Column::from_numbers([])], None).unwrap();
    let error = fit(&mixture, &empty, &FitOptions::default(), Control::default()).unwrap_err();
    assert_eq!(error.to_string(), "there are no rows");
}

#[test]
fn a_row_of_density_0_has_the_prior_class_probabilities() {
    let schema = Schema::new(vec![
        Field::with_levels("x", Kind::Categorical, ["a", "b"]),
        Field::with_levels("y", Kind::Categorical, ["no", "yes"]),
    ]);
    let columns = vec![
        Column::from_codes([Some(0), Some(0), Some(0)]),
        Column::from_codes([Some(0), Some(0), Some(1)]),
    ];
    let table = Table::new(schema, columns, None).unwrap();
    let specification = Specification {
        smoothing: 0.0,
        ..Specification::naive_bayes("y")
    };
    let fit = learn(&specification, &table);
    let row = Chunk::new(
        1,
        vec![Column::from_codes([Some(1)]), Column::from_codes([None])],
        None,
    );
    assert_eq!(fit.mixture.log_density(&row).unwrap(), [f64::NEG_INFINITY]);
    assert_eq!(
        fit.mixture.posterior(&row).unwrap().row(0),
        [2.0 / 3.0, 1.0 / 3.0]
    );
    assert_eq!(
        fit.mixture
            .condition(&[Some(1.0), None], 1)
            .unwrap_err()
            .kind(),
        ErrorKind::Numeric
    );
}

/// Two groups at distance 10; every row has one missing value in three columns.
fn without_complete_rows(offset: f64) -> (Vec<Vec<Option<f64>>>, Vec<Option<u32>>) {
    let columns = (0..3).map(|c| {
        let cell = |row: u32| {
            let noise = (f64::from(row) * (1.7 + f64::from(c))).sin();
            (row % 3 != c).then(|| offset + 10.0 * f64::from(row / 300) + noise)
        };
        (0..600).map(cell).collect()
    });
    (
        columns.collect(),
        (0..600).map(|row| Some(row / 300)).collect(),
    )
}

#[test]
fn tables_without_complete_rows_are_classified() {
    for offset in [0.0, 1e4, 1e8, -1e8] {
        let (columns, labels) = without_complete_rows(offset);
        let table = labelled(&columns, &labels, 2);
        for kind in KINDS {
            let specification = Specification::gda("y", kind);
            let fit = learn(&specification, &table);
            assert_valid(&fit, &table);
            let posterior = fit.mixture.posterior(&table.chunks()[0]).unwrap();
            let right = (0..600)
                .filter(|row| posterior.best(*row) == row / 300)
                .count();
            assert_eq!(right, 600, "{kind:?} {offset}");
        }
        for kind in [CovarianceKind::Full, CovarianceKind::Tied] {
            let table = reals(&columns);
            let specification = Specification::mixture(2, kind);
            let fit = learn(&specification, &table);
            assert_valid(&fit, &table);
            assert!(
                (fit.mixture.parameters.weights[0] - 0.5).abs() < 1e-6,
                "{kind:?} {offset}"
            );
        }
    }
}

#[test]
fn a_class_with_an_empty_column_keeps_its_other_means() {
    let x: Vec<Option<f64>> = (0..40)
        .map(|i| Some(f64::from(i % 5) + 10.0 * f64::from(i / 20)))
        .collect();
    let y: Vec<Option<f64>> = (0..40)
        .map(|i| (i < 20).then(|| 500.0 + f64::from(i % 7)))
        .collect();
    let labels: Vec<Option<u32>> = (0..40).map(|i| Some(i / 20)).collect();
    let table = labelled(&[x, y], &labels, 2);
    for kind in KINDS {
        let fit = learn(&Specification::gda("y", kind), &table);
        assert_valid(&fit, &table);
        let Distribution::Multivariate(second) = &fit.mixture.parameters.leaves[0][1] else {
            panic!("not a Gaussian")
        };
        assert!((second.mean[0] - 12.0).abs() < 0.5, "{kind:?} {second:?}");
        assert!((second.mean[1] - 503.0).abs() < 5.0, "{kind:?} {second:?}");
    }
}

#[test]
fn without_a_variance_floor_a_degenerate_class_keeps_its_mean_and_is_reported() {
    let a = some(&[1.0, 1.0, 1.0, 5.0, 6.0, 7.5]);
    let b = some(&[2.0, 3.0, 4.0, 2.0, 3.0, 9.0]);
    let labels = [0, 0, 0, 1, 1, 1].map(Some);
    let table = labelled(&[a, b], &labels, 2);
    let mut all = vec![Specification::naive_bayes("y")];
    let kinds = [
        CovarianceKind::Full,
        CovarianceKind::Tied,
        CovarianceKind::Diagonal,
        CovarianceKind::Spherical,
    ];
    all.extend(kinds.map(|kind| Specification::gda("y", kind)));
    for specification in all {
        let specification = Specification {
            variance_floor: 0.0,
            ..specification
        };
        let fit = learn(&specification, &table);
        assert_valid(&fit, &table);
        let mean = match &fit.mixture.parameters.leaves[0][0] {
            Distribution::Gaussian(g) => g.mean,
            Distribution::Multivariate(g) => g.mean[0],
            other => panic!("{other:?}"),
        };
        assert_eq!(mean, 1.0, "{specification:?}");
        let shared = matches!(
            specification.reals,
            Reals::Together {
                covariance: CovarianceKind::Tied | CovarianceKind::Spherical,
                ..
            }
        );
        assert_eq!(fit.warnings.is_empty(), shared, "{:?}", fit.warnings);
    }
}

#[test]
fn a_constant_column_does_not_hide_a_collapse() {
    let mut x: Vec<f64> = (0..200)
        .map(|i| (f64::from(i) * 1.31).sin() * 3.0)
        .collect();
    x[..6].fill(9.0);
    let plain = Specification::mixture(4, CovarianceKind::Full);
    let alone = learn(&plain, &reals(&[some(&x)]));
    let beside = reals(&[some(&x), vec![Some(7.0); 200]]);
    let beside = learn(&plain, &beside);
    for (a, b) in alone
        .mixture
        .parameters
        .weights
        .iter()
        .zip(&beside.mixture.parameters.weights)
    {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn collinear_columns_with_missing_values_never_lower_the_objective() {
    let missing = |i: usize, c: usize| (i * 7 + c * 3).is_multiple_of(5);
    let x: Vec<Option<f64>> = (0..20_000)
        .map(|i| (!missing(i, 0)).then(|| (i as f64 * 0.37).sin() + (i as f64).sqrt()))
        .collect();
    let y: Vec<Option<f64>> = (0..20_000)
        .map(|i| {
            (!missing(i, 1)).then(|| 3.0 * ((i as f64 * 0.37).sin() + (i as f64).sqrt()) + 1.0)
        })
        .collect();
    assert_mixtures_valid(&reals(&[x, y]), &[1]);
}

#[test]
fn an_interrupted_fit_reports_that_its_figures_are_of_a_sample() {
    let x: Vec<Option<f64>> = (0..60_000)
        .map(|i| Some(f64::from(i % 2) * 8.0 + (f64::from(i) * 0.7).sin()))
        .collect();
    let table = reals(&[x]);
    let stop = AtomicBool::new(false);
    let watch = |progress: Progress| {
        if matches!(progress, Progress::Restart { number: 2, .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let control = Control {
        interrupt: Some(&stop),
        progress: Some(&watch),
    };
    let specification = Specification::mixture(2, CovarianceKind::Full);
    let fit = fit(&specification, &table, &FitOptions::default(), control).unwrap();
    assert!(fit.interrupted && !fit.converged);
    assert_eq!(fit.weight, fit.mixture.statistics.total);
    assert!(
        fit.warnings.iter().any(|w| w.contains("sample")),
        "{:?}",
        fit.warnings
    );
}
