//! Plots of models and their rows: [`gather`] computes the numbers from a model, and the
//! functions of the crate `abduce-plot`, re-exported here, draw them as SVG text.

mod gather;
mod sample;

pub use abduce_plot::*;
pub use gather::{Gathered, PlotOptions, gather, plottable};

impl From<abduce_plot::Error> for crate::Error {
    fn from(error: abduce_plot::Error) -> crate::Error {
        crate::Error::parameter(error.to_string())
    }
}
