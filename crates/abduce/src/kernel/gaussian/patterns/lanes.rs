//! Numbers of several components side by side, read and written by registers.

use crate::kernel::vector::Vector;
use std::marker::PhantomData;

/// The position of the product of columns `a` and `b` among the products of all pairs.
#[inline(always)]
pub(super) fn place(order: usize, a: usize, b: usize) -> usize {
    let (a, b) = (a.min(b), a.max(b));
    a * order - a * (a + 1) / 2 + b
}

/// Access by registers to numbers side by side: every place has `width` numbers, of which a
/// register takes those from `group` on.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub width: usize,
    pub group: usize,
}

impl Lanes {
    /// # Safety
    /// The processor must have the features of `V`, and `numbers` must have `width` numbers at
    /// the place. This also holds for the functions below.
    #[inline(always)]
    pub unsafe fn load<V: Vector>(self, numbers: &[f64], place: usize) -> V {
        debug_assert!(place * self.width + self.group + V::LANES <= numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { V::load(numbers.as_ptr().add(place * self.width + self.group)) }
    }

    #[inline(always)]
    pub unsafe fn store<V: Vector>(self, numbers: &mut [f64], place: usize, value: V) {
        debug_assert!(place * self.width + self.group + V::LANES <= numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { value.store(numbers.as_mut_ptr().add(place * self.width + self.group)) }
    }

    #[inline(always)]
    pub unsafe fn add<V: Vector>(self, numbers: &mut [f64], place: usize, value: V) {
        // SAFETY: the caller ensures it.
        unsafe { self.store(numbers, place, self.load::<V>(numbers, place).add(value)) }
    }
}

/// A sequence of registers in memory.
pub(super) struct Registers<'a, V> {
    numbers: &'a mut [f64],
    vector: PhantomData<V>,
}

impl<'a, V: Vector> Registers<'a, V> {
    pub fn new(numbers: &'a mut [f64]) -> Self {
        Registers {
            numbers,
            vector: PhantomData,
        }
    }

    /// # Safety
    /// The processor must have the features of `V`, and there must be a register at the place. This
    /// also holds for the functions below.
    #[inline(always)]
    pub unsafe fn get(&self, place: usize) -> V {
        debug_assert!((place + 1) * V::LANES <= self.numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { V::load(self.numbers.as_ptr().add(place * V::LANES)) }
    }

    #[inline(always)]
    pub unsafe fn set(&mut self, place: usize, value: V) {
        debug_assert!((place + 1) * V::LANES <= self.numbers.len());
        // SAFETY: the caller ensures it.
        unsafe { value.store(self.numbers.as_mut_ptr().add(place * V::LANES)) }
    }

    /// Some adjacent registers.
    #[inline(always)]
    pub unsafe fn row<const R: usize>(&self, row: usize) -> [V; R] {
        // SAFETY: the caller ensures it.
        unsafe { std::array::from_fn(|r| self.get(row * R + r)) }
    }

    #[inline(always)]
    pub unsafe fn set_row<const R: usize>(&mut self, row: usize, values: [V; R]) {
        for (r, value) in values.into_iter().enumerate() {
            // SAFETY: the caller ensures it.
            unsafe { self.set(row * R + r, value) }
        }
    }
}
