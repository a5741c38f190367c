//! Numerical kernels, the only module with SIMD, matrix products and `unsafe`. They work on
//! plain slices of `f64`; matrices are column-major unless documented otherwise.

pub(crate) mod by_row;
pub(crate) mod definite;
pub(crate) mod eigen;
pub(crate) mod gaussian;
pub(crate) mod hashing;
pub(crate) mod kmeans;
pub(crate) mod levels;
pub(crate) mod linear;
pub(crate) mod minimum;
pub(crate) mod pairs;
pub(crate) mod product;
pub(crate) mod quadrature;
pub(crate) mod roots;
pub(crate) mod simd;
pub(crate) mod softmax;
pub(crate) mod special;
pub(crate) mod sums;
pub(crate) mod terms;
pub(crate) mod tiles;
pub(crate) mod vector;
