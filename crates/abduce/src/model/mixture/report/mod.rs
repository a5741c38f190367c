//! What is reported of a fit: how each component stands, and what went wrong or nearly so.

pub(crate) mod diagnose;
pub(crate) mod diagnostics;
