//! A normal–inverse-Wishart prior for the Gaussians of a mixture, scaled to the table. The prior
//! mean is the mean of the table, with the weight of κ rows. The prior covariance has ν degrees
//! of freedom and the scale matrix S / k^{2/d}, the covariance of the table shrunk so that the k
//! components together have its volume. κ = 0.01 and ν = d + 2 give the default prior of R's
//! mclust (Fraley & Raftery, *Journal of Classification* 24, 2007).

use crate::Control;
use crate::data::{Rows, Source, fold};
use crate::family::{
    LeafFamily, MultivariatePrior, MultivariateShape, MultivariateStats, Scale, Statistics,
    Stats as _, Structure,
};
use crate::leaf::divisor;
use crate::leaf::{Leaf, TableSummary};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The strength of a normal–inverse-Wishart prior.
///
/// ```
/// use abduce::model::mixture::NormalPrior;
/// let mclust: NormalPrior = "mclust".parse()?;
/// assert_eq!(mclust, "normal-inverse-wishart(0.01)".parse()?);
/// assert_eq!(mclust.to_string(), "normal-inverse-wishart(0.01)");
/// assert!("normal-inverse-wishart(-1)".parse::<NormalPrior>().is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalPrior {
    /// κ, the weight of the prior mean in rows.
    pub mean_rows: f64,
    /// ν, the degrees of freedom of the prior covariance; d + 2 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
}

impl Default for NormalPrior {
    fn default() -> Self {
        NormalPrior {
            mean_rows: 0.01,
            degrees: None,
        }
    }
}

impl fmt::Display for NormalPrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "normal-inverse-wishart({}", self.mean_rows)?;
        if let Some(degrees) = self.degrees {
            write!(f, ",{degrees}")?;
        }
        write!(f, ")")
    }
}

impl FromStr for NormalPrior {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::parameter(format!(
                "prior is mclust, normal-inverse-wishart(rows) or \
                 normal-inverse-wishart(rows,degrees), with rows of at least 0 and degrees above \
                 0, not \"{text}\""
            ))
        };
        if text == "mclust" {
            return Ok(NormalPrior::default());
        }
        let inner = text.strip_prefix("normal-inverse-wishart(");
        let inner = inner.and_then(|inner| inner.strip_suffix(')'));
        let numbers: Option<Vec<f64>> = inner
            .ok_or_else(wrong)?
            .split(',')
            .map(|number| number.trim().parse().ok())
            .collect();
        let numbers = numbers.ok_or_else(wrong)?;
        let is_valid = |x: &f64| *x >= 0.0 && x.is_finite();
        match numbers.as_slice() {
            [rows] if is_valid(rows) => Ok(NormalPrior {
                mean_rows: *rows,
                degrees: None,
            }),
            [rows, degrees] if is_valid(rows) && *degrees > 0.0 && degrees.is_finite() => {
                Ok(NormalPrior {
                    mean_rows: *rows,
                    degrees: Some(*degrees),
                })
            }
            _ => Err(wrong()),
        }
    }
}

impl NormalPrior {
    /// Sets the priors of Gaussian leaves, for a mixture of this number of components.
    /// `statistics_of` returns the statistics of all rows for a leaf and its number.
    ///
    /// # Errors
    /// If `statistics_of` fails.
    pub(crate) fn set_prior(
        &self,
        summary: &TableSummary,
        components: usize,
        leaves: &mut [Leaf],
        statistics_of: impl Fn(usize, &Leaf) -> Result<Option<Statistics>>,
    ) -> Result<()> {
        for (number, leaf) in leaves
            .iter_mut()
            .enumerate()
            .filter(|(_, leaf)| !leaf.fixed)
        {
            let statistics = statistics_of(number, leaf)?;
            let scales = summary.scales(leaf);
            let (shape, prior) = match &mut leaf.family {
                LeafFamily::Multivariate { shape, prior, .. } => (shape.clone(), prior),
                LeafFamily::MultivariateStudentT { shape, prior, .. } => {
                    (shape.of_gaussian(), prior)
                }
                _ => continue,
            };
            let variance = |(scale, column): (&Scale, &usize)| {
                if scale.constant {
                    scale.variance
                } else {
                    summary.unbiased_variance(*column)
                }
            };
            let variances = scales.iter().zip(&leaf.columns).map(variance).collect();
            let center = scales.iter().map(|scale| scale.mean).collect();
            let floor = std::mem::take(prior);
            let covariance = statistics.and_then(|statistics| {
                covariance(&statistics, shape.columns, summary.row_weight())
            });
            *prior = self.prior_of(&shape, variances, covariance, center, components);
            prior.ridge = floor.ridge;
            prior.unit_share = floor.unit_share;
            // The variance floor is kept: it is added to the diagonal.
            let is_diagonal = prior.scatter.len() == shape.columns;
            let step = if is_diagonal { 1 } else { shape.columns + 1 };
            for (c, floor) in floor.scatter.iter().enumerate() {
                if let Some(scatter) = prior.scatter.get_mut(c * step) {
                    *scatter += floor;
                }
            }
        }
        Ok(())
    }

    /// The prior of a leaf; without a `covariance` of the table, its `variances` are used.
    fn prior_of(
        &self,
        shape: &MultivariateShape,
        variances: Vec<f64>,
        covariance: Option<Vec<f64>>,
        center: Vec<f64>,
        components: usize,
    ) -> MultivariatePrior {
        let d = shape.columns as f64;
        let degrees = self.degrees.unwrap_or(d + 2.0);
        let share = (components as f64).powf(-2.0 / d);
        let mean = share * variances.iter().sum::<f64>() / d;
        let (scatter, rows) = match shape.structure {
            Structure::Identity => (Vec::new(), 0.0),
            // All columns share one variance, and the prior counts once for all of them.
            structure if structure.is_spherical() => {
                (vec![mean / d; shape.columns], (degrees + 2.0) / d)
            }
            structure if !structure.is_correlated() => (vec![mean; shape.columns], degrees + 2.0),
            _ => {
                let scatter = covariance.unwrap_or(variances);
                let scatter = scatter.iter().map(|s| share * s).collect();
                (scatter, degrees + d + 1.0)
            }
        };
        MultivariatePrior {
            scatter,
            rows,
            center,
            center_rows: self.mean_rows,
            ridge: 0.0,
            unit_share: 0.0,
        }
    }
}

/// The unbiased covariance of rows with this mean weight; `None` if there are no more rows than
/// columns.
fn covariance(statistics: &Statistics, columns: usize, row_weight: f64) -> Option<Vec<f64>> {
    let (moments, rows) = match statistics {
        Statistics::Multivariate(stats) => (stats, stats.weight()),
        Statistics::MultivariateStudentT(stats) => (&stats.moments, stats.weight()),
        _ => return None,
    };
    match moments {
        MultivariateStats::Full { scatter, .. } if rows > row_weight * columns as f64 => {
            let divisor = divisor(rows, row_weight);
            Some(scatter.iter().map(|s| s / divisor).collect())
        }
        _ => None,
    }
}

/// The statistics of all rows together for one leaf.
///
/// # Errors
/// If the source cannot be read.
pub(crate) fn leaf_statistics(source: &dyn Source, leaf: &Leaf) -> Result<Option<Statistics>> {
    Ok(statistics_of_leaves(source, &[leaf], Control::default())?.pop())
}

/// The statistics of all rows together for each of several leaves, in one pass; empty if there
/// are no rows or the caller stopped it.
///
/// # Errors
/// If the source cannot be read.
pub(crate) fn statistics_of_leaves(
    source: &dyn Source,
    leaves: &[&Leaf],
    control: Control,
) -> Result<Vec<Statistics>> {
    let found = fold(
        source,
        1,
        |all: &mut Option<Vec<Statistics>>, _, chunk| {
            let all = all.get_or_insert_with(|| {
                let zero = leaves.iter().map(|leaf| leaf.family.zero());
                zero.collect()
            });
            if control.is_interrupted() {
                return Ok(());
            }
            let ones = vec![1.0; chunk.rows()];
            let weights = chunk.weights().unwrap_or(&ones);
            for (leaf, stats) in leaves.iter().zip(all) {
                let columns = leaf.cells(chunk, 0, chunk.rows());
                leaf.family.observe(&Rows::new(&columns), weights, stats);
            }
            Ok(())
        },
        |all: &mut Vec<Statistics>, more| {
            all.iter_mut()
                .zip(&more)
                .for_each(|(all, more)| all.merge(more));
        },
    )?;
    Ok(found
        .filter(|_| !control.is_interrupted())
        .unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::data::{Column, Field, Kind, Schema, Table};
    use crate::model::mixture::{CovarianceKind, FitOptions, Specification, fit};

    /// The covariance of the rows below with the divisor n − 1, calculated by hand: the means are
    /// 3 and 4, the sums of squared deviations 4+1+0+1+4 = 10 and 4+9+0+1+16 = 30, that of the
    /// products 4+3+0+1+8 = 16.
    const COVARIANCE: [f64; 4] = [2.5, 4.0, 4.0, 7.5];

    #[test]
    fn prior_scatter_uses_the_unbiased_covariance_in_all_structures() {
        let cells = [[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 5.0, 8.0]];
        let fields = vec![Field::new("x", Kind::Real), Field::new("y", Kind::Real)];
        let columns = cells
            .map(|column| Column::from_numbers(column.map(Some)))
            .to_vec();
        // Weights that sum to 1 do not change the number of rows.
        for weights in [None, Some(vec![0.2; 5])] {
            let table = Table::new(Schema::new(fields.clone()), columns.clone(), weights);
            check_prior(&table.unwrap());
        }
    }

    fn check_prior(table: &Table) {
        // Two components share the volume: S / 2^(2/d) with d = 2.
        let share = 0.5;
        let mean = share * (COVARIANCE[0] + COVARIANCE[3]) / 2.0;
        for kind in CovarianceKind::ALL {
            let specification = Specification {
                normal_prior: Some(NormalPrior::default()),
                ..Specification::mixture(2, kind)
            };
            let options = FitOptions::default();
            let fit = fit(&specification, table, &options, Control::default()).unwrap();
            let LeafFamily::Multivariate { shape, prior, .. } = &fit.mixture.leaves[0].family
            else {
                panic!("{kind:?} has no Gaussian");
            };
            let expected = match shape.structure {
                Structure::Identity => Vec::new(),
                structure if structure.is_spherical() => vec![mean / 2.0; 2],
                structure if !structure.is_correlated() => vec![mean; 2],
                _ => COVARIANCE.map(|s| share * s).to_vec(),
            };
            assert_eq!(prior.scatter.len(), expected.len(), "{kind:?}");
            // The variance floor is added, so that the values agree only roughly.
            for (scatter, expected) in prior.scatter.iter().zip(&expected) {
                assert!(
                    (scatter / expected - 1.0).abs() < 1e-4,
                    "{kind:?}: {scatter} {expected}"
                );
            }
        }
    }
}
