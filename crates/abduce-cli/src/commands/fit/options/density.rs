//! The options of densities, of all rows or of each class.

use crate::commands::fit::CalibrationOptions;
use crate::io::failure::Outcome;
use abduce::model::density::{Estimator, Recipe, Specification};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct ClassOptions {
    /// The column of labels, for a density of each class; rows without a label are left out
    #[arg(long, value_name = "COL")]
    target: Option<String>,

    #[command(flatten)]
    pub calibration: CalibrationOptions,
}

impl ClassOptions {
    /// Whether there is a density for each class.
    pub fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// Densities by an estimator.
    pub fn recipe(&self, estimator: Estimator) -> Outcome<Recipe> {
        self.calibration.check(self.target.as_deref())?;
        Ok(Recipe {
            density: Specification {
                target: self.target.clone(),
                estimator,
            },
        })
    }
}
