//! Laws of kernel densities: sums are within the tolerance for points of many shapes, in
//! far tails too; marginals are integrals; a weight is a repetition.

use super::super::{Axis, BandwidthShape, Rule};
use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// Clusters, an outlier far away and duplicates.
fn points(rows: usize, columns: usize, weighted: bool, seed: u64) -> Points {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rows: Vec<Vec<f64>> = (0..rows)
        .map(|i| {
            let centre = (i % 3) as f64 * 4.0;
            (0..columns).map(|_| centre + normal(&mut rng)).collect()
        })
        .collect();
    let last = rows.len() - 1;
    rows[last] = vec![500.0; columns];
    for i in (0..last).step_by(10) {
        rows[i] = rows[0].clone();
    }
    let table: Vec<Vec<f64>> = (0..columns)
        .map(|c| rows.iter().map(|row| row[c]).collect())
        .collect();
    let weights: Vec<f64> = (0..rows.len()).map(|i| [1.0, 0.25, 3.0][i % 3]).collect();
    Points::from_columns(&table, weighted.then_some(&weights[..])).unwrap()
}

/// ln f by the definition, every term on its own.
fn brute_force(density: &KernelDensity, place: &[f64]) -> f64 {
    let terms = density.log_shares(place);
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    let sum: f64 = terms.iter().map(|term| (term - top).exp()).sum();
    top + sum.ln() + density.log_constant() - density.points().weight().ln()
}

fn places(points: &Points, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let d = points.columns();
    let mut places: Vec<Vec<f64>> = (0..40)
        .map(|i| {
            let row = points.row(i * 7 % points.len());
            row.iter().map(|x| x + normal(&mut rng)).collect()
        })
        .collect();
    places.push(points.row(0).to_vec());
    places.push(vec![250.0; d]);
    places.push(vec![-3e4; d]);
    places.push(vec![1e100; d]);
    places
}

#[test]
fn the_tolerance_is_kept_on_points_of_every_shape() {
    for (kernel, name) in Kernel::ALL {
        for columns in [1, 2, 3, 8] {
            for weighted in [false, true] {
                let points = points(700, columns, weighted, columns as u64);
                for width in [1e-3, 0.3, 2.0, 300.0] {
                    let bandwidth = Bandwidth::Shared(width);
                    let exact =
                        KernelDensity::with_bandwidth(points.clone(), kernel, bandwidth).unwrap();
                    let places = places(&points, 1);
                    for (absolute, relative) in [
                        (0.0, 0.0),
                        (0.0, 1e-4),
                        (0.0, 0.1),
                        (1e-6, 0.0),
                        (1e-3, 1e-2),
                    ] {
                        let tolerance = Tolerance { absolute, relative };
                        let density = exact.clone().with_tolerance(tolerance);
                        let obtained = density.log_densities(&places).unwrap();
                        for (place, obtained) in places.iter().zip(obtained) {
                            let expected = brute_force(&density, place);
                            let what = format!(
                                "{name} {columns} {width} {tolerance:?} {place:?}: {obtained} {expected}"
                            );
                            if expected == f64::NEG_INFINITY && absolute == 0.0 {
                                assert_eq!(obtained, expected, "{what}");
                            } else if absolute == 0.0 {
                                let error = (obtained - expected).exp_m1().abs();
                                let rounding = 1e-11 + 1e-15 * expected.abs();
                                assert!(error <= relative + rounding, "{what}");
                            } else {
                                let (obtained, expected) = (obtained.exp(), expected.exp());
                                let allowed = absolute + (relative + 1e-11) * expected;
                                assert!((obtained - expected).abs() <= allowed, "{what}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn far_tails_have_finite_logarithms() {
    let points = points(200, 2, false, 3);
    for kernel in [Kernel::Gaussian, Kernel::Exponential] {
        let density =
            KernelDensity::with_bandwidth(points.clone(), kernel, Bandwidth::Shared(0.01)).unwrap();
        let far = density.log_density(&[1e6, -1e6]).unwrap();
        assert!(far.is_finite() && far < -1e7, "{far}");
        assert!(!density.log_density(&[1e300, 0.0]).unwrap().is_nan());
    }
}

#[test]
fn results_are_the_same_with_any_number_of_threads() {
    let points = points(3000, 2, true, 4);
    let answer = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let selection = Selection {
                rule: Rule::Cv,
                ..Selection::default()
            };
            let density = KernelDensity::fit(points.clone(), Kernel::Gaussian, &selection).unwrap();
            let axis = Axis {
                start: -5.0,
                end: 15.0,
                points: 200,
            };
            let mut out = density.log_densities(&places(&points, 5)).unwrap();
            out.extend(density.on_grid(&[axis, axis]).unwrap().densities);
            out.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        })
    };
    let one = answer(1);
    assert_eq!(one, answer(2));
    assert_eq!(one, answer(7));
}

#[test]
fn leaving_a_row_out_is_fitting_without_it() {
    for (kernel, name) in Kernel::ALL {
        let all = points(120, 2, true, 6);
        let bandwidth = Bandwidth::Columns(vec![2.5, 3.0]);
        let density =
            KernelDensity::with_bandwidth(all.clone(), kernel, bandwidth.clone()).unwrap();
        // Weights are 1, 0.25 and 3 in turn: of a point of weight 3, weight 2 stays.
        for out in [0, 1, 2, 50, 119] {
            let obtained = density.leave_one_out(&[out])[0];
            let table: Vec<Vec<f64>> = (0..2).map(|c| all.column(c)).collect();
            let mut weights = all.weights().to_vec();
            weights[out] = f64::max(weights[out] - 1.0, 0.0);
            let others = Points::from_columns(&table, Some(&weights)).unwrap();
            let others = KernelDensity::with_bandwidth(others, kernel, bandwidth.clone()).unwrap();
            let expected = others.log_density(all.row(out)).unwrap();
            assert!(
                obtained == expected || (obtained - expected).abs() < 1e-7,
                "{name} {out}: {obtained} {expected}"
            );
        }
    }
}

#[test]
fn weight_two_is_the_point_twice() {
    let once = points(50, 2, false, 7);
    let columns: Vec<Vec<f64>> = (0..2).map(|c| once.column(c)).collect();
    let twice: Vec<Vec<f64>> = columns
        .iter()
        .map(|c| [c.clone(), c.clone()].concat())
        .collect();
    for rule in [Rule::Scott, Rule::Cv] {
        let selection = Selection {
            rule,
            ..Selection::default()
        };
        let fit = |points| KernelDensity::fit(points, Kernel::Gaussian, &selection).unwrap();
        let weighted = fit(Points::from_columns(&columns, Some(&[2.0; 50])).unwrap());
        let repeated = fit(Points::from_columns(&twice, None).unwrap());
        for place in places(&once, 8) {
            let (a, b) = (
                weighted.log_density(&place).unwrap(),
                repeated.log_density(&place).unwrap(),
            );
            assert!((a - b).abs() <= 1e-7 * (1.0 + b.abs()), "{rule:?}: {a} {b}");
        }
    }
}

#[test]
fn a_marginal_is_the_integral_over_the_hidden_column() {
    for (kernel, name) in Kernel::ALL {
        let points =
            Points::from_columns(&[vec![0.0, 1.0, 2.5], vec![1.0, -1.0, 0.5]], None).unwrap();
        for bandwidth in [
            Bandwidth::Columns(vec![0.9, 1.4]),
            Bandwidth::Matrix(vec![1.0, 0.6, 0.6, 1.5]),
        ] {
            let density = KernelDensity::with_bandwidth(points.clone(), kernel, bandwidth).unwrap();
            let marginal = density.marginal(&[0]).unwrap();
            for x in [0.2, 1.1, 3.0] {
                let (steps, reach) = (40_000, 40.0);
                let width = 2.0 * reach / f64::from(steps);
                let nodes: Vec<Vec<f64>> = (0..steps)
                    .map(|i| vec![x, -reach + (f64::from(i) + 0.5) * width])
                    .collect();
                let sum: f64 = density
                    .log_densities(&nodes)
                    .unwrap()
                    .iter()
                    .map(|l| l.exp() * width)
                    .sum();
                let obtained = marginal.log_density(&[x]).unwrap().exp();
                assert!(
                    (obtained - sum).abs() < 5e-3 * sum,
                    "{name} {x}: {obtained} {sum}"
                );
            }
        }
    }
}

#[test]
fn a_grid_is_as_accurate_as_documented() {
    let points = points(2000, 2, true, 9);
    let one = points.select(&[0]);
    let selection = Selection {
        rule: Rule::Number(0.4),
        ..Selection::default()
    };
    let density = KernelDensity::fit(one, Kernel::Gaussian, &selection).unwrap();
    // The grid cuts points off at both ends.
    let axis = Axis {
        start: -1.0,
        end: 9.0,
        points: 513,
    };
    let grid = density.on_grid(&[axis]).unwrap();
    let peak = grid.densities.iter().copied().fold(0.0, f64::max);
    for (node, obtained) in grid.densities.iter().enumerate() {
        let expected = density.log_density(&[axis.node(node)]).unwrap().exp();
        assert!((obtained - expected).abs() < 1e-3 * peak);
    }
    assert!(
        (grid.density(&[2.345]) / density.log_density(&[2.345]).unwrap().exp() - 1.0).abs() < 1e-3
    );
    for shape in [BandwidthShape::Diagonal, BandwidthShape::Full] {
        let selection = Selection {
            rule: Rule::Scott,
            shape,
        };
        let density = KernelDensity::fit(points.clone(), Kernel::Gaussian, &selection).unwrap();
        let axes = [
            Axis {
                start: -40.0,
                end: 60.0,
                points: 101,
            },
            Axis {
                start: -30.0,
                end: 50.0,
                points: 130,
            },
        ];
        let grid = density.on_grid(&axes).unwrap();
        let peak = grid.densities.iter().copied().fold(0.0, f64::max);
        for node in (0..grid.densities.len()).step_by(37) {
            let place = [axes[0].node(node / 130), axes[1].node(node % 130)];
            let expected = density.log_density(&place).unwrap().exp();
            assert!(
                (grid.densities[node] - expected).abs() < 1e-3 * peak,
                "{shape:?} {place:?}"
            );
        }
    }
}

#[test]
fn degenerate_points_have_a_finite_density() {
    let wide: Vec<Vec<f64>> = (0..50)
        .map(|c| vec![c as f64, -1.0, 0.5 * c as f64])
        .collect();
    let tables: Vec<Vec<Vec<f64>>> = vec![
        vec![vec![0.0]],
        vec![vec![7.0], vec![-1e-300]],
        vec![vec![3.0; 5], vec![0.0; 5]],
        vec![vec![1.0, 2.0]],
        vec![vec![1e140, -1e140, 3.0]],
        vec![vec![1e-200, 3e-200]],
        vec![vec![1e8, 1e8 + 1.0, 1e8 + 2.0], vec![5.0; 3]],
        wide,
    ];
    for table in tables {
        let points = Points::from_columns(&table, None).unwrap();
        for (kernel, name) in Kernel::ALL {
            for rule in [Rule::Scott, Rule::Silverman, Rule::Isj, Rule::Cv] {
                for shape in [BandwidthShape::Diagonal, BandwidthShape::Full] {
                    let selection = Selection { rule, shape };
                    if rule == Rule::Isj && points.columns() > 1 {
                        assert!(KernelDensity::fit(points.clone(), kernel, &selection).is_err());
                        continue;
                    }
                    let density = KernelDensity::fit(points.clone(), kernel, &selection).unwrap();
                    let at = density.log_density(points.row(0)).unwrap();
                    assert!(at.is_finite(), "{name} {selection:?} {table:?}: {at}");
                    assert!(!density.leave_one_out(&[0])[0].is_nan());
                }
            }
        }
    }
    assert!(Points::from_columns(&[vec![f64::NAN]], None).is_err());
    assert!(Points::from_columns(&[vec![1.0]], Some(&[0.0])).is_err());
    assert!(Points::from_columns::<Vec<f64>>(&[], None).is_err());
}

#[test]
fn files_round_trip() {
    let density = KernelDensity::fit(
        points(30, 2, true, 11),
        Kernel::Cosine,
        &Selection::default(),
    )
    .unwrap();
    let text = serde_json::to_string(&density).unwrap();
    let back: KernelDensity = serde_json::from_str(&text).unwrap();
    assert_eq!(text, serde_json::to_string(&back).unwrap());
    assert!(
        serde_json::from_str::<KernelDensity>(
            &text.replace("\"columns\":[[", "\"columns\":[[7.0,")
        )
        .is_err()
    );
}

#[test]
fn the_tolerance_is_kept_where_whole_nodes_are_summed_by_series() {
    for columns in [1, 2, 3] {
        let points = points(6000, columns, true, 12);
        for width in [0.2, 1.5, 40.0] {
            let bandwidth = Bandwidth::Shared(width);
            let exact =
                KernelDensity::with_bandwidth(points.clone(), Kernel::Gaussian, bandwidth).unwrap();
            for relative in [1e-2, 1e-6, 1e-10, 1e-13] {
                let tolerance = Tolerance {
                    absolute: 0.0,
                    relative,
                };
                let density = exact.clone().with_tolerance(tolerance);
                let places = places(&points, 13);
                for (place, obtained) in places.iter().zip(density.log_densities(&places).unwrap())
                {
                    let expected = brute_force(&density, place);
                    let rounding = 1e-11 + 1e-15 * expected.abs();
                    let error = (obtained - expected).exp_m1().abs();
                    assert!(
                        error <= relative + rounding,
                        "{columns} {width} {relative} {place:?}: {obtained} {expected}"
                    );
                }
                let alone = density
                    .clone()
                    .with_tolerance(Tolerance::EXACT)
                    .leave_one_out(&[0, 17, 5999]);
                for (obtained, expected) in density.leave_one_out(&[0, 17, 5999]).iter().zip(alone)
                {
                    assert!(
                        (obtained - expected).exp_m1().abs()
                            <= 2.0 * relative + 1e-11 + 1e-15 * expected.abs()
                    );
                }
            }
        }
    }
}
