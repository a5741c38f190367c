//! Predictions of any categorical column from the others.

use abduce::Control;
use abduce::ask::{Conditional, Joint, posterior_of};
use abduce::data::{Column, Field, Kind, Schema, Source, Table};
use abduce::model::Learner;
use abduce::model::mixture::{FittedMixture, Mixture};

/// Two categorical columns and a numeric one, with missing values.
fn table() -> Table {
    let levels = |name: &str| Field::with_levels(name, Kind::Categorical, vec!["a", "b", "c"]);
    let schema = Schema::new(vec![levels("u"), Field::new("x", Kind::Real), levels("v")]);
    let u = (0..60).map(|i| (i % 7 != 0).then_some(i % 3));
    let x = (0..60).map(|i| (i % 5 != 0).then_some(f64::from(i % 3) * 2.0 + f64::from(i).sin()));
    let v = (0..60).map(|i| (i % 11 != 0).then_some((i / 2) % 3));
    let columns = vec![
        Column::from_codes(u.collect::<Vec<_>>()),
        Column::from_numbers(x.collect::<Vec<_>>()),
        Column::from_codes(v.collect::<Vec<_>>()),
    ];
    Table::new(schema, columns, None).unwrap()
}

#[test]
fn posterior_of_is_the_conditional_distribution_of_each_row() {
    let table = table();
    let learned = Mixture::new(2).learn(&table, Control::default()).unwrap();
    let mixture = learned.model.get::<FittedMixture>().unwrap();
    let chunk = &table.chunks()[0];
    let posterior = posterior_of(&mixture.model, 2, chunk).unwrap();
    for row in 0..table.rows() as usize {
        let cell = |column: usize| chunk.column(column).cells(0, 60).number(row);
        let given = [cell(0), cell(1), None];
        let Conditional::Levels(expected) = mixture.condition(&given, 2).unwrap() else {
            panic!("expected a categorical conditional");
        };
        for (p, expected) in posterior.row(row).iter().zip(expected) {
            assert!((p - expected).abs() < 1e-12, "row {row}");
        }
    }
}

#[test]
fn posterior_of_a_numeric_column_is_an_error() {
    let table = table();
    let learned = Mixture::new(2).learn(&table, Control::default()).unwrap();
    let joint = learned.model.joint().unwrap();
    assert!(posterior_of(joint, 1, &table.chunks()[0]).is_err());
}
