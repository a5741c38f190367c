//! An unknown rate with a Gamma(a, b) prior: of a Poisson, of an exponential,
//! of a gamma distribution with known shape.
//!
//! Counts of sum s in n rows give Gamma(a + s, b + n); times of sum s give
//! Gamma(a + n, b + s).

use super::{
    Conjugate, NaturalExpectation, Prior, numbers, observe_reals, proper, unknown_prior,
    without_numbers,
};
use crate::Result;
use crate::family::{
    BetaPrime, Exponential, ExponentialStats, Gamma, GammaStats, Lomax, NegativeBinomial, Poisson,
    PoissonStats,
};
use crate::kernel::special::{digamma, ln_gamma};

const PRIORS: &str = "gamma(shape,rate), uniform and jeffreys";

/// A gamma prior by name; Jeffreys' is an improper one of rate 0 and the given shape.
fn gamma(name: &str, given: &[f64], jeffreys: f64) -> Result<Gamma> {
    let improper = |shape: f64| without_numbers(name, given, Gamma { shape, rate: 0.0 });
    match name {
        Gamma::NAME => numbers(name, given).and_then(|[shape, rate]| Gamma::new(shape, rate)),
        "uniform" | "flat" => improper(1.0),
        "jeffreys" => improper(jeffreys),
        _ => Err(unknown_prior(name, PRIORS)),
    }
}

/// The posterior of a rate after some events in a period of time.
fn posterior_after(prior: &Gamma, events: f64, time: f64) -> Result<Gamma> {
    proper(Gamma {
        shape: prior.shape + events,
        rate: prior.rate + time,
    })
}

/// E ln λ.
fn expected_log(belief: &Gamma) -> f64 {
    digamma(belief.shape) - belief.rate.ln()
}

/// The rate of a Poisson distribution; rows are counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonRate;

impl Conjugate for PoissonRate {
    type Row = Poisson;
    type Prior = Gamma;
    type Stats = PoissonStats;
    type Predictive = NegativeBinomial;

    fn parameters(&self) -> Vec<String> {
        vec!["rate".into()]
    }

    fn zero(&self) -> PoissonStats {
        PoissonStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut PoissonStats) {
        observe_reals::<Poisson>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<Poisson> {
        let rate = parameters[0];
        Some(Poisson { rate })
    }

    fn posterior(&self, prior: &Gamma, stats: &PoissonStats) -> Result<Gamma> {
        posterior_after(prior, stats.sum, stats.weight)
    }

    fn predictive(&self, belief: &Gamma) -> Result<NegativeBinomial> {
        let Gamma { shape, rate } = proper(belief.clone())?;
        NegativeBinomial::new(shape, rate / (rate + 1.0))
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        gamma(name, given, 0.5)
    }
}

/// η = ln λ and A = λ.
impl NaturalExpectation for PoissonRate {
    fn expected_natural_parameters(&self, belief: &Gamma) -> (Vec<f64>, f64) {
        (vec![expected_log(belief)], belief.shape / belief.rate)
    }
}

/// The rate of an exponential distribution; rows are times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialRate;

impl Conjugate for ExponentialRate {
    type Row = Exponential;
    type Prior = Gamma;
    type Stats = ExponentialStats;
    type Predictive = Lomax;

    fn parameters(&self) -> Vec<String> {
        vec!["rate".into()]
    }

    fn zero(&self) -> ExponentialStats {
        ExponentialStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut ExponentialStats) {
        observe_reals::<Exponential>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<Exponential> {
        let rate = parameters[0];
        Some(Exponential { rate })
    }

    fn posterior(&self, prior: &Gamma, stats: &ExponentialStats) -> Result<Gamma> {
        posterior_after(prior, stats.weight, stats.sum)
    }

    fn predictive(&self, belief: &Gamma) -> Result<Lomax> {
        let Gamma { shape, rate } = proper(belief.clone())?;
        Ok(Lomax { shape, scale: rate })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        gamma(name, given, 0.0)
    }

    /// The ratio of the normalisers ∫ λ^(a−1) e^(−bλ) dλ of posterior and prior.
    fn log_evidence(&self, prior: &Gamma, stats: &ExponentialStats) -> Result<Option<f64>> {
        let log_normaliser = |gamma: &Gamma| ln_gamma(gamma.shape) - gamma.shape * gamma.rate.ln();
        let posterior = self.posterior(prior, stats)?;
        let gain = || log_normaliser(&posterior) - log_normaliser(prior);
        Ok(prior.is_proper().then(gain))
    }
}

/// η = −λ and A = −ln λ.
impl NaturalExpectation for ExponentialRate {
    fn expected_natural_parameters(&self, belief: &Gamma) -> (Vec<f64>, f64) {
        (vec![-belief.shape / belief.rate], -expected_log(belief))
    }
}

/// The rate of a gamma distribution of known shape; rows are positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaRate {
    /// The known shape.
    pub shape: f64,
}

impl Conjugate for GammaRate {
    type Row = Gamma;
    type Prior = Gamma;
    type Stats = GammaStats;
    type Predictive = BetaPrime;

    fn parameters(&self) -> Vec<String> {
        vec!["rate".into()]
    }

    fn zero(&self) -> GammaStats {
        GammaStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut GammaStats) {
        observe_reals::<Gamma>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<Gamma> {
        let (shape, rate) = (self.shape, parameters[0]);
        Some(Gamma { shape, rate })
    }

    fn posterior(&self, prior: &Gamma, stats: &GammaStats) -> Result<Gamma> {
        posterior_after(prior, self.shape * stats.weight, stats.sum)
    }

    fn predictive(&self, belief: &Gamma) -> Result<BetaPrime> {
        let Gamma { shape, rate } = proper(belief.clone())?;
        Ok(BetaPrime {
            a: self.shape,
            b: shape,
            scale: rate,
        })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Gamma> {
        gamma(name, given, 0.0)
    }
}
