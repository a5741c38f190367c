//! Tables of the engine, made of what Python holds.

use crate::dense::{Columns, Infinite, Numbers};
use crate::trouble::{raised, wrong};
use abduce::data::{CHUNK_ROWS, Chunk, Column, Field, Kind, Rows, Schema, Source as _};
use abduce::family::{Family as _, Gaussian, GaussianStats, Stats as _};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Rows in memory, encoded.
#[pyclass(frozen, module = "abduce._core")]
pub struct Table {
    pub table: abduce::data::Table,
}

/// The cells of a column of labels; a negative code is a hole.
fn codes(codes: &[i64], levels: usize) -> PyResult<Vec<Option<u32>>> {
    let code = |code: &i64| match *code {
        hidden if hidden < 0 => Ok(None),
        code if code < levels as i64 => Ok(Some(code as u32)),
        code => Err(wrong(format!("code {code} has no level"))),
    };
    codes.iter().map(code).collect()
}

/// Numbers that stand for levels, as codes; what is beyond the last level becomes the
/// code behind it, which no level has.
fn coded(column: &Column, levels: usize) -> Column {
    let cells = column.cells(0, column.len());
    let code = |x: f64| (x.max(0.0) as u64).min(levels as u64) as u32;
    Column::from_codes((0..column.len()).map(|row| cells.number(row).map(code)))
}

/// What a column of labels is called and what its levels are.
#[derive(FromPyObject)]
pub struct Labels<'py>(String, Vec<String>, PyReadonlyArray1<'py, i64>);

/// Splits a column of all rows into chunks.
fn pieces<T: Clone>(whole: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
    whole.chunks(CHUNK_ROWS).map(<[T]>::to_vec)
}

/// Weights, which must be numbers from 0 up.
pub fn weights(
    given: Option<PyReadonlyArray1<'_, f64>>,
    rows: usize,
) -> PyResult<Option<Vec<f64>>> {
    let Some(given) = given else { return Ok(None) };
    let weights: Vec<f64> = given.as_array().to_vec();
    if weights.len() != rows {
        return Err(wrong(format!(
            "there are {} weights for {rows} rows",
            weights.len()
        )));
    }
    if weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
        return Err(wrong("a weight is negative or not a number"));
    }
    Ok(Some(weights))
}

impl Table {
    /// A table of chunks of features, with labels and weights beside them.
    pub fn of(
        mut fields: Vec<Field>,
        chunks: Vec<Columns>,
        rows: usize,
        labels: Option<Labels<'_>>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Table> {
        let mut label_chunks = None;
        if let Some(Labels(name, levels, given)) = labels {
            let given = given.as_array();
            if given.len() != rows {
                return Err(wrong(format!(
                    "there are {} labels for {rows} rows",
                    given.len()
                )));
            }
            let cells = codes(&given.to_vec(), levels.len())?;
            fields.push(Field::with_levels(name, Kind::Categorical, levels));
            label_chunks = Some(pieces(&cells).map(Column::from_codes).collect::<Vec<_>>());
        }
        let mut label_chunks = label_chunks.map(Vec::into_iter);
        let mut weight_chunks = weights.as_deref().map(pieces);
        let chunks = chunks.into_iter().map(|mut columns| {
            let len = columns.first().map_or(0, Column::len);
            columns.extend(label_chunks.as_mut().and_then(Iterator::next));
            let own = weight_chunks.as_mut().and_then(Iterator::next);
            Chunk::new(len, columns, own)
        });
        let chunks = chunks.collect();
        Ok(Table {
            table: abduce::data::Table::from_chunks(Schema::new(fields), chunks),
        })
    }
}

#[pymethods]
impl Table {
    /// The number of rows.
    fn __len__(&self) -> usize {
        self.table.rows() as usize
    }

    /// The columns, as JSON.
    fn schema(&self) -> PyResult<String> {
        serde_json::to_string(self.table.schema()).map_err(|why| wrong(why.to_string()))
    }
}

/// A table of an array: a name and a kind for each column, the number of levels of
/// those that are coded; labels with their column's name, levels and codes; weights.
#[pyfunction]
#[pyo3(signature = (array, names, kinds=None, levels=None, labels=None, weights=None))]
#[allow(clippy::too_many_arguments)]
pub fn table_of_array(
    py: Python<'_>,
    array: Numbers<'_>,
    names: Vec<String>,
    kinds: Option<Vec<String>>,
    levels: Option<Vec<Vec<String>>>,
    labels: Option<Labels<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Table> {
    let (rows, width) = array.shape();
    let fits = |len: Option<usize>| len.is_none_or(|len| len == width);
    if !fits(Some(names.len()))
        || !fits(kinds.as_ref().map(Vec::len))
        || !fits(levels.as_ref().map(Vec::len))
    {
        return Err(wrong(format!("{} names for {width} columns", names.len())));
    }
    let dtype = match array {
        Numbers::Double(_) => "float64",
        Numbers::Single(_) => "float32",
    };
    let mut chunks = array.chunks(py).map_err(|Infinite| {
        wrong(format!(
            "Input X contains infinity or a value too large for dtype('{dtype}')."
        ))
    })?;
    let mut fields = Vec::with_capacity(width + 1);
    for (column, name) in names.into_iter().enumerate() {
        let kind = match &kinds {
            Some(kinds) => kinds[column].parse().map_err(raised)?,
            None => Kind::Real,
        };
        if Kind::is_coded(kind) {
            let own = levels
                .as_ref()
                .map_or(Vec::new(), |levels| levels[column].clone());
            for chunk in &mut chunks {
                chunk[column] = coded(&chunk[column], own.len());
            }
            fields.push(Field::with_levels(name, kind, own));
        } else {
            fields.push(Field::new(name, kind));
        }
    }
    let weights = self::weights(weights, rows)?;
    Table::of(fields, chunks, rows, labels, weights)
}

/// The variance of each column of numbers, whatever rows weigh.
#[pyfunction]
pub fn variances<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let pool = crate::pools::pool(None)?;
    let fields = &table.table.schema().fields;
    let one = |column: usize| {
        let parts = table.table.chunks().par_iter().map(|chunk| {
            let cells = [chunk.column(column).cells(0, chunk.rows())];
            let mut own = Gaussian::zero(&());
            Gaussian::observe(&Rows::new(&cells), &vec![1.0; chunk.rows()], &mut own);
            own
        });
        let parts: Vec<GaussianStats> = parts.collect();
        let mut all = Gaussian::zero(&());
        parts.iter().for_each(|own| all.merge(own));
        if all.weight > 0.0 {
            all.scatter / all.weight
        } else {
            0.0
        }
    };
    let numbers =
        (0..fields.len()).filter(|c| !fields[*c].kind.is_coded() && fields[*c].kind != Kind::Text);
    let found: Vec<f64> = py.detach(|| pool.install(|| numbers.map(one).collect()));
    Ok(PyArray1::from_vec(py, found))
}
