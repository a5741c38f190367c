//! Many Gaussian components on runs of rows with the same missing columns: one factorisation per
//! pattern and component serves the whole run. The observed values go through the block kernel;
//! their statistics are then extended to all columns by the regression of the missing on the
//! observed.

use crate::data::{Cells, Rows};
use crate::family::multivariate::{Covariance, MultivariateGaussian, MultivariateStats, marginal};
use crate::family::{GaussianStats, Stats};
use crate::kernel::gaussian::{
    CentredMoments, CovarianceRef, GaussianKernel, Moments, Scattered, ScatteredMoments, Scratch,
    Singular, block_rows,
};
use crate::kernel::linear::{cholesky, invert_lower, log_diagonal, submatrix};
use crate::kernel::product::{Matrix, add_product};
use crate::kernel::special::LN_TAU;
use crate::{Error, Result};

/// Components prepared for many runs. With `hard`, missing values take their most probable value
/// instead of their expectation and spread.
pub(crate) struct MultivariateKernel {
    components: Vec<MultivariateGaussian>,
    weights: Vec<f64>,
    hard: bool,
    complete: GaussianKernel,
}

/// Rows that share one pattern of observed columns.
pub(crate) struct GaussianRun<'a> {
    kernel: RunKernel<'a>,
    components: &'a [MultivariateGaussian],
    seen: Vec<usize>,
    lifts: Vec<Lift>,
    hard: bool,
    moments: Option<Moments>,
}

enum RunKernel<'a> {
    /// Every column is observed.
    Complete(&'a GaussianKernel),
    /// Some columns are observed, in many rows.
    Partial(GaussianKernel),
    /// Some columns are observed, in few rows.
    Scattered(Scattered<'a>, Option<ScatteredMoments>),
    /// No column is observed, and the rows have no effect.
    Nothing,
}

impl MultivariateKernel {
    /// Prepares components; their weights only choose an origin of the arithmetic.
    pub fn new(
        components: Vec<MultivariateGaussian>,
        weights: Vec<f64>,
        hard: bool,
    ) -> Result<Self> {
        let all: Vec<usize> = (0..components.first().map_or(0, |c| c.order())).collect();
        let complete = kernel_of(&components, &weights, &all)?;
        Ok(MultivariateKernel {
            components,
            weights,
            hard,
            complete,
        })
    }

    /// Whether columns are correlated.
    pub fn is_correlated(&self) -> bool {
        let covariance = self.components.first().map(|c| &c.covariance);
        matches!(covariance, Some(Covariance::Full(_)))
    }

    /// The number of rows of a block.
    pub fn block_rows(&self) -> usize {
        block_rows(self.components.first().map_or(0, |c| c.order()))
    }

    /// Prepares all components, or `only` one, for about this many `rows` with these observed
    /// columns.
    pub fn run(&self, seen: &[usize], only: Option<usize>, rows: usize) -> Result<GaussianRun<'_>> {
        let (components, weights) = match only {
            None => (&self.components[..], &self.weights[..]),
            Some(j) => (&self.components[j..=j], &[1.0][..]),
        };
        let order = components.first().map_or(0, |c| c.order());
        let mut lifts = Vec::new();
        let kernel = if seen.is_empty() {
            RunKernel::Nothing
        } else if seen.len() == order && only.is_none() {
            RunKernel::Complete(&self.complete)
        } else if self.is_correlated() && seen.len() < order && rows < order {
            // Too few rows to be worth a factorisation.
            let which = only.map_or(0..components.len(), |j| j..j + 1);
            let scattered =
                Scattered::new(&self.complete, which, seen, self.hard).ok_or_else(|| {
                    singular(Singular {
                        component: 0,
                        pivot: 0,
                    })
                })?;
            RunKernel::Scattered(scattered, None)
        } else {
            let hidden: Vec<usize> = (0..order).filter(|c| !seen.contains(c)).collect();
            for (j, component) in components.iter().enumerate() {
                if let (Covariance::Full(matrix), false) =
                    (&component.covariance, hidden.is_empty())
                {
                    let lift = Lift::new(matrix, order, seen, &hidden).ok_or_else(|| {
                        singular(Singular {
                            component: j,
                            pivot: 0,
                        })
                    })?;
                    lifts.push(lift);
                }
            }
            RunKernel::Partial(kernel_of(components, weights, seen)?)
        };
        let (seen, hard) = (seen.to_vec(), self.hard);
        Ok(GaussianRun {
            kernel,
            components,
            seen,
            lifts,
            hard,
            moments: None,
        })
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
    fn kernel(&self) -> Option<&GaussianKernel> {
        match &self.kernel {
            RunKernel::Complete(kernel) => Some(kernel),
            RunKernel::Partial(kernel) => Some(kernel),
            RunKernel::Scattered(..) | RunKernel::Nothing => None,
        }
    }

    /// The observed columns of a block of the leaf's columns.
    pub fn seen<'c>(&self, cells: &[Cells<'c>]) -> Vec<&'c [f64]> {
        self.seen.iter().map(|c| cells[*c].reals()).collect()
    }

    /// Loads a block of rows, observed columns only, into `scratch` and adds its log-densities to
    /// `out`, component-major.
    pub fn add_log_density(&self, columns: &[&[f64]], scratch: &mut Scratch, out: &mut [f64]) {
        self.load(columns, scratch);
        if let RunKernel::Scattered(scattered, _) = &self.kernel {
            return scattered.add_log_density(scratch, out);
        }
        let Some(kernel) = self.kernel() else { return };
        kernel.add_log_density(scratch, out);
        if self.hard {
            let rows = columns[0].len();
            for (lift, column) in self.lifts.iter().zip(out.chunks_exact_mut(rows)) {
                column.iter_mut().for_each(|l| *l += lift.peak);
            }
        }
    }

    /// Loads a block of rows, observed columns only, for [`accumulate`].
    ///
    /// [`accumulate`]: GaussianRun::accumulate
    pub fn load(&self, columns: &[&[f64]], scratch: &mut Scratch) {
        if let RunKernel::Scattered(scattered, _) = &self.kernel {
            scattered.load(columns, scratch);
        } else if let Some(kernel) = self.kernel() {
            kernel.load(columns, scratch);
        }
    }

    /// Adds the block loaded last to the run's sums.
    pub fn accumulate(&mut self, scratch: &mut Scratch, responsibilities: &[f64]) {
        let kernel: &GaussianKernel = match &mut self.kernel {
            RunKernel::Complete(kernel) => kernel,
            RunKernel::Partial(kernel) => kernel,
            RunKernel::Scattered(scattered, moments) => {
                let moments = moments.get_or_insert_with(|| scattered.moments());
                return scattered.accumulate(scratch, responsibilities, moments);
            }
            RunKernel::Nothing => return,
        };
        let moments = self.moments.get_or_insert_with(|| kernel.moments());
        kernel.accumulate(scratch, responsibilities, moments);
    }

    /// The log-densities of the components at their means.
    pub fn peaks(&self) -> Vec<f64> {
        if let RunKernel::Scattered(scattered, _) = &self.kernel {
            return scattered.peaks();
        }
        let mut peaks = self.kernel().map_or(Vec::new(), GaussianKernel::peaks);
        if self.hard {
            let lifts = peaks.iter_mut().zip(&self.lifts);
            lifts.for_each(|(peak, lift)| *peak += lift.peak);
        }
        peaks
    }

    /// Adds the observed values and the expectations of the missing ones to the statistics of the
    /// components. The spread of missing values counts once for each of the `rows` of a
    /// component, or else with the weight of the moments.
    pub fn finish<'s>(
        self,
        rows: Option<&[f64]>,
        stats: impl Iterator<Item = &'s mut MultivariateStats>,
    ) {
        let summed = match (&self.kernel, &self.moments) {
            (RunKernel::Scattered(scattered, Some(moments)), _) => scattered.finish(moments, rows),
            (RunKernel::Complete(kernel), Some(moments)) => kernel.finish(moments),
            (RunKernel::Partial(kernel), Some(moments)) => kernel.finish(moments),
            _ => return,
        };
        for (j, (seen, stats)) in summed.into_iter().zip(stats).enumerate() {
            if seen.weight <= 0.0 {
                continue;
            }
            match stats {
                MultivariateStats::Columns { columns, .. } => {
                    for (i, c) in self.seen.iter().enumerate() {
                        columns[*c].merge(&GaussianStats {
                            weight: seen.weight,
                            mean: seen.mean[i],
                            scatter: seen.scatter[i],
                        });
                    }
                }
                MultivariateStats::Full { .. } => {
                    let whole = match self.lifts.get(j) {
                        Some(lift) => {
                            let spread = if self.hard {
                                0.0
                            } else {
                                rows.map_or(seen.weight, |rows| rows[j])
                            };
                            lift.apply(&seen, &self.components[j], &self.seen, spread)
                        }
                        None => MultivariateStats::Full {
                            weight: seen.weight,
                            mean: seen.mean,
                            scatter: seen.scatter,
                        },
                    };
                    stats.merge(&whole);
                }
            }
        }
    }
}

/// The regression of the missing columns on the observed ones.
pub(crate) struct Lift {
    hidden: Vec<usize>,
    /// Σ_MO Σ_OO⁻¹, missing × observed.
    pub regression: Vec<f64>,
    /// Σ_MM − Σ_MO Σ_OO⁻¹ Σ_OM.
    pub conditional: Vec<f64>,
    /// The conditional log-density at its mode.
    peak: f64,
}

impl Lift {
    /// `None` if the covariance is singular.
    pub fn new(matrix: &[f64], order: usize, seen: &[usize], hidden: &[usize]) -> Option<Lift> {
        let (o, m) = (seen.len(), hidden.len());
        let own = submatrix(matrix, order, seen, seen);
        let inverse = invert_lower(&cholesky(&own, o).ok()?, o);
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
        let mut regression = vec![0.0; m * o];
        add_product(
            &mut regression,
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
        let peak = match cholesky(&conditional, m) {
            Ok(factor) => -0.5 * m as f64 * LN_TAU - log_diagonal(&factor, m),
            Err(_) => return None,
        };
        Some(Lift {
            hidden: hidden.to_vec(),
            regression,
            conditional,
            peak,
        })
    }

    fn apply(
        &self,
        stats: &CentredMoments,
        component: &MultivariateGaussian,
        seen: &[usize],
        spread: f64,
    ) -> MultivariateStats {
        let (o, m, d) = (seen.len(), self.hidden.len(), component.order());
        let mut mean = component.mean.clone();
        for (i, c) in seen.iter().enumerate() {
            let shift = stats.mean[i] - component.mean[*c];
            mean[*c] = stats.mean[i];
            for (t, h) in self.hidden.iter().enumerate() {
                mean[*h] += self.regression[i * m + t] * shift;
            }
        }
        let regression = Matrix::new(&self.regression, m, o, m);
        let mut cross = vec![0.0; m * o];
        add_product(
            &mut cross,
            m,
            regression,
            Matrix::new(&stats.scatter, o, o, o),
        );
        let mut own = vec![0.0; m * m];
        add_product(
            &mut own,
            m,
            Matrix::new(&cross, m, o, m),
            regression.transposed(),
        );
        let mut scatter = vec![0.0; d * d];
        for (j, a) in seen.iter().enumerate() {
            for (i, b) in seen.iter().enumerate() {
                scatter[a * d + b] = stats.scatter[j * o + i];
            }
            for (t, h) in self.hidden.iter().enumerate() {
                scatter[a * d + h] = cross[j * m + t];
                scatter[h * d + a] = cross[j * m + t];
            }
        }
        for (s, a) in self.hidden.iter().enumerate() {
            for (t, b) in self.hidden.iter().enumerate() {
                scatter[a * d + b] = own[s * m + t] + spread * self.conditional[s * m + t];
            }
        }
        MultivariateStats::Full {
            weight: stats.weight,
            mean,
            scatter,
        }
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
