//! `forget`: a model without some of its rows.

use crate::arguments::{DataArguments, files_read};
use crate::changed;
use crate::context::Context;
use crate::failure::Outcome;
use crate::interrupt;
use crate::output::{Output, refuse_inputs};
use abduce::learn::Control;
use abduce::store::Model;
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
            model.forget(&*opened.source, control)
        });
        let changed = changed.map_err(|why| opened.locate(why))?;
        changed::keep(&changed, &[&model], place, &opened.notes, context)
    }
}
