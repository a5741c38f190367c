//! A batch: some raw rows of one file, before the kinds of its columns are known. Text
//! formats store rows of text, Arrow formats arrays; both are read cell by cell.

use crate::data::missing::Missing;
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType;
use std::ops::Range;

/// Raw rows of one file.
pub(crate) enum Batch {
    Text(TextRows),
    Arrow(Arrays),
}

/// Rows of text.
#[derive(Default)]
pub(crate) struct TextRows {
    /// The number of cells in each row.
    pub width: usize,
    /// The concatenated text of all cells.
    pub text: String,
    /// The end of each cell in `text`.
    pub ends: Vec<usize>,
    /// The line on which each row starts.
    pub lines: Vec<u64>,
    /// Rows with suspicious quotes, as [`Batch::suspicious_quotes`] returns them.
    pub suspicious_quotes: Vec<(u64, u64)>,
}

/// Rows as arrays.
pub(crate) struct Arrays {
    /// The number of the first row, from 1.
    pub first: u64,
    pub rows: usize,
    /// The wanted columns.
    pub columns: Vec<Option<ArrayRef>>,
}

/// One raw cell. Text is trimmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Bool(bool),
}

impl Batch {
    pub fn rows(&self) -> usize {
        match self {
            Batch::Text(rows) => rows.lines.len(),
            Batch::Arrow(arrays) => arrays.rows,
        }
    }

    /// The line of a row, or its number if the format has no lines.
    pub fn line(&self, row: usize) -> u64 {
        match self {
            Batch::Text(rows) => rows.lines[row],
            Batch::Arrow(arrays) => arrays.first + row as u64,
        }
    }

    /// Rows with suspicious quotes: the line on which a row starts and the number of lines it
    /// spans, which is very large; or 0 if text follows a closing quote.
    pub fn suspicious_quotes(&self) -> &[(u64, u64)] {
        match self {
            Batch::Text(rows) => &rows.suspicious_quotes,
            Batch::Arrow(_) => &[],
        }
    }

    /// Calls `each` with every cell of some rows of a column, until the first error, which
    /// gets the line of its row.
    pub fn visit(
        &self,
        column: usize,
        rows: Range<usize>,
        missing: &Missing,
        mut each: impl FnMut(usize, Cell<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Batch::Text(batch) => {
                for row in rows {
                    let trimmed = batch.cell(row, column).trim_ascii();
                    let cell = if missing.is(trimmed) {
                        Cell::Missing
                    } else {
                        Cell::Text(trimmed)
                    };
                    each(row, cell).map_err(|error| error.at_line(batch.lines[row]))?;
                }
                Ok(())
            }
            Batch::Arrow(batch) => {
                let Some(array) = &batch.columns[column] else {
                    return rows
                        .into_iter()
                        .try_for_each(|row| each(row, Cell::Missing));
                };
                let start = rows.start;
                let array = array.slice(start, rows.len());
                let mut each = |row: usize, cell: Cell<'_>| {
                    each(row + start, cell)
                        .map_err(|error| error.at_line(batch.first + (row + start) as u64))
                };
                visit_array(&array, missing, &mut each)
            }
        }
    }
}

impl TextRows {
    #[inline]
    pub fn cell(&self, row: usize, column: usize) -> &str {
        let at = row * self.width + column;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..self.ends[at]]
    }
}

impl Arrays {
    /// Whether the cells of a column can be written as text.
    pub fn has_text(&self, column: usize) -> bool {
        let array = self.columns[column].as_ref();
        array.is_none_or(|array| {
            let kind = array.data_type();
            is_readable(kind)
                || matches!(
                    kind,
                    DataType::Timestamp(..)
                        | DataType::Date32
                        | DataType::Date64
                        | DataType::Time32(_)
                        | DataType::Time64(_)
                )
        })
    }

    /// The text of a cell that is not [readable](is_readable): dates and times as they are
    /// written, others as empty text. `None` for a readable cell.
    pub fn unreadable_text(&self, row: usize, column: usize) -> Option<String> {
        let array = self.columns[column].as_ref()?;
        if is_readable(array.data_type()) {
            return None;
        }
        if array.is_null(row) {
            return Some(String::new());
        }
        macro_rules! as_text {
            ($($pattern:pat => $kind:ty, $value:ident;)*) => {
                match array.data_type() {
                    $($pattern => {
                        let value = array.as_primitive::<$kind>().$value(row);
                        value.map_or(String::new(), |value| value.to_string())
                    })*
                    _ => String::new(),
                }
            };
        }
        use arrow_schema::TimeUnit::*;
        Some(as_text! {
            DataType::Timestamp(Second, _) => TimestampSecondType, value_as_datetime;
            DataType::Timestamp(Millisecond, _) => TimestampMillisecondType, value_as_datetime;
            DataType::Timestamp(Microsecond, _) => TimestampMicrosecondType, value_as_datetime;
            DataType::Timestamp(Nanosecond, _) => TimestampNanosecondType, value_as_datetime;
            DataType::Date32 => Date32Type, value_as_date;
            DataType::Date64 => Date64Type, value_as_datetime;
            DataType::Time32(Second) => Time32SecondType, value_as_time;
            DataType::Time32(Millisecond) => Time32MillisecondType, value_as_time;
            DataType::Time64(Microsecond) => Time64MicrosecondType, value_as_time;
            DataType::Time64(Nanosecond) => Time64NanosecondType, value_as_time;
        })
    }
}

/// Whether cells of this type can be read.
pub(crate) fn is_readable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => {
            !matches!(**values, DataType::Dictionary(..)) && is_readable(values)
        }
        other => {
            other.is_integer()
                || other.is_floating()
                || matches!(
                    other,
                    DataType::Null
                        | DataType::Boolean
                        | DataType::Utf8
                        | DataType::LargeUtf8
                        | DataType::Utf8View
                        | DataType::Decimal32(..)
                        | DataType::Decimal64(..)
                        | DataType::Decimal128(..)
                        | DataType::Decimal256(..)
                )
        }
    }
}

type Each<'f> = &'f mut dyn FnMut(usize, Cell<'_>) -> Result<()>;

fn visit_array(array: &ArrayRef, missing: &Missing, each: Each<'_>) -> Result<()> {
    let text = |text: &str, row: usize, each: Each<'_>| {
        let trimmed = text.trim_ascii();
        if missing.is(trimmed) {
            each(row, Cell::Missing)
        } else {
            each(row, Cell::Text(trimmed))
        }
    };
    macro_rules! cells {
        ($array:expr, |$x:ident, $row:ident| $visit:expr) => {{
            let array = $array;
            for $row in 0..array.len() {
                if array.is_null($row) {
                    each($row, Cell::Missing)?;
                } else {
                    let $x = array.value($row);
                    $visit?;
                }
            }
            Ok(())
        }};
    }
    macro_rules! integers {
        ($kind:ty) => {
            cells!(array.as_primitive::<$kind>(), |x, row| each(
                row,
                Cell::Integer(i64::from(x))
            ))
        };
    }
    macro_rules! floats {
        ($kind:ty) => {
            cells!(array.as_primitive::<$kind>(), |x, row| each(
                row,
                float(f64::from(x))
            ))
        };
    }
    match array.data_type() {
        DataType::Null => (0..array.len()).try_for_each(|row| each(row, Cell::Missing)),
        DataType::Boolean => cells!(array.as_boolean(), |x, row| each(row, Cell::Bool(x))),
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => cells!(array.as_primitive::<UInt64Type>(), |x, row| {
            each(
                row,
                i64::try_from(x).map_or(Cell::Number(x as f64), Cell::Integer),
            )
        }),
        DataType::Float16 => floats!(Float16Type),
        DataType::Float32 => floats!(Float32Type),
        DataType::Float64 => floats!(Float64Type),
        DataType::Utf8 => cells!(array.as_string::<i32>(), |x, row| text(x, row, each)),
        DataType::LargeUtf8 => cells!(array.as_string::<i64>(), |x, row| text(x, row, each)),
        DataType::Utf8View => cells!(array.as_string_view(), |x, row| text(x, row, each)),
        DataType::Decimal32(..) => decimals(array.as_primitive::<Decimal32Type>(), each),
        DataType::Decimal64(..) => decimals(array.as_primitive::<Decimal64Type>(), each),
        DataType::Decimal128(..) => decimals(array.as_primitive::<Decimal128Type>(), each),
        DataType::Decimal256(..) => decimals(array.as_primitive::<Decimal256Type>(), each),
        DataType::Dictionary(..) => visit_dictionary(array, missing, each),
        other => Err(unreadable(other)),
    }
}

#[inline]
fn float(x: f64) -> Cell<'static> {
    if x.is_nan() {
        Cell::Missing
    } else {
        Cell::Number(x)
    }
}

fn decimals<T: DecimalType>(array: &PrimitiveArray<T>, each: Each<'_>) -> Result<()> {
    for row in 0..array.len() {
        let cell = if array.is_null(row) {
            Cell::Missing
        } else {
            crate::data::read::number(&array.value_as_string(row))
                .map_or(Cell::Missing, Cell::Number)
        };
        each(row, cell)?;
    }
    Ok(())
}

/// Visits the value of each row's key.
fn visit_dictionary(array: &ArrayRef, missing: &Missing, each: Each<'_>) -> Result<()> {
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return Err(unreadable(array.data_type()));
    };
    let values = dictionary.values();
    if values.is_empty() {
        return (0..array.len()).try_for_each(|row| each(row, Cell::Missing));
    }
    let mut cells = vec![OwnedCell::Missing; values.len()];
    visit_array(values, missing, &mut |at, cell| {
        cells[at] = OwnedCell::from(cell);
        Ok(())
    })?;
    for (row, at) in dictionary.normalized_keys().into_iter().enumerate() {
        if array.is_null(row) {
            each(row, Cell::Missing)?;
        } else {
            each(row, cells[at].cell())?;
        }
    }
    Ok(())
}

#[derive(Clone)]
enum OwnedCell {
    Missing,
    Text(String),
    Integer(i64),
    Number(f64),
    Bool(bool),
}

impl From<Cell<'_>> for OwnedCell {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Missing => OwnedCell::Missing,
            Cell::Text(text) => OwnedCell::Text(text.to_string()),
            Cell::Integer(x) => OwnedCell::Integer(x),
            Cell::Number(x) => OwnedCell::Number(x),
            Cell::Bool(x) => OwnedCell::Bool(x),
        }
    }
}

impl OwnedCell {
    fn cell(&self) -> Cell<'_> {
        match self {
            OwnedCell::Missing => Cell::Missing,
            OwnedCell::Text(text) => Cell::Text(text),
            OwnedCell::Integer(x) => Cell::Integer(*x),
            OwnedCell::Number(x) => Cell::Number(*x),
            OwnedCell::Bool(x) => Cell::Bool(*x),
        }
    }
}

pub(crate) fn unreadable(data_type: &DataType) -> Error {
    Error::data(format!("cells of type {data_type} cannot be read"))
        .with_hint("leave the column out with `drop`, or write it as numbers or text")
}
