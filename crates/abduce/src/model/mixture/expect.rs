//! The E-step. A chunk's rows are first brought into runs that share a label
//! and a pattern of hidden cells; a run then goes block by block through
//! log-densities, softmax and expected statistics while it is in cache. Nothing
//! of the size rows × components outlives a block.

use super::{Leaf, MixtureStatistics, Parameters};
use crate::data::{Cells, Chunk, Rows};
use crate::family::{Distribution, GaussianRun, MultivariateKernel, Statistics};
use crate::kernel::gaussian::Scratch;
use crate::kernel::softmax::softmax;
use crate::learn::EStep;
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// Rows per block where no Gaussian kernel asks for fewer.
const BLOCK_ROWS: usize = 1024;

/// Parameters made ready for many chunks.
pub struct Prepared<'a> {
    leaves: &'a [Leaf],
    target: Option<usize>,
    log_weights: Vec<f64>,
    kernels: Vec<LeafKernel<'a>>,
    hard: bool,
    block: usize,
}

enum LeafKernel<'a> {
    /// Each component by itself.
    Each(&'a [Distribution]),
    /// All components at once.
    Gaussian(MultivariateKernel),
}

/// Rows that share a label and what is hidden in the Gaussian leaves.
struct Run {
    start: usize,
    len: usize,
    label: Option<usize>,
    /// For every leaf, the positions within it that are seen; empty for the
    /// leaves that do not need to know.
    seen: Vec<Vec<usize>>,
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
            let gaussians: Vec<_> = distributions
                .iter()
                .filter_map(|d| match d {
                    Distribution::Multivariate(gaussian) => Some(gaussian.clone()),
                    _ => None,
                })
                .collect();
            if gaussians.len() == distributions.len() && !gaussians.is_empty() {
                let kernel = MultivariateKernel::new(gaussians, parameters.weights.clone(), hard)?;
                block = block.min(kernel.block_rows());
                kernels.push(LeafKernel::Gaussian(kernel));
            } else {
                kernels.push(LeafKernel::Each(distributions));
            }
        }
        let log_weights = parameters.weights.iter().map(|w| w.ln()).collect();
        Ok(Prepared {
            leaves,
            target,
            log_weights,
            kernels,
            hard,
            block,
        })
    }

    /// Takes a chunk through the E-step: adds to the statistics, if given, and
    /// shows each block's outcome.
    pub fn process(
        &self,
        chunk: &Chunk,
        mut statistics: Option<&mut MixtureStatistics>,
        mut show: impl FnMut(Outcome),
    ) -> Result<()> {
        let (order, runs) = self.arrange(chunk)?;
        let arranged = match &order {
            Some(order) => Cow::Owned(chunk.take(order)),
            None => Cow::Borrowed(chunk),
        };
        let identity: Vec<u32>;
        let order = match &order {
            Some(order) => order,
            None => {
                identity = (0..chunk.rows() as u32).collect();
                &identity
            }
        };
        let ones = vec![1.0; self.block];
        let mut scratch: Vec<Scratch> = self.kernels.iter().map(|_| Scratch::default()).collect();
        let (mut joint, mut totals) = (Vec::new(), Vec::new());
        for run in &runs {
            let mut gaussians = self.gaussian_runs(run)?;
            let components = if run.label.is_some() {
                1
            } else {
                self.log_weights.len()
            };
            for start in (run.start..run.start + run.len).step_by(self.block) {
                let len = self.block.min(run.start + run.len - start);
                let leaves: Vec<Vec<Cells>> = self
                    .leaves
                    .iter()
                    .map(|leaf| {
                        leaf.columns
                            .iter()
                            .map(|c| arranged.column(*c).cells(start, len))
                            .collect()
                    })
                    .collect();
                joint.clear();
                match run.label {
                    Some(label) => joint.resize(len, self.log_weights[label]),
                    None => self
                        .log_weights
                        .iter()
                        .for_each(|w| joint.resize(joint.len() + len, *w)),
                }
                for (l, cells) in leaves.iter().enumerate() {
                    self.add_log_density(
                        l,
                        run,
                        gaussians[l].as_ref(),
                        cells,
                        &mut scratch[l],
                        &mut joint,
                    );
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
                let weights = match arranged.weights() {
                    Some(weights) => &weights[start..start + len],
                    None => &ones[..len],
                };
                if arranged.weights().is_some() {
                    for column in joint.chunks_exact_mut(len) {
                        column.iter_mut().zip(weights).for_each(|(r, w)| *r *= w);
                    }
                }
                statistics.total += weights.iter().sum::<f64>();
                for (total, weight) in totals.iter().zip(weights) {
                    // A row of weight 0 is absent, even an impossible one.
                    if *weight > 0.0 {
                        statistics.log_likelihood += weight * total;
                    }
                }
                for j in 0..components {
                    let own = &joint[j * len..(j + 1) * len];
                    statistics.weights[run.label.unwrap_or(j)] += own.iter().sum::<f64>();
                }
                for (l, cells) in leaves.iter().enumerate() {
                    match (&self.kernels[l], gaussians[l].as_mut()) {
                        (LeafKernel::Gaussian(_), Some(gaussian)) => {
                            gaussian.accumulate(&mut scratch[l], &joint);
                        }
                        (LeafKernel::Each(distributions), _) => {
                            for j in 0..components {
                                let component = run.label.unwrap_or(j);
                                distributions[component].expect(
                                    &Rows::new(cells),
                                    &joint[j * len..(j + 1) * len],
                                    &mut statistics.leaves[l][component],
                                );
                            }
                        }
                        (LeafKernel::Gaussian(_), None) => {}
                    }
                }
            }
            let Some(statistics) = statistics.as_deref_mut() else {
                continue;
            };
            for (gaussian, leaf) in gaussians.into_iter().zip(&mut statistics.leaves) {
                if let Some(gaussian) = gaussian {
                    let own = match run.label {
                        Some(label) => &mut leaf[label..=label],
                        None => &mut leaf[..],
                    };
                    gaussian.finish(own.iter_mut().filter_map(|s| match s {
                        Statistics::Multivariate(s) => Some(s),
                        _ => None,
                    }));
                }
            }
        }
        Ok(())
    }

    fn add_log_density(
        &self,
        leaf: usize,
        run: &Run,
        gaussian: Option<&GaussianRun>,
        cells: &[Cells],
        scratch: &mut Scratch,
        joint: &mut [f64],
    ) {
        let rows = Rows::new(cells);
        match (&self.kernels[leaf], gaussian) {
            (LeafKernel::Gaussian(_), Some(gaussian)) => {
                let columns: Vec<&[f64]> =
                    run.seen[leaf].iter().map(|c| cells[*c].reals()).collect();
                gaussian.add_log_density(&columns, scratch, joint);
            }
            (LeafKernel::Each(distributions), _) => match run.label {
                Some(label) => distributions[label].add_log_density(&rows, joint),
                None => {
                    for (d, out) in distributions.iter().zip(joint.chunks_exact_mut(rows.len)) {
                        d.add_log_density(&rows, out);
                    }
                }
            },
            (LeafKernel::Gaussian(_), None) => {}
        }
    }

    fn gaussian_runs(&self, run: &Run) -> Result<Vec<Option<GaussianRun<'_>>>> {
        self.kernels
            .iter()
            .zip(&run.seen)
            .map(|(kernel, seen)| match kernel {
                LeafKernel::Gaussian(kernel) => kernel.run(seen, run.label).map(Some),
                LeafKernel::Each(_) => Ok(None),
            })
            .collect()
    }

    /// Sorts the rows into runs; no order where they are one run already.
    fn arrange(&self, chunk: &Chunk) -> Result<(Option<Vec<u32>>, Vec<Run>)> {
        let rows = chunk.rows();
        let joint_columns: Vec<usize> = self
            .leaves
            .iter()
            .zip(&self.kernels)
            .filter(|(_, kernel)| matches!(kernel, LeafKernel::Gaussian(_)))
            .flat_map(|(leaf, _)| leaf.columns.iter().copied())
            .collect();
        let holes: Vec<usize> = joint_columns
            .into_iter()
            .filter(|c| chunk.column(*c).nulls().is_some())
            .collect();
        let labels = self
            .target
            .map(|target| chunk.column(target).cells(0, rows));
        let label_of = |row: usize| {
            labels.and_then(|cells| cells.is_seen(row).then(|| cells.codes()[row] as usize))
        };
        let mut patterns: HashMap<Vec<bool>, usize> = HashMap::new();
        let mut keys = Vec::with_capacity(rows);
        for row in 0..rows {
            let pattern = if holes.is_empty() {
                0
            } else {
                let seen: Vec<bool> = holes
                    .iter()
                    .map(|c| chunk.column(*c).nulls().is_none_or(|n| n.is_valid(row)))
                    .collect();
                let next = patterns.len();
                *patterns.entry(seen).or_insert(next)
            };
            keys.push((label_of(row), pattern));
        }
        if let Some((Some(label), _)) = keys.iter().max_by_key(|(label, _)| *label)
            && *label >= self.log_weights.len()
        {
            return Err(Error::data("a label is not one of the model's classes"));
        }
        let order = keys.windows(2).any(|pair| pair[0] != pair[1]).then(|| {
            let mut order: Vec<u32> = (0..rows as u32).collect();
            order.sort_by_key(|row| keys[*row as usize]);
            order
        });
        let key = |position: usize| match &order {
            Some(order) => keys[order[position] as usize],
            None => keys[position],
        };
        let mut by_number = vec![Vec::new(); patterns.len()];
        for (pattern, number) in patterns {
            by_number[number] = pattern;
        }
        let mut runs = Vec::new();
        let mut start = 0;
        while start < rows {
            let own = key(start);
            let end = (start..rows).find(|p| key(*p) != own).unwrap_or(rows);
            let hidden: Vec<usize> = by_number
                .get(own.1)
                .map(|pattern| {
                    holes
                        .iter()
                        .zip(pattern)
                        .filter(|(_, seen)| !**seen)
                        .map(|(c, _)| *c)
                        .collect()
                })
                .unwrap_or_default();
            let seen = self.leaves.iter().map(|leaf| {
                (0..leaf.columns.len())
                    .filter(|i| !hidden.contains(&leaf.columns[*i]))
                    .collect()
            });
            runs.push(Run {
                start,
                len: end - start,
                label: own.0,
                seen: seen.collect(),
            });
            start = end;
        }
        Ok((order, runs))
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
