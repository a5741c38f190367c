//! Plots of models and their rows: [`gather`] asks a model for the numbers, and the functions
//! of the crate `abduce-plot`, which are re-exported here, draw them as SVG text.

mod gather;
mod sample;

pub use abduce_plot::*;
pub use gather::{Gathered, Wish, gather, plottable};

impl From<abduce_plot::Error> for crate::Error {
    fn from(error: abduce_plot::Error) -> crate::Error {
        crate::Error::parameter(error.to_string())
    }
}
