//! The nearest points of a tree: nodes nearer first, those farther than what was
//! found not at all (Friedman, Bentley & Finkel 1977). Points are counted by weight.

use super::tree::{Node, Tree};
use crate::kernel::pairs::{BLOCK, Lanes, squared_distances};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

impl Tree {
    /// The squared distance within which points away from the query itself weigh
    /// `wanted` together with those at it, and the weight counted up to there;
    /// `None` if all points lie at the query. Of one point so much weight may be
    /// left out.
    pub fn nearest(
        &self,
        query: &[f64],
        wanted: f64,
        left_out: Option<(usize, f64)>,
    ) -> Option<(f64, f64)> {
        let mut near = Nearest {
            tree: self,
            query,
            left_out: left_out.map(|(row, weight)| (self.places[row] as usize, weight)),
            least: wanted * (1.0 - 1e-12),
            found: BinaryHeap::new(),
            weight: 0.0,
            away: 0,
        };
        near.visit(0, self.distances(0, query).0);
        let farthest = near.found.peek()?.square;
        let at_query = near.found.iter().filter(|found| found.square == 0.0);
        let at_query: f64 = at_query.map(|found| found.weight).sum();
        // Where too many points coincide with the query they are what is counted.
        let counted = wanted.max(at_query).min(near.weight);
        (farthest > 0.0).then_some((farthest, counted))
    }
}

/// A search for near points.
struct Nearest<'a> {
    tree: &'a Tree,
    query: &'a [f64],
    /// Where in the tree, and how much.
    left_out: Option<(usize, f64)>,
    /// The weight that is enough; weights are added and taken away, so that a little
    /// rounding is forgiven.
    least: f64,
    found: BinaryHeap<Found>,
    weight: f64,
    /// How many of the points are not at the query itself.
    away: usize,
}

/// A point that was found; the farthest is the greatest.
#[derive(Clone, Copy, PartialEq)]
struct Found {
    square: f64,
    weight: f64,
}

impl Eq for Found {}

impl Ord for Found {
    fn cmp(&self, other: &Found) -> Ordering {
        let squares = self.square.total_cmp(&other.square);
        squares.then(self.weight.total_cmp(&other.weight))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Found) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Nearest<'_> {
    /// Beyond this squared distance nothing is wanted any more.
    fn reach(&self) -> f64 {
        match self.found.peek() {
            Some(top) if self.away > 0 && self.weight >= self.least => top.square,
            _ => f64::INFINITY,
        }
    }

    fn visit(&mut self, number: usize, least: f64) {
        if least > self.reach() {
            return;
        }
        let node = self.tree.nodes[number];
        if node.right == 0 {
            self.take_block(&node);
            return;
        }
        let (left, right) = (number + 1, node.right as usize);
        let of_left = self.tree.distances(left, self.query).0;
        let of_right = self.tree.distances(right, self.query).0;
        if of_left <= of_right {
            self.visit(left, of_left);
            self.visit(right, of_right);
        } else {
            self.visit(right, of_right);
            self.visit(left, of_left);
        }
    }

    fn take_block(&mut self, node: &Node) {
        let first = node.block as usize * BLOCK;
        let mut lanes: Lanes = [0.0; BLOCK];
        squared_distances(self.tree.block(node.block as usize), self.query, &mut lanes);
        for (lane, square) in lanes.into_iter().enumerate() {
            let left_out = self.left_out.filter(|(place, _)| *place == first + lane);
            let weight = self.tree.weights[first + lane] - left_out.map_or(0.0, |(_, w)| w);
            if weight <= 0.0 || square > self.reach() {
                continue;
            }
            self.found.push(Found { square, weight });
            self.weight += weight;
            self.away += usize::from(square > 0.0);
            self.forget_the_farthest();
        }
    }

    /// Drops points as long as the nearer ones are enough.
    fn forget_the_farthest(&mut self) {
        while let Some(top) = self.found.peek().copied() {
            let weight = self.weight - top.weight;
            // Another point away from the query must stay.
            if self.away < 2 || weight < self.least {
                return;
            }
            self.found.pop();
            self.weight = weight;
            self.away -= 1;
        }
    }
}
