//! One unknown parameter of a Gaussian: its mean with a Gaussian prior, or its
//! precision λ = 1/σ² with a gamma prior.
//!
//! The precision of the mean is the prior's plus n/σ², its mean the average of
//! both weighted so; n rows with scatter S about the known mean turn Gamma(a, b)
//! into Gamma(a + n/2, b + S/2).

use super::{Conjugate, numbers, proper, unknown_prior};
use crate::Result;
use crate::family::{
    Family, Gamma, Gaussian, GaussianStats, InverseGamma, Stats, StudentT, Univariate,
};

pub(super) fn see(stats: &mut GaussianStats, x: f64, weight: f64) {
    if weight > 0.0 {
        stats.merge(&GaussianStats {
            weight,
            mean: x,
            scatter: 0.0,
        });
    }
}

/// The mean of a Gaussian of known variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianMean {
    /// The known variance.
    pub variance: f64,
}

impl Conjugate for GaussianMean {
    type Prior = Gaussian;
    type Stats = GaussianStats;
    type Predictive = Gaussian;

    fn parameters(&self) -> Vec<String> {
        vec!["mean".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut GaussianStats) {
        see(stats, row[0], weight);
    }

    fn posterior(&self, prior: &Gaussian, stats: &GaussianStats) -> Result<Gaussian> {
        let (own, seen) = (1.0 / prior.variance, stats.weight / self.variance);
        let precision = own + seen;
        // About the prior's mean, unless that is nowhere.
        let mean = match own > 0.0 {
            true => prior.mean + (stats.mean - prior.mean) * seen / precision,
            false => stats.mean,
        };
        proper(Gaussian {
            mean,
            variance: 1.0 / precision,
        })
    }

    fn predictive(&self, belief: &Gaussian) -> Result<Gaussian> {
        let Gaussian { mean, variance } = proper(belief.clone())?;
        Ok(Gaussian {
            mean,
            variance: variance + self.variance,
        })
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &GaussianStats) -> f64 {
        Gaussian {
            mean: parameters[0],
            variance: self.variance,
        }
        .log_likelihood(stats)
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Gaussian {
            mean: parameters[0],
            variance: self.variance,
        }))
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gaussian> {
        let nowhere = Gaussian {
            mean: 0.0,
            variance: f64::INFINITY,
        };
        match name {
            "normal" | "gaussian" => {
                numbers::<2>(name, given).and_then(|[mean, variance]| Gaussian::new(mean, variance))
            }
            "uniform" | "flat" | "jeffreys" => numbers::<0>(name, given).map(|_| nowhere),
            _ => Err(unknown_prior(
                name,
                "normal(mean,variance), uniform and jeffreys; normal-gamma where the variance \
                 is unknown",
            )),
        }
    }
}

/// The precision of a Gaussian of known mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianPrecision {
    /// The known mean.
    pub mean: f64,
}

impl Conjugate for GaussianPrecision {
    type Prior = Gamma;
    type Stats = GaussianStats;
    type Predictive = StudentT;

    fn parameters(&self) -> Vec<String> {
        vec!["precision".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut GaussianStats) {
        see(stats, row[0], weight);
    }

    fn posterior(&self, prior: &Gamma, stats: &GaussianStats) -> Result<Gamma> {
        let shift = stats.mean - self.mean;
        let scatter = stats.scatter + stats.weight * shift * shift;
        proper(Gamma {
            shape: prior.shape + 0.5 * stats.weight,
            rate: prior.rate + 0.5 * scatter,
        })
    }

    fn predictive(&self, belief: &Gamma) -> Result<StudentT> {
        let Gamma { shape, rate } = proper(belief.clone())?;
        StudentT::new(self.mean, (rate / shape).sqrt(), 2.0 * shape)
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &GaussianStats) -> f64 {
        Gaussian {
            mean: self.mean,
            variance: 1.0 / parameters[0],
        }
        .log_likelihood(stats)
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Gaussian {
            mean: self.mean,
            variance: 1.0 / parameters[0],
        }))
    }

    fn range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        match name {
            // An inverse gamma of the variance is a gamma of the precision.
            "gamma" | "inverse-gamma" => {
                numbers::<2>(name, given).and_then(|[a, b]| Gamma::new(a, b))
            }
            "jeffreys" => numbers::<0>(name, given).map(|_| Gamma {
                shape: 0.0,
                rate: 0.0,
            }),
            "uniform" | "flat" => numbers::<0>(name, given).map(|_| Gamma {
                shape: 1.0,
                rate: 0.0,
            }),
            _ => Err(unknown_prior(
                name,
                "gamma(shape,rate) on the precision, inverse-gamma(shape,scale) on the variance, uniform \
                 and jeffreys",
            )),
        }
    }

    fn derived(&self, belief: &Gamma) -> Vec<(String, Box<dyn Univariate>)> {
        vec![(
            "variance".into(),
            Box::new(variance(belief.shape, belief.rate)),
        )]
    }
}

/// What a gamma distribution of the precision says of the variance.
pub(super) fn variance(shape: f64, rate: f64) -> InverseGamma {
    InverseGamma { shape, scale: rate }
}
