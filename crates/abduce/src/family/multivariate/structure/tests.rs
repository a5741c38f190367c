//! Every structure's estimate beats all its neighbours of the same structure, and
//! wider structures reach at least what narrower ones do.

use super::*;
use crate::kernel::eigen::{Eigen, eigen, identity, rotate_columns};
use crate::kernel::linear::{Square, cholesky, gram, invert_lower, log_diagonal};
use ellipsoidal::turned;

const ORDER: usize = 3;

/// Three scatters of different size, shape and axes.
fn scatters() -> Vec<Whole> {
    let rows = [20.0, 35.0, 12.5];
    let make = |(j, weight): (usize, f64)| {
        let j = j as f64;
        let values = [5.0 + j, 2.0 / (1.0 + j), 0.3 + 0.2 * j * j].map(|v| v * weight);
        let mut vectors = identity(ORDER);
        for (p, q, angle) in [(0, 1, 0.4 + 0.5 * j), (1, 2, 1.0 - 0.3 * j), (0, 2, 0.2)] {
            rotate_columns(&mut vectors, ORDER, p, q, f64::cos(angle), f64::sin(angle));
        }
        Whole {
            scatter: turned(&vectors, &values),
            weight,
        }
    };
    rows.into_iter().enumerate().map(make).collect()
}

/// The estimates of any structure as whole matrices.
fn estimates(structure: Structure, all: &[Whole]) -> Vec<Square> {
    if structure.is_correlated() {
        return matrices(structure, ORDER, all, None).unwrap();
    }
    let apart: Vec<Apart> = all
        .iter()
        .map(|stats| Apart {
            weights: vec![stats.weight; ORDER],
            scatters: (0..ORDER).map(|c| stats.scatter[c * ORDER + c]).collect(),
        })
        .collect();
    let found = variances(structure, &apart).unwrap();
    let axes = identity(ORDER);
    found
        .iter()
        .map(|variances| turned(&axes, variances))
        .collect()
}

fn log_likelihood(all: &[Whole], covariances: &[Square]) -> f64 {
    let each = all.iter().zip(covariances).map(|(stats, covariance)| {
        let factor = cholesky(covariance, ORDER).unwrap();
        let precision = gram(&invert_lower(&factor, ORDER), ORDER);
        let trace: f64 = precision
            .iter()
            .zip(&stats.scatter)
            .map(|(p, s)| p * s)
            .sum();
        stats.weight * log_diagonal(&factor, ORDER) + 0.5 * trace
    });
    -each.sum::<f64>()
}

/// The covariances with volume, shape and axes changed a little, in the same way for
/// all components where the structure's code says E, in its own for each where V.
fn changed(structure: Structure, covariances: &[Square], seed: usize) -> Vec<Square> {
    let letters: Vec<char> = structure.code().chars().collect();
    let step = |what: usize, j: usize, i: usize| match letters[what] {
        'V' => 1e-3 * ((seed * 7 + what * 31 + j * 13 + i * 5 + 1) as f64).sin(),
        'E' => 1e-3 * ((seed * 7 + what * 31 + i * 5 + 1) as f64).sin(),
        _ => 0.0,
    };
    let one = |(j, covariance): (usize, &Square)| {
        let mut axes = match letters[2] {
            'I' => Eigen {
                values: (0..ORDER).map(|c| covariance[c * ORDER + c]).collect(),
                vectors: identity(ORDER),
            },
            _ => eigen(covariance, ORDER),
        };
        let mean = (0..ORDER).map(|i| step(1, j, i)).sum::<f64>() / ORDER as f64;
        let values = axes.values.iter().enumerate();
        let values: Vec<f64> = values
            .map(|(i, v)| v * (step(0, j, 0) + step(1, j, i) - mean).exp())
            .collect();
        let mut turn = identity(ORDER);
        for (p, q) in [(0, 1), (1, 2), (0, 2)] {
            let angle = step(2, j, p + q);
            rotate_columns(&mut turn, ORDER, p, q, angle.cos(), angle.sin());
        }
        // The turn acts on all axes alike.
        let vectors = axes.vectors.clone();
        for (axis, old) in axes
            .vectors
            .chunks_exact_mut(ORDER)
            .zip(vectors.chunks_exact(ORDER))
        {
            for (r, entry) in axis.iter_mut().enumerate() {
                *entry = (0..ORDER).map(|c| turn[c * ORDER + r] * old[c]).sum();
            }
        }
        turned(&axes.vectors, &values)
    };
    covariances.iter().enumerate().map(one).collect()
}

#[test]
fn every_structure_is_estimated_better_than_all_its_neighbours() {
    let all = scatters();
    for structure in Structure::ALL {
        let found = estimates(structure, &all);
        let best = log_likelihood(&all, &found);
        for seed in 0..200 {
            let near = log_likelihood(&all, &changed(structure, &found, seed));
            assert!(
                near <= best + 1e-9,
                "{} is beaten by {} at {seed}",
                structure.code(),
                near - best
            );
        }
    }
}

#[test]
fn wider_structures_reach_at_least_what_narrower_ones_do() {
    let all = scatters();
    let reached = |structure| log_likelihood(&all, &estimates(structure, &all));
    let wider =
        |letter: char, narrower: char| letter == narrower || narrower == 'I' || letter == 'V';
    for a in Structure::ALL {
        for b in Structure::ALL {
            if a.code()
                .chars()
                .zip(b.code().chars())
                .all(|(a, b)| wider(a, b))
            {
                assert!(reached(a) >= reached(b) - 1e-9, "{} {}", a.code(), b.code());
                assert!(a.parameters(ORDER, 3) >= b.parameters(ORDER, 3));
            }
        }
    }
}

#[test]
fn a_search_that_begins_at_its_end_stays_there() {
    let all = scatters();
    for structure in [Structure::Eve, Structure::Vve] {
        let found = estimates(structure, &all);
        let again = matrices(structure, ORDER, &all, Some(&found)).unwrap();
        let gain = log_likelihood(&all, &again) - log_likelihood(&all, &found);
        assert!(gain.abs() < 1e-9, "{gain}");
    }
}

#[test]
fn variances_of_one_volume_are_best_also_where_columns_were_seen_in_different_rows() {
    let all = [
        ([10.0, 4.0, 7.0], [3.0, 8.0, 2.0]),
        ([5.0, 5.0, 2.0], [9.0, 0.7, 4.0]),
    ]
    .map(|(weights, scatters)| Apart {
        weights: weights.to_vec(),
        scatters: scatters.to_vec(),
    });
    let found = variances(Structure::Evi, &all).unwrap();
    let volume = |variances: &Vec<f64>| variances.iter().product::<f64>();
    assert!((volume(&found[0]) / volume(&found[1]) - 1.0).abs() < 1e-12);
    let log_likelihood = |of: &[Vec<f64>]| {
        let each = all.iter().zip(of).map(|(stats, variances)| {
            let columns = stats.weights.iter().zip(&stats.scatters).zip(variances);
            columns
                .map(|((n, s), v)| -0.5 * (n * v.ln() + s / v))
                .sum::<f64>()
        });
        each.sum::<f64>()
    };
    let best = log_likelihood(&found);
    for (j, from, to) in [(0, 0, 1), (0, 2, 1), (1, 0, 2), (1, 1, 0)] {
        for step in [1e-3, -1e-3] {
            let mut near = found.clone();
            near[j][from] *= f64::exp(step);
            near[j][to] /= f64::exp(step);
            assert!(log_likelihood(&near) < best);
        }
    }
    for step in [1e-3, -1e-3] {
        let mut near = found.clone();
        near.iter_mut()
            .for_each(|variances| variances[0] *= f64::exp(step));
        assert!(log_likelihood(&near) < best);
    }
}

#[test]
fn names_and_codes_are_read_whatever_their_case() {
    for structure in Structure::ALL.into_iter().chain([Structure::Identity]) {
        assert_eq!(structure.code().parse::<Structure>().unwrap(), structure);
        let lower = structure.name().to_lowercase();
        assert_eq!(lower.parse::<Structure>().unwrap(), structure);
    }
    assert!("EIE".parse::<Structure>().is_err());
}
