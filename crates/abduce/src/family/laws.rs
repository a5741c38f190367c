//! The laws that every family keeps, tried on its examples with rows drawn
//! from them. A family is added to the list and these run on it.

mod estimates;

use super::*;
use crate::data::{Cells, Column, Values};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Whole columns of one family, with some holes.
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

fn coded<F: Family>(family: &F) -> bool {
    family.probabilities().is_some()
}

fn width<F: Family>(family: &F) -> usize {
    F::columns(&family.shape())
}

fn column(cells: Vec<Option<f64>>, coded: bool) -> Column {
    if coded {
        Column::from_codes(cells.into_iter().map(|c| c.map(|x| x as u32)))
    } else {
        Column::from_numbers(cells)
    }
}

fn draw<F: Family>(family: &F, rows: usize, holes: bool, seed: u64) -> Drawn {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let d = width(family);
    let mut cells = vec![Vec::with_capacity(rows); d];
    let mut row = vec![0.0; d];
    for _ in 0..rows {
        family.sample(&mut rng, &mut row);
        for (c, x) in row.iter().enumerate() {
            let hidden = holes && rand::RngExt::random::<f64>(&mut rng) < 0.2;
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

fn observed<F: Family>(family: &F, cells: &[Cells], weights: &[f64]) -> F::Stats {
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

fn log_densities<F: Family>(family: &F, cells: &[Cells]) -> Vec<f64> {
    let rows = Rows::new(cells);
    let mut out = vec![0.0; rows.len];
    family.add_log_density(&rows, &mut out);
    out
}

pub(super) fn hold_for<F: Family>() {
    for (number, family) in F::examples().iter().enumerate() {
        let seed = number as u64;
        statistics_are_a_monoid(family, seed);
        weights_are_repetitions(family, seed);
        chunking_is_irrelevant(family, seed);
        hidden_cells_say_nothing(family, seed);
        likelihood_from_statistics_is_the_sum_of_densities(family, seed);
        estimates::beat_perturbations(family, seed);
        a_family_knows_itself(family, seed);
        samples_have_the_fitted_parameters(family, seed);
        densities_integrate_to_one(family, seed);
        filling_keeps_what_is_seen(family, seed);
        estimates::of_equal_rows_make_them_likelier_than_those_of_all(family, seed);
        files_round_trip(family, seed);
    }
    nothing_seen_is_an_error::<F>();
}

fn statistics_are_a_monoid<F: Family>(family: &F, seed: u64) {
    let data = draw(family, 90, false, seed);
    let w = weights(90);
    let parts: Vec<F::Stats> = (0..3)
        .map(|i| observed(family, &data.part(30 * i, 30), &w[30 * i..30 * i + 30]))
        .collect();
    let merged = |order: [usize; 3]| {
        let mut sum = parts[order[0]].clone();
        sum.merge(&parts[order[1]]);
        sum.merge(&parts[order[2]]);
        sum
    };
    assert!(
        close(&merged([0, 1, 2]), &merged([2, 0, 1]), 1e-9),
        "merge commutes: {family:?}"
    );
    let mut tail = parts[1].clone();
    tail.merge(&parts[2]);
    let mut associated = parts[0].clone();
    associated.merge(&tail);
    assert!(
        close(&associated, &merged([0, 1, 2]), 1e-9),
        "merge is associative: {family:?}"
    );
    let mut with_zero = parts[0].clone();
    with_zero.merge(&F::zero(&family.shape()));
    assert_eq!(with_zero, parts[0], "zero is neutral: {family:?}");
    let mut from_zero = F::zero(&family.shape());
    from_zero.merge(&parts[0]);
    assert!(
        close(&from_zero, &parts[0], 1e-12),
        "zero is neutral: {family:?}"
    );
    let mut left = associated.clone();
    left.forget(&tail).unwrap();
    assert!(
        close(&left, &parts[0], 1e-6),
        "forgetting undoes merging: {family:?}"
    );
    assert!(
        parts[0].clone().forget(&associated).is_err(),
        "the unseen cannot be forgotten: {family:?}"
    );
}

fn weights_are_repetitions<F: Family>(family: &F, seed: u64) {
    let data = draw(family, 40, false, seed);
    let cells = data.cells();
    let mut twice = observed(family, &cells, &[1.0; 40]);
    twice.merge(&twice.clone());
    let weighted = observed(family, &cells, &[2.0; 40]);
    assert!(
        close(&twice, &weighted, 1e-10),
        "weight 2 is the row twice: {family:?}"
    );
    let mut scaled = observed(family, &cells, &[1.0; 40]);
    scaled.scale(2.0);
    assert!(
        close(&scaled, &weighted, 1e-10),
        "scaling by 2 is weight 2: {family:?}"
    );
    let half: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i < 20))).collect();
    let absent = observed(family, &cells, &half);
    assert!(
        close(
            &absent,
            &observed(family, &data.part(0, 20), &[1.0; 20]),
            1e-10
        ),
        "weight 0 is the row absent: {family:?}"
    );
}

fn chunking_is_irrelevant<F: Family>(family: &F, seed: u64) {
    let data = draw(family, 600, false, seed);
    let w = weights(600);
    let whole = observed(family, &data.cells(), &w);
    let mut pieces = F::zero(&family.shape());
    for start in (0..600).step_by(7) {
        let len = 7.min(600 - start);
        F::observe(
            &Rows::new(&data.part(start, len)),
            &w[start..start + len],
            &mut pieces,
        );
    }
    assert!(
        close(&whole, &pieces, 1e-8),
        "chunks do not matter: {family:?}"
    );
}

fn hidden_cells_say_nothing<F: Family>(family: &F, seed: u64) {
    let d = width(family);
    let hidden: Vec<Column> = (0..d)
        .map(|_| column(vec![None; 5], coded(family)))
        .collect();
    let cells: Vec<Cells> = hidden.iter().map(|c| c.cells(0, 5)).collect();
    assert_eq!(
        log_densities(family, &cells),
        [0.0; 5],
        "a hidden row has log-density 0: {family:?}"
    );
    let zero = F::zero(&family.shape());
    assert_eq!(
        observed(family, &cells, &[1.0; 5]),
        zero,
        "a hidden row is not seen: {family:?}"
    );
    let mut expected = F::zero(&family.shape());
    family.expect(&Rows::new(&cells), &[1.0; 5], &mut expected);
    assert_eq!(expected, zero, "a hidden row teaches nothing: {family:?}");
    let data = draw(family, 200, true, seed);
    assert!(
        log_densities(family, &data.cells())
            .iter()
            .all(|l| l.is_finite()),
        "{family:?}"
    );
}

fn likelihood_from_statistics_is_the_sum_of_densities<F: Family>(family: &F, seed: u64) {
    let data = draw(family, 50, false, seed);
    let w = weights(50);
    let stats = observed(family, &data.cells(), &w);
    let sum: f64 = log_densities(family, &data.cells())
        .iter()
        .zip(&w)
        .map(|(l, w)| l * w)
        .sum();
    let obtained = family.log_likelihood(&stats);
    assert!(
        (sum - obtained).abs() < 1e-7 * (1.0 + sum.abs()),
        "{sum} {obtained}: {family:?}"
    );
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

fn a_family_knows_itself<F: Family>(family: &F, seed: u64) {
    let data = draw(family, 50, false, seed);
    let shape = family.shape();
    assert!(family.is_valid(&shape), "{family:?}");
    assert!(F::describes(
        &shape,
        &observed(family, &data.cells(), &weights(50))
    ));
    let vague = F::vague(&shape, &scales(&data));
    assert!(vague.is_valid(&shape), "{vague:?}");
    for column in data.cells() {
        assert!(column.reals().iter().all(|x| F::supports(*x)), "{family:?}");
    }
    // Starts have an estimate even where a component saw nothing.
    let mut parts = vec![
        observed(family, &data.cells(), &weights(50)),
        F::zero(&shape),
    ];
    F::pull_together(&mut parts);
    for own in &parts {
        assert!(F::mle(own).unwrap().is_valid(&shape), "{family:?}");
    }
    let fallen = F::map_all(
        &shape,
        &[F::zero(&shape), F::zero(&shape)],
        &Default::default(),
        &vague,
    );
    assert!(fallen.iter().all(|f| f.is_valid(&shape)), "{family:?}");
}

fn samples_have_the_fitted_parameters<F: Family>(family: &F, seed: u64) {
    let data = draw(family, 20_000, false, 77 + seed);
    let stats = observed(family, &data.cells(), &[1.0; 20_000]);
    let fitted = F::mle(&stats).unwrap();
    // Wilks: twice the gain over the truth is about chi-squared with as many
    // degrees of freedom as parameters; 60 is far beyond it for these.
    let gain = 2.0 * (fitted.log_likelihood(&stats) - family.log_likelihood(&stats));
    // A density of points has as many degrees of freedom as there are widths in
    // its range, and may be smoother than the truth.
    let allowed = if F::BY_LIKELIHOOD { 60.0 } else { 400.0 };
    assert!(gain < allowed, "samples of {family:?} look like {fitted:?}");
}

/// Importance sampling: under draws x of the family, the mean of g(x)/f(x) is
/// 1 for any density g inside f's support; g is an estimate from other draws.
fn densities_integrate_to_one<F: Family>(family: &F, seed: u64) {
    if let Some(probabilities) = family.probabilities() {
        let codes: Vec<u32> = (0..probabilities.len() as u32).collect();
        let total: f64 = log_densities(family, &[Cells::code(&codes)])
            .iter()
            .map(|l| l.exp())
            .sum();
        assert!((total - 1.0).abs() < 1e-12, "{family:?}");
        return;
    }
    if !F::BY_LIKELIHOOD {
        assert_eq!(width(family), 1);
        return integrates_on_a_mesh(family, seed);
    }
    let fit = draw(family, 200, false, 5 + seed);
    let other = F::mle(&observed(family, &fit.cells(), &[1.0; 200])).unwrap();
    let data = draw(family, 20_000, false, 6 + seed);
    let (f, g) = (
        log_densities(family, &data.cells()),
        log_densities(&other, &data.cells()),
    );
    let mean = f.iter().zip(&g).map(|(f, g)| (g - f).exp()).sum::<f64>() / 20_000.0;
    assert!(
        (mean - 1.0).abs() < 0.03,
        "the density integrates to {mean}: {family:?}"
    );
}

/// A density of points may have gaps that another's does not have: it is summed
/// over a mesh that reaches a range beyond its draws.
fn integrates_on_a_mesh<F: Family>(family: &F, seed: u64) {
    let data = draw(family, 2_000, false, 6 + seed);
    let x = data.cells()[0].reals().to_vec();
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (range, steps) = (most - least, 30_000);
    let step = 3.0 * range / f64::from(steps);
    let node = |i: i32| least - range + step * (f64::from(i) + 0.5);
    let nodes: Vec<f64> = (0..steps).map(node).collect();
    let log_densities = log_densities(family, &[Cells::real(&nodes)]);
    let total: f64 = log_densities.iter().map(|l| l.exp() * step).sum();
    assert!(
        (total - 1.0).abs() < 1e-2,
        "the density integrates to {total}: {family:?}"
    );
}

fn filling_keeps_what_is_seen<F: Family>(family: &F, seed: u64) {
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

fn files_round_trip<F: Family>(family: &F, seed: u64) {
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

fn nothing_seen_is_an_error<F: Family>() {
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
