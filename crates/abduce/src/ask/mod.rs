//! Asking a fitted model. Whatever the model is, a question is one of these:
//! how likely is a row, what is hidden in it, what follows for one column from
//! what is known of others. Commands are written once, against [`Joint`].

mod enumerate;
mod explain;
mod tail;

pub use enumerate::joint_of_levels;
pub use explain::{Contribution, Explanation, find_class, first_two};
pub use tail::TailProbabilities;

use crate::data::{Chunk, Column, Kind, Schema, UnseenCategory};
use crate::family::{Distribution, Fill, Gaussian};
use crate::{Error, Result};
use rand::Rng;

/// A joint distribution over the columns of a table that can be asked.
pub trait Joint: Send + Sync {
    /// The columns.
    fn schema(&self) -> &Schema;

    /// The column that [`posterior`](Joint::posterior) is about, where it is
    /// one; clusters are in no column.
    fn target(&self) -> Option<usize>;

    /// The names of what [`posterior`](Joint::posterior) gives probabilities.
    fn names(&self) -> Vec<String>;

    /// The rows that the model has no density for, as those with a missing value have none
    /// where a density cannot be integrated; to ask for it is an error.
    fn unanswerable(&self, _chunk: &Chunk) -> Vec<usize> {
        Vec::new()
    }

    /// The columns that were constant in the fitted rows, and their values. They have no
    /// part in densities.
    fn constants(&self) -> Vec<(usize, f64)> {
        Vec::new()
    }

    /// The columns that were constant in the fitted rows and have another value in the
    /// chunk, each with the number of such rows, which are not scored by it.
    fn changed_constants(&self, chunk: &Chunk) -> Vec<(usize, usize)> {
        changed(chunk, &self.constants())
    }

    /// What the model makes of an unseen category, for each column.
    fn unseen_categories(&self) -> Vec<UnseenCategory> {
        vec![UnseenCategory::Missing; self.schema().fields.len()]
    }

    /// The log-density of each row, with everything hidden integrated out and
    /// a seen label included.
    ///
    /// # Errors
    /// If the arithmetic fails, or a row is [`unanswerable`](Joint::unanswerable).
    fn log_density(&self, chunk: &Chunk) -> Result<Vec<f64>>;

    /// The probabilities of classes or clusters of each row, whose own label is
    /// not looked at.
    ///
    /// # Errors
    /// If the arithmetic fails, or a row is [`unanswerable`](Joint::unanswerable).
    fn posterior(&self, chunk: &Chunk) -> Result<Posterior>;

    /// What [`posterior`](Joint::posterior) says, made ready once for many
    /// chunks.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn classifier(&self) -> Result<Classifier<'_>> {
        Ok(Box::new(move |chunk| self.posterior(chunk)))
    }

    /// The most probable class or cluster of each row, made ready once for many chunks.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn decider(&self) -> Result<Decider<'_>> {
        Ok(decider_by(self.classifier()?))
    }

    /// What speaks for one class or cluster of a row against another.
    ///
    /// # Errors
    /// If the model is no sum of what columns say.
    fn explain(
        &self,
        _chunk: &Chunk,
        _row: usize,
        _class: usize,
        _against: usize,
    ) -> Result<Explanation> {
        Err(
            Error::parameter("this model cannot say what speaks for a class")
                .with_hint("naive-bayes, gda and mixture can"),
        )
    }

    /// The rows with every missing value filled, given what is seen of each.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn complete(&self, chunk: &Chunk, how: Fill, rng: &mut dyn Rng) -> Result<Chunk>;

    /// The distribution of one column given what is known of others; `given`
    /// has one entry per column of the schema, a level as its code.
    ///
    /// # Errors
    /// If what is given is impossible.
    fn condition(&self, given: &[Option<f64>], column: usize) -> Result<Conditional>;

    /// Draws rows, given what is known of every one of them.
    ///
    /// # Errors
    /// If what is given is impossible.
    fn sample(&self, given: &[Option<f64>], rows: usize, rng: &mut dyn Rng) -> Result<Chunk> {
        let known = repeated(self.schema(), given, 1);
        if self.log_density(&known)?[0] == f64::NEG_INFINITY {
            return Err(impossible());
        }
        check_room(self.schema(), rows)?;
        self.complete(&repeated(self.schema(), given, rows), Fill::Draw, rng)
    }
}

/// Gives the probabilities of classes or clusters of the rows of a chunk.
pub type Classifier<'a> = Box<dyn Fn(&Chunk) -> Result<Posterior> + Sync + 'a>;

/// Says the most probable class or cluster of the rows of a chunk.
pub type Decider<'a> = Box<dyn Fn(&Chunk) -> Result<Vec<u32>> + Sync + 'a>;

/// Decides by probabilities.
pub(crate) fn decider_by(classifier: Classifier<'_>) -> Decider<'_> {
    Box::new(move |chunk| {
        let posterior = classifier(chunk)?;
        let rows = 0..posterior.rows();
        Ok(rows.map(|row| posterior.best(row) as u32).collect())
    })
}

/// Checks that a table of so many rows can be allocated.
pub(crate) fn check_room(schema: &Schema, rows: usize) -> Result<()> {
    let cell = size_of::<Option<f64>>();
    let bytes = schema.fields.len().max(1).checked_mul(cell);
    let bytes = bytes.and_then(|bytes| bytes.checked_mul(rows));
    let fits = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if bytes.is_some_and(fits) {
        return Ok(());
    }
    let message = format!("{rows} rows do not fit into memory");
    Err(Error::parameter(message).with_hint("draw fewer rows at a time"))
}

/// The constant columns of a model that have another value in a chunk, each with the number
/// of such rows; `constants` are positions and values.
fn changed(chunk: &Chunk, constants: &[(usize, f64)]) -> Vec<(usize, usize)> {
    let changed = constants.iter().filter_map(|(column, constant)| {
        // The mean of equal numbers may be a few roundings away from them.
        let differs = |x: f64| (x - constant).abs() > 1e-12 * constant.abs();
        let cells = chunk.column(*column).cells(0, chunk.rows());
        let numbers = (0..chunk.rows()).filter_map(|row| cells.number(row));
        let rows = numbers.filter(|x| differs(*x)).count();
        (rows > 0).then_some((*column, rows))
    });
    changed.collect()
}

/// The distribution of a constant column: all but a point, as densities have units.
pub(crate) fn constantly(x: f64) -> Conditional {
    let scale = if x == 0.0 { 1.0 } else { x };
    let variance = 1e-12 * scale * scale;
    let gaussian = Distribution::Gaussian(Gaussian { mean: x, variance });
    Conditional::Numbers(vec![(1.0, gaussian)])
}

/// Rows of which the same is known.
pub(crate) fn repeated(schema: &Schema, given: &[Option<f64>], rows: usize) -> Chunk {
    let columns = schema.fields.iter().zip(given).map(|(field, cell)| {
        let cells = std::iter::repeat_n(*cell, rows);
        match field.kind {
            Kind::Text => Column::hidden(Kind::Text, rows),
            kind if kind.is_coded() => {
                Column::from_codes(cells.map(|cell| cell.map(|code| code as u32)))
            }
            _ => Column::from_numbers(cells),
        }
    });
    Chunk::new(rows, columns.collect(), None)
}

pub(crate) fn impossible() -> Error {
    Error::numeric("what is given has probability 0 under the model")
}

/// The least probability in a clipped log-loss, as in scikit-learn.
pub const LEAST_PROBABILITY: f64 = f64::EPSILON;

/// Probabilities of classes or clusters, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    components: usize,
    probabilities: Vec<f64>,
}

impl Posterior {
    /// One row of `components` probabilities after the other.
    pub fn new(components: usize, probabilities: Vec<f64>) -> Self {
        Posterior {
            components,
            probabilities,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.probabilities.len() / self.components.max(1)
    }

    /// The probabilities of one row; they sum to 1.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.probabilities[row * self.components..(row + 1) * self.components]
    }

    /// The most probable class or cluster of one row, the first of equals.
    pub fn best(&self, row: usize) -> usize {
        crate::family::most_probable(self.row(row))
    }
}

/// The distribution of one column.
#[derive(Clone, Debug)]
pub enum Conditional {
    /// The probability of each level.
    Levels(Vec<f64>),
    /// A mixture of distributions with their weights.
    Numbers(Vec<(f64, Distribution)>),
}
