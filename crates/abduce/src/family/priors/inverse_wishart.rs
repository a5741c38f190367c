//! The inverse Wishart distribution over covariance matrices Σ,
//!
//! p(Σ) = |Ψ|^{ν/2} |Σ|^{−(ν+d+1)/2} exp(−tr(ΨΣ⁻¹)/2) / (2^{νd/2} Γ_d(ν/2)):
//!
//! Σ⁻¹ has the Wishart distribution with scale Ψ⁻¹.

use crate::Result;
use crate::family::multi::{definite, diagonal, enough_degrees, order_of};
use crate::family::priors::wishart::{bartlett, expected_log_determinant, log_normalizer};
use crate::family::{Divergence, Multi};
use crate::kernel::definite::{Definite, outer_square, product, transposed};
use crate::kernel::linear::invert_lower;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// An inverse Wishart over covariance matrices, with mean Ψ/(ν − d − 1).
///
/// ```
/// use abduce::family::{InverseWishart, Multi};
/// let covariance = InverseWishart::new(7.0, vec![8.0, 2.0, 2.0, 4.0])?;
/// assert_eq!(covariance.mean(), Some(vec![2.0, 0.5, 0.5, 1.0]));
/// assert_eq!(covariance.mode(), Some(vec![0.8, 0.2, 0.2, 0.4]));
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InverseWishart {
    /// The degrees of freedom ν, more than d − 1.
    pub degrees: f64,
    /// The scale matrix Ψ, column after column.
    pub scale: Vec<f64>,
}

impl InverseWishart {
    /// An inverse Wishart with these degrees of freedom and this scale.
    ///
    /// # Errors
    /// Unless the scale is square, symmetric and positive definite, and there
    /// are enough degrees of freedom for its order.
    pub fn new(degrees: f64, scale: Vec<f64>) -> Result<Self> {
        let order = order_of(&scale);
        definite("the scale matrix", &scale, order)?;
        enough_degrees(degrees, order)?;
        Ok(InverseWishart { degrees, scale })
    }

    /// The number d of rows and columns.
    pub fn order(&self) -> usize {
        order_of(&self.scale)
    }

    pub(crate) fn factored(&self) -> Option<Definite> {
        Definite::new(&self.scale, self.order())
    }

    /// ln |Ψ|.
    fn log_scale(&self) -> f64 {
        self.factored()
            .map_or(f64::NAN, |psi| psi.log_determinant())
    }

    /// The logarithm of what the density is divided by, which is that of the
    /// Wishart with scale Ψ⁻¹.
    fn log_normalizer(&self) -> f64 {
        log_normalizer(self.degrees, -self.log_scale(), self.order())
    }

    /// E ln |Σ|.
    pub(crate) fn expected_log_determinant(&self) -> f64 {
        self.log_scale() - expected_log_determinant(self.degrees, self.order())
    }

    /// M with Σ = M Mᵀ for a drawn Σ: the factor of Ψ times the inverse
    /// transpose of Bartlett's, so that no drawn matrix need be factored.
    pub(crate) fn draw_root(&self, rng: &mut dyn Rng) -> Option<Vec<f64>> {
        let d = self.order();
        let inner = bartlett(self.degrees, d, rng);
        let inverse = transposed(&invert_lower(&inner, d), d);
        Some(product(self.factored()?.factor(), &inverse, d))
    }
}

impl Multi for InverseWishart {
    /// d², of which d (d + 1)/2 differ.
    fn dimension(&self) -> usize {
        self.scale.len()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let d = self.order();
        let Some(covariance) = Definite::new(x, d) else {
            return f64::NEG_INFINITY;
        };
        let Some(scale) = self.factored() else {
            return f64::NAN;
        };
        let power = 0.5 * (self.degrees + d as f64 + 1.0);
        -power * covariance.log_determinant()
            - 0.5 * covariance.trace_of_quotient(&scale)
            - self.log_normalizer()
    }

    /// Ψ/(ν − d − 1), where that is positive.
    fn mean(&self) -> Option<Vec<f64>> {
        let divisor = self.degrees - self.order() as f64 - 1.0;
        (divisor > 0.0).then(|| self.scale.iter().map(|psi| psi / divisor).collect())
    }

    /// ((ν−d+1) ψ²ᵢⱼ + (ν−d−1) ψᵢᵢ ψⱼⱼ) / ((ν−d)(ν−d−1)²(ν−d−3)), for ν > d +
    /// 3.
    fn variance(&self) -> Option<Vec<f64>> {
        let d = self.order();
        let free = self.degrees - d as f64;
        if free <= 3.0 {
            return None;
        }
        let divisor = free * (free - 1.0) * (free - 1.0) * (free - 3.0);
        let diagonal = |i: usize| diagonal(&self.scale, d, i);
        let variance = |(t, psi): (usize, &f64)| {
            let square = (free + 1.0) * psi * psi;
            (square + (free - 1.0) * diagonal(t % d) * diagonal(t / d)) / divisor
        };
        Some(self.scale.iter().enumerate().map(variance).collect())
    }

    fn mode(&self) -> Option<Vec<f64>> {
        let divisor = self.degrees + self.order() as f64 + 1.0;
        Some(self.scale.iter().map(|psi| psi / divisor).collect())
    }

    fn entropy(&self) -> f64 {
        let d = self.order() as f64;
        self.log_normalizer()
            + 0.5 * (self.degrees + d + 1.0) * self.expected_log_determinant()
            + 0.5 * self.degrees * d
    }

    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        match self.draw_root(rng) {
            Some(root) => outer_square(&root, self.order()),
            None => vec![f64::NAN; self.dimension()],
        }
    }
}

impl Divergence for InverseWishart {
    fn kl(&self, other: &Self) -> f64 {
        if self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        let (Some(scale), Some(other_scale)) = (self.factored(), other.factored()) else {
            return f64::NAN;
        };
        // E Σ⁻¹ = ν Ψ⁻¹
        let trace = scale.trace_of_quotient(&other_scale) - self.order() as f64;
        other.log_normalizer() - self.log_normalizer()
            + 0.5 * (other.degrees - self.degrees) * self.expected_log_determinant()
            + 0.5 * self.degrees * trace
    }
}
