//! What a question is answered with.

use serde::Serialize;

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// What was found.
    #[serde(flatten)]
    pub found: Found,
    /// How it was found.
    #[serde(flatten)]
    pub method: Method,
}

/// What was found. Standard errors are those of draws; exact answers have none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Found {
    /// The probability of an event.
    Probability(Probability),
    /// The mean of a column.
    Mean {
        /// The mean.
        mean: f64,
        /// Its Monte Carlo standard error.
        #[serde(skip_serializing_if = "Option::is_none")]
        standard_error: Option<f64>,
    },
    /// The distribution of columns of levels or of a count.
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// Every combination of their values, those of the last column fastest; of a count
        /// those that are not next to impossible.
        rows: Vec<Row>,
    },
    /// The distribution of a column of numbers.
    Numbers(Numbers),
    /// The most probable combination of values.
    MostProbable {
        /// The names of the columns.
        columns: Vec<String>,
        /// Their values, with the probability of the combination.
        #[serde(flatten)]
        row: Row,
    },
    /// The number with the highest density.
    HighestDensity {
        /// The name of the column.
        column: String,
        /// The number.
        value: f64,
        /// Its density.
        density: f64,
    },
}

/// A probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Probability {
    /// The probability.
    pub probability: f64,
    /// Its Monte Carlo standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
}

/// Some values and their probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// One value for each column.
    pub values: Vec<Value>,
    /// Their probability.
    #[serde(flatten)]
    pub probability: Probability,
}

/// A level or a number.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A level.
    Level(String),
    /// A number.
    Number(f64),
}

/// The distribution of a column of numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// The name of the column.
    pub column: String,
    /// The mean.
    pub mean: f64,
    /// Its Monte Carlo standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The variance.
    pub variance: f64,
    /// Its Monte Carlo standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance_standard_error: Option<f64>,
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "lowercase")]
pub enum Method {
    /// By sums and integrals.
    Exact,
    /// By draws from the model.
    Draws {
        /// The number of draws.
        draws: usize,
        /// The number of independent draws given the evidence that are worth as much.
        effective_draws: f64,
    },
}

impl Probability {
    /// A probability without an error.
    pub(super) fn exact(probability: f64) -> Probability {
        Probability {
            probability,
            standard_error: None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Level(level) => f.write_str(level),
            Value::Number(x) => write!(f, "{x}"),
        }
    }
}
