//! Nearest-neighbour search in a tree: nearer nodes first, skipping nodes farther away than
//! the neighbours found so far (Friedman, Bentley & Finkel 1977). Points are counted by
//! weight.

use super::tree::{Node, Tree};
use crate::kernel::pairs::{BLOCK, Lanes, squared_distances};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

impl Tree {
    /// The squared distance within which points weigh `wanted`, at least that of the nearest
    /// point that does not coincide with the query, and the weight counted up to there; `None`
    /// if all points coincide with the query. `left_out` is a point and the part of its weight
    /// to leave out.
    pub fn nearest(
        &self,
        query: &[f64],
        wanted: f64,
        left_out: Option<(usize, f64)>,
    ) -> Option<(f64, f64)> {
        let mut near = Nearest {
            tree: self,
            query,
            left_out: left_out.map(|(row, weight)| (self.positions[row] as usize, weight)),
            least: wanted * (1.0 - 1e-12),
            found: BinaryHeap::new(),
            weight: 0.0,
            away: 0,
        };
        near.visit(0, self.distances(0, query).0);
        let farthest = near.found.peek()?.square;
        let at_query = near.found.iter().filter(|found| found.square == 0.0);
        let at_query: f64 = at_query.map(|found| found.weight).sum();
        // Points that coincide with the query all count.
        let counted = wanted.max(at_query).min(near.weight);
        (farthest > 0.0).then_some((farthest, counted))
    }
}

/// A search in progress.
struct Nearest<'a> {
    tree: &'a Tree,
    query: &'a [f64],
    /// The position of a point in the tree, and the weight to leave out.
    left_out: Option<(usize, f64)>,
    /// The weight to reach, a little less than wanted, as sums of weights are rounded.
    least: f64,
    found: BinaryHeap<Found>,
    weight: f64,
    /// How many of the points found do not coincide with the query.
    away: usize,
}

/// A point found; the farthest one compares greatest.
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
    /// Points beyond this squared distance are not needed.
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
            let left_out = self
                .left_out
                .filter(|(position, _)| *position == first + lane);
            let weight = self.tree.weights[first + lane] - left_out.map_or(0.0, |(_, w)| w);
            if weight <= 0.0 || square > self.reach() {
                continue;
            }
            self.found.push(Found { square, weight });
            self.weight += weight;
            self.away += usize::from(square > 0.0);
            self.drop_farthest();
        }
    }

    /// Drops the farthest points while the others suffice.
    fn drop_farthest(&mut self) {
        while let Some(top) = self.found.peek().copied() {
            let weight = self.weight - top.weight;
            // One point that does not coincide with the query must stay.
            if self.away < 2 || weight < self.least {
                return;
            }
            self.found.pop();
            self.weight = weight;
            self.away -= 1;
        }
    }
}
