//! The multivariate t distribution with location m, scale matrix S and ν
//! degrees of freedom,
//!
//! p(x) = Γ((ν+d)/2) / (Γ(ν/2) (νπ)^{d/2} |S|^{½}) · (1 + z/ν)^{−(ν+d)/2},
//!
//! with z = (x−m)ᵀ S⁻¹ (x−m):
//!
//! the marginal distribution of the mean under a normal-Wishart, and its prediction of the next
//! row. Its divergence from another has no closed form.

use crate::Result;
use crate::family::Multi;
use crate::family::multi::{
    all_finite, definite, diagonal, difference, draw_gamma, draw_normal, positive,
};
use crate::kernel::definite::{Definite, times};
use crate::kernel::special::{digamma_rise, ln_rising};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A t distribution over several numbers; with 1 degree of freedom a Cauchy,
/// with ever more a Gaussian.
///
/// ```
/// use abduce::family::{Multi, MultivariateT};
/// let t = MultivariateT::new(4.0, vec![1.0, 2.0], vec![2.0, 0.5, 0.5, 1.0])?;
/// assert_eq!(t.mean(), Some(vec![1.0, 2.0]));
/// assert_eq!(t.variance(), Some(vec![4.0, 2.0]));
/// let cauchy = MultivariateT::new(1.0, vec![0.0], vec![1.0])?;
/// assert_eq!(cauchy.mean(), None);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultivariateT {
    /// The degrees of freedom ν.
    pub degrees: f64,
    /// The location m.
    pub location: Vec<f64>,
    /// The scale matrix S, column after column; the covariance is S ν/(ν − 2).
    pub scale: Vec<f64>,
}

impl MultivariateT {
    /// A t with these degrees of freedom, this location and this scale.
    ///
    /// # Errors
    /// Unless the degrees of freedom are positive and the scale is a symmetric
    /// positive definite matrix of the location's order.
    pub fn new(degrees: f64, location: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        all_finite("the location", &location)?;
        definite("the scale matrix", &scale, location.len())?;
        Ok(MultivariateT {
            degrees: positive("the degrees of freedom", degrees)?,
            location,
            scale,
        })
    }

    fn factored(&self) -> Option<Definite> {
        Definite::new(&self.scale, self.location.len())
    }

    /// ln of (νπ)^{d/2} |S|^{½} Γ(ν/2)/Γ((ν+d)/2).
    fn log_normalizer(&self, scale: &Definite) -> f64 {
        let half = 0.5 * self.location.len() as f64;
        half * (self.degrees * PI).ln() + 0.5 * scale.log_determinant()
            - ln_rising(0.5 * self.degrees, half)
    }
}

impl Multi for MultivariateT {
    fn dimension(&self) -> usize {
        self.location.len()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        if x.len() != self.dimension() {
            return f64::NEG_INFINITY;
        }
        let Some(scale) = self.factored() else {
            return f64::NAN;
        };
        let distance = scale.distance(&difference(x, &self.location)) / self.degrees;
        let power = 0.5 * (self.degrees + self.dimension() as f64);
        -power * distance.ln_1p() - self.log_normalizer(&scale)
    }

    /// The location, for ν > 1.
    fn mean(&self) -> Option<Vec<f64>> {
        (self.degrees > 1.0).then(|| self.location.clone())
    }

    /// ν/(ν − 2) times the diagonal of the scale, for ν > 2.
    fn variance(&self) -> Option<Vec<f64>> {
        let d = self.dimension();
        let factor = self.degrees / (self.degrees - 2.0);
        let variances = (0..d).map(|i| factor * diagonal(&self.scale, d, i));
        (self.degrees > 2.0).then(|| variances.collect())
    }

    fn mode(&self) -> Option<Vec<f64>> {
        Some(self.location.clone())
    }

    fn entropy(&self) -> f64 {
        let half = 0.5 * self.dimension() as f64;
        let spread = 0.5 * self.degrees + half;
        let normalizer = self
            .factored()
            .map_or(f64::NAN, |s| self.log_normalizer(&s));
        normalizer + spread * digamma_rise(0.5 * self.degrees, half)
    }

    /// A Gaussian draw over the root of a gamma one.
    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let Some(scale) = self.factored() else {
            return vec![f64::NAN; self.dimension()];
        };
        let half = 0.5 * self.degrees;
        let precision = draw_gamma(half, rng) / half;
        let white: Vec<f64> = self.location.iter().map(|_| draw_normal(rng)).collect();
        let shift = times(scale.factor(), &white);
        let points = self.location.iter().zip(shift);
        points.map(|(m, s)| m + s / precision.sqrt()).collect()
    }
}
