//! The options of `kde`.

use super::CalibrationOptions;
use super::models::{ModelArguments, ModelOptions};
use super::options::density::ClassOptions;
use crate::arguments::DataArguments;
use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::density::{BandwidthShape, Kernel, Rule, Selection};
use abduce::model::AnyLearner;
use abduce::model::density::{Estimator, Kde};
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct Options {
    /// Kernel: gaussian, epanechnikov, tophat, triangular, cosine or exponential [default:
    /// gaussian]
    #[arg(long, value_name = "KERNEL", value_parser = kernel)]
    kernel: Option<Kernel>,

    /// Kernel bandwidth: scott, silverman, isj (one column only), cv (leave-one-out likelihood;
    /// scott if duplicate rows leave no optimum), or a number for every column [default:
    /// scott]
    #[arg(long, value_name = "BANDWIDTH", allow_hyphen_values = true)]
    bandwidth: Option<Rule>,

    /// The shape of the bandwidth: diagonal or full [default: diagonal]
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    covariance: Option<BandwidthShape>,

    #[command(flatten)]
    classes: ClassOptions,
}

impl ModelArguments for Options {
    type Learner = Kde;
    const EXAMPLES: &'static [&'static str] = &["kde faithful.csv --bandwidth cv"];
}

impl ModelOptions for Options {
    fn learner(&self, _: &DataArguments, _: &Context) -> Outcome<Box<dyn AnyLearner>> {
        let estimator = Estimator::Kde {
            kernel: self.kernel.unwrap_or_default(),
            selection: Selection {
                rule: self.bandwidth.unwrap_or_default(),
                shape: self.covariance.unwrap_or(BandwidthShape::Diagonal),
            },
        };
        Ok(Box::new(Kde(self.classes.recipe(estimator)?)))
    }

    fn calibration(&self) -> Option<&CalibrationOptions> {
        Some(&self.classes.calibration)
    }
}

fn kernel(text: &str) -> Result<Kernel, String> {
    // The name scikit-learn gives it.
    let text = if text == "linear" { "triangular" } else { text };
    text.parse()
        .map_err(|error: abduce::Error| error.to_string())
}

fn shape(text: &str) -> Result<BandwidthShape, String> {
    match text {
        "diagonal" => Ok(BandwidthShape::Diagonal),
        "full" => Ok(BandwidthShape::Full),
        _ => Err("a bandwidth is diagonal or full".into()),
    }
}
