//! Plots of clusters, classes, densities and fits as SVG text, from plain numbers. The drawings
//! are small, readable in print and with colour vision deficiency, and follow the reader's light
//! or dark theme.
//!
//! [`classification`], [`uncertainty`] and [`density`] draw a [`Cloud`] of rows, two columns at
//! a time; [`criteria`] draws the criterion of a model selection, [`trace`] the progress of a
//! fit. All but the last follow mclust (Scrucca et al. 2016).

#![forbid(unsafe_code)]

mod axes;
mod classification;
mod cloud;
mod contour;
mod criteria;
mod curves;
mod density;
mod ellipse;
mod error;
mod look;
mod panel;
mod scatter;
mod sheet;
mod svg;
mod trace;
mod uncertainty;

#[cfg(test)]
mod laws;

pub use axes::{Axis, Scale};
pub use classification::classification;
pub use cloud::{Cloud, Marginal, Surface, Variable};
pub use contour::{Grid, Ring};
pub use criteria::{Criteria, Line, criteria};
pub use density::density;
pub use ellipse::Gaussian;
pub use error::{Error, Result};
pub use sheet::Frame;
pub use trace::{Trace, trace};
pub use uncertainty::uncertainty;
