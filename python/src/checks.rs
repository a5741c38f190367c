//! Checks of rows passed to a fitted model: unseen categories, and rows that are impossible under
//! the model.

use crate::model::Model;
use crate::table::Table;
use abduce::ask::{Joint as _, Predict as _};
use abduce::data::{Chunk, Column, Kind, UnseenCategory};
use abduce::family::Distribution;
use abduce::model::mixture::FittedMixture;
use pyo3::prelude::*;

/// A column with unseen categories: its name, the number of cells, the first row, and how they are
/// treated: `missing`, `smoothed` or `impossible`.
type UnseenCells = (String, usize, usize, &'static str);

/// How unseen categories are treated without smoothing.
const IMPOSSIBLE: &str = "impossible";

/// The number of rows with a property, and the first of them.
#[derive(Clone, Copy, Default)]
pub struct Found {
    rows: usize,
    first: Option<usize>,
}

impl Found {
    pub fn of(rows: impl Iterator<Item = usize>) -> Found {
        rows.fold(Found::default(), |found, row| Found {
            rows: found.rows + 1,
            first: found.first.or(Some(row)),
        })
    }

    /// Adds those of a chunk whose first row is `start`.
    pub fn add(&mut self, other: Found, start: usize) {
        self.rows += other.rows;
        self.first = self.first.or(other.first.map(|row| start + row));
    }

    /// The number of rows and the first of them; `None` if there are none.
    pub fn rows_and_first(self) -> Option<(usize, usize)> {
        self.first.map(|first| (self.rows, first))
    }
}

/// The columns with unseen categories. Constant columns are left out: they have no effect on
/// densities.
#[pyfunction]
#[pyo3(signature = (model, table, threads=None))]
pub fn unseen_categories(
    py: Python<'_>,
    model: &Model,
    table: &Table,
    threads: Option<usize>,
) -> PyResult<Vec<UnseenCells>> {
    let Some(mixture) = model.model.body.get::<FittedMixture>() else {
        return Ok(Vec::new());
    };
    let columns = columns_of_levels(mixture);
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let fields = &mixture.schema.fields;
    let chunks = model.each(py, table, threads, |chunk| {
        let one = |(column, _): &(usize, &str)| {
            let cells = chunk.column(*column).cells(0, chunk.rows());
            let levels = fields[*column].levels.len();
            let codes = cells.codes().iter().enumerate();
            let unseen =
                codes.filter(|(row, code)| **code as usize >= levels && cells.is_seen(*row));
            Found::of(unseen.map(|(row, _)| row))
        };
        let found: Vec<Found> = columns.iter().map(one).collect();
        Ok(vec![(chunk.rows(), found)])
    })?;
    let mut all = vec![Found::default(); columns.len()];
    let mut start = 0;
    for (rows, found) in chunks {
        all.iter_mut()
            .zip(found)
            .for_each(|(all, found)| all.add(found, start));
        start += rows;
    }
    let named = columns.iter().zip(all);
    let named = named.filter_map(|((column, treated_as), found)| {
        let name = fields[*column].name.clone();
        Some((name, found.rows, found.first?, *treated_as))
    });
    Ok(named.collect())
}

/// The columns with levels that affect densities, and how unseen categories of each are treated.
fn columns_of_levels(mixture: &FittedMixture) -> Vec<(usize, &'static str)> {
    let unseen = mixture.unseen_categories();
    let leaves = mixture.leaves.iter();
    let leaves = leaves.filter(|leaf| !leaf.fixed && leaf.family.levels().is_some());
    let columns = leaves.map(|leaf| {
        let treated_as = match unseen[leaf.columns[0]] {
            UnseenCategory::Missing => "missing",
            UnseenCategory::Smoothed => "smoothed",
            UnseenCategory::Impossible => IMPOSSIBLE,
        };
        (leaf.columns[0], treated_as)
    });
    columns.collect()
}

/// The number of rows that are impossible under the model, and the first of them; labels are ignored.
/// With `filled`, only rows with missing values are checked, with their labels.
#[pyfunction]
#[pyo3(signature = (model, table, filled=false, threads=None))]
pub fn impossible_rows(
    py: Python<'_>,
    model: &Model,
    table: &Table,
    filled: bool,
    threads: Option<usize>,
) -> PyResult<Option<(usize, usize)>> {
    let Some(mixture) = model.model.body.get::<FittedMixture>() else {
        return Ok(None);
    };
    if !mixture.is_generative() {
        return Ok(None);
    }
    // Most models make no row impossible, which is known without looking at the rows.
    if !may_be_impossible(mixture, table) {
        let mut columns = columns_of_levels(mixture).into_iter();
        if !columns.any(|(_, treated_as)| treated_as == IMPOSSIBLE) {
            return Ok(None);
        }
        let mut unseen = unseen_categories(py, model, table, threads)?.into_iter();
        if !unseen.any(|(.., treated_as)| treated_as == IMPOSSIBLE) {
            return Ok(None);
        }
    }
    let chunks = model.each(py, table, threads, |chunk| {
        let (rows, densities) = if filled {
            let rows = rows_with_missing(mixture, chunk);
            let densities = mixture.log_density(&chunk.take(&rows))?;
            (rows, densities)
        } else {
            let densities = mixture.log_density(&without_labels(mixture, chunk))?;
            ((0..chunk.rows() as u32).collect(), densities)
        };
        let pairs = rows.iter().zip(densities);
        let impossible = pairs.filter(|(_, density)| *density == f64::NEG_INFINITY);
        let found = Found::of(impossible.map(|(row, _)| *row as usize));
        Ok(vec![(chunk.rows(), found)])
    })?;
    let mut all = Found::default();
    let mut start = 0;
    for (rows, found) in chunks {
        all.add(found, start);
        start += rows;
    }
    Ok(all.rows_and_first())
}

/// Whether a row with only known categories can have density 0. Under Gaussians and t distributions,
/// every row has positive density, so densities need not be computed.
fn may_be_impossible(mixture: &FittedMixture, table: &Table) -> bool {
    // Counts of a frame were checked when it was read; those of an array were not.
    let checked = table.source().table().is_some();
    let leaves = mixture.leaves.iter().zip(&mixture.parameters.leaves);
    let mut learned = leaves.filter(|(leaf, _)| !leaf.fixed);
    learned.any(|(_, distributions)| {
        distributions.iter().any(|distribution| match distribution {
            Distribution::Gaussian(_)
            | Distribution::Multivariate(_)
            | Distribution::StudentT(_)
            | Distribution::MultivariateStudentT(_) => false,
            Distribution::Categorical(levels) => levels.probabilities.contains(&0.0),
            Distribution::Poisson(counts) => !(checked && counts.rate > 0.0),
            Distribution::Words(words) => words.probabilities.contains(&0.0),
            Distribution::Bernoulli(binary) => {
                !(binary.probability > 0.0 && binary.probability < 1.0)
            }
            Distribution::Presence(words) => {
                let mut each = words.probabilities.iter();
                each.any(|p| !(*p > 0.0 && *p < 1.0))
            }
            _ => true,
        })
    })
}

/// The rows of a chunk that have a missing value in a column that is filled.
fn rows_with_missing(mixture: &FittedMixture, chunk: &Chunk) -> Vec<u32> {
    let fields = mixture.schema.fields.iter().enumerate();
    let filled = fields.filter(|(_, field)| field.kind != Kind::Text);
    let filled: Vec<_> = filled
        .filter_map(|(column, _)| chunk.column(column).nulls())
        .collect();
    let has_missing = |row: &u32| filled.iter().any(|nulls| nulls.is_null(*row as usize));
    (0..chunk.rows() as u32).filter(has_missing).collect()
}

/// The chunk with missing labels.
fn without_labels(mixture: &FittedMixture, chunk: &Chunk) -> Chunk {
    let mut columns = chunk.columns().to_vec();
    if let Some(target) = mixture.target {
        let kind = mixture.schema.fields[target].kind;
        columns[target] = Column::hidden(kind, chunk.rows());
    }
    Chunk::new(chunk.rows(), columns, None)
}
