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
/// For naive-bayes and gda with all labels known, the result equals a fit to all rows together
/// (counts exactly, moments up to rounding). The models must have been fitted with the same options
/// to the same columns; each may have classes, levels and words that the others lack.
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
        let Some(output) = &self.output else {
            return Err(Failure::usage(
                "name the file for the merged model with -o FILE",
            ));
        };
        Output::check_writable(output)?;
        let lock = changed::lock_if_input(output, &self.models, context)?;
        let models = self.models.iter().map(Model::load);
        let models: Vec<Model> = models.collect::<abduce::Result<_>>()?;
        let changed = Model::merge(&models).map_err(|error| self.with_file_name(&models, error))?;
        for (index, path) in self.models.iter().enumerate() {
            if self.models[..index].contains(path) {
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
            output,
            notes: &[],
        };
        result.save(lock, context)
    }

    /// Adds to an error the name of the first file that cannot be merged with the first model,
    /// found by merging pairwise.
    fn with_file_name(&self, models: &[Model], error: Error) -> Error {
        for (path, model) in self.models.iter().zip(models).skip(1) {
            if let Err(error) = Model::merge(&[models[0].clone(), model.clone()]) {
                return error.at_file(path.display().to_string());
            }
        }
        error
    }
}
