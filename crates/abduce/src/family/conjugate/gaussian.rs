//! One unknown parameter of a Gaussian: its mean with a Gaussian prior, or its
//! precision λ = 1/σ² with a gamma prior.
//!
//! The precision of the mean is the prior's plus n/σ², its mean the average of
//! both weighted so; n rows with scatter S about the known mean turn Gamma(a, b)
//! into Gamma(a + n/2, b + S/2).

use super::{Conjugate, Prior, numbers, observe_reals, proper, unknown_prior, without_numbers};
use crate::Result;
use crate::family::{Gamma, Gaussian, GaussianStats, InverseGamma, StudentT, Univariate};

/// The mean of a Gaussian of known variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianMean {
    /// The known variance.
    pub variance: f64,
}

impl Conjugate for GaussianMean {
    type Row = Gaussian;
    type Prior = Gaussian;
    type Stats = GaussianStats;
    type Predictive = Gaussian;

    fn parameters(&self) -> Vec<String> {
        vec!["mean".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut GaussianStats) {
        observe_reals::<Gaussian>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<Gaussian> {
        let (mean, variance) = (parameters[0], self.variance);
        Some(Gaussian { mean, variance })
    }

    fn posterior(&self, prior: &Gaussian, stats: &GaussianStats) -> Result<Gaussian> {
        let (before, seen) = (1.0 / prior.variance, stats.weight / self.variance);
        let precision = before + seen;
        // Measured from the prior's mean, which a flat prior does not have.
        let mean = if before > 0.0 {
            prior.mean + (stats.mean - prior.mean) * seen / precision
        } else {
            stats.mean
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

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gaussian> {
        let flat = Gaussian {
            mean: 0.0,
            variance: f64::INFINITY,
        };
        match name {
            "normal" | "gaussian" => {
                numbers(name, given).and_then(|[mean, variance]| Gaussian::new(mean, variance))
            }
            "uniform" | "flat" | "jeffreys" => without_numbers(name, given, flat),
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
    type Row = Gaussian;
    type Prior = Gamma;
    type Stats = GaussianStats;
    type Predictive = StudentT;

    fn parameters(&self) -> Vec<String> {
        vec!["precision".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut GaussianStats) {
        observe_reals::<Gaussian>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<Gaussian> {
        let (mean, variance) = (self.mean, 1.0 / parameters[0]);
        Some(Gaussian { mean, variance })
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

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        let improper = |shape: f64| without_numbers(name, given, Gamma { shape, rate: 0.0 });
        match name {
            // An inverse gamma of the variance is a gamma of the precision.
            Gamma::NAME | "inverse-gamma" => {
                numbers(name, given).and_then(|[shape, rate]| Gamma::new(shape, rate))
            }
            "jeffreys" => improper(0.0),
            "uniform" | "flat" => improper(1.0),
            _ => Err(unknown_prior(
                name,
                "gamma(shape,rate) on the precision, inverse-gamma(shape,scale) on the variance, uniform \
                 and jeffreys",
            )),
        }
    }

    fn derived(&self, belief: &Gamma) -> Vec<(String, Box<dyn Univariate>)> {
        vec![variance("variance", belief.shape, belief.rate)]
    }
}

/// The distribution of the variance under a gamma distribution of the precision, with a name.
pub(super) fn variance(name: &str, shape: f64, rate: f64) -> (String, Box<dyn Univariate>) {
    (name.into(), Box::new(InverseGamma { shape, scale: rate }))
}
