//! An unknown probability with a Beta(a, b) prior: of a Bernoulli, of the trials
//! of a binomial, of the successes a (negative) geometric or negative binomial
//! waits for. s successes and f failures give Beta(a + s, b + f).
//!
//! The mean of the Beta posterior is the predictive probability
//! (a + s)/(a + b + s + f).

use super::{Conjugate, Prior, numbers, proper, unknown_prior};
use crate::Result;
use crate::family::{
    Bernoulli, BernoulliStats, Beta, BetaBinomial, BetaNegativeBinomial, Binomial, BinomialStats,
    Family, NegativeBinomial, Univariate, sums,
};
use crate::kernel::special::ln_beta;

const PRIORS: &str = "beta(a,b), uniform, jeffreys and haldane";

/// Beta by name. Jeffreys' prior is left to the caller, as it depends on when
/// sampling stops.
fn beta(name: &str, given: &[f64], jeffreys: Beta) -> Result<Beta> {
    let none = |belief: Beta| numbers::<0>(name, given).map(|_| belief);
    match name {
        <Beta as Prior>::NAME => numbers::<2>(name, given).and_then(|[a, b]| Beta::new(a, b)),
        "uniform" | "flat" => none(Beta { a: 1.0, b: 1.0 }),
        "jeffreys" => none(jeffreys),
        "haldane" => none(Beta { a: 0.0, b: 0.0 }),
        _ => Err(unknown_prior(name, PRIORS)),
    }
}

fn updated(prior: &Beta, successes: f64, failures: f64) -> Result<Beta> {
    proper(Beta {
        a: prior.a + successes,
        b: prior.b + failures,
    })
}

/// a·ln p + b·ln(1 − p), where nothing times −∞ is nothing.
fn trials(successes: f64, failures: f64, p: f64) -> f64 {
    let term = |count: f64, log: f64| if count > 0.0 { count * log } else { 0.0 };
    term(successes, p.ln()) + term(failures, (-p).ln_1p())
}

/// The probability of a Bernoulli distribution; rows are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BernoulliProbability;

impl Conjugate for BernoulliProbability {
    type Prior = Beta;
    type Stats = BernoulliStats;
    type Predictive = Bernoulli;

    fn parameters(&self) -> Vec<String> {
        vec!["probability".into()]
    }

    fn zero(&self) -> BernoulliStats {
        Bernoulli::zero(&())
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut BernoulliStats) {
        match row[0] == 0.0 {
            true => stats.failures += weight,
            false => stats.successes += weight,
        }
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

    fn log_likelihood(&self, parameters: &[f64], stats: &BernoulliStats) -> f64 {
        trials(stats.successes, stats.failures, parameters[0])
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Bernoulli {
            probability: parameters[0],
        }))
    }

    fn range(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Beta> {
        beta(name, given, Beta { a: 0.5, b: 0.5 })
    }

    fn log_evidence(&self, prior: &Beta, stats: &BernoulliStats) -> Result<Option<f64>> {
        evidence(prior, &self.posterior(prior, stats)?, 0.0)
    }
}

/// ln B(a + s, b + f) − ln B(a, b), and what the parameters do not touch.
fn evidence(prior: &Beta, posterior: &Beta, rest: f64) -> Result<Option<f64>> {
    let gain = ln_beta(posterior.a, posterior.b) - ln_beta(prior.a, prior.b);
    Ok(prior.is_proper().then_some(rest + gain))
}

/// The probability of a binomial distribution with a known number of trials;
/// rows are counts of successes, and of trials where a row has its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinomialProbability {
    /// The number of trials of a row that does not say it.
    pub trials: u64,
}

impl Conjugate for BinomialProbability {
    type Prior = Beta;
    type Stats = BinomialStats;
    type Predictive = BetaBinomial;

    fn parameters(&self) -> Vec<String> {
        vec!["probability".into()]
    }

    fn zero(&self) -> BinomialStats {
        BinomialStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut BinomialStats) {
        let trials = row.get(1).map_or(self.trials, |own| *own as u64);
        stats.see(trials, row[0], weight);
    }

    fn posterior(&self, prior: &Beta, stats: &BinomialStats) -> Result<Beta> {
        updated(prior, stats.successes, stats.failures)
    }

    fn predictive(&self, belief: &Beta) -> Result<BetaBinomial> {
        let probability = proper(belief.clone())?;
        Ok(BetaBinomial {
            trials: self.trials,
            probability,
        })
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &BinomialStats) -> f64 {
        stats.log_choices + trials(stats.successes, stats.failures, parameters[0])
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(Binomial {
            trials: self.trials,
            probability: parameters[0],
        }))
    }

    fn range(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Beta> {
        beta(name, given, Beta { a: 0.5, b: 0.5 })
    }

    fn log_evidence(&self, prior: &Beta, stats: &BinomialStats) -> Result<Option<f64>> {
        evidence(prior, &self.posterior(prior, stats)?, stats.log_choices)
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

impl Conjugate for NegativeBinomialProbability {
    type Prior = Beta;
    type Stats = FailureStats;
    type Predictive = BetaNegativeBinomial;

    fn parameters(&self) -> Vec<String> {
        vec!["probability".into()]
    }

    fn zero(&self) -> FailureStats {
        FailureStats::default()
    }

    fn observe(&self, row: &[f64], weight: f64, stats: &mut FailureStats) {
        let x = row[0];
        stats.weight += weight;
        stats.failures += weight * x;
        if x > 0.0 {
            stats.log_choices -= weight * (ln_beta(x, self.size) + x.ln());
        }
    }

    fn posterior(&self, prior: &Beta, stats: &FailureStats) -> Result<Beta> {
        updated(prior, self.size * stats.weight, stats.failures)
    }

    fn predictive(&self, belief: &Beta) -> Result<BetaNegativeBinomial> {
        let probability = proper(belief.clone())?;
        Ok(BetaNegativeBinomial {
            size: self.size,
            probability,
        })
    }

    fn log_likelihood(&self, parameters: &[f64], stats: &FailureStats) -> f64 {
        stats.log_choices + trials(self.size * stats.weight, stats.failures, parameters[0])
    }

    fn row(&self, parameters: &[f64]) -> Option<Box<dyn Univariate>> {
        Some(Box::new(NegativeBinomial {
            size: self.size,
            probability: parameters[0],
        }))
    }

    fn range(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    /// Jeffreys' prior is Beta(0, ½) here: it depends on the stopping rule.
    fn prior(&self, name: &str, given: &[f64]) -> Result<Beta> {
        beta(name, given, Beta { a: 0.0, b: 0.5 })
    }

    fn log_evidence(&self, prior: &Beta, stats: &FailureStats) -> Result<Option<f64>> {
        evidence(prior, &self.posterior(prior, stats)?, stats.log_choices)
    }
}
