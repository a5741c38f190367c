//! The commands, one file each. A new one is a file, its `mod` line and its
//! line in the list below.

mod bayes;
mod changed;
mod completions;
mod concept;
mod convert;
mod estimate;
mod evaluate;
mod explain;
pub mod fit;
mod forget;
mod impute;
mod man;
mod marginals;
mod merge;
mod plot;
mod predict;
mod query;
mod sample;
mod score;
mod separated;
mod show;
mod tour;
mod update;

use crate::context::Context;
use crate::io::failure::Outcome;
use clap::Subcommand;

macro_rules! commands {
    ($($name:ident: $file:ident,)*) => {
        /// What to do.
        #[derive(Subcommand)]
        pub enum Command { $($name(Box<$file::Arguments>),)* }

        impl Command {
            pub fn run(&self, context: &Context) -> Outcome {
                match self { $(Command::$name(arguments) => arguments.run(context),)* }
            }
        }
    };
}

commands! {
    Fit: fit,
    Predict: predict,
    Score: score,
    Impute: impute,
    Sample: sample,
    Query: query,
    Explain: explain,
    Show: show,
    Plot: plot,
    Evaluate: evaluate,
    Update: update,
    Merge: merge,
    Forget: forget,
    Estimate: estimate,
    Bayes: bayes,
    Concept: concept,
    Marginals: marginals,
    Separated: separated,
    Convert: convert,
    Tour: tour,
    Completions: completions,
    Man: man,
}
