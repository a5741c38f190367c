//! Tests of the command line: every command and exit code, run as a user would.

mod bayes;
mod concept;
mod data;
mod dependencies;
mod determinism;
mod documentation;
mod estimate;
mod fit;
mod help;
mod model_files;
mod networks;
mod queries;
mod run;
mod update;
