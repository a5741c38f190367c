//! Tables of the engine, made of what Python holds.

use crate::aligned::Aligned1;
use crate::dense::{Array, Columns, LARGE, Numbers, Unfit};
use crate::memory::shared;
use crate::pools::pooled;
use crate::trouble::{raised, wrong};
use abduce::Error;
use abduce::data::{CHUNK_ROWS, Chunk, Column, Field, Kind, Maker, Rows, Schema, Source, reduce};
use abduce::family::{Family as _, Gaussian, GaussianStats, Stats as _};
use arrow_buffer::ScalarBuffer;
use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Rows in memory.
#[pyclass(frozen, module = "abduce._core")]
pub struct Table(Held);

enum Held {
    /// Encoded.
    Made(abduce::data::Table),
    /// An array, encoded chunk by chunk whenever they are asked for, or once and for all.
    Array(Box<Encoded>, OnceLock<abduce::data::Table>),
}

/// An array with labels and weights beside it.
struct Encoded {
    schema: Schema,
    array: Array,
    /// The number of levels of columns of codes.
    levels: Vec<Option<usize>>,
    /// The same where all columns are codes.
    all_levels: Option<Vec<u32>>,
    labels: Option<LabelChunks>,
    /// The place of the labels among the columns.
    labels_at: usize,
    weights: Option<Vec<f64>>,
}

impl Encoded {
    fn chunk(&self, number: usize) -> abduce::Result<Chunk> {
        let levels = self.all_levels.as_ref();
        let mut columns = match levels.and_then(|own| self.array.codes(number, own)) {
            Some(columns) => columns,
            None => self.numbers(number)?,
        };
        let first = number * CHUNK_ROWS;
        let rows = CHUNK_ROWS.min(self.array.rows - first);
        if let Some(labels) = &self.labels {
            columns.insert(self.labels_at, labels.chunk(number, rows)?);
        }
        let weights = self.weights.as_ref();
        let weights = weights.map(|own| own[first..first + rows].to_vec());
        Ok(Chunk::new(rows, columns, weights))
    }

    /// The features of a chunk, by way of numbers.
    fn numbers(&self, number: usize) -> abduce::Result<Columns> {
        let mut columns = self.array.chunk(number).map_err(|why| match why {
            Unfit::Infinite => Error::data(format!(
                "Input X contains infinity or a value too large for dtype('{}').",
                self.array.dtype
            )),
            Unfit::Large => Error::data(format!("Input X contains a value beyond {LARGE:e}"))
                .with_hint("rescale the column"),
        })?;
        for (column, levels) in columns.iter_mut().zip(&self.levels) {
            if let Some(levels) = levels {
                *column = coded(column, *levels);
            }
        }
        Ok(columns)
    }
}

impl Source for Encoded {
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

/// A column of labels, made chunk by chunk.
enum LabelChunks {
    /// The codes of this many levels.
    Seen(Codes, usize),
    /// All are missing: the column of a whole chunk.
    Hidden(Column),
}

/// Codes of labels as they lie, in as few bytes as they take; a negative one is a missing value.
enum Codes {
    Byte(ScalarBuffer<i8>),
    Long(ScalarBuffer<i64>),
}

impl Codes {
    fn len(&self) -> usize {
        match self {
            Codes::Byte(own) => own.len(),
            Codes::Long(own) => own.len(),
        }
    }
}

impl LabelChunks {
    fn of(labels: &Labels<'_>, rows: usize) -> PyResult<LabelChunks> {
        let Labels(_, levels, given) = labels;
        let Some(given) = given else {
            let whole = Column::hidden(Kind::Categorical, CHUNK_ROWS.min(rows));
            return Ok(LabelChunks::Hidden(whole));
        };
        let codes = match given {
            GivenCodes::Byte(own) => Codes::Byte(shared(own)?.into()),
            GivenCodes::Long(own) => Codes::Long(shared(own)?.into()),
        };
        if codes.len() != rows {
            let labels = codes.len();
            return Err(wrong(format!("there are {labels} labels for {rows} rows")));
        }
        Ok(LabelChunks::Seen(codes, levels.len()))
    }

    fn chunk(&self, number: usize, rows: usize) -> abduce::Result<Column> {
        let first = number * CHUNK_ROWS;
        let own = first..first + rows;
        match self {
            LabelChunks::Seen(Codes::Byte(codes), levels) => self::codes(&codes[own], *levels),
            LabelChunks::Seen(Codes::Long(codes), levels) => self::codes(&codes[own], *levels),
            LabelChunks::Hidden(whole) => Ok(whole.slice(0, rows)),
        }
    }
}

/// The cells of a column of labels; a negative code is a missing value.
fn codes<T: Copy + Into<i64>>(codes: &[T], levels: usize) -> abduce::Result<Column> {
    let whole = || codes.iter().map(|code| (*code).into());
    let (least, most) = whole().fold((0, -1), |(least, most): (i64, i64), code| {
        (least.min(code), most.max(code))
    });
    if most >= levels as i64 {
        return Err(Error::data(format!("code {most} has no level")));
    }
    if least >= 0 {
        return Ok(Column::Code {
            values: whole().map(|code| code as u32).collect(),
            nulls: None,
        });
    }
    let code = |code: i64| (code >= 0).then_some(code as u32);
    Ok(Column::from_codes(whole().map(code)))
}

/// Numbers that stand for levels, as codes; what is beyond the last level becomes the
/// code behind it, which no level has.
fn coded(column: &Column, levels: usize) -> Column {
    let cells = column.cells(0, column.len());
    let code = |x: f64| x.clamp(0.0, levels as f64) as u32;
    let values = cells.reals().iter().map(|x| code(*x));
    Column::Code {
        values: values.collect::<Vec<u32>>().into(),
        nulls: column.nulls().cloned(),
    }
}

/// What a column of labels is called, what its levels are, and the codes of its cells: none
/// where all are missing.
#[derive(FromPyObject)]
pub struct Labels<'py>(String, Vec<String>, Option<GivenCodes<'py>>);

/// Codes as Python has them.
#[derive(FromPyObject)]
pub enum GivenCodes<'py> {
    Byte(Aligned1<'py, i8>),
    Long(Aligned1<'py, i64>),
}

/// Splits a column of all rows into chunks.
fn pieces<T: Clone>(whole: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
    whole.chunks(CHUNK_ROWS).map(<[T]>::to_vec)
}

/// The largest weight that a row may have.
const LARGEST_WEIGHT: f64 = 1e100;

/// Weights, which must be numbers from 0 up.
pub fn weights(given: Option<Aligned1<'_, f64>>, rows: usize) -> PyResult<Option<Vec<f64>>> {
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
    // Their products would be beyond all numbers.
    if weights.iter().any(|w| *w > LARGEST_WEIGHT) {
        return Err(wrong(format!(
            "a weight is beyond {LARGEST_WEIGHT:e}; divide all weights by the same number"
        )));
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
        let label_chunks = labels.as_ref().map(|own| LabelChunks::of(own, rows));
        let label_chunks = label_chunks.transpose()?;
        fields.extend(labels.map(Labels::field));
        let mut weight_chunks = weights.as_deref().map(pieces);
        let chunks = chunks.into_iter().enumerate().map(|(number, mut columns)| {
            let len = columns.first().map_or(0, Column::len);
            if let Some(labels) = &label_chunks {
                columns.push(labels.chunk(number, len)?);
            }
            let own = weight_chunks.as_mut().and_then(Iterator::next);
            Ok(Chunk::new(len, columns, own))
        });
        let chunks = chunks.collect::<abduce::Result<_>>().map_err(raised)?;
        let made = abduce::data::Table::from_chunks(Schema::new(fields), chunks);
        Ok(Table(Held::Made(made)))
    }

    /// A borrow of the array that the table reads, to be held for as long as it is read without
    /// the interpreter's lock; nothing where the table has cells of its own.
    ///
    /// # Errors
    /// If other Rust code is writing to the array.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Option<Numbers<'py>>> {
        match &self.0 {
            Held::Made(_) => Ok(None),
            Held::Array(array, _) => array.array.borrow(py).map(Some),
        }
    }

    /// The rows, as they are best read once or twice.
    pub fn source(&self) -> &dyn Source {
        match &self.0 {
            Held::Made(table) => table,
            Held::Array(array, made) => match made.get() {
                Some(table) => table,
                None => array.as_ref(),
            },
        }
    }

    /// The rows, as they are best read many times: all of them encoded.
    ///
    /// # Errors
    /// If a number is infinite or too large.
    pub fn made(&self) -> abduce::Result<&abduce::data::Table> {
        let (array, made) = match &self.0 {
            Held::Made(table) => return Ok(table),
            Held::Array(array, made) => (array, made),
        };
        if let Some(table) = made.get() {
            return Ok(table);
        }
        let numbers = (0..array.array.chunks()).into_par_iter();
        let chunks = numbers.map(|number| array.chunk(number));
        let chunks: Vec<Chunk> = chunks.collect::<abduce::Result<_>>()?;
        let table = abduce::data::Table::from_chunks(array.schema.clone(), chunks);
        Ok(made.get_or_init(|| table))
    }

    /// The number of chunks.
    pub fn chunks(&self) -> usize {
        (self.source().rows() as usize).div_ceil(CHUNK_ROWS)
    }

    /// The chunk of a number.
    ///
    /// # Errors
    /// If a number in it is infinite or too large.
    pub fn chunk(&self, number: usize) -> abduce::Result<Cow<'_, Chunk>> {
        match (&self.0, self.source().table()) {
            (_, Some(table)) | (Held::Made(table), None) => {
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
        serde_json::to_string(self.source().schema()).map_err(|why| wrong(why.to_string()))
    }
}

impl Labels<'_> {
    fn field(self) -> Field {
        Field::with_levels(self.0, Kind::Categorical, self.1)
    }
}

/// A table of an array: a name and a kind for each column, the number of levels of
/// those that are coded; labels with their column's name, levels and codes, which stand last
/// or at a place; weights.
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
        return Err(wrong(format!("{} names for {width} columns", names.len())));
    }
    let mut fields = Vec::with_capacity(width + 1);
    let mut coded = Vec::with_capacity(width);
    for (column, name) in names.into_iter().enumerate() {
        let kind: Kind = match &kinds {
            Some(kinds) => kinds[column].parse().map_err(raised)?,
            None => Kind::Real,
        };
        let own = levels.as_ref().map_or(&[][..], |levels| &levels[column]);
        coded.push(kind.is_coded().then_some(own.len()));
        fields.push(match kind.is_coded() {
            true => Field::with_levels(name, kind, own.to_vec()),
            false => Field::new(name, kind),
        });
    }
    let label_chunks = labels.as_ref().map(|own| LabelChunks::of(own, rows));
    let label_chunks = label_chunks.transpose()?;
    let labels_at = labels_at.unwrap_or(width).min(width);
    if let Some(labels) = labels {
        fields.insert(labels_at, labels.field());
    }
    let narrow = |levels: &Option<usize>| levels.and_then(|own| own.try_into().ok());
    let encoded = Encoded {
        schema: Schema::new(fields),
        array,
        all_levels: coded.iter().map(narrow).collect(),
        levels: coded,
        labels: label_chunks,
        labels_at,
        weights: self::weights(weights, rows)?,
    };
    Ok(Table(Held::Array(Box::new(encoded), OnceLock::new())))
}

/// The variance of each column of numbers, whatever rows weigh.
#[pyfunction]
pub fn variances<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let _borrow = table.borrow(py)?;
    let source = table.source();
    let fields = source.schema().fields.iter().enumerate();
    let numbers = fields.filter(|(_, own)| !own.kind.is_coded() && own.kind != Kind::Text);
    let numbers: Vec<usize> = numbers.map(|(column, _)| column).collect();
    let of_chunk = |_: usize, chunk: &Chunk| {
        let ones = vec![1.0; chunk.rows()];
        let one = |column: &usize| {
            let cells = [chunk.column(*column).cells(0, chunk.rows())];
            let mut own = Gaussian::zero(&());
            Gaussian::observe(&Rows::new(&cells), &ones, &mut own);
            own
        };
        Ok(numbers.iter().map(one).collect::<Vec<GaussianStats>>())
    };
    let merge = |all: &mut Vec<GaussianStats>, more: Vec<GaussianStats>| {
        all.iter_mut()
            .zip(&more)
            .for_each(|(all, own)| all.merge(own));
    };
    let all = pooled(py, None, || reduce(source, of_chunk, merge))?.map_err(raised)?;
    let all = all.unwrap_or_else(|| vec![Gaussian::zero(&()); numbers.len()]);
    let variance = |own: &GaussianStats| match own.weight > 0.0 {
        true => own.scatter / own.weight,
        false => 0.0,
    };
    Ok(PyArray1::from_vec(py, all.iter().map(variance).collect()))
}
