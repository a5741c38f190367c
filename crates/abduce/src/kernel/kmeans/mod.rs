//! Kernels of k-means: the nearest of packed centres for many rows at once, and distances of
//! single pairs.
//!
//!   argmin_j |x − c_j|² = argmin_j ½|c_j|² − x·c_j,
//!
//! with each score summed in the order of the columns, so that the result for a row does not
//! depend on the other rows.

mod distances;
mod narrow;
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
