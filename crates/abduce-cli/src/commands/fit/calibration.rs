//! The options of the calibration of class probabilities.

use crate::arguments::values::at_least_one;
use crate::io::failure::{Failure, Outcome};
use abduce::data::{Folds, Source};
use abduce::eval::{Calibration, CalibrationMethod};
use abduce::model::AnyModel;
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Calibration options")]
pub struct CalibrationOptions {
    /// Calibrate class probabilities on held-out rows: isotonic (step function) or platt
    /// (logistic curve)
    #[arg(long, value_name = "METHOD")]
    calibrate: Option<CalibrationMethod>,

    /// Number of folds of held-out rows [default: 5]
    #[arg(long, value_name = "N", requires = "calibrate", allow_negative_numbers = true, value_parser = at_least_one)]
    calibration_folds: Option<usize>,
}

impl CalibrationOptions {
    /// The method asked for.
    pub fn method(&self) -> Option<CalibrationMethod> {
        self.calibrate
    }

    /// Rejects a calibration if there are no classes.
    pub fn check(&self, target: Option<&str>) -> Outcome {
        if self.calibrate.is_some() && target.is_none() {
            return Err(Failure::usage(
                "--calibrate applies to the probabilities of classes; name the column of classes \
                 with --target",
            ));
        }
        Ok(())
    }

    /// Learns the requested calibration; `learn` fits the model to the given rows.
    pub fn learn(
        &self,
        target: Option<usize>,
        source: &dyn Source,
        seed: u64,
        learn: impl Fn(&dyn Source) -> abduce::Result<AnyModel>,
    ) -> abduce::Result<Option<Calibration>> {
        let Some(method) = self.calibrate else {
            return Ok(None);
        };
        let number = self.calibration_folds.unwrap_or(5);
        let folds = Folds::stratified(source, target, number, seed)?;
        Calibration::learn(method, source, &folds, learn).map(Some)
    }
}
