//! Laws of tables with a few rows very far off: they do not raise the floor under the
//! variances of the others, and a table without any is fitted as it always was.

use abduce::Control;
use abduce::ask::TailProbabilities;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::family::Distribution;
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, Specification, Tails, fit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Two groups eight apart, the second half as wide in the second column.
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

/// The variances of the two groups, by their place.
fn variances(fit: &Fit) -> Vec<[f64; 2]> {
    let gaussian = |own: &Distribution| match own {
        Distribution::MultivariateStudentT(own) => Some(own.gaussian.clone()),
        Distribution::Multivariate(own) => Some(own.clone()),
        _ => None,
    };
    let leaves = fit.mixture.parameters.leaves[0].iter();
    let mut groups: Vec<_> = leaves.filter_map(gaussian).collect();
    groups.sort_by(|a, b| a.mean[0].total_cmp(&b.mean[0]));
    let of = groups
        .iter()
        .map(|own| [own.covariance(0, 0), own.covariance(1, 1)]);
    of.take(2).collect()
}

#[test]
fn one_far_row_leaves_the_groups_their_own_spreads() {
    let rows = clusters(500);
    let (clean, spoiled) = (table(&rows, None), table(&with_far_row(rows), None));
    for covariance in [CovarianceKind::Full, CovarianceKind::Diagonal] {
        let two = Specification::mixture(2, covariance);
        let noise = Specification {
            noise: true,
            ..two.clone()
        };
        // The far row is a component of its own.
        let three = Specification::mixture(3, covariance);
        let four = Tails::StudentT { degrees: Some(4.0) };
        let of_t = Specification {
            tails: four,
            ..two.clone()
        };
        // A t takes the far row into its tails, and is a little wider for it.
        for (without, with, wider) in [
            (&two, &noise, 0.01),
            (&two, &three, 0.01),
            (&of_t, &of_t, 0.25),
        ] {
            let own = variances(&fitted(&clean, without));
            let fit = fitted(&spoiled, with);
            let beside = variances(&fit);
            assert!(fit.monotone);
            assert_eq!(beside.len(), 2);
            for (own, beside) in own.iter().flatten().zip(beside.iter().flatten()) {
                assert!(
                    (own - beside).abs() < wider * own,
                    "{with:?}: {own} {beside}"
                );
            }
        }
    }
}

#[test]
fn a_table_without_far_rows_is_measured_by_its_variance() {
    let fit = fitted(
        &table(&clusters(500), None),
        &Specification::mixture(2, CovarianceKind::Full),
    );
    assert!(fit.mixture.seen.central.is_empty());
}

#[test]
fn a_far_row_of_no_weight_is_no_row_and_weights_are_repetitions() {
    // Not so far that the precision of moments has a say.
    let mut rows = with_far_row(clusters(150));
    rows[150] = [1e4, 1e4];
    let specification = Specification::mixture(2, CovarianceKind::Diagonal);
    let mut weights = vec![1.0; rows.len()];
    weights[150] = 0.0;
    let fit = fitted(&table(&rows, Some(weights)), &specification);
    assert!(fit.mixture.seen.central.is_empty());

    let twice: Vec<[f64; 2]> = rows.iter().flat_map(|row| [*row, *row]).collect();
    let central = |table: &Table| fitted(table, &specification).mixture.seen.central;
    let weighted = central(&table(&rows, Some(vec![2.0; rows.len()])));
    assert_eq!(weighted, central(&table(&twice, None)));
    assert!(weighted.iter().all(|own| *own > 0.1 && *own < 100.0));
}

#[test]
fn the_number_of_threads_changes_no_bit_beside_a_far_row() {
    let table = table(&with_far_row(clusters(9000)), None);
    let noise = Specification {
        noise: true,
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    let parameters = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new();
        let pool = pool.num_threads(threads).build().unwrap();
        let fit = pool.install(|| fitted(&table, &noise));
        serde_json::to_string(&fit.mixture).unwrap()
    };
    assert_eq!(parameters(1), parameters(3));
}

#[test]
fn where_the_middle_half_is_one_number_the_variance_is_the_scale() {
    let mut rows = clusters(200);
    for row in rows.iter_mut().take(150) {
        row[1] = 2.0;
    }
    let table = table(&with_far_row(rows), None);
    let specification = Specification::mixture(2, CovarianceKind::Diagonal);
    let seen = fitted(&table, &specification).mixture.seen;
    assert!(seen.central[0] > 0.0);
    assert_eq!(seen.central[1], 0.0);
}

#[test]
fn no_step_falls_beside_rows_so_far_that_rounding_decides() {
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
fn a_pattern_that_was_not_prepared_has_the_same_tail() {
    let schema = Schema::new(["x", "y"].map(|name| Field::new(name, Kind::Real)).to_vec());
    let of = |x: [Option<f64>; 4]| {
        let y = [1.0, 2.0, 0.0, 5.0].map(Some);
        let columns = vec![Column::from_numbers(x), Column::from_numbers(y)];
        Table::new(schema.clone(), columns, None).unwrap()
    };
    let (whole, partly) = (of([3.0, 1.0, 4.0, 1.0].map(Some)), of([None; 4]));
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
