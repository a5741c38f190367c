//! The multivariate leaves in an E-step: they are prepared for runs of rows with the same missing
//! values, and their sums are added to the statistics.

use crate::Result;
use crate::data::Chunk;
use crate::family::TogetherRun;
use crate::kernel::gaussian::Scratch;
use crate::leaf::Leaf;
use crate::leaf::kernels::{Fast, LeafKernel};
use crate::model::mixture::MixtureStatistics;
use crate::model::mixture::step::expect::Prepared;
use crate::model::mixture::step::runs::Run;

impl Prepared<'_> {
    /// The maximum number of rows in a block of several short runs; 0 if each run needs its own
    /// block.
    pub(super) fn rows_of_short_runs(&self) -> usize {
        let kernels = self.kernels.iter().filter_map(|kernel| match &kernel.fast {
            Fast::Together(gaussian) => Some(gaussian.rows_of_short_runs().unwrap_or(0)),
            _ => None,
        });
        kernels.fold(self.block, usize::min)
    }

    /// The multivariate leaves prepared for a group of runs; `None` for other leaves.
    pub(super) fn gaussian_runs(
        &self,
        group: &[Run],
        chunk: &Chunk,
    ) -> Result<Vec<Option<TogetherRun<'_>>>> {
        let leaves = self.leaves.iter().zip(&self.kernels);
        let runs = leaves.map(|(leaf, kernel)| gaussian_run(leaf, kernel, group, chunk));
        runs.collect()
    }

    /// Adds the sums of a group of runs to the statistics of its multivariate leaves, and after the
    /// last group with this label also the sums over patterns of missing values.
    pub(super) fn finish_gaussians(
        &self,
        label: Option<usize>,
        gaussians: Vec<Option<TogetherRun>>,
        is_last: bool,
        scratch: &mut [Scratch],
        statistics: &mut MixtureStatistics,
    ) {
        let leaves = statistics.leaves.iter_mut().zip(scratch);
        let leaves = leaves.zip(&self.kernels);
        for (((leaf, scratch), kernel), gaussian) in leaves.zip(gaussians) {
            let components = match label {
                Some(label) => &mut leaf[label..=label],
                None => &mut leaf[..kernel.family_components],
            };
            if let Some(gaussian) = gaussian {
                gaussian.finish(scratch, components);
            }
            if let (Fast::Together(kernel), true) = (&kernel.fast, is_last) {
                kernel.finish_patterns(label, scratch, components);
            }
        }
    }

    /// The number of components that have a leaf's family: all but noise, or 1 if the label is
    /// known.
    pub(super) fn family_components(&self, leaf: usize, label: Option<usize>) -> usize {
        label.map_or(self.kernels[leaf].family_components, |_| 1)
    }

    /// The columns whose missing values depend on other columns.
    pub(super) fn correlated_columns(&self) -> Vec<usize> {
        let leaves = self.leaves.iter().zip(&self.kernels);
        leaves
            .filter(|(_, kernel)| matches!(&kernel.fast, Fast::Together(g) if g.is_correlated()))
            .flat_map(|(leaf, _)| leaf.columns.iter().copied())
            .collect()
    }
}

/// A leaf prepared for a group of runs; see [`Prepared::gaussian_runs`].
fn gaussian_run<'a>(
    leaf: &Leaf,
    kernel: &'a LeafKernel,
    group: &[Run],
    chunk: &Chunk,
) -> Result<Option<TogetherRun<'a>>> {
    let Fast::Together(gaussian) = &kernel.fast else {
        return Ok(None);
    };
    let mut columns = leaf.columns.iter();
    let has_missing = columns.any(|c| chunk.column(*c).nulls().is_some());
    if has_missing && !gaussian.is_correlated() {
        return Ok(gaussian.incomplete_columns(group[0].label));
    }
    let runs = group.iter().map(|run| {
        let columns = 0..leaf.columns.len();
        let seen = columns.filter(|i| !run.missing[leaf.columns[*i]]);
        (run.len, seen.collect())
    });
    gaussian.runs(runs, group[0].label).map(Some)
}
