//! SQUAREM: the objective never decreases, and fewer passes are needed.

use super::{clusters, initial_parameters, mixed, run_em};
use abduce::data::Table;
use abduce::leaf::FamilyName;
use abduce::learn::{Acceleration, EmOptions};
use abduce::model::mixture::{CovarianceKind, Fit, Reals, Specification};

fn cases() -> Vec<(String, Specification, Table)> {
    let mut cases = Vec::new();
    for kind in CovarianceKind::ALL {
        let specification = Specification::mixture(2, kind);
        cases.push((
            kind.code().into(),
            specification,
            clusters(1000, 2, 3, 1.2, 1),
        ));
    }
    for (rows, k, distance) in [(2000, 2, 1.0), (2000, 3, 1.5), (1000, 4, 2.0)] {
        let specification = Specification::mixture(k, CovarianceKind::Full);
        let name = format!("{k} full, distance {distance}");
        cases.push((name, specification, clusters(rows, k, 2, distance, 2)));
    }
    let alone = Specification {
        reals: Reals::Alone,
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    cases.push(("alone".into(), alone.clone(), clusters(1000, 2, 2, 1.5, 3)));
    let gamma: FamilyName = "gamma".parse().unwrap();
    let exponential: FamilyName = "exponential".parse().unwrap();
    let log_normal: FamilyName = "log-normal".parse().unwrap();
    let geometric: FamilyName = "geometric".parse().unwrap();
    for (name, wait) in [
        ("exponential", exponential),
        ("gamma", gamma),
        ("log-normal", log_normal),
    ] {
        let specification = Specification {
            families: vec![("wait".into(), wait)],
            ..alone.clone()
        };
        cases.push((name.into(), specification, mixed(1500, 4)));
    }
    let specification = Specification {
        families: vec![("wait".into(), gamma), ("count".into(), geometric)],
        smoothing: 1.0,
        ..alone
    };
    cases.push(("smoothed".into(), specification.clone(), mixed(1500, 5)));
    let specification = Specification {
        components: Some(3),
        ..specification
    };
    cases.push(("smoothed, 3".into(), specification, mixed(1500, 5)));
    cases
}

fn objective(fit: &Fit) -> f64 {
    fit.log_likelihood + fit.mixture.log_prior()
}

fn accelerated(acceleration: Acceleration) -> EmOptions {
    EmOptions {
        acceleration,
        max_iterations: 20_000,
        ..EmOptions::default()
    }
}

#[test]
fn squarem_never_decreases_the_objective_and_needs_half_the_passes() {
    let (mut plain_passes, mut squarem_passes, mut auto_passes) = (0, 0, 0);
    for (name, specification, data) in cases() {
        for seed in 0..2 {
            let start = initial_parameters(&specification, &data, seed);
            let plain = run_em(
                &specification,
                &data,
                &start,
                accelerated(Acceleration::None),
            );
            // Differences below the tolerance do not count.
            let negligible = 1e-8 * (plain.weight + plain.log_likelihood.abs());
            let mut counts = vec![plain.iterations];
            let mut gains = Vec::new();
            for acceleration in [Acceleration::Squarem, Acceleration::Auto] {
                let fit = run_em(&specification, &data, &start, accelerated(acceleration));
                assert!(
                    fit.monotone && fit.converged,
                    "{name} {seed} {acceleration:?}"
                );
                assert_eq!(fit.bounds.len() + 1, fit.trace.len());
                assert!(fit.iterations >= fit.bounds.len());
                assert_eq!(fit.trace.last(), Some(&fit.log_likelihood));
                counts.push(fit.iterations);
                gains.push(objective(&fit) - objective(&plain));
            }
            println!("{name:>20} {seed} passes {counts:?} gains {gains:?}");
            let lower = gains.iter().any(|gain| *gain < -negligible);
            assert!(!lower, "{name} {seed}: {gains:?}");
            plain_passes += counts[0];
            squarem_passes += counts[1];
            auto_passes += counts[2];
        }
    }
    println!("passes: plain {plain_passes}, squarem {squarem_passes}, auto {auto_passes}");
    assert!(2 * squarem_passes < plain_passes && 2 * auto_passes < plain_passes);
}

#[test]
fn squarem_stays_at_a_maximum_of_em() {
    for (name, specification, data) in cases() {
        let start = initial_parameters(&specification, &data, 0);
        let fine = EmOptions {
            tolerance: 1e-13,
            ..accelerated(Acceleration::None)
        };
        let plain = run_em(&specification, &data, &start, fine.clone());
        let squarem = EmOptions {
            acceleration: Acceleration::Squarem,
            ..fine
        };
        let maximum = plain.mixture.parameters.clone();
        let fit = run_em(&specification, &data, &maximum, squarem);
        let gain = objective(&fit) - objective(&plain);
        let scale = plain.log_likelihood.abs();
        assert!(gain.abs() < 1e-8 * scale, "{name}: {gain}");
        let weights = fit.mixture.parameters.weights.iter();
        let moved = weights.zip(&maximum.weights).map(|(a, b)| (a - b).abs());
        let moved = moved.fold(0.0, f64::max);
        assert!(moved < 1e-2, "{name}: {moved}");
    }
}
