//! Tables that break fits elsewhere: every one gives a usable model or one
//! clear error, no answer is NaN, no probability leaves [0, 1].

use abduce::ErrorKind;
use abduce::ask::Joint;
use abduce::data::{Chunk, Column, Field, Kind, Schema, Source, Table};
use abduce::family::Fill;
use abduce::learn::{Control, EStep, EmOptions};
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, fit};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const KINDS: [CovarianceKind; 4] = [
    CovarianceKind::Full,
    CovarianceKind::Tied,
    CovarianceKind::Diagonal,
    CovarianceKind::Spherical,
];

fn reals(columns: &[Vec<Option<f64>>]) -> Table {
    let fields = (0..columns.len())
        .map(|c| Field::new(format!("x{c}"), Kind::Real))
        .collect();
    let columns = columns
        .iter()
        .map(|c| Column::from_numbers(c.iter().copied()))
        .collect();
    Table::new(Schema::new(fields), columns, None).unwrap()
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

fn usable(fit: &Fit, table: &Table) {
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
            assert!(filled.columns().iter().all(|c| c.nulls().is_none()));
            let finite = |c: &Column| match c {
                Column::Real { values, .. } => values.iter().all(|x| x.is_finite()),
                Column::Code { .. } => true,
            };
            assert!(filled.columns().iter().all(finite));
        }
    }
    let text = serde_json::to_string(&fit.mixture)
        .unwrap()
        .replace("\"shape\":null", "");
    assert!(!text.contains("null"), "a model has no NaN and no infinity");
}

fn mixtures_survive(table: &Table, components: &[usize]) {
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
                usable(&fit, table);
            }
        }
    }
}

fn classifiers_survive(table: &Table) {
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
        usable(&fit, table);
    }
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

#[test]
fn one_row() {
    mixtures_survive(&reals(&[some(&[3.0]), some(&[4.0])]), &[1, 3]);
    classifiers_survive(&labelled(&[some(&[3.0]), some(&[4.0])], &[Some(0)], 1));
}

#[test]
fn duplicates_only() {
    mixtures_survive(
        &reals(&[vec![Some(2.5); 50], vec![Some(-1.0); 50]]),
        &[1, 2, 5],
    );
}

#[test]
fn more_components_than_rows() {
    mixtures_survive(
        &reals(&[some(&[1.0, 2.0, 9.0]), some(&[0.0, 1.0, 1.0])]),
        &[4, 10],
    );
}

#[test]
fn a_constant_column_and_a_copied_one() {
    let x: Vec<f64> = (0..60)
        .map(|i| (f64::from(i) * 0.7).sin() + f64::from(i % 2) * 5.0)
        .collect();
    let table = reals(&[some(&x), vec![Some(7.0); 60], some(&x)]);
    mixtures_survive(&table, &[1, 2]);
    let labels: Vec<Option<u32>> = (0..60).map(|i| Some(i % 2)).collect();
    classifiers_survive(&labelled(
        &[some(&x), vec![Some(7.0); 60], some(&x)],
        &labels,
        2,
    ));
}

#[test]
fn columns_and_rows_of_which_nothing_is_seen() {
    let x: Vec<Option<f64>> = (0..40)
        .map(|i| (i % 5 != 0).then(|| f64::from(i)))
        .collect();
    let y: Vec<Option<f64>> = (0..40)
        .map(|i| (i % 5 != 0 && i % 3 != 0).then(|| f64::from(i * i)))
        .collect();
    let table = [x, y, vec![None; 40]];
    mixtures_survive(&reals(&table), &[1, 2]);
    let labels: Vec<Option<u32>> = (0..40).map(|i| (i % 7 != 0).then_some(i / 20)).collect();
    classifiers_survive(&labelled(&table, &labels, 2));
}

#[test]
fn more_columns_than_rows() {
    let columns: Vec<Vec<Option<f64>>> = (0..12)
        .map(|c| {
            (0..6)
                .map(|r| Some(f64::from(r * c % 7) + 0.1 * f64::from(r)))
                .collect()
        })
        .collect();
    mixtures_survive(&reals(&columns), &[1, 2]);
}

#[test]
fn a_far_outlier_and_huge_values() {
    let mut x: Vec<f64> = (0..80).map(|i| (f64::from(i) * 1.3).cos()).collect();
    x[17] = 1e12;
    mixtures_survive(&reals(&[some(&x)]), &[1, 2, 3]);
    let huge: Vec<f64> = (0..80)
        .map(|i| 1e120 * (1.0 + 0.1 * f64::from(i % 9)))
        .collect();
    mixtures_survive(&reals(&[some(&huge)]), &[1, 2]);
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
}

#[test]
fn a_class_with_one_row_and_a_class_with_none() {
    let x: Vec<f64> = (0..30).map(|i| f64::from(i) * 0.5).collect();
    let z: Vec<f64> = (0..30).map(|i| (f64::from(i) * 2.1).sin()).collect();
    let labels: Vec<Option<u32>> = (0..30).map(|i| Some(if i == 4 { 1 } else { 0 })).collect();
    classifiers_survive(&labelled(&[some(&x), some(&z)], &labels, 3));
    let few: Vec<Option<u32>> = (0..30)
        .map(|i| if i < 2 { Some(i) } else { None })
        .collect();
    classifiers_survive(&labelled(&[some(&x), some(&z)], &few, 2));
}

#[test]
fn no_label_and_no_weight_are_clear_errors() {
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
fn an_impossible_row_gets_the_weights_of_the_classes() {
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
    let fit = fit(
        &specification,
        &table,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap();
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
