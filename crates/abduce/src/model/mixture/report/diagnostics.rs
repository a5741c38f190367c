//! A fitted mixture in a few figures: how many rows each component really rests on, how
//! round it is, how surely rows belong to one component, and how EM was ending.
//!
//!   effective rows of j  (Σ_i w_i r_ij)² / Σ_i w_i r_ij²        (Kish 1965)
//!   entropy of a row     −Σ_j r_ij ln r_ij, of which component j has Σ_i −w_i r_ij ln r_ij
//!   certainty            1 − Σ_i w_i H(r_i) / (n ln k)          (Celeux & Soromenho 1996)
//!   rate                 (L_t − L_{t−1}) / (L_{t−1} − L_{t−2})   (Aitken; Böhning et al. 1994)
//!
//! What needs the rows is gathered in one pass after EM, which takes less than one more
//! E-step; where every label is seen there is nothing hidden to measure.

use crate::Result;
use crate::data::{Source, fold};
use crate::family::{Covariance, Distribution, MultivariateGaussian};
use crate::kernel::eigen::eigen;
use crate::kernel::linear::submatrix;
use crate::leaf::{Leaf, Seen};
use crate::learn::EStep;
use crate::model::mixture::report::diagnose::{is_collapsed, spreads};
use crate::model::mixture::step::expect::{BlockResult, Prepared};
use crate::model::mixture::step::task::Task;
use crate::model::mixture::{FittedMixture, Parameters};
use serde::{Deserialize, Serialize};

/// Columns beyond which the eigenvalues of a covariance cost more than the fit is worth
/// delaying for: they take time with the cube of the columns, for every component.
const MOST_COLUMNS: usize = 100;

/// A responsibility below which −r ln r is lost in rounding beside a row's others, and not
/// worth a logarithm: most are, where clusters are apart.
const LEAST: f64 = 1e-18;

/// How a fitted mixture stands.
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
/// // Two clusters far apart: every row is wholly of one of them.
/// assert!(fit.diagnostics.uncertainty.is_some_and(|all| all < 1e-9));
/// assert!((fit.diagnostics.components[0].kish_sample_size.unwrap() - 3.0).abs() < 1e-9);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// One for each component, in the order of the model's.
    pub components: Vec<ComponentDiagnostics>,
    /// The mean of 1 − max_j r_ij over the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<f64>,
    /// 1 less the entropy of the rows as a share of the most there can be, n ln k: 1 where
    /// every row is of one component, 0 where all are of all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certainty: Option<f64>,
    /// By how much the log-likelihood at the end is above the lower bound (ELBO) that the
    /// last iteration had maximised: the Kullback–Leibler divergence of what was expected
    /// of the hidden from what it is at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The last gain in log-likelihood as a share of the one before it; near 1, EM was slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// What the log-likelihood would still gain if it went on at this rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<f64>,
    /// How many components lost all their rows and were dropped.
    pub dropped: usize,
}

/// How a component stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentDiagnostics {
    /// Its share of the rows.
    pub weight: f64,
    /// The weight of its rows, Σ_i w_i r_ij.
    pub rows: f64,
    /// Kish's effective number of rows, on which its averages rest: its `rows` where they
    /// are wholly its own, and more of them the more it shares them with others. As in all
    /// figures here, a row of weight 2 counts as two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "effective_rows")]
    pub kish_sample_size: Option<f64>,
    /// The condition number of its covariance, where numbers are taken together, with
    /// every column in units of its standard deviation in the table: a change of units
    /// changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<f64>,
    /// Its smallest variance of a column given those before it, as a share of the table's; at
    /// most 1, and 1 where it has no Gaussians whose spread is learned.
    pub spread: f64,
    /// Whether that is next to nothing: it lies on a few rows that are nearly equal.
    pub collapsed: bool,
    /// The mean of 1 − max_j r_ij over the rows most probably its own; nothing where there
    /// are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<f64>,
    /// The mean of −ln r_ij over its rows, in nats: its part of the entropy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
}

impl Diagnostics {
    /// What parameters and trace tell, without the rows.
    pub(crate) fn without_rows(
        mixture: &FittedMixture,
        trace: &[f64],
        bounds: &[f64],
        dropped: usize,
    ) -> Self {
        let FittedMixture {
            leaves,
            parameters,
            seen,
            ..
        } = mixture;
        let conditions = conditions(leaves, seen, parameters);
        let spreads = spreads(leaves, seen, parameters);
        let components = (0..mixture.components()).map(|j| ComponentDiagnostics {
            weight: parameters.weights[j],
            rows: mixture.statistics.weights[j],
            kish_sample_size: None,
            condition: conditions[j],
            spread: spreads[j],
            collapsed: is_collapsed(spreads[j]),
            uncertainty: None,
            entropy: None,
        });
        let finite = |x: f64| x.is_finite().then_some(x);
        let last = trace.last().zip(bounds.last());
        let (rate, remaining) = rate_of(trace);
        Diagnostics {
            components: components.collect(),
            gap: last.and_then(|(end, bound)| finite(end - bound)),
            rate,
            remaining,
            dropped,
            ..Diagnostics::default()
        }
    }

    /// Adds what the rows tell, if some of their labels are hidden and the caller has not
    /// stopped.
    pub(crate) fn add_certainty(
        &mut self,
        task: &Task,
        mixture: &FittedMixture,
        source: &dyn Source,
    ) -> Result<()> {
        let k = mixture.components();
        let hidden = mixture.seen.unlabelled > 0.0 && task.unlabelled > 0.0;
        if !hidden || task.control.is_interrupted() || !mixture.is_generative() {
            return Ok(());
        }
        let shares = match k {
            1 => Some(Shares::of_one(mixture.statistics.total)),
            _ => Shares::of(task, mixture, source)?,
        };
        let Some(shares) = shares.filter(|shares| shares.total > 0.0) else {
            return Ok(());
        };
        let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        for (own, each) in self.components.iter_mut().zip(&shares.components) {
            own.kish_sample_size = ratio(each.sum * each.sum, each.squares);
            own.uncertainty = ratio(each.uncertainty, each.assigned);
            own.entropy = ratio(each.entropy, each.sum);
        }
        let all = |of: fn(&Share) -> f64| shares.components.iter().map(of).sum::<f64>();
        self.uncertainty = ratio(all(|own| own.uncertainty), shares.total);
        let most = shares.total * (k as f64).ln();
        self.certainty = Some(1.0 - ratio(all(|own| own.entropy), most).unwrap_or(0.0));
        Ok(())
    }
}

/// The last gain as a share of the one before, and what a geometric series of such gains
/// would still add.
fn rate_of(trace: &[f64]) -> (Option<f64>, Option<f64>) {
    let [.., first, second, third] = trace else {
        return (None, None);
    };
    let (before, gain) = (second - first, third - second);
    let rate = (before > 0.0 && gain >= 0.0 && gain.is_finite()).then(|| gain / before);
    let remaining = rate.filter(|rate| *rate < 1.0);
    (rate, remaining.map(|rate| gain * rate / (1.0 - rate)))
}

/// The condition number of every component's covariance in the units of the table; of
/// several leaves, the worst.
fn conditions(leaves: &[Leaf], seen: &Seen, parameters: &Parameters) -> Vec<Option<f64>> {
    let mut worst = vec![None; parameters.weights.len()];
    let leaves = leaves.iter().zip(&parameters.leaves);
    for (leaf, own) in leaves.filter(|(leaf, _)| !leaf.fixed) {
        let scales = seen.scales(leaf);
        let varying: Vec<usize> = (0..scales.len()).filter(|c| !scales[*c].constant).collect();
        let roots: Vec<f64> = varying.iter().map(|c| scales[*c].variance.sqrt()).collect();
        for (worst, distribution) in worst.iter_mut().zip(own) {
            let gaussian = match distribution {
                Distribution::Multivariate(gaussian) => gaussian,
                Distribution::MultivariateStudentT(t) => &t.gaussian,
                _ => continue,
            };
            if let Some(condition) = condition(gaussian, &varying, &roots) {
                *worst = Some(worst.map_or(condition, |worst: f64| worst.max(condition)));
            }
        }
    }
    worst
}

fn condition(gaussian: &MultivariateGaussian, varying: &[usize], roots: &[f64]) -> Option<f64> {
    let d = varying.len();
    if d < 2 {
        return None;
    }
    let variances = match &gaussian.covariance {
        Covariance::Full(_) if d > MOST_COLUMNS => return None,
        Covariance::Full(matrix) => {
            let mut scaled = submatrix(matrix, gaussian.mean.len(), varying, varying);
            for (t, entry) in scaled.iter_mut().enumerate() {
                *entry /= roots[t % d] * roots[t / d];
            }
            eigen(&scaled, d).values
        }
        _ => {
            let columns = varying.iter().zip(roots);
            columns
                .map(|(c, root)| gaussian.covariance(*c, *c) / (root * root))
                .collect()
        }
    };
    let largest = variances.iter().copied().fold(0.0, f64::max);
    let smallest = variances.iter().copied().fold(f64::INFINITY, f64::min);
    let condition = largest / smallest;
    (smallest > 0.0 && condition.is_finite()).then_some(condition)
}

/// Sums over the rows of what one component has of them.
#[derive(Clone, Copy, Default)]
struct Share {
    sum: f64,
    squares: f64,
    entropy: f64,
    /// The weight of the rows most probably its own, and their 1 − max r.
    assigned: f64,
    uncertainty: f64,
}

/// Sums over the rows.
struct Shares {
    total: f64,
    components: Vec<Share>,
}

impl Shares {
    /// One component has all of every row.
    fn of_one(total: f64) -> Shares {
        let whole = Share {
            sum: total,
            squares: total,
            assigned: total,
            ..Share::default()
        };
        Shares {
            total,
            components: vec![whole],
        }
    }

    fn of(task: &Task, mixture: &FittedMixture, source: &dyn Source) -> Result<Option<Shares>> {
        let (leaves, parameters) = (&mixture.leaves, &mixture.parameters);
        let prepared = Prepared::new(leaves, mixture.target, parameters, EStep::Soft)?;
        let prepared = prepared.with_control(task.control);
        let k = mixture.components();
        let shares = fold(
            source,
            1,
            |partial, _, chunk| {
                let shares = partial.get_or_insert_with(|| Shares {
                    total: 0.0,
                    components: vec![Share::default(); k],
                });
                prepared.process(chunk, None, |outcome| {
                    let lighter = match outcome.label {
                        Some(_) => 1.0,
                        None => task.unlabelled,
                    };
                    let weight =
                        |row: &u32| lighter * chunk.weights().map_or(1.0, |all| all[*row as usize]);
                    let weights: Vec<f64> = outcome.rows.iter().map(weight).collect();
                    shares.add(&outcome, &weights);
                })
            },
            |total: &mut Shares, more| total.merge(&more),
        )?;
        // What was gathered while the caller stopped is only a part.
        Ok(shares.filter(|_| !task.control.is_interrupted()))
    }

    fn add(&mut self, outcome: &BlockResult, weights: &[f64]) {
        let total: f64 = weights.iter().sum();
        self.total += total;
        if let Some(label) = outcome.label {
            let own = &mut self.components[label];
            own.sum += total;
            own.squares += total;
            own.assigned += total;
            return;
        }
        let rows = weights.len();
        let mut most = vec![(0.0, 0); rows];
        let columns = outcome.responsibilities.chunks_exact(rows);
        for (j, (column, own)) in columns.zip(&mut self.components).enumerate() {
            for ((r, weight), most) in column.iter().zip(weights).zip(&mut most) {
                if *r > most.0 {
                    *most = (*r, j);
                }
                let share = weight * r;
                own.sum += share;
                own.squares += share * r;
                if *r > LEAST && *r < 1.0 {
                    own.entropy -= share * r.ln();
                }
            }
        }
        for ((most, component), weight) in most.into_iter().zip(weights) {
            let own = &mut self.components[component];
            own.assigned += weight;
            own.uncertainty += weight * (1.0 - most).max(0.0);
        }
    }

    fn merge(&mut self, other: &Shares) {
        self.total += other.total;
        for (own, more) in self.components.iter_mut().zip(&other.components) {
            own.sum += more.sum;
            own.squares += more.squares;
            own.entropy += more.entropy;
            own.assigned += more.assigned;
            own.uncertainty += more.uncertainty;
        }
    }
}
