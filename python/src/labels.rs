//! Columns of labels. Integer labels in a narrow range, as most are, are encoded without sorting, by a
//! flag for each number.

use crate::aligned::Aligned1;
use crate::errors::value_error;
use crate::memory::shared;
use abduce::Error;
use abduce::data::{CHUNK_ROWS, Column, Field, Kind};
use arrow_buffer::ScalarBuffer;
use numpy::PyArray1;
use pyo3::prelude::*;

/// The name of a column of labels, its levels, and its codes: `None` if all are missing.
#[derive(FromPyObject)]
pub struct Labels<'py>(String, Vec<String>, Option<GivenCodes<'py>>);

/// Codes as NumPy arrays.
#[derive(FromPyObject)]
pub enum GivenCodes<'py> {
    Byte(Aligned1<'py, i8>),
    Long(Aligned1<'py, i64>),
}

impl Labels<'_> {
    /// The field of the column.
    pub fn field(self) -> Field {
        Field::with_levels(self.0, Kind::Categorical, self.1)
    }
}

/// A column of labels, encoded chunk by chunk.
pub enum LabelChunks {
    /// The codes of this many levels.
    Seen(Codes, usize),
    /// All are missing: the column of a whole chunk.
    Hidden(Column),
}

/// Codes of labels, without a copy; a negative one is a missing value.
pub enum Codes {
    Byte(ScalarBuffer<i8>),
    Long(ScalarBuffer<i64>),
}

impl Codes {
    fn len(&self) -> usize {
        match self {
            Codes::Byte(codes) => codes.len(),
            Codes::Long(codes) => codes.len(),
        }
    }
}

impl LabelChunks {
    pub fn of(labels: &Labels<'_>, rows: usize) -> PyResult<LabelChunks> {
        let Labels(_, levels, given) = labels;
        let Some(given) = given else {
            let whole = Column::hidden(Kind::Categorical, CHUNK_ROWS.min(rows));
            return Ok(LabelChunks::Hidden(whole));
        };
        let codes = match given {
            GivenCodes::Byte(codes) => Codes::Byte(shared(codes)?.into()),
            GivenCodes::Long(codes) => Codes::Long(shared(codes)?.into()),
        };
        if codes.len() != rows {
            let labels = codes.len();
            return Err(value_error(format!(
                "there are {labels} labels for {rows} rows"
            )));
        }
        Ok(LabelChunks::Seen(codes, levels.len()))
    }

    pub fn chunk(&self, number: usize, rows: usize) -> abduce::Result<Column> {
        let first = number * CHUNK_ROWS;
        let range = first..first + rows;
        match self {
            LabelChunks::Seen(Codes::Byte(codes), levels) => codes_column(&codes[range], *levels),
            LabelChunks::Seen(Codes::Long(codes), levels) => codes_column(&codes[range], *levels),
            LabelChunks::Hidden(whole) => Ok(whole.slice(0, rows)),
        }
    }
}

/// The cells of a column of labels; a negative code is a missing value.
fn codes_column<T: Copy + Into<i64>>(codes: &[T], levels: usize) -> abduce::Result<Column> {
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

/// The maximum range of the labels.
const MAX_RANGE: u64 = 1 << 20;

/// The classes, and the code of each label; `None` if the range of the labels is too large.
type Coded<'py> = Option<(Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>)>;

/// The classes in ascending order, and the code of each label.
#[pyfunction]
pub fn classes_of<'py>(py: Python<'py>, labels: Aligned1<'py, i64>) -> Coded<'py> {
    let copied;
    let labels = match labels.as_slice() {
        Ok(labels) => labels,
        Err(_) => {
            copied = labels.as_array().to_vec();
            &copied
        }
    };
    let (first, last) = labels
        .iter()
        .fold((i64::MAX, i64::MIN), |(first, last), label| {
            (first.min(*label), last.max(*label))
        });
    if labels.is_empty() {
        return None;
    }
    if last.abs_diff(first) >= MAX_RANGE {
        return None;
    }
    let place = |label: &i64| label.abs_diff(first) as usize;
    let mut codes = vec![0i64; place(&last) + 1];
    labels.iter().for_each(|label| codes[place(label)] = 1);
    let mut classes = Vec::new();
    for (label, code) in (first..=last).zip(&mut codes) {
        if *code == 1 {
            *code = classes.len() as i64;
            classes.push(label);
        }
    }
    let code = |label: &i64| codes[place(label)];
    // Bytes are faster to allocate.
    let coded = if classes.len() <= i8::MAX as usize {
        PyArray1::from_iter(py, labels.iter().map(|label| code(label) as i8)).into_any()
    } else {
        PyArray1::from_iter(py, labels.iter().map(code)).into_any()
    };
    Some((PyArray1::from_vec(py, classes), coded))
}
