//! A batch: some raw rows of one file, before the kinds of its columns are known. Text
//! formats store rows of text, Arrow formats arrays; both are read cell by cell.

use crate::data::missing::Missing;
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayAccessor, ArrayRef, PrimitiveArray};
use arrow_schema::DataType;
use std::ops::Range;
use std::sync::Arc;

/// Raw rows of one file.
pub(crate) enum Batch {
    Text(TextRows),
    Arrow(Arrays),
    /// Rows kept from an earlier pass.
    Kept(KeptRows),
}

/// Rows of words, without those of columns of numbers.
pub(crate) struct KeptRows {
    pub rows: usize,
    /// The cells of each column of words.
    pub words: Vec<Option<Words>>,
}

/// Words as codes.
#[derive(Clone)]
pub(crate) struct Words {
    pub codes: Vec<u32>,
    /// The word of each code.
    pub words: Arc<Vec<String>>,
}

/// The code of a missing value among [`Words`].
pub(crate) const MISSING_WORD: u32 = u32::MAX;

/// Rows of text.
#[derive(Default)]
pub(crate) struct TextRows {
    /// The number of cells in each row.
    pub width: usize,
    /// The concatenated text of all cells, with one separator after each if there are `starts`.
    pub text: String,
    /// The end of each cell in `text`.
    pub ends: Vec<usize>,
    /// The start of each row in a text with separators; empty if there are none.
    pub starts: Vec<usize>,
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
            Batch::Kept(kept) => kept.rows,
        }
    }

    /// The line of a row, or its number if the format has no lines.
    pub fn line(&self, row: usize) -> u64 {
        match self {
            Batch::Text(rows) => rows.lines[row],
            Batch::Arrow(arrays) => arrays.first + row as u64,
            // Whoever needs a line reads the file again.
            Batch::Kept(_) => 0,
        }
    }

    /// Rows with suspicious quotes: the line on which a row starts and the number of lines it
    /// spans, which is very large; or 0 if text follows a closing quote.
    pub fn suspicious_quotes(&self) -> &[(u64, u64)] {
        match self {
            Batch::Text(rows) => &rows.suspicious_quotes,
            Batch::Arrow(_) | Batch::Kept(_) => &[],
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
            Batch::Kept(kept) => {
                let words = kept.words[column].as_ref();
                rows.into_iter().try_for_each(|row| {
                    let code = words.map(|words| words.codes[row]);
                    let code = code.filter(|code| *code != MISSING_WORD);
                    let word = words
                        .zip(code)
                        .map(|(words, code)| &words.words[code as usize]);
                    each(row, word.map_or(Cell::Missing, |word| Cell::Text(word)))
                })
            }
        }
    }
}

impl TextRows {
    #[inline]
    pub fn cell(&self, row: usize, column: usize) -> &str {
        &self.text[self.place(row, column)]
    }

    /// The bytes of a cell.
    #[inline]
    pub fn bytes(&self, row: usize, column: usize) -> &[u8] {
        &self.text.as_bytes()[self.place(row, column)]
    }

    #[inline]
    fn place(&self, row: usize, column: usize) -> Range<usize> {
        let at = row * self.width + column;
        let start = match self.starts.get(row) {
            Some(start) if column == 0 => *start,
            Some(_) => self.ends[at - 1] + 1,
            None if at == 0 => 0,
            None => self.ends[at - 1],
        };
        start..self.ends[at]
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

type Visit<'f> = &'f mut dyn FnMut(usize, Cell<'_>) -> Result<()>;

fn visit_array(array: &ArrayRef, missing: &Missing, visit: Visit<'_>) -> Result<()> {
    let text = |text| text_cell(text, missing);
    match array.data_type() {
        DataType::Null => (0..array.len()).try_for_each(|row| visit(row, Cell::Missing)),
        DataType::Boolean => visit_values(array.as_boolean(), visit, Cell::Bool),
        DataType::Int8 => visit_integers::<Int8Type>(array, visit),
        DataType::Int16 => visit_integers::<Int16Type>(array, visit),
        DataType::Int32 => visit_integers::<Int32Type>(array, visit),
        DataType::Int64 => visit_integers::<Int64Type>(array, visit),
        DataType::UInt8 => visit_integers::<UInt8Type>(array, visit),
        DataType::UInt16 => visit_integers::<UInt16Type>(array, visit),
        DataType::UInt32 => visit_integers::<UInt32Type>(array, visit),
        DataType::UInt64 => visit_values(array.as_primitive::<UInt64Type>(), visit, |x| {
            i64::try_from(x).map_or(Cell::Number(x as f64), Cell::Integer)
        }),
        DataType::Float16 => visit_floats::<Float16Type>(array, visit),
        DataType::Float32 => visit_floats::<Float32Type>(array, visit),
        DataType::Float64 => visit_floats::<Float64Type>(array, visit),
        DataType::Utf8 => visit_values(array.as_string::<i32>(), visit, text),
        DataType::LargeUtf8 => visit_values(array.as_string::<i64>(), visit, text),
        DataType::Utf8View => visit_values(array.as_string_view(), visit, text),
        DataType::Decimal32(..) => visit_decimals(array.as_primitive::<Decimal32Type>(), visit),
        DataType::Decimal64(..) => visit_decimals(array.as_primitive::<Decimal64Type>(), visit),
        DataType::Decimal128(..) => visit_decimals(array.as_primitive::<Decimal128Type>(), visit),
        DataType::Decimal256(..) => visit_decimals(array.as_primitive::<Decimal256Type>(), visit),
        DataType::Dictionary(..) => visit_dictionary(array, missing, visit),
        other => Err(unreadable(other)),
    }
}

/// Visits every value of an array as a cell; nulls are missing.
fn visit_values<'a, A: ArrayAccessor>(
    array: A,
    visit: Visit<'_>,
    cell: impl Fn(A::Item) -> Cell<'a>,
) -> Result<()> {
    for row in 0..array.len() {
        if array.is_null(row) {
            visit(row, Cell::Missing)?;
        } else {
            visit(row, cell(array.value(row)))?;
        }
    }
    Ok(())
}

fn visit_integers<T: ArrowPrimitiveType>(array: &ArrayRef, visit: Visit<'_>) -> Result<()>
where
    i64: From<T::Native>,
{
    visit_values(array.as_primitive::<T>(), visit, |x| {
        Cell::Integer(x.into())
    })
}

fn visit_floats<T: ArrowPrimitiveType>(array: &ArrayRef, visit: Visit<'_>) -> Result<()>
where
    f64: From<T::Native>,
{
    visit_values(array.as_primitive::<T>(), visit, |x| float(x.into()))
}

fn text_cell<'a>(text: &'a str, missing: &Missing) -> Cell<'a> {
    let trimmed = text.trim_ascii();
    if missing.is(trimmed) {
        Cell::Missing
    } else {
        Cell::Text(trimmed)
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

fn visit_decimals<T: DecimalType>(array: &PrimitiveArray<T>, visit: Visit<'_>) -> Result<()> {
    for row in 0..array.len() {
        let cell = if array.is_null(row) {
            Cell::Missing
        } else {
            crate::data::read::number(&array.value_as_string(row))
                .map_or(Cell::Missing, Cell::Number)
        };
        visit(row, cell)?;
    }
    Ok(())
}

/// Visits the value of each row's key.
fn visit_dictionary(array: &ArrayRef, missing: &Missing, visit: Visit<'_>) -> Result<()> {
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return Err(unreadable(array.data_type()));
    };
    let values = dictionary.values();
    if values.is_empty() {
        return (0..array.len()).try_for_each(|row| visit(row, Cell::Missing));
    }
    let mut cells = vec![OwnedCell::Missing; values.len()];
    visit_array(values, missing, &mut |at, cell| {
        cells[at] = OwnedCell::from(cell);
        Ok(())
    })?;
    for (row, at) in dictionary.normalized_keys().into_iter().enumerate() {
        if array.is_null(row) {
            visit(row, Cell::Missing)?;
        } else {
            visit(row, cells[at].cell())?;
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
