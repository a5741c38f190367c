//! Checks of parameters, statistics and priors read from a model file.

use crate::family::Family;

/// Whether parameters, statistics and priors read from a file are in their range.
pub trait Validate: Family {
    /// Whether the parameters are in their range and of this shape.
    fn is_valid(&self, shape: &Self::Shape) -> bool;

    /// Whether statistics are of this shape.
    fn describes(shape: &Self::Shape, stats: &Self::Stats) -> bool;

    /// Whether a prior is of this shape, with parameters in their range.
    fn accepts(shape: &Self::Shape, prior: &Self::Prior) -> bool;
}
