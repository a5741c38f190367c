//! Arrays as chunks of columns. An array that is column by column already is used as
//! it lies; of others, a chunk is transposed whenever it is asked for, which costs less
//! than to fetch a transposed copy of everything from memory. What is not a number is a
//! missing value.

use crate::aligned::Aligned2;
use crate::memory::{Lent, Owner};
use abduce::data::{CHUNK_ROWS, Column};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use numpy::Element;
use numpy::ndarray::{ArrayView2, s};
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::Arc;

/// An array of numbers of some precision.
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

/// Why numbers cannot be read.
pub enum Unfit {
    /// One is infinite.
    Infinite,
    /// One is so large that its square is.
    Large,
}

/// What is beyond this is large.
pub const LARGE: f64 = 1e150;

/// The columns of one chunk.
pub type Columns = Vec<Column>;

/// An array whose chunks are made when they are asked for.
pub struct Array {
    pub lies: Lies,
    pub rows: usize,
    pub width: usize,
    /// What NumPy calls the numbers.
    pub dtype: &'static str,
    owner: Arc<Owner>,
}

/// How an array lies in memory.
pub enum Lies {
    /// Column by column.
    Columns(Vec<Buffer>),
    Double(ArrayView2<'static, f64>),
    Single(ArrayView2<'static, f32>),
    Long(ArrayView2<'static, i64>),
    Int(ArrayView2<'static, i32>),
    Byte(ArrayView2<'static, u8>),
}

impl Numbers<'_> {
    /// The array, which lives on in what is made of it.
    pub fn array(&self) -> Array {
        match self {
            Numbers::Double(own) => {
                let view = own.as_array();
                match view.strides()[0] == 1 && view.nrows() > 0 {
                    true => kept(own, "float64", |_, owner| {
                        Lies::Columns(columns(view, owner))
                    }),
                    false => kept(own, "float64", |view, _| Lies::Double(view)),
                }
            }
            Numbers::Single(own) => kept(own, "float32", |view, _| Lies::Single(view)),
            Numbers::Long(own) => kept(own, "int64", |view, _| Lies::Long(view)),
            Numbers::Int(own) => kept(own, "int32", |view, _| Lies::Int(view)),
            Numbers::Byte(own) => kept(own, "uint8", |view, _| Lies::Byte(view)),
        }
    }
}

fn kept<T: Element + 'static>(
    array: &Aligned2<'_, T>,
    dtype: &'static str,
    lies: impl FnOnce(ArrayView2<'static, T>, &Arc<Owner>) -> Lies,
) -> Array {
    let view = array.as_array();
    let (rows, width) = view.dim();
    let owner = Arc::new(Owner(array.as_any().clone().unbind()));
    // SAFETY: the array is aligned, and the owner, which stands beside it in what is returned,
    // keeps the memory alive.
    let view = unsafe { view.raw_view().deref_into_view::<'static>() };
    Array {
        lies: lies(view, &owner),
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
        // with every reader of an array, the caller must not write to it meanwhile.
        unsafe { Buffer::from_custom_allocation(start, bytes, Arc::clone(owner) as _) }
    };
    (0..view.ncols()).map(one).collect()
}

impl Array {
    /// The columns of the chunk of this number.
    ///
    /// # Errors
    /// If a number is infinite or too large.
    pub fn chunk(&self, number: usize) -> Result<Columns, Unfit> {
        let start = number * CHUNK_ROWS;
        let len = CHUNK_ROWS.min(self.rows - start);
        match &self.lies {
            Lies::Columns(whole) => {
                let cells = |own: &Buffer| ScalarBuffer::<f64>::new(own.clone(), start, len);
                whole.iter().map(|own| checked(cells(own))).collect()
            }
            Lies::Double(view) => transposed(view.slice(s![start..start + len, ..])),
            Lies::Single(view) => transposed(view.slice(s![start..start + len, ..])),
            Lies::Long(view) => transposed(view.slice(s![start..start + len, ..])),
            Lies::Int(view) => transposed(view.slice(s![start..start + len, ..])),
            Lies::Byte(view) => transposed(view.slice(s![start..start + len, ..])),
        }
    }

    /// A borrow of the array: while it is held, Rust code of other packages cannot borrow the
    /// array to write to it.
    ///
    /// # Errors
    /// If other Rust code is writing to it.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py>> {
        self.owner.0.bind(py).extract()
    }

    /// How many chunks there are.
    pub fn chunks(&self) -> usize {
        self.rows.div_ceil(CHUNK_ROWS)
    }
}

/// Rows that are transposed together: as many as doubles fill what memory fetches at once.
const TOGETHER: usize = 8;

/// Numbers between two columns: a full chunk's would otherwise lie a power of two apart,
/// where writing one column drives the others out of the cache, which took three times as
/// long.
pub const APART: usize = 8;

/// Puts rows into columns that lie `stride` apart, `TOGETHER` of them at a time, each cell as
/// `put` makes it; `look` is shown whatever was made.
pub fn transpose<T: Copy, U, const TOGETHER: usize>(
    view: ArrayView2<'_, T>,
    cells: &mut [U],
    stride: usize,
    put: impl Fn(usize, T) -> U,
    mut look: impl FnMut(&[U]),
) {
    let (rows, width) = view.dim();
    let contiguous = width == 1 || view.strides()[1] == 1;
    let together = if contiguous {
        rows - rows % TOGETHER
    } else {
        0
    };
    for first in (0..together).step_by(TOGETHER) {
        let own = std::array::from_fn(|i| view.row(first + i).to_slice().unwrap_or_default());
        let own: [&[T]; TOGETHER] = own;
        for column in 0..width {
            let out = &mut cells[column * stride + first..][..TOGETHER];
            for (out, own) in out.iter_mut().zip(&own) {
                *out = put(column, own[column]);
            }
            look(out);
        }
    }
    for column in 0..width {
        let out = &mut cells[column * stride..][..rows][together..];
        for (out, row) in out.iter_mut().zip(together..) {
            *out = put(column, view[(row, column)]);
        }
        look(out);
    }
}

fn transposed<T: Number>(view: ArrayView2<'_, T>) -> Result<Columns, Unfit> {
    let (rows, width) = view.dim();
    let stride = rows + APART;
    let mut lent = Lent::of(stride * width);
    let mut finite = Finite::default();
    let put = |_: usize, own: T| own.double();
    transpose::<T, f64, TOGETHER>(view, &mut lent.0, stride, put, |own| finite.look(own));
    let cells = lent.buffer();
    let columns = (0..width).map(|c| ScalarBuffer::<f64>::new(cells.clone(), c * stride, rows));
    match finite.all() {
        true => Ok(columns.map(without_holes).collect()),
        false => columns.map(checked).collect(),
    }
}

/// Whether all numbers that were looked at are there and none is large: a sum of products with 0
/// is 0, or tells that one is infinite or no number.
#[derive(Default)]
struct Finite([f64; TOGETHER]);

/// What is large becomes infinite by this.
const LIFT: f64 = f64::MAX / LARGE;

impl Finite {
    fn look(&mut self, numbers: &[f64]) {
        for some in numbers.chunks(TOGETHER) {
            let each = self.0.iter_mut().zip(some);
            each.for_each(|(sum, x)| *sum += x * LIFT * 0.0);
        }
    }

    fn all(&self) -> bool {
        self.0.iter().sum::<f64>() == 0.0
    }
}

fn without_holes(values: ScalarBuffer<f64>) -> Column {
    Column::Real {
        values,
        nulls: None,
    }
}

/// A column of numbers, with missing values where there is none.
fn checked(values: ScalarBuffer<f64>) -> Result<Column, Unfit> {
    let mut finite = Finite::default();
    finite.look(&values);
    if finite.all() {
        return Ok(without_holes(values));
    }
    if values.iter().any(|x| x.is_infinite()) {
        return Err(Unfit::Infinite);
    }
    if values.iter().any(|x| x.abs() > LARGE) {
        return Err(Unfit::Large);
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
