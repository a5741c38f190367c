//! Many Gaussian components on runs of rows with the same missing columns. Missing values of
//! correlated columns are integrated over, or completed, by the kernel for patterns, whose sums
//! continue over several runs; missing values of independent columns are left out.

use crate::data::{Cells, Rows};
use crate::family::multivariate::cache::{PatternCache, PatternKey};
use crate::family::multivariate::{Covariance, MultivariateGaussian, MultivariateStats, marginal};
use crate::family::{GaussianStats, Stats};
use crate::kernel::gaussian::{
    CentredMoments, CovarianceRef, GaussianKernel, Interleaved, Moments, Pattern, Scratch,
    Singular, block_rows,
};
use crate::kernel::linear::{cholesky, invert_lower, submatrix};
use crate::kernel::product::{Matrix, add_product};
use crate::{Error, Result};
use std::sync::OnceLock;

/// Components prepared for many runs. With `hard`, missing values take their most probable value
/// instead of their expectation and spread.
pub(crate) struct MultivariateKernel {
    components: Vec<MultivariateGaussian>,
    weights: Vec<f64>,
    hard: bool,
    complete: GaussianKernel,
    /// For rows with missing values, all components side by side, and each alone.
    interleaved: Vec<OnceLock<Interleaved>>,
    patterns: PatternCache,
}

/// Rows that share one pattern of observed columns.
pub(crate) struct GaussianRun<'a> {
    all: &'a MultivariateKernel,
    kernel: RunKernel<'a>,
    seen: Vec<usize>,
    moments: Option<Moments>,
}

enum RunKernel<'a> {
    /// Every column is observed.
    Complete(&'a GaussianKernel),
    /// One component, or the observed ones of independent columns.
    Partial(GaussianKernel),
    /// Some of the correlated columns are observed.
    Pattern(Pattern<'a>),
    /// No column is observed, and the rows have no effect.
    Nothing,
}

impl MultivariateKernel {
    /// Prepares components; the weights only choose the origin of the standardised coordinates.
    pub fn new(
        components: Vec<MultivariateGaussian>,
        weights: Vec<f64>,
        hard: bool,
    ) -> Result<Self> {
        let all: Vec<usize> = (0..components.first().map_or(0, |c| c.order())).collect();
        let complete = kernel_of(&components, &weights, &all)?;
        Ok(MultivariateKernel {
            weights,
            hard,
            complete,
            interleaved: (0..=components.len()).map(|_| OnceLock::new()).collect(),
            patterns: PatternCache::default(),
            components,
        })
    }

    /// Whether columns are correlated.
    pub fn is_correlated(&self) -> bool {
        let covariance = self.components.first().map(|c| &c.covariance);
        matches!(covariance, Some(Covariance::Full(_)))
    }

    /// The components, or `only` one.
    pub(super) fn components(&self, only: Option<usize>) -> &[MultivariateGaussian] {
        only.map_or(&self.components[..], |j| &self.components[j..=j])
    }

    /// The number of rows of a block.
    pub fn block_rows(&self) -> usize {
        block_rows(self.components.first().map_or(0, |c| c.order()))
    }

    /// Prepares all components, or `only` one, for about `rows` rows in which the columns `seen`
    /// are observed.
    pub fn run(&self, seen: &[usize], only: Option<usize>, rows: usize) -> Result<GaussianRun<'_>> {
        let (components, weights) = match only {
            None => (&self.components[..], &self.weights[..]),
            Some(j) => (&self.components[j..=j], &[1.0][..]),
        };
        let order = components.first().map_or(0, |c| c.order());
        let kernel = if seen.is_empty() {
            RunKernel::Nothing
        } else if seen.len() == order && only.is_none() {
            RunKernel::Complete(&self.complete)
        } else if seen.len() == order || !self.is_correlated() {
            RunKernel::Partial(kernel_of(components, weights, seen)?)
        } else {
            RunKernel::Pattern(self.pattern(seen, only, rows)?)
        };
        Ok(GaussianRun {
            all: self,
            kernel,
            seen: seen.to_vec(),
            moments: None,
        })
    }

    fn interleaved(&self, only: Option<usize>) -> &Interleaved {
        let which = only.map_or(0..self.components.len(), |j| j..j + 1);
        let place = &self.interleaved[only.map_or(0, |j| j + 1)];
        place.get_or_init(|| self.complete.interleaved(which))
    }

    /// Prepares correlated columns, of all components or `only` one, for about `rows` rows in which
    /// the columns `seen` are observed.
    pub(super) fn pattern(
        &self,
        seen: &[usize],
        only: Option<usize>,
        rows: usize,
    ) -> Result<Pattern<'_>> {
        let components = self.interleaved(only);
        let many = Pattern::many(rows);
        let key = PatternKey { seen, only, many };
        let conditionals = self.patterns.get(key, rows, |conditionals| {
            conditionals.prepare(&self.complete, components, seen, self.hard, many)
        });
        match conditionals {
            Some(conditionals) => Ok(Pattern::new(&self.complete, components, conditionals)),
            None => Err(singular(Singular {
                component: only.unwrap_or(0),
                pivot: 0,
            })),
        }
    }

    /// Loads a block of rows with several patterns; see [`GaussianKernel::load_rows`].
    pub(super) fn load_rows(&self, columns: &[&[f64]], only: Option<usize>, scratch: &mut Scratch) {
        let components = self.interleaved(only);
        self.complete.load_rows(columns, components, scratch);
    }

    /// About how many bytes a prepared pattern takes.
    pub(super) fn pattern_bytes(&self) -> usize {
        let order = self.components.first().map_or(0, |c| c.order());
        order * order * self.components.len() * size_of::<f64>()
    }

    /// Keeps the memory of a pattern that is no longer needed.
    pub(super) fn recycle(&self, pattern: Pattern) {
        self.patterns.recycle(pattern.into_conditionals());
    }

    /// Adds the sums over runs with missing values, of all components or `only` one, to the
    /// statistics of these components.
    pub fn finish_patterns<'s>(
        &self,
        only: Option<usize>,
        scratch: &mut Scratch,
        stats: impl Iterator<Item = &'s mut MultivariateStats>,
    ) {
        let Some(moments) = scratch.take_patterns() else {
            return;
        };
        let which = only.map_or(0..self.components.len(), |j| j..j + 1);
        let summed = self.complete.finish_patterns(which, &moments);
        for (parts, stats) in summed.into_iter().zip(stats) {
            for part in parts.into_iter().filter(|part| part.weight > 0.0) {
                merge(stats, part, &[]);
            }
        }
    }
}

/// Adds moments to statistics: of these `columns` if they are independent, of all columns if they
/// are correlated.
fn merge(stats: &mut MultivariateStats, moments: CentredMoments, columns: &[usize]) {
    match stats {
        MultivariateStats::Columns { columns: all, .. } => {
            for (i, c) in columns.iter().enumerate() {
                all[*c].merge(&GaussianStats {
                    weight: moments.weight,
                    mean: moments.mean[i],
                    scatter: moments.scatter[i],
                });
            }
        }
        MultivariateStats::Full { .. } => stats.merge(&MultivariateStats::Full {
            weight: moments.weight,
            mean: moments.mean,
            scatter: moments.scatter,
        }),
    }
}

fn kernel_of(
    components: &[MultivariateGaussian],
    weights: &[f64],
    keep: &[usize],
) -> Result<GaussianKernel> {
    let parts: Vec<(Vec<f64>, Vec<f64>)> = components.iter().map(|c| marginal(c, keep)).collect();
    let means: Vec<&[f64]> = parts.iter().map(|(mean, _)| mean.as_slice()).collect();
    let covariances: Vec<CovarianceRef> = components
        .iter()
        .zip(&parts)
        .map(|(component, (_, part))| match component.covariance {
            Covariance::Full(_) => CovarianceRef::Full(part),
            _ => CovarianceRef::Diagonal(part),
        })
        .collect();
    GaussianKernel::new(&means, &covariances, weights).map_err(singular)
}

fn singular(singular: Singular) -> Error {
    Error::numeric("the covariance is singular").at_component(singular.component)
}

impl GaussianRun<'_> {
    /// The values of the observed columns among the leaf's columns in a block.
    pub fn observed_columns<'c>(&self, cells: &[Cells<'c>]) -> Vec<&'c [f64]> {
        self.seen.iter().map(|c| cells[*c].reals()).collect()
    }

    /// Loads a block of rows, observed columns only, into `scratch`.
    pub fn load(&self, columns: &[&[f64]], scratch: &mut Scratch) {
        match &self.kernel {
            RunKernel::Complete(kernel) => kernel.load(columns, scratch),
            RunKernel::Partial(kernel) => kernel.load(columns, scratch),
            RunKernel::Pattern(pattern) => pattern.load(columns, scratch),
            RunKernel::Nothing => {}
        }
    }

    /// Loads a block and adds its log-densities to `out`, component-major.
    pub fn add_log_density(&self, columns: &[&[f64]], scratch: &mut Scratch, out: &mut [f64]) {
        self.load(columns, scratch);
        match &self.kernel {
            RunKernel::Complete(kernel) => kernel.add_log_density(scratch, out),
            RunKernel::Partial(kernel) => kernel.add_log_density(scratch, out),
            RunKernel::Pattern(pattern) => pattern.add_log_density(scratch, out),
            RunKernel::Nothing => {}
        }
    }

    /// Adds the block loaded last to the run's sums.
    pub fn accumulate(&mut self, scratch: &mut Scratch, responsibilities: &[f64]) {
        let kernel: &GaussianKernel = match &self.kernel {
            RunKernel::Complete(kernel) => kernel,
            RunKernel::Partial(kernel) => kernel,
            RunKernel::Pattern(pattern) => return pattern.accumulate(scratch, responsibilities),
            RunKernel::Nothing => return,
        };
        let moments = self.moments.get_or_insert_with(|| kernel.moments());
        kernel.accumulate(scratch, responsibilities, moments);
    }

    /// The log-densities of the components at their means.
    pub fn peaks(&self) -> Vec<f64> {
        match &self.kernel {
            RunKernel::Complete(kernel) => kernel.peaks(),
            RunKernel::Partial(kernel) => kernel.peaks(),
            RunKernel::Pattern(pattern) => pattern.peaks(),
            RunKernel::Nothing => Vec::new(),
        }
    }

    /// Adds the run's sums to the statistics of the components, or to the sums over patterns in
    /// `scratch`, which [`MultivariateKernel::finish_patterns`] adds to them. The
    /// conditional covariance is weighted by `rows`, or by the summed responsibilities if it is
    /// `None`.
    pub fn finish<'s>(
        self,
        rows: Option<&[f64]>,
        scratch: &mut Scratch,
        stats: impl Iterator<Item = &'s mut MultivariateStats>,
    ) {
        let summed = match (self.kernel, &self.moments) {
            (RunKernel::Pattern(pattern), _) => {
                pattern.extend_sums(scratch, rows);
                return self.all.recycle(pattern);
            }
            (RunKernel::Complete(kernel), Some(moments)) => kernel.finish(moments),
            (RunKernel::Partial(kernel), Some(moments)) => kernel.finish(moments),
            _ => return,
        };
        for (moments, stats) in summed.into_iter().zip(stats) {
            if moments.weight > 0.0 {
                merge(stats, moments, &self.seen);
            }
        }
    }
}

/// The regression of the missing columns on the observed ones.
pub(crate) struct Regression {
    /// Σ_MO Σ_OO⁻¹, missing × observed.
    pub slopes: Vec<f64>,
    /// The conditional covariance Σ_MM − Σ_MO Σ_OO⁻¹ Σ_OM.
    pub conditional: Vec<f64>,
}

impl Regression {
    /// `None` if the covariance is singular.
    pub fn new(
        matrix: &[f64],
        order: usize,
        seen: &[usize],
        hidden: &[usize],
    ) -> Option<Regression> {
        let (o, m) = (seen.len(), hidden.len());
        let observed = submatrix(matrix, order, seen, seen);
        let inverse = invert_lower(&cholesky(&observed, o).ok()?, o);
        let cross = submatrix(matrix, order, hidden, seen);
        // Σ_MO L⁻ᵀ; its product with its transpose is the explained covariance.
        let mut half = vec![0.0; m * o];
        let inverse_matrix = Matrix::new(&inverse, o, o, o);
        add_product(
            &mut half,
            m.max(1),
            Matrix::new(&cross, m, o, m),
            inverse_matrix.transposed(),
        );
        let mut slopes = vec![0.0; m * o];
        add_product(
            &mut slopes,
            m.max(1),
            Matrix::new(&half, m, o, m),
            inverse_matrix,
        );
        let mut explained = vec![0.0; m * m];
        let half = Matrix::new(&half, m, o, m);
        add_product(&mut explained, m.max(1), half, half.transposed());
        let mut conditional = submatrix(matrix, order, hidden, hidden);
        conditional
            .iter_mut()
            .zip(&explained)
            .for_each(|(c, e)| *c -= e);
        cholesky(&conditional, m).ok()?;
        Some(Regression {
            slopes,
            conditional,
        })
    }
}

/// Rows of one pattern, by their numbers.
pub(crate) struct Group {
    /// The observed columns.
    pub seen: Vec<usize>,
    /// The rows.
    pub rows: Vec<usize>,
}

impl Group {
    /// The observed values of these rows, column by column.
    pub fn columns(&self, rows: &Rows) -> Vec<Vec<f64>> {
        self.seen
            .iter()
            .map(|c| {
                let x = rows.columns[*c].reals();
                self.rows.iter().map(|r| x[*r]).collect()
            })
            .collect()
    }

    /// The entries of `values` that belong to these rows.
    pub fn pick(&self, values: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|r| values[*r]).collect()
    }
}

/// Groups rows by their observed columns.
pub(crate) fn by_pattern(rows: &Rows) -> Vec<Group> {
    let mut groups = std::collections::BTreeMap::<Vec<usize>, Vec<usize>>::new();
    if rows.columns.iter().all(|cells| cells.seen.is_none()) {
        groups.insert((0..rows.columns.len()).collect(), (0..rows.len).collect());
    } else {
        for row in 0..rows.len {
            let seen = (0..rows.columns.len())
                .filter(|c| rows.columns[*c].is_seen(row))
                .collect();
            groups.entry(seen).or_default().push(row);
        }
    }
    groups
        .into_iter()
        .map(|(seen, rows)| Group { seen, rows })
        .collect()
}

/// Borrows columns as slices.
pub(crate) fn slices(columns: &[Vec<f64>]) -> Vec<&[f64]> {
    columns.iter().map(Vec::as_slice).collect()
}
