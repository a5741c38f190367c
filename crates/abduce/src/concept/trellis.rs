//! All conjunctions at once. Attribute after attribute a constraint is chosen,
//! and conjunctions that so far accept the same examples are one state: they
//! will be judged alike whatever is chosen next. A conjunction is a way through
//! the layers of states,
//!
//!   start → (`?` | value, …) → … → what it accepts,
//!
//! and sums, maxima and counts over all conjunctions are folds from the last
//! layer to the first. The last layer holds at most the sets of examples that
//! a conjunction can accept (the extents of formal concept analysis, Ganter
//! and Wille 1999), often few where the conjunctions are astronomically many.

use super::conjunction::Conjunctions;
use super::count::Count;
use super::examples::Example;
use crate::{Error, Result};
use ahash::AHashMap;

/// The most ways from a state to the next that are remembered.
const MOST_WAYS: usize = 20_000_000;

/// The most memory that the states of one layer may take.
const MOST_BYTES: usize = 256 << 20;

/// One way on from every state of a layer.
pub(super) struct Choice {
    /// The value the attribute must have; `None` is `?`.
    pub constraint: Option<u32>,
    /// What the choice adds to a conjunction's log-weight.
    pub log_weight: f64,
}

/// The layers.
pub(super) struct Trellis {
    /// For every attribute, what may be chosen.
    pub choices: Vec<Vec<Choice>>,
    /// For every attribute, where each choice leads from each state.
    ways: Vec<Vec<u32>>,
    /// The log-likelihood of every state of the last layer.
    leaves: Vec<f64>,
}

/// What a state knows: a bit for each fully seen example that is accepted so
/// far, then for each with missing values the bits of the probability that it is.
type State = Box<[u64]>;

impl Trellis {
    /// Builds the layers; `log_likelihood` says that of an example which is
    /// accepted with a probability.
    pub fn new(
        space: &Conjunctions,
        examples: &[Example],
        choices: Vec<Vec<Choice>>,
        log_likelihood: impl Fn(&Example, f64) -> f64,
    ) -> Result<Trellis> {
        let whole = |e: &&Example| e.instance.iter().all(Option::is_some);
        let (full, holed): (Vec<&Example>, Vec<&Example>) = examples.iter().partition(whole);
        let words = full.len().div_ceil(64);
        let mut start = vec![0; words];
        (0..full.len()).for_each(|row| start[row / 64] |= 1 << (row % 64));
        start.resize(words + holed.len(), 1f64.to_bits());
        let logs: Vec<[f64; 2]> = (full.iter())
            .map(|example| [0.0, 1.0].map(|p| log_likelihood(example, p)))
            .collect();
        let last: Vec<Option<usize>> = (full.iter())
            .map(|example| last_rejection(space, example, &choices))
            .collect();
        let mut states: Vec<State> = vec![start.into()];
        let (mut ways, mut total) = (Vec::new(), 0);
        for (attribute, choices) in choices.iter().enumerate() {
            total += states.len() * choices.len();
            let width = words + holed.len();
            if total > MOST_WAYS || choices.len() * width * 8 > MOST_BYTES {
                return Err(too_large());
            }
            let effects: Vec<Effect> = choices
                .iter()
                .map(|choice| Effect::new(space, attribute, choice, &full, &holed))
                .collect();
            let mut fatal = vec![0; words];
            for (row, logs) in logs.iter().enumerate() {
                let accepted = last[row].is_none_or(|last| last <= attribute);
                let doomed = accepted && logs[1] == f64::NEG_INFINITY;
                fatal[row / 64] |= u64::from(doomed) << (row % 64);
            }
            let layer = Layer::after(&states, &effects, &fatal)?;
            ways.push(layer.ways);
            states = layer.states;
        }
        let leaves = states
            .iter()
            .map(|state| {
                let accepted = |row: usize| (state[row / 64] >> (row % 64) & 1) as usize;
                let seen = logs.iter().enumerate();
                let seen = seen.map(|(row, logs)| logs[accepted(row)]);
                let open = holed.iter().zip(&state[words..]);
                let open = open.map(|(e, bits)| log_likelihood(e, f64::from_bits(*bits)));
                seen.chain(open).sum()
            })
            .collect();
        Ok(Trellis {
            choices,
            ways,
            leaves,
        })
    }

    /// Goes from the last layer to the first: `node` is given an attribute and
    /// a value for every choice at a state, and says the state's own. The
    /// values of all layers come back, the first layer's only one first.
    pub fn fold<T: Copy>(
        &self,
        leaf: impl Fn(f64) -> T,
        node: impl Fn(usize, &[T]) -> T,
    ) -> Vec<Vec<T>> {
        let mut layers = vec![self.leaves.iter().map(|l| leaf(*l)).collect::<Vec<T>>()];
        let mut next = Vec::new();
        for (attribute, ways) in self.ways.iter().enumerate().rev() {
            let after = &layers[layers.len() - 1];
            let layer = ways
                .chunks_exact(self.choices[attribute].len())
                .map(|ways| {
                    next.clear();
                    next.extend(ways.iter().map(|state| after[*state as usize]));
                    node(attribute, &next)
                });
            let layer = layer.collect();
            layers.push(layer);
        }
        layers.reverse();
        layers
    }

    /// How many ways are possible.
    pub fn count(&self) -> Count {
        let counts = self.fold(
            |leaf| Count::from(u128::from(leaf > f64::NEG_INFINITY)),
            |_, next| next.iter().fold(Count::from(0), |sum, n| sum.plus(*n)),
        );
        counts[0][0]
    }

    /// The log-weight of the heaviest way on from every state.
    pub fn maxima(&self) -> Vec<Vec<f64>> {
        self.fold(
            |leaf| leaf,
            |attribute, next| {
                let choices = self.choices[attribute].iter().zip(next);
                let ways = choices.map(|(choice, next)| choice.log_weight + next);
                ways.fold(f64::NEG_INFINITY, f64::max)
            },
        )
    }

    /// The log-weight of one way; −∞ if it is not among the choices.
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

    /// Where a choice leads.
    pub fn next(&self, attribute: usize, state: usize, choice: usize) -> usize {
        self.ways[attribute][state * self.choices[attribute].len() + choice] as usize
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
        choices.any(|choice| space.met(*attribute, choice.constraint, cell) == 0.0)
    };
    (0..choices.len()).rev().find(rejects)
}

/// What a choice does to a state.
struct Effect {
    /// Which fully seen examples it accepts.
    accepted: Vec<u64>,
    /// With which probability it accepts those with missing values.
    probabilities: Vec<f64>,
}

impl Effect {
    fn new(
        space: &Conjunctions,
        attribute: usize,
        choice: &Choice,
        full: &[&Example],
        holed: &[&Example],
    ) -> Effect {
        let met = |e: &&Example| space.met(attribute, choice.constraint, e.instance[attribute]);
        let mut accepted = vec![0; full.len().div_ceil(64)];
        for (row, example) in full.iter().enumerate() {
            accepted[row / 64] |= u64::from(met(example) > 0.0) << (row % 64);
        }
        Effect {
            accepted,
            probabilities: holed.iter().map(met).collect(),
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

/// The states that can be reached, and how.
struct Layer {
    states: Vec<State>,
    ways: Vec<u32>,
}

impl Layer {
    /// All states that accept an example which is `fatal` are one: nothing can
    /// make them possible again.
    fn after(states: &[State], effects: &[Effect], fatal: &[u64]) -> Result<Layer> {
        let mut places: AHashMap<State, u32> = AHashMap::new();
        let mut ways = Vec::with_capacity(states.len() * effects.len());
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
                ways.push(place);
            }
            if places.len() * 8 * (width + 4) > MOST_BYTES {
                return Err(too_large());
            }
        }
        let mut states = vec![State::default(); places.len()];
        for (state, place) in places {
            states[place as usize] = state;
        }
        Ok(Layer { states, ways })
    }
}

fn too_large() -> Error {
    Error::data("the examples tell too many hypotheses apart to weigh them all")
        .with_hint("leave attributes out with `drop`, or use fewer rows")
}
