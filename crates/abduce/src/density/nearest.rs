//! The k-nearest-neighbour density (Loftsgaarden & Quesenberry 1965),
//!
//!   f(x) = k / (n V_d r_k(x)^d),
//!
//! with r_k the distance to the k-th nearest point in scaled columns and V_d the volume
//! of the unit ball. Its tails fall so slowly that its integral is infinite: it can
//! rank points and, with one density per class, classify them, but it cannot be
//! integrated over missing values, and rows cannot be drawn from it.

use super::kernel::log_ball;
use super::points::Points;
use super::tree::Tree;
use crate::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A k-nearest-neighbour density.
///
/// A point of weight w counts as w points. Where k or more points coincide with the query
/// point, r is the distance to the nearest point that does not, so that the density is
/// finite.
///
/// ```
/// use abduce::density::{NearestNeighbours, Points};
/// let points = Points::from_columns(&[vec![0.0, 1.0, 3.0, 7.0]], None)?;
/// let density = NearestNeighbours::new(points, 2, None)?;
/// // The second nearest point to 0.5 is half a unit away: 2 / (4 · 2 · 0.5).
/// assert!((density.log_density(&[0.5])? - 0.5f64.ln()).abs() < 1e-12);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct NearestNeighbours {
    points: Points,
    neighbours: usize,
    scales: Vec<f64>,
    tree: OnceLock<Tree>,
}

/// Serialized form; the tree is rebuilt on demand.
#[derive(Serialize, Deserialize)]
struct Stored {
    neighbours: usize,
    scales: Vec<f64>,
    #[serde(flatten)]
    points: Points,
}

impl From<NearestNeighbours> for Stored {
    fn from(density: NearestNeighbours) -> Stored {
        Stored {
            neighbours: density.neighbours,
            scales: density.scales,
            points: density.points,
        }
    }
}

impl TryFrom<Stored> for NearestNeighbours {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<NearestNeighbours> {
        NearestNeighbours::new(stored.points, stored.neighbours, Some(stored.scales))
    }
}

impl NearestNeighbours {
    /// The density of points by `neighbours` nearest neighbours. Columns are divided by
    /// `scales`, by default their standard deviations, before distances are computed.
    ///
    /// # Errors
    /// If `neighbours` is 0, or there is not one positive scale for each column.
    pub fn new(points: Points, neighbours: usize, scales: Option<Vec<f64>>) -> Result<Self> {
        if neighbours == 0 {
            return Err(Error::parameter("`neighbours` must be at least 1"));
        }
        let scales = scales.unwrap_or_else(|| points.scales());
        let is_positive = |scale: &f64| *scale > 0.0 && (1.0 / scale).is_finite();
        if scales.len() != points.columns() || !scales.iter().all(is_positive) {
            return Err(Error::parameter("each column needs a positive scale"));
        }
        Ok(NearestNeighbours {
            points,
            neighbours,
            scales,
            tree: OnceLock::new(),
        })
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The number of neighbours.
    pub fn neighbours(&self) -> usize {
        self.neighbours
    }

    /// The divisors of the columns.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The natural logarithm of the density at a point.
    ///
    /// # Errors
    /// If the point has another number of columns.
    pub fn log_density(&self, query: &[f64]) -> Result<f64> {
        Ok(self.log_densities(&[query])?[0])
    }

    /// [`log_density`](Self::log_density) at many points, in parallel.
    ///
    /// # Errors
    /// If a point has another number of columns.
    pub fn log_densities<Q: AsRef<[f64]> + Sync>(&self, queries: &[Q]) -> Result<Vec<f64>> {
        self.points.check_queries(queries)?;
        self.tree();
        let queries = queries.par_iter().with_min_len(16);
        Ok(queries.map(|query| self.at(query.as_ref(), None)).collect())
    }

    /// The leave-one-out log-density at each of these points. Leaving out one row lowers
    /// the weight of a point by 1, or to 0 if it is less.
    pub fn leave_one_out(&self, points: &[usize]) -> Vec<f64> {
        self.tree();
        let points = points.par_iter().with_min_len(16);
        let log_density = |point: &usize| {
            let weight = self.points.weights()[*point].min(1.0);
            self.at(self.points.row(*point), Some((*point, weight)))
        };
        points.map(log_density).collect()
    }

    fn at(&self, query: &[f64], left_out: Option<(usize, f64)>) -> f64 {
        let scaled = self.scaled(query);
        let total = self.points.weight() - left_out.map_or(0.0, |(_, weight)| weight);
        if total <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let neighbours = self.neighbours as f64;
        let found = self.tree().nearest(&scaled, neighbours, left_out);
        // If all points coincide with the query, the distance is taken to be 1.
        let (square, counted) = found.unwrap_or((1.0, total));
        let d = self.points.columns();
        let log_scales: f64 = self.scales.iter().map(|scale| scale.ln()).sum();
        let log_volume = log_ball(d) + 0.5 * d as f64 * square.ln() + log_scales;
        (counted / total).ln() - log_volume
    }

    fn scaled(&self, query: &[f64]) -> Vec<f64> {
        query.iter().zip(&self.scales).map(|(x, s)| x / s).collect()
    }

    fn tree(&self) -> &Tree {
        self.tree
            .get_or_init(|| Tree::new(&self.points.map(|row| self.scaled(row))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(n: usize) -> Vec<Vec<f64>> {
        let value =
            |i: usize, c: usize| ((i * 37 + c * 91) as f64 * 0.618).sin() * (1 + i % 5) as f64;
        (0..2)
            .map(|c| (0..n).map(|i| value(i, c)).collect())
            .collect()
    }

    #[test]
    fn the_density_follows_from_the_k_th_smallest_distance() {
        let columns = wave(300);
        let points = Points::from_columns(&columns, None).unwrap();
        for k in [1, 3, 40, 300, 500] {
            let density = NearestNeighbours::new(points.clone(), k, Some(vec![1.0, 1.0])).unwrap();
            for place in [[0.0, 0.0], [2.0, -1.5], [90.0, 3.0]] {
                let mut squares: Vec<f64> = points
                    .rows()
                    .map(|row| (row[0] - place[0]).powi(2) + (row[1] - place[1]).powi(2))
                    .collect();
                squares.sort_by(f64::total_cmp);
                let k = k.min(300);
                let expected = k as f64 / (300.0 * std::f64::consts::PI * squares[k - 1]);
                let obtained = density.log_density(&place).unwrap();
                assert!((obtained - expected.ln()).abs() < 1e-12, "{k} {place:?}");
            }
        }
    }

    #[test]
    fn weight_two_is_the_point_twice() {
        let columns = wave(80);
        let twice: Vec<Vec<f64>> = columns
            .iter()
            .map(|c| [c.clone(), c.clone()].concat())
            .collect();
        let scales = Some(vec![1.0, 2.0]);
        let weighted = Points::from_columns(&columns, Some(&[2.0; 80])).unwrap();
        let weighted = NearestNeighbours::new(weighted, 7, scales.clone()).unwrap();
        let repeated = Points::from_columns(&twice, None).unwrap();
        let repeated = NearestNeighbours::new(repeated, 7, scales).unwrap();
        for place in [[0.0, 0.3], [5.0, 5.0], [columns[0][9], columns[1][9]]] {
            let (a, b) = (weighted.log_density(&place), repeated.log_density(&place));
            assert!((a.unwrap() - b.unwrap()).abs() < 1e-12);
        }
        let all: Vec<usize> = (0..80).collect();
        let (a, b) = (weighted.leave_one_out(&all), repeated.leave_one_out(&all));
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn coinciding_points_have_a_finite_density() {
        for x in [vec![3.0; 10], vec![0.0], vec![1.0, 1.0, 1.0, 2.0]] {
            let first = x[0];
            let points = Points::from_columns(&[&x], None).unwrap();
            let density = NearestNeighbours::new(points, 2, None).unwrap();
            assert!(density.log_density(&[first]).unwrap().is_finite(), "{x:?}");
            assert!(
                density.log_density(&[first + 0.5]).unwrap().is_finite(),
                "{x:?}"
            );
            assert!(density.leave_one_out(&[0]).iter().all(|l| !l.is_nan()));
        }
    }
}
