//! Answers of a fitted mixture: predictions, densities, conditional distributions, draws and
//! explanations.

pub(crate) mod decide;
pub(crate) mod discriminant;
pub(crate) mod explain;
pub(crate) mod joint;
mod moments;
pub(crate) mod predictive;
mod product;
