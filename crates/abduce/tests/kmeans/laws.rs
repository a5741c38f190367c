//! Laws of the Euclidean fit.

use super::*;
use abduce::ask::Predict;
use abduce::family::{Covariance, Distribution, MultivariateGaussian};
use abduce::learn::{EStep, EmOptions};
use abduce::model::kmeans::Start;
use abduce::model::mixture;

const PRUNED: [Algorithm; 4] = [
    Algorithm::Hamerly,
    Algorithm::Elkan,
    Algorithm::Yinyang,
    Algorithm::Auto,
];

#[test]
fn the_inertia_never_rises_with_any_algorithm_and_missing_values() {
    for seed in 0..4 {
        let rows = clustered(600, 4, 6, seed);
        for rows in [with_missing_values(rows.clone()), rows] {
            for algorithm in PRUNED.into_iter().chain([Algorithm::Lloyd]) {
                let fit = fit_from_first_rows(&rows, 9, algorithm);
                assert!(fit.converged && fit.monotone);
                for pair in fit.trace.windows(2) {
                    assert!(pair[1] <= pair[0] * (1.0 + 1e-12), "{pair:?}");
                }
            }
        }
    }
}

#[test]
fn pruning_bounds_change_no_bit() {
    for (n, d, k) in [(9000, 2, 3), (5000, 5, 40), (4500, 24, 17), (700, 3, 100)] {
        let rows = clustered(n, d, k.min(20), 7);
        for rows in [with_missing_values(rows.clone()), rows] {
            let lloyd = fit_from_first_rows(&rows, k, Algorithm::Lloyd);
            for algorithm in PRUNED {
                let pruned = fit_from_first_rows(&rows, k, algorithm);
                assert_eq!(pruned.trace, lloyd.trace, "{algorithm:?} {n} {d} {k}");
                assert_eq!(pruned.model.centres, lloyd.model.centres);
            }
        }
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads_and_streamed() {
    let rows = clustered(10_000, 3, 5, 1);
    for rows in [with_missing_values(rows.clone()), rows] {
        let table = table(&rows, None);
        let options = Options {
            restarts: 3,
            ..Options::default()
        };
        let bits = |source: &dyn Source, init| {
            let options = Options {
                init,
                ..options.clone()
            };
            let fit = fit(&Specification::new(7), source, &options, Control::default()).unwrap();
            (fit.inertia.to_bits(), fit.model.centres, fit.restarts)
        };
        for init in [
            abduce::model::kmeans::Init::Greedy,
            abduce::model::kmeans::Init::Parallel,
            abduce::model::kmeans::Init::Random,
        ] {
            let expected = bits(&table, init);
            let streamed = Streamed(table.clone());
            assert_eq!(with_threads(1, || bits(&table, init)), expected);
            assert_eq!(with_threads(3, || bits(&table, init)), expected);
            assert_eq!(with_threads(2, || bits(&streamed, init)), expected);
        }
    }
}

#[test]
fn weight_2_equals_the_row_twice_and_weight_0_no_row() {
    let rows = with_missing_values(clustered(300, 3, 4, 5));
    let weights: Vec<f64> = (0..rows.len()).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<Row> = (rows.iter().zip(&weights))
        .flat_map(|(row, weight)| std::iter::repeat_n(row.clone(), *weight as usize))
        .collect();
    let start = first_rows(&rows, 4);
    for distance in ["euclidean", "manhattan", "cosine", "mahalanobis"] {
        let specification = Specification {
            distance: distance.parse().unwrap(),
            standardize: true,
            ..Specification::new(4)
        };
        let fit = |table: Table| {
            let options = Options::default();
            fit_from(
                &specification,
                &table,
                Some(&start),
                &options,
                Control::default(),
            )
            .unwrap()
        };
        let weighted = fit(table(&rows, Some(weights.clone())));
        let twice = fit(table(&repeated, None));
        assert_close(weighted.inertia, twice.inertia, 1e-10);
        assert_same_centres(&weighted, &twice, 1e-9);
        assert_eq!(weighted.model.sizes, twice.model.sizes, "{distance}");
    }
}

#[test]
fn the_order_of_rows_is_irrelevant_given_the_same_initial_centres() {
    let rows = clustered(5000, 4, 5, 3);
    let start = first_rows(&rows, 5);
    let mut reversed = rows.clone();
    reversed.reverse();
    let fit = |rows: &[Row]| {
        let table = table(rows, None);
        let options = Options::default();
        fit_from(
            &Specification::new(5),
            &table,
            Some(&start),
            &options,
            Control::default(),
        )
        .unwrap()
    };
    let (one, other) = (fit(&rows), fit(&reversed));
    assert_close(one.inertia, other.inertia, 1e-12);
    assert_same_centres(&one, &other, 1e-10);
}

#[test]
fn a_shift_moves_the_centres_and_a_change_of_units_scales_them() {
    let rows = clustered(2000, 3, 4, 9);
    let plain = fit_from_first_rows(&rows, 4, Algorithm::Auto);
    for (shift, scale) in [(1e8, 1.0), (0.0, 1024.0), (0.0, 1e-3), (-1e8, 4.0)] {
        let moved: Vec<Row> = (rows.iter())
            .map(|row| row.iter().map(|x| x.map(|x| scale * x + shift)).collect())
            .collect();
        let moved = fit_from_first_rows(&moved, 4, Algorithm::Auto);
        // An offset of 1e8 leaves about eight significant digits.
        let digits = if shift == 0.0 { 1e-12 } else { 1e-7 };
        assert_close(moved.inertia, scale * scale * plain.inertia, digits);
        for (a, b) in moved.model.centres.iter().zip(&plain.model.centres) {
            for (a, b) in a.iter().zip(b) {
                assert!(((a - shift) / scale - b).abs() < 1e-6, "{a} {b}");
            }
        }
        assert_eq!(moved.model.sizes, plain.model.sizes);
    }
}

#[test]
fn one_iteration_equals_hard_em_with_equal_spherical_gaussians() {
    let rows = clustered(400, 3, 3, 2);
    let table = table(&rows, None);
    let start = first_rows(&rows, 3);
    let options = Options {
        max_iterations: 1,
        tolerance: -1.0,
        ..Options::default()
    };
    let specification = Specification::new(3);
    let fit = fit_from(
        &specification,
        &table,
        Some(&start),
        &options,
        Control::default(),
    )
    .unwrap();
    let gaussian = |mean: &Vec<f64>| {
        let covariance = Covariance::Spherical(1e-3);
        Distribution::Multivariate(MultivariateGaussian {
            mean: mean.clone(),
            covariance,
        })
    };
    let parameters = mixture::Parameters {
        weights: vec![1.0 / 3.0; 3],
        leaves: vec![start.iter().map(gaussian).collect()],
        unseen: Vec::new(),
    };
    let em = EmOptions {
        step: EStep::Hard,
        max_iterations: 1,
        tolerance: -1.0,
        ..EmOptions::default()
    };
    let options = mixture::FitOptions {
        em,
        ..Default::default()
    };
    let specification = mixture::Specification {
        variance_floor: 0.0,
        ..mixture::Specification::mixture(3, mixture::CovarianceKind::Spherical)
    };
    let hard = mixture::fit_from(
        &specification,
        &table,
        Some(&parameters),
        &options,
        Control::default(),
    );
    let hard = hard.unwrap().mixture.parameters;
    let means = hard.leaves[0].iter().map(|leaf| match leaf {
        Distribution::Multivariate(gaussian) => gaussian.mean.clone(),
        _ => unreachable!(),
    });
    for mean in means {
        let same = |centre: &Vec<f64>| centre.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-10);
        assert!(
            fit.model.centres.iter().any(same),
            "{mean:?} {:?}",
            fit.model.centres
        );
    }
}

#[test]
fn rows_belong_to_the_nearest_centre_and_centres_are_means() {
    let rows = with_missing_values(clustered(800, 3, 4, 11));
    let fit = fit_from_first_rows(&rows, 5, Algorithm::Auto);
    let labels = fit.model.assigner()(&table(&rows, None).chunks()[0]);
    let square = |row: &Row, centre: &Vec<f64>| -> f64 {
        let seen = row.iter().zip(centre).filter_map(|(x, c)| Some((*x)? - c));
        seen.map(|gap| gap * gap).sum()
    };
    let mut inertia = 0.0;
    for (row, label) in rows.iter().zip(&labels) {
        let distance = square(row, &fit.model.centres[*label as usize]);
        assert!(
            fit.model
                .centres
                .iter()
                .all(|centre| distance <= square(row, centre) + 1e-9)
        );
        inertia += distance;
    }
    assert_close(fit.inertia, inertia, 1e-10);
    for (number, centre) in fit.model.centres.iter().enumerate() {
        for (c, x) in centre.iter().enumerate() {
            let members = rows
                .iter()
                .zip(&labels)
                .filter(|(_, label)| **label as usize == number);
            let cells: Vec<f64> = members.filter_map(|(row, _)| row[c]).collect();
            let mean = cells.iter().sum::<f64>() / cells.len() as f64;
            assert!((x - mean).abs() < 1e-9, "{x} {mean}");
        }
    }
    let sizes = &fit.model.sizes;
    assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]));
}

#[test]
fn the_best_start_is_kept_and_equal_seeds_give_equal_fits() {
    let rows = clustered(500, 2, 6, 4);
    let options = |seed| Options {
        seed,
        restarts: 6,
        ..Options::default()
    };
    let fit = |seed| fitted(&Specification::new(6), &rows, &options(seed));
    let one = fit(1);
    assert_eq!(one.restarts.len(), 6);
    let least = one.restarts.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(one.inertia, least);
    let (best, reached) = Start::best_of(&one.starts).unwrap();
    assert_eq!((best, one.starts.len()), (least, 6));
    assert!(reached >= 1);
    assert_eq!(one.model.centres, fit(1).model.centres);
}

#[test]
fn mini_batches_are_within_one_percent_and_reproducible() {
    let rows = clustered(40_000, 4, 5, 6);
    let fit = |algorithm| {
        let options = Options {
            algorithm,
            restarts: 2,
            ..Options::default()
        };
        fitted(&Specification::new(5), &rows, &options)
    };
    let (exact, batches) = (fit(Algorithm::Lloyd), fit(Algorithm::MiniBatch));
    assert!(batches.inertia >= exact.inertia * (1.0 - 1e-9));
    assert!(
        batches.inertia <= exact.inertia * 1.01,
        "{} {}",
        batches.inertia,
        exact.inertia
    );
    assert_eq!(
        batches.model.centres,
        fit(Algorithm::MiniBatch).model.centres
    );
}

#[test]
fn training_rows_are_predicted_into_their_clusters() {
    let rows = clustered(3000, 4, 4, 8);
    let fit = fit_from_first_rows(&rows, 4, Algorithm::Auto);
    let posterior = fit
        .model
        .posterior(&table(&rows, None).chunks()[0])
        .unwrap();
    let mut sizes = vec![0.0; 4];
    for row in 0..posterior.rows() {
        sizes[posterior.best(row)] += 1.0;
        assert_eq!(posterior.row(row).iter().sum::<f64>(), 1.0);
    }
    assert_eq!(sizes, fit.model.sizes);
}
