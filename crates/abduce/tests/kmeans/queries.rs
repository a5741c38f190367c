//! Queries to k-means models, which answer as equal Gaussians.

use super::*;
use abduce::ask::{Conditional, Joint, Predict};
use abduce::family::Fill;
use abduce::model::kmeans::Distance;

#[test]
fn densities_are_those_of_equal_gaussians_with_the_within_cluster_variance() {
    let rows = clustered(300, 2, 3, 4);
    let fit = fit_from_first_rows(&rows, 3, Algorithm::Auto);
    let variance = fit.inertia / 600.0;
    let densities = fit
        .model
        .log_density(&table(&rows, None).chunks()[0])
        .unwrap();
    for (row, density) in rows.iter().zip(&densities) {
        let part = |centre: &Vec<f64>| {
            let square: f64 = row
                .iter()
                .zip(centre)
                .map(|(x, c)| (x.unwrap() - c).powi(2))
                .sum();
            (-0.5 * square / variance).exp() / (3.0 * std::f64::consts::TAU * variance)
        };
        let sum: f64 = fit.model.centres.iter().map(part).sum();
        assert!((density - sum.ln()).abs() < 1e-10, "{density} {}", sum.ln());
    }
    let total = fit.model.log_likelihood(&table(&rows, None)).unwrap();
    assert_close(total, densities.iter().sum(), 1e-12);
}

#[test]
fn mahalanobis_conditionals_use_the_common_covariance() {
    // One cluster is a Gaussian with the covariance of the table.
    let rows = clustered(500, 2, 2, 4);
    let specification = Specification {
        distance: Distance::Mahalanobis,
        ..Specification::new(1)
    };
    let fit = fitted(&specification, &rows, &Options::default());
    let Ok(Conditional::Numbers(parts)) = fit.model.condition(&[None, None], 0) else {
        panic!("expected a numeric conditional");
    };
    let n = rows.len() as f64;
    let mean = rows.iter().filter_map(|row| row[0]).sum::<f64>() / n;
    let variance = rows
        .iter()
        .filter_map(|row| row[0])
        .map(|x| (x - mean).powi(2))
        .sum::<f64>()
        / n;
    let abduce::family::Distribution::Gaussian(gaussian) = &parts[0].1 else {
        panic!("expected a Gaussian");
    };
    assert_close(gaussian.mean, mean, 1e-9);
    assert_close(gaussian.variance, variance, 1e-9);
}

#[test]
fn missing_values_are_imputed_and_observed_values_kept() {
    let rows = with_missing_values(clustered(200, 3, 3, 2));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for distance in [
        Distance::Euclidean,
        Distance::Manhattan,
        Distance::Mahalanobis,
    ] {
        let specification = Specification {
            distance,
            ..Specification::new(3)
        };
        let fit = fitted(&specification, &rows, &Options::default());
        let chunk = table(&rows, None).chunks()[0].clone();
        let filled = fit.model.complete(&chunk, Fill::Mean, &mut rng).unwrap();
        for (i, row) in rows.iter().enumerate() {
            for (c, x) in row.iter().enumerate() {
                let cell = filled.column(c).cells(0, rows.len()).number(i).unwrap();
                assert!(x.is_none_or(|x| x == cell));
            }
        }
    }
}

#[test]
fn draws_have_the_mean_of_the_clusters() {
    let rows = clustered(400, 2, 2, 3);
    let fit = fit_from_first_rows(&rows, 2, Algorithm::Auto);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let drawn = fit.model.sample(&[None, None], 20_000, &mut rng).unwrap();
    let cells = drawn.column(0).cells(0, 20_000);
    let mean = (0..20_000).filter_map(|i| cells.number(i)).sum::<f64>() / 20_000.0;
    let expected = (fit.model.centres[0][0] + fit.model.centres[1][0]) / 2.0;
    assert!((mean - expected).abs() < 0.1, "{mean} {expected}");
}

#[test]
fn distances_without_a_density_are_an_error() {
    let rows = clustered(50, 2, 2, 3);
    let chunk = table(&rows, None).chunks()[0].clone();
    for (distance, medoids) in [
        (Distance::Manhattan, false),
        (Distance::Cosine, false),
        (Distance::Euclidean, true),
    ] {
        let specification = Specification {
            distance,
            medoids,
            ..Specification::new(2)
        };
        let fit = fitted(&specification, &rows, &Options::default());
        let error = fit.model.log_density(&chunk).unwrap_err().to_string();
        assert!(error.contains("no density"), "{error}");
        assert!(fit.model.posterior(&chunk).is_ok());
    }
}

#[test]
fn categorical_columns_are_left_out_with_a_warning_and_binary_ones_are_0_and_1() {
    let levels = |names: [&str; 2]| names.map(String::from).to_vec();
    let field = |name: &str, kind, levels| Field {
        levels,
        ..Field::new(name, kind)
    };
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        field("colour", Kind::Categorical, levels(["red", "blue"])),
        field("on", Kind::Binary, levels(["no", "yes"])),
    ]);
    let columns = vec![
        Column::from_numbers([1.0, 1.1, 1.2, 1.3].map(Some)),
        Column::from_codes([0, 1, 0, 1].map(Some)),
        Column::from_codes([Some(0), Some(0), Some(1), None]),
    ];
    let table = Table::new(schema, columns, None).unwrap();
    let fit = fit(
        &Specification::new(2),
        &table,
        &Options::default(),
        Control::default(),
    )
    .unwrap();
    assert_eq!(fit.model.column_names(), ["x", "on"]);
    assert!(
        fit.warnings[0].contains("\"colour\" (categorical)"),
        "{:?}",
        fit.warnings
    );
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let filled = fit
        .model
        .complete(&table.chunks()[0], Fill::Mode, &mut rng)
        .unwrap();
    assert_eq!(filled.column(2).cells(0, 4).codes()[..3], [0, 0, 1]);
    assert!(filled.column(2).cells(0, 4).is_seen(3));
}
