//! Gaussians with independent columns on blocks of rows with missing values, which are left out
//! column by column. The observed cells of a column are a mask of zeros and ones, computed once for
//! a block and used by all components.

use crate::data::Cells;
use crate::family::multivariate::{MultivariateGaussian, MultivariateStats};
use crate::family::{GaussianStats, Stats as _};
use crate::kernel::special::LN_TAU;
use crate::kernel::sums::{add_masked_squares, add_standardised_squares, shifted_moments};

/// Components on rows of one chunk, and their sums.
pub(crate) struct IncompleteColumns<'a> {
    components: &'a [MultivariateGaussian],
    /// For each column of the block in use, which cells are observed; empty if all are.
    masks: Vec<Vec<f64>>,
    /// The responsibilities of one component for the observed cells of a column.
    weights: Vec<f64>,
    /// The statistics of all columns of one component after another.
    sums: Vec<GaussianStats>,
}

impl<'a> IncompleteColumns<'a> {
    pub fn new(components: &'a [MultivariateGaussian]) -> Self {
        let columns = components.first().map_or(0, MultivariateGaussian::order);
        IncompleteColumns {
            components,
            masks: vec![Vec::new(); columns],
            weights: Vec::new(),
            sums: vec![GaussianStats::default(); columns * components.len()],
        }
    }

    /// Adds the log-densities of a block to `out`, component-major.
    pub fn add_log_density(&mut self, cells: &[Cells], out: &mut [f64]) {
        let rows = cells.first().map_or(0, Cells::len);
        self.load(cells);
        for (component, out) in self
            .components
            .iter()
            .zip(out.chunks_exact_mut(rows.max(1)))
        {
            for (c, (cells, mask)) in cells.iter().zip(&self.masks).enumerate() {
                let variance = component.covariance(c, c);
                // The inverse of a small variance could overflow, that of the deviation does not.
                let (mean, root) = (component.mean[c], 1.0 / variance.sqrt());
                let constant = -0.5 * (LN_TAU + variance.ln());
                if mask.is_empty() {
                    add_standardised_squares(cells.reals(), mean, root, constant, out);
                } else {
                    add_masked_squares(cells.reals(), mask, mean, root, constant, out);
                }
            }
        }
    }

    fn load(&mut self, cells: &[Cells]) {
        for (cells, mask) in cells.iter().zip(&mut self.masks) {
            mask.clear();
            if let Some(seen) = cells.seen {
                mask.extend((0..cells.len()).map(|row| f64::from(u8::from(seen.get(row)))));
            }
        }
    }

    /// Adds the block loaded last to the sums.
    pub fn accumulate(&mut self, cells: &[Cells], responsibilities: &[f64]) {
        let rows = cells.first().map_or(0, Cells::len);
        let columns = self.masks.len();
        let components = self
            .components
            .iter()
            .zip(responsibilities.chunks_exact(rows.max(1)));
        for (j, (component, responsibilities)) in components.enumerate() {
            for (c, (cells, mask)) in cells.iter().zip(&self.masks).enumerate() {
                let weights = if mask.is_empty() {
                    responsibilities
                } else {
                    let masked = responsibilities.iter().zip(mask).map(|(r, mask)| r * mask);
                    self.weights.clear();
                    self.weights.extend(masked);
                    &self.weights
                };
                let origin = component.mean[c];
                let (weight, first, second) = shifted_moments(cells.reals(), weights, origin);
                if weight > 0.0 {
                    let shift = first / weight;
                    self.sums[j * columns + c].merge(&GaussianStats {
                        weight,
                        mean: origin + shift,
                        // Overflow must stay visible, so NaN is not replaced.
                        scatter: at_least_zero(second - first * shift),
                    });
                }
            }
        }
    }

    /// Adds the sums to the statistics of the components.
    pub fn finish<'s>(self, stats: impl Iterator<Item = &'s mut MultivariateStats>) {
        let columns = self.masks.len().max(1);
        for (sums, stats) in self.sums.chunks_exact(columns).zip(stats) {
            if let MultivariateStats::Columns { columns, .. } = stats {
                let pairs = columns.iter_mut().zip(sums);
                pairs.for_each(|(stats, sums)| stats.merge(sums));
            }
        }
    }
}

/// The number, or 0 if rounding made it negative.
fn at_least_zero(scatter: f64) -> f64 {
    if scatter < 0.0 { 0.0 } else { scatter }
}
