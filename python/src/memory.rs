//! Memory that the engine's buffers lie in: that of arrays, which live on as long as a buffer
//! of them does, and pieces for one chunk, which are used again by the next one.

use crate::aligned::Aligned1;
use crate::trouble::wrong;
use arrow_buffer::Buffer;
use numpy::Element;
use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// Keeps the memory of an array.
pub struct Owner(pub Py<PyAny>);

// Nothing is ever done with it but to borrow it anew and to drop it.
impl std::panic::RefUnwindSafe for Owner {}

/// The memory of an array, as it lies.
pub fn shared<T: Element>(array: &Aligned1<'_, T>) -> PyResult<Buffer> {
    let strided = |_| wrong("an array of one dimension is not contiguous");
    let cells = array.as_slice().map_err(strided)?;
    let owner = Arc::new(Owner(array.as_any().clone().unbind()));
    let start = NonNull::from(cells).cast::<u8>();
    // SAFETY: the cells are aligned and contiguous, and their owner keeps them alive.
    Ok(unsafe { Buffer::from_custom_allocation(start, size_of_val(cells), owner) })
}

/// Memory for one chunk, which goes back to be used by the next one: from the system it
/// would come cleared, page by page, which takes as long as to fill it.
pub struct Lent<T: Lendable>(pub Vec<T>);

/// Memory that waits for its next use: no more pieces than a few, none of them large.
pub type Waiting<T> = Mutex<Vec<Vec<T>>>;
const PIECES: usize = 16;
const NUMBERS: usize = 1 << 18;

/// Numbers that chunks are made of.
pub trait Lendable: Copy + Default + Send + Sync + std::panic::RefUnwindSafe + 'static {
    fn waiting() -> &'static Waiting<Self>;
}

impl Lendable for f64 {
    fn waiting() -> &'static Waiting<f64> {
        static WAITING: Waiting<f64> = Mutex::new(Vec::new());
        &WAITING
    }
}

impl Lendable for u32 {
    fn waiting() -> &'static Waiting<u32> {
        static WAITING: Waiting<u32> = Mutex::new(Vec::new());
        &WAITING
    }
}

impl<T: Lendable> Lent<T> {
    pub fn of(numbers: usize) -> Lent<T> {
        // Whoever waits for a lock may be a process forked from one that held it.
        let waiting = T::waiting().try_lock().ok().and_then(|mut own| own.pop());
        let mut own = waiting.unwrap_or_default();
        own.resize(numbers, T::default());
        Lent(own)
    }

    pub fn buffer(self) -> Buffer {
        let bytes = size_of_val(self.0.as_slice());
        let own = Arc::new(self);
        let start = NonNull::from(own.0.as_slice()).cast::<u8>();
        // SAFETY: the numbers stay where they are, and unchanged, as long as the owner lives.
        unsafe { Buffer::from_custom_allocation(start, bytes, own) }
    }
}

impl<T: Lendable> Drop for Lent<T> {
    fn drop(&mut self) {
        if let Ok(mut waiting) = T::waiting().try_lock()
            && waiting.len() < PIECES
            && self.0.capacity() <= NUMBERS
        {
            waiting.push(std::mem::take(&mut self.0));
        }
    }
}
