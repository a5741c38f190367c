//! A trellis of all conjunctions, with a layer for each attribute. Partial conjunctions that
//! accept the same examples so far share a state, and a conjunction is a path through the
//! layers,
//!
//!   start → (`?` | value, …) → … → accepted examples.
//!
//! Sums, maxima and counts over all conjunctions are folds from the last layer to the first.
//! The last layer has at most one state for each set of examples that a conjunction can accept
//! (the extents of formal concept analysis, Ganter and Wille 1999), often few even where
//! conjunctions are too many to enumerate.

use super::conjunction::Conjunctions;
use super::count::Count;
use super::examples::Example;
use crate::{Error, Result};
use ahash::AHashMap;

/// The most transitions in all layers.
const MAX_TRANSITIONS: usize = 20_000_000;

/// The most memory for the states of one layer, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// A choice of the constraint on one attribute.
pub(super) struct Choice {
    /// The required value; `None` is `?`.
    pub constraint: Option<u32>,
    /// The contribution of the choice to a conjunction's log-weight.
    pub log_weight: f64,
}

/// The trellis of all conjunctions.
pub(super) struct Trellis {
    /// The choices for every attribute.
    pub choices: Vec<Vec<Choice>>,
    /// For every attribute, the next state for each state and choice.
    transitions: Vec<Vec<u32>>,
    /// The log-likelihood of every state of the last layer.
    leaves: Vec<f64>,
}

/// A bit for each complete example, whether it is accepted so far; then for each incomplete
/// one the probability that it is accepted, as the bits of an `f64`.
type State = Box<[u64]>;

impl Trellis {
    /// Builds the layers; `log_likelihood` gets an example and the probability that it is
    /// accepted.
    pub fn new(
        space: &Conjunctions,
        examples: &[Example],
        choices: Vec<Vec<Choice>>,
        log_likelihood: impl Fn(&Example, f64) -> f64,
    ) -> Result<Trellis> {
        let is_complete = |e: &&Example| e.instance.iter().all(Option::is_some);
        let (complete, incomplete): (Vec<&Example>, Vec<&Example>) =
            examples.iter().partition(is_complete);
        let words = complete.len().div_ceil(64);
        let mut start = vec![0; words];
        (0..complete.len()).for_each(|row| start[row / 64] |= 1 << (row % 64));
        start.resize(words + incomplete.len(), 1f64.to_bits());
        let logs: Vec<[f64; 2]> = (complete.iter())
            .map(|example| [0.0, 1.0].map(|p| log_likelihood(example, p)))
            .collect();
        let last: Vec<Option<usize>> = (complete.iter())
            .map(|example| last_rejection(space, example, &choices))
            .collect();
        let mut states: Vec<State> = vec![start.into()];
        let (mut transitions, mut total) = (Vec::new(), 0);
        for (attribute, choices) in choices.iter().enumerate() {
            total += states.len() * choices.len();
            let width = words + incomplete.len();
            if total > MAX_TRANSITIONS || choices.len() * width * 8 > MAX_BYTES {
                return Err(too_large());
            }
            let effects: Vec<Effect> = choices
                .iter()
                .map(|choice| Effect::new(space, attribute, choice, &complete, &incomplete))
                .collect();
            let mut fatal = vec![0; words];
            for (row, logs) in logs.iter().enumerate() {
                let accepted = last[row].is_none_or(|last| last <= attribute);
                let is_impossible = accepted && logs[1] == f64::NEG_INFINITY;
                fatal[row / 64] |= u64::from(is_impossible) << (row % 64);
            }
            let layer = Layer::after(&states, &effects, &fatal)?;
            transitions.push(layer.transitions);
            states = layer.states;
        }
        let leaves = states
            .iter()
            .map(|state| {
                let accepted = |row: usize| (state[row / 64] >> (row % 64) & 1) as usize;
                let complete = logs.iter().enumerate();
                let complete = complete.map(|(row, logs)| logs[accepted(row)]);
                let incomplete = incomplete.iter().zip(&state[words..]);
                let incomplete =
                    incomplete.map(|(e, bits)| log_likelihood(e, f64::from_bits(*bits)));
                complete.chain(incomplete).sum()
            })
            .collect();
        Ok(Trellis {
            choices,
            transitions,
            leaves,
        })
    }

    /// Folds from the last layer to the first: `leaf` maps the log-likelihood of each last
    /// state to a value; `node` gets an attribute and the values of the next states for all
    /// choices, and returns the state's value. Returns the values of all layers, first to last.
    pub fn fold<T: Copy>(
        &self,
        leaf: impl Fn(f64) -> T,
        node: impl Fn(usize, &[T]) -> T,
    ) -> Vec<Vec<T>> {
        let mut layers = vec![self.leaves.iter().map(|l| leaf(*l)).collect::<Vec<T>>()];
        let mut next = Vec::new();
        for (attribute, transitions) in self.transitions.iter().enumerate().rev() {
            let after = &layers[layers.len() - 1];
            let layer = transitions.chunks_exact(self.choices[attribute].len());
            let layer = layer.map(|transitions| {
                next.clear();
                next.extend(transitions.iter().map(|state| after[*state as usize]));
                node(attribute, &next)
            });
            let layer = layer.collect();
            layers.push(layer);
        }
        layers.reverse();
        layers
    }

    /// The number of paths of positive weight.
    pub fn count(&self) -> Count {
        let counts = self.fold(
            |leaf| Count::from(u128::from(leaf > f64::NEG_INFINITY)),
            |_, next| next.iter().fold(Count::from(0), |sum, n| sum.plus(*n)),
        );
        counts[0][0]
    }

    /// The largest log-weight of a path from every state.
    pub fn maxima(&self) -> Vec<Vec<f64>> {
        self.fold(
            |leaf| leaf,
            |attribute, next| {
                let choices = self.choices[attribute].iter().zip(next);
                let paths = choices.map(|(choice, next)| choice.log_weight + next);
                paths.fold(f64::NEG_INFINITY, f64::max)
            },
        )
    }

    /// The log-weight of a path; −∞ if a constraint is not among the choices.
    pub fn weight(&self, constraints: &[Option<u32>]) -> f64 {
        let (mut state, mut weight) = (0, 0.0);
        for (attribute, choices) in self.choices.iter().enumerate() {
            let wanted = constraints.get(attribute).copied().flatten();
            let mut places = choices.iter().enumerate();
            let Some((number, choice)) = places.find(|(_, c)| c.constraint == wanted) else {
                return f64::NEG_INFINITY;
            };
            weight += choice.log_weight;
            state = self.next(attribute, state, number);
        }
        weight + self.leaves[state]
    }

    /// The next state after a choice.
    pub fn next(&self, attribute: usize, state: usize, choice: usize) -> usize {
        self.transitions[attribute][state * self.choices[attribute].len() + choice] as usize
    }

    /// The number of attributes.
    pub fn depth(&self) -> usize {
        self.choices.len()
    }
}

/// The last attribute at which some choice rejects an example.
fn last_rejection(
    space: &Conjunctions,
    example: &Example,
    choices: &[Vec<Choice>],
) -> Option<usize> {
    let rejects = |attribute: &usize| {
        let cell = example.instance[*attribute];
        let mut choices = choices[*attribute].iter();
        choices.any(|choice| space.probability_met(*attribute, choice.constraint, cell) == 0.0)
    };
    (0..choices.len()).rev().find(rejects)
}

/// The effect of a choice on a state.
struct Effect {
    /// The complete examples it accepts, as bits.
    accepted: Vec<u64>,
    /// The probability that it accepts each incomplete example.
    probabilities: Vec<f64>,
}

impl Effect {
    fn new(
        space: &Conjunctions,
        attribute: usize,
        choice: &Choice,
        complete: &[&Example],
        incomplete: &[&Example],
    ) -> Effect {
        let met = |e: &&Example| {
            space.probability_met(attribute, choice.constraint, e.instance[attribute])
        };
        let mut accepted = vec![0; complete.len().div_ceil(64)];
        for (row, example) in complete.iter().enumerate() {
            accepted[row / 64] |= u64::from(met(example) > 0.0) << (row % 64);
        }
        Effect {
            accepted,
            probabilities: incomplete.iter().map(met).collect(),
        }
    }

    fn apply(&self, state: &[u64], next: &mut [u64]) {
        let words = self.accepted.len();
        for ((next, state), accepted) in next.iter_mut().zip(state).zip(&self.accepted) {
            *next = state & accepted;
        }
        let open = next[words..].iter_mut().zip(&state[words..]);
        for ((next, state), p) in open.zip(&self.probabilities) {
            *next = (f64::from_bits(*state) * p).to_bits();
        }
    }
}

/// The states of a layer, and the transitions to them.
struct Layer {
    states: Vec<State>,
    transitions: Vec<u32>,
}

impl Layer {
    /// The layer after some states. States that accept a `fatal` example have likelihood 0
    /// whatever is chosen next, and are merged.
    fn after(states: &[State], effects: &[Effect], fatal: &[u64]) -> Result<Layer> {
        let mut places: AHashMap<State, u32> = AHashMap::new();
        let mut transitions = Vec::with_capacity(states.len() * effects.len());
        let width = states[0].len();
        let mut next = vec![0; width];
        for state in states {
            for effect in effects {
                effect.apply(state, &mut next);
                let mut words = next.iter().zip(fatal);
                if let Some(word) = words.position(|(state, fatal)| state & fatal != 0) {
                    let first = (next[word] & fatal[word]).trailing_zeros();
                    next.fill(0);
                    next[word] = 1 << first;
                }
                let place = match places.get(&next[..]) {
                    Some(place) => *place,
                    None => {
                        let place = places.len() as u32;
                        places.insert(next.clone().into(), place);
                        place
                    }
                };
                transitions.push(place);
            }
            if places.len() * 8 * (width + 4) > MAX_BYTES {
                return Err(too_large());
            }
        }
        let mut states = vec![State::default(); places.len()];
        for (state, place) in places {
            states[place as usize] = state;
        }
        Ok(Layer {
            states,
            transitions,
        })
    }
}

fn too_large() -> Error {
    Error::data("too many different sets of examples are accepted by some hypothesis")
        .with_hint("leave attributes out with `drop`, or use fewer rows")
}
