//! The ways through a [`Trellis`], the heaviest first, found one by one: what
//! the best way on from a state will weigh is known, so only starts of ways
//! that are next are ever made longer (A* with an exact estimate).

use super::trellis::Trellis;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Yields constraints with their log-weight, but none of weight 0.
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

/// The start of a hypothesis, with the weight it will have at best.
struct Partial {
    bound: f64,
    chosen: Vec<u32>,
    state: usize,
    weight: f64,
}

/// The better is greater, then the longer, then the one that comes first.
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
