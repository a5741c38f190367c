//! The statistics of a family without sufficient statistics are the points: all numbers, in
//! ascending order, with their weights. Equal numbers are one entry, so that weight 2 is the
//! number twice and merging does not depend on the order.

use crate::data::Rows;
use crate::density::Points;
use crate::family::{Stats, Univariate};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Numbers and their weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointStats {
    /// The distinct numbers, ascending.
    pub values: Vec<f64>,
    /// The weight of each.
    pub weights: Vec<f64>,
}

impl PointStats {
    /// The statistics of numbers with their weights, in any order.
    pub fn new(cells: impl IntoIterator<Item = (f64, f64)>) -> PointStats {
        let weighs = |(x, weight): &(f64, f64)| !x.is_nan() && *weight > 0.0;
        let entries = cells.into_iter().filter(weighs);
        // Adding 0 turns −0 into 0.
        let mut entries: Vec<(f64, f64)> = entries.map(|(x, weight)| (x + 0.0, weight)).collect();
        entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut points = PointStats::default();
        entries
            .into_iter()
            .for_each(|(x, weight)| points.push(x, weight));
        points
    }

    /// Adds the values of a column.
    pub(crate) fn observe(&mut self, rows: &Rows, weights: &[f64]) {
        let cells = rows.only();
        let seen = cells.reals().iter().zip(weights).enumerate();
        let seen = seen.filter(|(row, _)| cells.is_seen(*row));
        self.merge(&PointStats::new(seen.map(|(_, (x, weight))| (*x, *weight))));
    }

    /// The smallest and the largest number.
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some((*self.values.first()?, *self.values.last()?))
    }

    /// Every number with its weight.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let weights = self.weights.iter().copied();
        self.values.iter().copied().zip(weights)
    }

    /// The weighted sum of a function of the numbers.
    pub fn sum(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.iter().map(|(x, weight)| weight * f(x)).sum()
    }

    /// The weighted sum of ln(1 + f(x)), for f that is nowhere negative, to
    /// within the rounding of 1 + f.
    pub(crate) fn sum_of_ln_1p(&self, f: impl Fn(f64) -> f64) -> f64 {
        const LARGE: f64 = 1e100;
        let (mut sum, mut product, mut common) = (0.0, 1.0_f64, 0.0);
        // Logarithms are the main cost: numbers of one weight share that of their product.
        for (x, weight) in self.iter() {
            let y = f(x);
            if weight != common || product > LARGE {
                sum += common * product.ln();
                (product, common) = (1.0, weight);
            }
            if y < LARGE {
                product *= 1.0 + y
            } else {
                sum += weight * y.ln()
            }
        }
        sum + common * product.ln()
    }

    /// The smallest number with at least the share `p` of the weight at or below it; NaN
    /// without rows.
    pub(crate) fn quantile(&self, p: f64) -> f64 {
        let wanted = p * self.weight();
        let mut sum = 0.0;
        let reached = self.iter().find(|(_, weight)| {
            sum += weight;
            sum >= wanted
        });
        reached.map_or(f64::NAN, |(x, _)| x)
    }

    /// The weighted mean; 0 without rows.
    pub fn mean(&self) -> f64 {
        match self.values.first() {
            Some(origin) => origin + self.sum(|x| x - origin) / self.weight(),
            None => 0.0,
        }
    }

    /// The weighted variance about the mean; 0 without rows.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        if self.values.is_empty() {
            0.0
        } else {
            self.sum(|x| (x - mean) * (x - mean)) / self.weight()
        }
    }

    /// At most `groups` points of about equal weight, each the mean of neighbouring numbers.
    pub(crate) fn grouped(&self, groups: usize) -> PointStats {
        let total = self.weight();
        let mut grouped: Vec<(f64, f64)> = Vec::new();
        let (mut below, mut last) = (0.0, usize::MAX);
        for (x, weight) in self.iter() {
            // The group of the middle of this number's weight.
            let group = ((below + 0.5 * weight) / total * groups as f64) as usize;
            below += weight;
            match grouped.last_mut() {
                Some((mean, sum)) if group == last => {
                    *sum += weight;
                    *mean += (x - *mean) * (weight / *sum);
                }
                _ => grouped.push((x, weight)),
            }
            last = group;
        }
        PointStats::new(grouped)
    }

    /// Pseudo-rows at the quantiles of a distribution, of this total weight.
    pub(crate) fn at_quantiles(of: &impl Univariate, rows: f64) -> PointStats {
        const COUNT: u8 = 8;
        let share = rows / f64::from(COUNT);
        let quantile = |i: u8| of.quantile((f64::from(i) + 0.5) / f64::from(COUNT));
        PointStats::new((0..COUNT).map(|i| (quantile(i), share)))
    }

    /// Appends a number that is not below the last.
    fn push(&mut self, x: f64, weight: f64) {
        match (self.values.last(), self.weights.last_mut()) {
            (Some(last), Some(sum)) if *last == x => *sum += weight,
            _ => {
                self.values.push(x);
                self.weights.push(weight);
            }
        }
    }

    /// The points of a density.
    pub(crate) fn points(&self) -> Result<Points> {
        Points::from_columns(&[&self.values], Some(&self.weights))
    }

    /// Whether numbers ascend and weights are positive.
    pub(crate) fn is_valid(&self) -> bool {
        self.values.len() == self.weights.len()
            && self.values.is_sorted_by(|a, b| a < b)
            && self.values.iter().all(|x| x.is_finite())
            && self.weights.iter().all(|w| *w > 0.0 && w.is_finite())
    }

    /// Adds two rows of all components together, so that no component gives an unseen number
    /// probability 0.
    pub(crate) fn shrink_together(stats: &mut [PointStats]) {
        const ROWS: f64 = 2.0;
        let mut all = crate::family::merged(&*stats);
        if all.weight() <= 0.0 {
            return;
        }
        all.scale(ROWS / all.weight());
        stats.iter_mut().for_each(|component| component.merge(&all));
    }
}

impl Stats for PointStats {
    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    fn merge(&mut self, other: &Self) {
        if other.values.is_empty() {
            return;
        }
        let before = std::mem::take(self);
        let (mut i, mut j) = (0, 0);
        while i < before.values.len() || j < other.values.len() {
            let left = j == other.values.len()
                || (i < before.values.len() && before.values[i] <= other.values[j]);
            if left {
                self.push(before.values[i], before.weights[i]);
                i += 1;
            } else {
                self.push(other.values[j], other.weights[j]);
                j += 1;
            }
        }
    }

    fn scale(&mut self, factor: f64) {
        if factor > 0.0 {
            self.weights.iter_mut().for_each(|weight| *weight *= factor);
        } else {
            *self = PointStats::default();
        }
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let mut left = PointStats::default();
        let mut rest = other.values.iter().zip(&other.weights).peekable();
        for (x, weight) in self.values.iter().zip(&self.weights) {
            let gone = rest
                .next_if(|(value, _)| *value == x)
                .map_or(0.0, |(_, gone)| *gone);
            let rounding = 1e-9 * weight;
            if gone > weight + rounding {
                return Err(Error::data("more rows to forget than were fitted"));
            }
            if weight - gone > rounding {
                left.push(*x, weight - gone);
            }
        }
        if rest.next().is_some() {
            return Err(crate::family::never_seen());
        }
        *self = left;
        Ok(())
    }
}
