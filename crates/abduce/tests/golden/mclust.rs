//! R's mclust: covariances of single M-steps, for every structure.

use super::{golden, numbers};
use abduce::data::{Cells, Rows};
use abduce::family::{
    Covariance, Family, MultivariateGaussian, MultivariatePrior, MultivariateShape,
    MultivariateStats, Structure,
};
use serde_json::Value;

/// The columns of a table in golden/.
pub fn columns(name: &str) -> Vec<Vec<f64>> {
    let path = format!("{}/../../golden/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let width = text.lines().next().unwrap().split(',').count();
    let mut columns = vec![Vec::new(); width];
    for line in text.lines().skip(1) {
        for (column, cell) in columns.iter_mut().zip(line.split(',')) {
            column.push(cell.parse().unwrap());
        }
    }
    columns
}

/// The statistics of three components under the responsibilities of the script.
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
fn m_steps_of_every_structure_are_mclusts() {
    let columns = columns("iris");
    let d = columns.len();
    let golden = golden("mclust");
    let Value::Object(steps) = &golden["msteps"] else {
        panic!("no M-steps");
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
            let theirs = found.iter().zip(expected.chunks_exact(d * d));
            let theirs: Vec<MultivariateGaussian> = theirs
                .map(|(own, matrix)| MultivariateGaussian {
                    mean: own.mean.clone(),
                    covariance: Covariance::Full(matrix.to_vec()),
                })
                .collect();
            let (ours, theirs) = (
                log_likelihood(&found, &stats),
                log_likelihood(&theirs, &stats),
            );
            assert!(ours >= theirs - 1e-9, "{code}: {ours} {theirs}");
            continue;
        }
        for (own, matrix) in found.iter().zip(expected.chunks_exact(d * d)) {
            for (t, entry) in matrix.iter().enumerate() {
                let obtained = own.covariance(t % d, t / d);
                assert!(
                    (obtained - entry).abs() < 1e-8,
                    "{code}: {obtained} {entry}"
                );
            }
        }
    }
}
