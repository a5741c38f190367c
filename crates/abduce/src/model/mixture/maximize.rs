//! The M-step: weights and leaves that maximise expected log-likelihood plus
//! log-prior. A component that has lost its rows, or whose estimate does not
//! exist, gets what all rows together say, so that a model always comes out.

use super::{Leaf, MixtureStatistics, Parameters};
use crate::Result;
use crate::family::{
    Bernoulli, Categorical, Covariance, Distribution, Exponential, Gaussian, LeafFamily,
    MultivariateGaussian, MultivariatePrior, Poisson, Statistics, Structure,
};

impl MixtureStatistics {
    /// Statistics of no row.
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

    /// Adds the statistics of other rows.
    pub fn merge(&mut self, other: &MixtureStatistics) {
        self.weights
            .iter_mut()
            .zip(&other.weights)
            .for_each(|(a, b)| *a += b);
        for (mine, theirs) in self.leaves.iter_mut().zip(&other.leaves) {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| a.merge(b));
        }
        self.log_likelihood += other.log_likelihood;
        self.total += other.total;
    }
}

/// The parameters that the statistics and the priors make most probable.
pub(super) fn maximize(
    leaves: &[Leaf],
    weight_smoothing: f64,
    statistics: &MixtureStatistics,
) -> Result<Parameters> {
    let k = statistics.weights.len() as f64;
    let total = statistics.weights.iter().sum::<f64>() + k * weight_smoothing;
    let weights = statistics
        .weights
        .iter()
        .map(|w| {
            if total > 0.0 {
                (w + weight_smoothing) / total
            } else {
                1.0 / k
            }
        })
        .collect();
    let leaves = leaves
        .iter()
        .zip(&statistics.leaves)
        .map(|(leaf, own)| maximize_leaf(leaf, own))
        .collect();
    Ok(Parameters { weights, leaves })
}

fn maximize_leaf(leaf: &Leaf, statistics: &[Statistics]) -> Vec<Distribution> {
    if let (true, LeafFamily::Multivariate { prior, .. }) = (leaf.tied, &leaf.family) {
        let own: Vec<_> = statistics
            .iter()
            .filter_map(|s| match s {
                Statistics::Multivariate(s) => Some(s.clone()),
                _ => None,
            })
            .collect();
        if let Some(tied) = strengthened(prior, |prior| {
            MultivariateGaussian::map_tied(&own, prior).ok()
        }) {
            return tied.into_iter().map(Distribution::Multivariate).collect();
        }
    }
    statistics
        .iter()
        .map(|own| {
            estimate(&leaf.family, own).unwrap_or_else(|| {
                let mut all = leaf.family.zero();
                statistics.iter().for_each(|s| all.merge(s));
                estimate(&leaf.family, &all).unwrap_or_else(|| vague(&leaf.family))
            })
        })
        .collect()
}

fn estimate(family: &LeafFamily, statistics: &Statistics) -> Option<Distribution> {
    match (family, statistics) {
        (LeafFamily::Multivariate { prior, shape }, _) => strengthened(prior, |prior| {
            let family = LeafFamily::Multivariate {
                shape: shape.clone(),
                prior: prior.clone(),
            };
            family.map(statistics).ok()
        }),
        _ => family.map(statistics).ok(),
    }
}

/// Tries a covariance prior, and ever stronger ones where rounding still leaves
/// the covariance singular.
fn strengthened<T>(
    prior: &MultivariatePrior,
    attempt: impl Fn(&MultivariatePrior) -> Option<T>,
) -> Option<T> {
    let mut prior = prior.clone();
    for _ in 0..7 {
        if let Some(found) = attempt(&prior) {
            return Some(found);
        }
        prior.scatter.iter_mut().for_each(|s| *s *= 10.0);
    }
    None
}

/// What to say of columns of which nothing was ever seen.
fn vague(family: &LeafFamily) -> Distribution {
    match family {
        LeafFamily::Gaussian { .. } => Distribution::Gaussian(Gaussian {
            mean: 0.0,
            variance: 1.0,
        }),
        LeafFamily::Multivariate { shape, .. } => {
            let d = shape.columns;
            let covariance = match shape.structure {
                Structure::Full => Covariance::Full(
                    (0..d * d)
                        .map(|t| f64::from(u8::from(t % d == t / d)))
                        .collect(),
                ),
                Structure::Diagonal => Covariance::Diagonal(vec![1.0; d]),
                Structure::Spherical => Covariance::Spherical(1.0),
            };
            Distribution::Multivariate(MultivariateGaussian {
                mean: vec![0.0; d],
                covariance,
            })
        }
        LeafFamily::Categorical { shape, .. } => {
            let levels = (*shape).max(1);
            Distribution::Categorical(Categorical {
                probabilities: vec![1.0 / levels as f64; levels],
            })
        }
        LeafFamily::Bernoulli { .. } => Distribution::Bernoulli(Bernoulli { probability: 0.5 }),
        LeafFamily::Poisson { .. } => Distribution::Poisson(Poisson { rate: 1.0 }),
        LeafFamily::Exponential { .. } => Distribution::Exponential(Exponential { rate: 1.0 }),
    }
}

/// The log-prior of parameters, up to a constant. A tied covariance counts
/// once; a component of weight 0 is none, whatever stands in its place.
pub(super) fn log_prior(leaves: &[Leaf], weight_smoothing: f64, parameters: &Parameters) -> f64 {
    let mut sum = 0.0;
    if weight_smoothing > 0.0 {
        sum += weight_smoothing * parameters.weights.iter().map(|w| w.ln()).sum::<f64>();
    }
    for (leaf, distributions) in leaves.iter().zip(&parameters.leaves) {
        let present = distributions
            .iter()
            .zip(&parameters.weights)
            .filter(|(_, weight)| **weight > 0.0);
        let counted = if leaf.tied { 1 } else { distributions.len() };
        sum += present
            .take(counted)
            .map(|(d, _)| leaf.family.log_prior(d))
            .sum::<f64>();
    }
    sum
}
