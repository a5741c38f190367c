//! `forget`: removes rows from a model.

use crate::arguments::DataArguments;
use crate::commands::changed::ModelChange;
use crate::context::Context;
use crate::io::failure::Outcome;
use clap::Args;
use std::path::PathBuf;

/// Remove rows from a model
///
/// The result is the model that a fit without those rows would give, with the same column
/// kinds. A row that was never fitted is an error, and the model is left unchanged. Such rows are
/// recognized by their hashes if the model was fitted with --marks to at most 100,000 rows;
/// otherwise only rows that contradict the statistics are recognized. Rows without a label cannot be removed.
#[derive(Args)]
#[command(after_help = "Example:
  abduce forget penguins.abduce withdrawn.csv")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Where to write the model [default: FILE]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let output = ModelChange {
            model: &self.model,
            output: self.output.as_deref(),
        };
        output.change(&self.data, context, |model, opened, control| {
            model.forget(&*opened.source, control)
        })
    }
}
