//! An unknown rate with a Gamma(a, b) prior: of a Poisson, of an exponential,
//! of a gamma distribution with known shape.
//!
//! Counts of sum s in n rows give Gamma(a + s, b + n); times of sum s give
//! Gamma(a + n, b + s).

use super::{Conjugate, Prior, numbers, proper, unknown_prior};
use crate::Result;
use crate::family::{
    BetaPrime, Exponential, ExponentialStats, Family, Gamma, GammaStats, Lomax, NegativeBinomial,
    Poisson, PoissonStats, Stats, Univariate,
};
use crate::kernel::special::ln_gamma;

const PRIORS: &str = "gamma(shape,rate), uniform and jeffreys";

fn gamma(name: &str, given: &[f64], jeffreys: Gamma) -> Result<Gamma> {
    let none = |belief: Gamma| numbers::<0>(name, given).map(|_| belief);
    match name {
        <Gamma as Prior>::NAME => numbers::<2>(name, given).and_then(|[a, b]| Gamma::new(a, b)),
        "uniform" | "flat" => none(Gamma {
            shape: 1.0,
            rate: 0.0,
        }),
        "jeffreys" => none(jeffreys),
        _ => Err(unknown_prior(name, PRIORS)),
    }
}

/// ln of ∫ θ^(a−1) e^(−bθ) dθ.
fn log_normaliser(belief: &Gamma) -> f64 {
    ln_gamma(belief.shape) - belief.shape * belief.rate.ln()
}

fn evidence(prior: &Gamma, posterior: &Gamma, rest: f64) -> Result<Option<f64>> {
    let gain = || log_normaliser(posterior) - log_normaliser(prior);
    Ok(prior.is_proper().then(|| rest + gain()))
}

/// The rate of a Poisson distribution; rows are counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonRate;

impl Conjugate for PoissonRate {
    type Prior = Gamma;
    type Stats = PoissonStats;
    type Predictive = NegativeBinomial;

    fn parameters(&self) -> Vec<String> {
        vec!["rate".into()]
    }

    fn zero(&self) -> PoissonStats {
        Poisson::zero(&())
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut PoissonStats) {
        stats.merge(&PoissonStats::new([(row[0], weight)]));
    }

    fn observe_all(&self, rows: &mut dyn Iterator<Item = (&[f64], f64)>, stats: &mut PoissonStats) {
        stats.merge(&PoissonStats::new(
            rows.map(|(row, weight)| (row[0], weight)),
        ));
    }

    fn posterior(&self, prior: &Gamma, stats: &PoissonStats) -> Result<Gamma> {
        proper(Gamma {
            shape: prior.shape + stats.sum,
            rate: prior.rate + stats.weight,
        })
    }

    fn predictive(&self, belief: &Gamma) -> Result<NegativeBinomial> {
        let Gamma { shape, rate } = proper(belief.clone())?;
        NegativeBinomial::new(shape, rate / (rate + 1.0))
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &PoissonStats) -> f64 {
        Poisson {
            rate: parameters[0],
        }
        .log_likelihood(stats)
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Poisson {
            rate: parameters[0],
        }))
    }

    fn range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        gamma(
            name,
            given,
            Gamma {
                shape: 0.5,
                rate: 0.0,
            },
        )
    }
}

/// The rate of an exponential distribution; rows are times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialRate;

impl Conjugate for ExponentialRate {
    type Prior = Gamma;
    type Stats = ExponentialStats;
    type Predictive = Lomax;

    fn parameters(&self) -> Vec<String> {
        vec!["rate".into()]
    }

    fn zero(&self) -> ExponentialStats {
        Exponential::zero(&())
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut ExponentialStats) {
        stats.weight += weight;
        stats.sum += weight * row[0];
    }

    fn posterior(&self, prior: &Gamma, stats: &ExponentialStats) -> Result<Gamma> {
        proper(Gamma {
            shape: prior.shape + stats.weight,
            rate: prior.rate + stats.sum,
        })
    }

    fn predictive(&self, belief: &Gamma) -> Result<Lomax> {
        let Gamma { shape, rate } = proper(belief.clone())?;
        Ok(Lomax { shape, scale: rate })
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &ExponentialStats) -> f64 {
        Exponential {
            rate: parameters[0],
        }
        .log_likelihood(stats)
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Exponential {
            rate: parameters[0],
        }))
    }

    fn range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        gamma(
            name,
            given,
            Gamma {
                shape: 0.0,
                rate: 0.0,
            },
        )
    }

    fn log_evidence(&self, prior: &Gamma, stats: &ExponentialStats) -> Result<Option<f64>> {
        evidence(prior, &self.posterior(prior, stats)?, 0.0)
    }
}

/// The rate of a gamma distribution of known shape; rows are positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaRate {
    /// The known shape.
    pub shape: f64,
}

impl Conjugate for GammaRate {
    type Prior = Gamma;
    type Stats = GammaStats;
    type Predictive = BetaPrime;

    fn parameters(&self) -> Vec<String> {
        vec!["rate".into()]
    }

    fn zero(&self) -> GammaStats {
        GammaStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut GammaStats) {
        stats.merge(&GammaStats::new([(row[0], weight)]));
    }

    fn observe_all(&self, rows: &mut dyn Iterator<Item = (&[f64], f64)>, stats: &mut GammaStats) {
        stats.merge(&GammaStats::new(rows.map(|(row, weight)| (row[0], weight))));
    }

    fn posterior(&self, prior: &Gamma, stats: &GammaStats) -> Result<Gamma> {
        proper(Gamma {
            shape: prior.shape + self.shape * stats.weight,
            rate: prior.rate + stats.sum,
        })
    }

    fn predictive(&self, belief: &Gamma) -> Result<BetaPrime> {
        let Gamma { shape, rate } = proper(belief.clone())?;
        Ok(BetaPrime {
            a: self.shape,
            b: shape,
            scale: rate,
        })
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &GammaStats) -> f64 {
        Gamma {
            shape: self.shape,
            rate: parameters[0],
        }
        .log_likelihood(stats)
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Gamma {
            shape: self.shape,
            rate: parameters[0],
        }))
    }

    fn range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        gamma(
            name,
            given,
            Gamma {
                shape: 0.0,
                rate: 0.0,
            },
        )
    }
}
