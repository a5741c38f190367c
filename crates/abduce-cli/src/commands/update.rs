//! `update`: a model takes in new rows.

use crate::arguments::DataArguments;
use crate::arguments::values::not_negative;
use crate::commands::changed::Place;
use crate::context::Context;
use crate::io::failure::Outcome;
use clap::Args;
use std::path::PathBuf;

/// Take new rows into a model
///
/// The model becomes the one that a fit of the old and the new rows together
/// would give with the kinds that the columns have, without the old rows: naive-bayes and
/// gda with every label known,
/// exactly for counts and to rounding for moments. New classes, levels and words are
/// taken in. Where labels or correlated cells are hidden, it is one step of
/// incremental EM instead.
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
    /// How much rows without a label count beside labelled ones [default: as
    /// in the fit of the model]
    #[arg(long, value_name = "WEIGHT", allow_hyphen_values = true, value_parser = not_negative)]
    unlabelled: Option<f64>,
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
            let files = opened.files.clone();
            model.update(&*opened.source, files, self.unlabelled, control)
        })
    }
}
