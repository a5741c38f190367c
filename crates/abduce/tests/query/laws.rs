//! Laws of probability that all answers obey.

use super::{ask, assert_close, dependent, independent, number, probabilities};
use abduce::ask::query::{Found, Method};
use abduce::ask::{Conditional, Joint};
use abduce::model::mixture::FittedMixture;

/// Events of every kind, in different columns.
const EVENTS: [&str; 7] = [
    "x>1.5",
    "x between -1 and 2",
    "z<=9",
    "n in {0, 2, 5}",
    "n!=1",
    "c in {red, blue}",
    "c=green",
];

fn column_of(event: &str) -> &str {
    &event[..1]
}

#[test]
fn distributions_sum_to_one() {
    let model = independent();
    for question in ["P(c)", "P(y, c | x>1)", "P(n | z<9)", "P(n | n>2, c!=red)"] {
        let sum: f64 = probabilities(&model, question).iter().sum();
        assert_close(sum, 1.0, question);
    }
}

#[test]
fn events_and_their_complements_sum_to_one() {
    let model = independent();
    for (event, complement) in [
        ("x>1.5", "x<=1.5"),
        ("n>=3", "n<3"),
        ("n=3", "n!=3"),
        ("c in {red, blue}", "c=green"),
        ("y=yes", "y!=yes"),
    ] {
        let sum = number(&model, &format!("P({event} | z>8)"))
            + number(&model, &format!("P({complement} | z>8)"));
        assert_close(sum, 1.0, event);
    }
}

#[test]
fn joint_probabilities_follow_the_chain_rule() {
    let model = independent();
    for a in EVENTS {
        for b in EVENTS.iter().filter(|b| column_of(b) != column_of(a)) {
            let joint = number(&model, &format!("P({a}, {b})"));
            let chained =
                number(&model, &format!("P({a})")) * number(&model, &format!("P({b} | {a})"));
            assert_close(joint, chained, &format!("{a}, {b}"));
        }
    }
}

#[test]
fn means_follow_the_law_of_total_expectation() {
    let model = independent();
    for (column, events) in [
        ("x", ["c=red", "c!=red"]),
        ("x", ["x>1", "x<=1"]),
        ("n", ["n>2", "n<=2"]),
        ("z", ["x>0", "x<=0"]),
    ] {
        let parts = events.map(|event| {
            number(&model, &format!("E({column} | {event})"))
                * number(&model, &format!("P({event})"))
        });
        let whole = number(&model, &format!("E({column})"));
        let sum: f64 = parts.iter().sum();
        assert!(
            (sum - whole).abs() < 1e-6,
            "{column} {events:?}: {sum} {whole}"
        );
    }
}

#[test]
fn a_query_of_one_column_is_the_conditional_of_the_model() {
    let model = independent();
    let given = [Some(1.0), None, Some(3.0), None, None];
    let Conditional::Levels(levels) = model.condition(&given, 3).unwrap() else {
        panic!("expected a categorical conditional");
    };
    assert_eq!(probabilities(&model, "P(c | x=1, n=3)"), levels);
    let Conditional::Numbers(parts) = model.condition(&given, 1).unwrap() else {
        panic!("expected a numeric conditional");
    };
    let parts = parts
        .iter()
        .map(|(weight, part)| (weight, part.univariate().unwrap()));
    let above: f64 = parts
        .map(|(weight, part)| weight * part.survival(9.0))
        .sum();
    assert_close(
        number(&model, "P(z>9 | x=1, n=3)"),
        above,
        "P(z>9 | x=1, n=3)",
    );
}

#[test]
fn evidence_of_probability_1_changes_nothing() {
    let model = independent();
    for (with, without) in [
        ("P(c=red | x!=3)", "P(c=red)"),
        ("P(c=red | n>=0, c in {red, green, blue})", "P(c=red)"),
        ("E(x | n>=0)", "E(x)"),
        ("P(x>2 | x>-1e9)", "P(x>2)"),
    ] {
        assert_close(number(&model, with), number(&model, without), with);
    }
}

#[test]
fn components_can_be_queried_like_a_column() {
    let model = dependent();
    let weights = probabilities(&model, "P(component)");
    assert_eq!(weights, model.parameters.weights);
    let mixed: f64 = (1..=2)
        .map(|j| {
            number(&model, &format!("P(n=2 | component={j})"))
                * number(&model, &format!("P(component={j})"))
        })
        .sum();
    assert_close(number(&model, "P(n=2)"), mixed, "P(n=2)");
    let joint = probabilities(&model, "P(component, c | x>2)");
    let alone = number(&model, "P(component=2, c=blue | x>2)");
    assert_close(joint[5], alone, "P(component=2, c=blue | x>2)");
    // Far from all rows of the component, where its density underflows to 0.
    let far = number(&model, "E(n | x=-500, component=2)");
    assert!(far.is_finite());
}

#[test]
fn only_queries_of_two_dependent_columns_need_draws() {
    let model = dependent();
    for (question, is_exact) in [
        ("P(x>1)", true),
        ("P(x>1 | z=9)", true),
        ("P(x>1, c=red | n>2)", true),
        ("P(x>1, z>9)", false),
        ("E(x | z>9)", false),
    ] {
        let method = ask(&model, question).method;
        assert_eq!(method == Method::Exact, is_exact, "{question}");
    }
}

#[test]
fn map_of_a_number_is_the_highest_density() {
    let model: FittedMixture = dependent();
    let Found::HighestDensity { value, density, .. } = ask(&model, "MAP(x | c=red)").found else {
        panic!("expected the highest density");
    };
    let Conditional::Numbers(parts) = model
        .condition(&[None, None, None, Some(0.0), None], 0)
        .unwrap()
    else {
        panic!("expected a numeric conditional");
    };
    let at = |x: f64| -> f64 {
        let parts = parts.iter();
        parts
            .map(|(weight, part)| weight * part.univariate().unwrap().density(x))
            .sum()
    };
    assert_close(density, at(value), "MAP(x | c=red)");
    let grid = (0..2000).map(|step| -3.0 + f64::from(step) * 0.004);
    assert!(grid.into_iter().all(|x| at(x) <= density * (1.0 + 1e-9)));
    let Found::HighestDensity { value, .. } = ask(&model, "MAP(x | x>9)").found else {
        panic!("expected the highest density");
    };
    assert_eq!(value, 9.0);
}
