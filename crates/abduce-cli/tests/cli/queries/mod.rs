//! Commands that query a fitted model: predict, score, impute, sample, query, evaluate, plot.

mod basics;
mod evaluate;
mod outliers;
mod plot;
mod query;
