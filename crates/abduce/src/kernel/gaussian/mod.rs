//! One EM step of Gaussian components on a block of rows, as two matrix
//! products. With Φ(y) = (y, y yᵀ) the sufficient statistics of standardised
//! rows y = (x − c)/s and η = (Pm, −P/2) the natural parameters, the
//! log-densities are `Φ·η` and the statistics `Rᵀ·Φ`, with only half of the symmetric products.
//!
//! The natural form suffers from cancellation if a component is far narrower than the table:
//! its error is about ε·|y|²·‖P‖. If this bound is too large, a component is computed from the
//! centred, whitened rows L⁻¹(y − m) instead.

mod features;
mod gathered;
mod moments;
mod patterns;
#[cfg(test)]
mod tests;

pub(crate) use features::block_rows;
pub(crate) use moments::{CentredMoments, Moments};
pub(crate) use patterns::{Conditionals, Interleaved, MANY_ROWS, Pattern, PatternMoments};

use super::by_row::ByRow;
use super::tiles::{self, Block, Pair, Panels};
use features::{largest_norm, pairs, standardise};

use super::linear::{cholesky, divide_by_scales, gram, invert_lower, log_diagonal};
use super::product::{Matrix, add_product};
use super::simd::{Level, level};
use super::special::LN_TAU;
use super::sums::sum;

/// The largest error of a log-density in natural form.
const TOLERANCE: f64 = 1e-9;

/// The covariance of one component.
#[derive(Clone, Copy)]
pub(crate) enum CovarianceRef<'a> {
    /// The matrix, column-major.
    Full(&'a [f64]),
    /// The variances.
    Diagonal(&'a [f64]),
}

/// The component and the pivot of a covariance that is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Singular {
    pub component: usize,
    pub pivot: usize,
}

/// Components prepared for many blocks.
pub(crate) struct GaussianKernel {
    order: usize,
    diagonal: bool,
    center: Vec<f64>,
    scale: Vec<f64>,
    level: Level,
    /// The features, of the columns and a last one of ones.
    pairs: Vec<Pair>,
    constants: Vec<f64>,
    /// η.
    panels: Panels,
    components: Vec<Whitened>,
}

/// One component in standardised coordinates.
struct Whitened {
    mean: Vec<f64>,
    /// L⁻¹ (full) or 1/σ (diagonal).
    inverse: Vec<f64>,
    /// The log-density at the mean, in the units of the table.
    peak: f64,
    precision_norm: f64,
    /// L⁻ᵀL⁻¹ (full) or 1/σ² (diagonal).
    precision: Vec<f64>,
    /// Whether moments are summed about the mean of the component.
    centred: bool,
}

/// The buffers of one thread, reused for all blocks.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The standardised columns, `stride` apart.
    columns: Vec<f64>,
    stride: usize,
    difference: Vec<f64>,
    white: Vec<f64>,
    rows: usize,
    largest_norm: f64,
    buffers: tiles::Buffers,
    /// Log-densities, then responsibilities, of rows with missing cells.
    by_row: ByRow,
    /// The moments of rows with missing cells, over all patterns so far.
    patterns: Option<PatternMoments>,
}

impl Scratch {
    /// Standardises a block of rows by the centre and the scale of each column, and appends a
    /// column of ones.
    fn load(&mut self, columns: &[&[f64]], places: impl Iterator<Item = (f64, f64)>) {
        let rows = columns.first().map_or(0, |column| column.len());
        self.rows = rows;
        self.stride = rows.next_multiple_of(tiles::ALIGNMENT);
        self.columns.resize((columns.len() + 1) * self.stride, 0.0);
        let targets = self.columns.chunks_exact_mut(self.stride.max(1));
        for ((out, x), (center, scale)) in targets.zip(columns).zip(places) {
            let (out, padding) = out.split_at_mut(rows);
            standardise(x, center, 1.0 / scale, out);
            padding.fill(0.0);
        }
        let (seen, ones) = self.columns.split_at_mut(columns.len() * self.stride);
        ones.fill(1.0);
        self.largest_norm = largest_norm(seen, self.stride, &mut self.white);
    }

    /// Standardises a block of rows whose features are not needed.
    fn load_without_features(
        &mut self,
        columns: &[&[f64]],
        places: impl Iterator<Item = (f64, f64)>,
    ) {
        self.rows = columns.first().map_or(0, |column| column.len());
        self.stride = self.rows;
        self.columns.clear();
        for (x, (center, scale)) in columns.iter().zip(places) {
            let factor = 1.0 / scale;
            self.columns.extend(x.iter().map(|x| (x - center) * factor));
        }
    }

    /// Adds the log-densities of a block with several patterns to `out`, component-major.
    pub fn add_rows_to(&self, out: &mut [f64]) {
        self.by_row.add_to(out, self.rows);
    }

    /// Loads the responsibilities of a block with several patterns, given component-major.
    pub fn load_responsibilities(&mut self, responsibilities: &[f64]) {
        let width = self.by_row.width;
        self.by_row.load(responsibilities, self.rows, width);
    }

    /// Takes out the moments of rows with missing cells.
    pub fn take_patterns(&mut self) -> Option<PatternMoments> {
        self.patterns.take()
    }

    /// The standardised numbers of a column.
    fn column(&self, column: usize) -> &[f64] {
        &self.columns[column * self.stride..][..self.rows]
    }
}

impl GaussianKernel {
    /// Prepares components with their means, covariances and weights in the mixture; the
    /// weights only affect the standardisation.
    pub fn new(
        means: &[&[f64]],
        covariances: &[CovarianceRef],
        weights: &[f64],
    ) -> Result<Self, Singular> {
        let order = means.first().map_or(0, |mean| mean.len());
        let diagonal = matches!(covariances.first(), Some(CovarianceRef::Diagonal(_)));
        let (center, scale) = mixture_scale(means, covariances, weights, order);
        let pairs = pairs(order, diagonal);
        let level = level();
        let mut kernel = GaussianKernel {
            order,
            diagonal,
            level,
            constants: Vec::with_capacity(means.len()),
            components: Vec::with_capacity(means.len()),
            panels: Panels::new(level, &[], pairs.len()),
            pairs,
            center,
            scale,
        };
        let mut natural = Vec::with_capacity(means.len() * kernel.pairs.len());
        for (component, (mean, covariance)) in means.iter().zip(covariances).enumerate() {
            kernel
                .push(mean, *covariance, &mut natural)
                .map_err(|pivot| Singular { component, pivot })?;
        }
        kernel.panels = Panels::new(level, &natural, kernel.pairs.len());
        Ok(kernel)
    }

    /// Adds a component, and its η to `natural`.
    fn push(
        &mut self,
        mean: &[f64],
        covariance: CovarianceRef,
        natural: &mut Vec<f64>,
    ) -> Result<(), usize> {
        let d = self.order;
        let mean: Vec<f64> = (0..d)
            .map(|c| (mean[c] - self.center[c]) / self.scale[c])
            .collect();
        let log_scale: f64 = self.scale.iter().map(|s| s.ln()).sum();
        let norm_sqr: f64 = mean.iter().map(|m| m * m).sum();
        let Factored {
            inverse,
            log_root,
            precision,
        } = Factored::new(covariance, &self.scale)?;
        let peak = -0.5 * d as f64 * LN_TAU - log_root - log_scale;
        let precision_norm = precision.iter().map(|p| p * p).sum::<f64>().sqrt();
        let linear: Vec<f64> = if self.diagonal {
            (0..d).map(|c| precision[c] * mean[c]).collect()
        } else {
            (0..d)
                .map(|i| (0..d).map(|j| precision[j * d + i] * mean[j]).sum())
                .collect()
        };
        let quadratic: f64 = linear.iter().zip(&mean).map(|(l, m)| l * m).sum();
        self.constants.push(peak - 0.5 * quadratic);
        natural.extend_from_slice(&linear);
        if self.diagonal {
            natural.extend(precision.iter().map(|p| -0.5 * p));
        } else {
            for i in 0..d {
                natural.push(-0.5 * precision[i * d + i]);
                natural.extend((i + 1..d).map(|j| -precision[j * d + i]));
            }
        }
        let centred = f64::EPSILON * norm_sqr * precision_norm > TOLERANCE;
        self.components.push(Whitened {
            mean,
            inverse,
            peak,
            precision_norm,
            precision,
            centred,
        });
        Ok(())
    }

    /// The log-densities of the components at their means.
    pub fn peaks(&self) -> Vec<f64> {
        let components = self.components.iter();
        components.map(|component| component.peak).collect()
    }

    /// Standardises a block of complete rows.
    pub fn load(&self, columns: &[&[f64]], scratch: &mut Scratch) {
        let places = self.center.iter().copied().zip(self.scale.iter().copied());
        scratch.load(columns, places);
    }

    /// Standardises all columns of a block of rows with several patterns of missing cells; the
    /// values of missing cells are arbitrary. Sets the log-densities of all rows to 0.
    pub fn load_rows(&self, columns: &[&[f64]], components: &Interleaved, scratch: &mut Scratch) {
        let places = self.center.iter().copied().zip(self.scale.iter().copied());
        scratch.load_without_features(columns, places);
        scratch.by_row.numbers.clear();
        scratch.by_row.resize(scratch.rows, components.width());
    }

    /// The loaded rows and their features.
    fn block<'a>(&'a self, columns: &'a [f64], stride: usize, rows: usize) -> Block<'a> {
        Block {
            columns,
            stride,
            rows,
            pairs: &self.pairs,
        }
    }

    /// Adds the log-densities of the loaded block under every component to
    /// `out`, component-major.
    pub fn add_log_density(&self, scratch: &mut Scratch, out: &mut [f64]) {
        let rows = scratch.rows;
        if rows == 0 {
            return;
        }
        let imprecise = |component: &Whitened| {
            f64::EPSILON * scratch.largest_norm * component.precision_norm > TOLERANCE
        };
        let flags: Vec<bool> = self.components.iter().map(imprecise).collect();
        if flags.contains(&false) {
            let block = self.block(&scratch.columns, scratch.stride, rows);
            self.panels
                .add_log_density(block, &self.constants, &flags, &mut scratch.buffers, out);
        }
        for (component, out) in self
            .components
            .iter()
            .zip(out.chunks_exact_mut(rows))
            .zip(&flags)
            .filter_map(|(one, flag)| flag.then_some(one))
        {
            self.add_whitened(component, scratch, out);
        }
    }

    fn add_whitened(&self, component: &Whitened, scratch: &mut Scratch, out: &mut [f64]) {
        let rows = scratch.rows;
        self.center_on(component, scratch);
        out.iter_mut().for_each(|l| *l += component.peak);
        if self.diagonal {
            for (difference, inverse) in scratch
                .difference
                .chunks_exact(rows)
                .zip(&component.inverse)
            {
                for (l, x) in out.iter_mut().zip(difference) {
                    let white = x * inverse;
                    *l -= 0.5 * white * white;
                }
            }
            return;
        }
        self.whiten(component, scratch);
        for white in scratch.white.chunks_exact(rows) {
            for (l, w) in out.iter_mut().zip(white) {
                *l -= 0.5 * w * w;
            }
        }
    }

    /// Fills `white` with L⁻¹ times the differences.
    fn whiten(&self, component: &Whitened, scratch: &mut Scratch) {
        let (d, rows) = (self.order, scratch.rows);
        let Scratch {
            difference, white, ..
        } = scratch;
        white.clear();
        white.resize(d * rows, 0.0);
        add_product(
            white,
            rows,
            Matrix::new(difference, rows, d, rows),
            Matrix::new(&component.inverse, d, d, d).transposed(),
        );
    }

    fn center_on(&self, component: &Whitened, scratch: &mut Scratch) {
        let mut difference = std::mem::take(&mut scratch.difference);
        difference.clear();
        for (c, mean) in component.mean.iter().enumerate() {
            difference.extend(scratch.column(c).iter().map(|y| y - mean));
        }
        scratch.difference = difference;
    }
}

/// A covariance in standardised coordinates.
struct Factored {
    /// L⁻¹ (full) or 1/σ (diagonal).
    inverse: Vec<f64>,
    /// Half of the log-determinant.
    log_root: f64,
    /// L⁻ᵀL⁻¹ (full) or 1/σ² (diagonal).
    precision: Vec<f64>,
}

impl Factored {
    /// # Errors
    /// The first pivot that is not positive.
    fn new(covariance: CovarianceRef, scale: &[f64]) -> Result<Factored, usize> {
        let d = scale.len();
        match covariance {
            CovarianceRef::Full(matrix) => {
                let mut scaled = matrix.to_vec();
                divide_by_scales(&mut scaled, scale);
                let factor = cholesky(&scaled, d)?;
                let inverse = invert_lower(&factor, d);
                Ok(Factored {
                    log_root: log_diagonal(&factor, d),
                    precision: gram(&inverse, d),
                    inverse,
                })
            }
            CovarianceRef::Diagonal(variances) => {
                let scaled: Vec<f64> = (0..d)
                    .map(|c| variances[c] / (scale[c] * scale[c]))
                    .collect();
                if let Some(pivot) = scaled.iter().position(|v| !(*v > 0.0 && v.is_finite())) {
                    return Err(pivot);
                }
                Ok(Factored {
                    inverse: scaled.iter().map(|v| 1.0 / v.sqrt()).collect(),
                    log_root: scaled.iter().map(|v| 0.5 * v.ln()).sum(),
                    precision: scaled.iter().map(|v| 1.0 / v).collect(),
                })
            }
        }
    }
}

/// Mean and standard deviation of the mixture in every column.
fn mixture_scale(
    means: &[&[f64]],
    covariances: &[CovarianceRef],
    weights: &[f64],
    order: usize,
) -> (Vec<f64>, Vec<f64>) {
    let total: f64 = weights.iter().sum();
    let share = |j: usize| {
        if total > 0.0 {
            weights[j] / total
        } else {
            1.0 / means.len() as f64
        }
    };
    let center: Vec<f64> = (0..order)
        .map(|c| (0..means.len()).map(|j| share(j) * means[j][c]).sum())
        .collect();
    let scale = (0..order)
        .map(|c| {
            let variance: f64 = (0..means.len())
                .map(|j| {
                    let variance = match covariances[j] {
                        CovarianceRef::Full(matrix) => matrix[c * order + c],
                        CovarianceRef::Diagonal(variances) => variances[c],
                    };
                    let shift = means[j][c] - center[c];
                    share(j) * (variance + shift * shift)
                })
                .sum();
            if variance > 0.0 && variance.is_finite() {
                variance.sqrt()
            } else {
                1.0
            }
        })
        .collect();
    (center, scale)
}
