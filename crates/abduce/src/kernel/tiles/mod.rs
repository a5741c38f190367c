//! The two matrix products of an EM step, without storing Φ. A feature is the product of two
//! columns of a block, of which the last is all ones; η are the natural parameters of the
//! components. Written once for all vector widths:
//!
//! - `densities`, Φ·η: tiles of a few registers of rows by a panel of components. The features
//!   of a tile are computed once, in chunks that stay in the L1 cache, and used by all panels.
//! - `moments`, Rᵀ·Φ: tiles of features by two registers of components, summed over rows before
//!   memory is written.
//!
//! Their rates beside that of a general matrix product are in `bench/NOTES.md`; that one packs Φ
//! twice and, with many columns, has too few rows in the cache.

mod densities;
mod moments;

pub(crate) use densities::Panels;
pub(crate) use moments::{accumulate, moments_level, padded};

use crate::kernel::simd::Level;

/// The stride of columns is a multiple of this, so that no tile of any SIMD level reads beyond its
/// column.
pub(crate) const ALIGNMENT: usize = 24;

/// The two columns of which a feature is the product.
pub(crate) type Pair = [u32; 2];

/// The columns of a block of rows and the features made of them.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The columns, `stride` apart.
    pub columns: &'a [f64],
    pub stride: usize,
    pub rows: usize,
    pub pairs: &'a [Pair],
}

impl Block<'_> {
    /// Checks what the tiles rely on when they read columns.
    fn check(&self) {
        let count = self.columns.len() / self.stride.max(1);
        assert!(self.rows <= self.stride && self.stride.is_multiple_of(ALIGNMENT));
        let known = |pair: &Pair| pair.iter().all(|column| (*column as usize) < count);
        assert!(self.pairs.iter().all(known));
    }

    /// The number at a row of a column.
    #[inline(always)]
    unsafe fn at(&self, column: u32, row: usize) -> *const f64 {
        // SAFETY: the caller ensures that the column and the row are of the block.
        unsafe {
            self.columns
                .as_ptr()
                .add(column as usize * self.stride + row)
        }
    }
}

/// Buffers that are reused for all blocks.
#[derive(Default)]
pub(crate) struct Buffers {
    features: Vec<f64>,
    sums: Vec<f64>,
    transposed: Vec<f64>,
}

/// The numbers in a register.
pub(crate) fn lanes(level: Level) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => 8,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => 4,
        Level::Baseline => 2,
    }
}
