//! The Gaussians of classes as discriminant analysis reads them, and the directions in which
//! the classes lie apart: those in which the variance between the classes, beside the variance W
//! within them, is largest (Fisher 1936; Rao 1948). W is scaled to unit diagonal and whitened by
//! its eigenvectors, without those whose standard deviation is within a tolerance of 0; the
//! directions are then the principal ones of the means. The linear scores that they give,
//!
//!   xᵀβ_k + γ_k = log π_k + log p(x | k) + (what is the same for all k),
//!
//! exist though W be singular.

use crate::family::{Distribution, MultivariateStats, Statistics};
use crate::kernel::eigen::{Eigen, eigen};
use crate::model::mixture::FittedMixture;
use crate::{Error, Result};

/// The Gaussians of classes over the columns besides the target, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassGaussians {
    /// The number of columns.
    pub columns: usize,
    /// The probabilities of the classes.
    pub weights: Vec<f64>,
    /// The weight of the rows of each class in which a cell was seen: an empty row says
    /// nothing about a covariance.
    pub rows: Vec<f64>,
    /// The mean of each class.
    pub means: Vec<Vec<f64>>,
    /// The covariance of each class, as the model has it.
    pub covariances: Vec<Vec<f64>>,
    /// The covariance of each class, as its own rows have it.
    pub own: Vec<Vec<f64>>,
    /// Whether nothing was hidden in those rows.
    pub exact: bool,
}

/// Where classes lie apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Directions {
    /// The directions, one after another, scaled to unit variance within the classes; the
    /// largest entry of each is positive.
    pub scalings: Vec<Vec<f64>>,
    /// The share of the variance between classes of every direction there can be.
    pub ratios: Vec<f64>,
    /// β of each class.
    pub coefficients: Vec<Vec<f64>>,
    /// γ of each class.
    pub intercepts: Vec<f64>,
}

impl FittedMixture {
    /// The Gaussians of the classes, where the model is made of nothing else; a constant column
    /// has no variance.
    ///
    /// # Errors
    /// If there are columns of another family.
    pub fn class_gaussians(&self) -> Result<ClassGaussians> {
        let features: Vec<usize> = (0..self.schema.fields.len())
            .filter(|c| Some(*c) != self.target)
            .collect();
        let (d, k) = (features.len(), self.components());
        let place = |column: &usize| features.binary_search(column).ok();
        let mut all = ClassGaussians {
            columns: d,
            weights: self.parameters.weights.clone(),
            rows: self.statistics.weights.clone(),
            means: vec![vec![0.0; d]; k],
            covariances: vec![vec![0.0; d * d]; k],
            own: vec![vec![0.0; d * d]; k],
            exact: self.is_exact(),
        };
        let other = || Error::parameter("only a model of Gaussians has discriminants");
        for (number, leaf) in self.leaves.iter().enumerate() {
            let places: Option<Vec<usize>> = leaf.columns.iter().map(place).collect();
            let places = places.ok_or_else(other)?;
            let m = places.len();
            for j in 0..k {
                match &self.parameters.leaves[number][j] {
                    Distribution::Multivariate(own) => {
                        for (a, x) in places.iter().enumerate() {
                            all.means[j][*x] = own.mean[a];
                            for (b, y) in places.iter().enumerate() {
                                all.covariances[j][y * d + x] = own.covariance(a, b);
                            }
                        }
                    }
                    Distribution::Gaussian(own) if leaf.fixed => {
                        all.means[j][places[0]] = own.mean;
                    }
                    _ => return Err(other()),
                }
                let Statistics::Multivariate(MultivariateStats::Full {
                    weight, scatter, ..
                }) = &self.statistics.leaves[number][j]
                else {
                    continue;
                };
                all.rows[j] = *weight;
                for (t, entry) in scatter.iter().enumerate().filter(|_| *weight > 0.0) {
                    all.own[j][places[t / m] * d + places[t % m]] = entry / weight;
                }
            }
        }
        Ok(all)
    }
}

impl ClassGaussians {
    /// Σ_k w_k S_k, the classes' own covariances mixed.
    pub fn mixed(&self, weights: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.columns * self.columns];
        for (weight, own) in weights.iter().zip(&self.own) {
            let sums = out.iter_mut().zip(own);
            sums.for_each(|(sum, entry)| *sum += weight * entry);
        }
        out
    }

    /// The covariance within the classes, each row of equal weight. Where something was hidden it
    /// is the one that all share, if they do: statistics are then a step of EM away from the
    /// parameters, by which a model answers.
    pub fn within(&self) -> Vec<f64> {
        let total: f64 = self.rows.iter().sum();
        let shares: Vec<f64> = self.rows.iter().map(|rows| rows / total).collect();
        let of_rows = self.mixed(&shares);
        match self.covariances.as_slice() {
            [first, others @ ..] if !self.exact && others.iter().all(|own| own == first) => {
                let d = self.columns;
                // What does not vary within a class has no variance but the least that is kept.
                let varies = |c: usize| f64::from(u8::from(of_rows[c * d + c] > 0.0));
                let cells = first.iter().enumerate();
                cells
                    .map(|(t, own)| own * varies(t % d) * varies(t / d))
                    .collect()
            }
            _ => of_rows,
        }
    }

    /// Standard deviations within the classes, 1 where there is none, and the correlations.
    fn scaled(&self) -> (Vec<f64>, Vec<f64>) {
        let d = self.columns;
        let mut within = self.within();
        let deviation = |c: usize| match within[c * d + c].sqrt() {
            0.0 => 1.0,
            own => own,
        };
        let deviations: Vec<f64> = (0..d).map(deviation).collect();
        for (t, entry) in within.iter_mut().enumerate() {
            *entry /= deviations[t % d] * deviations[t / d];
        }
        (deviations, within)
    }

    /// The directions in which the classes lie apart, without those whose standard deviation,
    /// beside that of single columns, is not above the tolerance.
    pub fn directions(&self, tolerance: f64) -> Directions {
        let (d, k) = (self.columns, self.means.len());
        let (deviations, correlations) = self.scaled();
        let Eigen { values, vectors } = eigen(&correlations, d);
        let whitening: Vec<Vec<f64>> = (0..d)
            .filter(|i| values[*i].max(0.0).sqrt() > tolerance)
            .map(|i| {
                let vector = vectors[i * d..(i + 1) * d].iter().zip(&deviations);
                let length = values[i].sqrt();
                vector.map(|(x, s)| x / s / length).collect()
            })
            .collect();
        let mean = |c: usize| {
            let terms = self.weights.iter().zip(&self.means);
            terms.map(|(weight, mean)| weight * mean[c]).sum::<f64>()
        };
        let middle: Vec<f64> = (0..d).map(mean).collect();
        let shifts: Vec<Vec<f64>> = self.means.iter().map(|m| minus(m, &middle)).collect();
        // Only ratios of the lengths of means count, so that the number of rows does not.
        let whitened: Vec<Vec<f64>> = shifts
            .iter()
            .zip(&self.weights)
            .map(|(shift, weight)| {
                let coordinates = whitening.iter().map(|own| weight.sqrt() * dot(shift, own));
                coordinates.collect()
            })
            .collect();
        let products = (0..k * k).map(|t| dot(&whitened[t % k], &whitened[t / k]));
        let between = eigen(&products.collect::<Vec<f64>>(), k);
        let lengths: Vec<f64> = between.values.iter().map(|v| v.max(0.0).sqrt()).collect();
        let total: f64 = between.values.iter().map(|v| v.max(0.0)).sum();
        let ratios = between.values.iter().map(|v| v.max(0.0) / total);
        let ratios = ratios
            .take(whitening.len().min(k.saturating_sub(1)))
            .collect();
        let kept = (0..k).filter(|i| lengths[*i] > tolerance * lengths[0] && lengths[*i] > 0.0);
        let scalings: Vec<Vec<f64>> = kept
            .take(whitening.len())
            .map(|i| {
                let shares = &between.vectors[i * k..(i + 1) * k];
                let mut direction = vec![0.0; d];
                for (a, own) in whitening.iter().enumerate() {
                    let along: f64 = (0..k).map(|j| shares[j] * whitened[j][a]).sum();
                    for (sum, x) in direction.iter_mut().zip(own) {
                        *sum += along / lengths[i] * x;
                    }
                }
                upright(direction)
            })
            .collect();
        let mut coefficients = Vec::with_capacity(k);
        let mut intercepts = Vec::with_capacity(k);
        for (shift, weight) in shifts.iter().zip(&self.weights) {
            let along: Vec<f64> = scalings.iter().map(|own| dot(shift, own)).collect();
            let of = |c: usize| along.iter().zip(&scalings).map(|(a, own)| a * own[c]).sum();
            let own: Vec<f64> = (0..d).map(of).collect();
            intercepts.push(weight.ln() - 0.5 * dot(&along, &along) - dot(&middle, &own));
            coefficients.push(own);
        }
        Directions {
            scalings,
            ratios,
            coefficients,
            intercepts,
        }
    }

    /// The variances of each class along its principal axes, the largest first, and the axes, one
    /// after another.
    pub fn axes(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        let axes = self.covariances.iter().map(|own| {
            let Eigen { values, vectors } = eigen(own, self.columns);
            (values, vectors)
        });
        axes.collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// A direction with its largest entry positive, since either way is as good.
fn upright(direction: Vec<f64>) -> Vec<f64> {
    let largest = direction
        .iter()
        .copied()
        .reduce(|a, b| if b.abs() > a.abs() { b } else { a });
    match largest {
        Some(largest) if largest < 0.0 => direction.into_iter().map(|x| -x).collect(),
        _ => direction,
    }
}
