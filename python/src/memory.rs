//! Memory of Arrow buffers: that of NumPy arrays, which a buffer keeps alive, and memory for one chunk,
//! which is reused by the next.

use crate::aligned::Aligned1;
use crate::errors::value_error;
use arrow_buffer::Buffer;
use numpy::Element;
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// Keeps an array alive.
pub struct Owner(pub Py<PyAny>);

// The object is only borrowed or dropped.
impl std::panic::RefUnwindSafe for Owner {}

/// The memory of an array, without a copy.
pub fn shared<T: Element>(array: &Aligned1<'_, T>) -> PyResult<Buffer> {
    let strided = |_| value_error("an array of one dimension is not contiguous");
    let cells = array.as_slice().map_err(strided)?;
    let owner = Arc::new(Owner(array.as_any().clone().unbind()));
    let start = NonNull::from(cells).cast::<u8>();
    // SAFETY: the cells are aligned and contiguous, and their owner keeps them alive.
    Ok(unsafe { Buffer::from_custom_allocation(start, size_of_val(cells), owner) })
}

/// Memory for one chunk, which is reused by the next: the system would clear new memory, which takes as
/// long as filling it.
pub struct Reused<T: Reusable>(pub Vec<T>);

/// Free memory for the next uses.
pub type Pool<T> = Mutex<Vec<Vec<T>>>;

/// The maximum number of vectors in a pool, and of numbers in each.
const MAX_VECTORS: usize = 16;
const MAX_NUMBERS: usize = 1 << 18;

/// Numbers with a pool.
pub trait Reusable: Copy + Default + Send + Sync + std::panic::RefUnwindSafe + 'static {
    fn pool() -> &'static Pool<Self>;
}

impl Reusable for f64 {
    fn pool() -> &'static Pool<f64> {
        static POOL: Pool<f64> = Mutex::new(Vec::new());
        &POOL
    }
}

impl Reusable for u32 {
    fn pool() -> &'static Pool<u32> {
        static POOL: Pool<u32> = Mutex::new(Vec::new());
        &POOL
    }
}

impl<T: Reusable> Reused<T> {
    pub fn new(numbers: usize) -> Reused<T> {
        // Waiting for the lock could take forever in a process forked while it was held.
        let free = T::pool().try_lock().ok().and_then(|mut pool| pool.pop());
        let mut memory = free.unwrap_or_default();
        memory.resize(numbers, T::default());
        Reused(memory)
    }

    pub fn buffer(self) -> Buffer {
        let bytes = size_of_val(self.0.as_slice());
        let owner = Arc::new(self);
        let start = NonNull::from(owner.0.as_slice()).cast::<u8>();
        // SAFETY: the numbers are neither moved nor changed while the owner lives.
        unsafe { Buffer::from_custom_allocation(start, bytes, owner) }
    }
}

impl<T: Reusable> Drop for Reused<T> {
    fn drop(&mut self) {
        if let Ok(mut pool) = T::pool().try_lock()
            && pool.len() < MAX_VECTORS
            && self.0.capacity() <= MAX_NUMBERS
        {
            pool.push(std::mem::take(&mut self.0));
        }
    }
}
