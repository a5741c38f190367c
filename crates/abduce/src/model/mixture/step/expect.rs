//! The E-step. The rows of a chunk are sorted into runs with the same label and the same pattern
//! of missing values. A run is processed in blocks that fit into the cache: log-densities, softmax,
//! expected statistics; several short runs share a block. Only a block needs memory of the size
//! rows × components.

use crate::Control;
use crate::data::{CHUNK_ROWS, Cells, Chunk};
use crate::family::TogetherRun;
use crate::kernel::gaussian::Scratch;
use crate::kernel::hashing::uniform;
use crate::kernel::softmax::softmax;
use crate::kernel::sums::sum;
use crate::leaf::Leaf;
use crate::leaf::columns::{ColumnBuffers, ColumnTable};
use crate::leaf::kernels::{Fast, LeafKernel, LevelTable, before_noise};
use crate::learn::EStep;
use crate::model::mixture::step::runs::{Run, group_runs, sort_into_runs};
use crate::model::mixture::{MixtureStatistics, Parameters};
use crate::{Error, Result};
use std::borrow::Cow;

/// The rows of a block, unless a Gaussian kernel needs smaller blocks.
const BLOCK_ROWS: usize = 1024;

/// Parameters prepared for many chunks.
pub struct Prepared<'a> {
    pub(super) leaves: &'a [Leaf],
    target: Option<usize>,
    log_weights: Vec<f64>,
    pub(super) kernels: Vec<LeafKernel<'a>>,
    levels: Option<LevelTable>,
    columns: Option<ColumnTable>,
    hard: bool,
    /// Whether to return the logarithms of joint densities instead of responsibilities.
    with_log_densities: bool,
    /// The seed of random labels, if labels are drawn.
    draws: Option<u64>,
    /// The weight of rows without a label.
    unlabelled: f64,
    /// Whether statistics of the leaves are computed, besides weights and log-likelihood.
    moments: bool,
    pub(super) block: usize,
    control: Control<'a>,
}

/// Memory reused for all blocks.
struct Buffers {
    scratch: Vec<Scratch>,
    /// Joint log-densities, then responsibilities, all rows of one component after another.
    joint: Vec<f64>,
    /// The log-densities of the rows.
    totals: Vec<f64>,
    columns: ColumnBuffers,
}

impl Buffers {
    fn new(leaves: usize) -> Buffers {
        Buffers {
            scratch: (0..leaves).map(|_| Scratch::default()).collect(),
            joint: Vec::new(),
            totals: Vec::new(),
            columns: ColumnBuffers::default(),
        }
    }
}

/// The result of the E-step for a block of rows.
pub(crate) struct BlockResult<'a> {
    /// The positions of the rows in the chunk.
    pub rows: &'a [u32],
    /// Responsibilities, all rows of one component after another; for labelled rows, only those
    /// of the label.
    pub responsibilities: &'a [f64],
    /// The label of the rows.
    pub label: Option<usize>,
    /// The log-densities of the rows.
    pub log_densities: &'a [f64],
}

impl<'a> Prepared<'a> {
    /// Prepares parameters. Without `target`, labels are ignored.
    pub fn new(
        leaves: &'a [Leaf],
        target: Option<usize>,
        parameters: &'a Parameters,
        step: EStep,
    ) -> Result<Self> {
        let hard = step == EStep::Hard;
        let mut block = BLOCK_ROWS;
        let mut kernels = Vec::with_capacity(leaves.len());
        for distributions in &parameters.leaves {
            let unseen = parameters.unseen.get(kernels.len());
            let unseen = unseen.map_or(&[][..], Vec::as_slice);
            let family_components = before_noise(distributions);
            let weights = &parameters.weights[..family_components];
            let fast = Fast::new(&distributions[..family_components], unseen, weights, hard)?;
            if let Fast::Together(kernel) = &fast {
                block = block.min(kernel.block_rows());
            }
            kernels.push(LeafKernel {
                distributions,
                family_components,
                fast,
                unbounded: false,
            });
        }
        let log_weights: Vec<f64> = parameters.weights.iter().map(|w| w.ln()).collect();
        let fixed: Vec<bool> = leaves.iter().map(|leaf| leaf.fixed).collect();
        Ok(Prepared {
            leaves,
            target,
            levels: LevelTable::new(&kernels, log_weights.len()),
            columns: ColumnTable::new(&kernels, &fixed, &parameters.weights),
            log_weights,
            kernels,
            hard,
            draws: None,
            with_log_densities: false,
            unlabelled: 1.0,
            moments: true,
            block,
            control: Control::default(),
        })
    }

    /// Sets the weight of rows without a label in statistics and likelihood.
    pub fn with_unlabelled_weight(self, weight: f64) -> Self {
        Prepared {
            unlabelled: weight,
            ..self
        }
    }

    /// Computes only the likelihood and the weights, not the statistics of the leaves.
    pub fn without_moments(self) -> Self {
        Prepared {
            moments: false,
            ..self
        }
    }

    /// Extends the density of noise beyond the range of the fitted rows, so that outliers are
    /// assigned to noise.
    pub fn with_noise_everywhere(mut self) -> Self {
        let kernels = self.kernels.iter_mut();
        kernels.for_each(|kernel| kernel.unbounded = true);
        self
    }

    /// Returns the logarithms of joint densities instead of responsibilities.
    pub fn with_log_densities(self) -> Self {
        Prepared {
            with_log_densities: true,
            ..self
        }
    }

    /// Draws the component of each row without a label.
    pub fn with_drawn_labels(self, seed: u64) -> Self {
        Prepared {
            draws: Some(seed),
            ..self
        }
    }

    /// Lets the caller interrupt the E-step within a chunk; the statistics are then incomplete.
    pub fn with_control(self, control: Control<'a>) -> Self {
        Prepared { control, ..self }
    }

    /// Processes a chunk: adds to the statistics, if given, and passes the result of each block
    /// to `on_block`. With statistics, rows of weight 0 are left out.
    pub fn process(
        &self,
        chunk: &Chunk,
        statistics: Option<&mut MixtureStatistics>,
        on_block: impl FnMut(BlockResult),
    ) -> Result<()> {
        self.process_chunk(0, chunk, statistics, on_block)
    }

    /// Like [`process`](Self::process), with the number of the chunk in its source, which seeds
    /// drawn labels.
    pub fn process_chunk(
        &self,
        number: usize,
        chunk: &Chunk,
        mut statistics: Option<&mut MixtureStatistics>,
        mut on_block: impl FnMut(BlockResult),
    ) -> Result<()> {
        let (order, runs) = sort_into_runs(
            chunk,
            self.target,
            &self.correlated_columns(),
            statistics.is_some(),
        );
        self.check_labels(&runs)?;
        let sorted = match &order {
            Some(order) => Cow::Owned(chunk.take(order)),
            None => Cow::Borrowed(chunk),
        };
        let order: Vec<u32> = order.unwrap_or_else(|| (0..chunk.rows() as u32).collect());
        let mut buffers = Buffers::new(self.kernels.len());
        let mut groups = group_runs(&runs, self.rows_of_short_runs()).peekable();
        while let Some(group) = groups.next() {
            if self.control.is_interrupted() {
                break;
            }
            let label = group[0].label;
            // Rows of weight 0 are skipped, as they may be impossible.
            if label.is_none() && self.unlabelled == 0.0 && statistics.is_some() {
                continue;
            }
            let mut gaussians = self.gaussian_runs(group, &sorted)?;
            let (first, last) = (group[0].start, group[group.len() - 1].end());
            for start in (first..last).step_by(self.block) {
                let len = self.block.min(last - start);
                let rows = &order[start..start + len];
                let cells = self.cells(&sorted, start, len);
                self.compute_log_densities(label, &cells, len, &mut gaussians, &mut buffers);
                self.normalise(label, number, rows, &mut buffers);
                let Buffers { joint, totals, .. } = &mut buffers;
                on_block(BlockResult {
                    rows,
                    responsibilities: joint,
                    label,
                    log_densities: totals,
                });
                let Some(statistics) = statistics.as_deref_mut() else {
                    continue;
                };
                let weights = self.weights(&sorted, label, start, len);
                statistics.add_block(label, weights.as_deref(), joint, totals);
                if self.moments {
                    self.accumulate(label, &cells, &mut gaussians, &mut buffers, statistics);
                }
            }
            if let Some(statistics) = statistics.as_deref_mut().filter(|_| self.moments) {
                let is_last = groups.peek().is_none_or(|next| next[0].label != label);
                let scratch = &mut buffers.scratch;
                self.finish_gaussians(label, gaussians, is_last, scratch, statistics);
            }
        }
        if let (Some(statistics), Some(table)) = (statistics, &self.columns) {
            table.finish(&mut buffers.columns, &mut statistics.leaves);
        }
        Ok(())
    }

    /// Fails if a label is not one of the components.
    fn check_labels(&self, runs: &[Run]) -> Result<()> {
        let largest = runs.iter().filter_map(|run| run.label).max();
        if largest.is_some_and(|label| label >= self.log_weights.len()) {
            return Err(Error::data("a label is not one of the model's classes"));
        }
        Ok(())
    }

    /// The cells of a block of rows, by leaf.
    fn cells<'c>(&self, chunk: &'c Chunk, start: usize, len: usize) -> Vec<Vec<Cells<'c>>> {
        let leaves = self.leaves.iter();
        leaves.map(|leaf| leaf.cells(chunk, start, len)).collect()
    }

    /// Computes the logarithms of the joint densities of rows and components.
    fn compute_log_densities(
        &self,
        label: Option<usize>,
        leaves: &[Vec<Cells>],
        len: usize,
        gaussians: &mut [Option<TogetherRun>],
        buffers: &mut Buffers,
    ) {
        let Buffers {
            scratch,
            joint,
            columns,
            ..
        } = buffers;
        joint.clear();
        match label {
            Some(label) => joint.resize(len, self.log_weights[label]),
            None => {
                for weight in &self.log_weights {
                    joint.resize(joint.len() + len, *weight);
                }
            }
        }
        let levels = self.levels.as_ref().filter(|_| label.is_none());
        if let Some(levels) = levels {
            levels.add_log_density(leaves, len, joint);
        }
        let table = self.columns.as_ref().filter(|_| label.is_none());
        if let Some(table) = table {
            table.add_log_density(leaves, len, columns, joint);
        }
        for (l, cells) in leaves.iter().enumerate() {
            let is_in_table = levels.is_some_and(|levels| levels.leaves.contains(&l))
                || table.is_some_and(|table| table.has_density(l));
            if is_in_table || self.leaves[l].fixed {
                continue;
            }
            match &mut gaussians[l] {
                Some(gaussian) => {
                    let size = self.family_components(l, label) * len;
                    gaussian.add_log_density(cells, &mut scratch[l], &mut joint[..size]);
                }
                None => self.kernels[l].add_log_density(label, cells, joint),
            }
            if label.is_none() {
                self.kernels[l].add_noise(cells, joint);
            }
        }
    }

    /// Turns joint log-densities into responsibilities and the log-densities of rows.
    fn normalise(&self, label: Option<usize>, chunk: usize, rows: &[u32], buffers: &mut Buffers) {
        let Buffers { joint, totals, .. } = buffers;
        totals.clear();
        totals.resize(rows.len(), 0.0);
        if label.is_some() {
            totals.copy_from_slice(joint);
            joint.fill(1.0);
        } else if self.with_log_densities {
            totals.fill(f64::NAN);
        } else if self.hard {
            assign_most_probable(joint, totals);
        } else {
            softmax(joint, totals);
            if let Some(seed) = self.draws {
                let first = chunk as u64 * CHUNK_ROWS as u64;
                let numbers = rows.iter();
                let numbers = numbers.map(|row| uniform(seed, first + u64::from(*row)));
                draw_components(joint, rows.len(), numbers);
            }
        }
    }

    /// The weights of a block of rows; `None` if all are 1.
    fn weights<'c>(
        &self,
        chunk: &'c Chunk,
        label: Option<usize>,
        start: usize,
        len: usize,
    ) -> Option<Cow<'c, [f64]>> {
        let weights = chunk.weights().map(|weights| &weights[start..start + len]);
        if label.is_some() || self.unlabelled == 1.0 {
            return weights.map(Cow::Borrowed);
        }
        let weight = |i: usize| self.unlabelled * weights.map_or(1.0, |weights| weights[i]);
        Some(Cow::Owned((0..len).map(weight).collect()))
    }

    /// Adds a block's weighted responsibilities to the statistics of the leaves.
    fn accumulate(
        &self,
        label: Option<usize>,
        leaves: &[Vec<Cells>],
        gaussians: &mut [Option<TogetherRun>],
        buffers: &mut Buffers,
        statistics: &mut MixtureStatistics,
    ) {
        let Buffers {
            scratch,
            joint,
            totals,
            columns,
        } = buffers;
        let table = self.columns.as_ref().filter(|_| label.is_none());
        if let Some(table) = table {
            table.accumulate(leaves, joint, totals.len(), columns);
        }
        for (l, cells) in leaves.iter().enumerate() {
            if table.is_some_and(|table| table.has_sums(l)) {
                continue;
            }
            match &mut gaussians[l] {
                Some(gaussian) => {
                    let size = self.family_components(l, label) * totals.len();
                    gaussian.accumulate(cells, &mut scratch[l], &joint[..size]);
                }
                None => {
                    let components = &mut statistics.leaves[l];
                    self.kernels[l].expect(label, cells, joint, components);
                }
            }
        }
    }
}

impl MixtureStatistics {
    /// Adds the weights and the log-likelihood of a block, and multiplies its responsibilities by
    /// the weights of the rows.
    fn add_block(
        &mut self,
        label: Option<usize>,
        weights: Option<&[f64]>,
        joint: &mut [f64],
        log_densities: &[f64],
    ) {
        let rows = log_densities.len();
        match weights {
            Some(weights) => {
                for column in joint.chunks_exact_mut(rows) {
                    column.iter_mut().zip(weights).for_each(|(r, w)| *r *= w);
                }
                self.total += weights.iter().sum::<f64>();
                let terms = log_densities.iter().zip(weights).map(|(l, w)| l * w);
                self.log_likelihood += terms.sum::<f64>();
            }
            None => {
                self.total += rows as f64;
                self.log_likelihood += sum(log_densities);
            }
        }
        for (j, column) in joint.chunks_exact(rows).enumerate() {
            self.weights[label.unwrap_or(j)] += sum(column);
        }
    }
}

/// Draws the component of each row from its responsibilities; `uniform` are random numbers from 0
/// to 1, one for each row.
fn draw_components(joint: &mut [f64], rows: usize, uniform: impl Iterator<Item = f64>) {
    for (i, mut rest) in uniform.enumerate() {
        let column = (i..joint.len()).step_by(rows);
        let mut drawn = None;
        for t in column.clone().filter(|t| joint[*t] > 0.0) {
            // Because of rounding, the responsibilities may sum to less than 1.
            drawn = Some(t);
            rest -= joint[t];
            if rest < 0.0 {
                break;
            }
        }
        for t in column {
            joint[t] = f64::from(u8::from(Some(t) == drawn));
        }
    }
}

/// Assigns each row to its most probable component, the first of equals.
fn assign_most_probable(joint: &mut [f64], totals: &mut [f64]) {
    let rows = totals.len();
    for (i, total) in totals.iter_mut().enumerate() {
        let column = (i..joint.len()).step_by(rows.max(1));
        let best = column
            .clone()
            .fold(i, |best, t| if joint[t] > joint[best] { t } else { best });
        *total = joint[best];
        for t in column {
            joint[t] = f64::from(u8::from(t == best && *total > f64::NEG_INFINITY));
        }
    }
}
