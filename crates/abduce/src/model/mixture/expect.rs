//! The E-step. A chunk's rows come in runs that share a label and a pattern of
//! hidden cells; a run goes block by block through log-densities, softmax and
//! expected statistics while it is in cache. Nothing of the size rows ×
//! components outlives a block.

use super::runs::{Run, arrange};
use super::{Leaf, MixtureStatistics, Parameters};
use crate::data::{Cells, Chunk, Rows};
use crate::family::{Distribution, GaussianRun, MultivariateKernel, Statistics};
use crate::kernel::gaussian::Scratch;
use crate::kernel::softmax::softmax;
use crate::kernel::terms::TermTable;
use crate::learn::{Control, EStep};
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
    /// How much rows without a label count in statistics.
    unlabelled: f64,
    block: usize,
    control: Control<'a>,
}

struct LeafKernel<'a> {
    distributions: &'a [Distribution],
    fast: Fast,
}

/// What can be faster than asking each distribution by itself.
enum Fast {
    Nothing,
    /// Levels, with the logarithms of their probabilities taken once.
    Levels(Vec<Vec<f64>>),
    /// All components at once; also where correlated cells are hidden, but not
    /// where independent ones are.
    Gaussian(MultivariateKernel),
    /// Documents, with the logarithms of all components side by side.
    Terms(TermTable),
}

/// What became of a block of rows.
pub(super) struct Outcome<'a> {
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
            let fast = Fast::new(distributions, unseen, &parameters.weights, hard)?;
            if let Fast::Gaussian(kernel) = &fast {
                block = block.min(kernel.block_rows());
            }
            kernels.push(LeafKernel {
                distributions,
                fast,
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
            unlabelled: 1.0,
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

    /// Lets a caller stop within a chunk; its statistics are then worth nothing.
    pub fn stopped_by(self, control: Control<'a>) -> Self {
        Prepared { control, ..self }
    }

    /// Takes a chunk through the E-step: adds to the statistics, if given, and
    /// shows each block's outcome. Rows of weight 0 have no part in statistics.
    pub fn process(
        &self,
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
                    if levels.is_some_and(|levels| levels.leaves.contains(&l)) {
                        continue;
                    }
                    match &gaussians[l] {
                        Some(gaussian) => {
                            let columns = gaussian.seen(cells);
                            gaussian.add_log_density(&columns, &mut scratch[l], &mut joint);
                        }
                        None => self.kernels[l].add_log_density(run.label, cells, &mut joint),
                    }
                }
                totals.clear();
                totals.resize(len, 0.0);
                if run.label.is_some() {
                    totals.copy_from_slice(&joint);
                    joint.fill(1.0);
                } else if self.hard {
                    harden(&mut joint, &mut totals);
                } else {
                    softmax(&mut joint, &mut totals);
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
                for (l, cells) in leaves.iter().enumerate() {
                    match &mut gaussians[l] {
                        Some(gaussian) => gaussian.accumulate(&mut scratch[l], &joint),
                        None => {
                            let own = &mut statistics.leaves[l];
                            self.kernels[l].expect(run.label, cells, &joint, own);
                        }
                    }
                }
            }
            let Some(statistics) = statistics.as_deref_mut() else {
                continue;
            };
            for (gaussian, leaf) in gaussians.into_iter().zip(&mut statistics.leaves) {
                let own = match run.label {
                    Some(label) => &mut leaf[label..=label],
                    None => &mut leaf[..],
                };
                if let Some(gaussian) = gaussian {
                    gaussian.finish(own.iter_mut().filter_map(|s| match s {
                        Statistics::Multivariate(s) => Some(s),
                        _ => None,
                    }));
                }
            }
        }
        Ok(())
    }

    /// The columns in which one hidden cell is told about by others.
    fn correlated_columns(&self) -> Vec<usize> {
        let leaves = self.leaves.iter().zip(&self.kernels);
        leaves
            .filter(|(_, kernel)| matches!(&kernel.fast, Fast::Gaussian(g) if g.is_correlated()))
            .flat_map(|(leaf, _)| leaf.columns.iter().copied())
            .collect()
    }

    /// The Gaussian leaves made ready for a run; `None` for the other leaves, and
    /// for independent columns some of whose cells are hidden.
    fn gaussian_runs(&self, run: &Run, chunk: &Chunk) -> Result<Vec<Option<GaussianRun<'_>>>> {
        let prepare = |(leaf, kernel): (&Leaf, &'_ LeafKernel)| -> Option<Vec<usize>> {
            let Fast::Gaussian(gaussian) = &kernel.fast else {
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
                    (Some(seen), Fast::Gaussian(gaussian)) => {
                        gaussian.run(&seen, run.label, run.len).map(Some)
                    }
                    _ => Ok(None),
                },
            )
            .collect()
    }
}

impl Fast {
    fn new(
        distributions: &[Distribution],
        unseen: &[f64],
        weights: &[f64],
        hard: bool,
    ) -> Result<Fast> {
        let gaussians: Vec<_> = distributions
            .iter()
            .filter_map(|d| match d {
                Distribution::Multivariate(gaussian) => Some(gaussian.clone()),
                _ => None,
            })
            .collect();
        if gaussians.len() == distributions.len() && !gaussians.is_empty() {
            let kernel = MultivariateKernel::new(gaussians, weights.to_vec(), hard)?;
            return Ok(Fast::Gaussian(kernel));
        }
        if let Some(table) = terms(distributions) {
            return Ok(Fast::Terms(table));
        }
        let levels = distributions.iter().filter_map(Distribution::probabilities);
        // Behind the levels stands what is said of one that was never seen.
        let stranger = |j: usize| unseen.get(j).map_or(0.0, |p| p.ln());
        let logs: Vec<Vec<f64>> = levels
            .enumerate()
            .map(|(j, own)| own.iter().map(|p| p.ln()).chain([stranger(j)]).collect())
            .collect();
        if logs.len() == distributions.len() {
            return Ok(Fast::Levels(logs));
        }
        Ok(Fast::Nothing)
    }
}

/// The table of families of documents, unless something is impossible under
/// them, which sums of logarithms cannot say.
fn terms(distributions: &[Distribution]) -> Option<TermTable> {
    let words = distributions.iter().map(|distribution| match distribution {
        Distribution::Words(own) if !own.columns && own.concentration.is_none() => Some(own),
        _ => None,
    });
    if let Some(words) = words.collect::<Option<Vec<_>>>() {
        let terms = words.first()?.probabilities.len();
        let weight = |term: usize, j: usize| words[j].log_weight(term);
        return Some(TermTable::new(terms, vec![0.0; words.len()], false, weight));
    }
    let presences = distributions.iter().map(|distribution| match distribution {
        Distribution::Presence(own) if !own.columns && !own.is_certain() => Some(own.log_weights()),
        _ => None,
    });
    let (base, present): (Vec<f64>, Vec<Vec<f64>>) = presences.collect::<Option<_>>()?;
    let weight = |term: usize, j: usize| present[j][term];
    Some(TermTable::new(present.first()?.len(), base, true, weight))
}

/// The leaves over levels, as documents of one level for each.
struct LevelTable {
    leaves: Vec<usize>,
    /// Where the levels of each begin in the table, and how many there are, with the
    /// one that was never seen.
    places: Vec<(u32, u32)>,
    table: TermTable,
}

impl LevelTable {
    fn new(kernels: &[LeafKernel], components: usize) -> Option<LevelTable> {
        let (mut leaves, mut places, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for (number, kernel) in kernels.iter().enumerate() {
            if let Fast::Levels(logs) = &kernel.fast {
                leaves.push(number);
                places.push((owners.len() as u32, logs[0].len() as u32));
                owners.extend((0..logs[0].len()).map(|code| (logs, code)));
            }
        }
        let weight = |term: usize, j: usize| owners[term].0[j][owners[term].1];
        let table = || TermTable::new(owners.len(), vec![0.0; components], true, weight);
        (!leaves.is_empty()).then(|| LevelTable {
            table: table(),
            leaves,
            places,
        })
    }

    /// Adds what the levels of unlabelled rows say of every component.
    fn add_log_density(&self, leaves: &[Vec<Cells>], rows: usize, joint: &mut [f64]) {
        let columns: Vec<&Cells> = self.leaves.iter().map(|leaf| &leaves[*leaf][0]).collect();
        let mut codes = Vec::with_capacity(columns.len());
        by_tiles(self.table.components(), rows, joint, |row, sums| {
            codes.clear();
            for (cells, (start, size)) in columns.iter().zip(&self.places) {
                if cells.is_seen(row) {
                    codes.push(start + cells.codes()[row].min(size - 1));
                }
            }
            self.table.of_all(&codes, &[], sums);
        });
    }
}

/// Adds what `say` writes of each row, a number for each component, to the joint
/// log-densities, which are component-major.
fn by_tiles(
    components: usize,
    rows: usize,
    joint: &mut [f64],
    mut say: impl FnMut(usize, &mut [f64]),
) {
    const TILE: usize = 32;
    let mut tile = vec![0.0; TILE * components];
    for start in (0..rows).step_by(TILE) {
        let len = TILE.min(rows - start);
        let told = tile.chunks_exact_mut(components).take(len);
        told.enumerate().for_each(|(i, sums)| say(start + i, sums));
        for (j, own) in joint.chunks_exact_mut(rows).enumerate() {
            let told = tile[j..].iter().step_by(components);
            let cells = own[start..start + len].iter_mut();
            cells.zip(told).for_each(|(cell, sum)| *cell += sum);
        }
    }
}

impl LeafKernel<'_> {
    fn add_documents(table: &TermTable, label: Option<usize>, cells: &Cells, joint: &mut [f64]) {
        let Some(documents) = cells.terms() else {
            return;
        };
        let rows = documents.len();
        if let Some(label) = label {
            for row in (0..rows).filter(|row| cells.is_seen(*row)) {
                let (codes, counts) = documents.row(row);
                joint[row] += table.of_component(label, codes, counts);
            }
            return;
        }
        by_tiles(table.components(), rows, joint, |row, sums| {
            let (codes, counts) = documents.row(row);
            match cells.is_seen(row) {
                true => table.of_all(codes, counts, sums),
                false => sums.fill(0.0),
            }
        });
    }

    fn add_log_density(&self, label: Option<usize>, cells: &[Cells], joint: &mut [f64]) {
        let rows = Rows::new(cells);
        if let Fast::Terms(table) = &self.fast {
            return Self::add_documents(table, label, rows.only(), joint);
        }
        let add = |component: usize, out: &mut [f64]| match &self.fast {
            Fast::Levels(logs) => {
                let (cells, logs) = (rows.only(), &logs[component]);
                for (i, (l, code)) in out.iter_mut().zip(cells.codes()).enumerate() {
                    if cells.is_seen(i) {
                        *l += logs[(*code as usize).min(logs.len() - 1)];
                    }
                }
            }
            _ => self.distributions[component].add_log_density(&rows, out),
        };
        match label {
            Some(label) => add(label, joint),
            None => joint
                .chunks_exact_mut(rows.len)
                .enumerate()
                .for_each(|(j, out)| add(j, out)),
        }
    }

    fn expect(&self, label: Option<usize>, cells: &[Cells], joint: &[f64], own: &mut [Statistics]) {
        let rows = Rows::new(cells);
        for (j, responsibilities) in joint.chunks_exact(rows.len).enumerate() {
            let component = label.unwrap_or(j);
            self.distributions[component].expect(&rows, responsibilities, &mut own[component]);
        }
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
                self.log_likelihood += log_densities.iter().sum::<f64>();
            }
        }
        for (j, own) in joint.chunks_exact(rows).enumerate() {
            self.weights[label.unwrap_or(j)] += own.iter().sum::<f64>();
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
