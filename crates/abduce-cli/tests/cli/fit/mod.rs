//! `fit`: every model and its options.

mod basics;
mod densities;
mod diagnostics;
mod em_methods;
mod fixed_parameters;
mod gaussian;
mod kmeans;
mod option_pairs;
mod reports;
mod tails;
mod text;
mod units;
mod unseen;
