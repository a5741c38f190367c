//! Rows with a pattern of missing cells. The components stand side by side in the lanes of
//! registers. With P the precision matrix of a component, h the hidden and o the observed columns
//! of the pattern:
//!
//!   y_h | y_o has mean m_h + B (y_o − m_o) and covariance C = P_hh⁻¹, B = −C P_ho,
//!   y_o has precision Q = P_oo − P_oh C P_ho, with ln |Q| = ln |P| − ln |P_hh|.
//!
//! For h hidden columns among d, these take h³ + h²d operations instead of the d³ of a
//! factorisation. Rows are then processed in one of two ways:
//!
//! - Many rows: the marginal of y_o has natural parameters, and the rows go through the
//!   [`tiles`] of complete rows; their moments are extended to y_h once.
//! - Few rows, or rows for which natural parameters are imprecise: each row is completed by the
//!   conditional means, whitened, and added to moments about the means of the components.

mod conditionals;
mod lanes;
mod moments;
mod rows;

pub(crate) use conditionals::Conditionals;
pub(crate) use moments::PatternMoments;

use super::{GaussianKernel, Scratch, TOLERANCE};
use crate::kernel::simd::Level;
use crate::kernel::tiles;
use conditionals::Marginal;
use moments::{Extension, extend};
use rows::{Rows, accumulate, write_log_density};
use std::ops::Range;
use std::sync::Arc;

/// The minimum number of rows of a pattern for which its natural parameters are computed; for fewer
/// rows they take longer than they save.
pub(crate) const MANY_ROWS: usize = 8;

/// Components side by side: each entry of a matrix is followed by the same entry of the next
/// component, up to a padded number of components.
#[derive(Clone)]
pub(crate) struct Interleaved {
    level: Level,
    order: usize,
    components: usize,
    width: usize,
    mean: Vec<f64>,
    /// P, column by column.
    precision: Vec<f64>,
    /// The inverse factor of the covariance, row by row, with zeros above the diagonal.
    inverse: Vec<f64>,
    /// The log-densities at the means.
    peak: Vec<f64>,
    /// Whether natural parameters are precise near the means.
    natural: bool,
    largest_precision: f64,
}

impl GaussianKernel {
    /// Some of the components side by side.
    pub fn interleaved(&self, which: Range<usize>) -> Interleaved {
        let (d, components) = (self.order, &self.components[which]);
        let level = tiles::moments_level(self.level, components.len());
        let width = tiles::padded(self.level, components.len());
        // Padding repeats the last component, so that every lane has an invertible matrix.
        let of = |numbers: &dyn Fn(&super::Whitened, usize) -> f64, count: usize| -> Vec<f64> {
            let lanes = (0..width).map(|j| &components[j.min(components.len() - 1)]);
            (0..count)
                .flat_map(|t| lanes.clone().map(move |component| numbers(component, t)))
                .collect()
        };
        let precisions = components.iter().map(|component| component.precision_norm);
        Interleaved {
            level,
            order: d,
            components: components.len(),
            width,
            mean: of(&|component, c| component.mean[c], d),
            precision: of(&|component, t| component.precision[t], d * d),
            inverse: of(&|component, t| component.inverse[t % d * d + t / d], d * d),
            peak: of(&|component, _| component.peak, 1),
            natural: components.iter().all(|component| !component.centred),
            largest_precision: precisions.fold(0.0, f64::max),
        }
    }
}

impl Interleaved {
    /// The padded number of components.
    pub fn width(&self) -> usize {
        self.width
    }
}

/// Components with the rows of a pattern of observed columns.
pub(crate) struct Pattern<'a> {
    kernel: &'a GaussianKernel,
    components: &'a Interleaved,
    conditionals: Arc<Conditionals>,
}

impl<'a> Pattern<'a> {
    /// Components with their conditional distributions for this pattern.
    pub fn new(
        kernel: &'a GaussianKernel,
        components: &'a Interleaved,
        conditionals: Arc<Conditionals>,
    ) -> Self {
        Pattern {
            kernel,
            components,
            conditionals,
        }
    }

    /// The conditional distributions, whose memory can be reused.
    pub fn into_conditionals(self) -> Arc<Conditionals> {
        self.conditionals
    }

    /// Whether natural parameters are worth computing for this number of rows.
    pub fn many(rows: usize) -> bool {
        rows >= MANY_ROWS
    }

    /// Standardises a block of the observed columns, all rows of which have this pattern.
    pub fn load(&self, columns: &[&[f64]], scratch: &mut Scratch) {
        let places = self
            .conditionals
            .seen
            .iter()
            .map(|c| (self.kernel.center[*c], self.kernel.scale[*c]));
        match self.conditionals.marginal {
            Some(_) => scratch.load(columns, places),
            None => scratch.load_without_features(columns, places),
        }
    }

    /// Adds the log-densities of the loaded block, component-major.
    pub fn add_log_density(&self, scratch: &mut Scratch, out: &mut [f64]) {
        let error = f64::EPSILON * scratch.largest_norm * self.components.largest_precision;
        match &self.conditionals.marginal {
            Some(marginal) if error <= TOLERANCE => {
                let mut buffers = std::mem::take(&mut scratch.buffers);
                let block = marginal.block(scratch);
                let skip = vec![false; marginal.constants.len()];
                let constants = &marginal.constants;
                (marginal.panels).add_log_density(block, constants, &skip, &mut buffers, out);
                scratch.buffers = buffers;
            }
            _ => {
                scratch.by_row.resize(scratch.rows, self.components.width);
                self.write_by_row(0..scratch.rows, &self.conditionals.positions, scratch);
                scratch.by_row.add_to(out, scratch.rows);
            }
        }
    }

    /// Adds the loaded block to the sums.
    pub fn accumulate(&self, scratch: &mut Scratch, responsibilities: &[f64]) {
        match &self.conditionals.marginal {
            Some(marginal) => self.accumulate_observed(marginal, scratch, responsibilities),
            None => {
                let (rows, width) = (scratch.rows, self.components.width);
                scratch.by_row.load(responsibilities, rows, width);
                self.accumulate_by_row(0..rows, &self.conditionals.positions, scratch);
            }
        }
    }

    /// Adds the loaded block to the sums over observed columns.
    fn accumulate_observed(
        &self,
        marginal: &Marginal,
        scratch: &mut Scratch,
        responsibilities: &[f64],
    ) {
        let mut moments = scratch.patterns.take();
        let sums = moments.get_or_insert_with(|| PatternMoments::new(self.components));
        sums.seen_sums
            .resize(marginal.pairs.len() * self.components.width, 0.0);
        let columns = responsibilities.chunks_exact(scratch.rows);
        for (weight, r) in sums.seen_weight.iter_mut().zip(columns) {
            *weight += super::sum(r);
        }
        let mut buffers = std::mem::take(&mut scratch.buffers);
        tiles::accumulate(
            self.kernel.level,
            marginal.block(scratch),
            responsibilities,
            &mut buffers,
            &mut sums.seen_sums,
        );
        scratch.buffers = buffers;
        scratch.patterns = moments;
    }

    /// Writes the log-densities of rows of a block with several patterns; see
    /// [`GaussianKernel::load_rows`].
    pub fn write_rows(&self, rows: Range<usize>, scratch: &mut Scratch) {
        self.write_by_row(rows, &self.conditionals.seen, scratch);
    }

    /// Adds rows of a block with several patterns to the sums, and extends these to the hidden
    /// columns; see [`Scratch::load_responsibilities`].
    pub fn accumulate_rows(&self, rows: Range<usize>, scratch: &mut Scratch) {
        self.accumulate_by_row(rows, &self.conditionals.seen, scratch);
        self.extend_sums(scratch, None);
    }

    fn rows<'s>(
        &'s self,
        rows: Range<usize>,
        places: &'s [usize],
        scratch: &'s Scratch,
    ) -> Rows<'s> {
        Rows {
            pattern: self,
            columns: &scratch.columns,
            stride: scratch.stride,
            places,
            rows,
        }
    }

    /// Writes log-densities row by row; `places` are the positions of the observed columns among
    /// the loaded ones.
    fn write_by_row(&self, rows: Range<usize>, places: &[usize], scratch: &mut Scratch) {
        let mut work = std::mem::take(&mut scratch.white);
        let mut by_row = std::mem::take(&mut scratch.by_row);
        let out = by_row.rows_mut(rows.clone());
        let rows = self.rows(rows, places, scratch);
        write_log_density(self.components.level, &rows, &mut work, out);
        (scratch.by_row, scratch.white) = (by_row, work);
    }

    /// Adds rows to the sums, with responsibilities row by row.
    fn accumulate_by_row(&self, rows: Range<usize>, places: &[usize], scratch: &mut Scratch) {
        let mut moments = scratch.patterns.take();
        let sums = moments.get_or_insert_with(|| PatternMoments::new(self.components));
        let mut work = std::mem::take(&mut scratch.white);
        let responsibilities = scratch.by_row.rows(rows.clone());
        let rows = self.rows(rows, places, scratch);
        accumulate(
            self.components.level,
            &rows,
            responsibilities,
            &mut work,
            sums,
        );
        (scratch.patterns, scratch.white) = (moments, work);
    }

    /// Extends the sums over the rows of this pattern to the hidden columns. The conditional
    /// covariance of missing cells is added with the weight `rows` of each component, or if this is
    /// `None` with the sum of its responsibilities.
    pub fn extend_sums(&self, scratch: &mut Scratch, rows: Option<&[f64]>) {
        let Some(sums) = &mut scratch.patterns else {
            return;
        };
        let by_origin = self.conditionals.marginal.is_some();
        if by_origin {
            sums.spread.copy_from_slice(&sums.seen_weight);
        }
        if let Some(rows) = rows {
            sums.spread[..rows.len()].copy_from_slice(rows);
        }
        if self.conditionals.hard {
            sums.spread.fill(0.0);
        }
        extend(self.components.level, &Extension { pattern: self }, sums);
        if by_origin {
            for (sum, weight) in sums.origin_weight.iter_mut().zip(&sums.seen_weight) {
                *sum += weight;
            }
            sums.seen_sums.clear();
            sums.seen_weight.fill(0.0);
        }
        sums.spread.fill(0.0);
    }

    /// The log-densities at the means.
    pub fn peaks(&self) -> Vec<f64> {
        self.conditionals.peak[..self.components.components].to_vec()
    }
}
