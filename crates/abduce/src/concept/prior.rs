//! How concepts and labels are taken to come about: priors of conjunctions
//! that are products over attributes, and the noise of labels.

use super::conjunction::{Conjunction, Conjunctions};
use crate::{Error, Result};

/// How probable conjunctions are before any example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConceptPrior {
    /// All alike.
    Uniform,
    /// Every attribute matters with this probability, by itself, and if it
    /// does, must have any of its values with equal probability: few constraints
    /// are more probable than many. These probabilities sum to 1 over the
    /// conjunctions that accept something, so ∅ has probability 0.
    Simple(f64),
}

/// How concepts and labels are taken to come about.
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

/// What a prior says, in logarithms.
pub(super) struct Weights {
    /// Of `?`, for every attribute.
    pub any: Vec<f64>,
    /// Of each value, for every attribute.
    pub value: Vec<f64>,
    pub nothing: f64,
    /// Of all hypotheses together.
    pub total: f64,
}

impl ConceptPrior {
    pub(super) fn weights(self, space: &Conjunctions) -> Result<Weights> {
        let attributes = 0..space.attributes().len();
        let ConceptPrior::Simple(relevance) = self else {
            return Ok(Weights {
                any: vec![0.0; attributes.len()],
                value: vec![0.0; attributes.len()],
                nothing: 0.0,
                total: space.size().ln(),
            });
        };
        if !(relevance > 0.0 && relevance < 1.0) {
            return Err(Error::parameter(format!(
                "the probability {relevance} that an attribute matters is not between 0 and 1"
            )));
        }
        let values = |attribute: usize| f64::from(space.values(attribute));
        let matters = |attribute: &usize| space.values(*attribute) > 0;
        let value = |attribute: usize| (relevance / values(attribute)).ln();
        let any = |attribute: usize| match matters(&attribute) {
            true => (-relevance).ln_1p(),
            false => 0.0,
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
    /// Of one hypothesis.
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
