//! Exact answers and known integrals agree with draws within five standard errors.

use super::{ask, dependent, independent, learn, number, number_of, table};
use abduce::Control;
use abduce::ask::query::{Answer, Found, Method};
use abduce::ask::{Joint, QueryOptions, query};
use abduce::data::Chosen;
use abduce::density::Bins;
use abduce::model::density::{self, DensityModel, Estimator};
use abduce::model::mixture::{CovarianceKind, FittedMixture, Specification};
use std::f64::consts::PI;

/// All numbers of an answer with their standard errors.
fn numbers_of(answer: &Answer) -> Vec<(f64, f64)> {
    let error = |error: &Option<f64>| error.unwrap_or(0.0);
    match &answer.found {
        Found::Table { rows, .. } => {
            let rows = rows.iter().map(|row| row.probability);
            rows.map(|found| (found.probability, error(&found.standard_error)))
                .collect()
        }
        Found::Numbers(moments) => vec![
            (moments.mean, error(&moments.standard_error)),
            (moments.variance, error(&moments.variance_standard_error)),
        ],
        _ => {
            let (number, standard_error) = number_of(answer);
            vec![(number, error(&standard_error))]
        }
    }
}

fn drawn(model: &dyn Joint, question: &str) -> Answer {
    let mut options = QueryOptions::default();
    options.always_draw = true;
    options.seed = 3;
    let answer = query(model, question, &options);
    answer.unwrap_or_else(|error| panic!("{question}: {error}"))
}

fn assert_exact_agrees_with_draws(model: &dyn Joint, question: &str) {
    let exact = ask(model, question);
    assert_eq!(exact.method, Method::Exact, "{question}");
    let drawn = drawn(model, question);
    assert!(matches!(drawn.method, Method::Draws { .. }), "{question}");
    let (exact, drawn) = (numbers_of(&exact), numbers_of(&drawn));
    for ((exact, _), (drawn, error)) in exact.iter().zip(&drawn) {
        assert!(
            (exact - drawn).abs() < 5.0 * error,
            "{question}: {exact}, by draws {drawn} ± {error}"
        );
    }
}

#[test]
fn exact_answers_agree_with_draws() {
    let model = independent();
    for question in [
        "P(c)",
        "P(c, y | x=1)",
        "P(x)",
        "P(x | x>1, c=red)",
        "P(c | x>2, n<4)",
        "P(y=yes, x<2 | z between 6 and 9)",
        "P(n=2 | n>=2, c in {green, blue})",
        "P(x<1, n!=2 | x<2)",
        "E(x | n>4)",
        "E(n | n>4, x<3)",
        "E(z | c!=red, x>4)",
    ] {
        assert_exact_agrees_with_draws(&model, question);
    }
}

#[test]
fn exact_answers_about_components_agree_with_draws() {
    let model = dependent();
    for question in [
        "P(component)",
        "P(component=1 | x>1, c=blue)",
        "P(x>1 | component=2)",
        "P(component, y)",
        "E(n | component in {1}, c=green)",
    ] {
        assert_exact_agrees_with_draws(&model, question);
    }
}

fn density(estimator: Estimator) -> DensityModel {
    let table = table();
    let keep = Chosen::new(&table, &["x", "z", "y"].map(String::from)).unwrap();
    let specification = density::Specification {
        target: Some("y".into()),
        estimator,
    };
    density::fit(&specification, &keep, Control::default())
        .unwrap()
        .model
}

#[test]
fn queries_to_histograms_agree_with_draws() {
    let model = density(Estimator::Histogram {
        bins: Bins::Fd,
        smoothing: 0.0,
    });
    for question in [
        "P(y | x>1)",
        "P(y=yes, z<8)",
        "E(x | y=no)",
        "P(x between 0 and 2)",
    ] {
        assert_exact_agrees_with_draws(&model, question);
    }
    // The columns of a joint histogram are dependent, so this needs draws.
    let joint = number_of(&ask(&model, "P(x>1, z>9)")).0;
    let [x, z] = ["P(x>1)", "P(z>9)"].map(|question| number(&model, question));
    assert!((x + z - 1.0..x.min(z)).contains(&joint), "{joint} {x} {z}");
}

/// A model with one Gaussian of x and z, and their means, standard deviations and correlation.
fn gaussian() -> (FittedMixture, [f64; 5]) {
    let model = learn(&Specification::mixture(1, CovarianceKind::Full), &table());
    let moments = ["x", "z"].map(|column| {
        let Found::Numbers(found) = ask(&model, &format!("P({column})")).found else {
            panic!("{column}: expected moments");
        };
        (found.mean, found.variance.sqrt())
    });
    let [(mx, sx), (mz, sz)] = moments;
    let slope = number(&model, &format!("E(z | x={})", mx + 1.0)) - mz;
    (model, [mx, sx, mz, sz, slope * sx / sz])
}

#[test]
fn draws_of_correlated_columns_agree_with_sheppards_formula() {
    let (model, [mx, sx, mz, _, correlation]) = gaussian();
    let quadrant = 0.25 + correlation.asin() / (2.0 * PI);
    let questions = [
        (format!("P(x>{mx}, z>{mz})"), quadrant),
        (format!("P(x>{mx} | z>{mz})"), 2.0 * quadrant),
        (
            format!("E(x | x>{mx}, z>{mz})"),
            mx + sx * (1.0 + correlation) / (2.0 * (2.0 * PI).sqrt()) / quadrant,
        ),
    ];
    for (question, expected) in questions {
        let (found, error) = number_of(&ask(&model, &question));
        let error = error.unwrap();
        let difference = (found - expected).abs();
        assert!(
            difference < 5.0 * error,
            "{question}: {found} ± {error}, not {expected}"
        );
        assert!(
            error < 0.02 * expected.abs().max(1.0),
            "{question}: ± {error}"
        );
    }
}

#[test]
fn rare_evidence_has_many_effective_draws() {
    let (model, [mx, sx, mz, sz, _]) = gaussian();
    let question = format!("E(x | x>{}, z<{})", mx + 4.0 * sx, mz - 4.0 * sz);
    let answer = ask(&model, &question);
    let Method::Draws {
        effective_draws, ..
    } = answer.method
    else {
        panic!("expected an answer by draws");
    };
    assert!(effective_draws > 100.0, "{effective_draws}");
    assert!(number_of(&answer).0 > mx + 4.0 * sx);
}

#[test]
fn the_seed_determines_the_draws() {
    let (model, _) = gaussian();
    let options = QueryOptions::default();
    let first = query(&model, "P(x>1, z>9)", &options).unwrap();
    assert_eq!(query(&model, "P(x>1, z>9)", &options).unwrap(), first);
    let mut other = QueryOptions::default();
    other.seed = 1;
    assert_ne!(query(&model, "P(x>1, z>9)", &other).unwrap(), first);
}
