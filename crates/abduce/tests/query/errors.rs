//! Errors of queries name the position of the error.

use super::{dependent, independent};
use abduce::ErrorKind;
use abduce::ask::{Joint, QueryOptions, query};

fn error_of(model: &dyn Joint, question: &str) -> abduce::Error {
    let answer = query(model, question, &QueryOptions::default());
    answer
        .err()
        .unwrap_or_else(|| panic!("{question} has an answer"))
}

#[test]
fn errors_have_a_position_and_a_reason() {
    let model = independent();
    for (question, position, message) in [
        ("P(colour)", 3, "there is no column \"colour\""),
        ("P(c | X=1)", 7, "did you mean x?"),
        ("P(c=rad)", 5, "did you mean red?"),
        ("P(x>red)", 5, "\"red\" is not a number"),
        ("P(c>red)", 5, "no order"),
        ("P(x=1)", 3, "a density, not a probability"),
        ("P(c | x between 2 and 1)", 23, "below the lower end"),
        ("P(x | x=1)", 3, "both asked about and given"),
        ("P(c | x=1, x=2)", 12, "given twice"),
        ("P(c, c)", 6, "asked about twice"),
        ("P(c=red, c=blue)", 10, "asked about twice"),
        ("P(c=red, y)", 10, "all columns have a condition"),
        ("E(c)", 3, "no mean"),
        ("E(x, z)", 6, "one column at a time"),
        ("E(x>1)", 3, "without a condition"),
        ("MAP(c=red)", 5, "without conditions"),
        ("P(c, x)", 6, "needs columns of levels"),
        ("P(c | do(x=1))", 10, "interventions are not supported"),
        ("P(c | x>1", 10, "closing parenthesis"),
    ] {
        let error = error_of(&model, question);
        assert_eq!(error.position(), Some(position), "{question}: {error}");
        assert!(error.to_string().contains(message), "{question}: {error}");
        assert_eq!(error.kind(), ErrorKind::Parameter, "{question}");
    }
}

#[test]
fn evidence_of_probability_0_is_an_error() {
    let model = independent();
    for question in [
        "P(c | n>2, n<3)",
        "P(c | n=-1)",
        "P(c | n between 2.2 and 2.8)",
        "E(n | n<0)",
        "P(c=red | n>1e9)",
    ] {
        let error = error_of(&model, question);
        assert_eq!(error.kind(), ErrorKind::Numeric, "{question}: {error}");
        assert!(
            error.to_string().contains("probability 0"),
            "{question}: {error}"
        );
    }
}

#[test]
fn components_can_be_queried_only_without_a_target() {
    let error = error_of(&independent(), "P(component)");
    assert!(error.to_string().contains("no column"), "{error}");
    let error = error_of(&dependent(), "P(component=7)");
    assert_eq!(error.position(), Some(13));
    assert!(error.hint().unwrap().contains("1, 2"), "{error}");
}
