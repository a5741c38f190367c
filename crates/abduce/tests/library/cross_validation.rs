//! Cross-validation of every kind of model: held-out rows are not used for fitting, and results
//! are bit-identical for any number of threads and streamed.

use crate::common::with_threads;
use abduce::Control;
use abduce::data::Folds;
use abduce::data::{Column, Field, Kind, ReadOptions, Schema, Source, Table, open};
use abduce::eval::{
    Calibration, CalibrationMethod, Classifier, Metrics, cross_validate, cross_validate_density,
};
use abduce::model::AnyModel;
use abduce::model::density::{self, Estimator};
use abduce::model::mixture::{CovarianceKind, FitOptions, Recipe, Specification, fit};
use std::cell::RefCell;

const PENGUINS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../abduce-cli/data/penguins.csv"
);

fn penguins(columns: &[&str], memory_budget: u64) -> Box<dyn Source> {
    let columns = columns.iter().map(|name| name.to_string()).collect();
    let options = ReadOptions {
        target: Some("species".into()),
        columns: Some(columns),
        memory_budget,
        ..ReadOptions::default()
    };
    open(&[PENGUINS.into()], &options).unwrap().source
}

const MEASURES: [&str; 4] = [
    "bill_length_mm",
    "bill_depth_mm",
    "flipper_length_mm",
    "body_mass_g",
];

fn mixture(specification: &Specification, rows: &dyn Source) -> abduce::Result<AnyModel> {
    let fit = fit(
        specification,
        rows,
        &FitOptions::default(),
        Control::default(),
    )?;
    let recipe = Recipe::new(specification.clone(), FitOptions::default());
    Ok(fit.learned(recipe).model)
}

fn density_model(
    specification: &density::Specification,
    rows: &dyn Source,
) -> abduce::Result<AnyModel> {
    let fit = density::fit(specification, rows, Control::default())?;
    let recipe = density::Recipe {
        density: specification.clone(),
    };
    Ok(fit.learned(recipe).model)
}

fn plain(model: AnyModel) -> Classifier {
    Classifier {
        model,
        calibration: None,
    }
}

fn pooled(folds: &[Metrics]) -> Metrics {
    let (first, rest) = folds.split_first().unwrap();
    let mut all = first.clone();
    rest.iter().for_each(|fold| all.merge(fold));
    all
}

#[test]
fn every_kind_of_classifier_can_be_cross_validated() {
    let table = penguins(&MEASURES, u64::MAX);
    let folds = Folds::stratified(&*table, Some(0), 10, 0).unwrap();
    let gda = Specification::gda("species", CovarianceKind::Full);
    let naive = Specification::naive_bayes("species");
    let knn = density::Specification {
        target: Some("species".into()),
        estimator: Estimator::Knn { neighbours: None },
    };
    type Learn<'a> = Box<dyn Fn(&dyn Source) -> abduce::Result<Classifier> + 'a>;
    let learners: [(f64, Learn); 3] = [
        (0.97, Box::new(|rows| Ok(plain(mixture(&gda, rows)?)))),
        (0.95, Box::new(|rows| Ok(plain(mixture(&naive, rows)?)))),
        (0.93, Box::new(|rows| Ok(plain(density_model(&knn, rows)?)))),
    ];
    for (least, learn) in learners {
        let all = pooled(&cross_validate(&*table, &folds, learn).unwrap());
        assert_eq!(all.rows(), 344);
        assert!(all.accuracy() > least, "{}", all.accuracy());
        assert!(all.log_loss() > 0.0 && all.log_loss().is_finite());
    }
}

#[test]
fn a_model_is_never_fitted_to_its_held_out_rows() {
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::with_levels("y", Kind::Categorical, ["a", "b"]),
    ]);
    let x = Column::from_numbers((0..60).map(|i| Some(f64::from(i))));
    let y = Column::from_codes((0..60).map(|i| (i % 10 > 0).then_some(i % 2)));
    let table = Table::new(schema, vec![x, y], None).unwrap();
    let folds = Folds::stratified(&table, Some(1), 6, 0).unwrap();
    let training_sets = RefCell::new(Vec::new());
    let numbers = |rows: &dyn Source| -> Vec<u64> {
        let chunk = rows.scan().unwrap().next().unwrap().unwrap();
        let cells = chunk.column(0).cells(0, chunk.rows());
        cells.reals().iter().map(|x| *x as u64).collect()
    };
    let learn = |rows: &dyn Source| {
        training_sets.borrow_mut().push(numbers(rows));
        mixture(&Specification::naive_bayes("y"), rows).map(plain)
    };
    cross_validate(&table, &folds, learn).unwrap();
    for (fold, training) in training_sets.borrow().iter().enumerate() {
        let held_out = numbers(&*folds.held_out(&table, fold).unwrap());
        assert_eq!(held_out.len(), 9);
        assert!(held_out.iter().all(|row| !training.contains(row)));
        assert!(
            (0..6).all(|i| training.contains(&(10 * i))),
            "unlabelled rows"
        );
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads_and_streamed() {
    let specification = Specification::naive_bayes("species");
    let figures = |budget: u64, threads: usize| {
        with_threads(threads, || {
            let table = penguins(&MEASURES, budget);
            assert_eq!(table.table().is_some(), budget > 0);
            let folds = Folds::stratified(&*table, Some(0), 5, 1).unwrap();
            let learn = |rows: &dyn Source| {
                let inner = Folds::stratified(rows, Some(0), 3, 1)?;
                let learn = |rows: &dyn Source| mixture(&specification, rows);
                let method = CalibrationMethod::Platt;
                let calibration = Calibration::learn(method, rows, &inner, learn)?;
                Ok(Classifier {
                    model: learn(rows)?,
                    calibration: Some(calibration),
                })
            };
            cross_validate(&*table, &folds, learn).unwrap()
        })
    };
    let expected = figures(u64::MAX, 1);
    assert_eq!(figures(u64::MAX, 3), expected);
    assert_eq!(figures(0, 2), expected);
}

#[test]
fn a_class_absent_from_a_training_set_has_infinite_log_loss() {
    // The rare row is far away, so that no split into folds lets it affect other classes.
    let x: Vec<f64> = (0..20)
        .map(|i| f64::from(i % 5) + 10.0 * f64::from(i % 2))
        .chain([50.0])
        .collect();
    let label = |i: usize| if i == 20 { 2 } else { (i % 2) as u32 };
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::with_levels("y", Kind::Categorical, ["a", "b", "rare"]),
    ]);
    let columns = vec![
        Column::from_numbers(x.iter().copied().map(Some)),
        Column::from_codes((0..21).map(|i| Some(label(i)))),
    ];
    let table = Table::new(schema, columns, None).unwrap();
    let folds = Folds::stratified(&table, Some(1), 5, 0).unwrap();
    let kde = density::Specification {
        target: Some("y".into()),
        estimator: Estimator::Kde {
            kernel: Default::default(),
            selection: Default::default(),
        },
    };
    let cross_validate_mixture = |specification: Specification| {
        let learn = |rows: &dyn Source| mixture(&specification, rows).map(plain);
        cross_validate(&table, &folds, learn).unwrap()
    };
    let densities = |rows: &dyn Source| density_model(&kde, rows).map(plain);
    for folds in [
        cross_validate_mixture(Specification::naive_bayes("y")),
        cross_validate_mixture(Specification::gda("y", CovarianceKind::Full)),
        cross_validate_mixture(Specification::gda("y", CovarianceKind::Tied)),
        cross_validate(&table, &folds, densities).unwrap(),
    ] {
        let all = pooled(&folds);
        assert_eq!(all.impossible(), 1.0);
        assert_eq!(all.log_loss(), f64::INFINITY);
        assert!(all.clipped_log_loss().is_finite());
        assert!(all.accuracy() > 0.9, "{}", all.accuracy());
    }
}

#[test]
fn mixtures_are_scored_on_held_out_rows_without_the_true_groups() {
    let with = penguins(&MEASURES, u64::MAX);
    let folds = Folds::stratified(&*with, None, 5, 0).unwrap();
    let specification = Specification::mixture(3, CovarianceKind::Full);
    let learn = |rows: &dyn Source| {
        assert!(rows.schema().position("species").is_err());
        mixture(&specification, rows)
    };
    let found = cross_validate_density(&*with, &folds, Some(0), learn).unwrap();
    assert_eq!(found.iter().map(|fold| fold.rows).sum::<u64>(), 344);
    for fold in &found {
        let table = fold.contingency.as_ref().unwrap();
        assert!(table.adjusted_rand_index() > 0.8);
        assert!(fold.mean_log_likelihood().is_finite());
    }
    let streamed = penguins(&MEASURES, 0);
    let again = cross_validate_density(&*streamed, &folds, Some(0), learn).unwrap();
    assert_eq!(again, found);
}

#[test]
fn calibration_corrects_overconfident_naive_bayes() {
    // Four copies of a column: naive Bayes counts the evidence four times.
    let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    let x: Vec<f64> = (0..2000)
        .map(|i| 0.8 * f64::from(i % 2) + noise(3 * i) + noise(3 * i + 1) + noise(3 * i + 2))
        .collect();
    let mut fields: Vec<Field> = (0..4)
        .map(|c| Field::new(format!("x{c}"), Kind::Real))
        .collect();
    fields.push(Field::with_levels("y", Kind::Categorical, ["a", "b"]));
    let column = Column::from_numbers(x.into_iter().map(Some));
    let mut columns = vec![column; 4];
    columns.push(Column::from_codes((0..2000).map(|i| Some(i % 2))));
    let table = Table::new(Schema::new(fields), columns, None).unwrap();
    let folds = Folds::stratified(&table, Some(4), 5, 0).unwrap();
    let specification = Specification::naive_bayes("y");
    let figures = |method: Option<CalibrationMethod>| {
        let learn = |rows: &dyn Source| {
            let learn = |rows: &dyn Source| mixture(&specification, rows);
            let inner = Folds::stratified(rows, Some(4), 5, 0)?;
            let calibration = method.map(|method| Calibration::learn(method, rows, &inner, learn));
            Ok(Classifier {
                model: learn(rows)?,
                calibration: calibration.transpose()?,
            })
        };
        pooled(&cross_validate(&table, &folds, learn).unwrap())
    };
    let plain = figures(None);
    for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
        let calibrated = figures(Some(method));
        assert!(calibrated.calibration_error() < plain.calibration_error() / 2.0);
        assert!(calibrated.brier() < plain.brier());
        assert!(calibrated.clipped_log_loss() < plain.clipped_log_loss());
        assert!(calibrated.accuracy() > plain.accuracy() - 0.02);
    }
}
