//! Why a class is more probable than another: the log-odds are a sum, of the
//! class weights' and of what each column or word says,
//!
//!   ln P(a | x)/P(b | x) = ln π_a/π_b + Σ_leaf ln p(x_leaf | a)/p(x_leaf | b).

use super::Posterior;
use crate::data::{listed, nearest};
use crate::{Error, Result};
use serde::Serialize;

/// What one thing adds to the log-odds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// The column or columns; the class weights have none.
    pub columns: Vec<String>,
    /// The word, in a column of text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// How much it speaks for the class; less than 0 against it. Infinite where the
    /// row is impossible in one of the two, and then not written.
    #[serde(skip_serializing_if = "is_infinite")]
    pub log_odds: f64,
}

impl Contribution {
    /// What it is called: the column, the word in it, or the class weights.
    pub fn name(&self) -> String {
        match (self.columns.as_slice(), &self.word) {
            ([], _) => "(class weights)".into(),
            (columns, Some(word)) => format!("{}: {word}", columns.join(", ")),
            (columns, None) => columns.join(", "),
        }
    }
}

fn is_infinite(log_odds: &f64) -> bool {
    !log_odds.is_finite()
}

/// Why one class is more probable than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The class.
    pub class: String,
    /// The other class.
    pub against: String,
    /// ln P(class | row)/P(other | row): the sum of all contributions. Not finite where
    /// the row is impossible in one of the two or both, and then not written.
    #[serde(skip_serializing_if = "is_infinite")]
    pub log_odds: f64,
    /// What adds to it, the strongest first.
    pub contributions: Vec<Contribution>,
}

impl Explanation {
    /// Puts contributions in order, and sums them up.
    pub fn new(class: &str, against: &str, mut contributions: Vec<Contribution>) -> Explanation {
        contributions.retain(|contribution| contribution.log_odds != 0.0);
        contributions.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
        Explanation {
            class: class.into(),
            against: against.into(),
            log_odds: contributions
                .iter()
                .map(|contribution| contribution.log_odds)
                .sum(),
            contributions,
        }
    }
}

/// The most probable class of a row and the one after it.
pub fn first_two(posterior: &Posterior, row: usize) -> Option<(usize, usize)> {
    let best = posterior.best(row);
    let others = (0..posterior.row(row).len()).filter(|class| *class != best);
    let probability = |class: &usize| posterior.row(row)[*class];
    let second = others.reduce(|a, b| {
        if probability(&b) > probability(&a) {
            b
        } else {
            a
        }
    })?;
    Some((best, second))
}

/// The class of a name.
///
/// ```
/// use abduce::ask::find_class;
/// let classes = ["ham", "spam"].map(String::from);
/// assert_eq!(find_class("spam", &classes)?, 1);
/// let error = find_class("spam!", &classes).unwrap_err();
/// assert!(error.to_string().contains("did you mean spam?"), "{error}");
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If there is no such class.
pub fn find_class(name: &str, classes: &[String]) -> Result<usize> {
    let place = classes.iter().position(|class| class == name);
    place.ok_or_else(|| {
        let near = nearest(name, classes);
        let meant = near.map_or(String::new(), |near| format!("did you mean {near}? "));
        let all = listed(classes.iter().map(String::as_str));
        Error::parameter(format!("there is no class \"{name}\""))
            .with_hint(format!("{meant}the classes are {all}"))
    })
}
