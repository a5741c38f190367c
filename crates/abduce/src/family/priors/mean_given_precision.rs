//! What the normal-Wishart and the normal-inverse-Wishart share: the mean of a Gaussian
//! whose precision matrix Λ is given, μ ~ N(m, (κΛ)⁻¹).

use crate::Result;
use crate::family::multi::{
    all_finite, definite, difference, draw_normal, enough_degrees, positive,
};
use crate::kernel::definite::times;
use crate::kernel::special::LN_TAU;
use rand::Rng;

/// What is believed of the mean.
pub(crate) struct MeanGivenPrecision<'a> {
    /// The mean m.
    pub mean: &'a [f64],
    /// The strength κ.
    pub strength: f64,
}

/// Whether mean, strength, degrees of freedom and scale fit together.
pub(crate) fn check(mean: &[f64], strength: f64, degrees: f64, scale: &[f64]) -> Result<()> {
    all_finite("the mean", mean)?;
    definite("the scale matrix", scale, mean.len())?;
    positive("the strength", strength)?;
    enough_degrees(degrees, mean.len())?;
    Ok(())
}

impl MeanGivenPrecision<'_> {
    fn order(&self) -> f64 {
        self.mean.len() as f64
    }

    /// ln p(μ | Λ), from ln |Λ| and (μ − m)ᵀ Λ (μ − m).
    pub fn log_density(&self, log_determinant: f64, distance: f64) -> f64 {
        let of_each = self.strength.ln() - LN_TAU;
        0.5 * (self.order() * of_each + log_determinant - self.strength * distance)
    }

    /// The entropy of μ given Λ in the mean, from E ln |Λ|.
    pub fn entropy(&self, expected_log_determinant: f64) -> f64 {
        let of_each = 1.0 + LN_TAU - self.strength.ln();
        0.5 * (self.order() * of_each - expected_log_determinant)
    }

    /// The divergence of μ given Λ in the mean; `distance` is that of the two means by
    /// E Λ.
    pub fn kl(&self, other: &Self, distance: impl FnOnce(&[f64]) -> f64) -> f64 {
        let ratio = other.strength / self.strength;
        let shift = difference(self.mean, other.mean);
        0.5 * (self.order() * (ratio - 1.0 - ratio.ln()) + other.strength * distance(&shift))
    }

    /// A draw m + R z / √κ, where R Rᵀ = Λ⁻¹.
    pub fn draw(&self, root: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        let white: Vec<f64> = self.mean.iter().map(|_| draw_normal(rng)).collect();
        let scale = self.strength.sqrt();
        let shift = times(root, &white);
        let mu = self.mean.iter().zip(shift).map(|(m, s)| m + s / scale);
        mu.collect()
    }
}
