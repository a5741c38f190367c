//! Exponential families: p(x) = h(x) exp(η·u(x) − A(η)), where the gradient of
//! the log-partition A is the mean of the sufficient statistic u and its
//! Hessian the covariance (Barndorff-Nielsen 1978).

use crate::Result;

/// A distribution written with natural parameters. A point is a slice, so that
/// numbers, vectors and matrices are treated alike.
///
/// ```
/// use abduce::family::{ExponentialFamily, Poisson};
/// let poisson = Poisson { rate: 3.0 };
/// let natural = poisson.natural();
/// assert_eq!(natural, [3.0_f64.ln()]);
/// assert!((poisson.log_partition(&natural) - 3.0).abs() < 1e-12);
/// assert!((poisson.from_natural(&natural)?.rate - 3.0).abs() < 1e-12);
/// # Ok::<(), abduce::Error>(())
/// ```
pub trait ExponentialFamily: Sized {
    /// The natural parameters η.
    fn natural(&self) -> Vec<f64>;

    // The shape is that of `self`, such as the number of trials.
    #[allow(clippy::wrong_self_convention)]
    /// The distribution with other natural parameters, of the shape of this one.
    ///
    /// # Errors
    /// If the natural parameters are out of their range.
    #[allow(clippy::wrong_self_convention, reason = "the shape is that of self")]
    fn from_natural(&self, natural: &[f64]) -> Result<Self>;

    /// The log-partition A(η).
    fn log_partition(&self, natural: &[f64]) -> f64;

    /// The sufficient statistic u(x).
    fn sufficient(&self, x: &[f64]) -> Vec<f64>;

    /// ln h(x), −∞ outside of the support.
    fn log_base(&self, x: &[f64]) -> f64;

    /// E u(x).
    fn expected_sufficient(&self) -> Vec<f64>;
}
