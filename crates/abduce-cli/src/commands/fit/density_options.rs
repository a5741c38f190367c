//! The options of densities: `kde`, `histogram` and `knn`.

use super::model_name::ModelName;
use super::values::at_least_one;
use abduce::density::{BandwidthShape, Bins, Kernel, Rule, Selection};
use abduce::model::density::Estimator;
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Density options")]
pub struct DensityOptions {
    /// Kernel: gaussian, epanechnikov, tophat, triangular, cosine or exponential [kde; default:
    /// gaussian]
    #[arg(long, value_name = "KERNEL", value_parser = kernel)]
    kernel: Option<Kernel>,

    /// Kernel bandwidth: scott, silverman, isj (one column only), cv (leave-one-out likelihood;
    /// scott if duplicate rows leave no optimum), or a number for every column [kde; default:
    /// scott]
    #[arg(long, value_name = "RULE", allow_hyphen_values = true, value_parser = bandwidth)]
    bandwidth: Option<Rule>,

    /// How many bins a column has: fd (Freedman-Diaconis), scott, sturges, knuth,
    /// or a number [histogram; default: fd]
    #[arg(long, value_name = "RULE", allow_hyphen_values = true, value_parser = bins)]
    bins: Option<Bins>,

    /// How many neighbours are counted, at most the rows of the class [knn;
    /// default: the root of the number of rows]
    #[arg(long, visible_alias = "neighbors", value_name = "K", allow_negative_numbers = true, value_parser = at_least_one)]
    neighbours: Option<usize>,
}

impl DensityOptions {
    /// The first option given that the model has no use for.
    pub fn unfit(&self, model: ModelName) -> Option<(&'static str, &'static str)> {
        let given = [
            (
                self.kernel.is_some(),
                ModelName::Kde,
                "--kernel",
                "it is for kde",
            ),
            (
                self.bandwidth.is_some(),
                ModelName::Kde,
                "--bandwidth",
                "it is for kde",
            ),
            (
                self.bins.is_some(),
                ModelName::Histogram,
                "--bins",
                "it is for histogram",
            ),
            (
                self.neighbours.is_some(),
                ModelName::Knn,
                "--neighbours",
                "it is for knn",
            ),
        ];
        let unfit = given
            .iter()
            .find(|(given, own, ..)| *given && *own != model);
        unfit.map(|(_, _, option, why)| (*option, *why))
    }

    /// The density that a model is, if it is one.
    pub fn estimator(
        &self,
        model: ModelName,
        shape: BandwidthShape,
        smoothing: f64,
    ) -> Option<Estimator> {
        Some(match model {
            ModelName::Kde => Estimator::Kde {
                kernel: self.kernel.unwrap_or_default(),
                selection: Selection {
                    rule: self.bandwidth.unwrap_or_default(),
                    shape,
                    ..Selection::default()
                },
            },
            ModelName::Histogram => Estimator::Histogram {
                bins: self.bins.unwrap_or_default(),
                smoothing,
            },
            ModelName::Knn => Estimator::Knn {
                neighbours: self.neighbours,
            },
            _ => return None,
        })
    }
}

fn kernel(text: &str) -> Result<Kernel, String> {
    // The name scikit-learn gives it.
    let text = if text == "linear" { "triangular" } else { text };
    text.parse()
        .map_err(|error: abduce::Error| error.to_string())
}

fn bandwidth(text: &str) -> Result<Rule, String> {
    text.parse()
        .map_err(|error: abduce::Error| error.to_string())
}

fn bins(text: &str) -> Result<Bins, String> {
    text.parse()
        .map_err(|error: abduce::Error| error.to_string())
}
