//! Mean and precision matrix, or mean and covariance, of a Gaussian unknown.

use super::{
    added, gaussian, identity, matrix_names, mean_names, not_definite, observe, parts, scaled,
    scatter_about, zero,
};
use crate::Result;
use crate::family::conjugate::{Conjugate, Prior, numbers, proper, unknown_prior, without_numbers};
use crate::family::{
    InverseWishart, MatrixOfGaussian, MultivariateGaussian, MultivariateStats, MultivariateT,
    NormalMatrix, Stats, Wishart,
};
use std::marker::PhantomData;

/// Mean and precision matrix of a Gaussian.
pub type MultivariateMeanPrecision = MeanAndMatrix<Wishart>;

/// Mean and covariance of a Gaussian.
pub type MultivariateBoth = MeanAndMatrix<InverseWishart>;

/// The mean of a Gaussian together with its precision matrix or its covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAndMatrix<M> {
    order: usize,
    matrix: PhantomData<M>,
}

impl<M> MeanAndMatrix<M> {
    /// For a Gaussian over this number of columns.
    pub fn new(order: usize) -> Self {
        let matrix = PhantomData;
        MeanAndMatrix { order, matrix }
    }
}

/// What the parameters and the priors are called.
pub trait NamedMatrix: MatrixOfGaussian {
    /// The name of the matrix.
    const MATRIX: &'static str;
    /// The priors that a user can name.
    const PRIORS: &'static str;

    /// The degrees of freedom of an improper prior by name, whose strength and scale are 0.
    fn improper(name: &str, order: usize) -> Option<f64>;
}

impl NamedMatrix for Wishart {
    const MATRIX: &'static str = "precision";
    const PRIORS: &'static str = "normal-wishart(mean,strength,degrees,scale)";

    fn improper(_: &str, _: usize) -> Option<f64> {
        None
    }
}

impl NamedMatrix for InverseWishart {
    const MATRIX: &'static str = "covariance";
    const PRIORS: &'static str = "normal-inverse-wishart(mean,strength,degrees,scale), with the same mean for \
                                  every column and scale times the identity, matching, reference and jeffreys";

    /// Jeffreys' rule gives |Σ|^(−(d + 2)/2); the reference prior, of mean and
    /// covariance apart, |Σ|^(−(d + 1)/2); the matching prior is |Σ|^(−d)
    /// (Geisser & Cornfield 1963).
    ///
    /// With the prior |Σ|^(−(δ + d + 2)/2) the posterior has n + δ degrees of
    /// freedom, of which every mean and variance has n + δ − d + 1. The matching
    /// prior has δ = d − 2, so that these are n − 1 for every d: each column has
    /// the intervals it would have alone. One column has |Σ|^(−1), as under the
    /// reference prior.
    fn improper(name: &str, order: usize) -> Option<f64> {
        match name {
            "jeffreys" => Some(0.0),
            "reference" => Some(-1.0),
            "matching" => Some(order as f64 - 2.0),
            _ => None,
        }
    }
}

impl<M: NamedMatrix + Send + Sync> Conjugate for MeanAndMatrix<M>
where
    NormalMatrix<M>: Prior,
{
    type Row = MultivariateGaussian;
    type Prior = NormalMatrix<M>;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        let mut names = mean_names(self.order);
        names.extend(matrix_names(M::MATRIX, self.order));
        names
    }

    fn zero(&self) -> MultivariateStats {
        zero(self.order)
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut MultivariateStats) {
        observe(self.order, cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<MultivariateGaussian> {
        let (mean, matrix) = parameters.split_at(self.order);
        Some(gaussian(mean, M::spread(matrix, self.order)?))
    }

    fn posterior(
        &self,
        prior: &NormalMatrix<M>,
        stats: &MultivariateStats,
    ) -> Result<NormalMatrix<M>> {
        let (weight, seen, _) = parts(stats);
        if weight <= 0.0 {
            return proper(prior.clone());
        }
        let strength = prior.strength + weight;
        let about = scatter_about(stats, &prior.mean, prior.strength * weight / strength);
        let both = seen.iter().zip(&prior.mean);
        let mean = both.map(|(seen, before)| seen - (seen - before) * prior.strength / strength);
        let spread = M::spread(&prior.scale, self.order).ok_or_else(not_definite)?;
        let scale = M::spread(&added(&spread, &about), self.order).ok_or_else(not_definite)?;
        let degrees = prior.degrees + stats.weight();
        proper(NormalMatrix::unchecked(
            mean.collect(),
            strength,
            degrees,
            scale,
        ))
    }

    /// A Student t with ν − d + 1 degrees of freedom.
    fn predictive(&self, belief: &NormalMatrix<M>) -> Result<MultivariateT> {
        let belief = proper(belief.clone())?;
        let degrees = belief.degrees - self.order as f64 + 1.0;
        let factor = (belief.strength + 1.0) / (belief.strength * degrees);
        let spread = M::spread(&belief.scale, self.order).ok_or_else(not_definite)?;
        MultivariateT::new(degrees, belief.mean, scaled(&spread, factor))
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalMatrix<M>> {
        let order = self.order;
        if name == <NormalMatrix<M> as Prior>::NAME {
            let [mean, strength, degrees, scale] = numbers(name, given)?;
            return NormalMatrix::new(vec![mean; order], strength, degrees, identity(order, scale));
        }
        let Some(degrees) = M::improper(name, order) else {
            return Err(unknown_prior(name, M::PRIORS));
        };
        let (mean, scale) = (vec![0.0; order], vec![0.0; order * order]);
        without_numbers(
            name,
            given,
            NormalMatrix::unchecked(mean, 0.0, degrees, scale),
        )
    }
}
