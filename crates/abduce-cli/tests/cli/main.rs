//! The built binary, run as a user runs it: every command, every exit code.

mod ask;
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
mod run;
mod update;
