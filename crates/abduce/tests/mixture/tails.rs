//! Laws of mixtures with Student t tails: EM never falls and its lower bound holds; weights,
//! units, threads and missing values work as for Gaussians; conditionals are those of a t;
//! outliers have little influence.

use crate::common::with_threads;
use abduce::Control;
use abduce::ask::{Conditional, Joint};
use abduce::data::{Chunk, Column, Field, Kind, Schema, Source, Table};
use abduce::family::{Distribution, Fill, MultivariateStudentT, Univariate};
use abduce::learn::{Acceleration, EStep, EmOptions};
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, NormalPrior, Specification};
use abduce::model::mixture::{Tails, fit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const LEARNED: Tails = Tails::StudentT { degrees: None };

/// Rows of two groups in three columns, with some outliers.
struct Rows {
    cells: Vec<[Option<f64>; 3]>,
    weights: Option<Vec<f64>>,
}

fn rows(number: usize, missing: f64, outliers: f64, seed: u64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut cells = Vec::new();
    for row in 0..number {
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let (a, b, c) = (normal(), normal(), normal());
        let far = normal() * 30.0;
        let group = if row % 5 < 2 { 6.0 } else { 0.0 };
        let shift = if rng.random::<f64>() < outliers {
            far
        } else {
            0.0
        };
        let point = [
            group + a,
            0.7 * a + 0.5 * b + shift,
            2.0 * c - group + shift,
        ];
        cells.push(point.map(|x| (rng.random::<f64>() >= missing).then_some(x)));
    }
    Rows {
        cells,
        weights: None,
    }
}

impl Rows {
    fn weighted(mut self) -> Rows {
        let weight = |row: usize| [1.0, 2.0, 0.0, 0.5, 3.0][row % 5];
        self.weights = Some((0..self.cells.len()).map(weight).collect());
        self
    }

    fn table(&self, change: impl Fn(usize, f64) -> f64) -> Table {
        let column = |c: usize| {
            let cells = self.cells.iter().map(|row| row[c].map(|x| change(c, x)));
            Column::from_numbers(cells)
        };
        let fields = ["a", "b", "c"].map(|name| Field::new(name, Kind::Real));
        let columns = (0..3).map(column).collect();
        Table::new(Schema::new(fields.to_vec()), columns, self.weights.clone()).unwrap()
    }

    fn plain(&self) -> Table {
        self.table(|_, x| x)
    }
}

fn specification(covariance: CovarianceKind, tails: Tails) -> Specification {
    Specification {
        tails,
        ..Specification::mixture(2, covariance)
    }
}

fn options(step: EStep, iterations: usize) -> FitOptions {
    FitOptions {
        em: EmOptions {
            step,
            max_iterations: iterations,
            tolerance: 0.0,
            ..EmOptions::default()
        },
        restarts: 2,
        ..FitOptions::default()
    }
}

fn fitted(table: &dyn Source, specification: &Specification) -> Fit {
    let options = options(EStep::Soft, 60);
    fit(specification, table, &options, Control::default()).unwrap()
}

fn component(fit: &Fit, j: usize) -> &MultivariateStudentT {
    match &fit.mixture.parameters.leaves[0][j] {
        Distribution::MultivariateStudentT(t) => t,
        other => panic!("{other:?}"),
    }
}

fn structures() -> Vec<CovarianceKind> {
    let all = CovarianceKind::ALL.into_iter();
    all.chain([CovarianceKind::Identity]).collect()
}

#[test]
fn the_likelihood_never_falls_and_the_bound_lies_between() {
    let tables = [
        rows(240, 0.0, 0.1, 1).plain(),
        rows(240, 0.2, 0.1, 2).plain(),
        rows(240, 0.2, 0.0, 3).weighted().plain(),
    ];
    for covariance in structures() {
        for tails in [LEARNED, Tails::StudentT { degrees: Some(2.5) }] {
            for (number, table) in tables.iter().enumerate() {
                let specification = Specification {
                    variance_floor: 0.0,
                    ..specification(covariance, tails)
                };
                let fit = fitted(table, &specification);
                let case = format!("{covariance:?} {tails:?} table {number}");
                assert!(fit.monotone, "{case}");
                assert!(!fit.bounds.is_empty());
                for (i, bound) in fit.bounds.iter().enumerate() {
                    let rounding = 1e-9 * (1.0 + bound.abs());
                    let (before, after) = (fit.trace[i], fit.trace[i + 1]);
                    assert!(*bound >= before - rounding, "{case}: {bound} {before}");
                    assert!(*bound <= after + rounding, "{case}: {bound} {after}");
                }
            }
        }
    }
}

#[test]
fn the_objective_never_falls_with_priors_and_hard_em() {
    let table = rows(240, 0.2, 0.1, 4).weighted().plain();
    for covariance in structures() {
        for (floor, prior) in [
            (1e-2, None),
            (1e-6, Some("mclust".parse::<NormalPrior>().unwrap())),
        ] {
            for step in [EStep::Soft, EStep::Hard] {
                let specification = Specification {
                    variance_floor: floor,
                    normal_prior: prior,
                    ..specification(covariance, LEARNED)
                };
                let options = options(step, 60);
                let fit = fit(&specification, &table, &options, Control::default()).unwrap();
                assert!(fit.monotone, "{covariance:?} {floor} {step:?}");
            }
        }
    }
}

#[test]
fn weight_2_equals_the_row_twice_and_weight_0_no_row() {
    let original = rows(200, 0.2, 0.1, 5);
    let weight = |row: usize| [1.0, 2.0, 0.0][row % 3];
    let twice = original.cells.iter().enumerate();
    let twice = twice.flat_map(|(row, cells)| vec![*cells; weight(row) as usize]);
    let repeated = Rows {
        cells: twice.collect(),
        weights: None,
    };
    let weighted = Rows {
        weights: Some((0..200).map(weight).collect()),
        ..original
    };
    for covariance in [CovarianceKind::Full, CovarianceKind::Diagonal] {
        let specification = Specification {
            components: Some(1),
            ..specification(covariance, LEARNED)
        };
        let (a, b) = (
            fitted(&weighted.plain(), &specification),
            fitted(&repeated.plain(), &specification),
        );
        assert!((a.log_likelihood - b.log_likelihood).abs() < 1e-8 * b.log_likelihood.abs());
        let (a, b) = (component(&a, 0), component(&b, 0));
        assert!((a.degrees - b.degrees).abs() < 1e-8 * b.degrees);
    }
}

#[test]
fn a_change_of_units_changes_only_the_units() {
    let original = rows(240, 0.1, 0.1, 6);
    let units = [1e3, 1e-2, 7.0];
    for covariance in [
        CovarianceKind::Full,
        CovarianceKind::Tied,
        CovarianceKind::Diagonal,
    ] {
        let specification = specification(covariance, LEARNED);
        let (a, b) = (
            fitted(&original.plain(), &specification),
            fitted(&original.table(|c, x| 50.0 + units[c] * x), &specification),
        );
        for j in 0..2 {
            let (a, b) = (component(&a, j), component(&b, j));
            assert!(
                (a.degrees - b.degrees).abs() < 1e-5 * a.degrees,
                "{a:?} {b:?}"
            );
            for (c, unit) in units.iter().enumerate() {
                let moved = 50.0 + unit * a.gaussian.mean[c];
                assert!((b.gaussian.mean[c] - moved).abs() < 1e-5 * unit);
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let table = rows(9000, 0.1, 0.1, 7).plain();
    let parameters = |threads: usize| {
        let fit = with_threads(threads, || {
            fitted(&table, &specification(CovarianceKind::Full, LEARNED))
        });
        serde_json::to_string(&fit.mixture.parameters).unwrap()
    };
    assert_eq!(parameters(1), parameters(3));
}

#[test]
fn the_largest_degrees_of_freedom_equal_a_gaussian() {
    let table = rows(300, 0.2, 0.0, 8).plain();
    let many = Tails::StudentT {
        degrees: Some(MultivariateStudentT::MAX_DEGREES),
    };
    for covariance in [CovarianceKind::Full, CovarianceKind::Diagonal] {
        let t = fitted(&table, &specification(covariance, many));
        let gaussian = fitted(&table, &specification(covariance, Tails::Gaussian));
        let difference = t.log_likelihood - gaussian.log_likelihood;
        assert!(difference.abs() < 1e-2, "{covariance:?}: {difference}");
        assert_eq!(t.parameters, gaussian.parameters);
    }
    let learned = fitted(&table, &specification(CovarianceKind::Full, LEARNED));
    assert_eq!(learned.parameters, 2 * 9 + 1 + 2);
}

#[test]
fn rows_without_outliers_have_many_degrees_of_freedom() {
    let table = rows(300, 0.0, 0.0, 14).plain();
    let specification = specification(CovarianceKind::Full, LEARNED);
    let options = FitOptions::default();
    let fit = fit(&specification, &table, &options, Control::default()).unwrap();
    assert!(
        fit.converged && fit.monotone,
        "{} iterations",
        fit.iterations
    );
    let degrees = component(&fit, 0).degrees.max(component(&fit, 1).degrees);
    assert!((20.0..=MultivariateStudentT::MAX_LEARNED).contains(&degrees));
}

#[test]
fn squarem_needs_half_the_iterations_for_light_tails() {
    let table = rows(300, 0.0, 0.0, 14).plain();
    let specification = specification(CovarianceKind::Full, LEARNED);
    let [plain, squarem] = [Acceleration::None, Acceleration::Squarem].map(|acceleration| {
        let options = FitOptions {
            em: EmOptions {
                acceleration,
                max_iterations: 5000,
                ..EmOptions::default()
            },
            ..FitOptions::default()
        };
        fit(&specification, &table, &options, Control::default()).unwrap()
    });
    assert!(squarem.monotone && squarem.converged);
    assert!(squarem.log_likelihood >= plain.log_likelihood - 1e-6);
    assert!(
        2 * squarem.iterations < plain.iterations,
        "{} {}",
        squarem.iterations,
        plain.iterations
    );
}

#[test]
fn the_objective_never_falls_with_fewer_rows_than_columns() {
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    let mut column = || {
        let numbers = (0..10).map(|_| Some(rng.sample::<f64, _>(StandardNormal)));
        Column::from_numbers(numbers.collect::<Vec<_>>())
    };
    let columns: Vec<Column> = (0..30).map(|_| column()).collect();
    let fields = (0..30).map(|c| Field::new(format!("c{c}"), Kind::Real));
    let table = Table::new(Schema::new(fields.collect()), columns, None).unwrap();
    for components in [1, 2] {
        let specification = Specification {
            components: Some(components),
            ..specification(CovarianceKind::Full, LEARNED)
        };
        let fit = fitted(&table, &specification);
        assert!(fit.monotone, "{components}: {:?}", fit.trace);
    }
}

/// Mean squared error of the locations and of the scale matrices, up to a factor.
fn errors(fit: &Fit) -> (f64, f64) {
    let parts = fit.mixture.parameters.leaves[0]
        .iter()
        .map(|component| match component {
            Distribution::MultivariateStudentT(t) => &t.gaussian,
            Distribution::Multivariate(gaussian) => gaussian,
            other => panic!("{other:?}"),
        });
    let mut parts: Vec<_> = parts.collect();
    parts.sort_by(|a, b| a.mean[0].total_cmp(&b.mean[0]));
    let (mut means, mut matrices) = (0.0, 0.0);
    for (gaussian, group) in parts.iter().zip([0.0, 6.0]) {
        let truth = [group, 0.0, -group];
        let matrix = [[1.0, 0.7, 0.0], [0.7, 0.74, 0.0], [0.0, 0.0, 4.0]];
        for i in 0..3 {
            means += (gaussian.mean[i] - truth[i]).powi(2) / 6.0;
            for (j, truth) in matrix[i].iter().enumerate() {
                matrices += (gaussian.covariance(i, j) - truth).powi(2) / 18.0;
            }
        }
    }
    (means.sqrt(), matrices.sqrt())
}

#[test]
fn outliers_move_a_t_less_than_a_gaussian() {
    let table = rows(2000, 0.0, 0.1, 9).plain();
    let full = CovarianceKind::Full;
    let t = errors(&fitted(&table, &specification(full, LEARNED)));
    let gaussian = errors(&fitted(&table, &specification(full, Tails::Gaussian)));
    assert!(t.0 < 0.25 && t.0 < 0.5 * gaussian.0, "{t:?} {gaussian:?}");
    assert!(t.1 < 0.1 * gaussian.1, "{t:?} {gaussian:?}");
}

fn row(cells: [Option<f64>; 3]) -> Chunk {
    let columns = cells.map(|cell| Column::from_numbers([cell]));
    Chunk::new(1, columns.to_vec(), None)
}

#[test]
fn conditionals_of_a_missing_value_agree_with_the_joint_density() {
    let table = rows(300, 0.1, 0.1, 10).plain();
    for covariance in [CovarianceKind::Full, CovarianceKind::Diagonal] {
        let mixture = fitted(&table, &specification(covariance, LEARNED)).mixture;
        let given = [Some(4.0), None, Some(-9.0)];
        let Conditional::Numbers(parts) = mixture.condition(&given, 1).unwrap() else {
            panic!("expected a numeric conditional");
        };
        let observed = mixture.log_density(&row(given)).unwrap()[0];
        for x in [-20.0, -1.0, 0.3, 2.0, 40.0] {
            let joint = mixture
                .log_density(&row([given[0], Some(x), given[2]]))
                .unwrap()[0];
            let each = parts.iter().map(|(weight, part)| match part {
                Distribution::StudentT(t) => weight * t.log_density(x).exp(),
                other => panic!("{other:?}"),
            });
            let conditional: f64 = each.sum();
            assert!(
                (conditional.ln() - (joint - observed)).abs() < 1e-8,
                "{covariance:?} at {x}"
            );
        }
    }
}

#[test]
fn draws_of_missing_values_have_the_conditional_distribution() {
    let table = rows(300, 0.0, 0.1, 11).plain();
    for covariance in [CovarianceKind::Full, CovarianceKind::Spherical] {
        let mixture = fitted(&table, &specification(covariance, LEARNED)).mixture;
        let given = [Some(4.0), None, Some(-9.0)];
        let Conditional::Numbers(parts) = mixture.condition(&given, 1).unwrap() else {
            panic!("expected a numeric conditional");
        };
        const DRAWS: usize = 20_000;
        let copies = given.map(|cell| Column::from_numbers(vec![cell; DRAWS]));
        let chunk = Chunk::new(DRAWS, copies.to_vec(), None);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let filled = mixture.complete(&chunk, Fill::Draw, &mut rng).unwrap();
        let drawn = filled.column(1).cells(0, DRAWS);
        for x in [-5.0, -1.0, 0.0, 1.5, 6.0] {
            let share = drawn.reals().iter().filter(|drawn| **drawn <= x).count() as f64;
            let each = parts.iter().map(|(weight, part)| match part {
                Distribution::StudentT(t) => weight * t.cdf(x),
                other => panic!("{other:?}"),
            });
            let expected: f64 = each.sum();
            let error = (share / DRAWS as f64 - expected).abs();
            // Five standard deviations of a proportion.
            assert!(error < 2.5 / (DRAWS as f64).sqrt(), "{covariance:?} at {x}");
        }
    }
}

#[test]
fn files_of_mixtures_with_tails_round_trip() {
    let table = rows(200, 0.1, 0.1, 12).plain();
    let fit = fitted(&table, &specification(CovarianceKind::Vee, LEARNED));
    let text = serde_json::to_string(&fit.mixture).unwrap();
    let back: abduce::model::mixture::FittedMixture = serde_json::from_str(&text).unwrap();
    back.check().unwrap();
    let chunk = row([Some(1.0), None, Some(2.0)]);
    assert_eq!(
        fit.mixture.log_density(&chunk).unwrap(),
        back.log_density(&chunk).unwrap()
    );
}

#[test]
fn degrees_of_freedom_out_of_range_are_an_error() {
    let table = rows(50, 0.0, 0.0, 13).plain();
    for degrees in [0.0, -3.0, f64::NAN, 1e9] {
        let tails = Tails::StudentT {
            degrees: Some(degrees),
        };
        let specification = specification(CovarianceKind::Full, tails);
        let options = FitOptions::default();
        let result = fit(&specification, &table, &options, Control::default());
        assert!(result.unwrap_err().to_string().contains("degrees"));
    }
}
