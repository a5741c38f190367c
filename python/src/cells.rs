//! Columns as NumPy arrays.

use abduce::data::{Chunk, Column, Field, Kind, Schema};
use numpy::PyArray1;
use pyo3::prelude::*;

/// The cells of a column: numbers, with NaN for missing values, or codes of levels, with −1.
#[derive(IntoPyObject)]
pub enum Cells<'py> {
    Numbers(Bound<'py, PyArray1<f64>>),
    Codes(Bound<'py, PyArray1<i64>>),
}

fn cells<'py>(py: Python<'py>, field: &Field, columns: &[&Column]) -> Cells<'py> {
    if field.kind.is_coded() {
        let code = |column: &&Column| -> Vec<i64> {
            let cells = column.cells(0, column.len());
            let codes = cells.codes().iter().enumerate();
            codes
                .map(|(row, code)| {
                    if cells.is_seen(row) {
                        i64::from(*code)
                    } else {
                        -1
                    }
                })
                .collect()
        };
        return Cells::Codes(PyArray1::from_vec(
            py,
            columns.iter().flat_map(code).collect(),
        ));
    }
    let number = |column: &&Column| -> Vec<f64> {
        let cells = column.cells(0, column.len());
        (0..column.len())
            .map(|row| {
                cells
                    .number(row)
                    .map_or(f64::NAN, |x| field.rounded(x * field.unit))
            })
            .collect()
    };
    Cells::Numbers(PyArray1::from_vec(
        py,
        columns.iter().flat_map(number).collect(),
    ))
}

/// The drawn or completed columns of some chunks with their names, without text columns. Columns of
/// whole numbers are rounded.
pub fn columns_of<'py>(
    py: Python<'py>,
    schema: &Schema,
    chunks: &[Chunk],
) -> Vec<(String, Cells<'py>)> {
    let fields = schema.fields.iter().enumerate();
    fields
        .filter(|(_, field)| field.kind != Kind::Text)
        .map(|(c, field)| {
            let columns: Vec<&Column> = chunks.iter().map(|chunk| chunk.column(c)).collect();
            (field.name.clone(), cells(py, field, &columns))
        })
        .collect()
}
