//! The tails of numbers taken together.

use super::model_name::ModelName;
use abduce::Error;
use abduce::model::mixture::Tails;
use clap::Args;

#[derive(Args)]
#[command(next_help_heading = "Model options")]
pub struct TailsOptions {
    /// Distribution of the numbers in a class or component: gaussian, or student-t, which is
    /// robust to outliers; its degrees of freedom are learned, or given as in student-t(4)
    /// [gda, mixture; default: gaussian]
    #[arg(long, value_name = "TAILS", value_parser = tails)]
    tails: Option<Tails>,
}

impl TailsOptions {
    /// The option, where it is given to a model that has no use for it.
    pub fn unfit(&self, model: ModelName) -> Option<(&'static str, &'static str)> {
        let why = match model {
            ModelName::Gda | ModelName::Mixture => return None,
            ModelName::NaiveBayes => "its columns stand alone; write --family COL=student-t",
            _ => "it is for gda and mixture",
        };
        self.tails.map(|_| ("--tails", why))
    }

    /// Whether tails are asked for.
    pub fn are_given(&self) -> bool {
        self.tails.is_some()
    }

    /// The tails asked for.
    pub fn tails(&self) -> Tails {
        self.tails.unwrap_or_default()
    }
}

fn tails(text: &str) -> Result<Tails, String> {
    text.parse().map_err(|error: Error| error.to_string())
}
