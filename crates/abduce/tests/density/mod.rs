//! Density models of tables and of classes.

mod answers;
mod models;
