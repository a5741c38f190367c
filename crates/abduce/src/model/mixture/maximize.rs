//! The M-step: weights and leaves that maximise expected log-likelihood plus
//! log-prior. A component that has lost its rows, or whose estimate does not
//! exist, gets what all rows together say, so that a model always comes out.

use super::{Leaf, MixtureStatistics, Parameters};

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
) -> Parameters {
    let k = statistics.weights.len() as f64;
    let total = statistics.weights.iter().sum::<f64>() + k * weight_smoothing;
    let share = |w: &f64| {
        if total > 0.0 {
            (w + weight_smoothing) / total
        } else {
            1.0 / k
        }
    };
    Parameters {
        weights: statistics.weights.iter().map(share).collect(),
        leaves: leaves
            .iter()
            .zip(&statistics.leaves)
            .map(|(leaf, own)| match leaf.family.vague() {
                Some(vague) if leaf.fixed => vec![vague; own.len()],
                _ => leaf.family.map_all(own),
            })
            .collect(),
    }
}

/// The log-prior of parameters, up to a constant. A component of weight 0 is
/// none, whatever stands in its place.
pub(super) fn log_prior(leaves: &[Leaf], weight_smoothing: f64, parameters: &Parameters) -> f64 {
    let mut sum = 0.0;
    if weight_smoothing > 0.0 {
        sum += weight_smoothing * parameters.weights.iter().map(|w| w.ln()).sum::<f64>();
    }
    let leaves = leaves.iter().zip(&parameters.leaves);
    for (leaf, distributions) in leaves.filter(|(leaf, _)| !leaf.fixed) {
        let weighed = distributions.iter().zip(&parameters.weights);
        let present = weighed.filter(|(_, weight)| **weight > 0.0);
        sum += leaf.family.log_prior_all(present.map(|(d, _)| d));
    }
    sum
}
