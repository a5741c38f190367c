//! Statistics of families that no fixed number of sums describes: the numbers
//! seen themselves, in order, equal ones together.

use super::{Stats, Univariate};
use crate::data::Cells;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The numbers seen, ascending, with the total weight of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// Different numbers, ascending.
    pub values: Vec<f64>,
    /// The weight of each.
    pub weights: Vec<f64>,
}

impl Points {
    /// The points of numbers and their weights, in any order.
    pub fn new(cells: impl IntoIterator<Item = (f64, f64)>) -> Points {
        let kept = |(x, weight): &(f64, f64)| !x.is_nan() && *weight > 0.0;
        let mut pairs: Vec<(f64, f64)> = cells.into_iter().filter(kept).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut points = Points::default();
        for (x, weight) in pairs {
            points.push(x, weight);
        }
        points
    }

    /// The points of the cells seen.
    pub fn of_cells(cells: &Cells, weights: &[f64]) -> Points {
        let seen = cells.reals().iter().zip(weights).enumerate();
        let seen = seen.filter(|(i, _)| cells.is_seen(*i));
        Points::new(seen.map(|(_, (x, weight))| (*x, *weight)))
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

    /// The weighted mean; 0 where nothing was seen.
    pub fn mean(&self) -> f64 {
        let weight = self.weight();
        let Some(origin) = self.values.first().filter(|_| weight > 0.0) else {
            return 0.0;
        };
        origin + self.sum(|x| x - origin) / weight
    }

    /// The weighted variance about the mean; 0 where nothing was seen.
    pub fn variance(&self) -> f64 {
        let (weight, mean) = (self.weight(), self.mean());
        match weight > 0.0 {
            true => self.sum(|x| (x - mean) * (x - mean)) / weight,
            false => 0.0,
        }
    }

    /// Whether numbers and weights can be what was seen.
    pub fn are_sound(&self) -> bool {
        self.values.len() == self.weights.len()
            && self.values.windows(2).all(|pair| pair[0] < pair[1])
            && self.weights.iter().all(|w| *w > 0.0 && w.is_finite())
    }

    /// Adds a number that is not below the ones there.
    fn push(&mut self, x: f64, weight: f64) {
        // One zero, whatever its sign.
        let x = x + 0.0;
        match (self.values.last(), self.weights.last_mut()) {
            (Some(last), Some(own)) if *last == x => *own += weight,
            _ => {
                self.values.push(x);
                self.weights.push(weight);
            }
        }
    }
}

impl Stats for Points {
    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    fn merge(&mut self, other: &Self) {
        if other.values.is_empty() {
            return;
        }
        let mut both = Points::default();
        let (mut a, mut b) = (self.iter().peekable(), other.iter().peekable());
        while let Some((x, weight)) = match (a.peek(), b.peek()) {
            (Some(left), Some(right)) if right.0 < left.0 => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        } {
            both.push(x, weight);
        }
        drop(a);
        *self = both;
    }

    fn scale(&mut self, factor: f64) {
        if factor > 0.0 {
            self.weights.iter_mut().for_each(|w| *w *= factor);
        } else {
            *self = Points::default();
        }
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let never = || Error::data("rows to forget that were never seen");
        let mut left = self.clone();
        for (x, weight) in other.iter() {
            let place = left.values.binary_search_by(|own| own.total_cmp(&x));
            let place = place.map_err(|_| never())?;
            let rest = left.weights[place] - weight;
            let rounding = 1e-9 * left.weights[place].max(weight);
            if rest < -rounding {
                return Err(never());
            }
            left.weights[place] = if rest <= rounding { 0.0 } else { rest };
        }
        *self = Points::new(left.iter());
        Ok(())
    }
}

/// Rows that say about what so many draws of a distribution would.
pub(super) fn points_at_quantiles(of: &impl Univariate, rows: f64) -> Points {
    const COUNT: u8 = 8;
    let share = rows / f64::from(COUNT);
    let quantile = |i: u8| of.quantile((f64::from(i) + 0.5) / f64::from(COUNT));
    Points::new((0..COUNT).map(|i| (quantile(i), share)))
}
