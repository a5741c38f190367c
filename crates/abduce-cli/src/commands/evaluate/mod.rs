//! `evaluate`: measures a model on rows it was not fitted to, by cross-validation or, for a saved
//! model, on a test table.

mod folds;
mod report;
mod saved;

use crate::commands::fit::Chosen;
use crate::context::Context;
use crate::io::failure::{Failure, Outcome};
use clap::Args;
use folds::FoldArguments;
use saved::SavedArguments;

/// Measure how well a model predicts rows it was not fitted to
///
/// The rows are split into folds; each fold is predicted by a model fitted to the others. With
/// --target: accuracy, log-loss, Brier score, calibration error, confusion matrix and figures for
/// each class; rows without a label are used in the fit but not evaluated. Without: the
/// log-likelihood of held-out rows, and with --truth the agreement of the clusters with a column
/// that is not part of the fit. All options of `abduce fit MODEL` apply.
///
/// With a model file instead of MODEL, that model is evaluated on DATA, which should not contain
/// the rows it was fitted to.
#[derive(Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "Each model has its own options: abduce evaluate MODEL --help lists them.

Examples:
  abduce evaluate naive-bayes penguins.csv --target species --folds 10
  abduce evaluate gda penguins.csv --target species --drop island,sex,year --json
  abduce evaluate naive-bayes penguins.csv --target species --calibrate platt
  abduce evaluate mixture penguins.csv -k 3 --truth species --drop island,sex,year
  abduce evaluate penguins.abduce test.csv"
)]
pub struct Arguments {
    #[command(subcommand)]
    model: Option<Chosen<FoldArguments>>,
    #[command(flatten)]
    saved: SavedArguments,
}

impl Arguments {
    pub fn run(&self, context: &Context) -> Outcome {
        match (&self.model, self.saved.file()) {
            (Some(model), None) => folds::cross_validate(model, context),
            (None, Some(file)) => self.saved.run(file, context),
            _ => Err(Failure::usage("name a model or a model file")),
        }
    }
}
