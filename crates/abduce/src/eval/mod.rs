//! How good a model is on rows it has not seen: figures of predicted
//! probabilities and of clusters, and rows dealt into folds.

mod clusters;
mod folds;
mod metrics;

pub use clusters::Contingency;
pub use folds::{Folds, MOST_FOLDS};
pub use metrics::{Bin, CALIBRATION_BINS, ClassFigures, LEAST_PROBABILITY, Metrics};
