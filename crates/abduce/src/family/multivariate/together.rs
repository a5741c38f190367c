//! Multivariate Gaussian or Student t components, prepared for the E-step.

use crate::Result;
use crate::data::Cells;
use crate::family::multivariate::tails::{TailedKernel, TailedRun};
use crate::family::multivariate::{
    GaussianRun, IncompleteColumns, MultivariateKernel, MultivariateStats, ShortRuns,
};
use crate::family::{Distribution, Statistics};
use crate::kernel::gaussian::Scratch;

/// Components prepared for many runs.
pub(crate) enum TogetherKernel {
    Gaussian(MultivariateKernel),
    StudentT(TailedKernel),
}

/// Components on one run of rows with the same observed columns, or on a block of short runs.
pub(crate) enum TogetherRun<'a> {
    Gaussian(GaussianRun<'a>),
    ShortGaussians(ShortRuns<'a>),
    IncompleteColumns(IncompleteColumns<'a>),
    StudentT(TailedRun<'a>),
}

impl TogetherKernel {
    /// Prepares the distributions of a leaf, if they are multivariate.
    pub fn of(
        distributions: &[Distribution],
        weights: &[f64],
        hard: bool,
    ) -> Option<Result<TogetherKernel>> {
        let gaussians = distributions.iter().map(|distribution| match distribution {
            Distribution::Multivariate(gaussian) => Some(gaussian.clone()),
            _ => None,
        });
        let weights = weights.to_vec();
        match distributions.first()? {
            Distribution::Multivariate(_) => {
                let all = gaussians.collect::<Option<Vec<_>>>()?;
                let kernel = MultivariateKernel::new(all, weights, hard);
                Some(kernel.map(TogetherKernel::Gaussian))
            }
            Distribution::MultivariateStudentT(_) => {
                let all = distributions.iter().map(|distribution| match distribution {
                    Distribution::MultivariateStudentT(t) => Some(t.clone()),
                    _ => None,
                });
                let kernel = TailedKernel::new(all.collect::<Option<_>>()?, weights, hard);
                Some(kernel.map(TogetherKernel::StudentT))
            }
            _ => None,
        }
    }

    /// Whether the columns of a row depend on each other: by a correlation, or by u, which the
    /// whole row shares.
    pub fn is_correlated(&self) -> bool {
        match self {
            TogetherKernel::Gaussian(kernel) => kernel.is_correlated(),
            TogetherKernel::StudentT(_) => true,
        }
    }

    /// The number of rows of a block.
    pub fn block_rows(&self) -> usize {
        match self {
            TogetherKernel::Gaussian(kernel) => kernel.block_rows(),
            TogetherKernel::StudentT(kernel) => kernel.block_rows(),
        }
    }

    /// The maximum number of rows in a block of several short runs; `None` if short runs cannot
    /// share a block.
    pub fn rows_of_short_runs(&self) -> Option<usize> {
        match self {
            TogetherKernel::Gaussian(kernel) if kernel.is_correlated() => {
                Some(kernel.rows_of_short_runs())
            }
            _ => None,
        }
    }

    /// Adds the sums over runs with missing values, of all components or `only` one, to the
    /// statistics of these components.
    pub fn finish_patterns(
        &self,
        only: Option<usize>,
        scratch: &mut Scratch,
        stats: &mut [Statistics],
    ) {
        // The sums of Student's t are added after each run.
        if let TogetherKernel::Gaussian(kernel) = self {
            kernel.finish_patterns(only, scratch, gaussians(stats));
        }
    }

    /// Prepares all components, or `only` one, for runs of rows in one block, each with its number
    /// of rows and its observed columns.
    pub fn runs(
        &self,
        mut runs: impl ExactSizeIterator<Item = (usize, Vec<usize>)>,
        only: Option<usize>,
    ) -> Result<TogetherRun<'_>> {
        match self {
            TogetherKernel::Gaussian(kernel) if runs.len() > 1 => {
                Ok(TogetherRun::ShortGaussians(kernel.short_runs(runs, only)?))
            }
            _ => {
                let (rows, seen) = runs.next().unwrap_or_default();
                self.run(&seen, only, rows)
            }
        }
    }

    /// Prepares independent columns, of all components or `only` one, for rows with missing values.
    pub fn incomplete_columns(&self, only: Option<usize>) -> Option<TogetherRun<'_>> {
        match self {
            TogetherKernel::Gaussian(kernel) => Some(TogetherRun::IncompleteColumns(
                IncompleteColumns::new(kernel.components(only)),
            )),
            TogetherKernel::StudentT(_) => None,
        }
    }

    fn run(&self, seen: &[usize], only: Option<usize>, rows: usize) -> Result<TogetherRun<'_>> {
        Ok(match self {
            TogetherKernel::Gaussian(kernel) => {
                TogetherRun::Gaussian(kernel.run(seen, only, rows)?)
            }
            TogetherKernel::StudentT(kernel) => {
                TogetherRun::StudentT(kernel.run(seen, only, rows)?)
            }
        })
    }
}

impl TogetherRun<'_> {
    /// Loads a block of rows into `scratch` and adds its log-densities to `out`, component-major.
    pub fn add_log_density(&mut self, cells: &[Cells], scratch: &mut Scratch, out: &mut [f64]) {
        match self {
            TogetherRun::Gaussian(run) => {
                run.add_log_density(&run.observed_columns(cells), scratch, out);
            }
            TogetherRun::ShortGaussians(runs) => {
                runs.add_log_density(&runs.columns(cells), scratch, out);
            }
            TogetherRun::IncompleteColumns(run) => run.add_log_density(cells, out),
            TogetherRun::StudentT(run) => {
                run.add_log_density(&run.observed_columns(cells), scratch, out);
            }
        }
    }

    /// Adds the block loaded last to the run's sums.
    pub fn accumulate(&mut self, cells: &[Cells], scratch: &mut Scratch, responsibilities: &[f64]) {
        match self {
            TogetherRun::Gaussian(run) => run.accumulate(scratch, responsibilities),
            TogetherRun::ShortGaussians(runs) => runs.accumulate(scratch, responsibilities),
            TogetherRun::IncompleteColumns(run) => run.accumulate(cells, responsibilities),
            TogetherRun::StudentT(run) => run.accumulate(scratch, responsibilities),
        }
    }

    /// Adds the run's sums to the statistics of the components, or to sums over patterns of
    /// missing values that [`TogetherKernel::finish_patterns`] adds to them.
    pub fn finish(self, scratch: &mut Scratch, stats: &mut [Statistics]) {
        match self {
            TogetherRun::Gaussian(run) => run.finish(None, scratch, gaussians(stats)),
            TogetherRun::ShortGaussians(runs) => runs.recycle(),
            TogetherRun::IncompleteColumns(run) => run.finish(gaussians(stats)),
            TogetherRun::StudentT(run) => {
                let stats = stats.iter_mut().filter_map(|stats| match stats {
                    Statistics::MultivariateStudentT(stats) => Some(stats),
                    _ => None,
                });
                run.finish(scratch, stats);
            }
        }
    }
}

fn gaussians(stats: &mut [Statistics]) -> impl Iterator<Item = &mut MultivariateStats> {
    stats.iter_mut().filter_map(|stats| match stats {
        Statistics::Multivariate(stats) => Some(stats),
        _ => None,
    })
}
