//! One part of a Gaussian unknown, the other known: its mean, or its precision
//! matrix.

use super::{
    added, draw, identity, inverse, log_likelihood, matrix_names, mean_names, nothing, parts,
    scaled, scatter_about, see,
};
use crate::Result;
use crate::bayes::{Conjugate, Prior, numbers, proper, unknown_prior};
use crate::family::{
    Covariance, Gaussian, InverseWishart, MultivariateGaussian, MultivariateStats, MultivariateT,
    Wishart,
};
use crate::kernel::definite::times;
use rand::Rng;

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
    type Prior = MultivariateGaussian;
    type Stats = MultivariateStats;
    type Predictive = MultivariateGaussian;

    fn parameters(&self) -> Vec<String> {
        mean_names(self.order())
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.order())
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
    }

    fn posterior(
        &self,
        prior: &MultivariateGaussian,
        stats: &MultivariateStats,
    ) -> Result<MultivariateGaussian> {
        let order = self.order();
        let (weight, mean, _) = parts(stats);
        let seen = scaled(&inverse(&self.covariance, order)?, weight);
        let own = match &prior.covariance {
            // Believing nothing is no precision at all.
            Covariance::Spherical(variance) => identity(order, 1.0 / variance),
            _ => inverse(&full(prior), order)?,
        };
        let covariance = inverse(&added(&own, &seen), order)?;
        let pull = added(&times(&own, &prior.mean), &times(&seen, mean));
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

    fn log_likelihood(&self, mean: &[f64], stats: &MultivariateStats) -> f64 {
        let precision = inverse(&self.covariance, self.order());
        precision.map_or(f64::NAN, |precision| {
            log_likelihood(mean, &precision, stats)
        })
    }

    fn draw_row(&self, mean: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        draw(mean, self.covariance.clone(), rng)
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
                numbers::<0>(name, given).map(|_| belief(0.0, f64::INFINITY))
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
    type Prior = Wishart;
    type Stats = MultivariateStats;
    type Predictive = MultivariateT;

    fn parameters(&self) -> Vec<String> {
        matrix_names("precision", self.mean.len())
    }

    fn zero(&self) -> MultivariateStats {
        nothing(self.mean.len())
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut MultivariateStats) {
        see(row, weight, stats);
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

    fn log_likelihood(&self, precision: &[f64], stats: &MultivariateStats) -> f64 {
        log_likelihood(&self.mean, precision, stats)
    }

    fn draw_row(&self, precision: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        match inverse(precision, self.mean.len()) {
            Ok(covariance) => draw(&self.mean, covariance, rng),
            Err(_) => vec![f64::NAN; self.mean.len()],
        }
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
