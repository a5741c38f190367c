//! Bayesian networks of discrete variables: a directed acyclic graph, and a table of probabilities
//! of each variable given its parents. Networks are read from and written to the files of other
//! programs, and asked for marginals and conditional independences; they cannot be fitted yet.

mod evidence;
mod exact;
mod file;
pub mod format;
mod graph;
mod infer;
mod model;

pub use evidence::Evidence;
pub use exact::{Cost, DEFAULT_MEMORY, Exact, Marginals};
pub use graph::EquivalenceClass;
pub use model::{Distribution, Network, Variable};
