//! Evaluation on held-out rows: cross-validation, metrics of probabilities and clusters,
//! calibration, and decisions that minimise expected cost.

mod calibration;
mod clusters;
mod cross_validation;
mod curves;
mod decision;
mod logistic;
mod metrics;

pub use calibration::{Calibration, CalibrationMethod, Curve};
pub use clusters::Contingency;
pub use cross_validation::{Classifier, HeldOut, cross_validate, cross_validate_density};
pub use decision::Costs;
pub use metrics::{Bin, CALIBRATION_BINS, ClassMetrics, Metrics};
