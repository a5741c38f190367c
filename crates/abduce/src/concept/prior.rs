//! Priors of conjunctions, which are products over attributes, and the noise of labels.

use super::conjunction::{Conjunction, Conjunctions};
use crate::{Error, Result};

/// The prior of conjunctions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConceptPrior {
    /// All conjunctions are equally probable.
    Uniform,
    /// Each attribute independently has a constraint with this probability, to any of its
    /// values with equal probability, so that conjunctions with few constraints are more
    /// probable. ∅ has probability 0.
    Simple(f64),
}

/// The assumptions about concepts and labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumptions {
    /// The prior of the hypotheses.
    pub prior: ConceptPrior,
    /// The probability that a label is wrong.
    pub noise: f64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Assumptions {
            prior: ConceptPrior::Uniform,
            noise: 0.0,
        }
    }
}

/// The logarithms of a prior's factors.
pub(super) struct Weights {
    /// The weight of `?` for every attribute.
    pub any: Vec<f64>,
    /// The weight of each value for every attribute.
    pub value: Vec<f64>,
    /// The weight of ∅.
    pub nothing: f64,
    /// The total weight of all hypotheses.
    pub total: f64,
}

impl ConceptPrior {
    pub(super) fn weights(self, space: &Conjunctions) -> Result<Weights> {
        let attributes = 0..space.attributes().len();
        let ConceptPrior::Simple(probability) = self else {
            return Ok(Weights {
                any: vec![0.0; attributes.len()],
                value: vec![0.0; attributes.len()],
                nothing: 0.0,
                total: space.size().ln(),
            });
        };
        if !(probability > 0.0 && probability < 1.0) {
            return Err(Error::parameter(format!(
                "the probability {probability} that an attribute matters is not between 0 and 1"
            )));
        }
        let values = |attribute: usize| f64::from(space.values(attribute));
        let has_values = |attribute: &usize| space.values(*attribute) > 0;
        let value = |attribute: usize| (probability / values(attribute)).ln();
        let any = |attribute: usize| {
            if has_values(&attribute) {
                (-probability).ln_1p()
            } else {
                0.0
            }
        };
        Ok(Weights {
            any: attributes.clone().map(any).collect(),
            value: attributes.map(value).collect(),
            nothing: f64::NEG_INFINITY,
            total: 0.0,
        })
    }
}

impl Weights {
    /// The weight of a hypothesis.
    pub fn of(&self, hypothesis: &Conjunction) -> f64 {
        let Conjunction::Constraints(constraints) = hypothesis else {
            return self.nothing;
        };
        let weights = self.any.iter().zip(&self.value).zip(constraints);
        weights
            .map(|((any, value), constraint)| constraint.map_or(*any, |_| *value))
            .sum()
    }
}
