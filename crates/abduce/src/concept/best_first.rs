//! The paths through a [`Trellis`] in decreasing order of weight, by A* search with an exact
//! heuristic: the weight of the best completion from each state.

use super::trellis::Trellis;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Yields the constraints of each path of positive weight, with its log-weight.
pub(super) struct BestFirst<'t> {
    trellis: &'t Trellis,
    maxima: Vec<Vec<f64>>,
    open: BinaryHeap<Partial>,
}

impl<'t> BestFirst<'t> {
    pub fn new(trellis: &'t Trellis) -> BestFirst<'t> {
        let maxima = trellis.maxima();
        let start = Partial {
            bound: maxima[0][0],
            chosen: Vec::new(),
            state: 0,
            weight: 0.0,
        };
        BestFirst {
            trellis,
            maxima,
            open: BinaryHeap::from([start]),
        }
    }
}

impl Iterator for BestFirst<'_> {
    type Item = (Vec<Option<u32>>, f64);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = self.open.pop()?;
            let attribute = next.chosen.len();
            if attribute == self.trellis.depth() {
                let chosen = next.chosen.iter().zip(&self.trellis.choices);
                let constraints = chosen.map(|(n, choices)| choices[*n as usize].constraint);
                return Some((constraints.collect(), next.bound));
            }
            for (number, choice) in self.trellis.choices[attribute].iter().enumerate() {
                let state = self.trellis.next(attribute, next.state, number);
                let weight = next.weight + choice.log_weight;
                let bound = weight + self.maxima[attribute + 1][state];
                if bound > f64::NEG_INFINITY {
                    self.open.push(Partial {
                        bound,
                        chosen: [&next.chosen[..], &[number as u32]].concat(),
                        state,
                        weight,
                    });
                }
            }
        }
    }
}

/// A partial path, with the log-weight of its best completion.
struct Partial {
    bound: f64,
    chosen: Vec<u32>,
    state: usize,
    weight: f64,
}

/// By bound, then by length, then by lexicographic order of the choices.
impl Ord for Partial {
    fn cmp(&self, other: &Partial) -> Ordering {
        let better = self.bound.total_cmp(&other.bound);
        let longer = self.chosen.len().cmp(&other.chosen.len());
        let first = other.chosen.cmp(&self.chosen);
        better.then(longer).then(first)
    }
}

impl PartialOrd for Partial {
    fn partial_cmp(&self, other: &Partial) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Partial {
    fn eq(&self, other: &Partial) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Partial {}
