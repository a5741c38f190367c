//! Mixtures with a noise component, with fixed and tied parameters, and with given starts.

use crate::common::{golden, golden_columns};
use abduce::Control;
use abduce::ask::{Joint, Predict};
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::family::{Distribution, Gaussian, Poisson};
use abduce::leaf::FamilyName;
use abduce::learn::EmOptions;
use abduce::model::mixture::{
    CovarianceKind, Criterion, Fit, FitOptions, Grid, Held, Recipe, Specification, fit,
    fit_from_mixture, select,
};
use abduce::store::Model;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Poisson as Draws, StandardNormal};

fn table(columns: Vec<(&str, Kind, Vec<Option<f64>>)>) -> Table {
    let fields = columns
        .iter()
        .map(|(name, kind, _)| Field::new(*name, *kind));
    let schema = Schema::new(fields.collect());
    let columns = columns.into_iter().map(|(.., x)| Column::from_numbers(x));
    Table::new(schema, columns.collect(), None).unwrap()
}

fn options() -> FitOptions {
    FitOptions {
        em: EmOptions {
            tolerance: 1e-13,
            max_iterations: 5000,
            ..EmOptions::default()
        },
        ..FitOptions::default()
    }
}

fn learn(specification: &Specification, table: &Table) -> Fit {
    fit(specification, table, &options(), Control::default()).unwrap()
}

fn normal(rng: &mut dyn Rng, mean: f64, sd: f64) -> Option<f64> {
    Some(mean + sd * rng.sample::<f64, _>(StandardNormal))
}

/// Two clusters of 300 and 200 rows, and `noise` rows of uniform noise.
fn clusters(noise: usize, missing: bool) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for i in 0..500 {
        let (mx, my, sy) = if i < 300 {
            (0.0, 0.0, 1.0)
        } else {
            (8.0, 5.0, 0.5)
        };
        x.push(normal(&mut rng, mx, 1.0));
        y.push(normal(&mut rng, my, sy));
    }
    for _ in 0..noise {
        x.push(Some(rng.random_range(-20.0..30.0)));
        y.push(Some(rng.random_range(-20.0..30.0)));
    }
    if missing {
        y.iter_mut().step_by(7).for_each(|cell| *cell = None);
    }
    table(vec![("x", Kind::Real, x), ("y", Kind::Real, y)])
}

fn noisy(components: usize, covariance: CovarianceKind) -> Specification {
    Specification {
        noise: true,
        ..Specification::mixture(components, covariance)
    }
}

fn means(fit: &Fit) -> Vec<Vec<f64>> {
    let leaf = fit.mixture.parameters.leaves[0].iter();
    let mean = |d: &Distribution| match d {
        Distribution::Multivariate(gaussian) => Some(gaussian.mean.clone()),
        _ => None,
    };
    leaf.filter_map(mean).collect()
}

#[test]
fn a_noise_component_does_not_move_the_clusters() {
    for missing in [false, true] {
        let table = clusters(80, missing);
        let fit = learn(&noisy(2, CovarianceKind::Full), &table);
        let weights = &fit.mixture.parameters.weights;
        assert_eq!(fit.mixture.names(), ["1", "2", "noise"]);
        for (weight, truth) in weights.iter().zip([300.0, 200.0, 80.0]) {
            assert!((weight - truth / 580.0).abs() < 0.02, "{weights:?}");
        }
        for (mean, truth) in means(&fit).iter().zip([[0.0, 0.0], [8.0, 5.0]]) {
            let errors = mean.iter().zip(truth).map(|(a, b)| (a - b).abs());
            assert!(errors.fold(0.0, f64::max) < 0.2, "{mean:?}");
        }
        assert!(fit.monotone && fit.converged);
        assert!(fit.trace.is_sorted_by(|a, b| *b >= a - 1e-9 * a.abs()));
        // Without a noise component, two clusters must cover the noise too.
        let without = learn(&Specification::mixture(2, CovarianceKind::Full), &table);
        assert!(fit.bic < without.bic - 100.0);
    }
}

#[test]
fn a_table_without_noise_gives_a_noise_weight_near_0() {
    let fit = learn(&noisy(2, CovarianceKind::Full), &clusters(0, false));
    let noise = *fit.mixture.parameters.weights.last().unwrap();
    assert!(noise < 0.02, "{noise}");
    let without = learn(
        &Specification::mixture(2, CovarianceKind::Full),
        &clusters(0, false),
    );
    assert!(fit.log_likelihood >= without.log_likelihood - 1e-6);
    assert!(fit.bic > without.bic);
}

#[test]
fn far_rows_are_noise_and_have_a_low_density() {
    let fit = learn(&noisy(2, CovarianceKind::Full), &clusters(80, false));
    let far = table(vec![
        ("x", Kind::Real, vec![Some(1e4), Some(8.0), None]),
        ("y", Kind::Real, vec![Some(-1e4), Some(5.0), None]),
    ]);
    let chunk = &far.chunks()[0];
    let posterior = fit.mixture.posterior(chunk).unwrap();
    assert_eq!(posterior.row(0), [0.0, 0.0, 1.0]);
    assert!(posterior.row(1)[1] > 0.99);
    for (p, weight) in posterior.row(2).iter().zip(&fit.mixture.parameters.weights) {
        assert!((p - weight).abs() < 1e-12);
    }
    let log_density = fit.mixture.log_density(chunk).unwrap();
    assert!(log_density[0] < -1e6 && log_density[1] > -5.0);
    assert!(log_density[2].abs() < 1e-12);
}

#[test]
fn files_of_mixtures_with_noise_round_trip() {
    let specification = noisy(2, CovarianceKind::Full);
    let table = clusters(80, false);
    let fit = learn(&specification, &table);
    let before = fit.mixture.log_density(&table.chunks()[0]).unwrap();
    let model = Model::new(
        "mixture",
        fit.learned(Recipe::new(specification, options())),
        Vec::new(),
    );
    let back = Model::from_json(&model.to_json().unwrap()).unwrap();
    let after = back
        .joint()
        .unwrap()
        .log_density(&table.chunks()[0])
        .unwrap();
    assert_eq!(before, after);
}

#[test]
fn noise_agrees_with_mclust() {
    let golden = golden("mclust_noise");
    let [mut x, mut y] = [0, 1].map(|c| -> Vec<Option<f64>> {
        golden_columns("faithful")[c]
            .iter()
            .copied()
            .map(Some)
            .collect()
    });
    let mut groups: Vec<Option<u32>> = x.iter().map(|x| x.map(|x| u32::from(x < 3.0))).collect();
    for i in 1..=30 {
        x.push(Some(6.0 * (f64::from(i) * 0.618034).fract()));
        y.push(Some(30.0 + 80.0 * (f64::from(i) * 0.754878).fract()));
        groups.push(None);
    }
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::with_levels("group", Kind::Categorical, ["long", "short"]),
        Field::new("y", Kind::Real),
    ]);
    let columns = vec![
        Column::from_numbers(x),
        Column::from_codes(groups),
        Column::from_numbers(y),
    ];
    let table = Table::new(schema, columns, None).unwrap();
    for (name, covariance) in [
        ("EII", CovarianceKind::Eii),
        ("EEE", CovarianceKind::Tied),
        ("VVV", CovarianceKind::Full),
    ] {
        let specification = Specification {
            variance_floor: 0.0,
            ..noisy(2, covariance)
        };
        let start = FitOptions {
            start_by: Some("group".into()),
            ..options()
        };
        let fit = fit(&specification, &table, &start, Control::default()).unwrap();
        let expected = &golden[name];
        let known = expected["log_likelihood"].as_f64().unwrap();
        assert!(
            (fit.log_likelihood - known).abs() < 1e-6 * known.abs(),
            "{name}: {} {known}",
            fit.log_likelihood
        );
        assert_eq!(
            fit.parameters as u64,
            expected["parameters"].as_u64().unwrap()
        );
        let noise = expected["weights"][2].as_f64().unwrap();
        let weights = &fit.mixture.parameters.weights;
        assert!((weights[2] - noise).abs() < 1e-4, "{name}: {weights:?}");
    }
}

fn visits() -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let draws = Draws::new(2.5).unwrap();
    let visit = |rng: &mut ChaCha8Rng| {
        if rng.random::<f64>() < 0.3 {
            0.0
        } else {
            draws.sample(rng)
        }
    };
    let visits = (0..2000).map(|_| Some(visit(&mut rng))).collect();
    table(vec![("visits", Kind::Count, visits)])
}

#[test]
fn a_zero_inflated_poisson_is_a_mixture_with_one_fixed_component() {
    let table = visits();
    let mixture = learn(&Specification::zero_inflated_poisson("visits"), &table);
    let family: FamilyName = "zero-inflated-poisson".parse().unwrap();
    let alone = Specification {
        families: vec![("visits".into(), family)],
        ..Specification::mixture(1, CovarianceKind::Full)
    };
    let alone = learn(&alone, &table);
    assert!((mixture.log_likelihood - alone.log_likelihood).abs() < 1e-6);
    assert_eq!(mixture.parameters, alone.parameters);
    let parameters = &mixture.mixture.parameters;
    let (Distribution::Poisson(zero), Distribution::Poisson(rest)) =
        (&parameters.leaves[0][0], &parameters.leaves[0][1])
    else {
        panic!("expected two Poisson components");
    };
    assert_eq!(zero.rate, 0.0);
    let Distribution::ZeroInflatedPoisson(known) = &alone.mixture.parameters.leaves[0][0] else {
        panic!("expected a zero-inflated Poisson");
    };
    assert!((rest.rate - known.rate).abs() < 1e-4);
    assert!((parameters.weights[0] - known.inflation).abs() < 1e-4);
}

fn held(component: usize, column: &str, distribution: Distribution) -> Held {
    Held {
        component,
        column: column.into(),
        distribution,
    }
}

#[test]
fn fixed_parameters_stay_fixed_and_others_are_learned() {
    let table = clusters(0, false);
    let given = Gaussian {
        mean: 7.0,
        variance: 2.0,
    };
    let specification = Specification {
        held: vec![held(0, "x", Distribution::Gaussian(given.clone()))],
        weights: Some(vec![0.5, 0.5]),
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    let fit = learn(&specification, &table);
    let parameters = &fit.mixture.parameters;
    assert_eq!(parameters.weights, [0.5, 0.5]);
    let leaf = fit.mixture.leaves.iter();
    let x = leaf
        .zip(&parameters.leaves)
        .find(|(leaf, _)| leaf.columns == [0]);
    let x = x.unwrap().1;
    assert_eq!(x[0], Distribution::Gaussian(given));
    let Distribution::Gaussian(learned) = &x[1] else {
        panic!("expected a Gaussian");
    };
    assert!(learned.mean.abs() < 0.3, "{learned:?}");
    // A Gaussian of x, and two of y.
    assert_eq!(fit.parameters, 2 + 4);
    assert!(fit.monotone);
}

#[test]
fn tied_columns_have_the_same_distribution_in_every_component() {
    let table = clusters(0, false);
    let specification = Specification {
        tied: vec!["y".into()],
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    let fit = learn(&specification, &table);
    let mixture = &fit.mixture;
    let y = mixture.leaves.iter().position(|leaf| leaf.tied).unwrap();
    let components = &mixture.parameters.leaves[y];
    assert_eq!(components[0], components[1]);
    let Distribution::Gaussian(tied) = &components[0] else {
        panic!("expected a Gaussian");
    };
    let alone = learn(&Specification::mixture(1, CovarianceKind::Full), &table);
    assert!((tied.mean - means(&alone)[0][1]).abs() < 1e-6);
    // Weights, two Gaussians of x, one of y.
    assert_eq!(fit.parameters, 1 + 4 + 2);
    assert!(fit.monotone);
}

#[test]
fn a_fit_started_at_its_result_stops_at_once() {
    let table = clusters(80, true);
    for specification in [
        noisy(2, CovarianceKind::Full),
        Specification::mixture(3, CovarianceKind::Tied),
    ] {
        let first = learn(&specification, &table);
        let default = FitOptions::default();
        let control = Control::default();
        let again = fit_from_mixture(&specification, &table, &first.mixture, &default, control);
        let again = again.unwrap();
        assert!(again.iterations <= 2, "{}", again.iterations);
        assert!((again.log_likelihood - first.log_likelihood).abs() < 1e-6);
    }
}

type Change<'a> = &'a dyn Fn(&mut Specification);

#[test]
fn invalid_fixed_parameters_and_starts_are_an_error() {
    let table = clusters(0, false);
    let two = Specification::mixture(2, CovarianceKind::Full);
    let poisson = || Distribution::Poisson(Poisson { rate: 1.0 });
    let gaussian = || {
        Distribution::Gaussian(Gaussian {
            mean: 0.0,
            variance: 1.0,
        })
    };
    let with = |change: &dyn Fn(&mut Specification)| {
        let mut specification = two.clone();
        change(&mut specification);
        fit(&specification, &table, &options(), Control::default())
            .unwrap_err()
            .to_string()
    };
    let cases: [(Change, &str); 7] = [
        (&|s| s.held = vec![held(2, "x", gaussian())], "component 3"),
        (&|s| s.held = vec![held(0, "z", gaussian())], "\"z\""),
        (
            &|s| {
                s.held = vec![held(0, "x", poisson())];
                s.families = vec![("x".into(), "gaussian".parse().unwrap())];
            },
            "cannot be fixed to a poisson",
        ),
        (
            &|s| s.held = vec![held(0, "x", gaussian()), held(0, "x", gaussian())],
            "twice",
        ),
        (&|s| s.weights = Some(vec![0.2, 0.2]), "sum to 1"),
        (&|s| s.weights = Some(vec![1.0]), "1 weights"),
        (&|s| s.tied = vec!["z".into()], "\"z\""),
    ];
    for (change, expected) in cases {
        let message = with(change);
        assert!(message.contains(expected), "{message}");
    }
    let one = learn(&Specification::mixture(1, CovarianceKind::Full), &table);
    let control = Control::default();
    let message = fit_from_mixture(&two, &table, &one.mixture, &options(), control);
    let message = message.unwrap_err().to_string();
    assert!(message.contains("1 components instead of 2"), "{message}");
}

#[test]
fn a_start_of_another_covariance_structure_is_projected_and_never_falls() {
    let table = clusters(40, false);
    let full = learn(&Specification::mixture(2, CovarianceKind::Full), &table);
    let tied = Specification {
        tied: vec!["y".into()],
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    let one = |specification: &Specification| {
        let control = Control::default();
        fit_from_mixture(specification, &table, &full.mixture, &options(), control)
    };
    for covariance in CovarianceKind::ALL {
        let start = one(&Specification::mixture(2, covariance)).unwrap();
        assert!(start.monotone, "{covariance:?}");
        assert!(start.trace.is_sorted_by(|a, b| *b >= a - 1e-9 * a.abs()));
    }
    // The tied column is a leaf of its own; in the start it is part of a bivariate Gaussian.
    let message = one(&tied).unwrap_err().to_string();
    assert!(message.contains("no distribution of"), "{message}");
}

#[test]
fn a_table_of_constants_has_no_noise_component() {
    let constant = table(vec![("x", Kind::Real, vec![Some(3.0); 9])]);
    let fit = learn(&noisy(1, CovarianceKind::Full), &constant);
    assert_eq!(fit.mixture.names(), ["1"]);
}

#[test]
fn a_fixed_narrow_component_is_not_reported_as_collapsed() {
    let narrow = Gaussian {
        mean: 0.0,
        variance: 1e-9,
    };
    let specification = Specification {
        held: vec![held(0, "x", Distribution::Gaussian(narrow))],
        ..Specification::mixture(2, CovarianceKind::Full)
    };
    let fit = learn(&specification, &clusters(0, false));
    let message = fit.warnings.join("; ");
    assert!(!message.contains("vanishing"), "{message}");
}

#[test]
fn accelerated_em_never_falls_with_any_covariance_structure() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let column = |rng: &mut ChaCha8Rng, scale: f64| -> Vec<Option<f64>> {
        (0..120)
            .map(|i| normal(rng, f64::from(i % 3) * 0.8, scale))
            .collect()
    };
    let a = column(&mut rng, 1.0);
    // Nearly a copy, so that covariances are badly conditioned.
    let b = a
        .iter()
        .map(|x| Some(x.unwrap() * 2.0 + 1e-3 * rng.random::<f64>()));
    let b = b.collect();
    let c = column(&mut rng, 3.0);
    let table = table(vec![
        ("a", Kind::Real, a),
        ("b", Kind::Real, b),
        ("c", Kind::Real, c),
    ]);
    for covariance in CovarianceKind::ALL {
        let default = FitOptions {
            restarts: 2,
            ..FitOptions::default()
        };
        let specification = Specification::mixture(3, covariance);
        let fit = fit(&specification, &table, &default, Control::default()).unwrap();
        assert!(fit.monotone, "{covariance:?}: {:?}", fit.warnings);
    }
}

#[test]
fn selection_of_the_number_of_components_rejects_start_by() {
    let table = clusters(0, false);
    let start = FitOptions {
        start_by: Some("x".into()),
        ..options()
    };
    let grid = Grid {
        components: vec![1, 2],
        covariances: vec![CovarianceKind::Full],
        criterion: Criterion::Icl,
        folds: 5,
    };
    let specification = Specification::mixture(1, CovarianceKind::Full);
    let selected = select(&specification, &grid, &table, &start, Control::default());
    assert_eq!(selected.unwrap_err().column(), Some("x"));
}
