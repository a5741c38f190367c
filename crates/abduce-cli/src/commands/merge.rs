//! `merge`: combines models of different rows into the model of all rows.

use crate::commands::changed;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use crate::io::output::Output;
use abduce::Error;
use abduce::store::Model;
use clap::Args;
use std::path::PathBuf;

/// Merge models of different rows
///
/// The result is the model that a fit of all rows together would give, exactly for counts and up
/// to rounding for moments: for naive-bayes and gda with every label known. The models must have
/// been fitted with the same options to the same columns; each may have classes, levels and words
/// that the others lack.
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
            return Err(Failure::usage(
                "name the file for the merged model with -o FILE",
            ));
        };
        Output::probe(place)?;
        let lock = changed::lock_in_place(place, &self.models, context)?;
        let models = self.models.iter().map(Model::load);
        let models: Vec<Model> = models.collect::<abduce::Result<_>>()?;
        let changed = Model::merge(&models).map_err(|error| self.name_file(&models, error))?;
        for (place, path) in self.models.iter().enumerate() {
            if self.models[..place].contains(path) {
                context.note(&format!(
                    "{} is given twice, so its rows count twice",
                    path.display()
                ));
            }
        }
        let before: Vec<&Model> = models.iter().collect();
        let result = changed::ChangedModel {
            changed: &changed,
            before: &before,
            place,
            notes: &[],
        };
        result.save(lock, context)
    }

    /// The error with the name of the first file that cannot be merged with the first model.
    fn name_file(&self, models: &[Model], error: Error) -> Error {
        for (path, model) in self.models.iter().zip(models).skip(1) {
            if let Err(error) = Model::merge(&[models[0].clone(), model.clone()]) {
                return error.at_file(path.display().to_string());
            }
        }
        error
    }
}
