//! `merge`: models of different rows become the model of all of them.

use crate::commands::changed;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::Output;
use abduce::Error;
use abduce::store::Model;
use clap::Args;
use std::path::PathBuf;

/// Add up models of different rows
///
/// The model becomes the one that a fit of all the rows together would give,
/// exactly for counts and to rounding for moments: naive-bayes and gda with every
/// label known. The models must have been fitted with the same options on the same
/// columns; each may have classes, levels and words that the others lack.
#[derive(Args)]
#[command(after_help = "Example:
  abduce merge monday.abduce tuesday.abduce wednesday.abduce -o week.abduce")]
pub struct Arguments {
    /// Models written by `abduce fit`
    #[arg(value_name = "FILE", required = true)]
    models: Vec<PathBuf>,
    /// Where to write the model
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        let Some(place) = &self.output else {
            return Err(Failure::usage("say with -o FILE where to write the model"));
        };
        Output::probe(place)?;
        let lock = changed::lock_in_place(place, &self.models, context)?;
        let models = self.models.iter().map(Model::load);
        let models: Vec<Model> = models.collect::<abduce::Result<_>>()?;
        let changed = Model::merge(&models).map_err(|error| self.blamed(&models, error))?;
        for (place, path) in self.models.iter().enumerate() {
            if self.models[..place].contains(path) {
                context.note(&format!(
                    "{} is given twice and counts twice",
                    path.display()
                ));
            }
        }
        let before: Vec<&Model> = models.iter().collect();
        changed::keep(&changed, &before, place, lock, &[], context)
    }

    /// The error of the first file that does not add to the first of all.
    fn blamed(&self, models: &[Model], error: Error) -> Error {
        for (path, model) in self.models.iter().zip(models).skip(1) {
            if let Err(error) = Model::merge(&[models[0].clone(), model.clone()]) {
                return error.at_file(path.display().to_string());
            }
        }
        error
    }
}
