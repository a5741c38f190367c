//! The two steps of EM: expected statistics from parameters, parameters from statistics.

pub(crate) mod coordinates;
pub(crate) mod expect;
mod gaussians;
pub(crate) mod groups;
pub(crate) mod maximize;
pub(crate) mod runs;
pub(crate) mod task;
