//! The Wishart distribution over precision matrices Λ,
//!
//! p(Λ) = |Λ|^{(ν−d−1)/2} exp(−tr(W⁻¹Λ)/2) / (2^{νd/2} |W|^{ν/2} Γ_d(ν/2)),
//!
//! the conjugate prior of a Gaussian's precision; for whole ν the distribution
//! of Σ x xᵀ over ν draws from N(0, W).

use crate::family::multi::{definite, diagonal, draw_gamma, draw_normal, enough_degrees, order_of};
use crate::family::{Divergence, ExponentialFamily, Multi};
use crate::kernel::definite::{Definite, outer_square, product};
use crate::kernel::special::{digamma, ln_multigamma};
use crate::{Error, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// A Wishart over precision matrices, with mean νW. As an exponential family η
/// = (−W⁻¹/2, (ν − d − 1)/2), u(Λ) = (Λ, ln |Λ|), h = 1.
///
/// ```
/// use abduce::family::{Multi, Wishart};
/// let wishart = Wishart::new(5.0, vec![2.0, 0.5, 0.5, 1.0])?;
/// assert_eq!(wishart.mean(), Some(vec![10.0, 2.5, 2.5, 5.0]));
/// // Not positive definite, so not a precision matrix.
/// assert_eq!(wishart.log_density(&[1.0, 2.0, 2.0, 1.0]), f64::NEG_INFINITY);
/// assert!(Wishart::new(1.0, vec![2.0, 0.5, 0.5, 1.0]).is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wishart {
    /// The degrees of freedom ν, more than d − 1.
    pub degrees: f64,
    /// The scale matrix W, column after column.
    pub scale: Vec<f64>,
}

impl Wishart {
    /// A Wishart with these degrees of freedom and this scale.
    ///
    /// # Errors
    /// Unless the scale is square, symmetric and positive definite, and there
    /// are enough degrees of freedom for its order.
    pub fn new(degrees: f64, scale: Vec<f64>) -> Result<Self> {
        let order = order_of(&scale);
        definite("the scale matrix", &scale, order)?;
        enough_degrees(degrees, order)?;
        Ok(Wishart { degrees, scale })
    }

    /// The number d of rows and columns.
    pub fn order(&self) -> usize {
        order_of(&self.scale)
    }

    pub(crate) fn factored(&self) -> Option<Definite> {
        Definite::new(&self.scale, self.order())
    }

    /// E ln |Λ| = Σ ψ((ν − j)/2) + d ln 2 + ln |W|.
    pub(crate) fn expected_log_determinant(&self) -> f64 {
        let log_scale = self.factored().map_or(f64::NAN, |w| w.log_determinant());
        expected_log_determinant(self.degrees, self.order()) + log_scale
    }

    /// The logarithm of what the density is divided by.
    fn log_normalizer(&self) -> f64 {
        let log_scale = self.factored().map_or(f64::NAN, |w| w.log_determinant());
        log_normalizer(self.degrees, log_scale, self.order())
    }

    /// The lower Cholesky factor of a drawn precision: that of W times
    /// Bartlett's, whose diagonal is of χ draws and the rest of normal ones.
    pub(crate) fn draw_factor(&self, rng: &mut dyn Rng) -> Option<Vec<f64>> {
        let d = self.order();
        let inner = bartlett(self.degrees, d, rng);
        Some(product(self.factored()?.factor(), &inner, d))
    }
}

/// νd/2 ln 2 + ν/2 ln |W| + ln Γ_d(ν/2).
pub(crate) fn log_normalizer(degrees: f64, log_scale: f64, order: usize) -> f64 {
    0.5 * degrees * (order as f64 * LN_2 + log_scale) + ln_multigamma(0.5 * degrees, order)
}

/// E ln |Λ| for W = 1.
pub(crate) fn expected_log_determinant(degrees: f64, order: usize) -> f64 {
    let digammas = (0..order).map(|j| digamma(0.5 * (degrees - j as f64)));
    digammas.sum::<f64>() + order as f64 * LN_2
}

/// The lower Cholesky factor of a draw from Wishart(ν, 1): row i has √χ²(ν − i)
/// on the diagonal and standard normal draws before it (Bartlett 1933).
pub(crate) fn bartlett(degrees: f64, order: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let mut factor = vec![0.0; order * order];
    for i in 0..order {
        for j in 0..i {
            factor[j * order + i] = draw_normal(rng);
        }
        let half = 0.5 * (degrees - i as f64);
        factor[i * order + i] = (2.0 * draw_gamma(half, rng)).sqrt();
    }
    factor
}

impl Multi for Wishart {
    /// d², of which d (d + 1)/2 differ.
    fn dimension(&self) -> usize {
        self.scale.len()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let d = self.order();
        let Some(precision) = Definite::new(x, d) else {
            return f64::NEG_INFINITY;
        };
        let Some(scale) = self.factored() else {
            return f64::NAN;
        };
        let power = 0.5 * (self.degrees - d as f64 - 1.0);
        power * precision.log_determinant()
            - 0.5 * scale.trace_of_quotient(&precision)
            - self.log_normalizer()
    }

    fn mean(&self) -> Option<Vec<f64>> {
        Some(self.scale.iter().map(|w| self.degrees * w).collect())
    }

    /// ν (w²ᵢⱼ + wᵢᵢ wⱼⱼ).
    fn variance(&self) -> Option<Vec<f64>> {
        let d = self.order();
        let diagonal = |i: usize| diagonal(&self.scale, d, i);
        let variance =
            |(t, w): (usize, &f64)| self.degrees * (w * w + diagonal(t % d) * diagonal(t / d));
        Some(self.scale.iter().enumerate().map(variance).collect())
    }

    /// (ν − d − 1) W, where that is positive.
    fn mode(&self) -> Option<Vec<f64>> {
        let factor = self.degrees - self.order() as f64 - 1.0;
        (factor > 0.0).then(|| self.scale.iter().map(|w| factor * w).collect())
    }

    fn entropy(&self) -> f64 {
        let d = self.order() as f64;
        self.log_normalizer() - 0.5 * (self.degrees - d - 1.0) * self.expected_log_determinant()
            + 0.5 * self.degrees * d
    }

    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        match self.draw_factor(rng) {
            Some(factor) => outer_square(&factor, self.order()),
            None => vec![f64::NAN; self.dimension()],
        }
    }
}

impl Divergence for Wishart {
    fn kl(&self, other: &Self) -> f64 {
        if self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        let (Some(scale), Some(other_scale)) = (self.factored(), other.factored()) else {
            return f64::NAN;
        };
        let trace = other_scale.trace_of_quotient(&scale) - self.order() as f64;
        other.log_normalizer() - self.log_normalizer()
            + 0.5 * (self.degrees - other.degrees) * self.expected_log_determinant()
            + 0.5 * self.degrees * trace
    }
}

impl ExponentialFamily for Wishart {
    fn natural(&self) -> Vec<f64> {
        let inverse = self.factored().map(|w| w.inverse());
        let inverse = inverse.unwrap_or_else(|| vec![f64::NAN; self.dimension()]);
        let power = 0.5 * (self.degrees - self.order() as f64 - 1.0);
        inverse.iter().map(|w| -0.5 * w).chain([power]).collect()
    }

    fn from_natural(&self, natural: &[f64]) -> Result<Self> {
        let (degrees, inverse_scale) = self
            .parameters_of(natural)
            .ok_or_else(|| Error::parameter("the natural parameters are of no Wishart"))?;
        Wishart::new(degrees, inverse_scale.inverse())
    }

    /// Of the matrix −W⁻¹/2 only the symmetric part counts, as Λ is symmetric.
    fn log_partition(&self, natural: &[f64]) -> f64 {
        let Some((degrees, inverse_scale)) = self.parameters_of(natural) else {
            return f64::NAN;
        };
        log_normalizer(degrees, -inverse_scale.log_determinant(), self.order())
    }

    fn sufficient(&self, x: &[f64]) -> Vec<f64> {
        let precision = Definite::new(x, self.order());
        let log_determinant = precision.map_or(f64::NAN, |p| p.log_determinant());
        x.iter().copied().chain([log_determinant]).collect()
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        match Definite::new(x, self.order()) {
            Some(_) => 0.0,
            None => f64::NEG_INFINITY,
        }
    }

    fn expected_sufficient(&self) -> Vec<f64> {
        let mean = self.scale.iter().map(|w| self.degrees * w);
        mean.chain([self.expected_log_determinant()]).collect()
    }
}

impl Wishart {
    /// ν and W⁻¹ from natural parameters of this order.
    fn parameters_of(&self, natural: &[f64]) -> Option<(f64, Definite)> {
        let d = self.order();
        let (power, matrix) = natural.split_last()?;
        if matrix.len() != d * d {
            return None;
        }
        let entry = |t: usize| -(matrix[t] + matrix[(t % d) * d + t / d]);
        let inverse_scale: Vec<f64> = (0..d * d).map(entry).collect();
        let degrees = 2.0 * power + d as f64 + 1.0;
        Some((degrees, Definite::new(&inverse_scale, d)?))
    }
}
