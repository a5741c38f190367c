//! Distances: every objective decreases, and special cases agree with each other.

use super::*;
use abduce::model::kmeans::{Distance, medoids};

fn fit_with(distance: Distance, rows: &[Row], k: usize) -> Fit {
    let specification = Specification {
        distance,
        ..Specification::new(k)
    };
    fitted(&specification, rows, &Options::default())
}

#[test]
fn the_objective_never_rises_with_any_distance_and_missing_values() {
    let rows = clustered(500, 3, 4, 3);
    for rows in [with_missing_values(rows.clone()), rows] {
        for name in ["euclidean", "manhattan", "cosine", "mahalanobis"] {
            let fit = fit_with(name.parse().unwrap(), &rows, 5);
            assert!(fit.monotone && fit.converged, "{name}");
            assert!(
                fit.trace
                    .windows(2)
                    .all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12))
            );
            assert!(fit.inertia > 0.0);
        }
    }
}

#[test]
fn manhattan_centres_are_medians() {
    let x = [0.0, 1.0, 2.0, 100.0, 1000.0, 1001.0, 1003.0];
    let rows: Vec<Row> = x.iter().map(|x| vec![Some(*x)]).collect();
    let fit = fit_with(Distance::Manhattan, &rows, 2);
    assert_eq!(fit.model.centres, [[1.5], [1001.0]]);
    assert_eq!(fit.inertia, 1.5 + 0.5 + 0.5 + 98.5 + 1.0 + 2.0);
}

#[test]
fn cosine_distance_ignores_lengths() {
    let rows: Vec<Row> = (1..60)
        .map(|i| {
            let angle = if i % 2 == 0 { 0.1 } else { 1.4 } + 0.001 * f64::from(i);
            let length = f64::from(i * i);
            vec![Some(length * angle.cos()), Some(length * angle.sin())]
        })
        .chain([vec![Some(0.0), Some(0.0)]])
        .collect();
    let fit = fit_with(Distance::Cosine, &rows, 2);
    assert_eq!(fit.model.sizes, [30.0, 29.0]);
    for centre in &fit.model.centres {
        assert!((centre.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
    }
    assert!(fit.inertia < 0.1);
    assert!(
        fit.warnings
            .iter()
            .any(|warning| warning.contains("only zeros"))
    );
}

#[test]
fn mahalanobis_is_invariant_under_linear_maps() {
    let rows = clustered(400, 2, 3, 5);
    let mapped: Vec<Row> = (rows.iter())
        .map(|row| {
            let (x, y) = (row[0].unwrap(), row[1].unwrap());
            vec![Some(100.0 * x + 3.0 * y + 7.0), Some(x - 0.01 * y)]
        })
        .collect();
    let (plain, mapped) = (
        fit_with(Distance::Mahalanobis, &rows, 3),
        fit_with(Distance::Mahalanobis, &mapped, 3),
    );
    assert_close(mapped.inertia, plain.inertia, 1e-8);
    assert_eq!(mapped.model.sizes, plain.model.sizes);
}

#[test]
fn mahalanobis_leaves_constant_columns_out_with_a_warning() {
    let rows = clustered(120, 2, 3, 6);
    let with_constant = rows.iter().map(|row| [&row[..], &[Some(5.0)]].concat());
    let with_constant: Vec<Row> = with_constant.collect();
    let (plain, more) = (
        fit_with(Distance::Mahalanobis, &rows, 3),
        fit_with(Distance::Mahalanobis, &with_constant, 3),
    );
    assert_eq!(more.model.centres, plain.model.centres);
    assert_eq!(more.inertia, plain.inertia);
    let warnings = more.warnings.iter();
    let constant = warnings.filter(|warning| warning.contains("is constant"));
    assert_eq!(constant.count(), 1);
}

#[test]
fn mahalanobis_with_the_identity_matrix_is_euclidean() {
    let rows = clustered(300, 2, 3, 6);
    let specification = Specification {
        distance: Distance::Mahalanobis,
        covariance: Some(vec![vec![1.0, 0.0], vec![0.0, 1.0]]),
        ..Specification::new(3)
    };
    let given = fitted(&specification, &rows, &Options::default());
    let plain = fit_with(Distance::Euclidean, &rows, 3);
    assert_close(given.inertia, plain.inertia, 1e-12);
    assert_same_centres(&given, &plain, 1e-12);
}

#[test]
fn standardizing_equals_dividing_columns_by_their_deviation() {
    let mut rows = clustered(300, 2, 3, 6);
    rows.iter_mut()
        .for_each(|row| row[1] = row[1].map(|x| 500.0 * x));
    let wide = fit_with(Distance::Euclidean, &rows, 3);
    assert!(
        wide.warnings
            .iter()
            .any(|warning| warning.contains("`standardize`"))
    );
    let specification = Specification {
        standardize: true,
        ..Specification::new(3)
    };
    let standardised = fitted(&specification, &rows, &Options::default());
    assert!(
        standardised.warnings.is_empty(),
        "{:?}",
        standardised.warnings
    );
    let deviation = |c: usize| {
        let n = rows.len() as f64;
        let mean = rows.iter().filter_map(|row| row[c]).sum::<f64>() / n;
        (rows
            .iter()
            .filter_map(|row| row[c])
            .map(|x| (x - mean).powi(2))
            .sum::<f64>()
            / n)
            .sqrt()
    };
    let scales = [deviation(0), deviation(1)];
    let divided: Vec<Row> = (rows.iter())
        .map(|row| {
            row.iter()
                .zip(scales)
                .map(|(x, s)| x.map(|x| x / s))
                .collect()
        })
        .collect();
    let divided = fit_with(Distance::Euclidean, &divided, 3);
    assert_close(standardised.inertia, divided.inertia, 1e-10);
}

/// The least sum of distances over all choices of medoids.
fn brute_force(n: usize, k: usize, weights: &[f64], distance: &dyn Fn(usize, usize) -> f64) -> f64 {
    fn choices(from: usize, n: usize, k: usize) -> Vec<Vec<usize>> {
        if k == 0 {
            return vec![Vec::new()];
        }
        (from..n)
            .flat_map(|first| {
                choices(first + 1, n, k - 1)
                    .into_iter()
                    .map(move |mut rest| {
                        rest.push(first);
                        rest
                    })
            })
            .collect()
    }
    let total = |medoids: &Vec<usize>| -> f64 {
        let nearest = |row| {
            medoids
                .iter()
                .map(|m| distance(row, *m))
                .fold(f64::INFINITY, f64::min)
        };
        (0..n).map(|row| weights[row] * nearest(row)).sum()
    };
    choices(0, n, k)
        .iter()
        .map(total)
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn medoids_agree_with_brute_force_on_small_tables() {
    for seed in 0..12 {
        let rows = clustered(14, 2, 3, seed);
        let cell = |row: usize, c: usize| rows[row][c].unwrap();
        let distance =
            |a: usize, b: usize| -> f64 { (0..2).map(|c| (cell(a, c) - cell(b, c)).abs()).sum() };
        let weights: Vec<f64> = (0..14).map(|i| 1.0 + f64::from(i % 3)).collect();
        for k in 1..=4 {
            let tries = (0..20).map(|seed| {
                let found = medoids(&weights, k, &distance, 100, seed, Control::default()).unwrap();
                assert!(found.converged);
                assert!(found.trace.windows(2).all(|pair| pair[1] <= pair[0]));
                let sum: f64 = (0..14)
                    .map(|row| weights[row] * distance(row, found.rows[found.labels[row]]))
                    .sum();
                assert_close(found.total(), sum, 1e-12);
                found.total()
            });
            let best = tries.fold(f64::INFINITY, f64::min);
            assert_close(best, brute_force(14, k, &weights, &distance), 1e-12);
        }
    }
}

#[test]
fn medoids_are_rows_of_the_table() {
    let rows = clustered(200, 3, 3, 1);
    for name in ["euclidean", "manhattan", "cosine", "mahalanobis"] {
        let distance = name.parse().unwrap();
        let specification = Specification {
            distance,
            medoids: true,
            ..Specification::new(3)
        };
        let fit = fitted(&specification, &rows, &Options::default());
        assert!(fit.converged, "{name}");
        if distance == Distance::Cosine {
            continue;
        }
        for centre in &fit.model.centres {
            let same = |row: &Row| {
                row.iter()
                    .zip(centre)
                    .all(|(x, c)| (x.unwrap() - c).abs() < 1e-9)
            };
            assert!(rows.iter().any(same), "{name}");
        }
    }
}

#[test]
fn results_are_bit_identical_streamed_and_in_memory_for_every_distance() {
    let table = table(&with_missing_values(clustered(9000, 3, 4, 2)), None);
    for name in ["manhattan", "cosine", "mahalanobis"] {
        let specification = Specification {
            distance: name.parse().unwrap(),
            ..Specification::new(4)
        };
        let fit = |source: &dyn Source| {
            let options = Options {
                restarts: 2,
                ..Options::default()
            };
            let fit = fit(&specification, source, &options, Control::default()).unwrap();
            (fit.inertia.to_bits(), fit.model.centres)
        };
        assert_eq!(fit(&table), fit(&Streamed(table.clone())), "{name}");
    }
}
