//! Fits started from another kind of mixture (with other tails, without noise), and fits by
//! hard and stochastic EM.

use abduce::Control;
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::learn::{EStep, EmOptions};
use abduce::model::mixture::{
    CovarianceKind, Fit, FitOptions, Specification, Tails, fit, fit_from_mixture,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Two clusters of 300 and 200 rows, and `noise` rows of uniform noise.
fn clusters(noise: usize) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in 0..500 + noise {
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let (a, b) = match row {
            0..300 => (normal(), normal()),
            300..500 => (8.0 + normal(), 5.0 + 0.5 * normal()),
            _ => (rng.random_range(-20.0..30.0), rng.random_range(-20.0..30.0)),
        };
        x.push(Some(a));
        y.push(Some(b));
    }
    let fields = ["x", "y"].map(|name| Field::new(name, Kind::Real));
    let columns = [x, y].map(Column::from_numbers);
    Table::new(Schema::new(fields.to_vec()), columns.to_vec(), None).unwrap()
}

fn options(step: EStep) -> FitOptions {
    FitOptions {
        em: EmOptions {
            step,
            tolerance: 1e-12,
            max_iterations: 5000,
            ..EmOptions::default()
        },
        ..FitOptions::default()
    }
}

fn learn(specification: &Specification, step: EStep) -> Fit {
    learn_from(&clusters(80), specification, step)
}

fn learn_from(table: &Table, specification: &Specification, step: EStep) -> Fit {
    let options = options(step);
    fit(specification, table, &options, Control::default()).unwrap()
}

fn continue_from(specification: &Specification, from: &Fit, step: EStep) -> Fit {
    let (table, options) = (clusters(80), options(step));
    fit_from_mixture(
        specification,
        &table,
        &from.mixture,
        &options,
        Control::default(),
    )
    .unwrap()
}

fn plain() -> Specification {
    Specification::mixture(2, CovarianceKind::Full)
}

fn noisy() -> Specification {
    Specification {
        noise: true,
        ..plain()
    }
}

fn assert_same_maximum(a: &Fit, b: &Fit) {
    assert!(a.monotone && b.monotone);
    let difference = (a.log_likelihood - b.log_likelihood).abs();
    assert!(difference < 1e-6 * b.log_likelihood.abs(), "{difference}");
}

#[test]
fn a_start_with_other_tails_reaches_the_same_maximum() {
    let tailed = Specification {
        tails: Tails::StudentT { degrees: None },
        ..plain()
    };
    let gaussian = learn_from(&clusters(0), &plain(), EStep::Soft);
    let t = learn(&tailed, EStep::Soft);
    assert_same_maximum(&continue_from(&tailed, &gaussian, EStep::Soft), &t);
    let back = continue_from(&plain(), &t, EStep::Soft);
    assert!(back.monotone && back.converged);
    assert!(back.log_likelihood < t.log_likelihood - 10.0);
}

#[test]
fn a_start_without_noise_reaches_the_maximum_with_noise() {
    let without = learn_from(&clusters(0), &plain(), EStep::Soft);
    let gained = continue_from(&noisy(), &without, EStep::Soft);
    assert_eq!(gained.mixture.names(), ["1", "2", "noise"]);
    assert_same_maximum(&gained, &learn(&noisy(), EStep::Soft));
}

#[test]
fn hard_em_never_falls_and_stops_at_once_when_started_at_its_result() {
    for specification in [plain(), noisy()] {
        let hard = learn(&specification, EStep::Hard);
        assert!(hard.monotone && hard.converged);
        let again = continue_from(&specification, &hard, EStep::Hard);
        assert!(again.monotone && again.converged && again.iterations <= 2);
    }
}

#[test]
fn stochastic_em_with_noise_ends_no_lower_than_em_and_is_reproducible() {
    let (drawn, soft) = (
        learn(&noisy(), EStep::Sampled),
        learn(&noisy(), EStep::Soft),
    );
    assert!(drawn.monotone && drawn.converged);
    let rounding = 1e-6 * soft.log_likelihood.abs();
    assert!(drawn.log_likelihood >= soft.log_likelihood - rounding);
    assert_eq!(
        drawn.log_likelihood,
        learn(&noisy(), EStep::Sampled).log_likelihood
    );
}

#[test]
fn a_start_of_another_structure_reaches_the_same_maximum_for_distant_clusters() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in 0..400 {
        let (far, spread) = if row < 200 { (0.0, 1.0) } else { (2000.0, 3.0) };
        x.push(Some(far + spread * normal()));
        y.push(Some(far + 2.0 * normal()));
    }
    let fields = ["x", "y"].map(|name| Field::new(name, Kind::Real));
    let columns = [x, y].map(Column::from_numbers);
    let table = Table::new(Schema::new(fields.to_vec()), columns.to_vec(), None).unwrap();
    let free = Specification::mixture(2, CovarianceKind::Full);
    let start = learn_from(&table, &free, EStep::Soft);
    for covariance in [
        CovarianceKind::Tied,
        CovarianceKind::Eii,
        CovarianceKind::Eei,
    ] {
        let specification = Specification::mixture(2, covariance);
        let expected = learn_from(&table, &specification, EStep::Soft);
        let options = options(EStep::Soft);
        let control = Control::default();
        let found = fit_from_mixture(&specification, &table, &start.mixture, &options, control);
        let difference = found.unwrap().log_likelihood - expected.log_likelihood;
        assert!(difference.abs() < 1e-6, "{difference} {covariance:?}");
    }
}
