//! `update`: adds rows to a model.

use crate::arguments::DataArguments;
use crate::arguments::values::not_negative;
use crate::commands::changed::ModelChange;
use crate::context::Context;
use crate::io::failure::Outcome;
use clap::Args;
use std::path::PathBuf;

/// Add rows to a model
///
/// For naive-bayes and gda with all labels known, the result equals a fit to the old and new rows
/// together (counts exactly, moments up to rounding), with the same column kinds. The old rows are
/// not needed. New classes, levels and words are added. If labels or cells of correlated columns are
/// missing, one step of incremental EM is taken instead.
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
        let output = ModelChange {
            model: &self.model,
            output: self.output.as_deref(),
        };
        output.change(&self.data, context, |model, opened, control| {
            let files = opened.files.clone();
            model.update(&*opened.source, files, self.unlabelled, control)
        })
    }
}
