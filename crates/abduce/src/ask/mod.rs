//! The questions that a fitted model answers, as traits that it may or may not implement: [`Predict`]
//! classes or clusters, [`Explain`] a prediction, and everything that follows from a
//! [`Joint`] distribution of all columns. Commands are written once, against these traits.

mod column;
mod explain;
mod product;
pub mod query;
mod rows;
mod tail;

pub use column::posterior_of;
pub use explain::{Contribution, Explanation, find_class, first_two};
pub(crate) use product::product_mixture_by_enumeration;
pub use product::{Marginal, ProductMixture};
pub use query::{QueryOptions, query};
pub use rows::{Answer, answers, in_order};
pub use tail::TailProbabilities;

use crate::data::{Chunk, Column, Kind, Schema, UnseenCategory};
use crate::family::{Distribution, Fill, Gaussian};
use crate::{Error, Result};
use rand::Rng;

/// A model that predicts the class or the cluster of a row.
pub trait Predict: Send + Sync {
    /// The columns.
    fn schema(&self) -> &Schema;

    /// The column that [`posterior`](Predict::posterior) is about; `None` for clusters, which
    /// are in no column.
    fn target(&self) -> Option<usize>;

    /// Whether rows belong to classes or clusters; a density of all rows has neither.
    fn has_groups(&self) -> bool {
        true
    }

    /// The names of the classes or clusters.
    fn names(&self) -> Vec<String>;

    /// The rows that the model cannot answer, in ascending order; asking about them is an
    /// error. A density that cannot be integrated has none for rows with missing values.
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

    /// How an unseen category is treated, for each column.
    fn unseen_categories(&self) -> Vec<UnseenCategory> {
        vec![UnseenCategory::Missing; self.schema().fields.len()]
    }

    /// The means and covariances of the classes or clusters in some columns, as far as they
    /// are Gaussian; none for models without such groups.
    fn moments(&self, _columns: &[usize]) -> Vec<Moments> {
        Vec::new()
    }

    /// The probabilities of the classes or clusters of each row. The label of a row is not
    /// used.
    ///
    /// # Errors
    /// If the arithmetic fails, or a row is [`unanswerable`](Predict::unanswerable).
    fn posterior(&self, chunk: &Chunk) -> Result<Posterior>;

    /// Prepares [`posterior`](Predict::posterior) once for many chunks.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn classifier(&self) -> Result<Classifier<'_>> {
        Ok(Box::new(move |chunk| self.posterior(chunk)))
    }

    /// Prepares the most probable class or cluster of each row once for many chunks.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn decider(&self) -> Result<Decider<'_>> {
        Ok(decider_by(self.classifier()?))
    }
}

/// The mean and the covariance of a class or cluster in some columns, as far as it is
/// Gaussian.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// The mean of each column; `None` where the group is not Gaussian.
    pub mean: Vec<Option<f64>>,
    /// The covariances, column after column; empty for groups that are centres only.
    pub covariance: Vec<f64>,
}

/// A model whose log-odds are a sum over the columns.
pub trait Explain: Predict {
    /// What each column adds to the log-odds of one class or cluster of a row against another.
    fn explain(&self, chunk: &Chunk, row: usize, class: usize, against: usize) -> Explanation;
}

/// A model of the joint distribution of all columns.
pub trait Joint: Predict {
    /// Checks that rows have log-densities. A few models have only some answers of a joint
    /// distribution: they fill missing values but have scores or distances, not densities.
    ///
    /// # Errors
    /// Why rows have none.
    fn check_density(&self) -> Result<()> {
        Ok(())
    }

    /// The rows that have probability or density zero under the model, in ascending order;
    /// none if rows have no densities.
    ///
    /// # Errors
    /// If the arithmetic fails, or a row is [`unanswerable`](Predict::unanswerable).
    fn impossible_rows(&self, chunk: &Chunk) -> Result<Vec<usize>> {
        if self.check_density().is_err() {
            return Ok(Vec::new());
        }
        let densities = self.log_density(chunk)?.into_iter().enumerate();
        let impossible = densities.filter(|(_, density)| *density == f64::NEG_INFINITY);
        Ok(impossible.map(|(row, _)| row).collect())
    }

    /// The log-density of each row, with missing values integrated out and a known label
    /// included.
    ///
    /// # Errors
    /// If the arithmetic fails, or a row is [`unanswerable`](Predict::unanswerable).
    fn log_density(&self, chunk: &Chunk) -> Result<Vec<f64>>;

    /// The rows with every missing value filled, given the known values of each.
    ///
    /// # Errors
    /// If the arithmetic fails.
    fn complete(&self, chunk: &Chunk, how: Fill, rng: &mut dyn Rng) -> Result<Chunk>;

    /// The distribution of one column given values of others; `given` has one entry per column
    /// of the schema, a level as its code.
    ///
    /// # Errors
    /// If the given values are impossible.
    fn condition(&self, given: &[Option<f64>], column: usize) -> Result<Conditional>;

    /// The distribution of some columns given values of others, as a mixture in whose parts these
    /// columns are independent; `None` if the model has no such form. Values given for the
    /// columns themselves are not used.
    ///
    /// # Errors
    /// If the given values are impossible.
    fn product_mixture(
        &self,
        given: &[Option<f64>],
        columns: &[usize],
    ) -> Result<Option<ProductMixture>> {
        product_mixture_by_enumeration(self, given, columns)
    }

    /// Draws rows, given the values of some columns.
    ///
    /// # Errors
    /// If the given values are impossible.
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

/// Gives the most probable class or cluster of the rows of a chunk.
pub type Decider<'a> = Box<dyn Fn(&Chunk) -> Result<Vec<u32>> + Sync + 'a>;

/// The class or cluster of highest probability.
pub(crate) fn decider_by(classifier: Classifier<'_>) -> Decider<'_> {
    Box::new(move |chunk| {
        let posterior = classifier(chunk)?;
        let rows = 0..posterior.rows();
        Ok(rows.map(|row| posterior.best(row) as u32).collect())
    })
}

/// Checks that a table with this number of rows can be allocated.
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

/// The distribution of a constant column: a very narrow Gaussian, because a point has no density.
pub(crate) fn constantly(x: f64) -> Conditional {
    let scale = if x == 0.0 { 1.0 } else { x };
    let variance = 1e-12 * scale * scale;
    let gaussian = Distribution::Gaussian(Gaussian { mean: x, variance });
    Conditional::Numbers(vec![(1.0, gaussian)])
}

/// Rows that all have the given values.
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
    Error::numeric("the evidence has probability 0 under the model, or one too small to compute")
}

/// The least probability in a clipped log-loss, as in scikit-learn.
pub const MIN_PROBABILITY: f64 = f64::EPSILON;

/// Probabilities of classes or clusters, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    components: usize,
    probabilities: Vec<f64>,
    impossible: Vec<usize>,
}

impl Posterior {
    /// One row of `components` probabilities after the other.
    pub fn new(components: usize, probabilities: Vec<f64>) -> Self {
        Posterior {
            components,
            probabilities,
            impossible: Vec::new(),
        }
    }

    /// Marks the rows that are impossible in every class or cluster, in ascending order.
    pub fn with_impossible(self, rows: Vec<usize>) -> Self {
        Posterior {
            impossible: rows,
            ..self
        }
    }

    /// The rows that are impossible in every class or cluster, in ascending order. Their
    /// probabilities are the weights of the classes or clusters.
    pub fn impossible(&self) -> &[usize] {
        &self.impossible
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
