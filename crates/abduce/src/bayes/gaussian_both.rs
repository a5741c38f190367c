//! Mean and precision of a Gaussian, both unknown, with a normal-gamma prior; and
//! the same of the logarithms for a log-normal.
//!
//! κₙ = κ + n, mₙ = (κm + n x̄)/κₙ, aₙ = a + n/2,
//! bₙ = b + S/2 + κ n (x̄ − m)²/2κₙ, with S the scatter about x̄. The next row
//! is Student t about mₙ with 2aₙ degrees of freedom and squared scale
//! bₙ(κₙ + 1)/aₙκₙ.

use super::gaussian::{see, variance};
use super::{Conjugate, numbers, proper, unknown_prior};
use crate::Result;
use crate::family::{
    Exponentiated, Family, Gaussian, GaussianStats, LogNormal, NormalGamma, StudentT, Univariate,
};

/// Mean and precision of a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianBoth;

impl Conjugate for GaussianBoth {
    type Prior = NormalGamma;
    type Stats = GaussianStats;
    type Predictive = StudentT;

    fn parameters(&self) -> Vec<String> {
        vec!["mean".into(), "precision".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut GaussianStats) {
        see(stats, row[0], weight);
    }

    fn posterior(&self, prior: &NormalGamma, stats: &GaussianStats) -> Result<NormalGamma> {
        if stats.weight <= 0.0 {
            return proper(prior.clone());
        }
        let strength = prior.strength + stats.weight;
        let shift = stats.mean - prior.mean;
        let between = prior.strength * stats.weight / strength * shift * shift;
        proper(NormalGamma {
            mean: stats.mean - shift * prior.strength / strength,
            strength,
            shape: prior.shape + 0.5 * stats.weight,
            rate: prior.rate + 0.5 * (stats.scatter + between),
        })
    }

    fn predictive(&self, belief: &NormalGamma) -> Result<StudentT> {
        let NormalGamma {
            mean,
            strength,
            shape,
            rate,
        } = proper(belief.clone())?;
        let square = rate / shape * (strength + 1.0) / strength;
        StudentT::new(mean, square.sqrt(), 2.0 * shape)
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &GaussianStats) -> f64 {
        Gaussian {
            mean: parameters[0],
            variance: 1.0 / parameters[1],
        }
        .log_likelihood(stats)
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Gaussian {
            mean: parameters[0],
            variance: 1.0 / parameters[1],
        }))
    }

    /// Jeffreys' rule gives λ^(−1/2); the reference prior of mean and deviation
    /// apart gives 1/λ, under which mean and deviation have the intervals of
    /// Student's and the χ² tests.
    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalGamma> {
        let improper = |shape: f64| {
            numbers::<0>(name, given).map(|_| NormalGamma {
                mean: 0.0,
                strength: 0.0,
                shape,
                rate: 0.0,
            })
        };
        match name {
            "normal-gamma" => {
                numbers::<4>(name, given).and_then(|[mean, strength, shape, rate]| {
                    NormalGamma::new(mean, strength, shape, rate)
                })
            }
            "jeffreys" => improper(0.0),
            "reference" => improper(-0.5),
            "uniform" | "flat" => improper(0.5),
            _ => Err(unknown_prior(
                name,
                "normal-gamma(mean,strength,shape,rate), reference, jeffreys and uniform; \
                 normal where the variance is known, gamma where the mean is",
            )),
        }
    }

    fn derived(&self, belief: &NormalGamma) -> Vec<(String, Box<dyn Univariate>)> {
        vec![(
            "variance".into(),
            Box::new(variance(belief.shape, belief.rate)),
        )]
    }
}

/// Mean and precision of the logarithm of a log-normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormalBoth;

impl Conjugate for LogNormalBoth {
    type Prior = NormalGamma;
    type Stats = GaussianStats;
    type Predictive = Exponentiated<StudentT>;

    fn parameters(&self) -> Vec<String> {
        vec!["log_mean".into(), "log_precision".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut GaussianStats) {
        see(stats, row[0].ln(), weight);
    }

    fn posterior(&self, prior: &NormalGamma, stats: &GaussianStats) -> Result<NormalGamma> {
        GaussianBoth.posterior(prior, stats)
    }

    fn predictive(&self, belief: &NormalGamma) -> Result<Exponentiated<StudentT>> {
        let logarithm = GaussianBoth.predictive(belief)?;
        Ok(Exponentiated { logarithm })
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &GaussianStats) -> f64 {
        GaussianBoth.log_likelihood(parameters, stats) - stats.weight * stats.mean
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(LogNormal {
            log_mean: parameters[0],
            log_variance: 1.0 / parameters[1],
        }))
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalGamma> {
        GaussianBoth.prior(name, given)
    }

    fn derived(&self, belief: &NormalGamma) -> Vec<(String, Box<dyn Univariate>)> {
        vec![(
            "log_variance".into(),
            Box::new(variance(belief.shape, belief.rate)),
        )]
    }
}
