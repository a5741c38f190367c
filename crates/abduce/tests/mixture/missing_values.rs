//! Gaussians with missing values against the definition: the marginal density of the observed
//! values and the expected statistics of the missing ones, for patterns of few and many rows.

use abduce::data::{Cells, Column, Rows};
use abduce::family::{Covariance, Family, MultivariateGaussian, MultivariateStats, Stats};

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
