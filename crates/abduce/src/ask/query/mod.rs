//! Questions in words, parsed and answered: `P(a, b | c=1, d>2)`, `E(x | …)`, `MAP(a, b | …)`.
//!
//! `lexer`, `parser` and `ast` read a question; `bind` finds its columns in a model and turns
//! conditions into `sets` of values. `exact` answers it from a mixture of products; `draws`
//! answers what has no such form.

mod answer;
mod ast;
mod bind;
mod draws;
mod exact;
mod lexer;
mod numbers;
mod parser;
mod proposal;
mod restricted;
mod sets;

pub use answer::{Answer, Found, Method, Numbers, Probability, Row, Value};

use super::Joint;
use crate::Result;
use bind::Bound;

/// How questions are answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueryOptions {
    /// The number of rows drawn where there is no exact answer.
    pub draws: usize,
    /// The seed of the draws.
    pub seed: u64,
    /// What the components of a mixture are called, if not by the names of the model.
    pub components: Option<Vec<String>>,
    /// Whether to draw rows even if there is an exact answer, to check one by the other.
    pub always_draw: bool,
}

impl Default for QueryOptions {
    fn default() -> Self {
        QueryOptions {
            draws: 10_000,
            seed: 0,
            components: None,
            always_draw: false,
        }
    }
}

/// Answers a question in words about a model of the joint distribution of all columns.
///
/// `P(a | …)` asks for the distribution of a column of levels or numbers, `P(a, b | …)` for that
/// of all combinations of levels, `P(a=x, b>2 | …)` for the probability of an event, `E(x | …)`
/// for a mean and `MAP(a, b | …)` for the most probable values. Conditions are `=`, `!=`, `<`,
/// `<=`, `>`, `>=`, `in {…}` and `between … and …`. Names and values that hold a comma or a bar
/// stand in quotes. The component of a mixture is the column `component`.
///
/// Answers are exact where the columns of the question are independent within each component
/// of the model or take few values; otherwise rows are drawn, and every number has a standard
/// error.
///
/// ```
/// use abduce::Control;
/// use abduce::ask::query::Found;
/// use abduce::ask::{QueryOptions, query};
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::model::mixture::{FitOptions, Specification, fit};
///
/// let schema = Schema::new(vec![
///     Field::new("length", Kind::Real),
///     Field::with_levels("kind", Kind::Categorical, ["large", "small"]),
/// ]);
/// let length = Column::from_numbers([7.2, 6.8, 5.2, 4.8].map(Some));
/// let kind = Column::from_codes([0, 0, 1, 1].map(Some));
/// let table = Table::new(schema, vec![length, kind], None)?;
/// let specification = Specification::naive_bayes("kind");
/// let model = fit(&specification, &table, &FitOptions::default(), Control::default())?.mixture;
///
/// let answer = query(&model, "P(length > 7 | kind=large)", &QueryOptions::default())?;
/// let Found::Probability(found) = answer.found else { unreachable!() };
/// assert!((found.probability - 0.5).abs() < 1e-12);
///
/// let error = query(&model, "P(length > x)", &QueryOptions::default()).unwrap_err();
/// assert_eq!(error.position(), Some(12));
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If the question cannot be read, is not about columns of the model or has no answer. The
/// error has the [position](crate::Error::position) of the character.
pub fn query(model: &dyn Joint, question: &str, options: &QueryOptions) -> Result<Answer> {
    let bound = Bound::new(model, question, options.components.as_deref())?;
    let exact = if options.always_draw {
        None
    } else {
        exact::exact(model, &bound)?
    };
    match exact {
        Some(found) => Ok(Answer {
            found,
            method: Method::Exact,
        }),
        None => draws::by_draws(model, &bound, options),
    }
}
