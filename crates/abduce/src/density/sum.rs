//! Sums of a radial function over all points of a tree, with a stated error
//! (Gray & Moore 2003). A node's share lies between two bounds, and a Gaussian's has
//! a series too; where the error of the bounds' middle or of the series fits into what
//! the tolerance still allows for so much weight, it is taken, otherwise the node's
//! children are looked at, nearer first. What is spent is never more than the
//! tolerance at the least the sum can be.

use super::expansion::Expansions;
use super::kernel::Profile;
use super::tree::{Node, Tree};
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
            relative: 1e-10,
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

impl Tree {
    /// ln Σ w K(|x − query|²) without the profile's constant, and −∞ where no
    /// point reaches. The tolerance's absolute part is that of the sum, as a
    /// logarithm. Of one point of the table so much weight may be left out.
    pub fn log_sum(
        &self,
        profile: &Profile,
        query: &[f64],
        (log_absolute, relative): (f64, f64),
        left_out: Option<(usize, f64)>,
    ) -> f64 {
        let left_out = left_out.map(|(row, weight)| (self.places[row] as usize, weight));
        let weight = self.nodes[0].weight - left_out.map_or(0.0, |(_, weight)| weight);
        // A compact profile cannot underflow; others begin at their first block.
        let is_compact = profile.is_compact();
        let reference = if is_compact { 0.0 } else { f64::NEG_INFINITY };
        let mut sum = Sum {
            tree: self,
            profile,
            expansions: self.expansions.as_ref().filter(|_| profile.is_gaussian()),
            query,
            log_absolute,
            relative,
            left_out,
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
    expansions: Option<&'a Expansions>,
    query: &'a [f64],
    log_absolute: f64,
    relative: f64,
    /// Where in the tree, and how much.
    left_out: Option<(usize, f64)>,
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
        if self.take_bounds(&node, least, most) || self.take_series(number, &node, least) {
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
        let allowed = self.allowed(node);
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

    /// The error allowed for every unit of weight that is left; rounding must not
    /// make that less than the node itself.
    fn allowed(&self, node: &Node) -> f64 {
        let left = self.left.max(node.weight);
        (self.absolute + self.relative * self.at_least - self.spent) / left
    }

    /// Takes the series of a node, if there is one that the tolerance allows.
    fn take_series(&mut self, number: usize, node: &Node, least: f64) -> bool {
        let Some(expansions) = self.expansions else {
            return false;
        };
        let exponent = -0.25 * least - self.reference;
        if (self.left_out.is_some() && least == 0.0) || exponent > 700.0 {
            return false;
        }
        let (decay, allowed) = (exp::<false>(exponent), self.allowed(node));
        let Some(series) = expansions.series(number, decay, allowed) else {
            return false;
        };
        let (square, sum) = series.at(self.query);
        let estimate = sum * exp::<false>(-0.5 * square - self.reference);
        let error = node.weight * series.error;
        self.estimate += estimate.max(0.0);
        self.at_least += (estimate - error).max(0.0);
        self.spent += error;
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
        let mut weights: Lanes = [0.0; BLOCK];
        weights.copy_from_slice(tree.weights_of(node.block as usize));
        let mut lanes: Lanes = [0.0; BLOCK];
        squared_distances(tree.block(node.block as usize), self.query, &mut lanes);
        self.left -= node.weight;
        if let Some((place, weight)) = self.left_out
            && (first..first + BLOCK).contains(&place)
        {
            let lane = place - first;
            self.left += weight;
            weights[lane] -= weight;
            if weights[lane] <= 0.0 {
                lanes[lane] = f64::INFINITY;
            }
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
            sum_of_exponentials(&lanes, &weights, self.reference)
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
