//! Which columns a family can be fitted to.

use crate::family::Family;

/// The columns of a family and the values that they may hold.
pub trait Domain: Family {
    /// Whether a density has units, as one over real numbers does.
    const HAS_UNITS: bool;

    /// Whether it is over documents: a column of text, or a column of counts for
    /// each term.
    const TEXT: bool = false;

    /// The shape for a single column with this number of levels, if there is one.
    fn shape_of_column(levels: usize) -> Option<Self::Shape>;

    /// The number of columns of a shape.
    fn columns(_shape: &Self::Shape) -> usize {
        1
    }

    /// The number of levels of a shape, for a family over levels.
    fn levels(_shape: &Self::Shape) -> Option<usize> {
        None
    }

    /// Whether a number can be a value of this family; codes always can.
    fn supports(x: f64) -> bool {
        x.is_finite()
    }

    /// The probabilities of the levels, for a family over levels.
    fn probabilities(&self) -> Option<Vec<f64>> {
        None
    }
}
