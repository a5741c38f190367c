//! The arithmetic of k-means: centres packed eight side by side, the nearest of
//! them for many rows at once, distances of single pairs.
//!
//!   argmin_j |x − c_j|² = argmin_j ½|c_j|² − x·c_j,
//!
//! each score summed over columns in their order, so that a row has the same bits
//! in whatever company it is computed.

mod distances;
mod nearest;
mod packed;
mod single;
mod sums;
mod vector;

pub(crate) use distances::{manhattan, seen_manhattan, seen_squared, squared};
pub(crate) use nearest::{nearest, scores};
pub(crate) use packed::{LANES, Packed};
pub(crate) use single::nearest_within;
pub(crate) use sums::{add_rows, add_scatter};
pub(crate) use vector::Nearest;
