//! Mixtures: laws that hold for every table, and tables whose answers are known.

mod conventions;
mod diagnostics;
mod faithful;
mod given;
mod given_starts;
mod laws;
mod many_columns;
mod missing_values;
mod multiple_imputation;
mod outlier;
mod penguins;
mod selection;
mod survival;
mod tails;
