//! Sparse matrices as documents: row by row, what a column of text is to the engine.

use crate::table::{Labels, Table};
use crate::trouble::{raised, wrong};
use abduce::data::{CHUNK_ROWS, Column, Field, Terms};
use abduce::text::{Analyzer, AnalyzerOptions, Encoder, Encoding, Limits, Unit};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;

/// Indices in either width.
#[derive(FromPyObject)]
pub enum Indices<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
}

impl Indices<'_> {
    fn get(&self) -> PyResult<Cells<'_>> {
        let strided = |_| wrong("the indices of the sparse matrix are not contiguous");
        Ok(match self {
            Indices::Narrow(own) => Cells::Narrow(own.as_slice().map_err(strided)?),
            Indices::Wide(own) => Cells::Wide(own.as_slice().map_err(strided)?),
        })
    }
}

#[derive(Clone, Copy)]
enum Cells<'a> {
    Narrow(&'a [i32]),
    Wide(&'a [i64]),
}

impl Cells<'_> {
    fn len(self) -> usize {
        match self {
            Cells::Narrow(own) => own.len(),
            Cells::Wide(own) => own.len(),
        }
    }

    fn at(self, i: usize) -> i64 {
        match self {
            Cells::Narrow(own) => i64::from(own[i]),
            Cells::Wide(own) => own[i],
        }
    }
}

/// The field of a matrix with these columns.
fn field(name: &str, columns: Vec<String>) -> PyResult<Field> {
    let options = AnalyzerOptions {
        unit: Unit::Pairs,
        ..AnalyzerOptions::default()
    };
    let encoder = Encoder {
        analyzer: Analyzer::new(options).map_err(raised)?,
        encoding: Encoding::Vocabulary(columns.into_iter().collect()),
        limits: Limits::default(),
    };
    Ok(Field::with_text(name, encoder))
}

/// A table of a matrix in compressed rows whose indices are in order: one column of
/// documents called `name`, with the matrix' columns as terms.
#[pyfunction]
#[pyo3(signature = (starts, indices, values, columns, name="x", labels=None, weights=None))]
#[allow(clippy::too_many_arguments)]
pub fn table_of_sparse(
    py: Python<'_>,
    starts: Indices<'_>,
    indices: Indices<'_>,
    values: PyReadonlyArray1<'_, f64>,
    columns: Vec<String>,
    name: &str,
    labels: Option<Labels<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Table> {
    let width = columns.len();
    let field = field(name, columns)?;
    let strided = |_| wrong("the values of the sparse matrix are not contiguous");
    let (starts, indices) = (starts.get()?, indices.get()?);
    let values = values.as_slice().map_err(strided)?;
    let rows = starts.len().saturating_sub(1);
    let bad = || wrong("the sparse matrix is not in compressed rows");
    let chunks = py.detach(|| {
        let firsts: Vec<usize> = (0..rows).step_by(CHUNK_ROWS).collect();
        let chunk = |first: usize| {
            let mut documents = Vec::with_capacity(CHUNK_ROWS);
            for row in first..rows.min(first + CHUNK_ROWS) {
                let (from, to) = (starts.at(row), starts.at(row + 1));
                if from < 0
                    || to < from
                    || to as usize > values.len()
                    || to as usize > indices.len()
                {
                    return Err(bad());
                }
                let mut terms = Vec::with_capacity((to - from) as usize);
                let range = from as usize..to as usize;
                for (i, value) in range.clone().zip(&values[range]) {
                    let term = indices.at(i);
                    let ordered = terms.last().is_none_or(|(last, _)| i64::from(*last) < term);
                    if term < 0 || term as usize >= width || !ordered {
                        return Err(bad());
                    }
                    if *value != 0.0 {
                        terms.push((term as u32, *value));
                    }
                }
                documents.push(terms);
            }
            Ok(vec![Column::Text {
                values: Terms::from_rows(documents),
                nulls: None,
            }])
        };
        firsts
            .into_par_iter()
            .map(chunk)
            .collect::<PyResult<Vec<_>>>()
    })?;
    let weights = crate::table::weights(weights, rows)?;
    Table::of(vec![field], chunks, rows, labels, weights)
}
