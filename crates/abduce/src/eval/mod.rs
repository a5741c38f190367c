//! How good a model is on rows it has not seen: figures of predicted
//! probabilities and of clusters.

mod clusters;
mod metrics;

pub use clusters::Contingency;
pub use metrics::{Bin, CALIBRATION_BINS, ClassFigures, LEAST_PROBABILITY, Metrics};
