//! Models: the mixture that serves naive Bayes, discriminant analysis and
//! clustering, and the specifications that make it one or the other; densities
//! without a family.

pub mod density;
pub mod mixture;
