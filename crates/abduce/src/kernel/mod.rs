//! The arithmetic: the only home of SIMD, of matrix products and of `unsafe`.
//! Everything here works on plain slices of `f64`; matrices are column-major
//! unless a function says otherwise.

pub(crate) mod definite;
pub(crate) mod eigen;
pub(crate) mod gaussian;
pub(crate) mod hashing;
pub(crate) mod kmeans;
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
