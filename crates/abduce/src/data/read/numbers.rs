//! Columns of numbers, parsed a batch at a time, so that later steps need not visit cells.

use crate::data::missing::Missing;
use crate::data::read::batch::{Arrays, Batch, TextRows};
use crate::data::read::number::{EXACT, is_plain, number_of_bytes};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;

/// A column of a batch that holds only numbers.
pub(crate) struct Numbers {
    /// The numbers, which may be infinite; NaN for a missing value.
    pub values: Vec<f64>,
    /// Whether every number identifies its level, so that its spelling does not matter.
    pub plain: bool,
}

impl Numbers {
    /// The columns at these positions of a batch; `None` for each that holds anything but
    /// numbers and missing values.
    pub fn of(batch: &Batch, columns: &[usize], missing: &Missing) -> Vec<Option<Numbers>> {
        match batch {
            Batch::Text(rows) => of_text(rows, columns, missing),
            Batch::Arrow(arrays) => {
                let column = |column: &usize| of_array(arrays, *column);
                columns.iter().map(column).collect()
            }
            Batch::Kept(_) => columns.iter().map(|_| None).collect(),
        }
    }

    /// Makes the marked rows missing values.
    pub fn ignore(&mut self, rows: &[bool]) {
        for (value, ignored) in self.values.iter_mut().zip(rows) {
            if *ignored {
                *value = f64::NAN;
            }
        }
    }
}

fn of_text(rows: &TextRows, columns: &[usize], missing: &Missing) -> Vec<Option<Numbers>> {
    let count = rows.lines.len();
    let empty = || Numbers {
        values: Vec::with_capacity(count),
        plain: true,
    };
    let mut found: Vec<Option<Numbers>> = columns.iter().map(|_| Some(empty())).collect();
    for row in 0..count {
        for (column, slot) in columns.iter().zip(&mut found) {
            let Some(numbers) = slot else {
                continue;
            };
            let cell = rows.bytes(row, *column).trim_ascii();
            if missing.is_bytes(cell) {
                numbers.values.push(f64::NAN);
            } else if let Some(x) = number_of_bytes(cell) {
                numbers.plain &= is_plain(cell, x);
                numbers.values.push(x);
            } else {
                *slot = None;
            }
        }
    }
    found
}

fn of_array(arrays: &Arrays, column: usize) -> Option<Numbers> {
    let array = arrays.columns[column].as_ref()?;
    match array.data_type() {
        DataType::Int8 => Some(integers::<Int8Type>(array)),
        DataType::Int16 => Some(integers::<Int16Type>(array)),
        DataType::Int32 => Some(integers::<Int32Type>(array)),
        DataType::Int64 => Some(of_values::<Int64Type>(array, |x| x as f64, EXACT)),
        DataType::UInt8 => Some(integers::<UInt8Type>(array)),
        DataType::UInt16 => Some(integers::<UInt16Type>(array)),
        DataType::UInt32 => Some(integers::<UInt32Type>(array)),
        DataType::UInt64 => Some(of_values::<UInt64Type>(array, |x| x as f64, EXACT)),
        DataType::Float16 => Some(floats::<Float16Type>(array)),
        DataType::Float32 => Some(floats::<Float32Type>(array)),
        DataType::Float64 => Some(floats::<Float64Type>(array)),
        _ => None,
    }
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef) -> Numbers
where
    f64: From<T::Native>,
{
    of_values::<T>(array, f64::from, EXACT)
}

fn floats<T: ArrowPrimitiveType>(array: &ArrayRef) -> Numbers
where
    f64: From<T::Native>,
{
    of_values::<T>(array, f64::from, f64::INFINITY)
}

/// The values of an array, which identify their levels if they are below a limit.
fn of_values<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    to_number: impl Fn(T::Native) -> f64,
    limit: f64,
) -> Numbers {
    let array = array.as_primitive::<T>();
    let mut values: Vec<f64> = array.values().iter().map(|x| to_number(*x)).collect();
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (row, value) in values.iter_mut().enumerate() {
            if nulls.is_null(row) {
                *value = f64::NAN;
            }
        }
    }
    let plain = values.iter().all(|x| x.is_nan() || x.abs() < limit);
    Numbers { values, plain }
}
