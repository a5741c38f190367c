//! Consecutive short runs of rows, each with its pattern of missing values, processed as one block:
//! the work done once for a block, such as the softmax, is not repeated for every few rows.

use crate::Result;
use crate::data::Cells;
use crate::family::multivariate::run::MultivariateKernel;
use crate::kernel::gaussian::{Pattern, Scratch};
use std::ops::Range;

/// The maximum number of rows of a block.
const MAX_ROWS: usize = 128;

/// The maximum size in bytes of the patterns prepared for a block.
const MAX_BYTES: usize = 8 << 20;

/// Rows of several patterns.
pub(crate) struct ShortRuns<'a> {
    kernel: &'a MultivariateKernel,
    only: Option<usize>,
    runs: Vec<(Range<usize>, Pattern<'a>)>,
}

impl MultivariateKernel {
    /// The maximum number of rows in a block of short runs.
    pub fn rows_of_short_runs(&self) -> usize {
        let bytes = self.pattern_bytes();
        (MAX_BYTES / bytes.max(1)).clamp(1, MAX_ROWS)
    }

    /// Prepares all components, or `only` one, for runs of rows, each with its number of rows and
    /// its observed columns.
    pub fn short_runs(
        &self,
        runs: impl Iterator<Item = (usize, Vec<usize>)>,
        only: Option<usize>,
    ) -> Result<ShortRuns<'_>> {
        let mut prepared = Vec::new();
        let mut start = 0;
        for (rows, seen) in runs {
            // Rows without any observed value have no effect.
            if !seen.is_empty() {
                prepared.push((start..start + rows, self.pattern(&seen, only, rows)?));
            }
            start += rows;
        }
        Ok(ShortRuns {
            kernel: self,
            only,
            runs: prepared,
        })
    }
}

impl ShortRuns<'_> {
    /// The values of the leaf's columns in the block; those of missing cells are arbitrary.
    pub fn columns<'c>(&self, cells: &[Cells<'c>]) -> Vec<&'c [f64]> {
        cells.iter().map(|cells| cells.reals()).collect()
    }

    /// Loads the block and adds its log-densities to `out`, component-major.
    pub fn add_log_density(&self, columns: &[&[f64]], scratch: &mut Scratch, out: &mut [f64]) {
        self.kernel.load_rows(columns, self.only, scratch);
        for (rows, pattern) in &self.runs {
            pattern.write_rows(rows.clone(), scratch);
        }
        scratch.add_rows_to(out);
    }

    /// Adds the block to the sums over patterns in `scratch`.
    pub fn accumulate(&self, scratch: &mut Scratch, responsibilities: &[f64]) {
        scratch.load_responsibilities(responsibilities);
        for (rows, pattern) in &self.runs {
            pattern.accumulate_rows(rows.clone(), scratch);
        }
    }

    /// Keeps the memory of the patterns for others.
    pub fn recycle(self) {
        for (_, pattern) in self.runs {
            self.kernel.recycle(pattern);
        }
    }
}
