//! The points that a density is estimated from: complete rows of numbers, each with a
//! weight, and their moments.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Weighted points of one or more columns. Points of weight 0 are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Points {
    columns: usize,
    /// Point by point.
    values: Vec<f64>,
    weights: Vec<f64>,
}

/// Serialized form, column by column.
#[derive(Serialize, Deserialize)]
struct Stored {
    columns: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
}

impl From<Points> for Stored {
    fn from(points: Points) -> Stored {
        let has_unit_weights = points.weights.iter().all(|weight| *weight == 1.0);
        Stored {
            columns: (0..points.columns).map(|c| points.column(c)).collect(),
            weights: (!has_unit_weights).then_some(points.weights),
        }
    }
}

impl TryFrom<Stored> for Points {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Points> {
        Points::from_columns(&stored.columns, stored.weights.as_deref())
    }
}

impl Points {
    /// Larger absolute values could overflow when squared.
    pub(crate) const LARGEST: f64 = 1e140;

    /// Points given column by column, each of weight 1 unless `weights` are given.
    ///
    /// # Errors
    /// If there is no column or no point of positive weight, lengths differ, a number is
    /// not finite or larger than 1e140, or the sum of the weights is not finite.
    ///
    /// ```
    /// use abduce::density::Points;
    /// let points = Points::from_columns(&[vec![0.0, 1.0], vec![5.0, 6.0]], Some(&[1.0, 0.0]))?;
    /// assert_eq!((points.len(), points.row(0)), (1, &[0.0, 5.0][..]));
    /// # Ok::<(), abduce::Error>(())
    /// ```
    pub fn from_columns<C: AsRef<[f64]>>(columns: &[C], weights: Option<&[f64]>) -> Result<Points> {
        let rows = columns.first().map_or(0, |column| column.as_ref().len());
        let equal = columns.iter().all(|column| column.as_ref().len() == rows);
        if !equal || weights.is_some_and(|weights| weights.len() != rows) {
            return Err(Error::data(
                "the columns and weights must have the same length",
            ));
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        if (0..rows).any(|row| !(weight(row) >= 0.0 && weight(row).is_finite())) {
            return Err(Error::data("a weight is negative or not a number"));
        }
        let kept: Vec<usize> = (0..rows).filter(|row| weight(*row) > 0.0).collect();
        let mut values = Vec::with_capacity(kept.len() * columns.len());
        for row in &kept {
            values.extend(columns.iter().map(|column| column.as_ref()[*row]));
        }
        let points = Points {
            columns: columns.len(),
            values,
            weights: kept.into_iter().map(weight).collect(),
        };
        points.checked()
    }

    fn checked(self) -> Result<Points> {
        if self.columns == 0 {
            return Err(Error::data("a density needs at least one numeric column"));
        }
        if self.weights.is_empty() {
            return Err(Error::data(
                "a density needs at least one point of positive weight",
            ));
        }
        if !self.weight().is_finite() {
            return Err(Error::data("the sum of the weights is not finite"));
        }
        if !self.values.iter().all(|x| x.abs() <= Self::LARGEST) {
            return Err(Error::data("a number is not finite or larger than 1e140"));
        }
        Ok(self)
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Always false: there is at least one point.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The numbers of one point.
    pub fn row(&self, point: usize) -> &[f64] {
        &self.values[point * self.columns..(point + 1) * self.columns]
    }

    /// All points, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns)
    }

    /// The weight of every point.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The numbers of one column.
    pub fn column(&self, column: usize) -> Vec<f64> {
        self.rows().map(|row| row[column]).collect()
    }

    /// Checks that every query point has a number for each column.
    pub(super) fn check_queries<Q: AsRef<[f64]>>(&self, queries: &[Q]) -> Result<()> {
        if queries
            .iter()
            .all(|query| query.as_ref().len() == self.columns)
        {
            return Ok(());
        }
        let message = format!("a query point must have {} coordinates", self.columns);
        Err(Error::parameter(message))
    }

    /// The points in some of the columns.
    pub(super) fn select(&self, columns: &[usize]) -> Points {
        let rows = self.rows();
        Points {
            columns: columns.len(),
            values: rows
                .flat_map(|row| columns.iter().map(|c| row[*c]))
                .collect(),
            weights: self.weights.clone(),
        }
    }

    /// A single point with one column.
    pub(super) fn single(x: f64) -> Points {
        Points {
            columns: 1,
            values: vec![x.clamp(-Self::LARGEST, Self::LARGEST)],
            weights: vec![1.0],
        }
    }

    /// The points with their coordinates transformed.
    pub(super) fn map(&self, transform: impl Fn(&[f64]) -> Vec<f64>) -> Points {
        Points {
            columns: self.columns,
            values: self.rows().flat_map(transform).collect(),
            weights: self.weights.clone(),
        }
    }

    /// The distinct points in ascending order, each with the total weight of its copies.
    pub(super) fn merged(&self) -> Points {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let compare = |a: &usize, b: &usize| {
            let pairs = self.row(*a).iter().zip(self.row(*b));
            // Adding 0 turns -0 into 0.
            let mut orders = pairs.map(|(x, y)| (x + 0.0).total_cmp(&(y + 0.0)));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        order.sort_by(compare);
        let mut merged = Points {
            columns: self.columns,
            values: Vec::with_capacity(self.values.len()),
            weights: Vec::with_capacity(self.len()),
        };
        for (number, point) in order.iter().enumerate() {
            match merged.weights.last_mut() {
                Some(sum) if compare(&order[number - 1], point).is_eq() => {
                    *sum += self.weights[*point];
                }
                _ => {
                    merged.values.extend(self.row(*point));
                    merged.weights.push(self.weights[*point]);
                }
            }
        }
        merged
    }

    /// The total weight.
    pub fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The weighted mean of every column.
    pub fn means(&self) -> Vec<f64> {
        let total = self.weight();
        // The sum of weight · x could overflow, that of the shares cannot.
        let mut means = vec![0.0; self.columns];
        for (row, weight) in self.rows().zip(&self.weights) {
            let share = weight / total;
            means.iter_mut().zip(row).for_each(|(m, x)| *m += share * x);
        }
        means
    }

    /// The weighted covariance matrix, divided by the weight.
    pub fn covariance(&self) -> Vec<f64> {
        let (d, total, means) = (self.columns, self.weight(), self.means());
        let mut matrix = vec![0.0; d * d];
        let mut gap = vec![0.0; d];
        for (row, weight) in self.rows().zip(&self.weights) {
            for ((g, x), mean) in gap.iter_mut().zip(row).zip(&means) {
                *g = x - mean;
            }
            for (j, out) in matrix.chunks_exact_mut(d).enumerate() {
                let scaled = weight / total * gap[j];
                out.iter_mut()
                    .zip(&gap)
                    .for_each(|(sum, g)| *sum += scaled * g);
            }
        }
        matrix
    }

    /// The standard deviation of every column, with the weight as divisor; exactly 0 for
    /// a constant column, whatever the rounding.
    pub fn deviations(&self) -> Vec<f64> {
        let (total, means) = (self.weight(), self.means());
        let mut squares = vec![0.0; self.columns];
        for (row, weight) in self.rows().zip(&self.weights) {
            let share = weight / total;
            for ((sum, x), mean) in squares.iter_mut().zip(row).zip(&means) {
                *sum += share * (x - mean) * (x - mean);
            }
        }
        let first = self.row(0);
        let constant = |c: usize| self.rows().all(|row| row[c] == first[c]);
        let spread = squares.iter().zip(means).enumerate();
        spread
            .map(|(c, (square, mean))| {
                let deviation = square.sqrt();
                let rounding = 4.0 * f64::EPSILON * mean.abs();
                if deviation <= rounding && constant(c) {
                    0.0
                } else {
                    deviation
                }
            })
            .collect()
    }

    /// The smallest difference between two numbers of a column that is not a rounding
    /// error; `None` for a constant column.
    pub(super) fn resolution(x: impl Iterator<Item = f64>) -> Option<f64> {
        let mut x: Vec<f64> = x.collect();
        x.sort_unstable_by(f64::total_cmp);
        let gaps = x
            .windows(2)
            .map(|pair| (pair[1] - pair[0], pair[0].abs() + pair[1].abs()));
        gaps.filter(|(gap, size)| *gap > 8.0 * f64::EPSILON * size)
            .map(|(gap, _)| gap)
            .reduce(f64::min)
    }

    /// The standard deviation of every column; for a constant column a small scale
    /// instead, so that it has a density.
    pub fn scales(&self) -> Vec<f64> {
        let deviations = self.deviations().into_iter().zip(self.row(0));
        deviations
            .map(|(deviation, x)| match deviation {
                0.0 => scale_of_constant(*x),
                _ => deviation,
            })
            .collect()
    }
}

/// The scale of a constant column: a millionth of its value, or of 1.
pub(super) fn scale_of_constant(x: f64) -> f64 {
    if x == 0.0 {
        1e-6
    } else {
        (1e-6 * x.abs()).max(1e-150)
    }
}
