//! Tables with a few far outliers: they do not raise the variance floor of the other rows, and
//! tables without outliers are not affected.

use crate::common::with_threads;
use abduce::Control;
use abduce::ask::TailProbabilities;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::family::Distribution;
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, Tails, fit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Two groups at distance 8; the second is half as wide in the second column.
fn clusters(number: usize) -> Vec<[f64; 2]> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let point = |row: usize| match row % 2 {
        0 => [normal(), normal()],
        _ => [8.0 + normal(), 4.0 + 0.5 * normal()],
    };
    (0..number).map(point).collect()
}

fn table(rows: &[[f64; 2]], weights: Option<Vec<f64>>) -> Table {
    let column = |c: usize| Column::from_numbers(rows.iter().map(|row| Some(row[c])));
    let fields = ["a", "b"].map(|name| Field::new(name, Kind::Real));
    let columns = (0..2).map(column).collect();
    Table::new(Schema::new(fields.to_vec()), columns, weights).unwrap()
}

fn with_far_row(mut rows: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    rows.push([1e6, 1e6]);
    rows
}

fn fitted(table: &dyn Source, specification: &Specification) -> Fit {
    let options = FitOptions::default();
    fit(specification, table, &options, Control::default()).unwrap()
}

/// The variances of the two groups, sorted by their mean.
fn variances(fit: &Fit) -> Vec<[f64; 2]> {
    let gaussian = |distribution: &Distribution| match distribution {
        Distribution::MultivariateStudentT(t) => Some(t.gaussian.clone()),
        Distribution::Multivariate(gaussian) => Some(gaussian.clone()),
        _ => None,
    };
    let leaves = fit.mixture.parameters.leaves[0].iter();
    let mut groups: Vec<_> = leaves.filter_map(gaussian).collect();
    groups.sort_by(|a, b| a.mean[0].total_cmp(&b.mean[0]));
    let of = groups
        .iter()
        .map(|gaussian| [gaussian.covariance(0, 0), gaussian.covariance(1, 1)]);
    of.take(2).collect()
}

#[test]
fn one_far_row_does_not_change_the_variances_of_the_groups() {
    let rows = clusters(500);
    let (clean, with_outlier) = (table(&rows, None), table(&with_far_row(rows), None));
    for covariance in [CovarianceKind::Full, CovarianceKind::Diagonal] {
        let two = Specification::mixture(2, covariance);
        let noise = Specification {
            noise: true,
            ..two.clone()
        };
        // With three components, the far row is one of them.
        let three = Specification::mixture(3, covariance);
        let four = Tails::StudentT { degrees: Some(4.0) };
        let of_t = Specification {
            tails: four,
            ..two.clone()
        };
        // A t component covers the far row with its tails and is a little wider.
        for (without, with, wider) in [
            (&two, &noise, 0.01),
            (&two, &three, 0.01),
            (&of_t, &of_t, 0.25),
        ] {
            let expected = variances(&fitted(&clean, without));
            let fit = fitted(&with_outlier, with);
            let obtained = variances(&fit);
            assert!(fit.monotone);
            assert_eq!(obtained.len(), 2);
            for (expected, obtained) in expected.iter().flatten().zip(obtained.iter().flatten()) {
                assert!(
                    (expected - obtained).abs() < wider * expected,
                    "{with:?}: {expected} {obtained}"
                );
            }
        }
    }
}

#[test]
fn without_far_rows_the_scale_is_the_variance() {
    let fit = fitted(
        &table(&clusters(500), None),
        &Specification::mixture(2, CovarianceKind::Full),
    );
    assert!(fit.mixture.summary.central.is_empty());
}

#[test]
fn a_far_row_of_weight_0_is_ignored_and_weights_equal_repetition() {
    // Near enough that moments lose no precision.
    let mut rows = with_far_row(clusters(150));
    rows[150] = [1e4, 1e4];
    let specification = Specification::mixture(2, CovarianceKind::Diagonal);
    let mut weights = vec![1.0; rows.len()];
    weights[150] = 0.0;
    let fit = fitted(&table(&rows, Some(weights)), &specification);
    assert!(fit.mixture.summary.central.is_empty());

    let twice: Vec<[f64; 2]> = rows.iter().flat_map(|row| [*row, *row]).collect();
    let central = |table: &Table| fitted(table, &specification).mixture.summary.central;
    let weighted = central(&table(&rows, Some(vec![2.0; rows.len()])));
    assert_eq!(weighted, central(&table(&twice, None)));
    assert!(weighted.iter().all(|scale| *scale > 0.1 && *scale < 100.0));
}

#[test]
fn the_number_of_threads_changes_no_bit_with_a_far_row() {
    let table = table(&with_far_row(clusters(4500)), None);
    let noise = Specification {
        noise: true,
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    let parameters = |threads: usize| {
        let fit = with_threads(threads, || fitted(&table, &noise));
        serde_json::to_string(&fit.mixture).unwrap()
    };
    assert_eq!(parameters(1), parameters(3));
}

#[test]
fn the_variance_is_the_scale_if_the_interquartile_range_is_0() {
    let mut rows = clusters(200);
    for row in rows.iter_mut().take(150) {
        row[1] = 2.0;
    }
    let table = table(&with_far_row(rows), None);
    let specification = Specification::mixture(2, CovarianceKind::Diagonal);
    let summary = fitted(&table, &specification).mixture.summary;
    assert!(summary.central[0] > 0.0);
    assert_eq!(summary.central[1], 0.0);
}

#[test]
fn em_never_falls_with_rows_so_far_that_rounding_dominates() {
    for (number, far) in [1e7, 1e8, 1e9, 1e10].into_iter().enumerate() {
        for covariance in ["VVV", "EEE", "VEV"] {
            let mut rows = clusters(40 + number);
            rows.push([-0.3 * far, 1.2 * far]);
            let covariance: CovarianceKind = covariance.parse().unwrap();
            let fit = fitted(&table(&rows, None), &Specification::mixture(1, covariance));
            assert!(fit.monotone, "{far:e} {covariance:?}: {:?}", fit.objectives);
        }
    }
}

#[test]
fn tail_probabilities_do_not_depend_on_the_prepared_patterns() {
    let schema = Schema::new(["x", "y"].map(|name| Field::new(name, Kind::Real)).to_vec());
    let table_of = |x: [Option<f64>; 4]| {
        let y = [1.0, 2.0, 0.0, 5.0].map(Some);
        let columns = vec![Column::from_numbers(x), Column::from_numbers(y)];
        Table::new(schema.clone(), columns, None).unwrap()
    };
    let (whole, partly) = (
        table_of([3.0, 1.0, 4.0, 1.0].map(Some)),
        table_of([None; 4]),
    );
    let specification = Specification::mixture(1, CovarianceKind::Full);
    let options = FitOptions::default();
    let fit = fit(&specification, &whole, &options, Control::default()).unwrap();
    let [one, other] = [&whole, &partly].map(|table| {
        let tails = TailProbabilities::new(&fit.mixture, table, 0)
            .unwrap()
            .unwrap();
        tails.log_probabilities(&partly.chunks()[0]).unwrap()
    });
    assert_eq!(one, other);
}
