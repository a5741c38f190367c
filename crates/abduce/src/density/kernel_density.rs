//! Kernel density estimation: the average of a kernel centred on every point,
//!
//!   f(x) = Σᵢ wᵢ K(L⁻¹(x − xᵢ)) / (|L| Σᵢ wᵢ),  H = L Lᵀ the bandwidth.
//!
//! The points are whitened by L once, so that kernels are functions of Euclidean
//! distance, and a tree sums them within a stated tolerance.

use super::bandwidth::{Bandwidth, Selection};
use super::kernel::{Kernel, Profile};
use super::points::Points;
use super::sum::Tolerance;
use super::tree::Tree;
use crate::kernel::linear::{Square, cholesky, invert_lower, log_diagonal};
use crate::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// A kernel density.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct KernelDensity {
    /// Shared between clones, as the tree is.
    points: Arc<Points>,
    kernel: Kernel,
    /// The number of columns that the kernel is integrated over.
    hidden: usize,
    bandwidth: Bandwidth,
    tolerance: Tolerance,
    whitening: Whitening,
    profile: Profile,
    tree: OnceLock<Arc<Tree>>,
}

impl PartialEq for KernelDensity {
    /// All other fields are derived from these.
    fn eq(&self, other: &Self) -> bool {
        (&self.points, self.kernel, self.hidden, &self.bandwidth)
            == (&other.points, other.kernel, other.hidden, &other.bandwidth)
            && self.tolerance == other.tolerance
    }
}

/// Serialized form; all other fields are derived from these on load.
#[derive(Serialize, Deserialize)]
struct Stored {
    kernel: Kernel,
    bandwidth: Bandwidth,
    #[serde(flatten)]
    points: Points,
}

impl From<KernelDensity> for Stored {
    fn from(density: KernelDensity) -> Stored {
        Stored {
            kernel: density.kernel,
            bandwidth: density.bandwidth,
            points: Arc::unwrap_or_clone(density.points),
        }
    }
}

impl TryFrom<Stored> for KernelDensity {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<KernelDensity> {
        KernelDensity::with_bandwidth(stored.points, stored.kernel, stored.bandwidth)
    }
}

/// x ↦ L⁻¹(x − origin). Subtracting the origin avoids cancellation far from zero.
#[derive(Clone, Debug)]
struct Whitening {
    origin: Vec<f64>,
    inverse: Inverse,
    /// ln |L|.
    log_determinant: f64,
}

#[derive(Clone, Debug)]
enum Inverse {
    Diagonal(Vec<f64>),
    Full(Square),
}

impl Whitening {
    fn new(bandwidth: &Bandwidth, origin: Vec<f64>) -> Result<Whitening> {
        let d = origin.len();
        let not_positive = || Error::parameter("the bandwidth must be positive in every direction");
        let fits = match bandwidth {
            Bandwidth::Shared(_) => true,
            Bandwidth::Columns(widths) => widths.len() == d,
            Bandwidth::Matrix(matrix) => matrix.len() == d * d,
        };
        if !fits {
            let message = format!("the bandwidth must be one for {d} columns");
            return Err(Error::parameter(message));
        }
        let (inverse, log_determinant) = match bandwidth {
            Bandwidth::Matrix(matrix) => {
                let factor = cholesky(matrix, d).map_err(|_| not_positive())?;
                let logarithm = log_diagonal(&factor, d);
                (Inverse::Full(invert_lower(&factor, d)), logarithm)
            }
            _ => {
                let widths = bandwidth.widths(d);
                if !widths
                    .iter()
                    .all(|width| *width > 0.0 && (1.0 / width).is_finite())
                {
                    return Err(not_positive());
                }
                let logarithm = widths.iter().map(|width| width.ln()).sum();
                let inverses = widths.iter().map(|width| 1.0 / width).collect();
                (Inverse::Diagonal(inverses), logarithm)
            }
        };
        Ok(Whitening {
            origin,
            inverse,
            log_determinant,
        })
    }

    /// An upper bound on the whitened coordinates of all points.
    fn largest_coordinate(&self, points: &Points) -> f64 {
        let mut gaps = vec![0.0; self.origin.len()];
        for row in points.rows() {
            for ((gap, x), origin) in gaps.iter_mut().zip(row).zip(&self.origin) {
                *gap = f64::max(*gap, (x - origin).abs());
            }
        }
        match &self.inverse {
            Inverse::Diagonal(inverses) => inverses.iter().zip(gaps).map(|(i, gap)| i * gap).sum(),
            Inverse::Full(inverse) => {
                let columns = inverse.chunks_exact(gaps.len()).zip(&gaps);
                let sum = |(column, gap): (&[f64], &f64)| -> f64 {
                    column.iter().map(|entry| entry.abs() * gap).sum()
                };
                columns.map(sum).sum()
            }
        }
    }

    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let gap: Vec<f64> = x.iter().zip(&self.origin).map(|(x, o)| x - o).collect();
        self.apply_to_difference(&gap)
    }

    fn apply_to_difference(&self, gap: &[f64]) -> Vec<f64> {
        match &self.inverse {
            Inverse::Diagonal(inverses) => gap.iter().zip(inverses).map(|(g, i)| g * i).collect(),
            Inverse::Full(inverse) => {
                let d = gap.len();
                let row = |i: usize| (0..=i).map(|j| inverse[j * d + i] * gap[j]).sum();
                (0..d).map(row).collect()
            }
        }
    }
}

impl KernelDensity {
    /// The density of points, with a bandwidth chosen by a rule.
    ///
    /// ```
    /// use abduce::density::{Kernel, KernelDensity, Points, Selection};
    /// let points = Points::from_columns(&[vec![-1.0, 0.0, 1.0]], None)?;
    /// let density = KernelDensity::fit(points, Kernel::Gaussian, &Selection::default())?;
    /// // SciPy: gaussian_kde([-1, 0, 1]).logpdf(0)
    /// assert!((density.log_density(&[0.0])? - -1.14521276).abs() < 1e-8);
    /// # Ok::<(), abduce::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rule does not apply.
    pub fn fit(points: Points, kernel: Kernel, selection: &Selection) -> Result<KernelDensity> {
        let bandwidth = selection.bandwidth(&points, kernel, None)?;
        KernelDensity::with_bandwidth(points, kernel, bandwidth)
    }

    /// The density of points with a given bandwidth.
    ///
    /// # Errors
    /// If the bandwidth is for another number of columns, not positive, or too small for
    /// the distances between the points.
    pub fn with_bandwidth(
        points: Points,
        kernel: Kernel,
        bandwidth: Bandwidth,
    ) -> Result<KernelDensity> {
        let whitening = Whitening::new(&bandwidth, points.means())?;
        let density = KernelDensity {
            profile: Profile::new(kernel, points.columns(), 0),
            tolerance: Tolerance::default(),
            tree: OnceLock::new(),
            hidden: 0,
            points: Arc::new(points),
            kernel,
            bandwidth,
            whitening,
        };
        let largest = density.whitening.largest_coordinate(&density.points);
        // Squares of larger coordinates could overflow.
        if largest.is_nan() || largest > 1e150 {
            return Err(Error::parameter(
                "the bandwidth is too small for the distances between the points",
            ));
        }
        Ok(density)
    }

    /// A Gaussian around one point. Extreme widths are clamped, so this cannot fail.
    pub(crate) fn on_one_point(mean: f64, width: f64) -> KernelDensity {
        let width = width.clamp(1e-150, 1e150);
        let points = Points::single(mean);
        KernelDensity {
            profile: Profile::new(Kernel::Gaussian, 1, 0),
            tolerance: Tolerance::default(),
            tree: OnceLock::new(),
            hidden: 0,
            kernel: Kernel::Gaussian,
            bandwidth: Bandwidth::Shared(width),
            whitening: Whitening {
                origin: points.means(),
                inverse: Inverse::Diagonal(vec![1.0 / width]),
                log_determinant: width.ln(),
            },
            points: Arc::new(points),
        }
    }

    /// The same density with another tolerance.
    pub fn with_tolerance(self, tolerance: Tolerance) -> KernelDensity {
        KernelDensity { tolerance, ..self }
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The bandwidth.
    pub fn bandwidth(&self) -> &Bandwidth {
        &self.bandwidth
    }

    /// The marginal density of some of the columns.
    ///
    /// # Errors
    /// If no column is given, or one does not exist.
    pub fn marginal(&self, columns: &[usize]) -> Result<KernelDensity> {
        let d = self.points.columns();
        if columns.is_empty() || columns.iter().any(|column| *column >= d) {
            return Err(Error::parameter("there is no such column in the density"));
        }
        let points = self.points.select(columns);
        let bandwidth = self.bandwidth.select(d, columns);
        let density = KernelDensity::with_bandwidth(points, self.kernel, bandwidth)?;
        let hidden = self.hidden + d - columns.len();
        Ok(KernelDensity {
            profile: Profile::new(self.kernel, columns.len(), hidden),
            hidden,
            tolerance: self.tolerance,
            ..density
        })
    }

    /// The natural logarithm of the density at a point. It is −∞ outside the support of
    /// a bounded kernel; elsewhere it does not underflow.
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
        let tree = self.tree();
        let constant = self.log_constant() - self.points.weight().ln();
        let tolerance = (
            self.tolerance.absolute.ln() - constant,
            self.tolerance.relative,
        );
        let log_density = |query: &Q| {
            let query = self.whitening.apply(query.as_ref());
            // Distances from so far away would overflow.
            if !query.iter().all(|x| x.is_finite()) {
                return f64::NEG_INFINITY;
            }
            constant + tree.log_sum(&self.profile, &query, tolerance, None)
        };
        let queries = queries.par_iter().with_min_len(16);
        Ok(queries.map(log_density).collect())
    }

    /// The leave-one-out log-density at each of these points. Leaving out one row lowers
    /// the weight of a point by 1, or to 0 if it is less.
    pub fn leave_one_out(&self, points: &[usize]) -> Vec<f64> {
        let tree = self.tree();
        let total = self.points.weight();
        let log_density = |point: &usize| {
            let weight = self.points.weights()[*point].min(1.0);
            let constant = self.log_constant() - (total - weight).ln();
            let query = self.whitening.apply(self.points.row(*point));
            let tolerance = (
                self.tolerance.absolute.ln() - constant,
                self.tolerance.relative,
            );
            let sum = tree.log_sum(&self.profile, &query, tolerance, Some((*point, weight)));
            // Without other points, the constant is NaN.
            if sum == f64::NEG_INFINITY {
                sum
            } else {
                constant + sum
            }
        };
        let points = points.par_iter().with_min_len(16);
        points.map(log_density).collect()
    }

    /// The logarithm of each point's share of the density at `query`, up to a common
    /// constant.
    pub(crate) fn log_shares(&self, query: &[f64]) -> Vec<f64> {
        let query = self.whitening.apply(query);
        let share = |(row, weight): (&[f64], &f64)| {
            let row = self.whitening.apply(row);
            let square: f64 = row.iter().zip(&query).map(|(a, b)| (a - b) * (a - b)).sum();
            let square = if square.is_nan() {
                f64::INFINITY
            } else {
                square
            };
            weight.ln() + self.profile.log_value(square)
        };
        let points = self.points.rows().zip(self.points.weights());
        points.map(share).collect()
    }

    /// |L⁻¹ offset|².
    pub(super) fn squared_length(&self, offset: &[f64]) -> f64 {
        let whitened = self.whitening.apply_to_difference(offset);
        whitened.iter().map(|x| x * x).sum()
    }

    /// The logarithm of the factor between the profile and the kernel.
    pub(super) fn log_constant(&self) -> f64 {
        self.profile.log_constant - self.whitening.log_determinant
    }

    pub(crate) fn is_gaussian(&self) -> bool {
        self.kernel == Kernel::Gaussian
    }

    fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| {
            let whitened = self.points.map(|row| self.whitening.apply(row));
            let tree = Tree::new(&whitened);
            Arc::new(if self.is_gaussian() {
                tree.with_expansions()
            } else {
                tree
            })
        })
    }
}

#[cfg(test)]
#[path = "kernel_density_laws.rs"]
mod laws;
