//! Unknown probabilities of levels with a Dirichlet(α) prior: counts c give
//! Dirichlet(α + c), and the next row is of level j with probability
//! (αⱼ + cⱼ)/Σ(α + c). With every αⱼ = 1 that is Laplace's rule: the posterior
//! *mean* under Dirichlet(1), and equally the posterior *mode* under
//! Dirichlet(2).

use super::{Conjugate, NaturalExpectation, Prior, Row, observe_codes, proper, unknown_prior};
use crate::family::{
    Categorical, CategoricalStats, Dirichlet, DirichletMultinomial, Family, Multi, Multinomial,
    Stats, times,
};
use crate::kernel::special::{digamma, ln_beta, ln_factorial, ln_gamma};
use crate::{Error, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A Dirichlet prior by name, for a number of levels; a single number stands for all.
fn dirichlet(name: &str, given: &[f64], levels: usize) -> Result<Dirichlet> {
    let all = |alpha: f64| Dirichlet {
        concentration: vec![alpha; levels],
    };
    match (name, given) {
        ("dirichlet", [alpha]) => Dirichlet::new(vec![*alpha; levels]),
        ("dirichlet", given) if given.len() == levels => Dirichlet::new(given.to_vec()),
        ("dirichlet", given) => Err(Error::parameter(format!(
            "the prior has {} numbers, and there are {levels} levels",
            given.len()
        ))
        .with_hint("give one number for all levels, or one for each")),
        ("uniform" | "flat" | "laplace", []) => Ok(all(1.0)),
        ("jeffreys", []) => Ok(all(0.5)),
        ("haldane", []) => Ok(all(0.0)),
        _ => Err(unknown_prior(
            name,
            "dirichlet(a) for all levels alike, dirichlet(a,b,…), uniform, jeffreys and haldane",
        )),
    }
}

fn updated(prior: &Dirichlet, counts: &[f64]) -> Result<Dirichlet> {
    let both = prior.concentration.iter().zip(counts);
    proper(Dirichlet {
        concentration: both.map(|(alpha, count)| alpha + count).collect(),
    })
}

/// The logarithm of the ratio of the two normalisers, and what the parameters do not touch.
fn evidence(prior: &Dirichlet, posterior: &Dirichlet, rest: f64) -> Option<f64> {
    let log_normaliser = |belief: &Dirichlet| {
        let each: f64 = belief
            .concentration
            .iter()
            .map(|alpha| ln_gamma(*alpha))
            .sum();
        each - ln_gamma(belief.concentration.iter().sum())
    };
    prior
        .is_proper()
        .then(|| match prior.concentration.as_slice() {
            // Two levels have a function that does not cancel.
            [a, b] => {
                let after = &posterior.concentration;
                rest + ln_beta(after[0], after[1]) - ln_beta(*a, *b)
            }
            _ => rest + log_normaliser(posterior) - log_normaliser(prior),
        })
}

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("probability[{i}]")).collect()
}

/// The probabilities of a categorical distribution; rows are codes of levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CategoricalProbabilities {
    /// The number of levels.
    pub levels: usize,
}

impl Conjugate for CategoricalProbabilities {
    type Row = Categorical;
    type Prior = Dirichlet;
    type Stats = CategoricalStats;
    type Predictive = Categorical;

    fn parameters(&self) -> Vec<String> {
        names(self.levels)
    }

    fn zero(&self) -> CategoricalStats {
        Categorical::zero(&self.levels)
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut CategoricalStats) {
        observe_codes::<Categorical>(cells, weights, stats);
    }

    fn row(&self, probabilities: &[f64]) -> Option<Categorical> {
        let probabilities = probabilities.to_vec();
        Some(Categorical { probabilities })
    }

    fn posterior(&self, prior: &Dirichlet, stats: &CategoricalStats) -> Result<Dirichlet> {
        updated(prior, &stats.counts)
    }

    fn predictive(&self, belief: &Dirichlet) -> Result<Categorical> {
        let belief = proper(belief.clone())?;
        let total: f64 = belief.concentration.iter().sum();
        let probabilities = belief.concentration.iter().map(|alpha| alpha / total);
        Ok(Categorical {
            probabilities: probabilities.collect(),
        })
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Dirichlet> {
        dirichlet(name, given, self.levels)
    }

    fn log_evidence(&self, prior: &Dirichlet, stats: &CategoricalStats) -> Result<Option<f64>> {
        Ok(evidence(prior, &self.posterior(prior, stats)?, 0.0))
    }
}

/// η = ln pⱼ − ln p_K for all levels but the last, and A = −ln p_K.
impl NaturalExpectation for CategoricalProbabilities {
    fn expected_natural_parameters(&self, belief: &Dirichlet) -> (Vec<f64>, f64) {
        let Some((last, others)) = belief.concentration.split_last() else {
            return (Vec::new(), 0.0);
        };
        let total: f64 = belief.concentration.iter().sum();
        let natural = others.iter().map(|a| digamma(*a) - digamma(*last));
        (natural.collect(), digamma(total) - digamma(*last))
    }
}

/// The probabilities of a multinomial distribution; rows are counts of every
/// level, in any number of trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultinomialProbabilities {
    /// The number of levels.
    pub levels: usize,
    /// The trials of the next row.
    pub trials: u64,
}

/// Sums over rows of counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultinomialStats {
    /// The total weight of the rows.
    pub weight: f64,
    /// The weighted count of every level.
    pub counts: Vec<f64>,
    /// The weighted sum of ln n!/Π xⱼ!.
    pub log_choices: f64,
}

impl Stats for MultinomialStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        self.counts
            .iter_mut()
            .zip(&other.counts)
            .for_each(|(a, b)| *a += b);
        self.log_choices += other.log_choices;
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.counts.iter_mut().for_each(|count| *count *= factor);
        self.log_choices *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let less = |a: f64, b: f64| b > a * (1.0 + 1e-9);
        let counts = self.counts.iter().zip(&other.counts);
        if less(self.weight, other.weight) || counts.into_iter().any(|(a, b)| less(*a, *b)) {
            return Err(crate::family::never_seen());
        }
        self.weight = (self.weight - other.weight).max(0.0);
        let counts = self.counts.iter_mut().zip(&other.counts);
        counts.for_each(|(a, b)| *a = (*a - b).max(0.0));
        self.log_choices -= other.log_choices;
        Ok(())
    }
}

impl Row<MultinomialStats> for Multinomial {
    fn log_likelihood_of_rows(&self, stats: &MultinomialStats) -> f64 {
        let terms = stats.counts.iter().zip(&self.probabilities);
        let sum: f64 = terms.map(|(count, p)| times(*count, p.ln())).sum();
        stats.log_choices + sum
    }

    fn draw_row(&self, rng: &mut dyn Rng) -> Vec<f64> {
        self.draw(rng)
    }
}

impl Conjugate for MultinomialProbabilities {
    type Row = Multinomial;
    type Prior = Dirichlet;
    type Stats = MultinomialStats;
    type Predictive = DirichletMultinomial;

    fn parameters(&self) -> Vec<String> {
        names(self.levels)
    }

    fn zero(&self) -> MultinomialStats {
        MultinomialStats {
            weight: 0.0,
            counts: vec![0.0; self.levels],
            log_choices: 0.0,
        }
    }

    fn observe(&self, cells: &[f64], weights: &[f64], stats: &mut MultinomialStats) {
        for (row, weight) in cells.chunks_exact(self.levels).zip(weights) {
            stats.weight += weight;
            let counts = stats.counts.iter_mut().zip(row);
            counts.for_each(|(count, x)| *count += weight * x);
            let choices: f64 = row.iter().map(|x| ln_factorial(*x)).sum();
            stats.log_choices += weight * (ln_factorial(row.iter().sum()) - choices);
        }
    }

    fn row(&self, probabilities: &[f64]) -> Option<Multinomial> {
        let (trials, probabilities) = (self.trials, probabilities.to_vec());
        Some(Multinomial {
            trials,
            probabilities,
        })
    }

    fn posterior(&self, prior: &Dirichlet, stats: &MultinomialStats) -> Result<Dirichlet> {
        updated(prior, &stats.counts)
    }

    fn predictive(&self, belief: &Dirichlet) -> Result<DirichletMultinomial> {
        let belief = proper(belief.clone())?;
        DirichletMultinomial::new(self.trials, belief.concentration)
    }

    fn prior(&self, name: &str, given: &[f64]) -> Result<Dirichlet> {
        dirichlet(name, given, self.levels)
    }

    fn log_evidence(&self, prior: &Dirichlet, stats: &MultinomialStats) -> Result<Option<f64>> {
        Ok(evidence(
            prior,
            &self.posterior(prior, stats)?,
            stats.log_choices,
        ))
    }
}
