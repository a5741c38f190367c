//! The kernel against the definition, including data with an offset and narrow data.

use super::*;
use crate::kernel::linear::{cholesky, invert_lower, log_diagonal};

/// The log-density by its definition.
fn reference(columns: &[Vec<f64>], mean: &[f64], covariance: &[f64], i: usize) -> f64 {
    let d = mean.len();
    let factor = cholesky(covariance, d).unwrap();
    let inverse = invert_lower(&factor, d);
    let quadratic: f64 = (0..d)
        .map(|r| {
            (0..d)
                .map(|c| inverse[c * d + r] * (columns[c][i] - mean[c]))
                .sum::<f64>()
                .powi(2)
        })
        .sum();
    -0.5 * (d as f64 * LN_TAU + quadratic) - log_diagonal(&factor, d)
}

fn check(offset: f64, width: f64, diagonal: bool) {
    let rows = 50;
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|c| {
            (0..rows)
                .map(|i| offset + 3.0 * c as f64 + ((i * (c + 2)) as f64 * 0.37).sin() * width)
                .collect()
        })
        .collect();
    let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let means = [
        vec![offset, offset + 3.0, offset + 6.0],
        vec![offset + 1.0, offset, offset - 2.0],
    ];
    let v = width * width;
    let off = if diagonal { 0.0 } else { 0.3 * v };
    let narrow = vec![v, off, 0.0, off, v, off, 0.0, off, v];
    let wide = vec![4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 9.0];
    let diagonals = [vec![v, v, v], vec![4.0, 4.0, 9.0]];
    let covariances = if diagonal {
        [
            CovarianceRef::Diagonal(&diagonals[0]),
            CovarianceRef::Diagonal(&diagonals[1]),
        ]
    } else {
        [CovarianceRef::Full(&narrow), CovarianceRef::Full(&wide)]
    };
    let kernel = GaussianKernel::new(&[&means[0], &means[1]], &covariances, &[0.5, 0.5]).unwrap();
    let mut scratch = Scratch::default();
    kernel.load(&slices, &mut scratch);
    let mut out = vec![0.0; 2 * rows];
    kernel.add_log_density(&mut scratch, &mut out);
    for i in 0..rows {
        for (j, covariance) in [&narrow, &wide].into_iter().enumerate() {
            let expected = reference(&columns, &means[j], covariance, i);
            let obtained = out[j * rows + i];
            // The data themselves carry the offset's rounding.
            let slack = 1e-9 * (1.0 + expected.abs()) + 16.0 * f64::EPSILON * offset / width * 9.0;
            assert!((expected - obtained).abs() < slack, "{expected} {obtained}");
        }
    }
    let responsibilities = vec![0.5; 2 * rows];
    let mut moments = kernel.moments();
    kernel.accumulate(&mut scratch, &responsibilities, &mut moments);
    for (j, stats) in kernel.finish(&moments).into_iter().enumerate() {
        // A wide component with narrow data is summed about the common origin, less precisely.
        let slack = if j == 1 && width < 1e-3 { 1e-2 } else { 1e-7 };
        assert!((stats.weight - 25.0).abs() < 1e-12);
        for (c, column) in columns.iter().enumerate() {
            let mean = column.iter().map(|x| x - column[0]).sum::<f64>() / 50.0 + column[0];
            assert!((stats.mean[c] - mean).abs() < 1e-9 * width + 1e-15 * (offset * 50.0 + 10.0));
            let scatter: f64 = column.iter().map(|x| 0.5 * (x - mean).powi(2)).sum();
            let position = if diagonal { c } else { 4 * c };
            let relative = stats.scatter[position] / scatter - 1.0;
            assert!(relative.abs() < slack, "{relative}");
        }
    }
}

#[test]
fn densities_and_moments_agree_with_the_definition() {
    for diagonal in [false, true] {
        check(0.0, 1.0, diagonal);
        check(1e8, 1.0, diagonal);
    }
}

#[test]
fn narrow_components_are_accurate() {
    for diagonal in [false, true] {
        check(0.0, 1e-6, diagonal);
    }
}

#[test]
fn a_singular_covariance_names_its_component() {
    let result = GaussianKernel::new(
        &[&[0.0, 0.0], &[0.0, 0.0]],
        &[
            CovarianceRef::Full(&[1.0, 0.0, 0.0, 1.0]),
            CovarianceRef::Full(&[1.0, 1.0, 1.0, 1.0]),
        ],
        &[0.5, 0.5],
    );
    assert_eq!(
        result.err(),
        Some(Singular {
            component: 1,
            pivot: 1
        })
    );
}

/// Four components over 30 columns; in the first block each row has at most one responsibility
/// that is not negligible, in the second all are.
#[test]
fn gathered_rows_have_the_moments_of_all() {
    let (rows, d) = (40, 30);
    let cell = |c: usize, i: usize| ((i * (c + 2)) as f64 * 0.37).sin() + 0.1 * c as f64;
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|c| (0..rows).map(|i| cell(c, i)).collect())
        .collect();
    let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let covariance: Vec<f64> = (0..d * d)
        .map(|t| if t % d == t / d { 1.0 } else { 0.1 })
        .collect();
    let kernel = GaussianKernel::new(
        &[&vec![0.0; d], &vec![2.0; d], &vec![-2.0; d], &vec![5.0; d]],
        &[CovarianceRef::Full(&covariance); 4],
        &[0.25; 4],
    )
    .unwrap();
    let mut scratch = Scratch::default();
    kernel.load(&slices, &mut scratch);
    // The second component has no responsibilities, and the last one a single tiny one.
    let sparse = |j: usize, i: usize| match (j, i) {
        (0, 0..18) | (2, 20..) => 1.0,
        (0 | 2, _) => 1e-40,
        (3, 7) => 1e-200,
        _ => 0.0,
    };
    let dense = |j: usize, i: usize| 0.2 + ((i + j) as f64 * 0.7).sin().abs();
    let block = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..4 * rows).map(|t| of(t / rows, t % rows)).collect()
    };
    let mut moments = kernel.moments();
    let mut total = vec![0.0; 4 * rows];
    for (r, gathered) in [(block(&sparse), true), (block(&dense), false)] {
        let natural = moments.natural.clone();
        kernel.accumulate(&mut scratch, &r, &mut moments);
        assert_eq!(moments.natural == natural, gathered);
        total.iter_mut().zip(&r).for_each(|(sum, r)| *sum += r);
        let found = kernel.finish(&moments);
        for (found, r) in found.iter().zip(total.chunks_exact(rows)) {
            let weight: f64 = r.iter().sum();
            assert!((found.weight - weight).abs() <= 1e-12 * weight);
            let mean = |column: &Vec<f64>| {
                let terms = column.iter().zip(r).map(|(x, r)| x * r);
                terms.sum::<f64>() / if weight > 0.0 { weight } else { 1.0 }
            };
            let means: Vec<f64> = columns.iter().map(mean).collect();
            for a in (0..d).filter(|_| weight > 0.0) {
                assert!((found.mean[a] - means[a]).abs() < 1e-9);
                for b in 0..d {
                    let gap = |c: usize, i: usize| columns[c][i] - means[c];
                    let scatter = (0..rows).map(|i| r[i] * gap(a, i) * gap(b, i));
                    let apart = found.scatter[b * d + a] - scatter.sum::<f64>();
                    assert!(apart.abs() <= 1e-9 * weight, "{a} {b}: {apart}");
                }
            }
            assert!(weight > 0.0 || found.scatter.iter().all(|entry| *entry == 0.0));
        }
    }
}
