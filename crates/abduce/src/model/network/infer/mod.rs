//! Exact inference in networks.

pub(crate) mod factor;
pub(crate) mod junction_tree;
#[cfg(test)]
mod laws;
pub(crate) mod sweep;
pub(crate) mod triangulate;
