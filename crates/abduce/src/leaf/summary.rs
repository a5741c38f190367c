//! A summary of all rows: how many there are, what is missing, and the moments of every column of
//! numbers. Priors and variance floors are in units of these moments, so a model that is updated
//! without its rows must keep them.

use crate::data::{Source, reduce};
use crate::family::{GaussianStats, LeafFamily, PriorStrength, Scale, Stats as _};
use crate::leaf::Leaf;
use crate::leaf::central::FAR;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The squares of numbers below this underflow, so that the scatter may be 0 although the numbers
/// differ.
const TOO_SMALL: f64 = 1e-150;

/// A summary of all rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableSummary {
    /// The total weight of all rows.
    pub total: f64,
    /// The number of rows of positive weight.
    pub rows: u64,
    /// The weight of the rows without a label.
    pub unlabelled: f64,
    /// The weight of the rows that EM must complete: rows with some of their correlated cells
    /// missing, or whose weight in a t distribution is latent.
    pub incomplete: f64,
    /// Moments of every column of numbers, by position in the schema.
    pub columns: Vec<GaussianStats>,
    /// For columns whose variance is due to a few outliers, the variance estimated from the middle
    /// half; 0 for other columns. Empty if there are no such columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub central: Vec<f64>,
}

/// The divisor of an unbiased variance, n − 1 for n rows of weight 1. It is at least half the
/// weight, as n − 1 is for two rows or more; unequal weights could make it smaller.
pub(crate) fn divisor(weight: f64, row_weight: f64) -> f64 {
    (weight - row_weight).max(0.5 * weight)
}

impl TableSummary {
    /// The summary of no rows, for a table with this number of columns.
    pub fn empty(columns: usize) -> TableSummary {
        TableSummary {
            columns: vec![GaussianStats::default(); columns],
            ..TableSummary::default()
        }
    }

    /// Adds the summary of other rows.
    pub fn merge(&mut self, other: &TableSummary) {
        self.merge_central(other);
        self.total += other.total;
        self.rows += other.rows;
        self.unlabelled += other.unlabelled;
        self.incomplete += other.incomplete;
        let columns = self.columns.iter_mut().zip(&other.columns);
        columns.for_each(|(a, b)| a.merge(b));
        self.drop_unneeded_central();
    }

    /// Removes the variances of middle halves that the variances of all rows no longer exceed by
    /// the factor [`FAR`].
    pub(crate) fn drop_unneeded_central(&mut self) {
        for c in 0..self.central.len() {
            if self.variance(c) <= FAR * self.central[c] {
                self.central[c] = 0.0;
            }
        }
        if self.central.iter().all(|variance| *variance == 0.0) {
            self.central.clear();
        }
    }

    /// Merges the variances of the middle halves: the rows are not available, so their weighted
    /// mean is used.
    fn merge_central(&mut self, other: &TableSummary) {
        if self.central.is_empty() && other.central.is_empty() {
            return;
        }
        let both = self.columns.iter().zip(&other.columns).enumerate();
        let each = both.map(|(c, (a, b))| {
            let central =
                [self, other].map(|summary| summary.central.get(c).copied().unwrap_or(0.0));
            match a.weight + b.weight {
                total if total > 0.0 && central.iter().any(|variance| *variance > 0.0) => {
                    let (one, two) = (self.typical_variance(c), other.typical_variance(c));
                    (a.weight * one + b.weight * two) / total
                }
                _ => 0.0,
            }
        });
        self.central = each.collect();
    }

    /// The mean weight of the rows, at most 1.
    pub(crate) fn row_weight(&self) -> f64 {
        let mean = self.total / self.rows.max(1) as f64;
        if mean > 0.0 { mean.min(1.0) } else { 1.0 }
    }

    /// The variance of a column.
    pub(crate) fn variance(&self, column: usize) -> f64 {
        let moments = &self.columns[column];
        if moments.weight > 0.0 {
            moments.scatter / moments.weight
        } else {
            0.0
        }
    }

    /// The variance of a column with the divisor n − 1; weights with a mean below 1 are first
    /// scaled to a mean of 1. 0 for a single row.
    pub(crate) fn unbiased_variance(&self, column: usize) -> f64 {
        let moments = &self.columns[column];
        if moments.weight > 0.0 {
            moments.scatter / divisor(moments.weight, self.row_weight())
        } else {
            0.0
        }
    }

    /// The largest variance of a column of numbers.
    pub(crate) fn largest_variance(&self) -> f64 {
        let columns = 0..self.columns.len();
        columns.map(|c| self.variance(c)).fold(0.0, f64::max)
    }

    /// The variance of a column, without the outliers that dominate it.
    fn typical_variance(&self, column: usize) -> f64 {
        let variance = self.variance(column);
        match self.central.get(column) {
            Some(central) if *central > 0.0 => central.min(variance),
            _ => variance,
        }
    }

    /// Checks that the squares of the numbers are in the range of double precision.
    pub(crate) fn check(&self, source: &dyn Source) -> Result<()> {
        let columns = source.schema().fields.iter().zip(&self.columns);
        for (column, (field, moments)) in columns.enumerate() {
            let (size, scatter) = (moments.mean.abs(), moments.scatter);
            let magnitude = if !(size.is_finite() && scatter.is_finite()) {
                "large"
            } else if scatter > 0.0 && !(scatter / moments.weight).is_normal() {
                // Subnormal squares have lost digits.
                "small"
            } else if scatter == 0.0 && size > 0.0 && size < TOO_SMALL && varies(source, column)? {
                "small"
            } else {
                continue;
            };
            let message =
                format!("the squares of the numbers are too {magnitude} for double precision");
            return Err(Error::data(message)
                .at_column(&field.name)
                .with_hint("rescale the column"));
        }
        Ok(())
    }

    /// The mean of a column and its variance without outliers. For a constant column the variance
    /// is its squared value, or 1 if it is 0.
    pub(crate) fn scale(&self, column: usize) -> Scale {
        let moments = &self.columns[column];
        let variance = self.variance(column);
        // A variance below this is a rounding error of the mean.
        let rounding = (moments.mean * f64::EPSILON).powi(2);
        let constant = variance <= rounding;
        let square = moments.mean * moments.mean;
        let unit = if square > 0.0 { square } else { 1.0 };
        Scale {
            mean: moments.mean,
            variance: if constant {
                unit
            } else {
                self.typical_variance(column)
            },
            constant,
        }
    }

    /// The mean of a column and its variance, outliers included.
    pub(crate) fn whole_scale(&self, column: usize) -> Scale {
        let scale = self.scale(column);
        Scale {
            variance: if scale.constant {
                scale.variance
            } else {
                self.variance(column)
            },
            ..scale
        }
    }

    /// The scales of the columns of a leaf.
    pub(crate) fn scales(&self, leaf: &Leaf) -> Vec<Scale> {
        leaf.columns.iter().map(|c| self.scale(*c)).collect()
    }

    /// The leaves without the columns that have no values. Constant columns of numbers become
    /// separate, fixed leaves, unless a ridge gives them a variance. `None` if no leaf changes.
    pub(crate) fn split_constant_columns(&self, leaves: &[Leaf], ridge: f64) -> Option<Vec<Leaf>> {
        let mut kept = Vec::new();
        let mut changed = false;
        for leaf in leaves {
            if leaf.family.levels().is_some() || leaf.family.is_text() {
                kept.push(leaf.clone());
                continue;
            }
            let gaussian = matches!(
                leaf.family,
                LeafFamily::Gaussian { .. }
                    | LeafFamily::Multivariate { .. }
                    | LeafFamily::MultivariateStudentT { .. }
            );
            let unseen = |c: &usize| self.columns[*c].weight <= 0.0;
            let (constant, varying): (Vec<usize>, Vec<usize>) = leaf
                .columns
                .iter()
                .filter(|c| !unseen(c))
                .partition(|c| !(ridge > 0.0 && gaussian) && self.scale(**c).constant);
            if varying.len() == leaf.columns.len() {
                kept.push(leaf.clone());
                continue;
            }
            changed = true;
            if !varying.is_empty() {
                let mut leaf = leaf.clone();
                match &mut leaf.family {
                    LeafFamily::Multivariate { shape, .. } => shape.columns = varying.len(),
                    LeafFamily::MultivariateStudentT { shape, .. } => {
                        shape.columns = varying.len();
                    }
                    _ => {}
                }
                kept.push(Leaf {
                    columns: varying,
                    ..leaf
                });
            }
            for column in constant {
                let family = LeafFamily::Gaussian {
                    shape: (),
                    prior: Default::default(),
                    fallback: None,
                };
                kept.push(Leaf {
                    fixed: true,
                    ..Leaf::new(vec![column], family)
                });
            }
        }
        changed.then_some(kept)
    }

    /// Sets the prior and the fallback distribution of a leaf, in the units of its columns.
    pub(crate) fn set_prior_and_fallback(&self, leaf: &mut Leaf, strength: &PriorStrength) {
        let mut scales = self.scales(leaf);
        if leaf.fixed {
            // Nearly a point mass, so that draws equal the constant too.
            scales.iter_mut().for_each(|scale| scale.variance *= 1e-12);
        }
        leaf.family.set_prior_and_fallback(&scales, strength);
    }

    /// The mean logarithm of the unit of a row's density, which is the product of the standard
    /// deviations of its observed columns.
    pub(crate) fn log_units(&self, leaves: &[Leaf]) -> f64 {
        let columns = leaves
            .iter()
            .filter(|leaf| leaf.family.has_units() && !leaf.fixed);
        let columns = columns.flat_map(|leaf| &leaf.columns);
        columns
            .map(|c| 0.5 * self.columns[*c].weight / self.total * self.scale(*c).variance.ln())
            .sum()
    }
}

/// Whether the numbers of a column differ.
fn varies(source: &dyn Source, column: usize) -> Result<bool> {
    let ends = reduce(
        source,
        |_, chunk| {
            let cells = chunk.column(column).cells(0, chunk.rows());
            let numbers = chunk.rows_with_weight().filter_map(|row| cells.number(row));
            Ok(
                numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                    (x.min(low), x.max(high))
                }),
            )
        },
        |all: &mut (f64, f64), more| *all = (all.0.min(more.0), all.1.max(more.1)),
    )?;
    Ok(ends.is_some_and(|(low, high)| low < high))
}
