//! The arithmetic: the only home of SIMD, of matrix products and of `unsafe`.
//! Everything here works on plain slices of `f64`; matrices are column-major
//! unless a function says otherwise.

pub(crate) mod definite;
pub(crate) mod gaussian;
pub(crate) mod linear;
pub(crate) mod product;
// Not every function below has a caller yet: the families of one column bring
// them.
#[allow(dead_code)]
pub(crate) mod quadrature;
#[allow(dead_code)]
pub(crate) mod roots;
pub(crate) mod simd;
pub(crate) mod softmax;
#[allow(dead_code, unused_imports)]
pub(crate) mod special;
pub(crate) mod sums;
