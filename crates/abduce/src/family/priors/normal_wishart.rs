//! The normal-Wishart and the normal-inverse-Wishart distribution over the parameters of a
//! multivariate Gaussian: the mean μ with the precision matrix Λ ~ Wishart(ν, W), or with
//! the covariance Σ = Λ⁻¹ ~ inverse Wishart(ν, Ψ = W⁻¹). In both μ given Λ is
//! N(m, (κΛ)⁻¹). They are the conjugate priors of both parameters together (Murphy,
//! *Conjugate Bayesian analysis of the Gaussian distribution*, 2007; Gelman et al.,
//! *Bayesian Data Analysis*, section 3.6).

use crate::Result;
use crate::family::multi::{
    all_finite, definite, difference, draw_normal, enough_degrees, positive,
};
use crate::family::{Divergence, InverseWishart, Multi, MultivariateT, Wishart};
use crate::kernel::definite::{Definite, outer_square, times, transposed};
use crate::kernel::linear::invert_lower;
use crate::kernel::special::LN_TAU;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// A normal-Wishart over points (μ, Λ): d numbers, then d².
///
/// ```
/// use abduce::family::{Multi, NormalWishart};
/// let belief = NormalWishart::new(vec![1.0, 2.0], 3.0, 5.0, vec![2.0, 0.5, 0.5, 1.0])?;
/// assert_eq!(belief.mean(), Some(vec![1.0, 2.0, 10.0, 2.5, 2.5, 5.0]));
/// # Ok::<(), abduce::Error>(())
/// ```
pub type NormalWishart = NormalMatrix<Wishart>;

/// A normal-inverse-Wishart over points (μ, Σ): d numbers, then d².
///
/// ```
/// use abduce::family::{Multi, NormalInverseWishart};
/// let belief = NormalInverseWishart::new(vec![1.0, 2.0], 3.0, 7.0, vec![8.0, 2.0, 2.0, 4.0])?;
/// assert_eq!(belief.mean(), Some(vec![1.0, 2.0, 2.0, 0.5, 0.5, 1.0]));
/// # Ok::<(), abduce::Error>(())
/// ```
pub type NormalInverseWishart = NormalMatrix<InverseWishart>;

/// The mean of a Gaussian together with its precision matrix or its covariance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct NormalMatrix<M> {
    /// The mean m of μ.
    pub mean: Vec<f64>,
    /// The strength κ: the number of pseudo-rows at m.
    pub strength: f64,
    /// The degrees of freedom ν of the matrix, more than d − 1.
    pub degrees: f64,
    /// The scale W or Ψ of the matrix, column after column.
    pub scale: Vec<f64>,
    #[serde(skip)]
    matrix: PhantomData<M>,
}

/// The distribution of the precision matrix Λ or of the covariance Λ⁻¹.
pub trait MatrixOfGaussian: Divergence {
    /// The distribution with these degrees of freedom and this scale.
    fn with(degrees: f64, scale: Vec<f64>) -> Self;

    /// Ψ, from the scale Ψ or W = Ψ⁻¹; the same function gives the scale from Ψ. `None` where it
    /// is not definite.
    fn spread(scale: &[f64], order: usize) -> Option<Vec<f64>>;

    /// ln |Λ| and xᵀ Λ x for a matrix of this kind; `None` if it is not definite.
    fn of_precision(matrix: &[f64], x: &[f64]) -> Option<(f64, f64)>;

    /// E ln |Λ|.
    fn expected_log_precision(&self) -> f64;

    /// xᵀ E(Λ) x.
    fn expected_distance(&self, x: &[f64]) -> f64;

    /// The matrix at the mode of both parameters.
    fn at_joint_mode(&self) -> Option<Vec<f64>>;

    /// A drawn matrix, and a root R of its covariance: R Rᵀ = Λ⁻¹.
    fn draw_with_root(&self, rng: &mut dyn Rng) -> Option<(Vec<f64>, Vec<f64>)>;
}

impl MatrixOfGaussian for Wishart {
    fn with(degrees: f64, scale: Vec<f64>) -> Self {
        Wishart { degrees, scale }
    }

    fn spread(scale: &[f64], order: usize) -> Option<Vec<f64>> {
        Some(Definite::new(scale, order)?.inverse())
    }

    fn of_precision(matrix: &[f64], x: &[f64]) -> Option<(f64, f64)> {
        let precision = Definite::new(matrix, x.len())?;
        Some((precision.log_determinant(), precision.quadratic(x)))
    }

    fn expected_log_precision(&self) -> f64 {
        self.expected_log_determinant()
    }

    /// E Λ = νW.
    fn expected_distance(&self, x: &[f64]) -> f64 {
        self.degrees * self.factored().map_or(f64::NAN, |w| w.quadratic(x))
    }

    fn at_joint_mode(&self) -> Option<Vec<f64>> {
        let factor = self.degrees - self.order() as f64;
        (factor > 0.0).then(|| self.scale.iter().map(|w| factor * w).collect())
    }

    fn draw_with_root(&self, rng: &mut dyn Rng) -> Option<(Vec<f64>, Vec<f64>)> {
        let (d, factor) = (self.order(), self.draw_factor(rng)?);
        let root = transposed(&invert_lower(&factor, d), d);
        Some((outer_square(&factor, d), root))
    }
}

impl MatrixOfGaussian for InverseWishart {
    fn with(degrees: f64, scale: Vec<f64>) -> Self {
        InverseWishart { degrees, scale }
    }

    fn spread(scale: &[f64], _: usize) -> Option<Vec<f64>> {
        Some(scale.to_vec())
    }

    fn of_precision(matrix: &[f64], x: &[f64]) -> Option<(f64, f64)> {
        let covariance = Definite::new(matrix, x.len())?;
        Some((-covariance.log_determinant(), covariance.distance(x)))
    }

    fn expected_log_precision(&self) -> f64 {
        -self.expected_log_determinant()
    }

    /// E Σ⁻¹ = ν Ψ⁻¹.
    fn expected_distance(&self, x: &[f64]) -> f64 {
        self.degrees * self.factored().map_or(f64::NAN, |psi| psi.distance(x))
    }

    fn at_joint_mode(&self) -> Option<Vec<f64>> {
        let divisor = self.degrees + self.order() as f64 + 2.0;
        Some(self.scale.iter().map(|psi| psi / divisor).collect())
    }

    fn draw_with_root(&self, rng: &mut dyn Rng) -> Option<(Vec<f64>, Vec<f64>)> {
        let root = self.draw_root(rng)?;
        Some((outer_square(&root, self.order()), root))
    }
}

impl NormalWishart {
    /// The marginal distribution of the precision matrix.
    pub fn precision(&self) -> Wishart {
        self.matrix()
    }
}

impl NormalInverseWishart {
    /// The marginal distribution of the covariance.
    pub fn covariance(&self) -> InverseWishart {
        self.matrix()
    }
}

impl<M: MatrixOfGaussian> NormalMatrix<M> {
    /// The distribution with mean m, strength κ, degrees of freedom ν and scale W or Ψ.
    ///
    /// # Errors
    /// Unless the strength is positive, the scale is a symmetric positive
    /// definite matrix of the mean's order, and ν is large enough.
    pub fn new(mean: Vec<f64>, strength: f64, degrees: f64, scale: Vec<f64>) -> Result<Self> {
        all_finite("the mean", &mean)?;
        definite("the scale matrix", &scale, mean.len())?;
        positive("the strength", strength)?;
        enough_degrees(degrees, mean.len())?;
        Ok(Self::unchecked(mean, strength, degrees, scale))
    }

    /// The same, possibly improper.
    pub(crate) fn unchecked(mean: Vec<f64>, strength: f64, degrees: f64, scale: Vec<f64>) -> Self {
        NormalMatrix {
            mean,
            strength,
            degrees,
            scale,
            matrix: PhantomData,
        }
    }

    /// The number d of columns of the Gaussian.
    pub fn order(&self) -> usize {
        self.mean.len()
    }

    fn matrix(&self) -> M {
        M::with(self.degrees, self.scale.clone())
    }

    /// The marginal distribution of the mean: a t with ν − d + 1 degrees of
    /// freedom and scale Ψ / (κ (ν − d + 1)).
    pub fn marginal_mean(&self) -> MultivariateT {
        let degrees = self.degrees - self.order() as f64 + 1.0;
        let divisor = self.strength * degrees;
        let spread = M::spread(&self.scale, self.order());
        let spread = spread.unwrap_or_else(|| vec![f64::NAN; self.scale.len()]);
        MultivariateT {
            degrees,
            location: self.mean.clone(),
            scale: spread.iter().map(|psi| psi / divisor).collect(),
        }
    }
}

impl<M: MatrixOfGaussian> Multi for NormalMatrix<M> {
    fn dimension(&self) -> usize {
        self.mean.len() + self.scale.len()
    }

    /// ln p(μ | Λ) is that of a Gaussian with precision κΛ.
    fn log_density(&self, x: &[f64]) -> f64 {
        if x.len() != self.dimension() {
            return f64::NEG_INFINITY;
        }
        let (mu, matrix) = x.split_at(self.order());
        let shift = difference(mu, &self.mean);
        let Some((log_determinant, distance)) = M::of_precision(matrix, &shift) else {
            return f64::NEG_INFINITY;
        };
        let of_each = self.strength.ln() - LN_TAU;
        let of_mean =
            0.5 * (self.order() as f64 * of_each + log_determinant - self.strength * distance);
        self.matrix().log_density(matrix) + of_mean
    }

    /// For ν > d with a precision matrix, for ν > d + 1 with a covariance.
    fn mean(&self) -> Option<Vec<f64>> {
        let of_matrix = self.matrix().mean()?;
        let of_mean = self.marginal_mean().mean()?;
        Some([of_mean, of_matrix].concat())
    }

    /// For ν > d + 1 with a precision matrix, for ν > d + 3 with a covariance.
    fn variance(&self) -> Option<Vec<f64>> {
        let of_matrix = self.matrix().variance()?;
        let of_mean = self.marginal_mean().variance()?;
        Some([of_mean, of_matrix].concat())
    }

    /// (m, (ν − d) W) for ν > d, or (m, Ψ/(ν + d + 2)).
    fn mode(&self) -> Option<Vec<f64>> {
        Some([self.mean.clone(), self.matrix().at_joint_mode()?].concat())
    }

    fn entropy(&self) -> f64 {
        let matrix = self.matrix();
        let of_each = 1.0 + LN_TAU - self.strength.ln();
        let of_mean = self.order() as f64 * of_each - matrix.expected_log_precision();
        matrix.entropy() + 0.5 * of_mean
    }

    /// μ = m + R z / √κ, where R Rᵀ = Λ⁻¹.
    fn draw(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let Some((matrix, root)) = self.matrix().draw_with_root(rng) else {
            return vec![f64::NAN; self.dimension()];
        };
        let white: Vec<f64> = self.mean.iter().map(|_| draw_normal(rng)).collect();
        let scale = self.strength.sqrt();
        let shifts = times(&root, &white);
        let mu = self
            .mean
            .iter()
            .zip(shifts)
            .map(|(m, shift)| m + shift / scale);
        mu.chain(matrix).collect()
    }
}

impl<M: MatrixOfGaussian> Divergence for NormalMatrix<M> {
    fn kl(&self, other: &Self) -> f64 {
        if self.dimension() != other.dimension() {
            return f64::INFINITY;
        }
        let matrix = self.matrix();
        let ratio = other.strength / self.strength;
        let shift = difference(&self.mean, &other.mean);
        let of_mean = self.order() as f64 * (ratio - 1.0 - ratio.ln())
            + other.strength * matrix.expected_distance(&shift);
        matrix.kl(&other.matrix()) + 0.5 * of_mean
    }
}
