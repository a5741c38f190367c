//! An unknown probability with a Beta(a, b) prior: of a Bernoulli, of the trials
//! of a binomial, of the successes a geometric or negative binomial waits for.
//! s successes and f failures give Beta(a + s, b + f).
//!
//! The mean of the Beta posterior is the predictive probability
//! (a + s)/(a + b + s + f).

use super::{
    Conjugate, NaturalExpectation, Prior, Row, numbers, observe_codes, proper, unknown_prior,
    without_numbers,
};
use crate::Result;
use crate::family::categorical::bernoulli::log_likelihood_of_trials;
use crate::family::{
    Bernoulli, BernoulliStats, Beta, BetaBinomial, BetaNegativeBinomial, Binomial, BinomialStats,
    NegativeBinomial, Univariate, sums,
};
use crate::kernel::special::{digamma, ln_beta};
use rand::Rng;

const PRIORS: &str = "beta(a,b), uniform, jeffreys and haldane";

/// A beta prior by name. Jeffreys' prior is left to the caller, as it depends on when
/// sampling stops.
fn beta(name: &str, given: &[f64], jeffreys: Beta) -> Result<Beta> {
    match name {
        Beta::NAME => numbers(name, given).and_then(|[a, b]| Beta::new(a, b)),
        "uniform" | "flat" => without_numbers(name, given, Beta { a: 1.0, b: 1.0 }),
        "jeffreys" => without_numbers(name, given, jeffreys),
        "haldane" => without_numbers(name, given, Beta { a: 0.0, b: 0.0 }),
        _ => Err(unknown_prior(name, PRIORS)),
    }
}

fn updated(prior: &Beta, successes: f64, failures: f64) -> Result<Beta> {
    proper(Beta {
        a: prior.a + successes,
        b: prior.b + failures,
    })
}

/// ln B(a + s, b + f) − ln B(a, b), and what the parameters do not touch.
fn evidence(prior: &Beta, posterior: &Beta, rest: f64) -> Option<f64> {
    let gain = ln_beta(posterior.a, posterior.b) - ln_beta(prior.a, prior.b);
    prior.is_proper().then_some(rest + gain)
}

/// The probability of a Bernoulli distribution; rows are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BernoulliProbability;

impl Conjugate for BernoulliProbability {
    type Row = Bernoulli;
    type Prior = Beta;
    type Stats = BernoulliStats;
    type Predictive = Bernoulli;

    fn parameters(&self) -> Vec<String> {
        vec!["probability".into()]
    }

    fn zero(&self) -> BernoulliStats {
        BernoulliStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut BernoulliStats) {
        observe_codes::<Bernoulli>(cells, weights, stats);
    }

    fn row(&self, parameters: &[f64]) -> Option<Bernoulli> {
        let probability = parameters[0];
        Some(Bernoulli { probability })
    }

    fn posterior(&self, prior: &Beta, stats: &BernoulliStats) -> Result<Beta> {
        updated(prior, stats.successes, stats.failures)
    }

    fn predictive(&self, belief: &Beta) -> Result<Bernoulli> {
        let Beta { a, b } = proper(belief.clone())?;
        Ok(Bernoulli {
            probability: a / (a + b),
        })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Beta> {
        beta(name, given, Beta { a: 0.5, b: 0.5 })
    }

    fn log_evidence(&self, prior: &Beta, stats: &BernoulliStats) -> Result<Option<f64>> {
        Ok(evidence(prior, &self.posterior(prior, stats)?, 0.0))
    }
}

/// η = ln p − ln(1 − p) and A = −ln(1 − p).
impl NaturalExpectation for BernoulliProbability {
    fn expected_natural_parameters(&self, belief: &Beta) -> (Vec<f64>, f64) {
        let Beta { a, b } = *belief;
        (vec![digamma(a) - digamma(b)], digamma(a + b) - digamma(b))
    }
}

/// The probability of a binomial distribution with a known number of trials;
/// rows are counts of successes, and of trials where a row has its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinomialProbability {
    /// The number of trials of a row that does not say it.
    pub trials: u64,
}

impl Row<BinomialStats> for Binomial {
    fn log_likelihood_of_rows(&self, stats: &BinomialStats) -> f64 {
        let BinomialStats {
            successes,
            failures,
            ..
        } = *stats;
        stats.log_choices + log_likelihood_of_trials(successes, failures, self.probability)
    }

    fn draw_row(&self, rng: &mut dyn Rng) -> Vec<f64> {
        vec![self.draw(rng)]
    }

    fn into_univariate(self) -> Option<Box<dyn Univariate>> {
        Some(Box::new(self))
    }
}

impl Conjugate for BinomialProbability {
    type Row = Binomial;
    type Prior = Beta;
    type Stats = BinomialStats;
    type Predictive = BetaBinomial;

    fn parameters(&self) -> Vec<String> {
        vec!["probability".into()]
    }

    fn zero(&self) -> BinomialStats {
        BinomialStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut BinomialStats) {
        let width = cells.len() / weights.len().max(1);
        for (row, weight) in cells.chunks_exact(width.max(1)).zip(weights) {
            let trials = row.get(1).map_or(self.trials, |trials| *trials as u64);
            stats.observe(trials, row[0], *weight);
        }
    }

    fn row(&self, parameters: &[f64]) -> Option<Binomial> {
        let (trials, probability) = (self.trials, parameters[0]);
        Some(Binomial {
            trials,
            probability,
        })
    }

    fn posterior(&self, prior: &Beta, stats: &BinomialStats) -> Result<Beta> {
        updated(prior, stats.successes, stats.failures)
    }

    fn predictive(&self, belief: &Beta) -> Result<BetaBinomial> {
        let (trials, probability) = (self.trials, proper(belief.clone())?);
        Ok(BetaBinomial {
            trials,
            probability,
        })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Beta> {
        beta(name, given, Beta { a: 0.5, b: 0.5 })
    }

    fn log_evidence(&self, prior: &Beta, stats: &BinomialStats) -> Result<Option<f64>> {
        let posterior = self.posterior(prior, stats)?;
        Ok(evidence(prior, &posterior, stats.log_choices))
    }
}

/// The probability of success of a negative binomial distribution of known
/// size, a geometric one for size 1; rows are counts of failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NegativeBinomialProbability {
    /// The number of successes waited for.
    pub size: f64,
}

sums! {
    /// Sums over counts of failures.
    FailureStats {
        /// The weighted sum of the failures.
        failures,
        /// The weighted sum of ln Γ(x + r)/(x! Γ(r)).
        log_choices,
    }
}

impl Row<FailureStats> for NegativeBinomial {
    fn log_likelihood_of_rows(&self, stats: &FailureStats) -> f64 {
        let successes = self.size * stats.weight;
        stats.log_choices + log_likelihood_of_trials(successes, stats.failures, self.probability)
    }

    fn draw_row(&self, rng: &mut dyn Rng) -> Vec<f64> {
        vec![self.draw(rng)]
    }

    fn into_univariate(self) -> Option<Box<dyn Univariate>> {
        Some(Box::new(self))
    }
}

impl Conjugate for NegativeBinomialProbability {
    type Row = NegativeBinomial;
    type Prior = Beta;
    type Stats = FailureStats;
    type Predictive = BetaNegativeBinomial;

    fn parameters(&self) -> Vec<String> {
        vec!["probability".into()]
    }

    fn zero(&self) -> FailureStats {
        FailureStats::default()
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut FailureStats) {
        for (x, weight) in cells.iter().zip(weights) {
            stats.weight += weight;
            stats.failures += weight * x;
            if *x > 0.0 {
                stats.log_choices -= weight * (ln_beta(*x, self.size) + x.ln());
            }
        }
    }

    fn row(&self, parameters: &[f64]) -> Option<NegativeBinomial> {
        let (size, probability) = (self.size, parameters[0]);
        Some(NegativeBinomial { size, probability })
    }

    fn posterior(&self, prior: &Beta, stats: &FailureStats) -> Result<Beta> {
        updated(prior, self.size * stats.weight, stats.failures)
    }

    fn predictive(&self, belief: &Beta) -> Result<BetaNegativeBinomial> {
        let (size, probability) = (self.size, proper(belief.clone())?);
        Ok(BetaNegativeBinomial { size, probability })
    }

    /// Jeffreys' prior is Beta(0, ½) here: it depends on the stopping rule.
    fn prior(&self, name: &str, given: &[f64]) -> Result<Beta> {
        beta(name, given, Beta { a: 0.0, b: 0.5 })
    }

    fn log_evidence(&self, prior: &Beta, stats: &FailureStats) -> Result<Option<f64>> {
        let posterior = self.posterior(prior, stats)?;
        Ok(evidence(prior, &posterior, stats.log_choices))
    }
}
