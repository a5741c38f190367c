//! Multiple imputation: intervals by Rubin's rules have their nominal coverage if the
//! parameters of each copy are drawn, and too little if the parameters are fixed.

use abduce::Control;
use abduce::ask::Joint as _;
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::family::{Fill, StudentT, Univariate as _};
use abduce::model::mixture::{CovarianceKind, Fit, FitOptions, FittedMixture, Specification, fit};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};
use rayon::prelude::*;

const ROWS: usize = 60;
const COPIES: usize = 10;
const TABLES: u64 = 200;
const SLOPE: f64 = 0.5;

type Cells = Vec<Option<f64>>;

/// Two correlated columns; y is missing at random given x, in about three of five rows.
fn drawn(seed: u64) -> (Cells, Cells) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<f64> = (0..ROWS).map(|_| normal()).collect();
    let noise = (1.0 - SLOPE * SLOPE).sqrt();
    let y: Vec<f64> = x.iter().map(|x| SLOPE * x + noise * normal()).collect();
    let hidden = |x: f64| 1.0 / (1.0 + (-(x + 0.5)).exp());
    let y = x
        .iter()
        .zip(y)
        .map(|(x, y)| Some(y).filter(|_| !rng.random_bool(hidden(*x))));
    let y = y.collect();
    (x.into_iter().map(Some).collect(), y)
}

fn table(x: Cells, y: Cells) -> Table {
    let fields = vec![Field::new("x", Kind::Real), Field::new("y", Kind::Real)];
    let columns = vec![Column::from_numbers(x), Column::from_numbers(y)];
    Table::new(Schema::new(fields), columns, None).unwrap()
}

fn fitted(table: &Table) -> Fit {
    let specification = Specification::mixture(1, CovarianceKind::Full);
    let options = FitOptions::default();
    fit(&specification, table, &options, Control::default()).unwrap()
}

/// The slope of y on x of a complete table, and its variance.
fn slope(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (mx, my) = (mean(x), mean(y));
    let square: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let product: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = product / square;
    let residual = |(x, y): (&f64, &f64)| (y - my - slope * (x - mx)).powi(2);
    let residuals: f64 = x.iter().zip(y).map(residual).sum();
    (slope, residuals / (n - 2.0) / square)
}

/// Whether the interval of 0.95 by Rubin's rules, with the degrees of freedom of Barnard and
/// Rubin (1999), covers the slope.
fn covers(table: &Table, seed: u64, model_of: impl Fn(u64) -> FittedMixture) -> bool {
    let mut estimates = Vec::new();
    for copy in 0..COPIES as u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(copy);
        let filled = model_of(copy);
        let filled = filled
            .complete(&table.chunks()[0], Fill::Draw, &mut rng)
            .unwrap();
        let column = |c: usize| filled.column(c).cells(0, ROWS).reals().to_vec();
        estimates.push(slope(&column(0), &column(1)));
    }
    let m = COPIES as f64;
    let mean = estimates.iter().map(|estimate| estimate.0).sum::<f64>() / m;
    let within = estimates.iter().map(|estimate| estimate.1).sum::<f64>() / m;
    let squares: f64 = estimates
        .iter()
        .map(|estimate| (estimate.0 - mean).powi(2))
        .sum();
    let between = (1.0 + 1.0 / m) * squares / (m - 1.0);
    let total = within + between;
    let share = between / total;
    let complete = ROWS as f64 - 2.0;
    let observed = (complete + 1.0) / (complete + 3.0) * complete * (1.0 - share);
    let copies = (m - 1.0) / (share * share);
    let freedom = copies * observed / (copies + observed);
    let t = StudentT {
        location: 0.0,
        scale: 1.0,
        degrees: freedom,
    };
    let quantile = t.quantile(0.975);
    (mean - SLOPE).abs() <= quantile * total.sqrt()
}

/// The share of tables whose interval covers the slope.
fn coverage(covers: impl Fn(u64) -> bool + Sync) -> f64 {
    let covered = (0..TABLES).into_par_iter().filter(|seed| covers(*seed));
    let covered = covered.count();
    covered as f64 / TABLES as f64
}

#[test]
fn rubins_intervals_have_nominal_coverage_when_parameters_are_drawn() {
    let fixed = coverage(|seed| {
        let (x, y) = drawn(seed);
        let table = table(x, y);
        let fit = fitted(&table);
        covers(&table, seed, |_| fit.mixture.clone())
    });
    let bootstrap = coverage(|seed| {
        let (x, y) = drawn(seed);
        let table = table(x, y);
        let mixture = fitted(&table).mixture;
        covers(&table, seed, |copy| {
            let seed = 1000 * seed + copy;
            mixture
                .with_drawn_parameters(&table, 1.0, seed, Control::default())
                .unwrap()
        })
    });
    assert!(fixed < 0.87, "{fixed} under fixed parameters");
    assert!(
        (0.93..0.99).contains(&bootstrap),
        "{bootstrap} under drawn parameters"
    );
}

#[test]
fn drawn_parameters_have_the_variance_of_a_fit_of_the_training_rows() {
    let rows = 400;
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let x: Vec<f64> = (0..rows).map(|_| StandardNormal.sample(&mut rng)).collect();
    let y = x
        .iter()
        .enumerate()
        .map(|(i, x)| (i % 2 == 0).then_some(3.0 * x))
        .collect();
    let training = table(x.into_iter().map(Some).collect(), y);
    let mixture = fitted(&training).mixture;
    let other = table(vec![Some(100.0), None], vec![None, Some(-50.0)]);
    let mean = |table: &Table, seed: u64| {
        let drawn = mixture
            .with_drawn_parameters(table, 1.0, seed, Control::default())
            .unwrap();
        let abduce::family::Distribution::Multivariate(gaussian) = &drawn.parameters.leaves[0][0]
        else {
            panic!("expected a Gaussian");
        };
        gaussian.mean[0]
    };
    let deviation = |table: &Table| {
        let means: Vec<f64> = (0..100).map(|seed| mean(table, seed)).collect();
        let centre = means.iter().sum::<f64>() / 100.0;
        let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
        (squares / 99.0).sqrt()
    };
    let expected = 1.0 / f64::sqrt(rows as f64);
    for table in [&training, &other] {
        let ratio = deviation(table) / expected;
        assert!((0.75..1.3).contains(&ratio), "{ratio}");
    }
}
