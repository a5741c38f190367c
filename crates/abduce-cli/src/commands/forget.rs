//! `forget`: a model without some of its rows.

use crate::arguments::DataArguments;
use crate::changed::Place;
use crate::context::Context;
use crate::failure::Outcome;
use clap::Args;
use std::path::PathBuf;

/// Take rows out of a model
///
/// The model becomes the one that a fit of the other rows would give with the kinds
/// that the columns have, without those rows. A row that it has not seen is an error, and nothing is changed
/// then; up to 100,000 rows are known by marks in the model file, more only by
/// what its statistics rule out. Rows without a label cannot be taken out.
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
