//! Distributions over points of several numbers, such as the Dirichlet, the Wishart and the
//! multivariate t.
//!
//! Parameters are public and may be set to values out of their range; results then mean nothing,
//! but nothing panics.

use crate::kernel::definite::Definite;
use crate::{Error, Result};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma, StandardNormal};

/// A distribution over points of several numbers. A matrix is written column
/// after column; a mean followed by a matrix is one point.
///
/// ```
/// use abduce::family::{Dirichlet, Multi};
/// let dirichlet = Dirichlet::new(vec![2.0, 3.0, 5.0])?;
/// assert_eq!(dirichlet.dimension(), 3);
/// assert_eq!(dirichlet.mean(), Some(vec![0.2, 0.3, 0.5]));
/// assert_eq!(dirichlet.log_density(&[0.5, 0.6, -0.1]), f64::NEG_INFINITY);
/// # Ok::<(), abduce::Error>(())
/// ```
pub trait Multi {
    /// The number of numbers in a point.
    fn dimension(&self) -> usize;

    /// The logarithm of the density, or of the probability of a point of
    /// counts; −∞ outside of the support. The density of a symmetric matrix is
    /// one over its lower half, that of probabilities over all but the last.
    fn log_density(&self, x: &[f64]) -> f64;

    /// The mean, where it exists.
    fn mean(&self) -> Option<Vec<f64>>;

    /// The variance of each number, where all exist.
    fn variance(&self) -> Option<Vec<f64>>;

    /// A point of highest density, where there is one.
    fn mode(&self) -> Option<Vec<f64>>;

    /// The entropy −E ln p(x), in nats.
    fn entropy(&self) -> f64;

    /// Draws a point.
    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64>;
}

/// A distribution whose Kullback–Leibler divergence from another of its family has a closed form.
///
/// ```
/// use abduce::family::{Dirichlet, Divergence};
/// let (fair, bent) = (Dirichlet::new(vec![2.0, 2.0])?, Dirichlet::new(vec![4.0, 1.0])?);
/// assert_eq!(fair.kl(&fair), 0.0);
/// assert!(fair.kl(&bent) > 0.0);
/// # Ok::<(), abduce::Error>(())
/// ```
pub trait Divergence: Multi {
    /// KL(self‖other) = E ln p(x)/q(x) under `self`; +∞ where `other` rules out
    /// what `self` allows, as where they have different dimensions.
    fn kl(&self, other: &Self) -> f64;
}

/// The number as it is, if it is positive and finite.
pub(super) fn positive(what: &str, x: f64) -> Result<f64> {
    if x > 0.0 && x.is_finite() {
        return Ok(x);
    }
    Err(Error::parameter(format!(
        "{what} is {x}, not a positive number"
    )))
}

/// Degrees of freedom of a Wishart: more than the order less one.
pub(super) fn enough_degrees(degrees: f64, order: usize) -> Result<f64> {
    let least = order as f64 - 1.0;
    if degrees > least && degrees.is_finite() {
        return Ok(degrees);
    }
    Err(Error::parameter(format!(
        "{degrees} degrees of freedom, but a matrix of order {order} needs more than {least}"
    )))
}

/// A matrix of this order, if it is symmetric and positive definite.
pub(super) fn definite(what: &str, matrix: &[f64], order: usize) -> Result<Definite> {
    if matrix.len() != order * order || order == 0 {
        return Err(Error::parameter(format!(
            "{what} has {} entries, not {order} × {order}",
            matrix.len()
        )));
    }
    Definite::new(matrix, order)
        .ok_or_else(|| Error::parameter(format!("{what} is not symmetric and positive definite")))
}

/// Numbers that are all finite, at least one.
pub(super) fn all_finite(what: &str, numbers: &[f64]) -> Result<()> {
    if !numbers.is_empty() && numbers.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Error::parameter(format!("{what} is empty or not finite")))
}

/// The order of a square matrix with this number of entries.
pub(super) fn order_of(matrix: &[f64]) -> usize {
    matrix.len().isqrt()
}

/// Entry (i, i) of a square matrix; NaN where the matrix is too small.
pub(super) fn diagonal(matrix: &[f64], order: usize, i: usize) -> f64 {
    matrix.get(i * order + i).copied().unwrap_or(f64::NAN)
}

/// x − y.
pub(super) fn difference(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

/// A draw from N(0, 1).
pub(super) fn draw_normal(rng: &mut dyn Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// A draw from Gamma(shape, rate 1); NaN for a shape that is not positive.
pub(super) fn draw_gamma(shape: f64, rng: &mut dyn Rng) -> f64 {
    Gamma::new(shape, 1.0).map_or(f64::NAN, |gamma| gamma.sample(rng))
}

/// The logarithm of a draw from Gamma(shape, rate 1), which for a small shape
/// is itself too small for a number: G(shape) = G(shape + 1) · U^{1/shape}.
pub(super) fn draw_ln_gamma(shape: f64, rng: &mut dyn Rng) -> f64 {
    if shape >= 1.0 {
        return draw_gamma(shape, rng).ln();
    }
    let uniform = 1.0 - rng.random::<f64>();
    draw_gamma(shape + 1.0, rng).ln() + uniform.ln() / shape
}
