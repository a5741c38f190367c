//! Diagnostics of a fitted mixture: the effective sample size and the condition number of each
//! component, how certain the components of rows are, and the rate of convergence.
//!
//!   effective rows of j  (Σ_i w_i r_ij)² / Σ_i w_i r_ij²        (Kish 1965)
//!   entropy of a row     −Σ_j r_ij ln r_ij, of which component j has Σ_i −w_i r_ij ln r_ij
//!   certainty            1 − Σ_i w_i H(r_i) / (n ln k)          (Celeux & Soromenho 1996)
//!   rate                 (L_t − L_{t−1}) / (L_{t−1} − L_{t−2})   (Aitken; Böhning et al. 1994)
//!
//! One pass over the rows after EM computes what depends on responsibilities, in less time than
//! an E-step. It is not needed if every row has a label.

use crate::Result;
use crate::data::{Source, fold};
use crate::family::{Covariance, Distribution, MultivariateGaussian};
use crate::kernel::eigen::eigen;
use crate::kernel::linear::submatrix;
use crate::leaf::{Leaf, TableSummary};
use crate::learn::EStep;
use crate::model::mixture::report::diagnose::{is_collapsed, spreads};
use crate::model::mixture::step::expect::{BlockResult, Prepared};
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{FittedMixture, Parameters};
use serde::{Deserialize, Serialize};

/// The maximum number of columns for which the eigenvalues of a full covariance are computed. The
/// time for each component is cubic in the number of columns.
const MAX_CONDITION_COLUMNS: usize = 100;

/// Responsibilities below this are left out of the entropy: −r ln r would be lost in rounding, and
/// with well separated clusters most responsibilities are that small.
const MIN_RESPONSIBILITY: f64 = 1e-18;

/// How certain the components of a fitted mixture are, and how well the fit converged.
///
/// ```
/// use abduce::data::{Column, Field, Kind, Schema, Table};
/// use abduce::Control;
/// use abduce::model::mixture::{CovarianceKind, FitOptions, Specification, fit};
/// let x = [1.0, 1.2, 0.8, 7.9, 8.0, 8.3].map(Some);
/// let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
/// let table = Table::new(schema, vec![Column::from_numbers(x)], None)?;
/// let specification = Specification::mixture(2, CovarianceKind::Full);
/// let fit = fit(&specification, &table, &FitOptions::default(), Control::default())?;
/// // With two distant clusters, the component of every row is certain.
/// assert!(fit.diagnostics.uncertainty.is_some_and(|all| all < 1e-9));
/// assert!((fit.diagnostics.components[0].kish_sample_size.unwrap() - 3.0).abs() < 1e-9);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// The diagnostics of each component.
    pub components: Vec<ComponentDiagnostics>,
    /// The mean of 1 − max_j r_ij over the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<f64>,
    /// 1 minus the entropy of the rows divided by its maximum n ln k: 1 if the component of every
    /// row is certain, 0 if all components are equally probable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certainty: Option<f64>,
    /// The final log-likelihood minus the lower bound (ELBO) that the last iteration maximised:
    /// the Kullback–Leibler divergence of the previous posterior of labels and missing values from
    /// the final one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The last gain in log-likelihood divided by the one before; near 1 if EM was slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The estimated remaining gain in log-likelihood, at this rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<f64>,
    /// The number of components that were dropped because they were empty.
    pub dropped: usize,
}

/// The diagnostics of one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentDiagnostics {
    /// Its share of the rows.
    pub weight: f64,
    /// The weight of its rows, Σ_i w_i r_ij.
    pub rows: f64,
    /// Kish's effective sample size of the averages of the component: equal to `rows` if every
    /// responsibility is 0 or 1, and larger the more rows are shared with other components. As in
    /// all numbers here, a row of weight 2 counts as two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "effective_rows")]
    pub kish_sample_size: Option<f64>,
    /// The condition number of its covariance, if it has a multivariate Gaussian or Student t. Each
    /// column is in units of its standard deviation in the table, so that a change of units changes
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<f64>,
    /// The smallest variance of a column given the columns before it, as a share of the variance
    /// in the table; at most 1, and 1 if no variance is learned.
    pub spread: f64,
    /// Whether `spread` is close to 0: the component has collapsed onto a few nearly equal rows.
    pub collapsed: bool,
    /// The mean of 1 − max_j r_ij over the rows assigned to the component; `None` without such
    /// rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<f64>,
    /// The mean of −ln r_ij over its rows, in nats: its contribution to the entropy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
}

impl Diagnostics {
    /// The diagnostics that follow from the parameters and the trace, without a pass over the
    /// rows.
    pub(crate) fn without_rows(
        mixture: &FittedMixture,
        trace: &[f64],
        bounds: &[f64],
        dropped: usize,
    ) -> Self {
        let FittedMixture {
            leaves,
            parameters,
            summary,
            ..
        } = mixture;
        let condition_numbers = condition_numbers(leaves, summary, parameters);
        let spreads = spreads(leaves, summary, parameters);
        let components = (0..mixture.components()).map(|j| ComponentDiagnostics {
            weight: parameters.weights[j],
            rows: mixture.statistics.weights[j],
            kish_sample_size: None,
            condition: condition_numbers[j],
            spread: spreads[j],
            collapsed: is_collapsed(spreads[j]),
            uncertainty: None,
            entropy: None,
        });
        let finite = |x: f64| x.is_finite().then_some(x);
        let last = trace.last().zip(bounds.last());
        let (rate, remaining) = convergence_rate(trace);
        Diagnostics {
            components: components.collect(),
            gap: last.and_then(|(end, bound)| finite(end - bound)),
            rate,
            remaining,
            dropped,
            ..Diagnostics::default()
        }
    }

    /// Adds the diagnostics that need a pass over the rows, if some labels are missing and the
    /// caller has not stopped the fit.
    pub(crate) fn add_certainty(
        &mut self,
        task: &Task,
        mixture: &FittedMixture,
        source: &dyn Source,
    ) -> Result<()> {
        let k = mixture.components();
        let hidden = mixture.summary.unlabelled > 0.0 && task.unlabelled > 0.0;
        if !hidden || task.control.is_interrupted() || !mixture.is_generative() {
            return Ok(());
        }
        let sums = match k {
            1 => Some(AllSums::of_single_component(mixture.statistics.total)),
            _ => AllSums::of(task, mixture, source)?,
        };
        let Some(sums) = sums.filter(|sums| sums.total > 0.0) else {
            return Ok(());
        };
        let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        for (component, sums) in self.components.iter_mut().zip(&sums.components) {
            component.kish_sample_size = ratio(sums.sum * sums.sum, sums.squares);
            component.uncertainty = ratio(sums.uncertainty, sums.assigned);
            component.entropy = ratio(sums.entropy, sums.sum);
        }
        let components = || sums.components.iter();
        let uncertainty = components().map(|sums| sums.uncertainty).sum::<f64>();
        let entropy = components().map(|sums| sums.entropy).sum::<f64>();
        let max_entropy = sums.total * (k as f64).ln();
        self.uncertainty = ratio(uncertainty, sums.total);
        self.certainty = Some(1.0 - ratio(entropy, max_entropy).unwrap_or(0.0));
        Ok(())
    }
}

/// The last gain divided by the one before, and the remaining gain if the gains are a geometric
/// series.
fn convergence_rate(trace: &[f64]) -> (Option<f64>, Option<f64>) {
    let [.., first, second, third] = trace else {
        return (None, None);
    };
    let (before, gain) = (second - first, third - second);
    let rate = (before > 0.0 && gain >= 0.0 && gain.is_finite()).then(|| gain / before);
    let remaining = rate.filter(|rate| *rate < 1.0);
    (rate, remaining.map(|rate| gain * rate / (1.0 - rate)))
}

/// The condition number of the covariance of each component, with columns in units of their
/// standard deviations; if there are several leaves, the largest.
fn condition_numbers(
    leaves: &[Leaf],
    summary: &TableSummary,
    parameters: &Parameters,
) -> Vec<Option<f64>> {
    let mut worst = vec![None; parameters.weights.len()];
    let leaves = leaves.iter().zip(&parameters.leaves);
    for (leaf, distributions) in leaves.filter(|(leaf, _)| !leaf.fixed) {
        let scales = summary.scales(leaf);
        let varying: Vec<usize> = (0..scales.len()).filter(|c| !scales[*c].constant).collect();
        let deviations: Vec<f64> = varying.iter().map(|c| scales[*c].variance.sqrt()).collect();
        for (worst, distribution) in worst.iter_mut().zip(distributions) {
            let gaussian = match distribution {
                Distribution::Multivariate(gaussian) => gaussian,
                Distribution::MultivariateStudentT(t) => &t.gaussian,
                _ => continue,
            };
            if let Some(condition_number) = condition_number(gaussian, &varying, &deviations) {
                *worst =
                    Some(worst.map_or(condition_number, |worst: f64| worst.max(condition_number)));
            }
        }
    }
    worst
}

fn condition_number(
    gaussian: &MultivariateGaussian,
    varying: &[usize],
    deviations: &[f64],
) -> Option<f64> {
    let d = varying.len();
    if d < 2 {
        return None;
    }
    let variances = match &gaussian.covariance {
        Covariance::Full(_) if d > MAX_CONDITION_COLUMNS => return None,
        Covariance::Full(matrix) => {
            let mut scaled = submatrix(matrix, gaussian.mean.len(), varying, varying);
            for (t, entry) in scaled.iter_mut().enumerate() {
                *entry /= deviations[t % d] * deviations[t / d];
            }
            eigen(&scaled, d).values
        }
        _ => {
            let columns = varying.iter().zip(deviations);
            columns
                .map(|(c, deviation)| gaussian.covariance(*c, *c) / (deviation * deviation))
                .collect()
        }
    };
    let largest = variances.iter().copied().fold(0.0, f64::max);
    let smallest = variances.iter().copied().fold(f64::INFINITY, f64::min);
    let condition_number = largest / smallest;
    (smallest > 0.0 && condition_number.is_finite()).then_some(condition_number)
}

/// Sums over the rows for one component.
#[derive(Clone, Copy, Default)]
struct ResponsibilitySums {
    /// Σ w r.
    sum: f64,
    /// Σ w r².
    squares: f64,
    /// −Σ w r ln r.
    entropy: f64,
    /// The weight of the rows for which the component is the most probable.
    assigned: f64,
    /// Σ w (1 − r) over those rows.
    uncertainty: f64,
}

/// Sums over the rows for all components.
struct AllSums {
    total: f64,
    components: Vec<ResponsibilitySums>,
}

impl AllSums {
    /// The sums of a mixture of one component, which needs no pass over the rows.
    fn of_single_component(total: f64) -> AllSums {
        let sums = ResponsibilitySums {
            sum: total,
            squares: total,
            assigned: total,
            ..ResponsibilitySums::default()
        };
        AllSums {
            total,
            components: vec![sums],
        }
    }

    fn of(task: &Task, mixture: &FittedMixture, source: &dyn Source) -> Result<Option<AllSums>> {
        let (leaves, parameters) = (&mixture.leaves, &mixture.parameters);
        let prepared = Prepared::new(leaves, mixture.target, parameters, EStep::Soft)?;
        let prepared = prepared.with_control(task.control);
        let k = mixture.components();
        let sums = fold(
            source,
            1,
            |partial, _, chunk| {
                let sums = partial.get_or_insert_with(|| AllSums {
                    total: 0.0,
                    components: vec![ResponsibilitySums::default(); k],
                });
                prepared.process(chunk, None, |block| {
                    let factor = match block.label {
                        Some(_) => 1.0,
                        None => task.unlabelled,
                    };
                    let weight =
                        |row: &u32| factor * chunk.weights().map_or(1.0, |all| all[*row as usize]);
                    let weights: Vec<f64> = block.rows.iter().map(weight).collect();
                    sums.add(&block, &weights);
                })
            },
            |total: &mut AllSums, more| total.merge(&more),
        )?;
        // If the caller stopped the pass, the sums cover only a part of the rows.
        Ok(sums.filter(|_| !task.control.is_interrupted()))
    }

    fn add(&mut self, block: &BlockResult, weights: &[f64]) {
        let total: f64 = weights.iter().sum();
        self.total += total;
        if let Some(label) = block.label {
            let sums = &mut self.components[label];
            sums.sum += total;
            sums.squares += total;
            sums.assigned += total;
            return;
        }
        let rows = weights.len();
        let mut largest = vec![(0.0, 0); rows];
        let columns = block.responsibilities.chunks_exact(rows);
        for (j, (column, sums)) in columns.zip(&mut self.components).enumerate() {
            for ((r, weight), largest) in column.iter().zip(weights).zip(&mut largest) {
                if *r > largest.0 {
                    *largest = (*r, j);
                }
                let share = weight * r;
                sums.sum += share;
                sums.squares += share * r;
                if *r > MIN_RESPONSIBILITY && *r < 1.0 {
                    sums.entropy -= share * r.ln();
                }
            }
        }
        for ((r, component), weight) in largest.into_iter().zip(weights) {
            let sums = &mut self.components[component];
            sums.assigned += weight;
            sums.uncertainty += weight * (1.0 - r).max(0.0);
        }
    }

    fn merge(&mut self, other: &AllSums) {
        self.total += other.total;
        for (sums, more) in self.components.iter_mut().zip(&other.components) {
            sums.sum += more.sum;
            sums.squares += more.squares;
            sums.entropy += more.entropy;
            sums.assigned += more.assigned;
            sums.uncertainty += more.uncertainty;
        }
    }
}
