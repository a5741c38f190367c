//! The statistics of a multivariate Gaussian: for full covariances weight, mean and scatter of
//! all columns together, merged by Chan's rule; for diagonal and spherical ones those of each
//! column.

use crate::data::{Cells, Rows};
use crate::family::multivariate::{MultivariateGaussian, Structure};
use crate::family::{Family, Gaussian, GaussianStats, Stats};
use crate::kernel::linear::{add_symmetric_product, mirror_upper};
use crate::kernel::product::Matrix;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The moments of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MultivariateStats {
    /// For full covariances: all columns together.
    Full {
        /// The total weight.
        weight: f64,
        /// The weighted mean.
        mean: Vec<f64>,
        /// The weighted scatter about the mean, the whole matrix.
        scatter: Vec<f64>,
    },
    /// For diagonal and spherical covariances: each column separately.
    Columns {
        /// Whether all columns have the same variance.
        spherical: bool,
        /// One statistic per column.
        columns: Vec<GaussianStats>,
    },
}

impl Stats for MultivariateStats {
    fn weight(&self) -> f64 {
        match self {
            MultivariateStats::Full { weight, .. } => *weight,
            // Columns may be observed in different rows.
            MultivariateStats::Columns { columns, .. } => {
                columns.iter().map(|c| c.weight).fold(0.0, f64::max)
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (
                MultivariateStats::Full {
                    weight,
                    mean,
                    scatter,
                },
                MultivariateStats::Full {
                    weight: w,
                    mean: m,
                    scatter: s,
                },
            ) => {
                if *w <= 0.0 {
                    return;
                }
                let total = *weight + w;
                let (share, between) = (w / total, *weight * w / total);
                let d = mean.len();
                let shift: Vec<f64> = m.iter().zip(mean.iter()).map(|(b, a)| b - a).collect();
                for j in 0..d {
                    // The product is the same for (i, j) and (j, i): the matrix stays symmetric.
                    let column = scatter[j * d..(j + 1) * d].iter_mut().zip(&s[j * d..]);
                    for ((entry, other), shift_i) in column.zip(&shift) {
                        *entry += other + between * (shift_i * shift[j]);
                    }
                }
                if *weight <= 0.0 {
                    mean.clone_from(m);
                } else {
                    mean.iter_mut()
                        .zip(&shift)
                        .for_each(|(a, s)| *a += share * s);
                }
                *weight = total;
            }
            (
                MultivariateStats::Columns { columns, .. },
                MultivariateStats::Columns { columns: more, .. },
            ) => columns.iter_mut().zip(more).for_each(|(a, b)| a.merge(b)),
            _ => debug_assert!(false, "statistics of another structure"),
        }
    }

    fn scale(&mut self, factor: f64) {
        match self {
            MultivariateStats::Full {
                weight, scatter, ..
            } => {
                *weight *= factor;
                scatter.iter_mut().for_each(|s| *s *= factor);
            }
            MultivariateStats::Columns { columns, .. } => {
                columns.iter_mut().for_each(|c| c.scale(factor));
            }
        }
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (
                MultivariateStats::Full {
                    weight,
                    mean,
                    scatter,
                },
                MultivariateStats::Full {
                    weight: w,
                    mean: m,
                    scatter: s,
                },
            ) => forget_full((weight, mean, scatter), (*w, m, s)),
            (
                MultivariateStats::Columns { columns, .. },
                MultivariateStats::Columns { columns: less, .. },
            ) => {
                let mut rest = columns.clone();
                for (a, b) in rest.iter_mut().zip(less) {
                    a.forget(b)?;
                }
                *columns = rest;
                Ok(())
            }
            _ => Err(Error::parameter(
                "statistics of different covariance structures",
            )),
        }
    }
}

/// Subtracts the weight, mean and scatter of some rows from those of all rows.
fn forget_full(
    (weight, mean, scatter): (&mut f64, &mut Vec<f64>, &mut Vec<f64>),
    (w, m, s): (f64, &[f64], &[f64]),
) -> Result<()> {
    let d = mean.len();
    let left = *weight - w;
    if w <= 0.0 {
        return Ok(());
    }
    if left < -1e-9 * *weight {
        return Err(Error::data("more rows to forget than were fitted"));
    }
    if left <= 1e-9 * *weight {
        *weight = 0.0;
        mean.fill(0.0);
        scatter.fill(0.0);
        return Ok(());
    }
    let rest: Vec<f64> = (0..d)
        .map(|c| mean[c] + (mean[c] - m[c]) * w / left)
        .collect();
    let between = left * w / *weight;
    let shift: Vec<f64> = (0..d).map(|c| m[c] - rest[c]).collect();
    let mut lesser = scatter.clone();
    for j in 0..d {
        for i in 0..d {
            lesser[j * d + i] -= s[j * d + i] + between * shift[i] * shift[j];
        }
        let rounding = 1e-7 * (scatter[j * d + j] + s[j * d + j]);
        if lesser[j * d + j] < -rounding {
            return Err(crate::family::never_seen());
        }
        // Rounding must not make the scatter indefinite: the largest error of an
        // entry is added to the diagonal.
        let noise = 4.0 * (d + 1) as f64 * f64::EPSILON * scatter[j * d + j];
        lesser[j * d + j] = lesser[j * d + j].max(0.0) + noise;
    }
    for j in 0..d {
        for i in 0..j {
            let both = 0.5 * (lesser[j * d + i] + lesser[i * d + j]);
            (lesser[j * d + i], lesser[i * d + j]) = (both, both);
        }
    }
    (*weight, *mean, *scatter) = (left, rest, lesser);
    Ok(())
}

/// Adds complete rows, in blocks centred on their mean.
pub(super) fn observe_complete(columns: &[&[f64]], weights: &[f64], stats: &mut MultivariateStats) {
    const BLOCK: usize = 256;
    let d = columns.len();
    for start in (0..weights.len()).step_by(BLOCK) {
        let len = BLOCK.min(weights.len() - start);
        let weights = &weights[start..start + len];
        let weight: f64 = weights.iter().sum();
        if weight <= 0.0 {
            continue;
        }
        let mut mean = Vec::with_capacity(d);
        let mut centred = Vec::with_capacity(d * len);
        let mut weighted = Vec::with_capacity(d * len);
        for x in columns {
            let x = &x[start..start + len];
            let one = [Cells::real(x)];
            let mut moments = GaussianStats::default();
            Gaussian::observe(&Rows::new(&one), weights, &mut moments);
            mean.push(moments.mean);
            centred.extend(x.iter().map(|x| x - moments.mean));
            weighted.extend(x.iter().zip(weights).map(|(x, w)| w * (x - moments.mean)));
        }
        let mut scatter = vec![0.0; d * d];
        add_symmetric_product(
            &mut scatter,
            Matrix::new(&weighted, len, d, len).transposed(),
            Matrix::new(&centred, len, d, len),
        );
        mirror_upper(&mut scatter, d);
        stats.merge(&MultivariateStats::Full {
            weight,
            mean,
            scatter,
        });
    }
}

impl MultivariateStats {
    /// Replaces columns without values by those of all components together, or else by `fallback`.
    pub(super) fn with_unseen_columns_of(
        &self,
        all: &MultivariateStats,
        structure: Structure,
        fallback: &MultivariateGaussian,
    ) -> MultivariateStats {
        let mut filled = self.clone();
        let (
            MultivariateStats::Columns { columns, .. },
            MultivariateStats::Columns { columns: all, .. },
        ) = (&mut filled, all)
        else {
            return filled;
        };
        for (c, (column, all)) in columns.iter_mut().zip(all).enumerate() {
            if column.weight > 0.0 {
                continue;
            }
            *column = if all.weight > 0.0 {
                let mut share = all.clone();
                share.scale(1.0 / all.weight);
                share
            } else {
                let (mean, scatter) = (fallback.mean[c], fallback.covariance(c, c));
                GaussianStats {
                    weight: 1.0,
                    mean,
                    scatter,
                }
            };
            let pooled = matches!(structure, Structure::Eei | Structure::Vei) && all.weight > 0.0;
            if structure.is_spherical() || pooled {
                // A variance that all columns share comes from the others.
                (column.weight, column.scatter) = (0.0, 0.0);
            }
        }
        filled
    }
}

/// See [`shrink_together`](crate::family::Components::shrink_together): d + 1 rows with the
/// covariance within components for full covariances, two rows for the others.
pub(super) fn shrink_together(stats: &mut [MultivariateStats]) {
    let mut all = stats[0].clone();
    stats[1..].iter().for_each(|component| all.merge(component));
    match &all {
        MultivariateStats::Full { weight, .. } if *weight <= 0.0 => {}
        MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } => shrink_matrices_together(stats, *weight, mean, scatter),
        MultivariateStats::Columns { columns, .. } => shrink_columns_together(stats, columns),
    }
}

/// Adds d + 1 rows to statistics for full covariances, given the weight, the mean and the scatter
/// of all rows.
fn shrink_matrices_together(
    stats: &mut [MultivariateStats],
    total: f64,
    center: &[f64],
    whole: &[f64],
) {
    let mut within = vec![0.0; whole.len()];
    for component in stats.iter() {
        if let MultivariateStats::Full { scatter, .. } = component {
            for (sum, s) in within.iter_mut().zip(scatter) {
                *sum += s / total;
            }
        }
    }
    for component in stats {
        let MultivariateStats::Full {
            weight,
            mean,
            scatter,
        } = component
        else {
            continue;
        };
        let rows = mean.len() as f64 + 1.0;
        if *weight <= 0.0 {
            mean.clone_from_slice(center);
            for (s, w) in scatter.iter_mut().zip(whole) {
                *s = rows * w / total;
            }
        } else {
            for (s, w) in scatter.iter_mut().zip(&within) {
                *s += rows * w;
            }
        }
        *weight += rows;
    }
}

/// Adds two rows to the statistics of every column, given those of all rows.
fn shrink_columns_together(stats: &mut [MultivariateStats], all: &[GaussianStats]) {
    for (c, all) in all.iter().enumerate() {
        let scatter = |component: &MultivariateStats| match component {
            MultivariateStats::Columns { columns, .. } => columns[c].scatter,
            MultivariateStats::Full { .. } => 0.0,
        };
        let within = stats.iter().map(scatter).sum::<f64>() / all.weight;
        for component in stats.iter_mut() {
            if let MultivariateStats::Columns { columns, .. } = component {
                columns[c].shrink(all, within);
            }
        }
    }
}
