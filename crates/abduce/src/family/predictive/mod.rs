//! Distributions of the next row, averaged over the distribution of the parameters.

pub(crate) mod averaged;
pub(crate) mod averaged_angles;
pub(crate) mod beta_negative_binomial;
pub(crate) mod beta_prime;
pub(crate) mod dirichlet_multinomial;
pub(crate) mod exponentiated;
pub(crate) mod lomax;
pub(crate) mod multivariate_t;
pub(crate) mod uncertain_uniform;
