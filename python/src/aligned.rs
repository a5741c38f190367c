//! NumPy arrays that Rust may read: borrowed, and aligned. NumPy itself also reads unaligned arrays.

use crate::errors::value_error;
use numpy::ndarray::{Dimension, Ix1, Ix2};
use numpy::{Element, PyArrayMethods, PyReadonlyArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::ops::Deref;

/// An array that is borrowed for reading, and aligned.
pub struct Aligned<'py, T: Element, D: Dimension>(PyReadonlyArray<'py, T, D>);

/// An aligned array of one dimension.
pub type Aligned1<'py, T> = Aligned<'py, T, Ix1>;

/// An aligned array of two dimensions.
pub type Aligned2<'py, T> = Aligned<'py, T, Ix2>;

impl<'a, 'py, T: Element + 'py, D: Dimension + 'py> FromPyObject<'a, 'py> for Aligned<'py, T, D> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArray<'py, T, D> = object.extract()?;
        if !is_aligned(&array) {
            return Err(value_error("the array is not aligned; pass a copy of it"));
        }
        Ok(Aligned(array))
    }
}

impl<'py, T: Element, D: Dimension> Deref for Aligned<'py, T, D> {
    type Target = PyReadonlyArray<'py, T, D>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Whether all elements are aligned, as those of an empty array are.
fn is_aligned<T: Element, D: Dimension>(array: &PyReadonlyArray<'_, T, D>) -> bool {
    if array.shape().contains(&0) {
        return true;
    }
    let steps = array.strides().iter().map(|stride| stride.unsigned_abs());
    let mut places = steps.chain([array.data() as usize]);
    places.all(|place| place % align_of::<T>() == 0)
}
