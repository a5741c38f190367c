//! Arrays as chunks of columns. An array of doubles in column order is used in place; of others, a chunk
//! is transposed whenever it is needed, which is faster than reading a transposed copy of the array from
//! memory. NaN is a missing value.

use crate::aligned::Aligned2;
use crate::memory::{Owner, Reused};
use abduce::data::{CHUNK_ROWS, Column};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use numpy::Element;
use numpy::ndarray::{ArrayView2, s};
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::Arc;

/// An array of numbers.
#[derive(FromPyObject)]
pub enum Numbers<'py> {
    Double(Aligned2<'py, f64>),
    Single(Aligned2<'py, f32>),
    Long(Aligned2<'py, i64>),
    Int(Aligned2<'py, i32>),
    Byte(Aligned2<'py, u8>),
}

/// A number that an array may hold.
pub trait Number: Copy + Default + PartialOrd + Send + Sync {
    fn double(self) -> f64;
}

impl Number for f64 {
    fn double(self) -> f64 {
        self
    }
}

impl Number for f32 {
    fn double(self) -> f64 {
        self.into()
    }
}

impl Number for i64 {
    fn double(self) -> f64 {
        self as f64
    }
}

impl Number for i32 {
    fn double(self) -> f64 {
        self.into()
    }
}

impl Number for u8 {
    fn double(self) -> f64 {
        self.into()
    }
}

/// Why numbers are refused.
pub enum InvalidNumber {
    /// One is infinite.
    Infinite,
    /// One is so large that its square is infinite.
    Large,
}

/// The largest absolute value.
pub const LARGE: f64 = 1e150;

/// The columns of one chunk.
pub type Columns = Vec<Column>;

/// An array whose chunks are created on demand.
pub struct Array {
    pub layout: Layout,
    pub rows: usize,
    pub width: usize,
    /// The name of the type in NumPy.
    pub dtype: &'static str,
    owner: Arc<Owner>,
}

/// The memory layout of an array.
pub enum Layout {
    /// Columns of doubles.
    Columns(Vec<Buffer>),
    Double(ArrayView2<'static, f64>),
    Single(ArrayView2<'static, f32>),
    Long(ArrayView2<'static, i64>),
    Int(ArrayView2<'static, i32>),
    Byte(ArrayView2<'static, u8>),
}

impl Numbers<'_> {
    /// The array, which is kept alive by the result.
    pub fn array(&self) -> Array {
        match self {
            Numbers::Double(array) => {
                let view = array.as_array();
                if view.strides()[0] == 1 && view.nrows() > 0 {
                    let layout = |_, owner: &Arc<Owner>| Layout::Columns(columns(view, owner));
                    kept(array, "float64", layout)
                } else {
                    kept(array, "float64", |view, _| Layout::Double(view))
                }
            }
            Numbers::Single(array) => kept(array, "float32", |view, _| Layout::Single(view)),
            Numbers::Long(array) => kept(array, "int64", |view, _| Layout::Long(view)),
            Numbers::Int(array) => kept(array, "int32", |view, _| Layout::Int(view)),
            Numbers::Byte(array) => kept(array, "uint8", |view, _| Layout::Byte(view)),
        }
    }
}

fn kept<T: Element + 'static>(
    array: &Aligned2<'_, T>,
    dtype: &'static str,
    layout: impl FnOnce(ArrayView2<'static, T>, &Arc<Owner>) -> Layout,
) -> Array {
    let view = array.as_array();
    let (rows, width) = view.dim();
    let owner = Arc::new(Owner(array.as_any().clone().unbind()));
    // SAFETY: the array is aligned, and the owner, which is returned with it, keeps the memory alive.
    let view = unsafe { view.raw_view().deref_into_view::<'static>() };
    Array {
        layout: layout(view, &owner),
        rows,
        width,
        dtype,
        owner,
    }
}

fn columns(view: ArrayView2<'_, f64>, owner: &Arc<Owner>) -> Vec<Buffer> {
    let one = |column: usize| {
        let cells = view.column(column);
        let bytes = cells.len() * size_of::<f64>();
        let start =
            NonNull::new(cells.as_ptr().cast_mut().cast::<u8>()).unwrap_or(NonNull::dangling());
        // SAFETY: the column is aligned, contiguous and not empty, and its owner keeps it alive. As
        // for every reader of an array, the caller must not write to it at the same time.
        unsafe { Buffer::from_custom_allocation(start, bytes, Arc::clone(owner) as _) }
    };
    (0..view.ncols()).map(one).collect()
}

impl Array {
    /// The columns of the chunk with this number.
    ///
    /// # Errors
    /// If a number is infinite or too large.
    pub fn chunk(&self, number: usize) -> Result<Columns, InvalidNumber> {
        let start = number * CHUNK_ROWS;
        let len = CHUNK_ROWS.min(self.rows - start);
        match &self.layout {
            Layout::Columns(whole) => {
                let cells = |buffer: &Buffer| ScalarBuffer::<f64>::new(buffer.clone(), start, len);
                whole.iter().map(|buffer| checked(cells(buffer))).collect()
            }
            Layout::Double(view) => transposed(view.slice(s![start..start + len, ..])),
            Layout::Single(view) => transposed(view.slice(s![start..start + len, ..])),
            Layout::Long(view) => transposed(view.slice(s![start..start + len, ..])),
            Layout::Int(view) => transposed(view.slice(s![start..start + len, ..])),
            Layout::Byte(view) => transposed(view.slice(s![start..start + len, ..])),
        }
    }

    /// A borrow of the array, during which Rust code of other packages cannot write to it.
    ///
    /// # Errors
    /// If other Rust code is writing to it.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.owner.0.bind(py).extract()
    }

    /// The number of chunks.
    pub fn chunks(&self) -> usize {
        self.rows.div_ceil(CHUNK_ROWS)
    }
}

/// The number of rows that are transposed together: the doubles in a cache line.
const TOGETHER: usize = 8;

/// Padding between two columns. Without it, columns of a full chunk start a power of two apart, so that
/// writing one evicts the others from the cache, which took three times as long.
pub const PADDING: usize = 8;

/// Transposes rows into columns that start `stride` apart, `TOGETHER` rows at a time. `put` converts a
/// cell, and `inspect` is called with the results.
pub fn transpose<T: Copy, U, const TOGETHER: usize>(
    view: ArrayView2<'_, T>,
    cells: &mut [U],
    stride: usize,
    put: impl Fn(usize, T) -> U,
    mut inspect: impl FnMut(&[U]),
) {
    let (rows, width) = view.dim();
    let contiguous = width == 1 || view.strides()[1] == 1;
    let together = if contiguous {
        rows - rows % TOGETHER
    } else {
        0
    };
    for first in (0..together).step_by(TOGETHER) {
        let rows = std::array::from_fn(|i| view.row(first + i).to_slice().unwrap_or_default());
        let rows: [&[T]; TOGETHER] = rows;
        for column in 0..width {
            let out = &mut cells[column * stride + first..][..TOGETHER];
            for (out, row) in out.iter_mut().zip(&rows) {
                *out = put(column, row[column]);
            }
            inspect(out);
        }
    }
    for column in 0..width {
        let out = &mut cells[column * stride..][..rows][together..];
        for (out, row) in out.iter_mut().zip(together..) {
            *out = put(column, view[(row, column)]);
        }
        inspect(out);
    }
}

fn transposed<T: Number>(view: ArrayView2<'_, T>) -> Result<Columns, InvalidNumber> {
    let (rows, width) = view.dim();
    let stride = rows + PADDING;
    let mut memory = Reused::new(stride * width);
    let mut finite = Finite::default();
    let put = |_: usize, number: T| number.double();
    transpose::<T, f64, TOGETHER>(view, &mut memory.0, stride, put, |numbers| {
        finite.add(numbers)
    });
    let cells = memory.buffer();
    let columns = (0..width).map(|c| ScalarBuffer::<f64>::new(cells.clone(), c * stride, rows));
    if finite.all() {
        Ok(columns.map(without_missing).collect())
    } else {
        columns.map(checked).collect()
    }
}

/// Checks that all numbers are finite and none is too large: otherwise a sum of products with 0 is
/// NaN.
#[derive(Default)]
struct Finite([f64; TOGETHER]);

/// A factor by which numbers above the limit become infinite.
const LIFT: f64 = f64::MAX / LARGE;

impl Finite {
    fn add(&mut self, numbers: &[f64]) {
        for some in numbers.chunks(TOGETHER) {
            let each = self.0.iter_mut().zip(some);
            each.for_each(|(sum, x)| *sum += x * LIFT * 0.0);
        }
    }

    fn all(&self) -> bool {
        self.0.iter().sum::<f64>() == 0.0
    }
}

fn without_missing(values: ScalarBuffer<f64>) -> Column {
    Column::Real {
        values,
        nulls: None,
    }
}

/// A column of numbers, in which NaN is a missing value.
fn checked(values: ScalarBuffer<f64>) -> Result<Column, InvalidNumber> {
    let mut finite = Finite::default();
    finite.add(&values);
    if finite.all() {
        return Ok(without_missing(values));
    }
    if values.iter().any(|x| x.is_infinite()) {
        return Err(InvalidNumber::Infinite);
    }
    if values.iter().any(|x| x.abs() > LARGE) {
        return Err(InvalidNumber::Large);
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
