//! Exponential families in their natural form, p(x) = h(x) exp(η·u(x) − A(η)):
//! the mean of u is the gradient of A and its covariance the Hessian of A.

use crate::Result;

/// p(x) = h(x) exp(η·u(x) − A(η)).
pub trait ExponentialFamily: Sized {
    /// The natural parameters η.
    fn natural(&self) -> Vec<f64>;

    /// The distribution with other natural parameters; `self` gives the shape
    /// (dimension, trials).
    ///
    /// # Errors
    /// If they are outside of the natural parameter space.
    // The shape cannot be told from the numbers alone.
    #[allow(clippy::wrong_self_convention)]
    fn from_natural(&self, natural: &[f64]) -> Result<Self>;

    /// The log-partition function A(η).
    fn log_partition(&self, natural: &[f64]) -> f64;

    /// The sufficient statistics u(x).
    fn sufficient(&self, x: &[f64]) -> Vec<f64>;

    /// ln h(x); −∞ outside of the support.
    fn log_base(&self, x: &[f64]) -> f64;

    /// The mean of u(x), which is the gradient of A at η.
    fn expected_sufficient(&self) -> Vec<f64>;
}
