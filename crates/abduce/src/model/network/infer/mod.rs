//! Exact inference in networks.

pub(crate) mod factor;
pub(crate) mod junction_tree;
pub(crate) mod sweep;
pub(crate) mod triangulate;
