//! Special functions that the standard library lacks, each accurate in its own tail.

mod bessel;
mod beta;
mod gamma;
mod incomplete_beta;
mod incomplete_gamma;
mod normal;

pub(crate) use bessel::*;
pub(crate) use beta::*;
pub(crate) use gamma::*;
pub(crate) use incomplete_beta::*;
pub(crate) use incomplete_gamma::*;
pub(crate) use normal::*;

#[cfg(test)]
mod tests;
