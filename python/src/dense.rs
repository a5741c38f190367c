//! Arrays as chunks of columns. An array that is column by column already is used as
//! it lies; others are transposed chunk by chunk, in parallel. What is not a number is
//! a hole.

use abduce::data::{CHUNK_ROWS, Column};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use numpy::ndarray::ArrayView2;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ptr::NonNull;
use std::sync::Arc;

/// An array of numbers in either precision.
#[derive(FromPyObject)]
pub enum Numbers<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// Where an infinite number stands.
pub struct Infinite;

/// The columns of one chunk.
pub type Columns = Vec<Column>;

impl Numbers<'_> {
    pub fn shape(&self) -> (usize, usize) {
        let shape = match self {
            Numbers::Double(array) => array.shape(),
            Numbers::Single(array) => array.shape(),
        };
        (shape[0], shape[1])
    }

    /// The chunks of an array.
    ///
    /// # Errors
    /// If a number is infinite.
    pub fn chunks(&self, py: Python<'_>) -> Result<Vec<Columns>, Infinite> {
        match self {
            Numbers::Double(array) => {
                let view = array.as_array();
                if view.strides()[0] == 1 && view.nrows() > 0 {
                    let owner = Arc::new(Owner(array.as_any().clone().unbind()));
                    return py.detach(|| in_place(view, &owner));
                }
                py.detach(|| transposed(view))
            }
            Numbers::Single(array) => {
                let view = array.as_array();
                py.detach(|| transposed(view))
            }
        }
    }
}

/// Keeps the memory of an array.
struct Owner(#[allow(dead_code)] Py<PyAny>);

// Nothing is ever done with it but to drop it.
impl std::panic::RefUnwindSafe for Owner {}

fn starts(rows: usize) -> Vec<usize> {
    (0..rows).step_by(CHUNK_ROWS).collect()
}

fn transposed<T: Copy + Into<f64> + Sync>(
    view: ArrayView2<'_, T>,
) -> Result<Vec<Columns>, Infinite> {
    let (rows, width) = view.dim();
    let strides = view.strides();
    starts(rows)
        .into_par_iter()
        .map(|start| {
            let len = CHUNK_ROWS.min(rows - start);
            let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(len); width];
            if strides[0] < strides[1] {
                for (column, own) in columns.iter_mut().enumerate() {
                    let cells = (start..start + len).map(|row| view[(row, column)].into());
                    own.extend(cells);
                }
            } else {
                // A few columns at a time, so that what is fetched of a row is used at once.
                const TOGETHER: usize = 8;
                for (group, own) in columns.chunks_mut(TOGETHER).enumerate() {
                    for row in start..start + len {
                        for (own, column) in own.iter_mut().zip(group * TOGETHER..) {
                            own.push(view[(row, column)].into());
                        }
                    }
                }
            }
            columns.into_iter().map(|own| column(own.into())).collect()
        })
        .collect()
}

fn in_place(view: ArrayView2<'_, f64>, owner: &Arc<Owner>) -> Result<Vec<Columns>, Infinite> {
    let (rows, width) = view.dim();
    let whole: Vec<Buffer> = (0..width)
        .map(|c| {
            let cells = view.column(c);
            let start = NonNull::from(&cells[0]).cast::<u8>();
            // SAFETY: the column is contiguous, and its owner keeps it alive.
            unsafe {
                Buffer::from_custom_allocation(
                    start,
                    rows * size_of::<f64>(),
                    Arc::clone(owner) as _,
                )
            }
        })
        .collect();
    starts(rows)
        .into_par_iter()
        .map(|start| {
            let len = CHUNK_ROWS.min(rows - start);
            let cells = |own: &Buffer| ScalarBuffer::<f64>::new(own.clone(), start, len);
            whole.iter().map(|own| column(cells(own))).collect()
        })
        .collect()
}

/// A column of numbers, with holes where there is none.
fn column(values: ScalarBuffer<f64>) -> Result<Column, Infinite> {
    // A sum of products with 0 is 0, or tells that some number is not finite.
    let suspicious = values.iter().fold(0.0, |sum, x| sum + x * 0.0) != 0.0;
    if !suspicious {
        return Ok(Column::Real {
            values,
            nulls: None,
        });
    }
    if values.iter().any(|x| x.is_infinite()) {
        return Err(Infinite);
    }
    let seen = BooleanBuffer::collect_bool(values.len(), |row| !values[row].is_nan());
    let numbers: Vec<f64> = (values.iter())
        .map(|x| if x.is_nan() { 0.0 } else { *x })
        .collect();
    Ok(Column::Real {
        values: numbers.into(),
        nulls: Some(NullBuffer::new(seen)),
    })
}
