//! The report of a fit: diagnostics of components and of convergence, and warnings.

pub(crate) mod diagnose;
pub(crate) mod diagnostics;
