//! Mean and precision of a Gaussian, both unknown, with a normal-gamma prior; and
//! the same of the logarithms for a log-normal.
//!
//! κₙ = κ + n, mₙ = (κm + n x̄)/κₙ, aₙ = a + n/2,
//! bₙ = b + S/2 + κ n (x̄ − m)²/2κₙ, with S the scatter about x̄. The next row
//! is Student t about mₙ with 2aₙ degrees of freedom and squared scale
//! bₙ(κₙ + 1)/aₙκₙ.

use super::gaussian::variance;
use super::{
    Conjugate, NaturalExpectation, Prior, numbers, observe_reals, proper, unknown_prior,
    without_numbers,
};
use crate::Result;
use crate::family::{
    Exponentiated, Gaussian, GaussianStats, LogNormal, NormalGamma, StudentT, Univariate,
};

/// Mean and precision of a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianBoth;

impl Conjugate for GaussianBoth {
    type Row = Gaussian;
    type Prior = NormalGamma;
    type Stats = GaussianStats;
    type Predictive = StudentT;

    fn parameters(&self) -> Vec<String> {
        vec!["mean".into(), "precision".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut GaussianStats) {
        observe_reals::<Gaussian>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<Gaussian> {
        let (mean, variance) = (parameters[0], 1.0 / parameters[1]);
        Some(Gaussian { mean, variance })
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

    /// Jeffreys' rule gives λ^(−1/2); the reference prior of mean and deviation
    /// apart gives 1/λ, under which mean and deviation have the intervals of
    /// Student's and the χ² tests.
    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalGamma> {
        let improper = |shape: f64| {
            let flat = NormalGamma {
                mean: 0.0,
                strength: 0.0,
                shape,
                rate: 0.0,
            };
            without_numbers(name, given, flat)
        };
        match name {
            NormalGamma::NAME => {
                let [mean, strength, shape, rate] = numbers(name, given)?;
                NormalGamma::new(mean, strength, shape, rate)
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
        vec![variance("variance", belief.shape, belief.rate)]
    }
}

/// η = (λμ, −λ/2) and A = (λμ² − ln λ)/2.
fn expected_natural_parameters(belief: &NormalGamma) -> (Vec<f64>, f64) {
    let [log_precision, precision, pull, square] = belief.expectations();
    let log_partition = 0.5 * (square - log_precision);
    (vec![pull, -0.5 * precision], log_partition)
}

impl NaturalExpectation for GaussianBoth {
    fn expected_natural_parameters(&self, belief: &NormalGamma) -> (Vec<f64>, f64) {
        expected_natural_parameters(belief)
    }
}

impl NaturalExpectation for LogNormalBoth {
    fn expected_natural_parameters(&self, belief: &NormalGamma) -> (Vec<f64>, f64) {
        expected_natural_parameters(belief)
    }
}

/// Mean and precision of the logarithm of a log-normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormalBoth;

impl Conjugate for LogNormalBoth {
    type Row = LogNormal;
    type Prior = NormalGamma;
    type Stats = GaussianStats;
    type Predictive = Exponentiated<StudentT>;

    fn parameters(&self) -> Vec<String> {
        vec!["log_mean".into(), "log_precision".into()]
    }

    fn zero(&self) -> GaussianStats {
        GaussianStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut GaussianStats) {
        observe_reals::<LogNormal>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<LogNormal> {
        let (log_mean, log_variance) = (parameters[0], 1.0 / parameters[1]);
        Some(LogNormal {
            log_mean,
            log_variance,
        })
    }

    fn posterior(&self, prior: &NormalGamma, stats: &GaussianStats) -> Result<NormalGamma> {
        GaussianBoth.posterior(prior, stats)
    }

    fn predictive(&self, belief: &NormalGamma) -> Result<Exponentiated<StudentT>> {
        let logarithm = GaussianBoth.predictive(belief)?;
        Ok(Exponentiated { logarithm })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<NormalGamma> {
        GaussianBoth.prior(name, given)
    }

    fn derived(&self, belief: &NormalGamma) -> Vec<(String, Box<dyn Univariate>)> {
        vec![variance("log_variance", belief.shape, belief.rate)]
    }
}
