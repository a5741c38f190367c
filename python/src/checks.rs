//! What a model cannot account for in the rows that it is asked about: categories that the fitted
//! rows do not have, and rows that are impossible under the model.

use crate::model::Model;
use crate::table::Table;
use abduce::ask::{Joint as _, Predict as _};
use abduce::data::{Chunk, Column, Kind, UnseenCategory};
use abduce::family::Distribution;
use abduce::model::mixture::FittedMixture;
use pyo3::prelude::*;

/// A column with unseen categories: its name, the number of cells, the first row, and what they are
/// taken for: `missing`, `smoothed` or `impossible`.
type UnseenCells = (String, usize, usize, &'static str);

/// What unseen categories are taken for without smoothing.
const IMPOSSIBLE: &str = "impossible";

/// How many rows something is true of, and the first of them.
#[derive(Clone, Copy, Default)]
struct Found {
    rows: usize,
    first: Option<usize>,
}

impl Found {
    fn of(rows: impl Iterator<Item = usize>) -> Found {
        rows.fold(Found::default(), |found, row| Found {
            rows: found.rows + 1,
            first: found.first.or(Some(row)),
        })
    }

    /// Adds what was found in rows that begin at `start`.
    fn add(&mut self, other: Found, start: usize) {
        self.rows += other.rows;
        self.first = self.first.or(other.first.map(|row| start + row));
    }
}

/// The columns with categories that the fitted rows do not have. Constant columns are left out:
/// they have no part in densities.
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
            .for_each(|(all, own)| all.add(own, start));
        start += rows;
    }
    let named = columns.iter().zip(all);
    let named = named.filter_map(|((column, taken_for), found)| {
        let name = fields[*column].name.clone();
        Some((name, found.rows, found.first?, *taken_for))
    });
    Ok(named.collect())
}

/// The columns of levels that have a part in densities, and what unseen categories of each are taken
/// for.
fn columns_of_levels(mixture: &FittedMixture) -> Vec<(usize, &'static str)> {
    let unseen = mixture.unseen_categories();
    let leaves = mixture.leaves.iter();
    let leaves = leaves.filter(|leaf| !leaf.fixed && leaf.family.levels().is_some());
    let columns = leaves.map(|leaf| {
        let taken_for = match unseen[leaf.columns[0]] {
            UnseenCategory::Missing => "missing",
            UnseenCategory::Smoothed => "smoothed",
            UnseenCategory::Impossible => IMPOSSIBLE,
        };
        (leaf.columns[0], taken_for)
    });
    columns.collect()
}

/// How many rows are impossible under the model, and the first of them; labels do not count.
/// With `filled`, only rows with missing values count, and their labels do too. Nothing where there are none.
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
    // Most models rule nothing out, which takes no look at the rows to know.
    if !may_rule_out(mixture, table) {
        let mut columns = columns_of_levels(mixture).into_iter();
        if !columns.any(|(_, taken_for)| taken_for == IMPOSSIBLE) {
            return Ok(None);
        }
        let mut unseen = unseen_categories(py, model, table, threads)?.into_iter();
        if !unseen.any(|(.., taken_for)| taken_for == IMPOSSIBLE) {
            return Ok(None);
        }
    }
    let chunks = model.each(py, table, threads, |chunk| {
        let rows: Vec<u32> = match filled {
            true => rows_with_missing(mixture, chunk),
            false => (0..chunk.rows() as u32).collect(),
        };
        let densities = match filled {
            true => mixture.log_density(&chunk.take(&rows))?,
            false => mixture.log_density(&without_labels(mixture, chunk))?,
        };
        let pairs = rows.iter().zip(densities);
        let ruled_out = pairs.filter(|(_, density)| *density == f64::NEG_INFINITY);
        let found = Found::of(ruled_out.map(|(row, _)| *row as usize));
        Ok(vec![(chunk.rows(), found)])
    })?;
    let mut all = Found::default();
    let mut start = 0;
    for (rows, found) in chunks {
        all.add(found, start);
        start += rows;
    }
    Ok(all.first.map(|first| (all.rows, first)))
}

/// Whether a row with only known categories can have density 0. Gaussians and t distributions rule
/// nothing out, so that densities need not be computed to know it.
fn may_rule_out(mixture: &FittedMixture, table: &Table) -> bool {
    // Counts of a frame have been checked when it was read, those of an array have not.
    let checked = table.source().table().is_some();
    let leaves = mixture.leaves.iter().zip(&mixture.parameters.leaves);
    let mut learned = leaves.filter(|(leaf, _)| !leaf.fixed);
    learned.any(|(_, own)| {
        own.iter().any(|own| match own {
            Distribution::Gaussian(_)
            | Distribution::Multivariate(_)
            | Distribution::StudentT(_)
            | Distribution::MultivariateStudentT(_) => false,
            Distribution::Categorical(own) => own.probabilities.contains(&0.0),
            Distribution::Poisson(own) => !(checked && own.rate > 0.0),
            Distribution::Words(own) => own.probabilities.contains(&0.0),
            Distribution::Bernoulli(own) => !(own.probability > 0.0 && own.probability < 1.0),
            Distribution::Presence(own) => {
                let mut each = own.probabilities.iter();
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
    let has_missing = |row: &u32| filled.iter().any(|own| own.is_null(*row as usize));
    (0..chunk.rows() as u32).filter(has_missing).collect()
}

/// The chunk with its labels hidden.
fn without_labels(mixture: &FittedMixture, chunk: &Chunk) -> Chunk {
    let mut columns = chunk.columns().to_vec();
    if let Some(target) = mixture.target {
        let kind = mixture.schema.fields[target].kind;
        columns[target] = Column::hidden(kind, chunk.rows());
    }
    Chunk::new(chunk.rows(), columns, None)
}
