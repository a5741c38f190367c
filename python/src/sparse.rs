//! Sparse matrices as a column of documents, whose terms are the columns of the matrix. The arrays of the
//! matrix are not copied if possible.

use crate::aligned::Aligned1;
use crate::errors::{exception, value_error};
use crate::labels::Labels;
use crate::memory::shared;
use crate::model::Model;
use crate::table::Table;
use crate::threads::pooled;
use abduce::data::{CHUNK_ROWS, Column, Field, Kind, SetByUser, Terms};
use abduce::text::{Analyzer, AnalyzerOptions, Encoder, Encoding, Limits, Unit, Vocabulary};
use arrow_buffer::{Buffer, ScalarBuffer};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::Range;

/// Indices with 32 or 64 bits.
#[derive(FromPyObject)]
pub enum Indices<'py> {
    Narrow(Aligned1<'py, i32>),
    Wide(Aligned1<'py, i64>),
}

impl Indices<'_> {
    fn get(&self) -> PyResult<Cells> {
        Ok(match self {
            Indices::Narrow(indices) => Cells::Narrow(shared(indices)?.into()),
            Indices::Wide(indices) => Cells::Wide(shared(indices)?.into()),
        })
    }
}

enum Cells {
    Narrow(ScalarBuffer<i32>),
    Wide(ScalarBuffer<i64>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Narrow(indices) => indices.len(),
            Cells::Wide(indices) => indices.len(),
        }
    }

    fn at(&self, i: usize) -> i64 {
        match self {
            Cells::Narrow(indices) => i64::from(indices[i]),
            Cells::Wide(indices) => indices[i],
        }
    }

    /// Some indices as codes; invalid ones become the largest code, which no column has.
    fn codes(&self, range: Range<usize>) -> ScalarBuffer<u32> {
        match self {
            // The bits of a negative number are a code above all columns.
            Cells::Narrow(indices) => {
                let bytes: Buffer = indices.clone().into_inner();
                ScalarBuffer::new(bytes, range.start, range.len())
            }
            Cells::Wide(indices) => {
                let code = |index: &i64| u32::try_from(*index).unwrap_or(u32::MAX);
                indices[range].iter().map(code).collect::<Vec<u32>>().into()
            }
        }
    }
}

/// The names of the columns of a matrix.
#[derive(FromPyObject)]
pub enum Columns<'py> {
    /// x0, x1, and so on.
    Count(usize),
    /// Those of the matrix that a model was fitted to.
    Model(Bound<'py, Model>),
    Names(Vec<String>),
}

/// The column of documents, before the names are created.
enum Documents {
    Known(Field),
    Count(usize),
    Names(Vec<String>),
}

impl Columns<'_> {
    fn documents(self, name: &str) -> PyResult<Documents> {
        let model = match self {
            Columns::Count(count) => return Ok(Documents::Count(count)),
            Columns::Names(names) => return Ok(Documents::Names(names)),
            Columns::Model(model) => model,
        };
        let mut fields = model.get().model.schema().fields.iter();
        let field = fields.find(|field| field.kind == Kind::Text && field.name == name);
        let none = || value_error(format!("the model has no column of terms called {name}"));
        field.cloned().map(Documents::Known).ok_or_else(none)
    }
}

impl Documents {
    /// The number of terms.
    fn width(&self) -> usize {
        match self {
            Documents::Known(field) => field
                .text
                .as_ref()
                .map_or(0, |terms| terms.encoding.width()),
            Documents::Count(count) => *count,
            Documents::Names(names) => names.len(),
        }
    }

    fn field(self, name: &str) -> PyResult<Field> {
        match self {
            Documents::Known(field) => Ok(field),
            Documents::Count(count) => field(name, (0..count).map(|i| format!("x{i}")).collect()),
            Documents::Names(names) => field(name, names),
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
        analyzer: Analyzer::new(options).map_err(exception)?,
        // The order of the columns is that of the codes.
        encoding: Encoding::Vocabulary(Vocabulary::try_from(columns).map_err(exception)?),
        limits: Limits::default(),
    };
    // A matrix has all its columns, even empty ones.
    Ok(Field::with_text(name, encoder).set_by_user(SetByUser::Levels))
}

/// A matrix in compressed rows.
struct Compressed {
    starts: Cells,
    indices: Cells,
    values: ScalarBuffer<f64>,
    width: usize,
}

/// Why a matrix cannot be read.
enum Invalid {
    /// The arrays do not match.
    Inconsistent,
    /// The indices of a row are not in ascending order.
    Unordered,
}

impl Compressed {
    fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn chunk(&self, first: usize) -> Result<Vec<Column>, Invalid> {
        let last = self.rows().min(first + CHUNK_ROWS);
        let length = self.values.len().min(self.indices.len()) as i64;
        let (from, to) = (self.starts.at(first), self.starts.at(last));
        if from < 0 || to < from || to > length {
            return Err(Invalid::Inconsistent);
        }
        let start = |row: usize| u32::try_from(self.starts.at(row) - from).ok();
        let starts: Option<Vec<u32>> = (first..=last).map(start).collect();
        let starts = starts
            .filter(|starts| starts.is_sorted())
            .ok_or(Invalid::Inconsistent)?;
        let range = from as usize..to as usize;
        let counts = self.values.slice(range.start, range.len());
        let terms = Terms::from_compressed(starts.into(), self.indices.codes(range), counts);
        let terms = terms.ok_or(Invalid::Unordered)?;
        let rows = terms.rows();
        let lasts = (0..rows.len()).filter_map(|row| rows.row(row).0.last());
        if lasts.max().is_some_and(|last| *last as usize >= self.width) {
            return Err(Invalid::Inconsistent);
        }
        Ok(vec![Column::Text {
            values: terms,
            nulls: None,
        }])
    }
}

/// A table with a column of documents called `name`, from a matrix in compressed rows; `None` if the
/// indices of a row are not in ascending order.
#[pyfunction]
#[pyo3(signature = (starts, indices, values, columns, name="x", labels=None, weights=None))]
#[allow(clippy::too_many_arguments)]
pub fn table_of_sparse(
    py: Python<'_>,
    starts: Indices<'_>,
    indices: Indices<'_>,
    values: Aligned1<'_, f64>,
    columns: Columns<'_>,
    name: &str,
    labels: Option<Labels<'_>>,
    weights: Option<Aligned1<'_, f64>>,
) -> PyResult<Option<Table>> {
    let documents = columns.documents(name)?;
    let matrix = Compressed {
        starts: starts.get()?,
        indices: indices.get()?,
        values: shared(&values)?.into(),
        width: documents.width(),
    };
    let rows = matrix.rows();
    let chunks = || {
        let firsts: Vec<usize> = (0..rows).step_by(CHUNK_ROWS).collect();
        let firsts = firsts.into_par_iter();
        firsts.map(|first| matrix.chunk(first)).collect()
    };
    // Creating the vocabulary takes as long as many chunks.
    let (field, chunks) = pooled(py, None, || rayon::join(|| documents.field(name), chunks))?;
    let chunks: Vec<_> = match chunks {
        Ok(chunks) => chunks,
        Err(Invalid::Unordered) => return Ok(None),
        Err(Invalid::Inconsistent) => {
            return Err(value_error("the sparse matrix is not in compressed rows"));
        }
    };
    let weights = crate::table::weights(weights, rows)?;
    Table::of(vec![field?], chunks, rows, labels, weights).map(Some)
}
