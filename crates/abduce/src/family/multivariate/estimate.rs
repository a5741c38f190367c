//! Posterior modes of the Gaussians of components, under a prior that is normal about a centre
//! for the means and inverse Wishart for the covariances,
//!
//!   p(μ, Σ) ∝ |Σ|^{−m/2} exp(−tr(ΨΣ⁻¹)/2) · N(μ; c, Σ/κ),
//!
//! so that the prior adds m rows with the scatter Ψ, and κ rows at c (Fraley & Raftery, *Journal
//! of Classification* 24, 2007). It is counted once for a covariance that all components share.

use crate::family::multivariate::structure::{Apart, Structure, Whole, matrices, variances};
use crate::family::multivariate::{
    Covariance, MultivariateGaussian, MultivariatePrior, MultivariateStats,
};
use crate::family::{GaussianStats, Stats, merged, nothing_seen};
use crate::kernel::linear::{Square, cholesky, gram, gram_diagonal, invert_lower, log_diagonal};
use crate::{Error, Result};

impl MultivariateGaussian {
    /// The estimates of components that all have rows. Where there is more than one maximum, the
    /// search starts at the Gaussians `before`.
    ///
    /// # Errors
    /// If a component has no rows, or too few for a covariance that is not singular.
    pub fn estimates(
        structure: Structure,
        stats: &[&MultivariateStats],
        prior: &MultivariatePrior,
        before: Option<&[&MultivariateGaussian]>,
    ) -> Result<Vec<Self>> {
        let share = if structure.is_shared() {
            1.0 / stats.len().max(1) as f64
        } else {
            1.0
        };
        if structure.is_correlated() {
            Self::correlated_estimates(structure, stats, prior, share, before)
        } else {
            Self::independent_estimates(structure, stats, prior, share)
        }
    }

    /// Estimates whose covariances are diagonal or spherical; each component gets `share` of the
    /// prior.
    fn independent_estimates(
        structure: Structure,
        stats: &[&MultivariateStats],
        prior: &MultivariatePrior,
        share: f64,
    ) -> Result<Vec<Self>> {
        let order = order(stats)?;
        let mut means = Vec::with_capacity(stats.len());
        let mut all = Vec::with_capacity(stats.len());
        for component in stats {
            let MultivariateStats::Columns { columns, .. } = component else {
                return Err(another_structure());
            };
            means.push((0..order).map(|c| prior.mean(&columns[c], c)).collect());
            all.push(prior.apart(columns, share));
        }
        let added = prior.added_to(structure);
        let estimates = variances(structure, &all)?.into_iter().zip(means);
        let estimates = estimates.map(|(variances, mean)| MultivariateGaussian {
            covariance: if structure.is_spherical() {
                Covariance::Spherical(added.variance(variances[0]))
            } else {
                let variances = variances.iter().map(|x| added.variance(*x));
                Covariance::Diagonal(variances.collect())
            },
            mean,
        });
        Ok(estimates.collect())
    }

    /// Estimates with whole covariance matrices; each component gets `share` of the prior.
    fn correlated_estimates(
        structure: Structure,
        stats: &[&MultivariateStats],
        prior: &MultivariatePrior,
        share: f64,
        before: Option<&[&MultivariateGaussian]>,
    ) -> Result<Vec<Self>> {
        let order = order(stats)?;
        let mut means = Vec::with_capacity(stats.len());
        let mut all = Vec::with_capacity(stats.len());
        for component in stats {
            let (mean, whole) = prior.whole(component, share)?;
            means.push(mean);
            all.push(whole);
        }
        // Only a search starts at the previous covariances.
        let before = before.filter(|_| structure.is_searched());
        let before: Option<Vec<Square>> = before.map(|before| {
            let matrix = |gaussian: &&MultivariateGaussian| {
                (0..order * order)
                    .map(|t| gaussian.covariance(t % order, t / order))
                    .collect()
            };
            before.iter().map(matrix).collect()
        });
        let added = prior.added_to(structure);
        let mut found = matrices(structure, order, &all, before.as_deref())?;
        for matrix in &mut found {
            added.to(matrix, order);
        }
        let estimates = found.into_iter().zip(means);
        let estimates = estimates.map(|(matrix, mean)| MultivariateGaussian {
            mean,
            covariance: Covariance::Full(matrix),
        });
        Ok(estimates.collect())
    }
}

/// What is added to an estimated covariance: (1 − s)Σ + sI + rI.
#[derive(Clone, Copy)]
struct Added {
    ridge: f64,
    unit_share: f64,
}

impl Added {
    fn variance(self, variance: f64) -> f64 {
        (1.0 - self.unit_share) * variance + self.unit_share + self.ridge
    }

    fn to(self, matrix: &mut [f64], order: usize) {
        for (j, column) in matrix.chunks_exact_mut(order.max(1)).enumerate() {
            let variance = self.variance(column[j]);
            column.iter_mut().for_each(|x| *x *= 1.0 - self.unit_share);
            column[j] = variance;
        }
    }
}

/// The number of columns.
fn order(stats: &[&MultivariateStats]) -> Result<usize> {
    match stats.first() {
        Some(MultivariateStats::Full { mean, .. }) => Ok(mean.len()),
        Some(MultivariateStats::Columns { columns, .. }) => Ok(columns.len()),
        None => Err(nothing_seen()),
    }
}

fn another_structure() -> Error {
    Error::parameter("statistics of different covariance structures")
}

impl MultivariatePrior {
    fn added_to(&self, structure: Structure) -> Added {
        match structure {
            Structure::Identity => Added {
                ridge: 0.0,
                unit_share: 0.0,
            },
            _ => Added {
                ridge: self.ridge,
                unit_share: self.unit_share,
            },
        }
    }

    /// The diagonal of Ψ.
    fn of(&self, column: usize, order: usize) -> f64 {
        let place = if self.scatter.len() == order {
            column
        } else {
            column * (order + 1)
        };
        self.scatter.get(place).copied().unwrap_or(0.0)
    }

    pub(super) fn center_of(&self, column: usize) -> f64 {
        self.center.get(column).copied().unwrap_or(0.0)
    }

    /// The number of pseudo-rows that the prior of the mean adds to the covariance.
    pub(super) fn mean_rows(&self) -> f64 {
        f64::from(u8::from(self.center_rows > 0.0))
    }

    pub(super) fn mean(&self, column_stats: &GaussianStats, column: usize) -> f64 {
        self.shrunk(
            column_stats.mean,
            column_stats.weight,
            self.center_of(column),
        )
    }

    /// The posterior mode of a mean.
    pub(super) fn shrunk(&self, mean: f64, weight: f64, center: f64) -> f64 {
        if self.center_rows > 0.0 {
            (weight * mean + self.center_rows * center) / (weight + self.center_rows)
        } else {
            mean
        }
    }

    /// The weight of the squared distance between the mean and the prior's.
    pub(super) fn between(&self, weight: f64) -> f64 {
        if self.center_rows > 0.0 {
            self.center_rows * weight / (self.center_rows + weight)
        } else {
            0.0
        }
    }

    /// The same prior without its mean.
    pub(super) fn of_covariance(&self) -> MultivariatePrior {
        MultivariatePrior {
            center: Vec::new(),
            center_rows: 0.0,
            ..self.clone()
        }
    }

    fn apart(&self, columns: &[GaussianStats], share: f64) -> Apart {
        let order = columns.len();
        let (mut weights, mut scatters) = (Vec::new(), Vec::new());
        for (c, column_stats) in columns.iter().enumerate() {
            let shift = column_stats.mean - self.center_of(c);
            weights.push(column_stats.weight + share * self.rows + self.mean_rows());
            scatters.push(
                column_stats.scatter
                    + share * self.of(c, order)
                    + self.between(column_stats.weight) * shift * shift,
            );
        }
        Apart { weights, scatters }
    }

    fn whole(&self, stats: &MultivariateStats, share: f64) -> Result<(Vec<f64>, Whole)> {
        let MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } = stats
        else {
            return Err(another_structure());
        };
        if *weight <= 0.0 {
            return Err(nothing_seen());
        }
        let d = mean.len();
        let mut scatter = scatter.clone();
        if self.scatter.len() == d * d {
            let pairs = scatter.iter_mut().zip(&self.scatter);
            pairs.for_each(|(s, p)| *s += share * p);
        } else {
            (0..d).for_each(|c| scatter[c * d + c] += share * self.of(c, d));
        }
        let between = self.between(*weight);
        if between > 0.0 {
            let shift: Vec<f64> = (0..d).map(|c| mean[c] - self.center_of(c)).collect();
            for (t, entry) in scatter.iter_mut().enumerate() {
                *entry += between * shift[t % d] * shift[t / d];
            }
        }
        let mean = (0..d).map(|c| self.shrunk(mean[c], *weight, self.center_of(c)));
        let whole = Whole {
            weight: weight + share * self.rows + self.mean_rows(),
            scatter,
        };
        Ok((mean.collect(), whole))
    }

    /// The log-density of the prior of the covariance, and of the mean given that, up to a
    /// constant.
    pub(super) fn log_density(&self, of: &MultivariateGaussian) -> (f64, f64) {
        if self.scatter.is_empty() && self.rows == 0.0 && self.center_rows <= 0.0 {
            return (0.0, 0.0);
        }
        let d = of.order();
        let (log_determinant, trace, distance) = match &of.covariance {
            Covariance::Full(matrix) => match cholesky(matrix, d) {
                Ok(factor) => self.terms_of_matrix(&factor, &of.mean),
                Err(_) => return (f64::NEG_INFINITY, 0.0),
            },
            _ => self.terms_of_variances(of),
        };
        let covariance = -0.5 * (self.rows * log_determinant + trace);
        let mut mean = 0.0;
        if self.center_rows > 0.0 {
            mean = -0.5 * (log_determinant + self.center_rows * distance);
        }
        (covariance, mean)
    }

    /// ln |Σ|, tr(ΨΣ⁻¹) and, if the prior of the mean is not flat, the squared distance of the mean
    /// from the prior mean; given the factor of Σ.
    fn terms_of_matrix(&self, factor: &[f64], mean: &[f64]) -> (f64, f64, f64) {
        let d = mean.len();
        let inverse = invert_lower(factor, d);
        let log_determinant = 2.0 * log_diagonal(factor, d);
        let is_whole = self.scatter.len() == d * d;
        if !is_whole && self.center_rows <= 0.0 {
            let precisions = gram_diagonal(&inverse, d);
            let terms = precisions.iter().enumerate();
            let trace = terms.map(|(c, precision)| self.of(c, d) * precision).sum();
            return (log_determinant, trace, 0.0);
        }
        let precision = gram(&inverse, d);
        let trace = if is_whole {
            let pairs = self.scatter.iter().zip(&precision);
            pairs.map(|(s, p)| s * p).sum()
        } else {
            (0..d).map(|c| self.of(c, d) * precision[c * d + c]).sum()
        };
        let shift: Vec<f64> = (0..d).map(|c| mean[c] - self.center_of(c)).collect();
        let columns = precision.chunks_exact(d.max(1)).zip(&shift);
        let distance = columns
            .flat_map(|(column, shift_j)| {
                column
                    .iter()
                    .zip(&shift)
                    .map(move |(p, shift_i)| p * shift_i * shift_j)
            })
            .sum();
        (log_determinant, trace, distance)
    }

    /// The same terms for columns that are not correlated.
    fn terms_of_variances(&self, of: &MultivariateGaussian) -> (f64, f64, f64) {
        let d = of.order();
        let (mut log_determinant, mut trace, mut distance) = (0.0, 0.0, 0.0);
        for c in 0..d {
            let (variance, shift) = (of.covariance(c, c), of.mean[c] - self.center_of(c));
            let precision = 1.0 / variance;
            log_determinant += variance.ln();
            trace += self.of(c, d) * precision;
            distance += precision * shift * shift;
        }
        (log_determinant, trace, distance)
    }

    /// The same prior with more scatter: a share of the variances in `fallback`.
    fn strengthened(&self, share: f64, fallback: &MultivariateGaussian) -> MultivariatePrior {
        let d = fallback.order();
        let mut scatter = self.scatter.clone();
        if scatter.is_empty() {
            scatter = vec![0.0; d];
        }
        let step = if scatter.len() == d { 1 } else { d + 1 };
        for c in 0..d {
            scatter[c * step] += share * fallback.covariance(c, c);
        }
        MultivariatePrior {
            scatter,
            ..self.clone()
        }
    }
}

/// The estimates of components. Those without rows get the estimate from all rows or, if the
/// structure shares parameters, its mean with the covariance of the heaviest component.
pub(super) fn estimates_of_all(
    structure: Structure,
    stats: &[&MultivariateStats],
    prior: &MultivariatePrior,
    fallback: &MultivariateGaussian,
    before: Option<&[&MultivariateGaussian]>,
) -> Vec<MultivariateGaussian> {
    let all = merged(stats.iter().copied());
    let estimate = |of: &[&MultivariateStats], before: Option<&[&MultivariateGaussian]>| {
        strengthened(prior, fallback, |prior| {
            MultivariateGaussian::estimates(structure, of, prior, before)
        })
    };
    let together = || {
        let whole = all.with_unseen_columns_of(&all, structure, fallback);
        let found = estimate(&[&whole], None).and_then(|mut found| found.pop());
        found.unwrap_or_else(|| fallback.clone())
    };
    let present: Vec<usize> = (0..stats.len())
        .filter(|j| stats[*j].weight() > 0.0)
        .collect();
    let filled: Vec<MultivariateStats> = present
        .iter()
        .map(|j| stats[*j].with_unseen_columns_of(&all, structure, fallback))
        .collect();
    let filled: Vec<&MultivariateStats> = filled.iter().collect();
    let mut found: Vec<Option<MultivariateGaussian>> = vec![None; stats.len()];
    if structure.is_independent() {
        // Only those that are singular need a stronger prior.
        for (j, filled) in present.iter().zip(&filled) {
            found[*j] = estimate(&[filled], None).and_then(|mut found| found.pop());
        }
        return found
            .into_iter()
            .map(|estimate| estimate.unwrap_or_else(together))
            .collect();
    }
    let before: Option<Vec<&MultivariateGaussian>> =
        before.map(|before| present.iter().map(|j| before[*j]).collect());
    let Some(estimates) = estimate(&filled, before.as_deref()) else {
        return vec![fallback.clone(); stats.len()];
    };
    let heaviest =
        (0..present.len()).max_by(|a, b| filled[*a].weight().total_cmp(&filled[*b].weight()));
    let stand_in = heaviest.map_or(fallback.covariance.clone(), |j| {
        estimates[j].covariance.clone()
    });
    for (j, estimate) in present.iter().zip(estimates) {
        found[*j] = Some(estimate);
    }
    let without_rows = || MultivariateGaussian {
        mean: together().mean,
        covariance: stand_in.clone(),
    };
    found
        .into_iter()
        .map(|estimate| estimate.unwrap_or_else(without_rows))
        .collect()
}

/// The estimates under a prior, or under increasingly strong ones if rounding or a flat prior
/// leaves the covariance singular.
fn strengthened<T>(
    prior: &MultivariatePrior,
    fallback: &MultivariateGaussian,
    attempt: impl Fn(&MultivariatePrior) -> Result<T>,
) -> Option<T> {
    if let Ok(found) = attempt(prior) {
        return Some(found);
    }
    (-12..0).find_map(|power| attempt(&prior.strengthened(10f64.powi(power), fallback)).ok())
}
