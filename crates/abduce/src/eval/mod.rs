//! How good a model is on rows it has not seen: rows are dealt into folds, each
//! is asked of a model that was learned without it, and what the answers are
//! worth is added up. Probabilities can be corrected by what came true, and
//! decisions made by what mistakes cost.

mod calibration;
mod clusters;
mod cross_validation;
mod curves;
mod decision;
mod metrics;

pub use calibration::{Calibration, CalibrationMethod, Curve};
pub use clusters::Contingency;
pub use cross_validation::{Classifier, HeldOut, cross_validate, cross_validate_density};
pub use decision::Costs;
pub use metrics::{Bin, CALIBRATION_BINS, ClassFigures, Metrics};
