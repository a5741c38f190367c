//! The points a density is made of: rows of numbers without missing values, each with a
//! weight, and their moments.

use crate::{Error, Result};
use std::cmp::Ordering;

/// Weighted points of one or more columns. Points of weight 0 are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    columns: usize,
    /// One point after the other.
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Points {
    /// Numbers beyond this would overflow when squared.
    pub(crate) const LARGEST: f64 = 1e140;

    /// Points given column by column; each weighs 1 unless `weights` says
    /// otherwise.
    ///
    /// # Errors
    /// If there is no column or no point of positive weight, lengths differ, a
    /// number is not finite or beyond 1e140, or the weights cannot be added up.
    ///
    /// ```
    /// use abduce::density::Points;
    /// let points = Points::from_columns(&[vec![0.0, 1.0], vec![5.0, 6.0]], Some(&[1.0, 0.0]))?;
    /// assert_eq!((points.len(), points.row(0)), (1, &[0.0, 5.0][..]));
    /// # Ok::<(), abduce::Error>(())
    /// ```
    pub fn from_columns<C: AsRef<[f64]>>(columns: &[C], weights: Option<&[f64]>) -> Result<Points> {
        let rows = columns.first().map_or(0, |column| column.as_ref().len());
        let same = columns.iter().all(|column| column.as_ref().len() == rows);
        if !same || weights.is_some_and(|weights| weights.len() != rows) {
            return Err(Error::data("columns and weights are not of equal length"));
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
            return Err(Error::data("there is no column of numbers"));
        }
        if self.weights.is_empty() {
            return Err(Error::data("there is no point to make a density of"));
        }
        if !self.weight().is_finite() {
            return Err(Error::data("the weights are too large to be added up"));
        }
        if !self.values.iter().all(|x| x.abs() <= Self::LARGEST) {
            return Err(Error::data("a number is not finite or beyond 1e140"));
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

    /// Whether there is no point, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The numbers of one point.
    pub fn row(&self, point: usize) -> &[f64] {
        &self.values[point * self.columns..(point + 1) * self.columns]
    }

    /// The points one after the other.
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

    /// What [`from_columns`](Self::from_columns) makes the same points of.
    pub(super) fn to_columns(&self) -> (Vec<Vec<f64>>, Option<Vec<f64>>) {
        let columns = (0..self.columns).map(|c| self.column(c)).collect();
        let weighs_one = self.weights.iter().all(|w| *w == 1.0);
        (columns, (!weighs_one).then(|| self.weights.clone()))
    }

    /// The same points with some of their columns only.
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

    /// A single point of one column.
    pub(super) fn one(x: f64) -> Points {
        Points {
            columns: 1,
            values: vec![x.clamp(-Self::LARGEST, Self::LARGEST)],
            weights: vec![1.0],
        }
    }

    /// The same points elsewhere.
    pub(super) fn map(&self, place: impl Fn(&[f64]) -> Vec<f64>) -> Points {
        Points {
            columns: self.columns,
            values: self.rows().flat_map(place).collect(),
            weights: self.weights.clone(),
        }
    }

    /// The places of the points in ascending order, each with the weight of all
    /// points there.
    pub(super) fn merged(&self) -> Points {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let compare = |a: &usize, b: &usize| {
            let pairs = self.row(*a).iter().zip(self.row(*b));
            // Adding 0 makes one zero of two.
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
        // Shares before sums: the sum of numbers near the largest would overflow.
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

    /// The standard deviation of every column, divided by the weight; 0 for a
    /// constant one, also where rounding makes it seem to vary.
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
                match deviation <= rounding && constant(c) || deviation == 0.0 {
                    true => 0.0,
                    false => deviation,
                }
            })
            .collect()
    }

    /// How finely the numbers of a column were written down: the least distance
    /// between two that differ by more than rounding; `None` for a constant column.
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

    /// What stands for the spread of columns that have none: a millionth of
    /// their value, or of 1. All but a point, and still a density.
    pub fn units(&self) -> Vec<f64> {
        let unit = |x: &f64| {
            if *x == 0.0 {
                1e-6
            } else {
                (1e-6 * x.abs()).max(1e-150)
            }
        };
        self.row(0).iter().map(unit).collect()
    }
}
