//! The built binary, run as a user runs it: every command, every exit code.

mod answers;
mod bad_input;
mod bayes;
mod concept;
mod densities;
mod determinism;
mod diagnostics;
mod em_methods;
mod estimate;
mod estimate_input;
mod evaluate;
mod faces;
mod fitting;
mod given;
mod kmeans;
mod living;
mod living_edges;
mod model_files;
mod pipes;
mod plot;
mod reports;
mod run;
mod sources;
mod tails;
mod text;
mod units;
