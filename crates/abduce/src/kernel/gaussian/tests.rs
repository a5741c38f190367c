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

/// The distribution of hidden columns given the others: intercept, slopes and covariance.
fn regression(
    covariance: &[f64],
    d: usize,
    seen: &[usize],
    hidden: &[usize],
) -> (Vec<f64>, Vec<f64>) {
    let (o, m) = (seen.len(), hidden.len());
    let part = |a: &[usize], b: &[usize]| crate::kernel::linear::submatrix(covariance, d, a, b);
    let inverse = invert_lower(&cholesky(&part(seen, seen), o).unwrap(), o);
    let precision = crate::kernel::linear::gram(&inverse, o);
    let cross = part(hidden, seen);
    let slope = |t: usize, i: usize| -> f64 {
        (0..o)
            .map(|j| cross[j * m + t] * precision[i * o + j])
            .sum()
    };
    let slopes: Vec<f64> = (0..m * o).map(|p| slope(p / o, p % o)).collect();
    let hidden_block = part(hidden, hidden);
    let conditional = (0..m * m)
        .map(|p| {
            let (s, t) = (p % m, p / m);
            let explained: f64 = (0..o).map(|i| slopes[s * o + i] * cross[i * m + t]).sum();
            hidden_block[p] - explained
        })
        .collect();
    (slopes, conditional)
}

/// Patterns of missing cells with few and with many rows, for several numbers of components, at
/// several distances from the origin.
#[test]
fn patterns_agree_with_marginals_and_regressions() {
    let d = 6;
    for (k, distance) in [(1, 1.0), (3, 1.0), (5, 1.0), (9, 1.0), (3, 1e7)] {
        let means: Vec<Vec<f64>> = (0..k)
            .map(|j| {
                (0..d)
                    .map(|c| distance * ((j * d + c) as f64 * 1.7).sin())
                    .collect()
            })
            .collect();
        let covariances: Vec<Vec<f64>> = (0..k)
            .map(|j| {
                let root = |a: usize, b: usize| match a.cmp(&b) {
                    std::cmp::Ordering::Equal => 1.0 + 0.1 * a as f64,
                    std::cmp::Ordering::Greater => 0.5 * ((a * 7 + b * 3 + j) as f64).sin(),
                    std::cmp::Ordering::Less => 0.0,
                };
                (0..d * d)
                    .map(|p| (0..d).map(|c| root(p % d, c) * root(p / d, c)).sum())
                    .collect()
            })
            .collect();
        let slices: Vec<&[f64]> = means.iter().map(Vec::as_slice).collect();
        let full: Vec<CovarianceRef> = covariances.iter().map(|c| CovarianceRef::Full(c)).collect();
        let kernel = GaussianKernel::new(&slices, &full, &vec![1.0; k]).unwrap();
        let interleaved = kernel.interleaved(0..k);
        let mut scratch = Scratch::default();
        // Σ r, Σ r x and Σ r x xᵀ about the means of the components.
        let mut expected = vec![vec![0.0; 1 + d + d * d]; k];
        for (hidden, rows) in [
            (vec![1], 3),
            (vec![0, 3], 20),
            (vec![2, 4, 5], 5),
            (vec![5], 31),
        ] {
            let seen: Vec<usize> = (0..d).filter(|c| !hidden.contains(c)).collect();
            let (o, m) = (seen.len(), hidden.len());
            let columns: Vec<Vec<f64>> = seen
                .iter()
                .map(|c| {
                    let cell = |i: usize| means[i % k][*c] + ((i * (c + 2)) as f64 * 0.37).sin();
                    (0..rows).map(cell).collect()
                })
                .collect();
            let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let many = Pattern::many(rows);
            let mut conditionals = Conditionals::default();
            assert!(conditionals.prepare(&kernel, &interleaved, &seen, false, many));
            let pattern = Pattern::new(&kernel, &interleaved, conditionals.into());
            pattern.load(&slices, &mut scratch);
            let mut out = vec![0.0; k * rows];
            pattern.add_log_density(&mut scratch, &mut out);
            let r: Vec<f64> = (0..k * rows)
                .map(|t| 0.1 + (t as f64).sin().abs())
                .collect();
            pattern.accumulate(&mut scratch, &r);
            pattern.extend_sums(&mut scratch, None);
            for (j, (mean, covariance)) in means.iter().zip(&covariances).enumerate() {
                let observed_mean: Vec<f64> = seen.iter().map(|c| mean[*c]).collect();
                let observed_covariance =
                    crate::kernel::linear::submatrix(covariance, d, &seen, &seen);
                let (slopes, conditional) = regression(covariance, d, &seen, &hidden);
                for i in 0..rows {
                    let density = reference(&columns, &observed_mean, &observed_covariance, i);
                    let apart = (out[j * rows + i] - density).abs();
                    assert!(
                        apart < 1e-8 * (1.0 + density.abs()),
                        "{k} {j} {density} {apart}"
                    );
                    let mut gap = vec![0.0; d];
                    for (c, (column, mean)) in seen.iter().zip(columns.iter().zip(&observed_mean)) {
                        gap[*c] = column[i] - mean;
                    }
                    for (t, h) in hidden.iter().enumerate() {
                        gap[*h] = (0..o).map(|i| slopes[t * o + i] * gap[seen[i]]).sum();
                    }
                    let r = r[j * rows + i];
                    expected[j][0] += r;
                    for a in 0..d {
                        expected[j][1 + a] += r * gap[a];
                        for b in 0..d {
                            expected[j][1 + d + b * d + a] += r * gap[a] * gap[b];
                        }
                    }
                    for p in 0..m * m {
                        let place = 1 + d + hidden[p / m] * d + hidden[p % m];
                        expected[j][place] += r * conditional[p];
                    }
                }
            }
        }
        let moments = scratch.take_patterns().unwrap();
        let found = kernel.finish_patterns(0..k, &moments);
        for (j, parts) in found.iter().enumerate() {
            let weight: f64 = parts.iter().map(|part| part.weight).sum();
            assert!((weight - expected[j][0]).abs() < 1e-10 * weight);
            for a in 0..d {
                let first = |part: &CentredMoments| part.weight * (part.mean[a] - means[j][a]);
                let sum: f64 = parts.iter().map(first).sum();
                let slack = 1e-9 * weight * distance.max(1.0);
                assert!((sum - expected[j][1 + a]).abs() < slack, "{j} {a}");
                for b in 0..d {
                    let second = |part: &CentredMoments| {
                        let gap = |c: usize| part.mean[c] - means[j][c];
                        part.scatter[b * d + a] + part.weight * gap(a) * gap(b)
                    };
                    let sum: f64 = parts.iter().map(second).sum();
                    let apart = (sum - expected[j][1 + d + b * d + a]).abs();
                    assert!(
                        apart < 1e-7 * weight * distance.max(1.0),
                        "{k} {j} {a} {b} {apart}"
                    );
                }
            }
        }
    }
}
