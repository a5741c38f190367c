//! Laws of every mixture: threads, chunks, units, offsets, weights and row order change
//! nothing; the likelihood never falls; answers agree with each other.

use crate::common::{Streamed, with_threads};
use abduce::Control;
use abduce::Error;
use abduce::ask::{Conditional, Joint, Predict};
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::family::{Distribution, Fill};
use abduce::learn::{EStep, EmOptions};
use abduce::model::mixture::{
    CovarianceKind, Fit, FitOptions, Reals, Recipe, Specification, Unlabelled, fit,
};
use abduce::store::Model;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

struct Shape {
    rows: usize,
    missing: f64,
    labelled: f64,
    offset: f64,
    unit: f64,
    weights: bool,
}

const PLAIN: Shape = Shape {
    rows: 400,
    missing: 0.1,
    labelled: 0.3,
    offset: 0.0,
    unit: 1.0,
    weights: false,
};

/// Three groups with columns of every kind; the last column is the label.
fn table(shape: &Shape, seed: u64) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut numbers: Vec<Vec<Option<f64>>> = vec![Vec::new(); 4];
    let mut codes: Vec<Vec<Option<u32>>> = vec![Vec::new(); 3];
    let mut weights = Vec::new();
    for row in 0..shape.rows {
        let group = rng.random_range(0..3);
        let z: f64 = rng.sample(StandardNormal);
        let e: f64 = rng.sample(StandardNormal);
        let x = 4.0 * group as f64 + z;
        let y = 2.0 * (group % 2) as f64 + 0.6 * z + 0.5 * e;
        let count = (rng.random::<f64>() * 3.0 + 2.0 * group as f64).floor();
        let wait = -rng.random::<f64>().ln() / (1.0 + group as f64);
        let flag = u32::from(rng.random::<f64>() < 0.2 + 0.3 * group as f64);
        let level = if rng.random::<f64>() < 0.6 {
            group
        } else {
            rng.random_range(0..3)
        };
        let cells = [
            shape.offset + shape.unit * x,
            shape.offset + shape.unit * y,
            count,
            shape.unit * wait,
        ];
        for (column, cell) in numbers.iter_mut().zip(cells) {
            column.push((rng.random::<f64>() >= shape.missing).then_some(cell));
        }
        codes[0].push((rng.random::<f64>() >= shape.missing).then_some(flag));
        codes[1].push((rng.random::<f64>() >= shape.missing).then_some(level));
        codes[2].push((row < 9 || rng.random::<f64>() < shape.labelled).then_some(group));
        weights.push([1.0, 2.0, 0.0, 0.5][row % 4]);
    }
    let fields = vec![
        Field::new("x", Kind::Real),
        Field::new("y", Kind::Real),
        Field::new("count", Kind::Count),
        Field::new("wait", Kind::Real),
        Field::with_levels("flag", Kind::Binary, ["no", "yes"]),
        Field::with_levels("level", Kind::Categorical, ["a", "b", "c"]),
        Field::with_levels("group", Kind::Categorical, ["red", "green", "blue"]),
    ];
    let mut columns: Vec<Column> = numbers.into_iter().map(Column::from_numbers).collect();
    columns.extend(codes.into_iter().map(Column::from_codes));
    Table::new(
        Schema::new(fields),
        columns,
        shape.weights.then_some(weights),
    )
    .unwrap()
}

fn without_labels(table: &Table) -> Table {
    let mut schema = table.schema().clone();
    let target = schema.position("group").unwrap();
    schema.fields.remove(target);
    let columns = (0..target).map(|c| table.column(c)).collect();
    let weights: Vec<f64> = table
        .chunks()
        .iter()
        .filter_map(|c| c.weights())
        .flatten()
        .copied()
        .collect();
    Table::new(schema, columns, (!weights.is_empty()).then_some(weights)).unwrap()
}

/// Naive Bayes, discriminant analysis and mixtures, each with its name.
fn specifications() -> Vec<(&'static str, Specification)> {
    let mut all = vec![("naive Bayes", Specification::naive_bayes("group"))];
    for kind in [
        CovarianceKind::Full,
        CovarianceKind::Tied,
        CovarianceKind::Diagonal,
        CovarianceKind::Spherical,
    ] {
        all.push(("discriminant", Specification::gda("group", kind)));
        all.push(("mixture", Specification::mixture(3, kind)));
    }
    for (_, specification) in &mut all {
        specification.families = vec![("wait".into(), "exponential".parse().unwrap())];
    }
    all
}

/// A mixture of every covariance structure.
fn structures() -> Vec<(&'static str, Specification)> {
    let all = CovarianceKind::ALL.into_iter();
    let all = all.chain([CovarianceKind::Identity]);
    all.map(|kind| (kind.code(), Specification::mixture(3, kind)))
        .collect()
}

fn data_for(specification: &Specification, shape: &Shape, seed: u64) -> Table {
    let table = table(shape, seed);
    if specification.target.is_some() {
        table
    } else {
        without_labels(&table)
    }
}

fn options() -> FitOptions {
    FitOptions {
        restarts: 3,
        unlabelled: Unlabelled::Weight(1.0),
        ..FitOptions::default()
    }
}

fn learn(specification: &Specification, source: &dyn Source) -> Fit {
    fit(specification, source, &options(), Control::default()).unwrap()
}

/// The model file of a fit of at most 20 iterations.
fn document(specification: &Specification, source: &dyn Source) -> String {
    let mut options = options();
    options.em.max_iterations = 20;
    let fit = fit(specification, source, &options, Control::default()).unwrap();
    let recipe = Recipe::new(specification.clone(), options);
    Model::new("test", fit.learned(recipe), vec![])
        .to_json()
        .unwrap()
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads_and_streamed() {
    // More rows than the sample that starts are tried on; fewer, some of them of weight 0.
    let shapes = [(20_500, false), (5_000, true)].map(|(rows, weights)| Shape {
        rows,
        weights,
        ..PLAIN
    });
    let cases = shapes
        .iter()
        .flat_map(|shape| specifications().into_iter().map(move |s| (shape, s)));
    for (shape, (name, specification)) in cases {
        let data = data_for(&specification, shape, 1);
        let mut documents = Vec::new();
        for threads in [1, 3] {
            documents.push(with_threads(threads, || document(&specification, &data)));
        }
        documents.push(document(&specification, &Streamed(data)));
        assert!(
            documents.windows(2).all(|pair| pair[0] == pair[1]),
            "{name}"
        );
    }
}

#[test]
fn the_objective_never_falls_and_the_trace_is_kept() {
    let structures = structures().into_iter().map(|case| (1, case));
    let others = specifications().into_iter().map(|case| (3, case));
    for (seeds, (name, specification)) in others.chain(structures) {
        for step in [EStep::Soft, EStep::Hard] {
            for seed in 0..seeds {
                let data = data_for(&specification, &PLAIN, seed);
                let em = EmOptions {
                    step,
                    ..EmOptions::default()
                };
                let options = FitOptions { em, ..options() };
                let fit = fit(&specification, &data, &options, Control::default()).unwrap();
                assert!(fit.monotone, "{name} {step:?} {seed}: {:?}", fit.trace);
                assert!(fit.trace.iter().all(|l| l.is_finite()), "{name}");
                // The trace of hard EM is the likelihood of completed rows.
                if step == EStep::Soft {
                    assert_eq!(fit.trace.last(), Some(&fit.log_likelihood));
                }
            }
        }
    }
}

#[test]
fn the_bound_lies_between_the_likelihoods_before_and_after_it() {
    for (name, mut specification) in structures().into_iter().chain(specifications()) {
        specification.variance_floor = 0.0;
        specification.smoothing = 0.0;
        for seed in 0..2 {
            let fit = learn(&specification, &data_for(&specification, &PLAIN, seed));
            assert_eq!(fit.bounds.len() + 1, fit.trace.len());
            assert!(fit.bounds.len() <= fit.iterations);
            let rounding = 1e-9 * fit.log_likelihood.abs();
            for (bound, pair) in fit.bounds.iter().zip(fit.trace.windows(2)) {
                let between = pair[0] - rounding <= *bound && *bound <= pair[1] + rounding;
                assert!(between, "{name} {seed}: {} {bound} {}", pair[0], pair[1]);
            }
        }
    }
}

#[test]
fn the_log_likelihood_is_the_weighted_sum_of_log_densities() {
    for (name, specification) in specifications() {
        let data = data_for(
            &specification,
            &Shape {
                weights: true,
                ..PLAIN
            },
            2,
        );
        let fit = learn(&specification, &data);
        let mut sum = 0.0;
        for chunk in data.chunks() {
            let densities = fit.mixture.log_density(chunk).unwrap();
            sum += densities
                .iter()
                .zip(chunk.weights().unwrap())
                .map(|(l, w)| l * w)
                .sum::<f64>();
        }
        assert!(
            (sum - fit.log_likelihood).abs() < 1e-8 * sum.abs(),
            "{name}: {sum} {}",
            fit.log_likelihood
        );
    }
}

#[test]
fn weight_2_equals_the_row_twice_and_weight_0_no_row() {
    for (name, specification) in specifications() {
        let data = data_for(&specification, &Shape { rows: 200, ..PLAIN }, 3);
        let repeats = |row: usize| [1, 2, 0][row % 3];
        let rows: Vec<usize> = (0..200).flat_map(|row| vec![row; repeats(row)]).collect();
        let columns = (0..data.schema().fields.len())
            .map(|c| data.column(c))
            .collect();
        let weights = (0..200).map(|row| repeats(row) as f64).collect();
        let weighted = Table::new(data.schema().clone(), columns, Some(weights)).unwrap();
        let (a, b) = (
            learn(&specification, &weighted),
            learn(&specification, &data.take(&rows)),
        );
        let relative = (a.log_likelihood - b.log_likelihood).abs() / b.log_likelihood.abs();
        assert!(
            relative < 1e-9,
            "{name}: {} {}",
            a.log_likelihood,
            b.log_likelihood
        );
        assert!((a.bic - b.bic).abs() < 1e-6, "{name}");
    }
}

fn predictions(fit: &Fit, table: &Table) -> Vec<usize> {
    table
        .chunks()
        .iter()
        .flat_map(|chunk| {
            let posterior = fit.mixture.posterior(chunk).unwrap();
            (0..chunk.rows())
                .map(|row| posterior.best(row))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn an_offset_of_1e8_or_units_of_a_millionth_change_no_prediction() {
    for (name, specification) in specifications() {
        let plain = data_for(&specification, &PLAIN, 4);
        let expected = predictions(&learn(&specification, &plain), &plain);
        // One variance for all columns depends on their units.
        let spherical = Reals::Together {
            covariance: CovarianceKind::Spherical,
            counts: true,
        };
        let shared = specification.reals == spherical;
        for (offset, unit) in [(1e8, 1.0), (-1e8, 1.0), (0.0, 1e6), (0.0, 1e-6)] {
            if shared && unit != 1.0 {
                continue;
            }
            let moved = data_for(
                &specification,
                &Shape {
                    offset,
                    unit,
                    ..PLAIN
                },
                4,
            );
            let obtained = predictions(&learn(&specification, &moved), &moved);
            assert_eq!(obtained, expected, "{name} {offset} {unit}");
        }
    }
}

#[test]
fn decisions_are_the_most_probable_classes() {
    for (name, specification) in specifications().into_iter().chain(structures()) {
        let table = data_for(&specification, &Shape { rows: 150, ..PLAIN }, 5);
        let fit = learn(&specification, &table);
        let decide = fit.mixture.decider().unwrap();
        for chunk in table.chunks() {
            let posterior = fit.mixture.posterior(chunk).unwrap();
            for (row, decided) in decide(chunk).unwrap().into_iter().enumerate() {
                let p = posterior.row(row);
                // Ties may be decided by rounding.
                let most_probable = p[decided as usize] >= p[posterior.best(row)] - 1e-12;
                assert!(most_probable, "{name}, row {row}: {decided} of {p:?}");
            }
        }
    }
}

#[test]
fn imputation_keeps_observed_values_and_fills_all_others() {
    for (name, specification) in specifications() {
        let data = data_for(
            &specification,
            &Shape {
                missing: 0.3,
                ..PLAIN
            },
            5,
        );
        let fit = learn(&specification, &data);
        let chunk = &data.chunks()[0];
        for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
            let mut rng = ChaCha8Rng::seed_from_u64(0);
            let filled = fit.mixture.complete(chunk, how, &mut rng).unwrap();
            for (before, after) in chunk.columns().iter().zip(filled.columns()) {
                assert!(after.nulls().is_none(), "{name} {how:?}");
                let (a, b) = (before.cells(0, chunk.rows()), after.cells(0, chunk.rows()));
                for row in (0..chunk.rows()).filter(|row| a.is_seen(*row)) {
                    assert_eq!(a.number(row), b.number(row), "{name}");
                }
            }
        }
    }
}

#[test]
fn conditionals_agree_with_conditional_samples() {
    for (name, specification) in specifications() {
        let data = data_for(&specification, &PLAIN, 6);
        let mixture = learn(&specification, &data).mixture;
        let mut given = vec![None; data.schema().fields.len()];
        given[1] = Some(1.5);
        given[5] = Some(2.0);
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let drawn = mixture.sample(&given, 20_000, &mut rng).unwrap();
        for column in 0..given.len() {
            let cells = drawn.column(column).cells(0, 20_000);
            match mixture.condition(&given, column).unwrap() {
                Conditional::Levels(levels) if given[column].is_none() => {
                    assert!((levels.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    for (code, p) in levels.iter().enumerate() {
                        let share = cells.codes().iter().filter(|c| **c == code as u32).count()
                            as f64
                            / 20_000.0;
                        assert!(
                            (share - p).abs() < 0.02,
                            "{name} column {column}: {share} {p}"
                        );
                    }
                }
                Conditional::Numbers(parts) if given[column].is_none() => {
                    let rows = 20_000.0;
                    let mean: f64 = parts.iter().map(|(w, d)| w * moments_of(d).0).sum();
                    let square = |(m, v): (f64, f64)| v + (m - mean) * (m - mean);
                    let variance: f64 = parts.iter().map(|(w, d)| w * square(moments_of(d))).sum();
                    let drawn = cells.reals().iter();
                    let sampled = drawn.clone().sum::<f64>() / rows;
                    let spread = drawn.map(|x| (x - sampled).powi(2)).sum::<f64>() / rows;
                    let deviation = (variance / rows).sqrt();
                    assert!(
                        (mean - sampled).abs() < 5.0 * deviation,
                        "{name} column {column}: {mean} {sampled}"
                    );
                    assert!(
                        (spread / variance - 1.0).abs() < 0.1,
                        "{name} column {column}: {variance} {spread}"
                    );
                }
                _ => {
                    let cells = drawn.column(column).cells(0, drawn.rows());
                    assert!((0..cells.len()).all(|row| cells.number(row) == given[column]));
                }
            }
        }
    }
}

/// The mean and the variance of a distribution.
fn moments_of(distribution: &Distribution) -> (f64, f64) {
    match distribution {
        Distribution::Gaussian(g) => (g.mean, g.variance),
        Distribution::Poisson(p) => (p.rate, p.rate),
        Distribution::Exponential(e) => (1.0 / e.rate, 1.0 / (e.rate * e.rate)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn model_files_round_trip() {
    for (name, specification) in specifications() {
        let data = data_for(&specification, &PLAIN, 7);
        let fit = learn(&specification, &data);
        let expected = fit.mixture.log_density(&data.chunks()[0]).unwrap();
        let recipe = Recipe::new(specification, options());
        let model = Model::new("test", fit.learned(recipe), vec!["a.csv".into()]);
        let text = model.to_json().unwrap();
        let back = Model::from_json(&text).unwrap();
        assert_eq!(
            back.joint()
                .unwrap()
                .log_density(&data.chunks()[0])
                .unwrap(),
            expected,
            "{name}"
        );
        assert_eq!(back.to_json().unwrap(), text, "{name}");
    }
}

#[test]
fn a_damaged_model_file_is_an_error_and_never_a_panic() {
    let (_, specification) = &specifications()[1];
    let data = data_for(specification, &PLAIN, 8);
    let text = document(specification, &data);
    let wrong: Vec<(String, &str)> = vec![
        (String::new(), "not an abduce model"),
        ("{}".into(), "not an abduce model"),
        (text[..text.len() / 2].into(), "cut short"),
        (
            text.replacen("\"version\": 1", "\"version\": 3", 1),
            "version 3",
        ),
        (
            text.replacen("\"weights\": [", "\"weights\": [7.0,", 1),
            "contradicts itself",
        ),
        (text.replacen("\"rate\"", "\"rote\"", 1), "damaged"),
    ];
    for (text, message) in wrong {
        let error: Error = Model::from_json(&text).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
