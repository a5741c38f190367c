//! Laws of every family. They run for every family of `list.rs`, on its `Examples`, with rows
//! drawn from them.

mod densities;
mod estimates;
mod multi;
mod multi_cases;
mod statistics;
mod univariate;
mod univariate_cases;

use super::*;
use crate::data::{Cells, Column, Values};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Distributions that the laws are tried on.
pub(crate) trait Examples: Components + Domain + Unconstrained + Validate {
    /// Whether estimates maximise the likelihood; a density made of points does not,
    /// as its width would become 0.
    const BY_LIKELIHOOD: bool = true;

    /// The distributions.
    fn examples() -> Vec<Self>;
}

/// Whole columns of one family, with some missing values.
struct Drawn {
    columns: Vec<Column>,
    rows: usize,
}

impl Drawn {
    fn cells(&self) -> Vec<Cells<'_>> {
        self.columns.iter().map(|c| c.cells(0, self.rows)).collect()
    }

    fn part(&self, start: usize, len: usize) -> Vec<Cells<'_>> {
        self.columns.iter().map(|c| c.cells(start, len)).collect()
    }
}

fn coded<F: Examples>(family: &F) -> bool {
    family.probabilities().is_some()
}

fn width<F: Examples>(family: &F) -> usize {
    F::columns(&family.shape())
}

fn column(cells: Vec<Option<f64>>, coded: bool) -> Column {
    if coded {
        Column::from_codes(cells.into_iter().map(|c| c.map(|x| x as u32)))
    } else {
        Column::from_numbers(cells)
    }
}

fn draw<F: Examples>(family: &F, rows: usize, with_missing: bool, seed: u64) -> Drawn {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let d = width(family);
    let mut cells = vec![Vec::with_capacity(rows); d];
    let mut row = vec![0.0; d];
    for _ in 0..rows {
        family.sample(&mut rng, &mut row);
        for (c, x) in row.iter().enumerate() {
            let hidden = with_missing && rand::RngExt::random::<f64>(&mut rng) < 0.2;
            cells[c].push((!hidden).then_some(*x));
        }
    }
    let columns = cells
        .into_iter()
        .map(|c| column(c, coded(family)))
        .collect();
    Drawn { columns, rows }
}

fn weights(rows: usize) -> Vec<f64> {
    (0..rows)
        .map(|i| [1.0, 0.5, 2.0, 0.0, 1.25][i % 5])
        .collect()
}

/// The estimate from rows: by EM where a row has something that is never seen.
fn fitted<F: Examples>(family: &F, cells: &[Cells], weights: &[f64]) -> F {
    let mut fitted = F::mle(&observed(family, cells, weights)).unwrap();
    for _ in 0..if F::LATENT { 200 } else { 0 } {
        let mut stats = F::zero(&family.shape());
        fitted.expect(&Rows::new(cells), weights, &mut stats);
        fitted = F::mle(&stats).unwrap();
    }
    fitted
}

fn observed<F: Examples>(family: &F, cells: &[Cells], weights: &[f64]) -> F::Stats {
    let mut stats = F::zero(&family.shape());
    F::observe(&Rows::new(cells), weights, &mut stats);
    stats
}

/// Equality to rounding of everything a value serialises to.
fn close(a: &impl Serialize, b: &impl Serialize, tolerance: f64) -> bool {
    fn walk(a: &serde_json::Value, b: &serde_json::Value, tolerance: f64) -> bool {
        use serde_json::Value::{Array, Number, Object};
        match (a, b) {
            (Number(a), Number(b)) => {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
            }
            (Array(a), Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| walk(a, b, tolerance))
            }
            (Object(a), Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, a)| b.get(key).is_some_and(|b| walk(a, b, tolerance)))
            }
            _ => a == b,
        }
    }
    walk(
        &serde_json::to_value(a).unwrap(),
        &serde_json::to_value(b).unwrap(),
        tolerance,
    )
}

fn log_densities<F: Examples>(family: &F, cells: &[Cells]) -> Vec<f64> {
    let rows = Rows::new(cells);
    let mut out = vec![0.0; rows.len];
    family.add_log_density(&rows, &mut out);
    out
}

pub(crate) fn hold_for<F: Examples>() {
    for (number, family) in F::examples().iter().enumerate() {
        let seed = number as u64;
        statistics::statistics_are_a_monoid(family, seed);
        statistics::weights_are_repetitions(family, seed);
        statistics::chunking_is_irrelevant(family, seed);
        statistics::hidden_cells_say_nothing(family, seed);
        densities::likelihood_from_statistics_is_the_sum_of_densities(family, seed);
        estimates::beat_perturbations(family, seed);
        a_family_knows_itself(family, seed);
        densities::samples_have_the_fitted_parameters(family, seed);
        densities::densities_integrate_to_one(family, seed);
        filling_keeps_what_is_seen(family, seed);
        estimates::of_equal_rows_make_them_likelier_than_those_of_all(family, seed);
        files_round_trip(family, seed);
    }
    nothing_seen_is_an_error::<F>();
}

/// Where the examples' columns lie, for priors in their scale.
fn scales(data: &Drawn) -> Vec<Scale> {
    let moments = |cells: &Cells| {
        let mut stats = Gaussian::zero(&());
        let ones = vec![1.0; data.rows];
        if !cells.reals().is_empty() {
            Gaussian::observe(&Rows::new(std::slice::from_ref(cells)), &ones, &mut stats);
        }
        let variance = stats.scatter / data.rows as f64;
        Scale {
            mean: stats.mean,
            variance: if variance > 0.0 { variance } else { 1.0 },
            constant: variance <= 0.0,
        }
    };
    data.cells().iter().map(moments).collect()
}

fn a_family_knows_itself<F: Examples>(family: &F, seed: u64) {
    let data = draw(family, 50, false, seed);
    let shape = family.shape();
    assert!(family.is_valid(&shape), "{family:?}");
    assert!(F::describes(
        &shape,
        &observed(family, &data.cells(), &weights(50))
    ));
    let fallback = F::fallback(&shape, &scales(&data));
    assert!(fallback.is_valid(&shape), "{fallback:?}");
    for column in data.cells() {
        assert!(column.reals().iter().all(|x| F::supports(*x)), "{family:?}");
    }
    // Starts have an estimate even where a component saw nothing.
    let mut parts = vec![
        observed(family, &data.cells(), &weights(50)),
        F::zero(&shape),
    ];
    F::shrink_together(&mut parts);
    for part in &parts {
        assert!(F::mle(part).unwrap().is_valid(&shape), "{family:?}");
    }
    let fallen = F::map_all(
        &shape,
        &[&F::zero(&shape), &F::zero(&shape)],
        &Default::default(),
        &fallback,
    );
    assert!(fallen.iter().all(|f| f.is_valid(&shape)), "{family:?}");
}

fn filling_keeps_what_is_seen<F: Examples>(family: &F, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let d = width(family);
    let (mut row, mut out) = (vec![0.0; d], vec![0.0; d]);
    family.sample(&mut rng, &mut row);
    for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
        let seen: Vec<Option<f64>> = row.iter().map(|x| Some(*x)).collect();
        family.fill(how, &seen, &mut rng, &mut out);
        assert_eq!(out, row, "{family:?}");
        let mut partly = vec![None; d];
        partly[0] = Some(row[0]);
        family.fill(how, &partly, &mut rng, &mut out);
        assert!(
            out[0] == row[0] && out.iter().all(|x| x.is_finite()),
            "{family:?}"
        );
    }
}

fn files_round_trip<F: Examples>(family: &F, seed: u64) {
    let data = draw(family, 30, false, seed);
    let stats = observed(family, &data.cells(), &weights(30));
    let text = serde_json::to_string(&stats).unwrap();
    assert_eq!(
        serde_json::from_str::<F::Stats>(&text).unwrap(),
        stats,
        "{family:?}"
    );
    let text = serde_json::to_string(family).unwrap();
    let back: F = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}

fn nothing_seen_is_an_error<F: Examples>() {
    for family in F::examples() {
        assert!(F::mle(&F::zero(&family.shape())).is_err(), "{family:?}");
    }
}

#[test]
fn cells_of_the_wrong_kind_are_read_as_no_cells() {
    let codes = [1u32, 2];
    let cells = Cells {
        values: Values::Code(&codes),
        seen: None,
    };
    assert!(cells.reals().is_empty());
}
