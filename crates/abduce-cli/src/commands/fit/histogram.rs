//! The options of `histogram`.

use super::CalibrationOptions;
use super::models::{ModelArguments, ModelOptions};
use super::options::density::ClassOptions;
use crate::arguments::DataArguments;
use crate::arguments::values::not_negative;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::density::Bins;
use abduce::model::AnyLearner;
use abduce::model::density::{Estimator, HistogramDensity};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    /// Number of bins of a column: fd (Freedman-Diaconis), scott, sturges, knuth,
    /// or a number [default: fd]
    #[arg(long, value_name = "BINS", allow_hyphen_values = true)]
    bins: Option<Bins>,

    /// Pseudocount spread over the whole range [default: 1 with --target, else 0]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, value_parser = smoothing)]
    smoothing: Option<f64>,

    #[command(flatten)]
    classes: ClassOptions,
}

impl ModelArguments for Options {
    type Learner = HistogramDensity;
    const EXAMPLES: &'static [&'static str] = &["histogram faithful.csv --bins knuth"];
}

impl ModelOptions for Options {
    fn learner(&self, _: &DataArguments, _: &Context) -> Outcome<Box<dyn AnyLearner>> {
        let smoothing = f64::from(u8::from(self.classes.has_target()));
        let estimator = Estimator::Histogram {
            bins: self.bins.unwrap_or_default(),
            smoothing: self.smoothing.unwrap_or(smoothing),
        };
        Ok(Box::new(HistogramDensity(self.classes.recipe(estimator)?)))
    }

    fn calibration(&self) -> Option<&CalibrationOptions> {
        Some(&self.classes.calibration)
    }
}

fn smoothing(text: &str) -> Result<f64, String> {
    match text {
        "none" => Ok(0.0),
        "laplace" => Ok(1.0),
        _ => not_negative(text),
    }
}
