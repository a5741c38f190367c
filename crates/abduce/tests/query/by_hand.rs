//! Probabilities of a naive Bayes model of ten rows, derived by hand. Of the 4 rows of class u,
//! 3 have a=p, and 2, 1, 1 have b=r, s, t; of the 6 of class v, 2 have a=p, and 2, 3, 1 have
//! b=r, s, t.

use super::{ask, assert_close, learn, number, probabilities};
use abduce::ask::query::{Found, Method, Value};
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::model::mixture::{FittedMixture, Specification};

fn model() -> FittedMixture {
    let rows = [
        [0, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
        [0, 0, 2],
        [1, 1, 0],
        [1, 1, 1],
        [1, 0, 1],
        [1, 1, 2],
        [1, 1, 1],
        [1, 0, 0],
    ];
    let schema = Schema::new(vec![
        Field::with_levels("y", Kind::Categorical, ["u", "v"]),
        Field::with_levels("a", Kind::Categorical, ["p", "q"]),
        Field::with_levels("b", Kind::Ordinal, ["r", "s", "t"]),
    ]);
    let column = |position: usize| Column::from_codes(rows.iter().map(|row| Some(row[position])));
    let table = Table::new(schema, (0..3).map(column).collect(), None).unwrap();
    let specification = Specification {
        smoothing: 0.0,
        weight_smoothing: 0.0,
        ..Specification::naive_bayes("y")
    };
    learn(&specification, &table)
}

#[test]
fn probabilities_equal_those_derived_by_hand() {
    let model = model();
    for (question, expected) in [
        ("P(a=p)", 0.5),
        ("P(a=p | y=u)", 0.75),
        ("P(y=u | a=p)", 0.6),
        ("P(a=p, b=r)", 0.4 * 0.375 + 0.6 / 9.0),
        ("P(a=p | b in {r, s})", (0.225 + 0.5 / 3.0) / 0.8),
        ("P(a=p | b<t)", (0.225 + 0.5 / 3.0) / 0.8),
        ("P(b>=s | a=q)", (0.05 + 0.4 * 2.0 / 3.0) / 0.5),
        ("P(y=u | a=p, b!=t)", 0.225 / (0.225 + 0.5 / 3.0)),
        ("P(b between r and s | b!=r, y=u)", 0.5),
    ] {
        assert_close(number(&model, question), expected, question);
        assert_eq!(ask(&model, question).method, Method::Exact);
    }
}

#[test]
fn the_levels_of_the_last_column_vary_fastest() {
    let model = model();
    let found = probabilities(&model, "P(a, b | y=u)");
    let expected = [0.375, 0.1875, 0.1875, 0.125, 0.0625, 0.0625];
    for (found, expected) in found.iter().zip(expected) {
        assert_close(*found, expected, "P(a, b | y=u)");
    }
    let restricted = probabilities(&model, "P(b | b!=r, y=u)");
    assert_eq!(restricted, [0.0, 0.5, 0.5]);
}

#[test]
fn the_most_probable_combination_is_found() {
    let level = |name: &str| Value::Level(name.into());
    for (question, values, expected) in [
        ("MAP(a, b)", ["q", "s"], 0.225),
        ("MAP(a, b | y=u)", ["p", "r"], 0.375),
        ("MAP(b, a | a!=q)", ["r", "p"], (0.15 + 0.6 / 9.0) / 0.5),
    ] {
        let Found::MostProbable { row, .. } = ask(&model(), question).found else {
            panic!("{question}: not the most probable values");
        };
        assert_eq!(row.values, values.map(level), "{question}");
        assert_close(row.probability.probability, expected, question);
    }
}
