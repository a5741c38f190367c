//! `update`: a model takes in new rows.

use crate::arguments::{DataArguments, files_read, not_negative};
use crate::changed;
use crate::context::Context;
use crate::failure::Outcome;
use crate::interrupt;
use crate::output::{Output, refuse_inputs};
use abduce::learn::Control;
use abduce::store::Model;
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
        let model = Model::load(&self.model)?;
        let place = self.output.as_deref().unwrap_or(&self.model);
        Output::probe(place)?;
        let opened = self.data.open_more(&model, context)?;
        let files = files_read(&opened, &self.model).into_iter();
        refuse_inputs(Some(place), files.filter(|file| *file != self.model))?;
        let changed = interrupt::stoppable(|interrupt| {
            let control = Control {
                interrupt: Some(interrupt),
                progress: None,
            };
            let files = opened.files.clone();
            model.update(&*opened.source, files, self.unlabelled, control)
        });
        let changed = changed.map_err(|why| opened.locate(why))?;
        changed::keep(&changed, &[&model], place, &opened.notes, context)
    }
}
