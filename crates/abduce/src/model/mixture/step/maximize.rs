//! The M-step: weights and leaves that maximise the expected log-likelihood plus the log-prior.
//! A component without rows, or without an estimate, gets the estimate of all rows.

use crate::family::{Distribution, Statistics, times};
use crate::leaf::{Leaf, Unseen};
use crate::model::mixture::{FittedMixture, MixtureStatistics, Parameters};
use rayon::prelude::*;

impl MixtureStatistics {
    /// Statistics of no rows.
    pub fn zero(leaves: &[Leaf], components: usize) -> Self {
        MixtureStatistics {
            weights: vec![0.0; components],
            leaves: leaves
                .iter()
                .map(|leaf| vec![leaf.family.zero(); components])
                .collect(),
            log_likelihood: 0.0,
            total: 0.0,
        }
    }

    /// Statistics of no rows, without those of text leaves, which are large.
    pub(crate) fn zero_without_text(leaves: &[Leaf], components: usize) -> Self {
        let mut statistics = MixtureStatistics::zero(&[], components);
        let without_text = |leaf: &Leaf| {
            if leaf.family.is_text() {
                Vec::new()
            } else {
                vec![leaf.family.zero(); components]
            }
        };
        statistics.leaves = leaves.iter().map(without_text).collect();
        statistics
    }

    /// Adds the statistics of other rows.
    pub fn merge(&mut self, other: &MixtureStatistics) {
        self.weights
            .iter_mut()
            .zip(&other.weights)
            .for_each(|(a, b)| *a += b);
        for (leaf, more) in self.leaves.iter_mut().zip(&other.leaves) {
            leaf.iter_mut().zip(more).for_each(|(a, b)| a.merge(b));
        }
        self.log_likelihood += other.log_likelihood;
        self.total += other.total;
    }

    /// Multiplies the weight of each row by `factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.weights.iter_mut().for_each(|w| *w *= factor);
        let leaves = self.leaves.iter_mut().flatten();
        leaves.for_each(|component| component.scale(factor));
        self.log_likelihood *= factor;
        self.total *= factor;
    }

    /// The expected complete-data log-likelihood under parameters, without constant columns.
    pub(crate) fn complete_log_likelihood(&self, all: &[Leaf], parameters: &Parameters) -> f64 {
        let components = self.weights.iter().zip(&parameters.weights);
        let labels = components.map(|(count, weight)| times(*count, weight.ln()));
        let leaves = self.leaves.iter().zip(&parameters.leaves);
        let leaves = all.iter().zip(leaves).filter(|(leaf, _)| !leaf.fixed);
        let cells: Vec<(&Statistics, &Distribution)> = leaves
            .flat_map(|(_, (statistics, distributions))| statistics.iter().zip(distributions))
            .collect();
        let cells = cells.par_iter().with_min_len(16);
        let cells = cells.map(|(statistics, distribution)| distribution.log_likelihood(statistics));
        let cells: Vec<f64> = cells.collect();
        labels.sum::<f64>() + cells.iter().sum::<f64>()
    }
}

/// The number of chunks that are added to the same statistics before these are merged. Merging
/// statistics of documents is slow: they are as large as the vocabulary.
pub(crate) fn segment(leaves: &[Leaf], components: usize) -> usize {
    const PARAMETERS_PER_CHUNK: usize = 50_000;
    const MAX_CHUNKS: usize = 16;
    let text = leaves.iter().filter(|leaf| leaf.family.is_text());
    let parameters: usize = text
        .map(|leaf| leaf.family.parameters_of_all(components))
        .sum();
    (parameters / PARAMETERS_PER_CHUNK)
        .clamp(1, MAX_CHUNKS)
        .next_power_of_two()
}

impl FittedMixture {
    /// The log-likelihood of the constant columns, which that of the model leaves out.
    pub(crate) fn log_likelihood_of_constants(&self) -> f64 {
        let leaves = self.statistics.leaves.iter().zip(&self.parameters.leaves);
        let fixed = self
            .leaves
            .iter()
            .zip(leaves)
            .filter(|(leaf, _)| leaf.fixed);
        let pairs = fixed.flat_map(|(_, (statistics, fixed))| statistics.iter().zip(fixed));
        pairs
            .map(|(statistics, distribution)| distribution.log_likelihood(statistics))
            .sum()
    }
}

/// The prior of the weights of the components.
#[derive(Clone, Debug, Default)]
pub(crate) struct WeightPrior {
    /// α of a Dirichlet(1 + α) prior.
    pub smoothing: f64,
    /// The weights, if they are given instead of learned.
    pub given: Option<Vec<f64>>,
}

impl WeightPrior {
    fn weights(&self, statistics: &MixtureStatistics) -> Vec<f64> {
        if let Some(given) = &self.given {
            return given.clone();
        }
        let k = statistics.weights.len() as f64;
        let total = statistics.weights.iter().sum::<f64>() + k * self.smoothing;
        let share = |w: &f64| {
            if total > 0.0 {
                (w + self.smoothing) / total
            } else {
                1.0 / k
            }
        };
        statistics.weights.iter().map(share).collect()
    }
}

/// The most probable parameters given statistics and priors; `before` are the parameters under
/// which the statistics were expected.
pub(crate) fn maximize(
    leaves: &[Leaf],
    prior: &WeightPrior,
    statistics: &MixtureStatistics,
    before: Option<&Parameters>,
) -> Parameters {
    let unseen = |(leaf, stats): (&Leaf, &Vec<Statistics>)| leaf.unseen_probabilities(stats);
    Parameters {
        weights: prior.weights(statistics),
        unseen: leaves.iter().zip(&statistics.leaves).map(unseen).collect(),
        leaves: leaves
            .iter()
            .zip(&statistics.leaves)
            .enumerate()
            .map(|(number, (leaf, stats))| {
                leaf.maximize(stats, before.map(|before| before.leaves[number].as_slice()))
            })
            .collect(),
    }
}

impl Leaf {
    /// The probability of an unseen category in each component; empty if it is 0.
    fn unseen_probabilities(&self, statistics: &[Statistics]) -> Vec<f64> {
        if self.unseen == Unseen::Missing && self.family.levels().is_some() {
            return vec![1.0; statistics.len()];
        }
        if self.tied {
            let mut all = self.family.zero();
            let learned = self.learned(statistics.len()).into_iter();
            learned.for_each(|j| all.merge(&statistics[j]));
            let one = self.family.unseen(&all);
            return one.map_or(Vec::new(), |p| vec![p; statistics.len()]);
        }
        let each = statistics
            .iter()
            .map(|statistics| self.family.unseen(statistics));
        each.collect::<Option<Vec<f64>>>().unwrap_or_default()
    }

    /// The distribution of each component: estimated, given or noise.
    fn maximize(
        &self,
        statistics: &[Statistics],
        before: Option<&[Distribution]>,
    ) -> Vec<Distribution> {
        if let (Some(fallback), true) = (self.family.fallback(), self.fixed) {
            return vec![fallback; statistics.len()];
        }
        let learned = self.learned(statistics.len());
        if learned.len() == statistics.len() && !self.tied {
            return self.family.map_all(statistics, before);
        }
        let of_these = learned.iter().map(|j| &statistics[*j]);
        let found = if self.tied {
            let mut all = self.family.zero();
            of_these.for_each(|more| all.merge(more));
            let before = before.zip(learned.first());
            let before = before.map(|(before, j)| std::slice::from_ref(&before[*j]));
            let one = self.family.map_all(&[all], before);
            one.into_iter().cycle().take(learned.len()).collect()
        } else {
            let statistics: Vec<Statistics> = of_these.cloned().collect();
            let before: Option<Vec<Distribution>> =
                before.map(|before| learned.iter().map(|j| before[*j].clone()).collect());
            if statistics.is_empty() {
                Vec::new()
            } else {
                self.family.map_all(&statistics, before.as_deref())
            }
        };
        let mut found = found.into_iter();
        let component = |j: usize| match self.held_in(j) {
            Some(held) => Some(held.clone()),
            None if learned.contains(&j) => found.next(),
            None => self.noise.clone(),
        };
        (0..statistics.len()).filter_map(component).collect()
    }
}

/// The log-prior of parameters, up to a constant. Components of weight 0 do not count.
pub(crate) fn log_prior(leaves: &[Leaf], prior: &WeightPrior, parameters: &Parameters) -> f64 {
    let mut sum = 0.0;
    if prior.smoothing > 0.0 && prior.given.is_none() {
        sum += prior.smoothing * parameters.weights.iter().map(|w| w.ln()).sum::<f64>();
    }
    let leaves = leaves.iter().zip(&parameters.leaves);
    for (leaf, distributions) in leaves.filter(|(leaf, _)| !leaf.fixed) {
        let mut learned = leaf.learned(distributions.len());
        if leaf.tied {
            learned.truncate(1);
        }
        let present = learned.iter().filter(|j| parameters.weights[**j] > 0.0);
        sum += leaf
            .family
            .log_prior_all(present.map(|j| &distributions[*j]));
    }
    sum
}
