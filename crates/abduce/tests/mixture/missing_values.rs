//! Gaussians with missing values against the definition: the marginal density of the observed
//! values and the expected statistics of the missing ones, for patterns of few and many rows. The
//! E-step of a mixture, which processes rows of several patterns together, against one row at a
//! time.

use crate::common::real_table;
use abduce::Control;
use abduce::ask::Joint as _;
use abduce::data::{Cells, Column, Rows, Source};
use abduce::family::{
    Covariance, Distribution, Family, MultivariateGaussian, MultivariateStats, Statistics, Stats,
};
use abduce::learn::EmOptions;
use abduce::model::mixture::{CovarianceKind, FitOptions, FittedMixture, Specification, fit};

fn normal() -> MultivariateGaussian {
    let covariance = vec![
        2.0, 0.6, -0.3, 0.4, 0.6, 1.0, 0.2, 0.1, -0.3, 0.2, 0.5, 0.0, 0.4, 0.1, 0.0, 3.0,
    ];
    MultivariateGaussian {
        mean: vec![1.0, -2.0, 0.5, 100.0],
        covariance: Covariance::Full(covariance),
    }
}

const PATTERNS: [[bool; 4]; 6] = [
    [true, true, true, true],
    [true, false, true, true],
    [false, true, false, true],
    [false, false, false, true],
    [true, true, true, false],
    [false, true, true, false],
];

fn columns(pattern: [bool; 4], copies: usize) -> Vec<Column> {
    let row = [2.5, -1.0, 0.1, 98.0];
    (0..4)
        .map(|c| Column::from_numbers(vec![pattern[c].then_some(row[c]); copies]))
        .collect()
}

fn cells(columns: &[Column]) -> Vec<Cells<'_>> {
    columns.iter().map(|c| c.cells(0, c.len())).collect()
}

/// The marginal Gaussian of the observed columns.
fn marginal(pattern: [bool; 4]) -> (MultivariateGaussian, Vec<usize>) {
    let whole = normal();
    let seen: Vec<usize> = (0..4).filter(|c| pattern[*c]).collect();
    let entries = seen
        .iter()
        .flat_map(|j| seen.iter().map(|i| whole.covariance(*i, *j)));
    let part = MultivariateGaussian {
        mean: seen.iter().map(|c| whole.mean[*c]).collect(),
        covariance: Covariance::Full(entries.collect()),
    };
    (part, seen)
}

#[test]
fn the_density_of_a_row_with_missing_values_is_the_marginal_density() {
    for pattern in PATTERNS {
        let (part, seen) = marginal(pattern);
        for copies in [1, 2, 50] {
            let all = columns(pattern, copies);
            let mut obtained = vec![0.0; copies];
            normal().add_log_density(&Rows::new(&cells(&all)), &mut obtained);
            let observed: Vec<Column> = seen.iter().map(|c| all[*c].clone()).collect();
            let mut expected = vec![0.0; copies];
            part.add_log_density(&Rows::new(&cells(&observed)), &mut expected);
            for (obtained, expected) in obtained.iter().zip(&expected) {
                assert!((obtained - expected).abs() < 1e-12, "{pattern:?} {copies}");
            }
        }
    }
}

/// The conditional mean and covariance of the missing values, by conditioning on one observed
/// column after the other.
fn completed(pattern: [bool; 4]) -> (Vec<f64>, Vec<f64>) {
    let normal = normal();
    let row = [2.5, -1.0, 0.1, 98.0];
    let mut covariance: Vec<Vec<f64>> = (0..4)
        .map(|i| (0..4).map(|j| normal.covariance(i, j)).collect())
        .collect();
    let mut mean = normal.mean.clone();
    for c in (0..4).filter(|c| pattern[*c]) {
        let pivot = covariance[c][c];
        let shift = row[c] - mean[c];
        let column: Vec<f64> = (0..4).map(|i| covariance[i][c]).collect();
        for i in 0..4 {
            mean[i] += column[i] / pivot * shift;
        }
        for i in 0..4 {
            for j in 0..4 {
                covariance[i][j] -= column[i] * column[j] / pivot;
            }
        }
    }
    (mean, covariance.concat())
}

#[test]
fn expected_statistics_have_conditional_means_and_covariances() {
    for pattern in PATTERNS {
        let (expected_mean, spread) = completed(pattern);
        for copies in [1, 3, 50] {
            let all = columns(pattern, copies);
            let mut stats = MultivariateGaussian::zero(&normal().shape());
            normal().expect(&Rows::new(&cells(&all)), &vec![2.0; copies], &mut stats);
            assert!((stats.weight() - 2.0 * copies as f64).abs() < 1e-12);
            let MultivariateStats::Full { mean, scatter, .. } = &stats else {
                panic!("expected a full covariance")
            };
            for c in 0..4 {
                assert!(
                    (mean[c] - expected_mean[c]).abs() < 1e-11,
                    "{pattern:?} {copies}"
                );
            }
            for (scatter, spread) in scatter.iter().zip(&spread) {
                let expected = 2.0 * copies as f64 * spread;
                assert!(
                    (scatter - expected).abs() < 1e-9,
                    "{pattern:?} {copies}: {scatter} {expected}"
                );
            }
        }
    }
}

/// The weight, the mean and the scatter of a component, the scatters of independent columns one
/// after another.
fn numbers_of(stats: &MultivariateStats) -> Vec<f64> {
    match stats {
        MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } => [&[*weight], mean.as_slice(), scatter].concat(),
        MultivariateStats::Columns { columns, .. } => columns
            .iter()
            .flat_map(|column| [column.weight, column.mean, column.scatter])
            .collect(),
    }
}

/// The expected statistics and the log-likelihood, one row at a time.
fn by_single_rows(
    mixture: &FittedMixture,
    columns: &[Vec<Option<f64>>],
) -> (Vec<MultivariateStats>, f64) {
    let gaussians: Vec<&MultivariateGaussian> = mixture.parameters.leaves[0]
        .iter()
        .map(|distribution| match distribution {
            Distribution::Multivariate(gaussian) => gaussian,
            other => panic!("{other:?}"),
        })
        .collect();
    let zero = MultivariateGaussian::zero(&gaussians[0].shape());
    let mut stats = vec![zero; gaussians.len()];
    let mut total = 0.0;
    for row in 0..columns[0].len() {
        let row: Vec<Column> = columns
            .iter()
            .map(|column| Column::from_numbers([column[row]]))
            .collect();
        let cells: Vec<Cells> = row.iter().map(|column| column.cells(0, 1)).collect();
        let joint = gaussians.iter().zip(&mixture.parameters.weights);
        let joint = joint.map(|(gaussian, weight)| {
            let mut density = [weight.ln()];
            gaussian.add_log_density(&Rows::new(&cells), &mut density);
            density[0].exp()
        });
        let joint: Vec<f64> = joint.collect();
        let sum: f64 = joint.iter().sum();
        total += sum.ln();
        for ((gaussian, joint), stats) in gaussians.iter().zip(&joint).zip(&mut stats) {
            gaussian.expect(&Rows::new(&cells), &[joint / sum], stats);
        }
    }
    (stats, total)
}

#[test]
fn rows_of_several_patterns_together_are_as_one_row_at_a_time() {
    // About 30% of the values are missing: patterns of one row, of a few and of many.
    let hash = |row: usize, c: usize| (row * 31 + c * 17 + row * row * (c + 3)) % 97;
    let column = |c: usize| -> Vec<Option<f64>> {
        let cell = |row: usize| {
            let x = (row % 3 * (c + 1)) as f64 + (hash(row + 7, c) as f64 * 0.7).sin();
            (hash(row, c) >= 29).then_some(x)
        };
        (0..400).map(cell).collect()
    };
    let columns: Vec<Vec<Option<f64>>> = (0..6).map(column).collect();
    let table = real_table(columns.clone(), None);
    for covariance in [CovarianceKind::Full, CovarianceKind::Diagonal] {
        let options = FitOptions {
            em: EmOptions {
                max_iterations: 4,
                ..EmOptions::PLAIN
            },
            restarts: 1,
            ..FitOptions::default()
        };
        let specification = Specification::mixture(3, covariance);
        let fit = fit(&specification, &table, &options, Control::default()).unwrap();
        let (expected, total) = by_single_rows(&fit.mixture, &columns);
        let slack = 1e-9 * total.abs();
        assert!((fit.log_likelihood - total).abs() < slack, "{total}");
        let densities = fit.mixture.log_density(&table.chunks()[0]).unwrap();
        assert!((densities.iter().sum::<f64>() - total).abs() < slack);
        assert_eq!(table.rows(), 400);
        let found = fit.mixture.statistics.leaves[0].iter();
        for (found, expected) in found.zip(&expected) {
            let Statistics::Multivariate(found) = found else {
                panic!("{found:?}")
            };
            for (found, expected) in numbers_of(found).iter().zip(numbers_of(expected)) {
                let apart = (found - expected).abs();
                assert!(apart < 1e-8 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
    }
}
