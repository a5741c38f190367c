//! Tables of the library from arrays, frames and sparse matrices.

use crate::aligned::Aligned1;
use crate::dense::{Array, Columns, InvalidNumber, LARGE, Numbers};
use crate::errors::{exception, value_error};
use crate::labels::{LabelChunks, Labels};
use crate::threads::pooled;
use abduce::Error;
use abduce::data::{CHUNK_ROWS, Chunk, Column, Field, Kind, Maker, Rows, Schema, Source, reduce};
use abduce::family::{Family as _, Gaussian, GaussianStats, Stats as _};
use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Rows in memory.
#[pyclass(frozen, module = "abduce._core")]
pub struct Table(Held);

enum Held {
    /// Encoded chunks.
    Encoded(abduce::data::Table),
    /// An array, whose chunks are encoded whenever they are needed, or once.
    Array(Box<LabelledArray>, OnceLock<abduce::data::Table>),
}

/// An array with labels and weights.
struct LabelledArray {
    schema: Schema,
    array: Array,
    /// The number of levels of columns of codes.
    levels: Vec<Option<usize>>,
    /// The same if all columns are codes.
    all_levels: Option<Vec<u32>>,
    labels: Option<LabelChunks>,
    /// The position of the labels among the columns.
    labels_at: usize,
    weights: Option<Vec<f64>>,
}

impl LabelledArray {
    fn chunk(&self, number: usize) -> abduce::Result<Chunk> {
        let levels = self.all_levels.as_ref();
        let mut columns = match levels.and_then(|levels| self.array.codes(number, levels)) {
            Some(columns) => columns,
            None => self.numbers(number)?,
        };
        let first = number * CHUNK_ROWS;
        let rows = CHUNK_ROWS.min(self.array.rows - first);
        if let Some(labels) = &self.labels {
            columns.insert(self.labels_at, labels.chunk(number, rows)?);
        }
        let weights = self.weights.as_ref();
        let weights = weights.map(|weights| weights[first..first + rows].to_vec());
        Ok(Chunk::new(rows, columns, weights))
    }

    /// The columns of a chunk, converted from doubles.
    fn numbers(&self, number: usize) -> abduce::Result<Columns> {
        let mut columns = self.array.chunk(number).map_err(|why| match why {
            InvalidNumber::Infinite => Error::data(format!(
                "Input X contains infinity or a value too large for dtype('{}').",
                self.array.dtype
            )),
            InvalidNumber::Large => {
                Error::data(format!("Input X contains a value beyond {LARGE:e}"))
                    .with_hint("rescale the column")
            }
        })?;
        for (column, levels) in columns.iter_mut().zip(&self.levels) {
            if let Some(levels) = levels {
                *column = coded(column, *levels);
            }
        }
        Ok(columns)
    }
}

impl Source for LabelledArray {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.array.rows as u64
    }

    fn scan(&self) -> abduce::Result<Chunks<'_>> {
        let numbers = 0..self.array.chunks();
        Ok(Box::new(numbers.map(|number| self.chunk(number))))
    }

    fn maker(&self) -> Option<Maker<'_>> {
        Some(Box::new(|number| self.chunk(number)))
    }
}

type Chunks<'a> = Box<dyn Iterator<Item = abduce::Result<Chunk>> + Send + 'a>;

/// Numbers as codes of levels; a number above the last level becomes the next code, which is that of an
/// unseen category.
fn coded(column: &Column, levels: usize) -> Column {
    let cells = column.cells(0, column.len());
    let code = |x: f64| x.clamp(0.0, levels as f64) as u32;
    let values = cells.reals().iter().map(|x| code(*x));
    Column::Code {
        values: values.collect::<Vec<u32>>().into(),
        nulls: column.nulls().cloned(),
    }
}

/// Splits a column of all rows into chunks.
fn pieces<T: Clone>(whole: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
    whole.chunks(CHUNK_ROWS).map(<[T]>::to_vec)
}

/// The largest weight of a row.
const LARGEST_WEIGHT: f64 = 1e100;

/// Weights, which must be nonnegative numbers.
pub fn weights(given: Option<Aligned1<'_, f64>>, rows: usize) -> PyResult<Option<Vec<f64>>> {
    let Some(given) = given else { return Ok(None) };
    let weights: Vec<f64> = given.as_array().to_vec();
    if weights.len() != rows {
        return Err(value_error(format!(
            "there are {} weights for {rows} rows",
            weights.len()
        )));
    }
    if weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
        return Err(value_error("a weight is negative or not a number"));
    }
    // Their products would be infinite.
    if weights.iter().any(|w| *w > LARGEST_WEIGHT) {
        return Err(value_error(format!(
            "a weight is beyond {LARGEST_WEIGHT:e}; divide all weights by the same number"
        )));
    }
    Ok(Some(weights))
}

impl Table {
    /// A table from chunks of columns, labels and weights.
    pub fn of(
        mut fields: Vec<Field>,
        chunks: Vec<Columns>,
        rows: usize,
        labels: Option<Labels<'_>>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Table> {
        let label_chunks = labels.as_ref().map(|labels| LabelChunks::of(labels, rows));
        let label_chunks = label_chunks.transpose()?;
        fields.extend(labels.map(Labels::field));
        let mut weight_chunks = weights.as_deref().map(pieces);
        let chunks = chunks.into_iter().enumerate().map(|(number, mut columns)| {
            let len = columns.first().map_or(0, Column::len);
            if let Some(labels) = &label_chunks {
                columns.push(labels.chunk(number, len)?);
            }
            let weights = weight_chunks.as_mut().and_then(Iterator::next);
            Ok(Chunk::new(len, columns, weights))
        });
        let chunks = chunks.collect::<abduce::Result<_>>().map_err(exception)?;
        let encoded = abduce::data::Table::from_chunks(Schema::new(fields), chunks);
        Ok(Table(Held::Encoded(encoded)))
    }

    /// A borrow of the array of the table, to be held while it is read without the interpreter's lock;
    /// `None` if the table has a copy.
    ///
    /// # Errors
    /// If other Rust code is writing to the array.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Option<Numbers<'py>>> {
        match &self.0 {
            Held::Encoded(_) => Ok(None),
            Held::Array(array, _) => array.array.borrow(py).map(Some),
        }
    }

    /// The rows, for reading them once or twice.
    pub fn source(&self) -> &dyn Source {
        match &self.0 {
            Held::Encoded(table) => table,
            Held::Array(array, encoded) => match encoded.get() {
                Some(table) => table,
                None => array.as_ref(),
            },
        }
    }

    /// The rows, for reading them many times: all are encoded.
    ///
    /// # Errors
    /// If a number is infinite or too large.
    pub fn encoded(&self) -> abduce::Result<&abduce::data::Table> {
        let (array, encoded) = match &self.0 {
            Held::Encoded(table) => return Ok(table),
            Held::Array(array, encoded) => (array, encoded),
        };
        if let Some(table) = encoded.get() {
            return Ok(table);
        }
        let numbers = (0..array.array.chunks()).into_par_iter();
        let chunks = numbers.map(|number| array.chunk(number));
        let chunks: Vec<Chunk> = chunks.collect::<abduce::Result<_>>()?;
        let table = abduce::data::Table::from_chunks(array.schema.clone(), chunks);
        Ok(encoded.get_or_init(|| table))
    }

    /// The number of chunks.
    pub fn chunks(&self) -> usize {
        (self.source().rows() as usize).div_ceil(CHUNK_ROWS)
    }

    /// The chunk with this number.
    ///
    /// # Errors
    /// If a number in it is infinite or too large.
    pub fn chunk(&self, number: usize) -> abduce::Result<Cow<'_, Chunk>> {
        match (&self.0, self.source().table()) {
            (_, Some(table)) | (Held::Encoded(table), None) => {
                Ok(Cow::Borrowed(&table.chunks()[number]))
            }
            (Held::Array(array, _), None) => array.chunk(number).map(Cow::Owned),
        }
    }
}

#[pymethods]
impl Table {
    /// The number of rows.
    fn __len__(&self) -> usize {
        self.source().rows() as usize
    }

    /// The columns, as JSON.
    fn schema(&self) -> PyResult<String> {
        serde_json::to_string(self.source().schema()).map_err(|why| value_error(why.to_string()))
    }
}

/// A table from an array with the names, kinds and levels of its columns. Labels are the last column, or
/// at position `labels_at`.
#[pyfunction]
#[pyo3(signature = (array, names, kinds=None, levels=None, labels=None, weights=None, labels_at=None))]
#[allow(clippy::too_many_arguments)]
pub fn table_of_array(
    array: Numbers<'_>,
    names: Vec<String>,
    kinds: Option<Vec<String>>,
    levels: Option<Vec<Vec<String>>>,
    labels: Option<Labels<'_>>,
    weights: Option<Aligned1<'_, f64>>,
    labels_at: Option<usize>,
) -> PyResult<Table> {
    let array = array.array();
    let (rows, width) = (array.rows, array.width);
    let fits = |len: Option<usize>| len.is_none_or(|len| len == width);
    if !fits(Some(names.len()))
        || !fits(kinds.as_ref().map(Vec::len))
        || !fits(levels.as_ref().map(Vec::len))
    {
        return Err(value_error(format!(
            "{} names for {width} columns",
            names.len()
        )));
    }
    let mut fields = Vec::with_capacity(width + 1);
    let mut coded = Vec::with_capacity(width);
    for (column, name) in names.into_iter().enumerate() {
        let kind: Kind = match &kinds {
            Some(kinds) => kinds[column].parse().map_err(exception)?,
            None => Kind::Real,
        };
        let levels = levels.as_ref().map_or(&[][..], |levels| &levels[column]);
        coded.push(kind.is_coded().then_some(levels.len()));
        fields.push(if kind.is_coded() {
            Field::with_levels(name, kind, levels.to_vec())
        } else {
            Field::new(name, kind)
        });
    }
    let label_chunks = labels.as_ref().map(|labels| LabelChunks::of(labels, rows));
    let label_chunks = label_chunks.transpose()?;
    let labels_at = labels_at.unwrap_or(width).min(width);
    if let Some(labels) = labels {
        fields.insert(labels_at, labels.field());
    }
    let narrow = |levels: &Option<usize>| levels.and_then(|number| number.try_into().ok());
    let array = LabelledArray {
        schema: Schema::new(fields),
        array,
        all_levels: coded.iter().map(narrow).collect(),
        levels: coded,
        labels: label_chunks,
        labels_at,
        weights: self::weights(weights, rows)?,
    };
    Ok(Table(Held::Array(Box::new(array), OnceLock::new())))
}

/// The unweighted variance of each column of numbers.
#[pyfunction]
pub fn variances<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let _borrow = table.borrow(py)?;
    let source = table.source();
    let fields = source.schema().fields.iter().enumerate();
    let numbers = fields.filter(|(_, field)| !field.kind.is_coded() && field.kind != Kind::Text);
    let numbers: Vec<usize> = numbers.map(|(column, _)| column).collect();
    let of_chunk = |_: usize, chunk: &Chunk| {
        let ones = vec![1.0; chunk.rows()];
        let one = |column: &usize| {
            let cells = [chunk.column(*column).cells(0, chunk.rows())];
            let mut stats = Gaussian::zero(&());
            Gaussian::observe(&Rows::new(&cells), &ones, &mut stats);
            stats
        };
        Ok(numbers.iter().map(one).collect::<Vec<GaussianStats>>())
    };
    let merge = |all: &mut Vec<GaussianStats>, more: Vec<GaussianStats>| {
        all.iter_mut()
            .zip(&more)
            .for_each(|(all, stats)| all.merge(stats));
    };
    let all = pooled(py, None, || reduce(source, of_chunk, merge))?.map_err(exception)?;
    let all = all.unwrap_or_else(|| vec![Gaussian::zero(&()); numbers.len()]);
    let variance = |stats: &GaussianStats| {
        if stats.weight > 0.0 {
            stats.scatter / stats.weight
        } else {
            0.0
        }
    };
    Ok(PyArray1::from_vec(py, all.iter().map(variance).collect()))
}
