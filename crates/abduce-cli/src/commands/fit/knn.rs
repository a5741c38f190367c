//! The options of `knn`.

use super::CalibrationOptions;
use super::models::{ModelArguments, ModelOptions};
use super::options::density::ClassOptions;
use crate::arguments::DataArguments;
use crate::arguments::values::at_least_one;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::model::AnyLearner;
use abduce::model::density::{Estimator, Knn};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    /// Number of neighbours, at most the rows of the class [default: the square root of the number
    /// of rows]
    #[arg(long, visible_alias = "neighbors", value_name = "K", allow_negative_numbers = true, value_parser = at_least_one)]
    neighbours: Option<usize>,

    #[command(flatten)]
    classes: ClassOptions,
}

impl ModelArguments for Options {
    type Learner = Knn;
    const EXAMPLES: &'static [&'static str] = &["knn faithful.csv --neighbours 20"];
}

impl ModelOptions for Options {
    fn learner(&self, _: &DataArguments, _: &Context) -> Outcome<Box<dyn AnyLearner>> {
        let estimator = Estimator::Knn {
            neighbours: self.neighbours,
        };
        Ok(Box::new(Knn(self.classes.recipe(estimator)?)))
    }

    fn calibration(&self) -> Option<&CalibrationOptions> {
        Some(&self.classes.calibration)
    }
}
