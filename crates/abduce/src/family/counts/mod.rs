//! Families of counts.

pub(crate) mod binomial;
pub(crate) mod geometric;
pub(crate) mod lattice;
pub(crate) mod negative_binomial;
pub(crate) mod point_mass;
pub(crate) mod poisson;
pub(crate) mod zero_inflated_poisson;
