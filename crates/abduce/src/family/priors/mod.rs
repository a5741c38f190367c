//! Distributions over parameters: probabilities, precisions, covariance matrices.

pub(crate) mod bilateral_pareto;
pub(crate) mod dirichlet;
pub(crate) mod inverse_gamma;
pub(crate) mod inverse_wishart;
pub(crate) mod normal_gamma;
pub(crate) mod normal_wishart;
pub(crate) mod wishart;
