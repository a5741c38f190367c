//! Kernel density estimation: a mixture of equal bumps, one on every point,
//!
//!   f(x) = Σᵢ wᵢ K(L⁻¹(x − xᵢ)) / (|L| Σᵢ wᵢ),  H = L Lᵀ the bandwidth.
//!
//! Points are whitened by L once, so that a query needs plain distances only, and
//! a tree sums them within a stated tolerance.

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
    /// Shared, as the tree is, between copies.
    points: Arc<Points>,
    kernel: Kernel,
    /// Columns that the kernel has beside those of the points.
    hidden: usize,
    bandwidth: Bandwidth,
    tolerance: Tolerance,
    whitening: Whitening,
    profile: Profile,
    tree: OnceLock<Arc<Tree>>,
}

impl PartialEq for KernelDensity {
    /// All else follows from these.
    fn eq(&self, other: &Self) -> bool {
        (&self.points, self.kernel, self.hidden, &self.bandwidth)
            == (&other.points, other.kernel, other.hidden, &other.bandwidth)
            && self.tolerance == other.tolerance
    }
}

/// What is told apart from what follows: the fields of a file.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    kernel: Kernel,
    bandwidth: Bandwidth,
    columns: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
}

impl From<KernelDensity> for Stored {
    fn from(density: KernelDensity) -> Stored {
        let (columns, weights) = density.points.to_columns();
        Stored {
            kernel: density.kernel,
            bandwidth: density.bandwidth,
            columns,
            weights,
        }
    }
}

impl TryFrom<Stored> for KernelDensity {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<KernelDensity> {
        let points = Points::from_columns(&stored.columns, stored.weights.as_deref())?;
        KernelDensity::with_bandwidth(points, stored.kernel, stored.bandwidth)
    }
}

/// x ↦ L⁻¹(x − origin); the origin keeps the digits of points far from zero.
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
        let wrong = || Error::parameter("the bandwidth must be positive in every direction");
        let expected = match bandwidth {
            Bandwidth::Shared(_) => true,
            Bandwidth::Columns(widths) => widths.len() == d,
            Bandwidth::Matrix(matrix) => matrix.len() == d * d,
        };
        if !expected {
            return Err(Error::parameter("the bandwidth is not for so many columns"));
        }
        let (inverse, log_determinant) = match bandwidth {
            Bandwidth::Matrix(matrix) => {
                let factor = cholesky(matrix, d).map_err(|_| wrong())?;
                let logarithm = log_diagonal(&factor, d);
                (Inverse::Full(invert_lower(&factor, d)), logarithm)
            }
            _ => {
                let widths = bandwidth.widths(d);
                if !widths
                    .iter()
                    .all(|width| *width > 0.0 && (1.0 / width).is_finite())
                {
                    return Err(wrong());
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

    /// A bound on the coordinates of all points, which must not overflow when
    /// squared.
    fn farthest(&self, points: &Points) -> f64 {
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

    fn place(&self, x: &[f64]) -> Vec<f64> {
        let gap: Vec<f64> = x.iter().zip(&self.origin).map(|(x, o)| x - o).collect();
        self.direction(&gap)
    }

    fn direction(&self, gap: &[f64]) -> Vec<f64> {
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
    /// The density of points with a bandwidth chosen by a rule.
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
    /// If the bandwidth is not for so many columns, not positive, or too small
    /// for how far the points lie apart.
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
        let farthest = density.whitening.farthest(&density.points);
        if farthest.is_nan() || farthest > 1e150 {
            return Err(Error::parameter(
                "the bandwidth is too small for how far the points lie apart",
            ));
        }
        Ok(density)
    }

    /// A single Gaussian, of which every width makes a density.
    pub(crate) fn on_one_point(place: f64, width: f64) -> KernelDensity {
        let width = width.clamp(1e-150, 1e150);
        let points = Points::one(place);
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

    /// The same density, answering to another tolerance.
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

    /// The density of some of the columns, the others integrated out.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn marginal(&self, columns: &[usize]) -> Result<KernelDensity> {
        let d = self.points.columns();
        if columns.is_empty() || columns.iter().any(|column| *column >= d) {
            return Err(Error::parameter("the density has no such column"));
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

    /// The natural logarithm of the density at a place. It is −∞ where a kernel of
    /// bounded support does not reach, and otherwise as finite as the squared
    /// distances are: nothing underflows.
    ///
    /// # Errors
    /// If the place has another number of columns.
    pub fn log_density(&self, place: &[f64]) -> Result<f64> {
        Ok(self.log_densities(&[place])?[0])
    }

    /// [`log_density`](Self::log_density) at many places, in parallel.
    ///
    /// # Errors
    /// If a place has another number of columns.
    pub fn log_densities<Q: AsRef<[f64]> + Sync>(&self, places: &[Q]) -> Result<Vec<f64>> {
        let columns = self.points.columns();
        if places.iter().any(|place| place.as_ref().len() != columns) {
            return Err(Error::parameter(format!(
                "a place must have {columns} numbers"
            )));
        }
        let tree = self.tree();
        let constant = self.log_constant() - self.points.weight().ln();
        let tolerance = (
            self.tolerance.absolute.ln() - constant,
            self.tolerance.relative,
        );
        let one = |place: &Q| {
            let place = self.whitening.place(place.as_ref());
            // So far away that the distance has no number.
            if !place.iter().all(|x| x.is_finite()) {
                return f64::NEG_INFINITY;
            }
            constant + tree.log_sum(&self.profile, &place, tolerance, None)
        };
        Ok(places.par_iter().with_min_len(16).map(one).collect())
    }

    /// The logarithm of the density that all other rows give to each of these: a
    /// point of weight 2 is two rows, of which one stays. A point of weight 1 or less
    /// is left out whole.
    pub fn leave_one_out(&self, points: &[usize]) -> Vec<f64> {
        self.without(points, 1.0)
    }

    /// The logarithm of the density at each of these points once so much of its
    /// weight, or all if it has less, is left out.
    pub(super) fn without(&self, points: &[usize], weight: f64) -> Vec<f64> {
        let tree = self.tree();
        let total = self.points.weight();
        let one = |point: &usize| {
            let weight = self.points.weights()[*point].min(weight);
            let constant = self.log_constant() - (total - weight).ln();
            let place = self.whitening.place(self.points.row(*point));
            let tolerance = (
                self.tolerance.absolute.ln() - constant,
                self.tolerance.relative,
            );
            let sum = tree.log_sum(&self.profile, &place, tolerance, Some((*point, weight)));
            // A single point has no others.
            if sum == f64::NEG_INFINITY {
                sum
            } else {
                constant + sum
            }
        };
        points.par_iter().with_min_len(16).map(one).collect()
    }

    /// The logarithm of each point's share in the density at a place, up to a
    /// constant that is the same for all.
    pub(crate) fn log_shares(&self, place: &[f64]) -> Vec<f64> {
        let place = self.whitening.place(place);
        let share = |(row, weight): (&[f64], &f64)| {
            let row = self.whitening.place(row);
            let square: f64 = row.iter().zip(&place).map(|(a, b)| (a - b) * (a - b)).sum();
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
        self.whitening.direction(offset).iter().map(|x| x * x).sum()
    }

    /// The logarithm of what turns the profile into the kernel.
    pub(super) fn log_constant(&self) -> f64 {
        self.profile.log_constant - self.whitening.log_determinant
    }

    pub(crate) fn is_gaussian(&self) -> bool {
        self.kernel == Kernel::Gaussian
    }

    fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| {
            let whitened = self.points.map(|row| self.whitening.place(row));
            let tree = Tree::new(&whitened);
            Arc::new(match self.is_gaussian() {
                true => tree.with_expansions(),
                false => tree,
            })
        })
    }
}

#[cfg(test)]
#[path = "kernel_density_laws.rs"]
mod laws;
