//! Mixtures: laws that hold for every table, and tables with known results.

mod compatibility;
mod diagnostics;
mod edge_cases;
mod faithful;
mod fixed_and_noise;
mod laws;
mod many_columns;
mod missing_values;
mod multiple_imputation;
mod outliers;
mod penguins;
mod selection;
mod starts;
mod tails;
mod wide;
