//! Mean and precision matrix, or mean and covariance, of a Gaussian unknown.

use super::{
    added, draw, identity, inverse, log_likelihood, matrix_names, mean_names, nothing, parts,
    scaled, scatter_about, see,
};
use crate::Result;
use crate::bayes::{Conjugate, Prior, numbers, proper, unknown_prior};
use crate::family::{MultivariateStats, MultivariateT, NormalInverseWishart, NormalWishart, Stats};
use rand::Rng;

/// The updated mean, strength and spread of a belief in mean m, strength κ and
/// spread W⁻¹ or Ψ.
fn moved(
    mean: &[f64],
    strength: f64,
    spread: &[f64],
    stats: &MultivariateStats,
) -> (Vec<f64>, f64, Vec<f64>) {
    let (weight, seen, _) = parts(stats);
    let total = strength + weight;
    if weight <= 0.0 {
        return (mean.to_vec(), strength, spread.to_vec());
    }
    let about = scatter_about(stats, mean, strength * weight / total);
    let both = seen.iter().zip(mean);
    let centre = both
        .map(|(seen, own)| seen - (seen - own) * strength / total)
        .collect();
    (centre, total, added(spread, &about))
}

/// The Student t of the next row.
fn next(mean: &[f64], strength: f64, degrees: f64, spread: &[f64]) -> Result<MultivariateT> {
    let degrees = degrees - mean.len() as f64 + 1.0;
    let factor = (strength + 1.0) / (strength * degrees);
    MultivariateT::new(degrees, mean.to_vec(), scaled(spread, factor))
}

/// Mean and precision matrix of a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultivariateMeanPrecision {
    /// The number of columns.
    pub order: usize,
}

impl Conjugate for MultivariateMeanPrecision {
    type Prior = NormalWishart;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        let mut names = mean_names(self.order);
        names.extend(matrix_names("precision", self.order));
        names
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.order)
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
    }

    fn posterior(&self, prior: &NormalWishart, stats: &MultivariateStats) -> Result<NormalWishart> {
        let spread = inverse(&prior.scale, self.order)?;
        let (mean, strength, spread) = moved(&prior.mean, prior.strength, &spread, stats);
        proper(NormalWishart {
            mean,
            strength,
            degrees: prior.degrees + stats.weight(),
            scale: inverse(&spread, self.order)?,
        })
    }

    fn predictive(&self, belief: &NormalWishart) -> Result<MultivariateT> {
        let belief = proper(belief.clone())?;
        let spread = inverse(&belief.scale, self.order)?;
        next(&belief.mean, belief.strength, belief.degrees, &spread)
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &MultivariateStats) -> f64 {
        let (mean, precision) = parameters.split_at(self.order);
        log_likelihood(mean, precision, stats)
    }

    fn draw_row(&self, parameters: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        let (mean, precision) = parameters.split_at(self.order);
        match inverse(precision, self.order) {
            Ok(covariance) => draw(mean, covariance, rng),
            Err(_) => vec![f64::NAN; self.order],
        }
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalWishart> {
        match name {
            NormalWishart::NAME => {
                let [mean, strength, degrees, scale] = numbers(name, given)?;
                let scale = identity(self.order, scale);
                NormalWishart::new(vec![mean; self.order], strength, degrees, scale)
            }
            _ => Err(unknown_prior(
                name,
                "normal-wishart(mean,strength,degrees,scale)",
            )),
        }
    }
}

/// Mean and covariance of a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultivariateBoth {
    /// The number of columns.
    pub order: usize,
}

impl Conjugate for MultivariateBoth {
    type Prior = NormalInverseWishart;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        let mut names = mean_names(self.order);
        names.extend(matrix_names("covariance", self.order));
        names
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.order)
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
    }

    fn posterior(
        &self,
        prior: &NormalInverseWishart,
        stats: &MultivariateStats,
    ) -> Result<NormalInverseWishart> {
        let (mean, strength, scale) = moved(&prior.mean, prior.strength, &prior.scale, stats);
        proper(NormalInverseWishart {
            mean,
            strength,
            degrees: prior.degrees + stats.weight(),
            scale,
        })
    }

    fn predictive(&self, belief: &NormalInverseWishart) -> Result<MultivariateT> {
        let belief = proper(belief.clone())?;
        next(&belief.mean, belief.strength, belief.degrees, &belief.scale)
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &MultivariateStats) -> f64 {
        let (mean, covariance) = parameters.split_at(self.order);
        let precision = inverse(covariance, self.order);
        precision.map_or(f64::NEG_INFINITY, |own| log_likelihood(mean, &own, stats))
    }

    fn draw_row(&self, parameters: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        let (mean, covariance) = parameters.split_at(self.order);
        draw(mean, covariance.to_vec(), rng)
    }

    /// Jeffreys' rule gives |Σ|^(−(d + 2)/2); the reference prior, of mean and
    /// covariance apart, |Σ|^(−(d + 1)/2); the matching prior is |Σ|^(−d)
    /// (Geisser & Cornfield 1963).
    ///
    /// With the prior |Σ|^(−(δ + d + 2)/2) the posterior has n + δ degrees of
    /// freedom, of which every mean and variance has n + δ − d + 1. The matching
    /// prior has δ = d − 2, so that these are n − 1 for every d: each column has
    /// the intervals it would have alone. One column has |Σ|^(−1), as under the
    /// reference prior.
    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalInverseWishart> {
        let improper = |degrees: f64| {
            numbers::<0>(name, given).map(|_| NormalInverseWishart {
                mean: vec![0.0; self.order],
                strength: 0.0,
                degrees,
                scale: vec![0.0; self.order * self.order],
            })
        };
        match name {
            NormalInverseWishart::NAME => {
                let [mean, strength, degrees, scale] = numbers(name, given)?;
                let scale = identity(self.order, scale);
                NormalInverseWishart::new(vec![mean; self.order], strength, degrees, scale)
            }
            "jeffreys" => improper(0.0),
            "reference" => improper(-1.0),
            "matching" => improper(self.order as f64 - 2.0),
            _ => Err(unknown_prior(
                name,
                "normal-inverse-wishart(mean,strength,degrees,scale), with the same mean for \
                 every column and scale times the identity, matching, reference and jeffreys",
            )),
        }
    }
}
