//! The E-step. A chunk's rows come in runs that share a label and a pattern of
//! hidden cells; a run goes block by block through log-densities, softmax and
//! expected statistics while it is in cache. Nothing of the size rows ×
//! components outlives a block.

use crate::Control;
use crate::data::{CHUNK_ROWS, Cells, Chunk};
use crate::family::TogetherRun;
use crate::kernel::gaussian::Scratch;
use crate::kernel::hashing::uniform;
use crate::kernel::softmax::softmax;
use crate::kernel::sums::sum;
use crate::leaf::Leaf;
use crate::leaf::kernels::{Fast, LeafKernel, LevelTable, before_noise};
use crate::learn::EStep;
use crate::model::mixture::step::runs::{Run, arrange};
use crate::model::mixture::{MixtureStatistics, Parameters};
use crate::{Error, Result};
use std::borrow::Cow;

/// Rows per block where no Gaussian kernel asks for fewer.
const BLOCK_ROWS: usize = 1024;

/// Parameters made ready for many chunks.
pub struct Prepared<'a> {
    leaves: &'a [Leaf],
    target: Option<usize>,
    log_weights: Vec<f64>,
    kernels: Vec<LeafKernel<'a>>,
    levels: Option<LevelTable>,
    hard: bool,
    /// Whether joint densities are shown as logarithms.
    in_logarithms: bool,
    /// The seed of drawn labels, where they are drawn.
    draws: Option<u64>,
    /// How much rows without a label count in statistics.
    unlabelled: f64,
    /// Whether statistics are of cells too, not of how many rows there are and how probable.
    moments: bool,
    block: usize,
    control: Control<'a>,
}

/// What became of a block of rows.
pub(crate) struct Outcome<'a> {
    /// The rows' numbers in the chunk.
    pub rows: &'a [u32],
    /// Responsibilities, component-major; of the labelled component alone if
    /// the rows are labelled.
    pub responsibilities: &'a [f64],
    /// The label that the rows have.
    pub label: Option<usize>,
    /// The rows' log-densities.
    pub log_densities: &'a [f64],
}

impl<'a> Prepared<'a> {
    /// Makes parameters ready. Without `target`, labels are taken as hidden.
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
            let unseen = parameters
                .unseen
                .get(kernels.len())
                .map_or(&[][..], |own| own);
            let own = before_noise(distributions);
            let weights = &parameters.weights[..own];
            let fast = Fast::new(&distributions[..own], unseen, weights, hard)?;
            if let Fast::Together(kernel) = &fast {
                block = block.min(kernel.block_rows());
            }
            kernels.push(LeafKernel {
                distributions,
                own,
                fast,
                unbounded: false,
            });
        }
        let log_weights: Vec<f64> = parameters.weights.iter().map(|w| w.ln()).collect();
        Ok(Prepared {
            leaves,
            target,
            levels: LevelTable::new(&kernels, log_weights.len()),
            log_weights,
            kernels,
            hard,
            draws: None,
            in_logarithms: false,
            unlabelled: 1.0,
            moments: true,
            block,
            control: Control::default(),
        })
    }

    /// Lets rows without a label count for less in statistics and likelihood.
    pub fn with_unlabelled(self, weight: f64) -> Self {
        Prepared {
            unlabelled: weight,
            ..self
        }
    }

    /// Takes the likelihood and the weight of rows, and nothing of their cells.
    pub fn without_moments(self) -> Self {
        Prepared {
            moments: false,
            ..self
        }
    }

    /// Takes noise to be everywhere, also where no row was seen: a row farther out than
    /// all others is then known for noise.
    pub fn with_noise_everywhere(mut self) -> Self {
        let kernels = self.kernels.iter_mut();
        kernels.for_each(|kernel| kernel.unbounded = true);
        self
    }

    /// Shows the logarithms of joint densities instead of responsibilities.
    pub fn in_logarithms(self) -> Self {
        Prepared {
            in_logarithms: true,
            ..self
        }
    }

    /// Gives each row without a label wholly to a component that is drawn.
    pub fn drawing(self, seed: u64) -> Self {
        Prepared {
            draws: Some(seed),
            ..self
        }
    }

    /// Lets a caller stop within a chunk; its statistics are then worth nothing.
    pub fn stopped_by(self, control: Control<'a>) -> Self {
        Prepared { control, ..self }
    }

    /// Takes a chunk through the E-step: adds to the statistics, if given, and
    /// shows each block's outcome. Rows of weight 0 have no part in statistics.
    pub fn process(
        &self,
        chunk: &Chunk,
        statistics: Option<&mut MixtureStatistics>,
        show: impl FnMut(Outcome),
    ) -> Result<()> {
        self.process_numbered(0, chunk, statistics, show)
    }

    /// The same with the chunk of a number in its source, which says what is drawn.
    pub fn process_numbered(
        &self,
        number: usize,
        chunk: &Chunk,
        mut statistics: Option<&mut MixtureStatistics>,
        mut show: impl FnMut(Outcome),
    ) -> Result<()> {
        let (order, runs) = arrange(
            chunk,
            self.target,
            &self.correlated_columns(),
            statistics.is_some(),
        );
        let labels = runs.iter().filter_map(|run| run.label).max();
        if labels.is_some_and(|label| label >= self.log_weights.len()) {
            return Err(Error::data("a label is not one of the model's classes"));
        }
        let arranged = match &order {
            Some(order) => Cow::Owned(chunk.take(order)),
            None => Cow::Borrowed(chunk),
        };
        let order: Vec<u32> = order.unwrap_or_else(|| (0..chunk.rows() as u32).collect());
        let mut scratch: Vec<Scratch> = self.kernels.iter().map(|_| Scratch::default()).collect();
        let (mut joint, mut totals) = (Vec::new(), Vec::new());
        for run in &runs {
            if self.control.is_interrupted() {
                break;
            }
            // Even an impossible row is nothing where it weighs nothing.
            if run.label.is_none() && self.unlabelled == 0.0 && statistics.is_some() {
                continue;
            }
            let mut gaussians = self.gaussian_runs(run, &arranged)?;
            for start in (run.start..run.start + run.len).step_by(self.block) {
                let len = self.block.min(run.start + run.len - start);
                let leaves: Vec<Vec<Cells>> = self
                    .leaves
                    .iter()
                    .map(|leaf| {
                        let cells = |c: &usize| arranged.column(*c).cells(start, len);
                        leaf.columns.iter().map(cells).collect()
                    })
                    .collect();
                joint.clear();
                match run.label {
                    Some(label) => joint.resize(len, self.log_weights[label]),
                    None => {
                        for weight in &self.log_weights {
                            joint.resize(joint.len() + len, *weight);
                        }
                    }
                }
                let levels = self.levels.as_ref().filter(|_| run.label.is_none());
                if let Some(levels) = levels {
                    levels.add_log_density(&leaves, len, &mut joint);
                }
                for (l, cells) in leaves.iter().enumerate() {
                    let looked_up = levels.is_some_and(|levels| levels.leaves.contains(&l));
                    if looked_up || self.leaves[l].fixed {
                        continue;
                    }
                    match &mut gaussians[l] {
                        Some(gaussian) => {
                            let columns = gaussian.seen(cells);
                            let own = self.own(l, run.label) * len;
                            let joint = &mut joint[..own];
                            gaussian.add_log_density(&columns, &mut scratch[l], joint);
                        }
                        None => self.kernels[l].add_log_density(run.label, cells, &mut joint),
                    }
                    if run.label.is_none() {
                        self.kernels[l].add_noise(cells, &mut joint);
                    }
                }
                totals.clear();
                totals.resize(len, 0.0);
                if run.label.is_some() {
                    totals.copy_from_slice(&joint);
                    joint.fill(1.0);
                } else if self.in_logarithms {
                    totals.fill(f64::NAN);
                } else if self.hard {
                    harden(&mut joint, &mut totals);
                } else {
                    softmax(&mut joint, &mut totals);
                    if let Some(seed) = self.draws {
                        let first = number as u64 * CHUNK_ROWS as u64;
                        let rows = order[start..start + len].iter();
                        let rows = rows.map(|row| uniform(seed, first + u64::from(*row)));
                        draw(&mut joint, len, rows);
                    }
                }
                show(Outcome {
                    rows: &order[start..start + len],
                    responsibilities: &joint,
                    label: run.label,
                    log_densities: &totals,
                });
                let Some(statistics) = statistics.as_deref_mut() else {
                    continue;
                };
                let weights = arranged.weights().map(|w| &w[start..start + len]);
                let lighter;
                let weights = match (run.label, self.unlabelled == 1.0) {
                    (None, false) => {
                        let own = |i: usize| weights.map_or(1.0, |weights| weights[i]);
                        lighter = (0..len)
                            .map(|i| self.unlabelled * own(i))
                            .collect::<Vec<_>>();
                        Some(&lighter[..])
                    }
                    _ => weights,
                };
                statistics.count(run.label, weights, &mut joint, &totals);
                if !self.moments {
                    continue;
                }
                for (l, cells) in leaves.iter().enumerate() {
                    match &mut gaussians[l] {
                        Some(gaussian) => {
                            let own = self.own(l, run.label) * len;
                            gaussian.accumulate(&mut scratch[l], &joint[..own]);
                        }
                        None => {
                            let own = &mut statistics.leaves[l];
                            self.kernels[l].expect(run.label, cells, &joint, own);
                        }
                    }
                }
            }
            let Some(statistics) = statistics.as_deref_mut().filter(|_| self.moments) else {
                continue;
            };
            let leaves = gaussians.into_iter().zip(&mut statistics.leaves);
            for ((gaussian, leaf), kernel) in leaves.zip(&self.kernels) {
                let own = match run.label {
                    Some(label) => &mut leaf[label..=label],
                    None => &mut leaf[..kernel.own],
                };
                if let Some(gaussian) = gaussian {
                    gaussian.finish(own);
                }
            }
        }
        Ok(())
    }

    /// How many components a leaf's own family has a say in.
    fn own(&self, leaf: usize, label: Option<usize>) -> usize {
        label.map_or(self.kernels[leaf].own, |_| 1)
    }

    /// The columns in which one hidden cell is told about by others.
    fn correlated_columns(&self) -> Vec<usize> {
        let leaves = self.leaves.iter().zip(&self.kernels);
        leaves
            .filter(|(_, kernel)| matches!(&kernel.fast, Fast::Together(g) if g.is_correlated()))
            .flat_map(|(leaf, _)| leaf.columns.iter().copied())
            .collect()
    }

    /// The leaves of columns taken together made ready for a run; `None` for the other
    /// leaves, and for independent columns some of whose cells are hidden.
    fn gaussian_runs(&self, run: &Run, chunk: &Chunk) -> Result<Vec<Option<TogetherRun<'_>>>> {
        let prepare = |(leaf, kernel): (&Leaf, &'_ LeafKernel)| -> Option<Vec<usize>> {
            let Fast::Together(gaussian) = &kernel.fast else {
                return None;
            };
            let holes = leaf
                .columns
                .iter()
                .any(|c| chunk.column(*c).nulls().is_some());
            if holes && !gaussian.is_correlated() {
                return None;
            }
            let seen = (0..leaf.columns.len()).filter(|i| !run.hidden[leaf.columns[*i]]);
            Some(seen.collect())
        };
        let leaves = self.leaves.iter().zip(&self.kernels);
        leaves
            .map(
                |(leaf, kernel)| match (prepare((leaf, kernel)), &kernel.fast) {
                    (Some(seen), Fast::Together(gaussian)) => {
                        gaussian.run(&seen, run.label, run.len).map(Some)
                    }
                    _ => Ok(None),
                },
            )
            .collect()
    }
}

impl MixtureStatistics {
    /// Counts a block's rows: responsibilities become weighted, components and
    /// likelihood grow.
    fn count(
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
        for (j, own) in joint.chunks_exact(rows).enumerate() {
            self.weights[label.unwrap_or(j)] += sum(own);
        }
    }
}

/// Gives each row wholly to a component with the probability that is its
/// responsibility; `chances` are numbers from 0 to 1, one for each row.
fn draw(joint: &mut [f64], rows: usize, chances: impl Iterator<Item = f64>) {
    for (i, mut chance) in chances.enumerate() {
        let column = (i..joint.len()).step_by(rows);
        let mut drawn = None;
        for t in column.clone().filter(|t| joint[*t] > 0.0) {
            // Where rounding leaves a rest, the last that can be has it.
            drawn = Some(t);
            chance -= joint[t];
            if chance < 0.0 {
                break;
            }
        }
        for t in column {
            joint[t] = f64::from(u8::from(Some(t) == drawn));
        }
    }
}

/// Gives each row wholly to its most probable component, the first of equals.
fn harden(joint: &mut [f64], totals: &mut [f64]) {
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
