//! The normal-inverse-Wishart distribution over the mean μ and the covariance Σ
//! of a multivariate Gaussian: Σ ~ inverse Wishart(ν, Ψ), and μ given Σ ~ N(m,
//! Σ/κ). It is the normal-Wishart with Σ = Λ⁻¹ in place of Λ (Gelman et al.,
//! *Bayesian Data Analysis*, section 3.6).

use crate::Result;
use crate::family::multi::difference;
use crate::family::priors::mean_given_precision::{MeanGivenPrecision, check};
use crate::family::{Divergence, InverseWishart, Multi, MultivariateT};
use crate::kernel::definite::{Definite, outer_square};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A normal-inverse-Wishart over points (μ, Σ): d numbers, then d².
///
/// ```
/// use abduce::family::{Multi, NormalInverseWishart};
/// let belief = NormalInverseWishart::new(vec![1.0, 2.0], 3.0, 7.0, vec![8.0, 2.0, 2.0, 4.0])?;
/// assert_eq!(belief.mean(), Some(vec![1.0, 2.0, 2.0, 0.5, 0.5, 1.0]));
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalInverseWishart {
    /// The mean m of μ.
    pub mean: Vec<f64>,
    /// The strength κ: how many rows the belief in m is worth.
    pub strength: f64,
    /// The degrees of freedom ν of Σ, more than d − 1.
    pub degrees: f64,
    /// The scale matrix Ψ of Σ, column after column.
    pub scale: Vec<f64>,
}

impl NormalInverseWishart {
    /// A normal-inverse-Wishart with mean m, strength κ, degrees of freedom ν
    /// and scale Ψ.
    ///
    /// # Errors
    /// Unless the strength is positive, the scale is a symmetric positive
    /// definite matrix of the mean's order, and ν is large enough.
    pub fn new(mean: Vec<f64>, strength: f64, degrees: f64, scale: Vec<f64>) -> Result<Self> {
        check(&mean, strength, degrees, &scale)?;
        Ok(NormalInverseWishart {
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

    /// The marginal distribution of the covariance.
    pub fn covariance(&self) -> InverseWishart {
        InverseWishart {
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
    /// freedom and scale Ψ / (κ (ν − d + 1)).
    pub fn marginal_mean(&self) -> MultivariateT {
        let degrees = self.degrees - self.order() as f64 + 1.0;
        let divisor = self.strength * degrees;
        MultivariateT {
            degrees,
            location: self.mean.clone(),
            scale: self.scale.iter().map(|psi| psi / divisor).collect(),
        }
    }
}

impl Multi for NormalInverseWishart {
    fn dimension(&self) -> usize {
        self.mean.len() + self.scale.len()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let d = self.order();
        if x.len() != self.dimension() {
            return f64::NEG_INFINITY;
        }
        let (mu, sigma) = x.split_at(d);
        let Some(covariance) = Definite::new(sigma, d) else {
            return f64::NEG_INFINITY;
        };
        let distance = covariance.distance(&difference(mu, &self.mean));
        let of_mean = self.given_precision();
        self.covariance().log_density(sigma)
            + of_mean.log_density(-covariance.log_determinant(), distance)
    }

    /// (m, Ψ/(ν − d − 1)), for ν > d + 1.
    fn mean(&self) -> Option<Vec<f64>> {
        let of_covariance = self.covariance().mean()?;
        Some([self.mean.clone(), of_covariance].concat())
    }

    /// For ν > d + 3.
    fn variance(&self) -> Option<Vec<f64>> {
        let of_covariance = self.covariance().variance()?;
        let of_mean = self.marginal_mean().variance()?;
        Some([of_mean, of_covariance].concat())
    }

    /// (m, Ψ/(ν + d + 2)).
    fn mode(&self) -> Option<Vec<f64>> {
        let divisor = self.degrees + self.order() as f64 + 2.0;
        let covariance = self.scale.iter().map(|psi| psi / divisor);
        Some(self.mean.iter().copied().chain(covariance).collect())
    }

    fn entropy(&self) -> f64 {
        let covariance = self.covariance();
        let of_mean = self.given_precision();
        covariance.entropy() + of_mean.entropy(-covariance.expected_log_determinant())
    }

    /// With Σ = M Mᵀ, μ = m + M z / √κ.
    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let d = self.order();
        let Some(root) = self.covariance().draw_root(rng) else {
            return vec![f64::NAN; self.dimension()];
        };
        let mu = self.given_precision().draw(&root, rng);
        [mu, outer_square(&root, d)].concat()
    }
}

impl Divergence for NormalInverseWishart {
    fn kl(&self, other: &Self) -> f64 {
        if self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        // E Σ⁻¹ = ν Ψ⁻¹
        let distance = |shift: &[f64]| {
            let scale = Definite::new(&self.scale, self.order());
            self.degrees * scale.map_or(f64::NAN, |psi| psi.distance(shift))
        };
        let of_mean = self.given_precision();
        self.covariance().kl(&other.covariance()) + of_mean.kl(&other.given_precision(), distance)
    }
}
