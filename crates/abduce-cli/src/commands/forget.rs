//! `forget`: a model without some of its rows.

use crate::arguments::DataArguments;
use crate::commands::changed::Place;
use crate::context::Context;
use crate::io::failure::Outcome;
use clap::Args;
use std::path::PathBuf;

/// Take rows out of a model
///
/// The result is the model that a fit without those rows would give, with the same column
/// kinds. A row that was never fitted is an error, and the model is left unchanged; up to
/// 100,000 rows are recognized by hashes in the model file, beyond that only rows that
/// contradict its statistics. Rows without a label cannot be removed.
#[derive(Args)]
#[command(after_help = "Example:
  abduce forget penguins.abduce withdrawn.csv")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Where to write the model [default: in the place of FILE]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let place = Place {
            model: &self.model,
            output: self.output.as_deref(),
        };
        place.change(&self.data, context, |model, opened, control| {
            model.forget(&*opened.source, control)
        })
    }
}
