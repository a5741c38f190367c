//! The query language: answers derived by hand, laws of probability, and exact answers
//! against draws.

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

/// The answer to a query, which must succeed.
fn ask(model: &dyn Joint, question: &str) -> Answer {
    let answer = query(model, question, &QueryOptions::default());
    answer.unwrap_or_else(|error| panic!("{question}: {error}"))
}

/// The number in an answer, and its standard error.
fn number_of(answer: &Answer) -> (f64, Option<f64>) {
    match &answer.found {
        Found::Probability(found) => (found.probability, found.standard_error),
        Found::Mean {
            mean,
            standard_error,
        } => (*mean, *standard_error),
        Found::MostProbable { row, .. } => (row.probability.probability, None),
        other => panic!("expected a number: {other:?}"),
    }
}

fn number(model: &dyn Joint, question: &str) -> f64 {
    number_of(&ask(model, question)).0
}

/// The probabilities of an answer with several rows.
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

/// Two groups with correlated numbers x and z, a count n, and a colour c, which is never red
/// in the second group; the column y is the group.
fn table() -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut x, mut z, mut n, mut c, mut y) = (vec![], vec![], vec![], vec![], vec![]);
    for row in 0..400 {
        let group = u32::from(row % 5 > 2);
        let shift = 3.0 * f64::from(group);
        let shared: f64 = StandardNormal.sample(&mut rng);
        let [a, b]: [f64; 2] = [0, 1].map(|_| StandardNormal.sample(&mut rng));
        x.push(Some(shift + shared + 0.5 * a));
        z.push(Some(10.0 - shift + 2.0 * shared + b));
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

/// A model whose columns are independent within each group.
fn independent() -> FittedMixture {
    learn(&Specification::naive_bayes("y"), &table())
}

/// A model in which x and z are correlated within each component.
fn dependent() -> FittedMixture {
    learn(&Specification::mixture(2, CovarianceKind::Full), &table())
}
