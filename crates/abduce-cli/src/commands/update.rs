//! `update`: adds rows to a model.

use crate::arguments::DataArguments;
use crate::arguments::values::not_negative;
use crate::commands::changed::Place;
use crate::context::Context;
use crate::io::failure::Outcome;
use clap::Args;
use std::path::PathBuf;

/// Add rows to a model
///
/// The result is the model that a fit of the old and the new rows together would give, with the
/// same column kinds, but the old rows are not needed: for naive-bayes and gda with every label
/// known, exactly for counts and up to rounding for moments. New classes, levels and words are
/// added. Where labels or correlated cells are missing, one step of incremental EM is taken
/// instead.
#[derive(Args)]
#[command(after_help = "Examples:
  abduce update penguins.abduce more.csv
  abduce update spam.abduce today.tsv --no-header --names label,text -o newer.abduce")]
pub struct Arguments {
    /// A model written by `abduce fit`
    #[arg(value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// Weight of a row without a label [default: as in the fit of the model]
    #[arg(long, value_name = "WEIGHT", allow_hyphen_values = true, value_parser = not_negative)]
    unlabelled: Option<f64>,
    /// Where to write the model [default: FILE]
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
            let files = opened.files.clone();
            model.update(&*opened.source, files, self.unlabelled, control)
        })
    }
}
