//! Models: the mixture that serves naive Bayes, discriminant analysis and
//! clustering, and the specifications that make it one or the other.

pub mod mixture;
