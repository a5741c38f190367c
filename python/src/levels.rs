//! Levels 0, 1, 2, … in an array: their range, and their codes without a conversion to doubles.

use crate::dense::{Array, Columns, Layout, Number, Numbers, PADDING, transpose};
use crate::errors::value_error;
use crate::memory::Reused;
use crate::threads::pooled;
use abduce::data::{CHUNK_ROWS, Column};
use arrow_buffer::ScalarBuffer;
use numpy::PyArray1;
use numpy::ndarray::{ArrayView2, s};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Integers, which are never missing.
trait Integer: Number {
    /// The code of a level; `levels` for anything above the last level.
    fn code(self, levels: u32) -> u32;
}

impl Integer for i64 {
    fn code(self, levels: u32) -> u32 {
        self.clamp(0, levels.into()) as u32
    }
}

impl Integer for i32 {
    fn code(self, levels: u32) -> u32 {
        (self.max(0) as u32).min(levels)
    }
}

impl Integer for u8 {
    fn code(self, levels: u32) -> u32 {
        u32::from(self).min(levels)
    }
}

impl Array {
    /// The columns of the chunk with this number as codes, each column with this many levels; `None`
    /// for floats, which may be missing values.
    pub fn codes(&self, number: usize, levels: &[u32]) -> Option<Columns> {
        let start = number * CHUNK_ROWS;
        let rows = s![start..self.rows.min(start + CHUNK_ROWS), ..];
        match &self.layout {
            Layout::Long(view) => Some(coded(view.slice(rows), levels)),
            Layout::Int(view) => Some(coded(view.slice(rows), levels)),
            Layout::Byte(view) => Some(coded(view.slice(rows), levels)),
            Layout::Columns(_) | Layout::Double(_) | Layout::Single(_) => None,
        }
    }
}

fn coded<T: Integer>(view: ArrayView2<'_, T>, levels: &[u32]) -> Columns {
    let (rows, width) = view.dim();
    let stride = rows + PADDING;
    let mut memory = Reused::new(stride * width);
    let code = |column: usize, number: T| number.code(levels[column]);
    transpose::<T, u32, 16>(view, &mut memory.0, stride, code, |_| ());
    let cells = memory.buffer();
    let column = |c: usize| Column::Code {
        values: ScalarBuffer::new(cells.clone(), c * stride, rows),
        nulls: None,
    };
    (0..width).map(column).collect()
}

/// The smallest number of all columns and the largest of each, or 0.
type Range = (f64, Vec<f64>);

fn range_of<T: Number>(view: ArrayView2<'_, T>) -> Range {
    let zero = T::default();
    let mut least = vec![zero; view.ncols()];
    let mut greatest = least.clone();
    // NaN is neither smaller nor larger.
    let extend = |number: &T, least: &mut T, greatest: &mut T| {
        *least = if *number < *least { *number } else { *least };
        *greatest = if *number > *greatest {
            *number
        } else {
            *greatest
        };
    };
    if view.strides()[0].abs() < view.strides()[1].abs() {
        for (column, cells) in view.columns().into_iter().enumerate() {
            let (mut low, mut high) = (zero, zero);
            cells
                .iter()
                .for_each(|number| extend(number, &mut low, &mut high));
            (least[column], greatest[column]) = (low, high);
        }
    } else {
        for row in view.rows() {
            let bounds = least.iter_mut().zip(&mut greatest);
            row.iter()
                .zip(bounds)
                .for_each(|(number, (low, high))| extend(number, low, high));
        }
    }
    let least = least.into_iter().map(Number::double).fold(0.0, f64::min);
    (least, greatest.into_iter().map(Number::double).collect())
}

/// The range of 64-bit integers, which few machines compare with SIMD: as 32-bit integers if all fit,
/// which is checked at the same time.
fn range_of_long(view: ArrayView2<'_, i64>) -> Range {
    let Some(cells) = view.to_slice() else {
        return range_of(view);
    };
    let mut beyond = 0;
    let mut greatest = vec![0i32; view.ncols()];
    for row in cells.chunks_exact(view.ncols().max(1)) {
        for (number, high) in row.iter().zip(&mut greatest) {
            beyond |= (*number as u64) >> 31;
            *high = (*high).max(*number as i32);
        }
    }
    match beyond {
        0 => (0.0, greatest.into_iter().map(Number::double).collect()),
        _ => range_of(view),
    }
}

fn range_of_all<T: Number>(
    view: ArrayView2<'_, T>,
    of_chunk: fn(ArrayView2<'_, T>) -> Range,
) -> Range {
    let none = || (0.0, vec![0.0; view.ncols()]);
    let rows = view.nrows();
    let chunk = |number: usize| {
        let start = number * CHUNK_ROWS;
        of_chunk(view.slice(s![start..rows.min(start + CHUNK_ROWS), ..]))
    };
    let chunks = (0..rows.div_ceil(CHUNK_ROWS)).into_par_iter();
    chunks.map(chunk).reduce(none, |one, other| {
        let greatest = one.1.iter().zip(&other.1);
        let greatest = greatest.map(|(one, other)| one.max(*other)).collect();
        (one.0.min(other.0), greatest)
    })
}

/// The smallest number of an array and the largest of each column, or 0; NaN is ignored.
#[pyfunction]
#[pyo3(signature = (array, threads=None))]
pub fn range_of_levels<'py>(
    py: Python<'py>,
    array: Numbers<'py>,
    threads: Option<usize>,
) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
    let (least, greatest) = match &array {
        Numbers::Double(array) => range(py, array.as_array(), threads, range_of),
        Numbers::Single(array) => range(py, array.as_array(), threads, range_of),
        Numbers::Long(array) => range(py, array.as_array(), threads, range_of_long),
        Numbers::Int(array) => range(py, array.as_array(), threads, range_of),
        Numbers::Byte(array) => range(py, array.as_array(), threads, range_of),
    }?;
    if greatest.iter().any(|number| number.is_infinite()) {
        return Err(value_error(
            "Input X contains infinity or a value too large for a level.",
        ));
    }
    Ok((least, PyArray1::from_vec(py, greatest)))
}

fn range<T: Number>(
    py: Python<'_>,
    view: ArrayView2<'_, T>,
    threads: Option<usize>,
    of_chunk: fn(ArrayView2<'_, T>) -> Range,
) -> PyResult<Range> {
    pooled(py, threads, || range_of_all(view, of_chunk))
}
