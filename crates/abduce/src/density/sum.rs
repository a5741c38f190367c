//! Sums of a radial function over all points of a tree, within a tolerance
//! (Gray & Moore 2003). The contribution of a node lies between two bounds; for a
//! Gaussian there is a series expansion too. If the error of the midpoint of the bounds or
//! of the series is within the error still allowed per unit of weight, it is added to the
//! sum; otherwise the children of the node are visited, the nearer first. The total error
//! never exceeds the tolerance at a lower bound of the sum.

use super::expansion::Expansions;
use super::kernel::Profile;
use super::tree::{Node, Tree};
use crate::kernel::pairs::{BLOCK, Lanes, least, squared_distances, sum_of_exponentials};
use crate::kernel::softmax::exp;
use serde::{Deserialize, Serialize};

/// The allowed error of a density, apart from rounding:
/// |density − exact| ≤ absolute + relative · exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// The absolute error, in the units of the density.
    pub absolute: f64,
    /// The relative error, in the tails too.
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
    /// Exact apart from rounding.
    pub const EXACT: Tolerance = Tolerance {
        absolute: 0.0,
        relative: 0.0,
    };
}

impl Tree {
    /// ln Σ w K(|x − query|²) without the constant of the profile; −∞ where the sum is 0.
    /// The tolerance is the logarithm of the absolute error of the sum, and the relative error.
    /// `left_out` is a point and the part of its weight to leave out.
    pub fn log_sum(
        &self,
        profile: &Profile,
        query: &[f64],
        (log_absolute, relative): (f64, f64),
        left_out: Option<(usize, f64)>,
    ) -> f64 {
        let left_out = left_out.map(|(row, weight)| (self.positions[row] as usize, weight));
        let weight = self.nodes[0].weight - left_out.map_or(0.0, |(_, weight)| weight);
        // A compact profile cannot underflow; for others the first block sets the reference.
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
            remaining: weight,
        };
        let (least, most) = self.distances(0, query);
        sum.visit(0, least, most);
        sum.reference + sum.estimate.ln()
    }
}

/// A sum in progress; all numbers are divided by exp(reference).
struct Sum<'a> {
    tree: &'a Tree,
    profile: &'a Profile,
    expansions: Option<&'a Expansions>,
    query: &'a [f64],
    log_absolute: f64,
    relative: f64,
    /// The position of a point in the tree, and the weight to leave out.
    left_out: Option<(usize, f64)>,
    is_compact: bool,
    reference: f64,
    /// The absolute tolerance of the sum.
    absolute: f64,
    estimate: f64,
    /// A lower bound of the exact sum.
    at_least: f64,
    /// An upper bound of the error made so far.
    spent: f64,
    /// The weight of points not yet visited.
    remaining: f64,
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

    /// Adds the midpoint of a node's bounds, if the tolerance allows it.
    fn take_bounds(&mut self, node: &Node, least: f64, most: f64) -> bool {
        // Weights of nodes include that of a left-out point; only the nodes that contain it
        // have distance 0.
        if self.left_out.is_some() && least == 0.0 {
            return false;
        }
        let upper = self.value(least);
        let allowed = self.allowed(node);
        let mut lower = 0.0;
        if upper != 0.0 {
            // Before the first block sets a reference, bounds are infinite.
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
        self.remaining -= node.weight;
        true
    }

    /// The error allowed per unit of remaining weight, which rounding must not make less than
    /// the weight of the node.
    fn allowed(&self, node: &Node) -> f64 {
        let remaining = self.remaining.max(node.weight);
        (self.absolute + self.relative * self.at_least - self.spent) / remaining
    }

    /// Adds the series of a node, if there is one that the tolerance allows.
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
        self.remaining -= node.weight;
        true
    }

    /// Whether the bounds of a node are surely too far apart, without computing the lower one.
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
        self.remaining -= node.weight;
        if let Some((place, weight)) = self.left_out
            && (first..first + BLOCK).contains(&place)
        {
            let lane = place - first;
            self.remaining += weight;
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
            // Well below the range of a double, so that products stay finite.
            if top > self.reference + 200.0 {
                self.set_reference(top);
            }
            self.profile.replace_by_log_values(&mut lanes);
            sum_of_exponentials(&lanes, &weights, self.reference)
        };
        self.estimate += sum;
        self.at_least += sum;
    }

    fn set_reference(&mut self, reference: f64) {
        self.absolute = (self.log_absolute - reference).exp();
        let factor = (self.reference - reference).exp();
        self.estimate *= factor;
        self.at_least *= factor;
        self.spent *= factor;
        self.reference = reference;
    }
}
