//! Variants of EM compared with plain EM: SQUAREM, stochastic and online EM, and starts at
//! the saddle point of equal components.

mod initialisation;
mod saddle;
mod squarem;
mod stochastic_and_online;

use crate::common::real_table;
use abduce::Control;
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::learn::EmOptions;
use abduce::model::mixture::{Fit, FitOptions, Parameters, Specification, fit, fit_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Correlated rows of groups whose centres are `distance` apart in every column.
pub fn clusters(rows: usize, groups: usize, columns: usize, distance: f64, seed: u64) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut cells: Vec<Vec<Option<f64>>> = vec![Vec::new(); columns];
    for _ in 0..rows {
        let group = rng.random_range(0..groups);
        let shared: f64 = rng.sample(StandardNormal);
        for (c, column) in cells.iter_mut().enumerate() {
            let noise: f64 = rng.sample(StandardNormal);
            let sign = if (group >> (c % 3)) % 2 == 0 {
                1.0
            } else {
                -1.0
            };
            let centre = distance * (group as f64 + 0.5 * sign);
            column.push(Some(
                centre + 0.5 * shared + noise * (1.0 + 0.3 * group as f64),
            ));
        }
    }
    real_table(cells, None)
}

/// Rows of two groups with categorical, binary, count and waiting-time columns.
pub fn mixed(rows: usize, seed: u64) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut codes: Vec<Vec<Option<u32>>> = vec![Vec::new(); 4];
    let mut numbers: Vec<Vec<Option<f64>>> = vec![Vec::new(); 2];
    for _ in 0..rows {
        let group = rng.random_range(0..2u32);
        for (c, column) in codes.iter_mut().enumerate() {
            let kept = rng.random::<f64>() < 0.6;
            let levels = if c == 0 { 2 } else { 3 };
            let other = rng.random_range(0..levels);
            column.push(Some(if kept { group } else { other }));
        }
        let count = (-rng.random::<f64>().ln() * f64::from(1 + 2 * group)).floor();
        numbers[0].push(Some(count));
        numbers[1].push(Some(-rng.random::<f64>().ln() / f64::from(1 + group)));
    }
    let levels = |n: usize| (0..n).map(|i| format!("l{i}")).collect::<Vec<_>>();
    let mut fields = vec![Field::with_levels("flag", Kind::Binary, levels(2))];
    for name in ["a", "b", "c"] {
        fields.push(Field::with_levels(name, Kind::Categorical, levels(3)));
    }
    fields.push(Field::new("count", Kind::Count));
    fields.push(Field::new("wait", Kind::Real));
    let mut columns: Vec<Column> = codes.into_iter().map(Column::from_codes).collect();
    columns.extend(numbers.into_iter().map(Column::from_numbers));
    Table::new(Schema::new(fields), columns, None).unwrap()
}

/// Parameters after one iteration from a random start.
pub fn initial_parameters(
    specification: &Specification,
    data: &dyn Source,
    seed: u64,
) -> Parameters {
    let options = FitOptions {
        em: EmOptions {
            max_iterations: 1,
            ..EmOptions::PLAIN
        },
        init: abduce::model::mixture::Init::Random,
        restarts: 1,
        seed,
        ..FitOptions::default()
    };
    let fit = fit(specification, data, &options, Control::default()).unwrap();
    fit.mixture.parameters
}

/// Runs EM from given parameters.
pub fn run_em(
    specification: &Specification,
    data: &dyn Source,
    start: &Parameters,
    em: EmOptions,
) -> Fit {
    let options = FitOptions {
        em,
        ..FitOptions::default()
    };
    let control = Control::default();
    fit_from(specification, data, Some(start), &options, control).unwrap()
}
