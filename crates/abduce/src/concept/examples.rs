//! Labelled instances with weights, and their constraints on conjunctions when labels have no
//! noise: the values allowed by all positive examples, and the negative examples that are not
//! implied by others.

use super::conjunction::Conjunctions;
use crate::{Error, Result};
use std::collections::HashMap;

/// Stands for all values that are not allowed.
const ANOTHER: u32 = u32::MAX;

/// With more negative examples than this, those implied by others are not searched for, as
/// the search takes quadratic time.
const PAIRED: usize = 4000;

/// An instance with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The code of every attribute's value; `None` if it is missing.
    pub instance: Vec<Option<u32>>,
    /// The label.
    pub positive: bool,
    /// The number of times it was observed.
    pub weight: f64,
}

/// A set of examples; their order does not matter.
///
/// ```
/// use abduce::concept::Examples;
/// let mut examples = Examples::default();
/// examples.add(&[Some(0), None], true, 1.0);
/// examples.add(&[Some(0), None], true, 1.0);
/// examples.add(&[Some(1), Some(2)], false, 1.0);
/// assert_eq!(examples.distinct().len(), 2);
/// assert_eq!(examples.weight(true), 2.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Examples {
    distinct: Vec<Example>,
    places: HashMap<(Vec<Option<u32>>, bool), usize>,
}

impl Examples {
    /// Adds an example observed `weight` times; ignored unless the weight is finite and
    /// positive.
    pub fn add(&mut self, instance: &[Option<u32>], positive: bool, weight: f64) {
        if !weight.is_finite() || weight <= 0.0 {
            return;
        }
        let key = (instance.to_vec(), positive);
        let place = *self.places.entry(key).or_insert_with(|| {
            self.distinct.push(Example {
                instance: instance.to_vec(),
                positive,
                weight: 0.0,
            });
            self.distinct.len() - 1
        });
        self.distinct[place].weight += weight;
    }

    /// The distinct examples, in order of first occurrence.
    pub fn distinct(&self) -> &[Example] {
        &self.distinct
    }

    /// The total weight of the positive or the negative examples.
    pub fn weight(&self, positive: bool) -> f64 {
        let alike = self.distinct.iter().filter(|e| e.positive == positive);
        // `sum` of no floats is −0.
        alike.fold(0.0, |sum, example| sum + example.weight)
    }

    pub(super) fn check(&self, space: &Conjunctions) -> Result<()> {
        let attributes = space.attributes().len();
        let mut lengths = self.distinct.iter().map(|e| e.instance.len());
        match lengths.find(|length| *length != attributes) {
            None => Ok(()),
            Some(wrong) => Err(Error::data(format!(
                "an example has {wrong} values for {attributes} attributes"
            ))),
        }
    }
}

/// The constraints of noise-free examples.
pub(super) struct Decisive {
    /// Whether there is a positive example, which excludes ∅.
    pub positive: bool,
    /// For each attribute the values that a constraint may require; `?` is always allowed.
    pub allowed: Vec<Vec<u32>>,
    /// The negative examples that are not implied by others, with all values that are not
    /// allowed replaced by the same code.
    pub negatives: Vec<Example>,
}

impl Decisive {
    pub fn new(space: &Conjunctions, examples: &Examples) -> Decisive {
        let positives = || examples.distinct.iter().filter(|e| e.positive);
        let allowed: Vec<Vec<u32>> = (0..space.attributes().len())
            .map(|attribute| {
                let mut seen = positives().filter_map(|e| e.instance[attribute]);
                match seen.next() {
                    None => (0..space.values(attribute)).collect(),
                    Some(first) if first >= space.values(attribute) => Vec::new(),
                    Some(first) if seen.all(|other| other == first) => vec![first],
                    Some(_) => Vec::new(),
                }
            })
            .collect();
        let mut plain = Examples::default();
        for example in examples.distinct.iter().filter(|e| !e.positive) {
            let cells = example.instance.iter().zip(&allowed);
            let instance: Vec<Option<u32>> = cells
                .map(|(cell, allowed)| {
                    cell.map(|value| match allowed.binary_search(&value) {
                        Ok(_) => value,
                        Err(_) => ANOTHER,
                    })
                })
                .collect();
            plain.add(&instance, false, example.weight);
        }
        Decisive {
            positive: positives().next().is_some(),
            allowed,
            negatives: without_implied(plain.distinct),
        }
    }
}

/// Removes complete examples implied by another complete one, from which they differ only in
/// values that are not allowed: a conjunction that rejects the other rejects them too.
fn without_implied(negatives: Vec<Example>) -> Vec<Example> {
    if negatives.len() > PAIRED {
        return negatives;
    }
    let complete = |e: &Example| e.instance.iter().all(Option::is_some);
    let implies = |one: &Example, other: &Example| {
        let mut cells = one.instance.iter().zip(&other.instance);
        cells.all(|(a, b)| a == b || *b == Some(ANOTHER))
    };
    let kept = negatives.iter().enumerate().filter(|(place, other)| {
        let mut others = negatives.iter().enumerate();
        let implied = |(at, one)| at != *place && complete(one) && implies(one, other);
        !complete(other) || !others.any(implied)
    });
    kept.map(|(_, example)| example.clone()).collect()
}
