//! Comparisons with R's mclust: covariances of single M-steps, for every structure and under
//! its default prior, and bootstrap tests of the number of components.

use super::numbers;
use crate::common::{golden, golden_columns, real_table};
use abduce::Control;
use abduce::data::{Cells, Rows};
use abduce::family::{
    Covariance, Family, MultivariateGaussian, MultivariatePrior, MultivariateShape,
    MultivariateStats, Structure,
};
use abduce::model::mixture::{
    BootstrapOptions, BootstrapTest, CovarianceKind, FitOptions, Specification, bootstrap_test,
};
use serde_json::Value;

/// The statistics of three components under the responsibilities of golden/mclust.R.
fn statistics(columns: &[Vec<f64>], structure: Structure) -> Vec<MultivariateStats> {
    let shape = MultivariateShape {
        columns: columns.len(),
        structure,
    };
    let kernels = |x: f64| {
        [
            (-(x - 5.0) * (x - 5.0)).exp(),
            (-(x - 6.0) * (x - 6.0) / 2.0).exp(),
            (-(x - 7.0) * (x - 7.0) / 3.0).exp(),
        ]
    };
    let cells: Vec<Cells> = columns.iter().map(|x| Cells::real(x)).collect();
    let component = |j: usize| {
        let weights: Vec<f64> = columns[0]
            .iter()
            .map(|x| kernels(*x)[j] / kernels(*x).iter().sum::<f64>())
            .collect();
        let mut stats = MultivariateGaussian::zero(&shape);
        MultivariateGaussian::observe(&Rows::new(&cells), &weights, &mut stats);
        stats
    };
    (0..3).map(component).collect()
}

fn log_likelihood(gaussians: &[MultivariateGaussian], stats: &[MultivariateStats]) -> f64 {
    let pairs = gaussians.iter().zip(stats);
    pairs.map(|(g, s)| g.log_likelihood(s)).sum()
}

#[test]
fn m_steps_of_every_structure_agree_with_mclust() {
    let columns = golden_columns("iris");
    let d = columns.len();
    let golden = golden("mclust");
    let Value::Object(steps) = &golden["msteps"] else {
        panic!("expected an object");
    };
    assert_eq!(steps.len(), 14);
    for (code, expected) in steps {
        let structure: Structure = code.parse().unwrap();
        let stats = statistics(&columns, structure);
        let prior = MultivariatePrior::default();
        let pointers: Vec<&MultivariateStats> = stats.iter().collect();
        let found = MultivariateGaussian::estimates(structure, &pointers, &prior, None).unwrap();
        let expected = numbers(expected);
        if matches!(structure, Structure::Eve | Structure::Vve) {
            let expected = found.iter().zip(expected.chunks_exact(d * d));
            let expected: Vec<MultivariateGaussian> = expected
                .map(|(gaussian, matrix)| MultivariateGaussian {
                    mean: gaussian.mean.clone(),
                    covariance: Covariance::Full(matrix.to_vec()),
                })
                .collect();
            let (obtained, expected) = (
                log_likelihood(&found, &stats),
                log_likelihood(&expected, &stats),
            );
            assert!(obtained >= expected - 1e-9, "{code}: {obtained} {expected}");
            continue;
        }
        for (gaussian, matrix) in found.iter().zip(expected.chunks_exact(d * d)) {
            for (t, entry) in matrix.iter().enumerate() {
                let obtained = gaussian.covariance(t % d, t / d);
                assert!(
                    (obtained - entry).abs() < 1e-8,
                    "{code}: {obtained} {entry}"
                );
            }
        }
    }
}

#[test]
fn the_mclust_prior_is_the_default_prior_of_mclust() {
    let columns = golden_columns("iris");
    let (n, d, k) = (columns[0].len() as f64, columns.len(), 3.0f64);
    let mean: Vec<f64> = columns.iter().map(|x| x.iter().sum::<f64>() / n).collect();
    let covariance = |i: usize, j: usize| {
        let pairs = columns[i].iter().zip(&columns[j]);
        let products = pairs.map(|(x, y)| (x - mean[i]) * (y - mean[j]));
        products.sum::<f64>() / (n - 1.0)
    };
    let golden = golden("mclust");
    let Value::Object(priors) = &golden["priors"] else {
        panic!("expected an object");
    };
    assert_eq!(priors.len(), 4);
    for (code, expected) in priors {
        let structure: Structure = code.parse().unwrap();
        let share = k.powf(-2.0 / d as f64);
        let single = share * (0..d).map(|c| covariance(c, c)).sum::<f64>() / d as f64;
        let degrees = d as f64 + 2.0;
        let (scatter, rows) = if structure.is_spherical() {
            (vec![single / d as f64; d], (degrees + 2.0) / d as f64)
        } else if structure.is_correlated() {
            let whole = (0..d * d).map(|t| share * covariance(t % d, t / d));
            (whole.collect(), degrees + d as f64 + 1.0)
        } else {
            (vec![single; d], degrees + 2.0)
        };
        let prior = MultivariatePrior {
            scatter,
            rows,
            center: mean.clone(),
            center_rows: 0.01,
            ridge: 0.0,
            unit_share: 0.0,
        };
        let stats = statistics(&columns, structure);
        let pointers: Vec<&MultivariateStats> = stats.iter().collect();
        let found = MultivariateGaussian::estimates(structure, &pointers, &prior, None).unwrap();
        let means = numbers(&expected["means"]);
        let covariances = numbers(&expected["covariances"]);
        for (j, gaussian) in found.iter().enumerate() {
            for (obtained, entry) in gaussian.mean.iter().zip(&means[j * d..]) {
                assert!(
                    (obtained - entry).abs() < 1e-10,
                    "{code}: {obtained} {entry}"
                );
            }
            for (t, entry) in covariances[j * d * d..(j + 1) * d * d].iter().enumerate() {
                let obtained = gaussian.covariance(t % d, t / d);
                assert!(
                    (obtained - entry).abs() < 1e-10,
                    "{code}: {obtained} {entry}"
                );
            }
        }
    }
}

/// Bootstrap tests of up to `largest` components, and the statistics and p-values of mclust.
fn bootstrap_tests(
    number: usize,
    covariance: CovarianceKind,
    largest: usize,
) -> (BootstrapTest, Vec<f64>, Vec<f64>) {
    let golden = golden("mclust");
    let case = &golden["bootstrap"][number];
    let columns = golden_columns(case["table"].as_str().unwrap());
    let table = real_table(columns.into_iter().map(|x| x.into_iter().map(Some)), None);
    let (statistics, p_values) = (numbers(&case["statistics"]), numbers(&case["p_values"]));
    let (_, test) = bootstrap_test(
        &Specification::mixture(1, covariance),
        1..=largest,
        &table,
        &FitOptions::default(),
        &BootstrapOptions {
            replicates: 39,
            ..BootstrapOptions::default()
        },
        Control::default(),
    )
    .unwrap();
    (test, statistics, p_values)
}

#[test]
fn bootstrap_tests_of_tied_components_agree_with_mclust() {
    let (test, statistics, p_values) = bootstrap_tests(0, CovarianceKind::Tied, 3);
    // mclust stops early, and its fit of four components is a lower maximum, so that the test
    // of three against four cannot be compared.
    for (step, statistic) in test.steps.iter().zip(&statistics) {
        let obtained = step.statistic;
        assert!(
            (obtained - statistic).abs() < 0.05,
            "{obtained} {statistic}"
        );
    }
    for (step, p) in test.steps.iter().zip(&p_values).take(2) {
        assert!(step.p_value <= 0.05 && *p <= 0.05, "{step:?} {p}");
    }
}

#[test]
fn bootstrap_statistics_agree_with_mclust_where_the_maxima_agree() {
    let (test, statistics, p_values) = bootstrap_tests(1, CovarianceKind::Full, 2);
    let first = &test.steps[0];
    assert!((first.statistic - statistics[0]).abs() < 0.01);
    assert!(first.p_value <= 0.05 && p_values[0] <= 0.05);
    // For the galaxies, mclust's fits of two and three components are lower maxima; those of
    // one and four agree.
    let (test, statistics, p_values) = bootstrap_tests(2, CovarianceKind::Full, 4);
    let last = &test.steps[2];
    let total = 2.0 * (last.log_likelihood_of_more - test.steps[0].log_likelihood);
    let expected: f64 = statistics.iter().sum();
    assert!((total - expected).abs() < 0.05, "{total} {expected}");
    for (step, p) in test.steps.iter().zip(&p_values).take(2) {
        assert!(step.p_value <= 0.05 && *p <= 0.05, "{step:?} {p}");
    }
}
