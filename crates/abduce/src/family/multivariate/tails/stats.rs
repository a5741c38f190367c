//! The statistics of a multivariate t: the moments of a Gaussian in which every row is also
//! weighted by the expectation of its u, the weight of the rows without this factor, and the
//! heaviness of the tails. All are sums, so that statistics can be merged.

use crate::Result;
use crate::family::multivariate::stats::shrink_together;
use crate::family::multivariate::tails::degrees::start_heaviness;
use crate::family::multivariate::{MultivariatePrior, MultivariateStats};
use crate::family::{GaussianStats, Stats, never_seen};
use serde::{Deserialize, Serialize};

/// The moments of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultivariateStudentTStats {
    /// The total weight Σ r of the rows.
    pub weight: f64,
    /// The weight Σ r of the rows in which each column is observed, where columns are independent
    /// given u.
    #[serde(default, rename = "seen", skip_serializing_if = "Vec::is_empty")]
    pub observed_weights: Vec<f64>,
    /// Moments of the values with the weights r·E u.
    pub moments: MultivariateStats,
    /// Σ r (E u − 1 − E ln u), from which the degrees of freedom are estimated; 0 where every u
    /// is 1.
    pub heaviness: f64,
}

impl Stats for MultivariateStudentTStats {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        let weights = self
            .observed_weights
            .iter_mut()
            .zip(&other.observed_weights);
        weights.for_each(|(a, b)| *a += b);
        self.moments.merge(&other.moments);
        self.heaviness += other.heaviness;
    }

    fn scale(&mut self, factor: f64) {
        self.weight *= factor;
        self.observed_weights
            .iter_mut()
            .for_each(|weight| *weight *= factor);
        self.moments.scale(factor);
        self.heaviness *= factor;
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let rounding = 1e-9 * self.weight;
        if other.weight > self.weight + rounding
            || self.observed_weights.len() != other.observed_weights.len()
        {
            return Err(never_seen());
        }
        self.moments.forget(&other.moments)?;
        let left = |total: f64, removed: f64, rounding: f64| match total - removed {
            rest if rest <= rounding => 0.0,
            rest => rest,
        };
        self.heaviness = left(self.heaviness, other.heaviness, 1e-9 * self.heaviness);
        self.weight = left(self.weight, other.weight, rounding);
        let weights = self
            .observed_weights
            .iter_mut()
            .zip(&other.observed_weights);
        weights.for_each(|(a, b)| *a = left(*a, *b, rounding));
        Ok(())
    }
}

impl MultivariateStudentTStats {
    /// The moments as a Gaussian's M-step takes them. With n = Σ r and W = Σ r E u,
    ///
    ///   −n/2 ln|Σ| − ½ tr Σ⁻¹ (S + W (m−μ)(m−μ)ᵀ)
    ///
    /// is greatest at μ = m and Σ = S/n: the mean has the weights of the u, the covariance those
    /// of the rows. The prior of the mean is included here, since it is weighed against W.
    pub(super) fn per_row(&self, prior: &MultivariatePrior) -> MultivariateStats {
        match &self.moments {
            MultivariateStats::Full {
                weight,
                mean,
                scatter,
            } if *weight > 0.0 => {
                let d = mean.len();
                let between = prior.between(*weight);
                let shift: Vec<f64> = (0..d).map(|c| mean[c] - prior.center_of(c)).collect();
                let mut scatter = scatter.clone();
                if between > 0.0 {
                    for (t, entry) in scatter.iter_mut().enumerate() {
                        *entry += between * shift[t % d] * shift[t / d];
                    }
                }
                let mean = (0..d).map(|c| prior.shrunk(mean[c], *weight, prior.center_of(c)));
                MultivariateStats::Full {
                    weight: self.weight + prior.mean_rows(),
                    mean: mean.collect(),
                    scatter,
                }
            }
            MultivariateStats::Columns { spherical, columns } => {
                let columns = columns.iter().zip(&self.observed_weights).enumerate();
                let columns = columns.map(|(c, (column, rows))| {
                    if column.weight <= 0.0 {
                        return column.clone();
                    }
                    let shift = column.mean - prior.center_of(c);
                    GaussianStats {
                        weight: rows + prior.mean_rows(),
                        mean: prior.mean(column, c),
                        scatter: column.scatter + prior.between(column.weight) * shift * shift,
                    }
                });
                MultivariateStats::Columns {
                    spherical: *spherical,
                    columns: columns.collect(),
                }
            }
            nothing => nothing.clone(),
        }
    }

    /// Adds rows before any E-step.
    pub(super) fn add_rows(&mut self, weight: f64) {
        self.weight += weight;
        self.heaviness += weight * start_heaviness();
    }
}

/// See [`shrink_together`](crate::family::Components::shrink_together): the rows added to the
/// Gaussian's moments are added here too.
pub(super) fn shrink_rows_together(stats: &mut [MultivariateStudentTStats]) {
    let mut moments: Vec<MultivariateStats> = stats
        .iter()
        .map(|component| component.moments.clone())
        .collect();
    shrink_together(&mut moments);
    for (component, pulled) in stats.iter_mut().zip(moments) {
        let more = pulled.weight() - component.moments.weight();
        if let (
            MultivariateStats::Columns {
                columns: before, ..
            },
            MultivariateStats::Columns { columns: after, .. },
        ) = (&component.moments, &pulled)
        {
            let columns = component
                .observed_weights
                .iter_mut()
                .zip(before.iter().zip(after));
            columns.for_each(|(rows, (before, after))| *rows += after.weight - before.weight);
        }
        component.moments = pulled;
        component.add_rows(more);
    }
}
