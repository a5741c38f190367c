//! Diagnostics of fits, and bootstrap tests of the number of components.

use crate::common::{Streamed, real_table, with_threads};
use abduce::ask::Predict;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::learn::EmOptions;
use abduce::model::mixture::{
    BootstrapOptions, BootstrapTest, CovarianceKind, Criterion, Diagnostics, Ended, Fit,
    FitOptions, Grid, Specification, Start, bootstrap_test, fit, select,
};
use abduce::{Control, Progress};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use std::sync::atomic::{AtomicBool, Ordering};

type Cells = Vec<Option<f64>>;

/// Rows around the centres in turn; the columns have deviations 1 and 2.
fn rows(seed: u64, rows: usize, centres: &[[f64; 2]]) -> Vec<Cells> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut columns = vec![Vec::new(); 2];
    for row in 0..rows {
        for (c, column) in columns.iter_mut().enumerate() {
            let x: f64 = rng.sample(StandardNormal);
            column.push(Some(centres[row % centres.len()][c] + (1.0 + c as f64) * x));
        }
    }
    columns
}

const NEAR: [[f64; 2]; 3] = [[0.0, 0.0], [3.0, 2.0], [1.0, 7.0]];

fn learn(table: &Table, components: usize, covariance: CovarianceKind) -> Fit {
    let specification = Specification::mixture(components, covariance);
    fit(
        &specification,
        table,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap()
}

/// All numbers of the diagnostics of the components.
fn figures(diagnostics: &Diagnostics) -> Vec<f64> {
    let mut all = vec![
        diagnostics.uncertainty.unwrap(),
        diagnostics.certainty.unwrap(),
    ];
    for component in &diagnostics.components {
        all.extend([component.weight, component.rows, component.spread]);
        all.extend(
            [
                component.kish_sample_size,
                component.uncertainty,
                component.entropy,
                component.condition,
            ]
            .map(Option::unwrap),
        );
    }
    all
}

#[track_caller]
fn assert_near(a: &[f64], b: &[f64], relative: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= relative * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn diagnostics_are_computed_from_the_posteriors_of_all_rows() {
    let table = real_table(rows(1, 300, &NEAR), None);
    let fit = learn(&table, 3, CovarianceKind::Full);
    let diagnostics = &fit.diagnostics;
    let posterior = fit.mixture.posterior(&table.chunks()[0]).unwrap();
    let (mut uncertainty, mut entropy) = (0.0, 0.0);
    for row in 0..300 {
        let probabilities = posterior.row(row);
        uncertainty += 1.0 - probabilities.iter().copied().fold(0.0, f64::max);
        entropy -= probabilities
            .iter()
            .filter(|r| **r > 0.0)
            .map(|r| r * r.ln())
            .sum::<f64>();
    }
    assert_near(
        &[
            diagnostics.uncertainty.unwrap(),
            diagnostics.certainty.unwrap(),
        ],
        &[uncertainty / 300.0, 1.0 - entropy / (300.0 * 3f64.ln())],
        1e-12,
    );
    for (j, component) in diagnostics.components.iter().enumerate() {
        let r: Vec<f64> = (0..300).map(|row| posterior.row(row)[j]).collect();
        let (sum, squares) = (r.iter().sum::<f64>(), r.iter().map(|r| r * r).sum::<f64>());
        let assigned: Vec<usize> = (0..300).filter(|row| posterior.best(*row) == j).collect();
        let doubts = assigned.iter().map(|row| 1.0 - posterior.row(*row)[j]);
        let entropy = r.iter().filter(|r| **r > 0.0).map(|r| -r * r.ln());
        assert_near(
            &[
                component.kish_sample_size.unwrap(),
                component.uncertainty.unwrap(),
                component.entropy.unwrap(),
            ],
            &[
                sum * sum / squares,
                doubts.sum::<f64>() / assigned.len() as f64,
                entropy.sum::<f64>() / sum,
            ],
            1e-12,
        );
        assert!((component.rows - sum).abs() < 1e-9);
    }
}

#[test]
fn component_entropies_add_up_and_kish_sizes_are_between_component_and_table_size() {
    let fit = learn(
        &real_table(rows(2, 200, &NEAR), None),
        3,
        CovarianceKind::Tied,
    );
    let diagnostics = &fit.diagnostics;
    let parts = diagnostics
        .components
        .iter()
        .map(|component| component.rows * component.entropy.unwrap());
    let whole = (1.0 - diagnostics.certainty.unwrap()) * 200.0 * 3f64.ln();
    assert!((parts.sum::<f64>() - whole).abs() < 1e-9);
    for component in &diagnostics.components {
        let effective = component.kish_sample_size.unwrap();
        assert!(
            component.rows <= effective && effective <= 200.0,
            "{component:?}"
        );
        assert!(
            !component.collapsed && component.spread > 0.0 && component.condition.unwrap() >= 1.0
        );
    }
}

#[test]
fn a_change_of_units_changes_no_diagnostic() {
    let columns = rows(3, 250, &NEAR);
    let scaled = columns.iter().zip([1e4, 3e-3]).map(|(cells, unit)| {
        let cells = cells.iter().map(|x| x.map(|x| 40.0 * unit + unit * x));
        cells.collect::<Cells>()
    });
    let scaled = real_table(scaled, None);
    for covariance in [CovarianceKind::Full, CovarianceKind::Diagonal] {
        let a = learn(&real_table(columns.clone(), None), 3, covariance);
        let b = learn(&scaled, 3, covariance);
        assert_near(&figures(&a.diagnostics), &figures(&b.diagnostics), 1e-5);
    }
}

#[test]
fn weight_2_equals_the_row_twice_and_weight_0_no_row() {
    let columns = rows(4, 90, &[[0.0, 0.0], [6.0, 5.0]]);
    let weights: Vec<f64> = (0..90).map(|row| f64::from(row % 3)).collect();
    let repeated = columns.iter().map(|cells| {
        let copies = cells.iter().zip(&weights);
        let copies = copies.flat_map(|(x, w)| std::iter::repeat_n(*x, *w as usize));
        copies.collect::<Cells>()
    });
    let repeated = real_table(repeated, None);
    let weighted = real_table(columns.clone(), Some(weights));
    let a = learn(&weighted, 2, CovarianceKind::Full);
    let b = learn(&repeated, 2, CovarianceKind::Full);
    assert_near(&figures(&a.diagnostics), &figures(&b.diagnostics), 1e-5);
    let test = |table: &Table| run_test(table, CovarianceKind::Tied, 3, 19);
    let (a, b) = (test(&weighted).1, test(&repeated).1);
    assert_eq!(a.steps.len(), b.steps.len());
    for (a, b) in a.steps.iter().zip(&b.steps) {
        assert_near(&[a.statistic], &[b.statistic], 1e-4);
    }
    assert_eq!(a.chosen, b.chosen);
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads_and_streamed() {
    let large = real_table(rows(5, 9_000, &NEAR), None);
    let small = real_table(rows(6, 80, &NEAR), None);
    let run = |threads: usize, streamed: bool| {
        with_threads(threads, || {
            let specification = Specification::mixture(3, CovarianceKind::Full);
            let options = FitOptions {
                restarts: 2,
                ..FitOptions::default()
            };
            let source: Box<dyn Source> = if streamed {
                Box::new(Streamed(large.clone()))
            } else {
                Box::new(large.clone())
            };
            let fit = fit(&specification, &*source, &options, Control::default()).unwrap();
            let test = run_test(&small, CovarianceKind::Spherical, 3, 19).1;
            (fit.diagnostics, fit.starts, test)
        })
    };
    let one = run(1, false);
    for (threads, streamed) in [(3, false), (2, true)] {
        assert_eq!(run(threads, streamed), one);
    }
}

#[test]
fn the_remaining_gain_of_em_is_estimated_within_a_factor_of_two() {
    let table = real_table(rows(7, 200, &[[0.0, 0.0], [2.0, 3.0]]), None);
    let until = |tolerance: f64| {
        let options = FitOptions {
            em: EmOptions {
                tolerance,
                max_iterations: 100_000,
                ..EmOptions::default()
            },
            restarts: 1,
            ..FitOptions::default()
        };
        let specification = Specification::mixture(2, CovarianceKind::Tied);
        fit(&specification, &table, &options, Control::default()).unwrap()
    };
    let (early, late) = (until(1e-7), until(1e-15));
    let diagnostics = &early.diagnostics;
    let last = early.trace.last().unwrap() - early.bounds.last().unwrap();
    assert_eq!(diagnostics.gap, Some(last));
    assert!(last >= 0.0);
    let rate = diagnostics.rate.unwrap();
    assert!(rate > 0.5 && rate < 1.0, "{rate}");
    let gain = late.log_likelihood - early.log_likelihood;
    let remaining = diagnostics.remaining.unwrap();
    assert!(
        remaining > 0.5 * gain && remaining < 2.0 * gain,
        "{remaining} {gain}"
    );
}

#[test]
fn complete_labels_have_no_uncertainty_figures() {
    let mut fields = vec![Field::new("x", Kind::Real), Field::new("y", Kind::Real)];
    fields.push(Field {
        levels: vec!["a".into(), "b".into()],
        ..Field::new("z", Kind::Categorical)
    });
    let columns = rows(8, 60, &NEAR[..2]).into_iter();
    let mut columns: Vec<Column> = columns.map(Column::from_numbers).collect();
    columns.push(Column::from_codes((0..60).map(|row| Some(row % 2))));
    let table = Table::new(Schema::new(fields), columns, None).unwrap();
    let specification = Specification::gda("z", CovarianceKind::Full);
    let fit = fit(
        &specification,
        &table,
        &FitOptions::default(),
        Control::default(),
    )
    .unwrap();
    let diagnostics = &fit.diagnostics;
    assert_eq!(
        (diagnostics.uncertainty, diagnostics.certainty),
        (None, None)
    );
    assert!(
        diagnostics
            .components
            .iter()
            .all(|component| component.kish_sample_size.is_none())
    );
    assert!(
        diagnostics
            .components
            .iter()
            .all(|component| component.condition.is_some())
    );
    assert!(fit.starts.is_empty());
}

#[test]
fn components_on_identical_rows_are_reported_as_collapsed() {
    let mut columns = rows(9, 100, &[[0.0, 0.0]]);
    columns[0][..40].fill(Some(25.0));
    columns[1][..40].fill(Some(25.0));
    let fit = learn(&real_table(columns, None), 2, CovarianceKind::Full);
    let collapsed: Vec<bool> = (fit.diagnostics.components.iter())
        .map(|component| component.collapsed)
        .collect();
    assert_eq!(collapsed, [false, true]);
    assert!(
        fit.starts
            .iter()
            .all(|component| component.ended == Ended::Spurious)
    );
}

#[test]
fn every_start_is_reported_and_the_best_is_the_fit() {
    let fit = learn(
        &real_table(rows(10, 150, &NEAR), None),
        3,
        CovarianceKind::Full,
    );
    assert_eq!(fit.starts.len(), 10);
    let (best, reached) = Start::best_of(&fit.starts, fit.weight).unwrap();
    assert!((1..=10).contains(&reached));
    let objective = fit.log_likelihood + fit.mixture.log_prior();
    assert!((best - objective).abs() < 1e-9 * objective.abs());
    let start = |objective: Option<f64>, ended: Ended| Start {
        objective,
        iterations: 1,
        ended,
    };
    let starts = [
        start(Some(-10.0), Ended::Converged),
        start(Some(-10.0 + 1e-9), Ended::Converged),
        start(Some(-12.0), Ended::Unconverged),
        start(Some(-1.0), Ended::Spurious),
        start(None, Ended::Failed),
    ];
    assert_eq!(Start::best_of(&starts, 100.0), Some((-10.0 + 1e-9, 2)));
    assert_eq!(Start::best_of(&starts[3..], 100.0), Some((-1.0, 1)));
    assert_eq!(Start::best_of(&starts[4..], 100.0), None);
}

#[test]
fn one_component_has_one_start() {
    let table = real_table(rows(10, 150, &NEAR), None);
    assert_eq!(learn(&table, 1, CovarianceKind::Full).starts.len(), 1);
}

#[test]
fn starts_are_given_up_only_where_iterations_take_long() {
    let ended = |number: usize| -> Vec<Ended> {
        let table = real_table(rows(10, number, &NEAR), None);
        let fit = learn(&table, 6, CovarianceKind::Full);
        fit.starts.iter().map(|start| start.ended).collect()
    };
    assert!(!ended(300).contains(&Ended::Tried));
    assert!(ended(10_000).contains(&Ended::Tried));
}

fn run_test(
    table: &Table,
    covariance: CovarianceKind,
    largest: usize,
    replicates: usize,
) -> (Fit, BootstrapTest) {
    let options = FitOptions {
        restarts: 4,
        ..FitOptions::default()
    };
    let test = BootstrapOptions {
        replicates,
        ..BootstrapOptions::default()
    };
    let specification = Specification::mixture(1, covariance);
    let control = Control::default();
    bootstrap_test(&specification, 1..=largest, table, &options, &test, control).unwrap()
}

#[test]
fn one_gaussian_is_rejected_only_by_chance() {
    let rejected = (0..8).filter(|seed| {
        let table = real_table(rows(100 + seed, 60, &[[0.0, 0.0]]), None);
        run_test(&table, CovarianceKind::Full, 2, 19).1.chosen > 1
    });
    // At level 0.05, three or more of eight are rejected with probability 0.006.
    let rejected = rejected.count();
    assert!(rejected <= 2, "{rejected}");
}

#[test]
fn two_clusters_give_two_components() {
    let table = real_table(rows(20, 100, &[[0.0, 0.0], [9.0, 0.0]]), None);
    let (fit, test) = run_test(&table, CovarianceKind::Full, 4, 39);
    assert_eq!((fit.mixture.components(), test.chosen), (2, 2));
    assert!(test.accepted && test.steps.len() == 2);
    let first = &test.steps[0];
    assert_eq!((first.p_value, first.replicates), (1.0 / 40.0, 39));
    let gain = first.log_likelihood_of_more - first.log_likelihood;
    assert_eq!(first.statistic, 2.0 * gain);
    assert_eq!(fit.log_likelihood, first.log_likelihood_of_more);
}

#[test]
fn the_largest_number_is_kept_with_a_warning_if_all_are_rejected() {
    let table = real_table(rows(21, 90, &[[0.0, 0.0], [20.0, 0.0], [0.0, 40.0]]), None);
    let (fit, test) = run_test(&table, CovarianceKind::Tied, 2, 19);
    assert_eq!((fit.mixture.components(), test.chosen), (2, 2));
    assert!(!test.accepted);
    assert!(
        fit.warnings
            .iter()
            .any(|warning| warning.contains("allow more"))
    );
}

#[test]
fn an_interrupted_test_keeps_the_number_being_tested() {
    let table = real_table(rows(22, 100, &[[0.0, 0.0], [9.0, 0.0]]), None);
    let interrupt = AtomicBool::new(false);
    let watch = |progress: Progress| {
        if matches!(progress, Progress::Replicate { components: 2, .. }) {
            interrupt.store(true, Ordering::Relaxed);
        }
    };
    let control = Control {
        interrupt: Some(&interrupt),
        progress: Some(&watch),
    };
    let specification = Specification::mixture(1, CovarianceKind::Full);
    let test = BootstrapOptions {
        replicates: 19,
        ..BootstrapOptions::default()
    };
    let options = FitOptions {
        restarts: 2,
        ..FitOptions::default()
    };
    let (fit, test) =
        bootstrap_test(&specification, 1..=4, &table, &options, &test, control).unwrap();
    assert_eq!((fit.mixture.components(), test.steps.len()), (2, 1));
    assert!(!test.accepted);
    assert!(
        fit.warnings
            .iter()
            .any(|warning| warning.contains("interrupted before"))
    );
}

#[test]
fn an_interrupted_selection_reports_how_many_fits_were_compared() {
    let table = real_table(rows(22, 100, &[[0.0, 0.0], [9.0, 0.0]]), None);
    let interrupt = AtomicBool::new(false);
    let watch = |progress: Progress| {
        if matches!(progress, Progress::Candidate { number: 1, .. }) {
            interrupt.store(true, Ordering::Relaxed);
        }
    };
    let control = Control {
        interrupt: Some(&interrupt),
        progress: Some(&watch),
    };
    let grid = Grid {
        components: (1..=40).collect(),
        covariances: vec![CovarianceKind::Spherical],
        criterion: Criterion::Bic,
        folds: 5,
    };
    let specification = Specification::mixture(1, CovarianceKind::Spherical);
    let options = FitOptions::default();
    let (fit, selection) = select(&specification, &grid, &table, &options, control).unwrap();
    let compared = selection.tried.len();
    assert!(compared < 40, "{compared}");
    let expected = format!("the best of {compared} of 40 fits");
    let found = fit
        .warnings
        .iter()
        .any(|warning| warning.contains(&expected));
    assert!(found, "{:?}", fit.warnings);
}

#[test]
fn no_more_components_than_rows_are_tested() {
    let few = real_table(rows(29, 3, &[[0.0, 0.0]]), None);
    let specification = Specification::mixture(1, CovarianceKind::Full);
    let (options, test) = (FitOptions::default(), BootstrapOptions::default());
    let control = Control::default();
    let (fit, test) =
        bootstrap_test(&specification, 5..=9, &few, &options, &test, control).unwrap();
    assert!(test.steps.is_empty());
    assert_eq!(test.chosen, fit.mixture.components());
    assert!(test.chosen <= 3);
}

#[test]
fn bootstrap_tests_that_cannot_be_run_are_an_error() {
    let light = real_table(rows(23, 10, &[[0.0, 0.0]]), Some(vec![0.1; 10]));
    let options = FitOptions::default();
    let test = BootstrapOptions::default();
    let one = Specification::mixture(1, CovarianceKind::Full);
    let run = |specification: &Specification, test: &BootstrapOptions| {
        bootstrap_test(
            specification,
            1..=2,
            &light,
            &options,
            test,
            Control::default(),
        )
        .unwrap_err()
        .to_string()
    };
    assert!(run(&one, &test).contains("weigh less than two"));
    let none = BootstrapOptions {
        replicates: 0,
        ..test.clone()
    };
    assert!(run(&one, &none).contains("at least one replicate"));
    assert!(run(&Specification::naive_bayes("x0"), &test).contains("labels"));
}
