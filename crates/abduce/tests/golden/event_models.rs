//! Event models of documents against scikit-learn's naive Bayes, with a column of counts for
//! each term and with one column of text.

use super::{golden, list, number, numbers, rows};
use abduce::Control;
use abduce::ask::Predict;
use abduce::data::{Column, Field, Kind, Schema, Table};
use abduce::model::mixture::{ClassPrior, FitOptions, Specification, fit};
use abduce::text::{Analyzer, Encoder, Encoding, Limits, Vocabulary};

#[test]
fn event_models_agree_with_scikit_learn() {
    let golden = golden("event_models");
    let counts = rows(&golden["counts"]);
    let label: Vec<u32> = numbers(&golden["label"])
        .iter()
        .map(|y| *y as u32)
        .collect();
    let terms = counts[0].len();
    let target = || Field::with_levels("y", Kind::Categorical, ["0", "1", "2"]);
    let labels = || Column::from_codes(label.iter().map(|y| Some(*y)));
    let table = |fields: Vec<Field>, columns: Vec<Column>, weighted: bool| {
        let weights = weighted.then(|| numbers(&golden["weights"]));
        let fields = fields.into_iter().chain([target()]).collect();
        let columns = columns.into_iter().chain([labels()]).collect();
        Table::new(Schema::new(fields), columns, weights).unwrap()
    };
    let as_columns = |weighted: bool| {
        let fields = (0..terms).map(|t| Field::new(format!("t{t}"), Kind::Count));
        let column = |t: usize| Column::from_numbers(counts.iter().map(|row| Some(row[t])));
        table(fields.collect(), (0..terms).map(column).collect(), weighted)
    };
    let as_text = |weighted: bool| {
        let vocabulary: Vocabulary = (0..terms).map(|t| format!("t{t:02}")).collect();
        let encoder = Encoder {
            analyzer: Analyzer::default(),
            encoding: Encoding::Vocabulary(vocabulary),
            limits: Limits::default(),
        };
        let document = |row: &Vec<f64>| {
            let present = row.iter().enumerate().filter(|(_, count)| **count > 0.0);
            Some(present.map(|(t, count)| (t as u32, *count)).collect())
        };
        let column = Column::from_terms(counts.iter().map(document));
        table(
            vec![Field::with_text("text", encoder)],
            vec![column],
            weighted,
        )
    };
    for case in list(&golden["cases"]) {
        let weighted = case["weighted"].as_bool().unwrap();
        let event = case["event"].as_str().unwrap();
        let specification = Specification {
            smoothing: number(&case["smoothing"]),
            event: Some(event.parse().unwrap()),
            class_prior: if case["uniform"].as_bool().unwrap() {
                ClassPrior::Uniform
            } else {
                ClassPrior::Learned
            },
            ..Specification::naive_bayes("y")
        };
        let expected = rows(&case["log_posterior"]);
        for table in [as_columns(weighted), as_text(weighted)] {
            let options = FitOptions::default();
            let fit = fit(&specification, &table, &options, Control::default()).unwrap();
            let classify = fit.mixture.classifier().unwrap();
            let posterior = classify(&table.chunks()[0]).unwrap();
            for (row, expected) in expected.iter().enumerate() {
                for (p, expected) in posterior.row(row).iter().zip(expected) {
                    let error = (p - expected.exp()).abs();
                    assert!(error <= 1e-10 * expected.exp(), "{event} {row}: {error}");
                }
            }
        }
    }
}
