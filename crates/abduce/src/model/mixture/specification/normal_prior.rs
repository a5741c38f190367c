//! A normal–inverse-Wishart prior on the Gaussians of a mixture, in the units of the
//! table: means are believed to be at the table's mean with the worth of κ rows, and
//! covariances to have ν degrees of freedom about the table's own, shrunk so that k
//! components of that volume fill the table's, S / k^{2/d}. With κ = 0.01 and ν = d + 2 it is
//! the default prior of R's mclust (Fraley & Raftery, *Journal of Classification* 24, 2007).

use crate::Control;
use crate::data::{Cells, Rows, Source, fold};
use crate::family::{
    LeafFamily, MultivariatePrior, MultivariateShape, MultivariateStats, Scale, Statistics,
    Stats as _, Structure,
};
use crate::leaf::divisor;
use crate::leaf::{Leaf, Seen};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A normal–inverse-Wishart prior by its strength.
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
    /// κ, the rows that the belief in the means is worth.
    pub mean_rows: f64,
    /// ν, the degrees of freedom of the covariances; d + 2 where it is not said.
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
                 normal-inverse-wishart(rows,degrees), with rows from 0 up and degrees above 0, \
                 not \"{text}\""
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
        let fits = |x: &f64| *x >= 0.0 && x.is_finite();
        match numbers.as_slice() {
            [rows] if fits(rows) => Ok(NormalPrior {
                mean_rows: *rows,
                degrees: None,
            }),
            [rows, degrees] if fits(rows) && *degrees > 0.0 && degrees.is_finite() => {
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
    /// Gives the Gaussian leaves of `components` this prior, in the units of the table;
    /// `whole` are the statistics of all rows of a leaf.
    ///
    /// # Errors
    /// If `whole` fails.
    pub(crate) fn settle(
        &self,
        seen: &Seen,
        components: usize,
        leaves: &mut [Leaf],
        whole: impl Fn(usize, &Leaf) -> Result<Option<Statistics>>,
    ) -> Result<()> {
        for (number, leaf) in leaves
            .iter_mut()
            .enumerate()
            .filter(|(_, leaf)| !leaf.fixed)
        {
            let whole = whole(number, leaf)?;
            let scales = seen.scales(leaf);
            let (shape, prior) = match &mut leaf.family {
                LeafFamily::Multivariate { shape, prior, .. } => (shape.clone(), prior),
                LeafFamily::MultivariateStudentT { shape, prior, .. } => {
                    (shape.of_gaussian(), prior)
                }
                _ => continue,
            };
            let variance = |(scale, c): (&Scale, &usize)| match scale.constant {
                true => scale.variance,
                false => seen.unbiased_variance(*c),
            };
            let variances = scales.iter().zip(&leaf.columns).map(variance).collect();
            let center = scales.iter().map(|scale| scale.mean).collect();
            let floor = std::mem::take(prior);
            let whole =
                whole.and_then(|whole| covariance(&whole, shape.columns, seen.row_weight()));
            *prior = self.of(&shape, variances, whole, center, components);
            prior.ridge = floor.ridge;
            prior.unit_share = floor.unit_share;
            // The floor against singular covariances stays.
            let step = match prior.scatter.len() == shape.columns {
                true => 1,
                false => shape.columns + 1,
            };
            for (c, least) in floor.scatter.iter().enumerate() {
                if let Some(own) = prior.scatter.get_mut(c * step) {
                    *own += least;
                }
            }
        }
        Ok(())
    }

    fn of(
        &self,
        shape: &MultivariateShape,
        variances: Vec<f64>,
        whole: Option<Vec<f64>>,
        center: Vec<f64>,
        components: usize,
    ) -> MultivariatePrior {
        let d = shape.columns as f64;
        let degrees = self.degrees.unwrap_or(d + 2.0);
        let share = (components as f64).powf(-2.0 / d);
        let mean = share * variances.iter().sum::<f64>() / d;
        let (scatter, rows) = match shape.structure {
            Structure::Identity => (Vec::new(), 0.0),
            // One variance for all columns is believed in once.
            own if own.is_spherical() => (vec![mean / d; shape.columns], (degrees + 2.0) / d),
            own if !own.is_correlated() => (vec![mean; shape.columns], degrees + 2.0),
            _ => {
                let scatter = whole.unwrap_or(variances);
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

/// The unbiased covariance of rows of this mean weight, where there are more of them than
/// columns.
fn covariance(whole: &Statistics, columns: usize, row_weight: f64) -> Option<Vec<f64>> {
    let (moments, rows) = match whole {
        Statistics::Multivariate(own) => (own, own.weight()),
        Statistics::MultivariateStudentT(own) => (&own.moments, own.weight()),
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

/// The statistics of a leaf's rows, whatever their component.
///
/// # Errors
/// If the source cannot be read.
pub(crate) fn statistics_of_all(source: &dyn Source, leaf: &Leaf) -> Result<Option<Statistics>> {
    Ok(statistics_of_each(source, &[leaf], Control::default())?.pop())
}

/// The same of several leaves in one pass; none where there are no rows, or the caller stops.
///
/// # Errors
/// If the source cannot be read.
pub(crate) fn statistics_of_each(
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
                let columns: Vec<Cells> = leaf
                    .columns
                    .iter()
                    .map(|c| chunk.column(*c).cells(0, chunk.rows()))
                    .collect();
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

    /// The covariance of the rows below with n − 1 as its divisor, by hand: the means are 3
    /// and 4, the squares about them 4+1+0+1+4 = 10 and 4+9+0+1+16 = 30, the products
    /// 4+3+0+1+8 = 16.
    const COVARIANCE: [f64; 4] = [2.5, 4.0, 4.0, 7.5];

    #[test]
    fn the_prior_has_the_covariance_of_n_minus_1_in_all_structures() {
        let cells = [[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 5.0, 8.0]];
        let fields = vec![Field::new("x", Kind::Real), Field::new("y", Kind::Real)];
        let columns = cells
            .map(|own| Column::from_numbers(own.map(Some)))
            .to_vec();
        // Weights that sum to 1 stand for as many rows.
        for weights in [None, Some(vec![0.2; 5])] {
            let table = Table::new(Schema::new(fields.clone()), columns.clone(), weights);
            check_prior(&table.unwrap());
        }
    }

    fn check_prior(table: &Table) {
        // Two components share the volume: S / 2^(2/d).
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
                own if own.is_spherical() => vec![mean / 2.0; 2],
                own if !own.is_correlated() => vec![mean; 2],
                _ => COVARIANCE.map(|s| share * s).to_vec(),
            };
            assert_eq!(prior.scatter.len(), expected.len(), "{kind:?}");
            // The floor against singular covariances is beside it.
            for (own, expected) in prior.scatter.iter().zip(&expected) {
                assert!(
                    (own / expected - 1.0).abs() < 1e-4,
                    "{kind:?}: {own} {expected}"
                );
            }
        }
    }
}
