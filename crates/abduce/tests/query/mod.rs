//! Questions in words: answers derived by hand, laws of probability, exact answers against
//! draws.

mod against_draws;
mod by_hand;
mod errors;
mod laws;

use abduce::Control;
use abduce::ask::query::{Answer, Found};
use abduce::ask::{Joint, QueryOptions, query};
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::model::mixture::{CovarianceKind, FitOptions, FittedMixture, Specification, fit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Poisson, StandardNormal};

/// The answer to a question that has one.
fn ask(model: &dyn Joint, question: &str) -> Answer {
    let answer = query(model, question, &QueryOptions::default());
    answer.unwrap_or_else(|error| panic!("{question}: {error}"))
}

/// The one number of an answer, and its standard error.
fn number_of(answer: &Answer) -> (f64, Option<f64>) {
    match &answer.found {
        Found::Probability(own) => (own.probability, own.standard_error),
        Found::Mean {
            mean,
            standard_error,
        } => (*mean, *standard_error),
        Found::MostProbable { row, .. } => (row.probability.probability, None),
        other => panic!("this is no number: {other:?}"),
    }
}

fn number(model: &dyn Joint, question: &str) -> f64 {
    number_of(&ask(model, question)).0
}

/// The probabilities of a table.
fn probabilities(model: &dyn Joint, question: &str) -> Vec<f64> {
    let Found::Table { rows, .. } = ask(model, question).found else {
        panic!("{question}: not a table");
    };
    rows.iter().map(|row| row.probability.probability).collect()
}

fn assert_close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{what}: {a} {b}");
}

fn learn(specification: &Specification, table: &Table) -> FittedMixture {
    let options = FitOptions::default();
    let fit = fit(specification, table, &options, Control::default());
    fit.unwrap().mixture
}

/// Two groups of rows with correlated numbers x and z, a count n, and colours c of which one
/// is never seen in the second group; the group is the column y.
fn table() -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut x, mut z, mut n, mut c, mut y) = (vec![], vec![], vec![], vec![], vec![]);
    for row in 0..400 {
        let group = u32::from(row % 5 > 2);
        let shift = 3.0 * f64::from(group);
        let common: f64 = StandardNormal.sample(&mut rng);
        let [own, other]: [f64; 2] = [0, 1].map(|_| StandardNormal.sample(&mut rng));
        x.push(Some(shift + common + 0.5 * own));
        z.push(Some(10.0 - shift + 2.0 * common + other));
        n.push(Some(Poisson::new(1.0 + shift).unwrap().sample(&mut rng)));
        c.push(Some(rng.random_range(group..3)));
        y.push(Some(group));
    }
    let schema = Schema::new(vec![
        Field::new("x", Kind::Real),
        Field::new("z", Kind::Real),
        Field::new("n", Kind::Count),
        Field::with_levels("c", Kind::Categorical, ["red", "green", "blue"]),
        Field::with_levels("y", Kind::Binary, ["no", "yes"]),
    ]);
    let numbers = [x, z, n].map(Column::from_numbers);
    let codes = [c, y].map(Column::from_codes);
    let columns = numbers.into_iter().chain(codes).collect();
    Table::new(schema, columns, None).unwrap()
}

/// Every column by itself in each group.
fn independent() -> FittedMixture {
    learn(&Specification::naive_bayes("y"), &table())
}

/// x and z together in each of two components.
fn dependent() -> FittedMixture {
    learn(&Specification::mixture(2, CovarianceKind::Full), &table())
}
