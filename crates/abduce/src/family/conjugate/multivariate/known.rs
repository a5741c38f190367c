//! One part of a Gaussian unknown, the other known: its mean, or its precision
//! matrix.

use super::{
    added, gaussian, identity, inverse, matrix_names, mean_names, observe, parts, scaled,
    scatter_about, zero,
};
use crate::Result;
use crate::family::conjugate::{Conjugate, Prior, numbers, proper, unknown_prior, without_numbers};
use crate::family::{
    Covariance, Gaussian, InverseWishart, MultivariateGaussian, MultivariateStats, MultivariateT,
    Wishart,
};
use crate::kernel::definite::times;

/// The mean of a Gaussian of known covariance.
#[derive(Clone, Debug, PartialEq)]
pub struct MultivariateMean {
    /// The known covariance, column after column.
    pub covariance: Vec<f64>,
}

impl MultivariateMean {
    fn order(&self) -> usize {
        self.covariance.len().isqrt()
    }
}

impl Conjugate for MultivariateMean {
    type Row = MultivariateGaussian;
    type Prior = MultivariateGaussian;
    type Stats = MultivariateStats;
    type Predictive = MultivariateGaussian;

    fn parameters(&self) -> Vec<String> {
        mean_names(self.order())
    }

    fn zero(&self) -> MultivariateStats {
        zero(self.order())
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut MultivariateStats) {
        observe(self.order(), cells, weights, stats);
    }

    fn row(&self, mean: &[f64]) -> Option<MultivariateGaussian> {
        Some(gaussian(mean, self.covariance.clone()))
    }

    fn posterior(
        &self,
        prior: &MultivariateGaussian,
        stats: &MultivariateStats,
    ) -> Result<MultivariateGaussian> {
        let order = self.order();
        let (weight, mean, _) = parts(stats);
        let seen = scaled(&inverse(&self.covariance, order)?, weight);
        let before = match &prior.covariance {
            // Of infinite variance in a flat prior, which has no inverse.
            Covariance::Spherical(variance) => identity(order, 1.0 / variance),
            _ => inverse(&full(prior), order)?,
        };
        let covariance = inverse(&added(&before, &seen), order)?;
        let pull = added(&times(&before, &prior.mean), &times(&seen, mean));
        proper(MultivariateGaussian {
            mean: times(&covariance, &pull),
            covariance: Covariance::Full(covariance),
        })
    }

    fn predictive(&self, belief: &MultivariateGaussian) -> Result<MultivariateGaussian> {
        let belief = proper(belief.clone())?;
        let covariance = added(&full(&belief), &self.covariance);
        Ok(MultivariateGaussian {
            mean: belief.mean,
            covariance: Covariance::Full(covariance),
        })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<MultivariateGaussian> {
        let belief = |mean: f64, variance: f64| MultivariateGaussian {
            mean: vec![mean; self.order()],
            covariance: Covariance::Spherical(variance),
        };
        match name {
            "normal" | "gaussian" => {
                let [mean, variance] = numbers(name, given)?;
                Gaussian::new(mean, variance).map(|_| belief(mean, variance))
            }
            "uniform" | "flat" | "jeffreys" => {
                without_numbers(name, given, belief(0.0, f64::INFINITY))
            }
            _ => Err(unknown_prior(
                name,
                "normal(mean,variance), the same for all, and uniform",
            )),
        }
    }
}

fn full(gaussian: &MultivariateGaussian) -> Vec<f64> {
    let order = gaussian.mean.len();
    let entry = |k: usize| gaussian.covariance(k % order, k / order);
    (0..order * order).map(entry).collect()
}

/// The precision matrix of a Gaussian of known mean.
#[derive(Clone, Debug, PartialEq)]
pub struct MultivariatePrecision {
    /// The known mean.
    pub mean: Vec<f64>,
}

impl Conjugate for MultivariatePrecision {
    type Row = MultivariateGaussian;
    type Prior = Wishart;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        matrix_names("precision", self.mean.len())
    }

    fn zero(&self) -> MultivariateStats {
        zero(self.mean.len())
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut MultivariateStats) {
        observe(self.mean.len(), cells, weights, stats);
    }

    fn row(&self, precision: &[f64]) -> Option<MultivariateGaussian> {
        let covariance = inverse(precision, self.mean.len()).ok()?;
        Some(gaussian(&self.mean, covariance))
    }

    fn posterior(&self, prior: &Wishart, stats: &MultivariateStats) -> Result<Wishart> {
        let order = self.mean.len();
        let (weight, ..) = parts(stats);
        let about = scatter_about(stats, &self.mean, weight);
        let spread = added(&inverse(&prior.scale, order)?, &about);
        proper(Wishart {
            degrees: prior.degrees + weight,
            scale: inverse(&spread, order)?,
        })
    }

    fn predictive(&self, belief: &Wishart) -> Result<MultivariateT> {
        let order = self.mean.len();
        let belief = proper(belief.clone())?;
        let degrees = belief.degrees - order as f64 + 1.0;
        let scale = scaled(&inverse(&belief.scale, order)?, 1.0 / degrees);
        MultivariateT::new(degrees, self.mean.clone(), scale)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Wishart> {
        match name {
            Wishart::NAME => {
                let [degrees, scale] = numbers(name, given)?;
                Wishart::new(degrees, identity(self.mean.len(), scale))
            }
            _ => Err(unknown_prior(
                name,
                "wishart(degrees,scale), scale times the identity",
            )),
        }
    }
}

/// The covariance of a Gaussian of known mean, through its inverse-Wishart
/// belief: the other way to write [`MultivariatePrecision`].
///
/// # Errors
/// If the scale cannot be inverted.
pub fn covariance_belief(belief: &Wishart) -> Result<InverseWishart> {
    let order = belief.scale.len().isqrt();
    InverseWishart::new(belief.degrees, inverse(&belief.scale, order)?)
}
