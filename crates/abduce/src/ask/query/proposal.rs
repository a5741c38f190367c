//! The distribution of one column within a set of its values, from which draws are made.

use super::restricted::{Restricted, probability};
use super::sets::{Interval, Set};
use crate::ask::Conditional;
use crate::family::{Distribution, Univariate, draw_index};
use rand::{Rng, RngExt};

/// The distribution of one column within a set.
pub(super) struct Proposal {
    /// The probability of the set.
    pub probability: f64,
    /// The probabilities of the parts within the set.
    shares: Vec<f64>,
    parts: Parts,
}

enum Parts {
    /// Each level is a part.
    Levels,
    /// Distributions within the same intervals.
    Numbers(Vec<Distribution>, Vec<Interval>),
}

impl Proposal {
    /// `None` if a part has no distribution function.
    pub fn new(conditional: Conditional, set: &Set) -> Option<Proposal> {
        let (masses, parts) = match (conditional, set) {
            (Conditional::Levels(levels), Set::Levels(_)) => {
                let levels = levels.into_iter().enumerate();
                let masses =
                    levels.map(|(code, p)| if set.contains(code as f64) { p } else { 0.0 });
                (masses.collect(), Parts::Levels)
            }
            (Conditional::Numbers(parts), Set::Numbers(intervals)) => {
                let (weights, parts): (Vec<f64>, Vec<Distribution>) = parts.into_iter().unzip();
                let masses = weights.iter().zip(&parts).map(|(weight, part)| {
                    Some(weight * probability(part.univariate()?, intervals))
                });
                let masses: Vec<f64> = masses.collect::<Option<_>>()?;
                (masses, Parts::Numbers(parts, intervals.clone()))
            }
            _ => return None,
        };
        let probability: f64 = masses.iter().sum();
        Some(Proposal {
            shares: masses.iter().map(|mass| mass / probability).collect(),
            probability,
            parts,
        })
    }

    /// A draw from within the set; any value if the set has no probability.
    pub fn draw(&self, rng: &mut dyn Rng) -> f64 {
        if self.probability <= 0.0 {
            return 0.0;
        }
        let part = draw_index(&self.shares, rng);
        match &self.parts {
            Parts::Levels => part as f64,
            Parts::Numbers(parts, intervals) => {
                let distribution = parts[part].univariate();
                let within =
                    distribution.and_then(|distribution| Restricted::new(distribution, intervals));
                within.map_or(0.0, |within| within.quantile(rng.random()))
            }
        }
    }
}
