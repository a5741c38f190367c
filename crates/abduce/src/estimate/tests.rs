//! Tests of estimates.

use super::{Estimate, PriorChoice, Request, estimate};
use crate::Result;
use crate::data::{Column, Field, Kind, Schema, Table};

fn report(family: &str, rows: &[f64], prior: Option<&str>, seed: u64) -> Result<Estimate> {
    let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    let column = Column::from_numbers(rows.iter().map(|x| Some(*x)));
    let table = Table::new(schema, vec![column], None)?;
    let request = Request {
        prior: prior.map(|text| PriorChoice::Text(text.into())),
        seed,
        ..Request::default()
    };
    estimate(family, &table, &request)
}

fn is_improper(family: &str, rows: &[f64], prior: Option<&str>) -> bool {
    match report(family, rows, prior, 0) {
        Ok(_) => false,
        Err(why) => {
            assert!(why.to_string().contains("improper"), "{why}");
            true
        }
    }
}

#[test]
fn the_rate_of_a_zero_inflated_poisson_needs_a_positive_count_or_a_proper_prior() {
    assert!(is_improper("zero-inflated-poisson", &[0.0; 9], None));
    let proper = Some("rate=gamma(0.5,0.1)");
    assert!(!is_improper("zero-inflated-poisson", &[0.0; 9], proper));
    let mixed = [0.0, 0.0, 3.0, 1.0, 0.0, 4.0];
    assert!(!is_improper("zero-inflated-poisson", &mixed, None));
}

#[test]
fn repeated_numbers_make_priors_on_few_degrees_of_freedom_improper() {
    let ties = [1.0, 1.0, 2.5, -0.3, 0.4, 3.1, 0.9];
    let different = [1.0, 1.1, 2.5, -0.3, 0.4, 3.1, 0.9];
    let near_zero = Some("degrees=gamma(2,0.1)");
    assert!(is_improper("student-t", &ties, near_zero));
    assert!(!is_improper("student-t", &different, near_zero));
    // Ties are harmless above 1, and where the prior excludes small scales.
    assert!(!is_improper("student-t", &ties, None));
    let large_scales = Some("degrees=gamma(2,0.1); scale=inverse_gamma(1,1)");
    assert!(!is_improper("student-t", &ties, large_scales));
    assert!(is_improper("student-t", &different, Some("degrees=1/x")));
}

#[test]
fn the_seed_moves_a_sampled_posterior_by_no_more_than_its_error() {
    let rows = [0.5, 1.9, 0.7, 3.0, 1.2, 0.4, 2.2];
    let mean = |seed: u64| {
        let found = report("gamma", &rows, None, seed).unwrap();
        found.mean.unwrap().get("shape").unwrap()
    };
    assert_eq!(mean(1), mean(1));
    assert_ne!(mean(1), mean(2));
    assert!(
        (mean(1) / mean(2) - 1.0).abs() < 0.01,
        "{} {}",
        mean(1),
        mean(2)
    );
}

#[test]
fn the_posterior_of_a_shape_stays_within_the_range_of_its_prior() {
    let rows = [0.5, 1.9, 0.7, 3.0, 1.2, 0.4, 2.2];
    let shape = |prior: &str| {
        let found = report("gamma", &rows, Some(prior), 0).unwrap();
        (found.mean.unwrap().get("shape").unwrap(), found.intervals)
    };
    // Far above, around and below the maximum-likelihood estimate, about 2.2.
    for (low, high) in [(5.0, 9.0), (2.0, 4.0), (0.1, 0.2)] {
        let text = format!("shape=uniform({low},{high})");
        let (mean, intervals) = shape(&text);
        let (from, to) = intervals[0].equal_tailed;
        assert!(
            low < from && from < mean && mean < to && to < high,
            "{text}"
        );
        let (same, _) = shape(&format!("shape=1 if {low} < x < {high} else 0"));
        assert!((mean - same).abs() < 1e-6 * mean, "{text}: {mean} {same}");
    }
}

#[test]
fn gamma_and_beta_agree_with_the_gaussian_at_a_small_relative_spread() {
    // Then shape and precision of a gamma, and the sum of a beta's parameters and the
    // precision, are proportional, and so are their non-informative priors.
    let off = [0.3, -1.1, 0.8, 1.9, -0.4, -1.5, 0.1, 0.6, -0.7];
    let cases = [
        ("gamma", 1e7, 1.0, 1e14),
        ("beta", 0.5, 1e-5, 0.125),
        ("gamma", 1e4, 1.0, 1e8),
    ];
    for (family, centre, unit, ratio) in cases {
        let rows: Vec<f64> = off.iter().map(|x| centre + unit * x).collect();
        let other = report(family, &rows, None, 0).unwrap();
        let gaussian = report("gaussian", &rows, None, 0).unwrap();
        let precision = gaussian.intervals.iter();
        let precision = precision
            .clone()
            .find(|report| report.parameter == "precision")
            .unwrap();
        let (low, high) = precision.equal_tailed;
        let (from, to) = other.intervals[0].equal_tailed;
        assert!(
            (from / (ratio * low) - 1.0).abs() < 0.03,
            "{family}: {from} {low}"
        );
        assert!(
            (to / (ratio * high) - 1.0).abs() < 0.03,
            "{family}: {to} {high}"
        );
        assert!(other.notes.is_empty(), "{family}: {:?}", other.notes);
    }
}

#[test]
fn priors_are_divided_by_their_integral() {
    let rows = [0.5, 1.9, 0.7, 3.0, 1.2, 0.4, 2.2];
    let evidence = |prior: &str| {
        let found = report("gamma", &rows, Some(prior), 0).unwrap();
        assert_eq!(found.proper, Some(true), "{prior}");
        found.log_evidence.unwrap()
    };
    let plain = evidence("shape=gamma(2,1); rate=gamma(2,1)");
    for same in [
        "shape=2*gamma(2,1); rate=gamma(2,1)",
        "shape=x*exp(-x); rate=5*x*exp(-x)",
    ] {
        let found = evidence(same);
        assert!((found - plain).abs() < 1e-6, "{same}: {found} {plain}");
    }
    let found = report("gamma", &rows, None, 0).unwrap();
    assert_eq!((found.proper, found.log_evidence), (Some(false), None));
}

#[test]
fn one_angle_of_a_flat_direction_is_as_probable_as_any() {
    // Whatever is believed of the concentration.
    for (direction, concentration) in [
        ("uniform(-pi,pi)", "log_normal(0,4)"),
        ("1", "log_normal(0,25)"),
        ("uniform(0,2*pi)", "gamma(2,0.1)"),
        ("uniform(-pi,pi)", "uniform(0,100)"),
        ("1", "inverse_gamma(1,1)"),
        ("uniform(0,2*pi)", "gamma(2,1) if x > 1 else 0"),
    ] {
        let prior = format!("direction={direction}; concentration={concentration}");
        let found = report("von-mises", &[3.1], Some(&prior), 0).unwrap();
        let off = found.log_evidence.unwrap() + std::f64::consts::TAU.ln();
        assert!(off.abs() < 4e-3, "{prior}: {off}");
    }
}

#[test]
fn adding_a_column_leaves_the_intervals_of_the_others_as_they_were() {
    let cells = |column: usize| -> Vec<f64> {
        let row = |i: usize| ((i * (7 + 4 * column) + column) % 13) as f64 + 0.1 * i as f64;
        (0..12).map(row).collect()
    };
    let together = |columns: usize, prior: Option<&str>| {
        let fields = (0..columns).map(|c| Field::new(format!("x{c}"), Kind::Real));
        let schema = Schema::new(fields.collect());
        let all = (0..columns).map(|c| Column::from_numbers(cells(c).into_iter().map(Some)));
        let table = Table::new(schema, all.collect(), None).unwrap();
        let request = Request {
            prior: prior.map(|text| PriorChoice::Text(text.into())),
            ..Request::default()
        };
        estimate("multivariate-gaussian", &table, &request).unwrap()
    };
    let ends = |found: &Estimate, name: &str| {
        let interval = found
            .intervals
            .iter()
            .find(|interval| interval.parameter == name);
        interval.unwrap_or_else(|| panic!("no {name}")).equal_tailed
    };
    let close = |a: (f64, f64), b: (f64, f64)| {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        near(a.0, b.0) && near(a.1, b.1)
    };
    for column in 0..3 {
        let alone = report("gaussian", &cells(column), None, 0).unwrap();
        for columns in (column + 1).max(2)..=4 {
            let found = together(columns, None);
            assert_eq!(found.prior.name, "matching");
            assert!(found.notes.iter().any(|note| note.contains("|Σ|^(−d)")));
            let mean = format!("mean[x{column}]");
            let variance = format!("covariance[x{column},x{column}]");
            assert!(close(ends(&found, &mean), ends(&alone, "mean")));
            assert!(close(ends(&found, &variance), ends(&alone, "variance")));
        }
    }
    // The former default is available by name, and is wider for more columns.
    let width = |columns: usize| {
        let (low, high) = ends(&together(columns, Some("reference")), "mean[x0]");
        high - low
    };
    assert!(width(3) > width(2));
}

#[test]
fn a_proportion_has_a_hoeffding_interval_with_and_without_smoothing() {
    let rows = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    let found = report("bernoulli", &rows, None, 0).unwrap();
    let of = |method: &str| {
        let confidence = found
            .frequentist
            .iter()
            .find(|confidence| confidence.method == method);
        confidence.unwrap_or_else(|| panic!("no {method}")).interval
    };
    let reach = (40.0f64.ln() / 20.0).sqrt();
    let (low, high) = of("Hoeffding");
    assert!((low - (0.6 - reach)).abs() < 1e-12, "{low}");
    assert!((high - 1.0f64.min(0.6 + reach)).abs() < 1e-12, "{high}");
    of("Hoeffding, of the smoothed proportion");
}

#[test]
fn maximum_likelihood_estimates_have_the_standard_errors_of_the_information() {
    let error = |family: &str, rows: &[f64], name: &str| {
        let found = report(family, rows, None, 0).unwrap();
        let point = found.maximum_likelihood.unwrap();
        (point.parameters.get(name), point.standard_errors.get(name))
    };
    let near = |(_, error): (Option<f64>, Option<f64>), expected: f64| {
        let error = error.unwrap();
        assert!((error / expected - 1.0).abs() < 1e-3, "{error} {expected}");
    };
    let rows = [1.0, 2.0, 3.0, 2.0, 1.0];
    near(error("gaussian", &rows, "mean"), (0.56_f64 / 5.0).sqrt());
    near(error("gaussian", &rows, "variance"), 0.56 * 0.4_f64.sqrt());
    near(error("poisson", &rows, "rate"), (1.8_f64 / 5.0).sqrt());
    near(
        error("exponential", &rows, "rate"),
        1.0 / 1.8 / 5_f64.sqrt(),
    );
    let flags = [1.0, 0.0, 1.0, 1.0];
    near(
        error("bernoulli", &flags, "probability"),
        (0.1875_f64 / 4.0).sqrt(),
    );
    // At a boundary there is none.
    assert_eq!(
        error("bernoulli", &[1.0; 4], "probability"),
        (Some(1.0), None)
    );
    assert_eq!(error("uniform", &rows, "low").1, None);
    // By the numerical Hessian: Var shape = a / (n (a ψ′(a) − 1)), Var rate = b² ψ′(a) /
    // (n (a ψ′(a) − 1)).
    let rows = [0.3, 2.5, 1.1, 0.7, 0.2, 4.0, 1.0, 2.0];
    let (shape, rate) = (
        error("gamma", &rows, "shape"),
        error("gamma", &rows, "rate"),
    );
    let (a, b) = (shape.0.unwrap(), rate.0.unwrap());
    let trigamma = (0..1_000_000)
        .map(|k| (a + f64::from(k)).powi(-2))
        .sum::<f64>()
        + 1e-6;
    let determinant = 8.0 * (a * trigamma - 1.0);
    near(shape, (a / determinant).sqrt());
    near(rate, b * (trigamma / determinant).sqrt());
}

/// A number of an estimate.
type Figure<'a> = &'a dyn Fn(&Estimate) -> f64;

#[test]
fn sampled_figures_come_with_monte_carlo_errors_from_all_draws() {
    let rows = [0.3, 2.5, 1.1, 0.7, 0.2, 4.0, 1.0, 2.0];
    let prior = Some("shape=gamma(2,1); rate=gamma(2,1)");
    let all = (0..4).map(|seed| report("gamma", &rows, prior, seed).unwrap());
    let all: Vec<Estimate> = all.collect();
    let spread = |of: &dyn Fn(&Estimate) -> f64| {
        let each: Vec<f64> = all.iter().map(of).collect();
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        let squares: f64 = each.iter().map(|x| (x - mean).powi(2)).sum();
        ((squares / (each.len() - 1) as f64).sqrt(), mean)
    };
    let errors = all[0].monte_carlo.as_ref().unwrap();
    let deviation = |estimate: &Estimate| estimate.predictive.as_ref().unwrap().deviation.unwrap();
    let (spread_of_deviation, mean) = spread(&deviation);
    // A few hundred of the draws differ by several hundredths between seeds.
    assert!(
        spread_of_deviation < 0.01 * mean,
        "{spread_of_deviation} of {mean}"
    );
    let high = |estimate: &Estimate| estimate.predictive.as_ref().unwrap().interval.unwrap().1;
    let shape = |estimate: &Estimate| estimate.mean.as_ref().unwrap().get("shape").unwrap();
    let end = |estimate: &Estimate| estimate.intervals[0].equal_tailed.1;
    let figures: [(Figure, f64); 4] = [
        (&deviation, errors.predictive_deviation.unwrap()),
        (&high, errors.predictive_interval.unwrap().1),
        (&shape, errors.mean.get("shape").unwrap()),
        (&end, errors.intervals[0].1.1),
    ];
    for (number, (figure, error)) in figures.into_iter().enumerate() {
        let (spread, size) = spread(figure);
        // Low-discrepancy points do better than the errors of independent draws.
        assert!(spread < 3.0 * error, "{number}: {spread} {error}");
        assert!(error < 0.1 * size.abs(), "{number}: {error} of {size}");
    }
}

#[test]
fn kish_sample_size_follows_from_the_weights() {
    let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
    let column = Column::from_numbers([1.0, 2.0, 3.0].map(Some));
    let table = Table::new(schema, vec![column], Some(vec![1.0, 2.0, 3.0])).unwrap();
    let found = estimate("gaussian", &table, &Request::default()).unwrap();
    assert!((found.kish_sample_size - 36.0 / 14.0).abs() < 1e-12);
}

#[test]
fn a_categorical_column_of_one_level_loses_nothing_on_its_own_rows() {
    let field = Field {
        levels: vec!["red".into()],
        ..Field::new("colour", Kind::Categorical)
    };
    let column = Column::from_codes([Some(0), Some(0), None]);
    let table = Table::new(Schema::new(vec![field]), vec![column], None).unwrap();
    for (family, code_of_red) in [("categorical", 0.0), ("bernoulli", 1.0)] {
        let estimate = estimate(family, &table, &Request::default()).unwrap();
        let fitted = estimate.fitted.as_ref().unwrap();
        assert_eq!(fitted.log_density(code_of_red), 0.0, "{family}");
        let risk = estimate.risk_on(&table).unwrap();
        assert_eq!(risk.maximum_likelihood, Some(0.0), "{family}");
        assert_eq!((risk.rows, risk.impossible), (2, 0), "{family}");
        assert!(risk.predictive.unwrap().is_finite(), "{family}");
    }
}
