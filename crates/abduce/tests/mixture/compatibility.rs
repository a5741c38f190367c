//! Options that follow the conventions of other programs: a ridge on variances, shrinkage to
//! the identity matrix, a tolerance per row, components in the order of their starts.

use abduce::Control;
use abduce::ask::{Joint as _, Predict as _};
use abduce::data::{Column, Field, Kind, Schema, Source as _, Table};
use abduce::family::{Covariance, Distribution, MultivariateGaussian};
use abduce::learn::{Acceleration, EmOptions, Stop};
use abduce::model::kmeans;
use abduce::model::mixture::{
    CovarianceKind, Fit, FitOptions, FittedMixture, Specification, fit, fit_from,
};

/// Three groups in two columns, and a constant column.
fn table() -> Table {
    let wave = |i: i32, pace: f64| (f64::from(i) * pace).sin();
    let x = (0..240).map(|i| Some(4.0 * f64::from(i % 3) + 1.3 * wave(i, 1.7) + wave(i, 0.31)));
    let y = (0..240).map(|i| Some(wave(i, 2.3) - 0.5 * f64::from(i % 3)));
    let columns = vec![
        Column::from_numbers(x),
        Column::from_numbers(y),
        Column::from_numbers(vec![Some(7.0); 240]),
    ];
    let fields = ["x", "y", "z"].map(|name| Field::new(name, Kind::Real));
    Table::new(Schema::new(fields.to_vec()), columns, None).unwrap()
}

fn ridged(components: usize, ridge: f64) -> Specification {
    Specification {
        variance_floor: 0.0,
        ridge,
        ..Specification::mixture(components, CovarianceKind::Full)
    }
}

fn plain(tolerance: f64) -> FitOptions {
    FitOptions {
        em: EmOptions {
            stop: Stop::PerRow,
            tolerance,
            acceleration: Acceleration::None,
            ..EmOptions::default()
        },
        restarts: 1,
        numbered: true,
        ..FitOptions::default()
    }
}

fn learned(specification: &Specification, options: &FitOptions) -> Fit {
    fit(specification, &table(), options, Control::default()).unwrap()
}

fn gaussians(mixture: &FittedMixture) -> Vec<&MultivariateGaussian> {
    let leaf = mixture.parameters.leaves[0].iter();
    leaf.map(|distribution| match distribution {
        Distribution::Multivariate(gaussian) => gaussian,
        _ => panic!("expected a Gaussian of all columns"),
    })
    .collect()
}

#[test]
fn a_ridge_is_added_to_every_variance() {
    let [small, large] = [1e-3, 0.5].map(|ridge| learned(&ridged(1, ridge), &plain(1e-3)));
    let [small, large] = [&small, &large].map(|fit| match &gaussians(&fit.mixture)[0].covariance {
        Covariance::Full(cells) => cells.clone(),
        _ => panic!("expected a full covariance"),
    });
    for cell in 0..9 {
        let added = if cell % 4 == 0 { 0.499 } else { 0.0 };
        assert!((large[cell] - small[cell] - added).abs() < 1e-12);
    }
    assert!((small[8] - 1e-3).abs() < 1e-12, "{}", small[8]);
}

#[test]
fn unit_share_shrinks_every_covariance_to_the_unit_matrix() {
    let covariance = |unit_share: f64| {
        let specification = Specification {
            unit_share,
            ..ridged(1, 1e-9)
        };
        match &gaussians(&learned(&specification, &plain(1e-3)).mixture)[0].covariance {
            Covariance::Full(cells) => cells.clone(),
            _ => panic!("expected a full covariance"),
        }
    };
    let (whole, shared) = (covariance(0.0), covariance(0.25));
    for cell in 0..9 {
        let unit = if cell % 4 == 0 { 0.25 } else { 0.0 };
        assert!((shared[cell] - 0.75 * whole[cell] - unit).abs() < 1e-8);
    }
    let too_much = Specification {
        unit_share: 1.5,
        ..ridged(1, 0.0)
    };
    assert!(fit(&too_much, &table(), &plain(1e-3), Control::default()).is_err());
}

#[test]
fn a_tolerance_per_row_stops_one_iteration_after_a_smaller_rise() {
    let tolerance = 1e-3;
    let fit = learned(&ridged(3, 1e-6), &plain(tolerance));
    assert!(fit.converged && fit.trace.len() > 3);
    let rises: Vec<f64> = (fit.trace.windows(2))
        .map(|pair| (pair[1] - pair[0]).abs() / 240.0)
        .collect();
    let below = rises.iter().position(|rise| *rise < tolerance).unwrap();
    assert_eq!(below + 2, rises.len());
}

#[test]
fn numbered_components_and_clusters_keep_the_order_of_their_starts() {
    let table = table();
    let specification = ridged(3, 1e-6);
    let first = learned(&specification, &plain(1e-6));
    let mut start = first.mixture.parameters.clone();
    start.weights.reverse();
    start.leaves[0].reverse();
    let (options, control) = (plain(1e-9), Control::default());
    let fit = fit_from(&specification, &table, Some(&start), &options, control).unwrap();
    let (before, after) = (gaussians(&first.mixture), gaussians(&fit.mixture));
    for (before, after) in before.iter().rev().zip(after) {
        assert!((before.mean[0] - after.mean[0]).abs() < 0.1);
    }

    let centres = [9.0, 0.0, 4.0].map(|x| vec![x, 0.0, 7.0]);
    let options = kmeans::Options {
        movement: Some(1e-4),
        numbered: true,
        ..kmeans::Options::default()
    };
    let specification = kmeans::Specification::new(3);
    let fit = kmeans::fit_from(&specification, &table, Some(&centres), &options, control).unwrap();
    let x: Vec<f64> = fit.model.centres.iter().map(|centre| centre[0]).collect();
    assert!(x[1] < x[2] && x[2] < x[0]);
    assert!(fit.converged);
    let default = kmeans::Options::default();
    let default =
        kmeans::fit_from(&specification, &table, Some(&centres), &default, control).unwrap();
    assert!(
        default
            .model
            .sizes
            .windows(2)
            .all(|pair| pair[0] >= pair[1])
    );
}

/// The rows of the table, each repeated `row % 4` times, or permuted and with that weight.
fn repeated_or_weighted(repeat: bool) -> Table {
    let whole = table();
    let times = |row: usize| row % 4;
    let order = || (0..240).map(|i| (i * 7) % 240);
    let rows: Vec<usize> = if repeat {
        (0..240).flat_map(|row| vec![row; times(row)]).collect()
    } else {
        order().collect()
    };
    let numbers: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
    let columns = (0..2).map(|c| whole.column(c).take(&numbers)).collect();
    let weights = rows.iter().map(|row| times(*row) as f64).collect();
    let fields = whole.schema().fields[..2].to_vec();
    Table::new(Schema::new(fields), columns, (!repeat).then_some(weights)).unwrap()
}

#[test]
fn centres_drawn_by_value_depend_neither_on_the_order_of_rows_nor_on_repetition() {
    let options = kmeans::Options {
        by_value: true,
        restarts: 1,
        ..kmeans::Options::default()
    };
    for seed in 0..20 {
        let options = kmeans::Options {
            seed,
            ..options.clone()
        };
        let centres = |repeat: bool| {
            let specification = kmeans::Specification::new(7);
            let rows = repeated_or_weighted(repeat);
            let fit = kmeans::fit(&specification, &rows, &options, Control::default()).unwrap();
            fit.model.centres.concat()
        };
        for (one, other) in centres(true).iter().zip(centres(false)) {
            assert!((one - other).abs() < 1e-12, "seed {seed}: {one} {other}");
        }
    }
}

#[test]
fn a_common_factor_of_small_weights_changes_no_estimate() {
    let weighted = |factor: f64| {
        let rows = table();
        let columns = (0..2).map(|c| rows.column(c).clone()).collect();
        let weights = (0..240).map(|row| factor * f64::from(row % 5) / 5.0);
        let fields = rows.schema().fields[..2].to_vec();
        let weights = Some(weights.collect());
        Table::new(Schema::new(fields), columns, weights).unwrap()
    };
    let specification = Specification::mixture(3, CovarianceKind::Full);
    let options = FitOptions {
        em: EmOptions {
            tolerance: 1e-14,
            max_iterations: 5000,
            ..EmOptions::default()
        },
        restarts: 3,
        ..FitOptions::default()
    };
    let learn = |factor: f64| {
        let fit = fit(
            &specification,
            &weighted(factor),
            &options,
            Control::default(),
        )
        .unwrap();
        let parts = gaussians(&fit.mixture);
        let numbers = parts.iter().flat_map(|gaussian| {
            let spread = (0..2).flat_map(|i| (0..=i).map(move |j| (i, j)));
            let spread = spread.map(|(i, j)| gaussian.covariance(i, j));
            gaussian
                .mean
                .iter()
                .copied()
                .chain(spread)
                .collect::<Vec<f64>>()
        });
        numbers.collect::<Vec<f64>>()
    };
    let expected = learn(1.0);
    for factor in [0.5, 1e-8, 1e-100] {
        for (obtained, expected) in learn(factor).iter().zip(&expected) {
            let error = (obtained - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-5, "{factor}: {obtained} {expected}");
        }
    }
}

#[test]
fn a_tolerance_per_row_reports_the_likelihood_of_the_final_parameters() {
    for iterations in [1, 4, 1000] {
        let mut options = plain(1e-3);
        options.em.max_iterations = iterations;
        let fit = learned(&ridged(3, 0.0), &options);
        assert_eq!(fit.converged, iterations == 1000);
        assert_eq!(fit.trace.len(), fit.iterations + 1);
        let (statistics, parameters) = (&fit.mixture.statistics, &fit.mixture.parameters);
        for (rows, weight) in statistics.weights.iter().zip(&parameters.weights) {
            assert!((rows / statistics.total - weight).abs() < 1e-14);
        }
        let chunk = &table().chunks()[0].clone();
        let density: f64 = fit.mixture.log_density(chunk).unwrap().iter().sum();
        assert!((fit.log_likelihood - density).abs() < 1e-9 * density.abs());
        // The statistics keep the last lower bound of the likelihood.
        let bound = fit.bounds.last().copied().unwrap();
        assert!((statistics.log_likelihood - bound).abs() < 1e-12 * bound.abs());
        assert!(bound <= fit.log_likelihood + 1e-9);
    }
}

#[test]
fn joint_log_density_minus_log_density_is_the_log_posterior() {
    let fit = learned(&ridged(3, 1e-6), &plain(1e-3));
    let chunk = &table().chunks()[0].clone();
    let joint = (fit.mixture.log_joint().unwrap())(chunk).unwrap();
    let posterior = fit.mixture.posterior(chunk).unwrap();
    let density = fit.mixture.log_density(chunk).unwrap();
    for (row, joint) in joint.chunks_exact(3).enumerate() {
        for (joint, posterior) in joint.iter().zip(posterior.row(row)) {
            assert!(((joint - density[row]).exp() - posterior).abs() < 1e-12);
        }
    }
}

/// The table with its groups as classes.
fn classes() -> Table {
    let plain = table();
    let column = |c: usize| plain.chunks()[0].column(c).clone();
    let labels = Column::from_codes((0..240).map(|i| Some(i % 3)));
    let mut fields: Vec<Field> = ["x", "y", "z"]
        .map(|name| Field::new(name, Kind::Real))
        .to_vec();
    let levels = ["a", "b", "c"].map(String::from).to_vec();
    fields.push(Field::with_levels("class", Kind::Categorical, levels));
    let columns = vec![column(0), column(1), column(2), labels];
    Table::new(Schema::new(fields), columns, None).unwrap()
}

/// The same with every seventh cell of x missing.
fn with_missing_values(whole: &Table) -> Table {
    let chunk = &whole.chunks()[0];
    let cells = chunk.column(0).cells(0, chunk.rows());
    let x = (0..chunk.rows()).map(|row| cells.number(row).filter(|_| row % 7 != 0));
    let mut columns: Vec<Column> = (0..4).map(|c| chunk.column(c).clone()).collect();
    columns[0] = Column::from_numbers(x);
    Table::new(whole.schema().clone(), columns, None).unwrap()
}

#[test]
fn discriminant_directions_have_unit_variance_and_give_the_log_odds() {
    assert_discriminant_directions(&classes());
}

#[test]
fn discriminant_directions_agree_with_the_model_on_rows_with_missing_values() {
    assert_discriminant_directions(&with_missing_values(&classes()));
}

fn assert_discriminant_directions(table: &Table) {
    let specification = Specification {
        variance_floor: 0.0,
        ..Specification::gda("class", CovarianceKind::Tied)
    };
    let options = FitOptions::default();
    let fit = fit(&specification, table, &options, Control::default()).unwrap();
    let classes = fit.mixture.class_gaussians().unwrap();
    let (within, d) = (classes.within(), classes.columns);
    let found = classes.directions(1e-4);
    assert_eq!((found.scalings.len(), d), (2, 3));
    assert!((found.ratios.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    for (i, a) in found.scalings.iter().enumerate() {
        for (j, b) in found.scalings.iter().enumerate() {
            let product: f64 = (0..d * d).map(|t| a[t % d] * within[t] * b[t / d]).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-9);
        }
    }
    let joint = fit.mixture.log_joint().unwrap();
    let chunk = &table.chunks()[0];
    let logs = joint(chunk).unwrap();
    let complete = |row: &usize| {
        chunk
            .column(0)
            .cells(0, chunk.rows())
            .number(*row)
            .is_some()
    };
    for row in (0..chunk.rows()).filter(complete) {
        let x = |c: usize| chunk.column(c).cells(0, chunk.rows()).number(row).unwrap();
        let score = |k: usize| {
            let terms = (0..d).map(|c| found.coefficients[k][c] * x(c));
            found.intercepts[k] + terms.sum::<f64>()
        };
        for k in 1..3 {
            let odds = logs[row * 3 + k] - logs[row * 3];
            assert!((score(k) - score(0) - odds).abs() < 1e-8);
        }
    }
}

/// Two classes with means of about 0 and 2 and different spreads; most rows of the first are
/// empty.
fn mostly_empty() -> Table {
    let numbers = |column: usize| {
        (0..160).map(move |row| {
            let step = f64::from(row as u32 % 20) - 9.5;
            let wave = (f64::from(row as u32 * (7 + column as u32))).sin();
            match row {
                0..20 => Some(step * (1.0 + column as f64) + 3.0 * wave),
                20..80 => None,
                _ => Some(2.0 + 0.1 * step + 0.3 * wave),
            }
        })
    };
    let labels = (0..160).map(|row| Some(u32::from(row >= 80)));
    let mut class = Field::new("class", Kind::Categorical);
    class.levels = vec!["a".into(), "b".into()];
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::new("y", Kind::Real),
        class,
    ]);
    let columns = vec![
        Column::from_numbers(numbers(0)),
        Column::from_numbers(numbers(1)),
        Column::from_codes(labels),
    ];
    Table::new(schema, columns, None).unwrap()
}

#[test]
fn empty_rows_have_no_weight_in_the_within_class_covariance() {
    let specification = Specification {
        variance_floor: 0.0,
        ..Specification::gda("class", CovarianceKind::Tied)
    };
    let options = FitOptions::default();
    let fit = fit(
        &specification,
        &mostly_empty(),
        &options,
        Control::default(),
    )
    .unwrap();
    let classes = fit.mixture.class_gaussians().unwrap();
    assert_eq!(classes.rows, [20.0, 80.0]);
    let pairs = classes.within().into_iter().zip(&classes.covariances[0]);
    for (within, shared) in pairs {
        assert!((within - shared).abs() < 1e-9 * shared.abs().max(1.0));
    }
}

/// 20 complete and 480 empty rows of a wide class, 500 complete rows of a narrow one.
fn few_complete_rows_of_a_wide_class() -> (Table, [f64; 3]) {
    use rand::{RngExt as _, SeedableRng as _};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(17);
    let mut x = Vec::new();
    for row in 0..1000 {
        let z: f64 = rng.sample(rand_distr::StandardNormal);
        x.push(match row {
            0..20 => Some(6.0 * z),
            20..500 => None,
            _ => Some(3.0 + z),
        });
    }
    let scatter = |rows: std::ops::Range<usize>| {
        let observed: Vec<f64> = x[rows].iter().flatten().copied().collect();
        let mean = observed.iter().sum::<f64>() / observed.len() as f64;
        observed
            .iter()
            .map(|x| (x - mean) * (x - mean))
            .sum::<f64>()
    };
    let (wide, narrow) = (scatter(0..500), scatter(500..1000));
    // The variance of the observed rows, and the wrong one with classes weighted by all rows.
    let variances = [
        (wide + narrow) / 520.0,
        0.5 * (wide / 20.0 + narrow / 500.0),
    ];
    let labels = (0..1000).map(|row| Some(u32::from(row >= 500)));
    let mut class = Field::new("class", Kind::Categorical);
    class.levels = vec!["0".into(), "1".into()];
    let schema = Schema::new(vec![Field::new("x", Kind::Real), class]);
    let columns = vec![Column::from_numbers(x), Column::from_codes(labels)];
    let table = Table::new(schema, columns, None).unwrap();
    (table, [variances[0], variances[1], 520.0])
}

#[test]
fn empty_rows_do_not_widen_the_covariance_and_posteriors_are_softmax_of_the_joint() {
    let (table, [expected, wrong, rows]) = few_complete_rows_of_a_wide_class();
    assert!(expected < 2.0 && wrong > 5.0, "{expected} {wrong}");
    let specification = Specification {
        variance_floor: 0.0,
        ..Specification::gda("class", CovarianceKind::Tied)
    };
    let options = FitOptions::default();
    let found = fit(&specification, &table, &options, Control::default()).unwrap();
    let classes = found.mixture.class_gaussians().unwrap();
    assert_eq!(classes.rows.iter().sum::<f64>(), rows);
    for variance in [classes.within()[0], classes.covariances[0][0]] {
        assert!((variance - expected).abs() < 1e-9, "{variance} {expected}");
    }
    let log_joint = found.mixture.log_joint().unwrap();
    for chunk in table.chunks() {
        let (posterior, joint) = (
            found.mixture.posterior(chunk).unwrap(),
            log_joint(chunk).unwrap(),
        );
        for row in 0..chunk.rows() {
            let logs = &joint[2 * row..2 * row + 2];
            let softmax = 1.0 / (1.0 + (logs[1] - logs[0]).exp());
            assert!((posterior.row(row)[0] - softmax).abs() < 1e-12);
        }
    }
}

#[test]
fn rows_drawn_with_their_components_are_sorted_by_component() {
    use rand::SeedableRng as _;
    let fit = learned(&ridged(3, 1e-6), &plain(1e-3));
    let draw = || {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        fit.mixture.sample_with_components(4000, &mut rng).unwrap()
    };
    let (rows, components) = draw();
    assert_eq!((rows.rows(), &components), (4000, &draw().1));
    assert!(components.is_sorted());
    let cells = rows.column(0).cells(0, 4000);
    for (j, gaussian) in gaussians(&fit.mixture).iter().enumerate() {
        let of_component = (0..4000).filter(|row| components[*row] == j);
        let numbers: Vec<f64> = of_component.map(|row| cells.number(row).unwrap()).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let error = (gaussian.covariance(0, 0) / numbers.len() as f64).sqrt();
        assert!((mean - gaussian.mean[0]).abs() < 5.0 * error);
        let share = numbers.len() as f64 / 4000.0;
        assert!((share - fit.mixture.parameters.weights[j]).abs() < 0.05);
    }
}
