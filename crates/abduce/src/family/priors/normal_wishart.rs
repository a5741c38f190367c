//! The normal-Wishart distribution over the mean μ and the precision matrix Λ
//! of a multivariate Gaussian: Λ ~ Wishart(ν, W), and μ given Λ ~ N(m, (κΛ)⁻¹).
//! It is the conjugate prior of both together (Murphy, *Conjugate Bayesian
//! analysis of the Gaussian distribution*, 2007).

use crate::Result;
use crate::family::multi::difference;
use crate::family::priors::mean_given_precision::{MeanGivenPrecision, check};
use crate::family::{Divergence, Multi, MultivariateT, Wishart};
use crate::kernel::definite::{Definite, outer_square, transposed};
use crate::kernel::linear::invert_lower;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A normal-Wishart over points (μ, Λ): d numbers, then d².
///
/// ```
/// use abduce::family::{Multi, NormalWishart};
/// let belief = NormalWishart::new(vec![1.0, 2.0], 3.0, 5.0, vec![2.0, 0.5, 0.5, 1.0])?;
/// assert_eq!(belief.mean(), Some(vec![1.0, 2.0, 10.0, 2.5, 2.5, 5.0]));
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalWishart {
    /// The mean m of μ.
    pub mean: Vec<f64>,
    /// The strength κ: how many rows the belief in m is worth.
    pub strength: f64,
    /// The degrees of freedom ν of Λ, more than d − 1.
    pub degrees: f64,
    /// The scale matrix W of Λ, column after column.
    pub scale: Vec<f64>,
}

impl NormalWishart {
    /// A normal-Wishart with mean m, strength κ, degrees of freedom ν and scale
    /// W.
    ///
    /// # Errors
    /// Unless the strength is positive, the scale is a symmetric positive
    /// definite matrix of the mean's order, and ν is large enough.
    pub fn new(mean: Vec<f64>, strength: f64, degrees: f64, scale: Vec<f64>) -> Result<Self> {
        check(&mean, strength, degrees, &scale)?;
        Ok(NormalWishart {
            mean,
            strength,
            degrees,
            scale,
        })
    }

    /// The number d of columns of the Gaussian.
    pub fn order(&self) -> usize {
        self.mean.len()
    }

    /// The marginal distribution of the precision matrix.
    pub fn precision(&self) -> Wishart {
        Wishart {
            degrees: self.degrees,
            scale: self.scale.clone(),
        }
    }

    fn given_precision(&self) -> MeanGivenPrecision<'_> {
        MeanGivenPrecision {
            mean: &self.mean,
            strength: self.strength,
        }
    }

    /// The marginal distribution of the mean: a t with ν − d + 1 degrees of
    /// freedom and scale W⁻¹ / (κ (ν − d + 1)).
    pub fn marginal_mean(&self) -> MultivariateT {
        let degrees = self.degrees - self.order() as f64 + 1.0;
        let inverse = self.precision().factored().map(|w| w.inverse());
        let inverse = inverse.unwrap_or_else(|| vec![f64::NAN; self.scale.len()]);
        MultivariateT {
            degrees,
            location: self.mean.clone(),
            scale: inverse
                .iter()
                .map(|w| w / (self.strength * degrees))
                .collect(),
        }
    }
}

impl Multi for NormalWishart {
    fn dimension(&self) -> usize {
        self.mean.len() + self.scale.len()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let d = self.order();
        if x.len() != self.dimension() {
            return f64::NEG_INFINITY;
        }
        let (mu, lambda) = x.split_at(d);
        let Some(precision) = Definite::new(lambda, d) else {
            return f64::NEG_INFINITY;
        };
        let distance = precision.quadratic(&difference(mu, &self.mean));
        let of_mean = self.given_precision();
        self.precision().log_density(lambda)
            + of_mean.log_density(precision.log_determinant(), distance)
    }

    /// (m, νW); that of μ exists for ν > d only.
    fn mean(&self) -> Option<Vec<f64>> {
        let of_precision = self.precision().mean()?;
        let of_mean = self.marginal_mean().mean()?;
        Some([of_mean, of_precision].concat())
    }

    /// For ν > d + 1.
    fn variance(&self) -> Option<Vec<f64>> {
        let of_precision = self.precision().variance()?;
        let of_mean = self.marginal_mean().variance()?;
        Some([of_mean, of_precision].concat())
    }

    /// (m, (ν − d) W), for ν > d.
    fn mode(&self) -> Option<Vec<f64>> {
        let factor = self.degrees - self.order() as f64;
        let precision = self.scale.iter().map(|w| factor * w);
        (factor > 0.0).then(|| self.mean.iter().copied().chain(precision).collect())
    }

    fn entropy(&self) -> f64 {
        let precision = self.precision();
        let of_mean = self.given_precision();
        precision.entropy() + of_mean.entropy(precision.expected_log_determinant())
    }

    /// With Λ = M Mᵀ, μ = m + M⁻ᵀ z / √κ.
    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let d = self.order();
        let Some(factor) = self.precision().draw_factor(rng) else {
            return vec![f64::NAN; self.dimension()];
        };
        let root = transposed(&invert_lower(&factor, d), d);
        let mu = self.given_precision().draw(&root, rng);
        [mu, outer_square(&factor, d)].concat()
    }
}

impl Divergence for NormalWishart {
    fn kl(&self, other: &Self) -> f64 {
        if self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        let own = self.precision();
        // E Λ = ν W
        let distance = |shift: &[f64]| {
            let scale = own.factored();
            self.degrees * scale.map_or(f64::NAN, |w| w.quadratic(shift))
        };
        let of_mean = self.given_precision();
        own.kl(&other.precision()) + of_mean.kl(&other.given_precision(), distance)
    }
}
