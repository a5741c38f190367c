//! Families over the levels of a column, and over counts in a number of trials.

pub(crate) mod bernoulli;
#[allow(clippy::module_inception)]
pub(crate) mod categorical;
pub(crate) mod multinomial;
pub(crate) mod pseudocounts;
