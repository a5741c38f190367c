//! Stochastic EM (labels drawn from the posterior) and online EM (batches).

use super::{clusters, initial_parameters, run_em};
use crate::common::{Streamed, real_table, with_threads};
use abduce::Control;
use abduce::data::{Source, Table};
use abduce::learn::{Acceleration, EStep, EmOptions, Online};
use abduce::model::mixture::{CovarianceKind, FitOptions, Reals, Specification};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Three groups with standard deviation 1, whose means are `distance` apart.
fn three_groups(rows: usize, distance: f64, seed: u64) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut x = Vec::new();
    for _ in 0..rows {
        let group = rng.random_range(0..3);
        let z: f64 = rng.sample(StandardNormal);
        x.push(Some(distance * f64::from(group) + z));
    }
    real_table([x], None)
}

fn three() -> Specification {
    Specification {
        reals: Reals::Alone,
        ..Specification::mixture(3, CovarianceKind::Full)
    }
}

fn sampled() -> EmOptions {
    EmOptions {
        step: EStep::Sampled,
        ..EmOptions::default()
    }
}

#[test]
fn stochastic_em_leaves_poor_local_maxima_of_em() {
    let specification = three();
    let mut better = 0;
    for seed in 0..20 {
        let data = three_groups(100, 2.5, seed);
        let start = initial_parameters(&specification, &data, seed);
        let plain = run_em(&specification, &data, &start, EmOptions::default());
        let drawn = run_em(&specification, &data, &start, sampled());
        let gain = drawn.log_likelihood - plain.log_likelihood;
        assert!(gain > -1e-4, "{seed}: {gain}");
        better += usize::from(gain > 0.5 && drawn.warnings.is_empty());
    }
    assert!(better > 0);
}

fn bits(fit: &abduce::model::mixture::Fit) -> Vec<u64> {
    let objectives = [fit.warmup.as_slice(), &fit.trace].concat();
    objectives.into_iter().map(f64::to_bits).collect()
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads_and_streamed() {
    let data = clusters(10_000, 3, 2, 2.0, 6);
    let specification = Specification::mixture(3, CovarianceKind::Full);
    let start = initial_parameters(&specification, &data, 1);
    let online = EmOptions {
        online: Some(Online {
            batch: 4096,
            passes: 2,
        }),
        tolerance: 1e-5,
        ..EmOptions::default()
    };
    let squarem = EmOptions {
        acceleration: Acceleration::Squarem,
        ..EmOptions::default()
    };
    for em in [sampled(), online, squarem] {
        let mut seen = Vec::new();
        for threads in [1, 3] {
            let one = |data: &dyn Source| bits(&run_em(&specification, data, &start, em.clone()));
            seen.push(with_threads(threads, || one(&data)));
            seen.push(with_threads(threads, || one(&Streamed(data.clone()))));
        }
        assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{em:?}");
    }
}

#[test]
fn the_seed_determines_the_drawn_labels() {
    let data = three_groups(300, 4.0, 2);
    let one = |seed: u64| {
        let options = FitOptions {
            em: sampled(),
            seed,
            ..FitOptions::default()
        };
        let start = initial_parameters(&three(), &data, 0);
        let control = Control::default();
        abduce::model::mixture::fit_from(&three(), &data, Some(&start), &options, control)
            .unwrap()
            .warmup
    };
    assert_eq!(one(1), one(1));
    assert_ne!(one(1), one(2));
}

#[test]
fn stochastic_rounds_are_followed_by_a_monotone_trace() {
    let data = clusters(2000, 3, 2, 2.5, 7);
    let specification = Specification::mixture(3, CovarianceKind::Tied);
    let start = initial_parameters(&specification, &data, 0);
    let em = EmOptions {
        rounds: 20,
        ..sampled()
    };
    let fit = run_em(&specification, &data, &start, em);
    assert!(fit.warmup.len() > 20);
    assert!(fit.monotone && fit.converged);
    let best = fit.warmup.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(fit.log_likelihood >= best - 1e-9 * best.abs());
    assert!(fit.iterations >= fit.warmup.len() + fit.bounds.len());
}

#[test]
fn online_em_is_as_accurate_as_em_of_the_same_tolerance_in_half_the_passes() {
    for (seed, kind) in [
        (1, CovarianceKind::Full),
        (2, CovarianceKind::Diagonal),
        (3, CovarianceKind::Tied),
    ] {
        let data = clusters(200_000, 4, 3, 2.0, seed);
        let specification = Specification::mixture(4, kind);
        let start = initial_parameters(&specification, &data, seed);
        let plain = run_em(&specification, &data, &start, EmOptions::PLAIN);
        let tolerant = EmOptions {
            tolerance: 1e-5,
            ..EmOptions::PLAIN
        };
        let coarse = run_em(&specification, &data, &start, tolerant);
        let em = EmOptions {
            tolerance: 1e-5,
            online: Some(Online::default()),
            ..EmOptions::default()
        };
        let online = run_em(&specification, &Streamed(data.clone()), &start, em);
        let rows = data.rows() as f64;
        let gap = (plain.log_likelihood - online.log_likelihood) / rows;
        assert!(online.monotone && online.converged, "{kind:?}");
        let coarse_gap = (plain.log_likelihood - coarse.log_likelihood) / rows;
        assert!(gap < 1.1 * coarse_gap, "{kind:?}: {gap} {coarse_gap}");
        assert!(2 * online.iterations < coarse.iterations, "{kind:?}");
    }
}

#[test]
fn one_batch_of_all_rows_equals_plain_em() {
    let data = clusters(3000, 2, 2, 2.0, 8);
    let specification = Specification::mixture(2, CovarianceKind::Full);
    let start = initial_parameters(&specification, &data, 0);
    let online = EmOptions {
        online: Some(Online::default()),
        ..EmOptions::default()
    };
    let (a, b) = (
        run_em(&specification, &data, &start, online),
        run_em(&specification, &data, &start, EmOptions::default()),
    );
    assert_eq!(bits(&a), bits(&b));
}
