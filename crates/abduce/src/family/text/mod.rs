//! Families of documents.

pub(crate) mod presence;
pub(crate) mod term_stats;
pub(crate) mod words;
