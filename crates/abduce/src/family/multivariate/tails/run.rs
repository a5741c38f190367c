//! Many t components on runs of rows with the same missing columns. The Gaussian kernel gives
//! every row's distance δ, from which density and u follow,
//!
//!   ln p = c − (ν+d)/2 · ln(1 + δ/ν),  E u = (ν+d)/(ν+δ),
//!   E ln u = ln E u + ψ((ν+d)/2) − ln((ν+d)/2),
//!
//! and the same kernel sums the moments with the weights r·E u.

use crate::Result;
use crate::data::Cells;
use crate::family::multivariate::tails::{MultivariateStudentT, MultivariateStudentTStats};
use crate::family::multivariate::{GaussianRun, MultivariateKernel};
use crate::kernel::gaussian::Scratch;
use crate::kernel::special::{ln_less_digamma, ln_rising};

/// Components prepared for many runs.
pub(crate) struct TailedKernel {
    gaussian: MultivariateKernel,
    degrees: Vec<f64>,
    columns: usize,
    hard: bool,
}

/// Rows that share one pattern of observed columns.
pub(crate) struct TailedRun<'a> {
    kernel: &'a MultivariateKernel,
    only: Option<usize>,
    gaussian: GaussianRun<'a>,
    parts: Vec<Part>,
    /// ln(1 + δ/ν) of the block loaded last, component-major.
    stretches: Vec<f64>,
    /// r·E u of the block.
    pulls: Vec<f64>,
    columns: Vec<usize>,
}

/// The parameters of one component on a run, and its sums.
struct Part {
    degrees: f64,
    /// ν + d, where d is the number of observed values that inform u.
    power: f64,
    /// The log-density of a t at its location.
    peak: f64,
    gaussian_peak: f64,
    /// Σ r.
    rows: f64,
    /// Σ r (E u − 1 − E ln u).
    heaviness: f64,
}

impl TailedKernel {
    /// Prepares components; their weights only choose an origin of the arithmetic. With `hard`,
    /// missing values take their most probable value, but u its expectation.
    pub fn new(
        components: Vec<MultivariateStudentT>,
        weights: Vec<f64>,
        hard: bool,
    ) -> Result<Self> {
        let degrees = components.iter().map(|t| t.degrees).collect();
        let gaussians: Vec<_> = components.into_iter().map(|t| t.gaussian).collect();
        let columns = gaussians.first().map_or(0, |gaussian| gaussian.order());
        Ok(TailedKernel {
            gaussian: MultivariateKernel::new(gaussians, weights, hard)?,
            degrees,
            columns,
            hard,
        })
    }

    /// The number of rows of a block.
    pub fn block_rows(&self) -> usize {
        self.gaussian.block_rows()
    }

    /// Prepares all components, or `only` one, for about this number of `rows` with these
    /// observed columns.
    pub fn run(&self, seen: &[usize], only: Option<usize>, rows: usize) -> Result<TailedRun<'_>> {
        let gaussian = self.gaussian.run(seen, only, rows)?;
        // A missing value that is given its most probable value counts as observed.
        let completed = self.hard && self.gaussian.is_correlated();
        let values = if completed { self.columns } else { seen.len() };
        let degrees = match only {
            Some(j) => &self.degrees[j..=j],
            None => &self.degrees[..],
        };
        let part = |(gaussian_peak, degrees): (f64, &f64)| {
            let (half_degrees, half_values) = (0.5 * degrees, 0.5 * values as f64);
            Part {
                degrees: *degrees,
                power: degrees + values as f64,
                peak: gaussian_peak + ln_rising(half_degrees, half_values)
                    - half_values * half_degrees.ln(),
                gaussian_peak,
                rows: 0.0,
                heaviness: 0.0,
            }
        };
        let parts = gaussian.peaks().into_iter().zip(degrees).map(part);
        Ok(TailedRun {
            kernel: &self.gaussian,
            only,
            parts: parts.collect(),
            gaussian,
            stretches: Vec::new(),
            pulls: Vec::new(),
            columns: seen.to_vec(),
        })
    }
}

impl TailedRun<'_> {
    /// The observed columns of a block of the leaf's columns.
    pub fn observed_columns<'c>(&self, cells: &[Cells<'c>]) -> Vec<&'c [f64]> {
        self.gaussian.observed_columns(cells)
    }

    /// Loads a block of rows, observed columns only, into `scratch` and adds its log-densities to
    /// `out`, component-major.
    pub fn add_log_density(&mut self, columns: &[&[f64]], scratch: &mut Scratch, out: &mut [f64]) {
        if self.parts.is_empty() {
            return;
        }
        let rows = columns.first().map_or(0, |column| column.len());
        self.stretches.clear();
        self.stretches.resize(out.len(), 0.0);
        self.gaussian
            .add_log_density(columns, scratch, &mut self.stretches);
        let stretches = self.stretches.chunks_exact_mut(rows.max(1));
        let parts = stretches.zip(out.chunks_exact_mut(rows.max(1)));
        for ((stretches, out), part) in parts.zip(&self.parts) {
            let (twice, power) = (2.0 / part.degrees, 0.5 * part.power);
            for (stretch, out) in stretches.iter_mut().zip(out) {
                // Rounding may make a squared distance negative.
                let distance = (part.gaussian_peak - *stretch).max(0.0);
                *stretch = (twice * distance).ln_1p();
                *out += part.peak - power * *stretch;
            }
        }
    }

    /// Adds the block loaded last to the run's sums.
    pub fn accumulate(&mut self, scratch: &mut Scratch, responsibilities: &[f64]) {
        if self.parts.is_empty() {
            return;
        }
        let rows = responsibilities.len() / self.parts.len();
        self.pulls.clear();
        let blocks = responsibilities.chunks_exact(rows.max(1));
        let blocks = blocks.zip(self.stretches.chunks_exact(rows.max(1)));
        for ((responsibilities, stretches), part) in blocks.zip(&mut self.parts) {
            // (ν+d)/(ν+δ) = (1 + d/ν)/(1 + δ/ν).
            let log_most = (part.power / part.degrees - 1.0).ln_1p();
            let unsure = ln_less_digamma(0.5 * part.power);
            let (mut weight, mut heaviness) = (0.0, 0.0);
            for (r, stretch) in responsibilities.iter().zip(stretches) {
                let log = log_most - stretch;
                let pull = log.exp();
                self.pulls.push(r * pull);
                weight += r;
                heaviness += r * (pull - 1.0 - log);
            }
            part.rows += weight;
            part.heaviness += heaviness + weight * unsure;
        }
        self.gaussian.accumulate(scratch, &self.pulls);
    }

    /// Adds the observed values and the expectations of the missing ones to the statistics of the
    /// components. The spread of missing values is Σ/u: it counts once, whatever u is.
    pub fn finish<'s>(
        self,
        scratch: &mut Scratch,
        stats: impl Iterator<Item = &'s mut MultivariateStudentTStats>,
    ) {
        let rows: Vec<f64> = self.parts.iter().map(|part| part.rows).collect();
        let mut moments = Vec::with_capacity(rows.len());
        for (stats, part) in stats.zip(&self.parts) {
            stats.weight += part.rows;
            stats.heaviness += part.heaviness;
            if !stats.observed_weights.is_empty() {
                self.columns
                    .iter()
                    .for_each(|c| stats.observed_weights[*c] += part.rows);
            }
            moments.push(&mut stats.moments);
        }
        let all = moments.iter_mut().map(|stats| &mut **stats);
        self.gaussian.finish(Some(&rows), scratch, all);
        self.kernel
            .finish_patterns(self.only, scratch, moments.into_iter());
    }
}
