//! Density models of tables and of classes.

mod edge_cases;
mod models;
