//! A tree of boxes over points (Bentley 1975), and sums of a radial function
//! over all points with a stated error (Gray & Moore 2003). Every node knows its
//! bounding box and weight, so its share of a sum lies between two bounds; where
//! half their gap fits into what the tolerance still allows for so much weight,
//! the middle is taken, otherwise its children are looked at, nearer first.
//!
//! Points are stored in blocks, each a leaf, in the order of the tree.

use super::kernel::Profile;
use super::points::Points;
use crate::kernel::pairs::{BLOCK, Lanes, least, squared_distances, sum_of_exponentials};
use crate::kernel::softmax::exp;
use serde::{Deserialize, Serialize};

/// How far a density may be from the exact sum over all points:
/// |density − exact| ≤ absolute + relative · exact. Rounding comes on top.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// In the units of the density.
    pub absolute: f64,
    /// As a share of the density, also in its far tails.
    pub relative: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance {
            absolute: 0.0,
            relative: 1e-8,
        }
    }
}

impl Tolerance {
    /// Exact but for rounding.
    pub const EXACT: Tolerance = Tolerance {
        absolute: 0.0,
        relative: 0.0,
    };
}

/// A tree over points.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    columns: usize,
    /// The place of every point in its table, in the order of the tree.
    order: Vec<u32>,
    /// Where in the tree every point of the table is.
    pub(super) places: Vec<u32>,
    /// Block after block; the last is filled up with points of weight 0 that lie
    /// infinitely far away.
    blocks: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) nodes: Vec<Node>,
    /// For every node the lower and then the upper corner of its box.
    boxes: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    weight: f64,
    /// The first block.
    pub(super) block: u32,
    /// The right child; 0 for a leaf. The left child is the next node.
    pub(super) right: u32,
}

impl Tree {
    pub fn new(points: &Points) -> Tree {
        let (rows, columns) = (points.len(), points.columns());
        let mut order: Vec<u32> = (0..rows as u32).collect();
        let mut tree = Tree {
            columns,
            order: Vec::new(),
            places: vec![0; rows],
            blocks: Vec::new(),
            weights: Vec::new(),
            nodes: Vec::new(),
            boxes: Vec::new(),
        };
        tree.grow(points, &mut order, 0);
        for (place, row) in order.iter().enumerate() {
            tree.places[*row as usize] = place as u32;
        }
        for block in order.chunks(BLOCK) {
            for column in 0..columns {
                let own = block.iter().map(|row| points.row(*row as usize)[column]);
                tree.blocks.extend(own);
                let length = tree.blocks.len().next_multiple_of(BLOCK);
                tree.blocks.resize(length, f64::INFINITY);
            }
            let weights = block.iter().map(|row| points.weights()[*row as usize]);
            tree.weights.extend(weights);
        }
        tree.weights.resize(rows.next_multiple_of(BLOCK), 0.0);
        tree.order = order;
        tree
    }

    /// Adds the node of these points and all below it, and returns its weight.
    fn grow(&mut self, points: &Points, order: &mut [u32], block: usize) -> f64 {
        let number = self.nodes.len();
        let (mut lower, mut upper) = (
            vec![f64::INFINITY; self.columns],
            vec![f64::NEG_INFINITY; self.columns],
        );
        for row in order.iter() {
            for ((low, high), x) in lower
                .iter_mut()
                .zip(&mut upper)
                .zip(points.row(*row as usize))
            {
                *low = low.min(*x);
                *high = high.max(*x);
            }
        }
        let widths = lower.iter().zip(&upper).map(|(low, high)| high - low);
        let widest =
            widths.enumerate().fold(
                (0, -1.0),
                |best, (c, width)| {
                    if width > best.1 { (c, width) } else { best }
                },
            );
        self.boxes.extend(lower);
        self.boxes.extend(upper);
        self.nodes.push(Node {
            weight: 0.0,
            block: block as u32,
            right: 0,
        });
        let weight = if order.len() <= BLOCK {
            let weights = order.iter().map(|row| points.weights()[*row as usize]);
            weights.sum()
        } else {
            // Whole blocks to the left, so that all blocks but the last are full.
            let left = order.len().div_ceil(BLOCK).div_ceil(2);
            let key = |row: &u32| points.row(*row as usize)[widest.0];
            let compare = |a: &u32, b: &u32| key(a).total_cmp(&key(b)).then(a.cmp(b));
            order.select_nth_unstable_by(left * BLOCK, compare);
            let (near, far) = order.split_at_mut(left * BLOCK);
            let weight = self.grow(points, near, block);
            self.nodes[number].right = self.nodes.len() as u32;
            weight + self.grow(points, far, block + left)
        };
        self.nodes[number].weight = weight;
        weight
    }

    /// The least and the greatest squared distance of a node's box.
    #[inline]
    pub(super) fn distances(&self, node: usize, query: &[f64]) -> (f64, f64) {
        let corners = &self.boxes[2 * node * self.columns..2 * (node + 1) * self.columns];
        let (lower, upper) = corners.split_at(self.columns);
        let (mut least, mut most) = (0.0, 0.0);
        for ((low, high), x) in lower.iter().zip(upper).zip(query) {
            let (below, above) = (low - x, x - high);
            let gap = below.max(above).max(0.0);
            let reach = (-below).max(-above);
            least += gap * gap;
            most += reach * reach;
        }
        (least, most)
    }

    pub(super) fn block(&self, block: usize) -> &[f64] {
        let size = BLOCK * self.columns;
        &self.blocks[block * size..(block + 1) * size]
    }

    /// ln Σ w K(|x − query|²) without the profile's constant, and −∞ where no
    /// point reaches. The tolerance's absolute part is that of the sum, as a
    /// logarithm. A point of the table may be left out.
    pub fn log_sum(
        &self,
        profile: &Profile,
        query: &[f64],
        (log_absolute, relative): (f64, f64),
        left_out: Option<usize>,
    ) -> f64 {
        let place = left_out.map(|row| self.places[row] as usize);
        let weight = self.nodes[0].weight - place.map_or(0.0, |place| self.weights[place]);
        // A compact profile cannot underflow; others begin at their first block.
        let is_compact = profile.is_compact();
        let reference = if is_compact { 0.0 } else { f64::NEG_INFINITY };
        let mut sum = Sum {
            tree: self,
            profile,
            query,
            log_absolute,
            relative,
            left_out: place,
            is_compact,
            reference,
            absolute: if is_compact { log_absolute.exp() } else { 0.0 },
            estimate: 0.0,
            at_least: 0.0,
            spent: 0.0,
            left: weight,
        };
        let (least, most) = self.distances(0, query);
        sum.visit(0, least, most);
        sum.reference + sum.estimate.ln()
    }
}

/// A sum on its way; numbers are relative to exp(reference).
struct Sum<'a> {
    tree: &'a Tree,
    profile: &'a Profile,
    query: &'a [f64],
    log_absolute: f64,
    relative: f64,
    left_out: Option<usize>,
    is_compact: bool,
    reference: f64,
    /// The absolute tolerance of the sum.
    absolute: f64,
    estimate: f64,
    at_least: f64,
    /// Error that may have been made.
    spent: f64,
    /// Weight not yet looked at.
    left: f64,
}

impl Sum<'_> {
    fn visit(&mut self, number: usize, least: f64, most: f64) {
        let tree = self.tree;
        let node = tree.nodes[number];
        if self.take_bounds(&node, least, most) {
            return;
        }
        if node.right == 0 {
            self.take_block(&node);
            return;
        }
        let (left, right) = (number + 1, node.right as usize);
        let of_left = tree.distances(left, self.query);
        let of_right = tree.distances(right, self.query);
        if of_left.0 <= of_right.0 {
            self.visit(left, of_left.0, of_left.1);
            self.visit(right, of_right.0, of_right.1);
        } else {
            self.visit(right, of_right.0, of_right.1);
            self.visit(left, of_left.0, of_left.1);
        }
    }

    /// Takes the middle of the bounds of a node, if the tolerance allows it.
    fn take_bounds(&mut self, node: &Node, least: f64, most: f64) -> bool {
        // A left-out point is still in the weights of its nodes, all of them here.
        if self.left_out.is_some() && least == 0.0 {
            return false;
        }
        let upper = self.value(least);
        // The error allowed for every unit of weight that is left; rounding must
        // not make that less than the node itself.
        let left = self.left.max(node.weight);
        let allowed = (self.absolute + self.relative * self.at_least - self.spent) / left;
        let mut lower = 0.0;
        if upper != 0.0 {
            // Before a first block there is no reference, and bounds are infinite.
            if !upper.is_finite() || self.is_too_wide(upper, allowed, least, most) {
                return false;
            }
            lower = self.value(most);
        }
        let error = 0.5 * (upper - lower);
        if error > allowed.max(0.0) {
            return false;
        }
        self.estimate += node.weight * 0.5 * (upper + lower);
        self.at_least += node.weight * lower;
        self.spent += node.weight * error;
        self.left -= node.weight;
        true
    }

    /// Whether a node is too wide for its bounds, told without the lower one.
    fn is_too_wide(&self, upper: f64, allowed: f64, least: f64, most: f64) -> bool {
        if self.is_compact || 0.5 * upper <= allowed {
            return false;
        }
        // 1 − e^(−x) is at least 0.63 min(x, 1).
        let fall = self.profile.log_value(least) - self.profile.log_value(most);
        0.315 * upper * fall.min(1.0) > allowed
    }

    /// The profile at a squared distance, relative to the reference.
    #[inline]
    fn value(&self, square: f64) -> f64 {
        if self.is_compact {
            return self.profile.compact_value(square);
        }
        match self.profile.log_value(square) - self.reference {
            far_above if far_above > 700.0 => f64::INFINITY,
            exponent => exp::<false>(exponent),
        }
    }

    fn take_block(&mut self, node: &Node) {
        let tree = self.tree;
        let first = node.block as usize * BLOCK;
        let weights = &tree.weights[first..first + BLOCK];
        let mut lanes: Lanes = [0.0; BLOCK];
        squared_distances(tree.block(node.block as usize), self.query, &mut lanes);
        self.left -= node.weight;
        if let Some(lane) = self
            .left_out
            .and_then(|place| place.checked_sub(first))
            .filter(|lane| *lane < BLOCK)
        {
            lanes[lane] = f64::INFINITY;
            self.left += weights[lane];
        }
        let sum = if self.is_compact {
            let values = lanes
                .iter()
                .map(|square| self.profile.compact_value(*square));
            values
                .zip(weights)
                .map(|(value, weight)| value * weight)
                .sum()
        } else {
            let top = self.profile.log_value(least(&lanes));
            if top == f64::NEG_INFINITY {
                return;
            }
            // Far fewer than what a double holds, so that products stay finite.
            if top > self.reference + 200.0 {
                self.refer_to(top);
            }
            self.profile.take_log_values(&mut lanes);
            sum_of_exponentials(&lanes, weights, self.reference)
        };
        self.estimate += sum;
        self.at_least += sum;
    }

    fn refer_to(&mut self, reference: f64) {
        self.absolute = (self.log_absolute - reference).exp();
        let factor = (self.reference - reference).exp();
        self.estimate *= factor;
        self.at_least *= factor;
        self.spent *= factor;
        self.reference = reference;
    }
}
