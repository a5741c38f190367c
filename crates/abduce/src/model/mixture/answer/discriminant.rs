//! The Gaussians of classes in discriminant analysis, and the discriminant directions: those in
//! which the variance between the classes is largest compared with the variance W within them
//! (Fisher 1936; Rao 1948). W is scaled to unit diagonal and whitened by its eigenvectors, without
//! those whose standard deviation is within a tolerance of 0; the discriminant directions are then
//! the principal directions of the class means. The linear scores
//!
//!   xᵀβ_k + γ_k = log π_k + log p(x | k) + constant
//!
//! are defined even if W is singular.

use crate::family::{Distribution, MultivariateStats, Statistics};
use crate::kernel::eigen::{Eigen, eigen};
use crate::model::mixture::FittedMixture;
use crate::{Error, Result};

/// The Gaussians of the classes, over all columns except the target.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassGaussians {
    /// The number of columns.
    pub columns: usize,
    /// The probabilities of the classes.
    pub weights: Vec<f64>,
    /// The weight of the rows of each class that have at least one value.
    pub rows: Vec<f64>,
    /// The mean of each class.
    pub means: Vec<Vec<f64>>,
    /// The covariance of each class in the model.
    pub covariances: Vec<Vec<f64>>,
    /// The sample covariance of the rows of each class.
    pub sample_covariances: Vec<Vec<f64>>,
    /// Whether these rows have no missing values.
    pub exact: bool,
}

/// The discriminant directions and the linear scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Directions {
    /// The directions, scaled to unit variance within the classes; the largest entry of each is
    /// positive.
    pub scalings: Vec<Vec<f64>>,
    /// For each possible direction, its share of the variance between the classes.
    pub ratios: Vec<f64>,
    /// β of each class.
    pub coefficients: Vec<Vec<f64>>,
    /// γ of each class.
    pub intercepts: Vec<f64>,
}

impl FittedMixture {
    /// The Gaussians of the classes; a constant column has variance 0.
    ///
    /// # Errors
    /// If a column has another family.
    pub fn class_gaussians(&self) -> Result<ClassGaussians> {
        let features: Vec<usize> = (0..self.schema.fields.len())
            .filter(|c| Some(*c) != self.target)
            .collect();
        let (d, k) = (features.len(), self.components());
        let position = |column: &usize| features.binary_search(column).ok();
        let mut all = ClassGaussians {
            columns: d,
            weights: self.parameters.weights.clone(),
            rows: self.statistics.weights.clone(),
            means: vec![vec![0.0; d]; k],
            covariances: vec![vec![0.0; d * d]; k],
            sample_covariances: vec![vec![0.0; d * d]; k],
            exact: self.is_exact(),
        };
        let not_gaussian = || Error::parameter("only Gaussian models have discriminants");
        for (number, leaf) in self.leaves.iter().enumerate() {
            let places: Option<Vec<usize>> = leaf.columns.iter().map(position).collect();
            let places = places.ok_or_else(not_gaussian)?;
            let m = places.len();
            for j in 0..k {
                match &self.parameters.leaves[number][j] {
                    Distribution::Multivariate(gaussian) => {
                        for (a, x) in places.iter().enumerate() {
                            all.means[j][*x] = gaussian.mean[a];
                            for (b, y) in places.iter().enumerate() {
                                all.covariances[j][y * d + x] = gaussian.covariance(a, b);
                            }
                        }
                    }
                    Distribution::Gaussian(constant) if leaf.fixed => {
                        all.means[j][places[0]] = constant.mean;
                    }
                    _ => return Err(not_gaussian()),
                }
                let Statistics::Multivariate(MultivariateStats::Full {
                    weight, scatter, ..
                }) = &self.statistics.leaves[number][j]
                else {
                    continue;
                };
                all.rows[j] = *weight;
                for (t, entry) in scatter.iter().enumerate().filter(|_| *weight > 0.0) {
                    all.sample_covariances[j][places[t / m] * d + places[t % m]] = entry / weight;
                }
            }
        }
        Ok(all)
    }
}

impl ClassGaussians {
    /// Σ_k w_k S_k, the weighted sum of the sample covariances.
    pub fn weighted_covariance(&self, weights: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.columns * self.columns];
        for (weight, covariance) in weights.iter().zip(&self.sample_covariances) {
            let sums = out.iter_mut().zip(covariance);
            sums.for_each(|(sum, entry)| *sum += weight * entry);
        }
        out
    }

    /// The covariance within the classes: the pooled sample covariance. If values are missing and
    /// all classes share a covariance, it is that one, because the statistics are then one EM step
    /// behind the parameters.
    pub fn within(&self) -> Vec<f64> {
        let total: f64 = self.rows.iter().sum();
        let shares: Vec<f64> = self.rows.iter().map(|rows| rows / total).collect();
        let pooled = self.weighted_covariance(&shares);
        match self.covariances.as_slice() {
            [first, others @ ..] if !self.exact && others.iter().all(|other| other == first) => {
                let d = self.columns;
                // A column that is constant within each class has only the variance floor.
                let varies = |c: usize| f64::from(u8::from(pooled[c * d + c] > 0.0));
                let cells = first.iter().enumerate();
                cells
                    .map(|(t, entry)| entry * varies(t % d) * varies(t / d))
                    .collect()
            }
            _ => pooled,
        }
    }

    /// The standard deviations within the classes, 1 instead of 0, and the correlations.
    fn deviations_and_correlations(&self) -> (Vec<f64>, Vec<f64>) {
        let d = self.columns;
        let mut within = self.within();
        let deviation = |c: usize| match within[c * d + c].sqrt() {
            0.0 => 1.0,
            deviation => deviation,
        };
        let deviations: Vec<f64> = (0..d).map(deviation).collect();
        for (t, entry) in within.iter_mut().enumerate() {
            *entry /= deviations[t % d] * deviations[t / d];
        }
        (deviations, within)
    }

    /// The discriminant directions, without those in which the standard deviation between the
    /// classes is at most the tolerance times the largest; the tolerance also applies to standard
    /// deviations within the classes.
    pub fn directions(&self, tolerance: f64) -> Directions {
        let (d, k) = (self.columns, self.means.len());
        let whitening = self.whitening(tolerance);
        let mean = |c: usize| {
            let terms = self.weights.iter().zip(&self.means);
            terms.map(|(weight, mean)| weight * mean[c]).sum::<f64>()
        };
        let overall: Vec<f64> = (0..d).map(mean).collect();
        let shifts: Vec<Vec<f64>> = self.means.iter().map(|m| minus(m, &overall)).collect();
        // Only ratios of the lengths of means count, so the number of rows does not matter.
        let whitened: Vec<Vec<f64>> = shifts
            .iter()
            .zip(&self.weights)
            .map(|(shift, weight)| {
                let coordinates = whitening
                    .iter()
                    .map(|axis| weight.sqrt() * dot(shift, axis));
                coordinates.collect()
            })
            .collect();
        let products = (0..k * k).map(|t| dot(&whitened[t % k], &whitened[t / k]));
        let between = eigen(&products.collect::<Vec<f64>>(), k);
        let variances: Vec<f64> = between.values.iter().map(|v| v.max(0.0)).collect();
        let lengths: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
        let total: f64 = variances.iter().sum();
        let possible = whitening.len().min(k.saturating_sub(1));
        let kept = (0..k).filter(|i| lengths[*i] > tolerance * lengths[0] && lengths[*i] > 0.0);
        let scalings: Vec<Vec<f64>> = kept
            .take(whitening.len())
            .map(|i| {
                let shares = &between.vectors[i * k..(i + 1) * k];
                let mut direction = vec![0.0; d];
                for (a, axis) in whitening.iter().enumerate() {
                    let coordinate: f64 = (0..k).map(|j| shares[j] * whitened[j][a]).sum();
                    for (sum, x) in direction.iter_mut().zip(axis) {
                        *sum += coordinate / lengths[i] * x;
                    }
                }
                with_positive_largest_entry(direction)
            })
            .collect();
        let (coefficients, intercepts) = self.linear_scores(&scalings, &shifts, &overall);
        Directions {
            scalings,
            ratios: variances.iter().take(possible).map(|v| v / total).collect(),
            coefficients,
            intercepts,
        }
    }

    /// The axes that whiten the covariance within the classes, without those whose standard
    /// deviation, with columns scaled to 1, is at most the tolerance.
    fn whitening(&self, tolerance: f64) -> Vec<Vec<f64>> {
        let d = self.columns;
        let (deviations, correlations) = self.deviations_and_correlations();
        let Eigen { values, vectors } = eigen(&correlations, d);
        let kept = (0..d).filter(|i| values[*i].max(0.0).sqrt() > tolerance);
        kept.map(|i| {
            let vector = vectors[i * d..(i + 1) * d].iter().zip(&deviations);
            let length = values[i].sqrt();
            vector.map(|(x, s)| x / s / length).collect()
        })
        .collect()
    }

    /// β and γ of each class, from the directions, the class means minus the overall mean, and the
    /// overall mean.
    fn linear_scores(
        &self,
        scalings: &[Vec<f64>],
        shifts: &[Vec<f64>],
        overall: &[f64],
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let scores = shifts.iter().zip(&self.weights).map(|(shift, weight)| {
            let coordinates: Vec<f64> = scalings.iter().map(|axis| dot(shift, axis)).collect();
            let coefficient = |c: usize| {
                let terms = coordinates.iter().zip(scalings);
                terms.map(|(a, axis)| a * axis[c]).sum()
            };
            let beta: Vec<f64> = (0..self.columns).map(coefficient).collect();
            let half_square = 0.5 * dot(&coordinates, &coordinates);
            let gamma = weight.ln() - half_square - dot(overall, &beta);
            (beta, gamma)
        });
        scores.unzip()
    }

    /// For each class, the variances along its principal axes, the largest first, and the axes, one
    /// after another.
    pub fn axes(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        let axes = self.covariances.iter().map(|covariance| {
            let Eigen { values, vectors } = eigen(covariance, self.columns);
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

/// The direction or its opposite, whichever has a positive largest entry.
fn with_positive_largest_entry(direction: Vec<f64>) -> Vec<f64> {
    let largest = direction
        .iter()
        .copied()
        .reduce(|a, b| if b.abs() > a.abs() { b } else { a });
    match largest {
        Some(largest) if largest < 0.0 => direction.into_iter().map(|x| -x).collect(),
        _ => direction,
    }
}
