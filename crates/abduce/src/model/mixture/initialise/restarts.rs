//! Several starts, of which the best is kept. Where iterations take long, all starts are tried for
//! a few of them, and only the best four are continued; on a large table, the first iterations
//! are on few rows, those of the best four on a larger sample, and only the best is continued on
//! all rows. On a small table, where one fit cannot use all threads, the starts run in parallel.

use crate::data::{Source, Table};
use crate::family::LeafFamily;
use crate::leaf::{Leaf, TableSummary};
use crate::learn::{EmOptions, EmResult, Latent, em};
use crate::model::mixture::FitOptions;
use crate::model::mixture::initialise::sample::{sample_rows, sample_size};
use crate::model::mixture::initialise::{Init, Points, statistics_of_groups};
use crate::model::mixture::report::diagnose::any_collapsed;
use crate::model::mixture::step::task::{EmFit, Task};
use crate::{Control, Progress};
use crate::{ErrorKind, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The maximum number of rows for which starts run in parallel.
const MAX_PARALLEL_ROWS: u64 = 16_384;

/// Where iterations take long: the number of iterations of each start, on few rows of a large
/// table; the number of starts that are continued; and the number of their iterations on a larger
/// sample of a large table.
const FIRST_ITERATIONS: usize = 8;
const KEPT: usize = 4;
const SECOND_ITERATIONS: usize = 12;

/// The number of products in an iteration over a table up to which all starts run until they
/// converge, and how many times as many a row with missing values takes.
const FEW_PRODUCTS: f64 = 250_000.0;
const PRODUCTS_OF_MISSING: f64 = 4.0;

/// The minimum number of rows on which starts are tried: in all, for each component, and for each
/// component and column.
const MIN_ROWS: usize = 2_000;
const ROWS_PER_COMPONENT: usize = 500;
const ROWS_PER_COLUMN: usize = 4;

/// The initial shares of noise, used by the starts in turn.
const NOISE_SHARES: [f64; 4] = [0.02, 0.05, 0.15, 0.35];

/// The outcome of one start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The objective it reached, log-likelihood plus log-prior; `None` if it failed.
    pub objective: Option<f64>,
    /// The number of iterations.
    pub iterations: usize,
    /// How it ended.
    pub ended: Ended,
}

/// How a start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// At a maximum.
    Converged,
    /// At the maximum number of iterations.
    Unconverged,
    /// With a component collapsed onto a few rows; such a result is used only if there is no other.
    Spurious,
    /// After a few iterations, on a sample of a large table; only the best starts are continued.
    Tried,
    /// With a numerical error.
    Failed,
    /// By the caller.
    Interrupted,
}

/// Whether a component has collapsed onto a few rows, or would have without rounding errors.
fn is_spurious(task: &Task, summary: &TableSummary, found: &EmFit) -> bool {
    (found.singular && !found.converged) || any_collapsed(task.leaves, summary, &found.parameters)
}

impl Start {
    fn of(
        attempt: &Result<Option<EmFit>>,
        task: &Task,
        summary: &TableSummary,
        to_the_end: bool,
    ) -> Start {
        let Ok(Some(found)) = attempt else {
            return Start {
                objective: None,
                iterations: 0,
                ended: match attempt {
                    Err(_) => Ended::Failed,
                    Ok(_) => Ended::Interrupted,
                },
            };
        };
        Start {
            objective: found.objective.is_finite().then_some(found.objective),
            iterations: found.iterations,
            ended: match found {
                found if found.interrupted => Ended::Interrupted,
                found if is_spurious(task, summary, found) => Ended::Spurious,
                _ if !to_the_end => Ended::Tried,
                found if found.converged => Ended::Converged,
                _ => Ended::Unconverged,
            },
        }
    }

    /// The best objective of several starts and the number of starts that reached it. Spurious
    /// ones count only if there are no others. An objective within 1e-5 per row of weight 1 counts
    /// as equal: at the default tolerance, converged fits can still differ by that much.
    pub fn best_of(starts: &[Start], weight: f64) -> Option<(f64, usize)> {
        let objectives = |with_spurious: bool| {
            starts
                .iter()
                .filter(move |start| with_spurious || start.ended != Ended::Spurious)
                .filter_map(|start| start.objective)
        };
        let with_spurious = objectives(false).next().is_none();
        let best = objectives(with_spurious).max_by(f64::total_cmp)?;
        let equal = objectives(with_spurious).filter(|objective| best - objective <= 1e-5 * weight);
        Some((best, equal.count()))
    }
}

/// Fits components without labels from several starts, and returns the best result; the outcome
/// of each start is written to `starts`. `None` if the caller stopped it before any result.
pub(crate) fn best_of_starts(
    task: &Task,
    source: &dyn Source,
    summary: &TableSummary,
    options: &FitOptions,
    control: Control,
    starts: &mut Vec<Start>,
) -> Result<Option<EmFit>> {
    let size = sample_size(source, task.leaves);
    let is_whole = summary.rows <= size as u64;
    let sample = sample_rows(source, summary.rows as usize, size, options.seed)?;
    let first = if is_whole {
        sample.clone()
    } else {
        let columns: usize = task.leaves.iter().map(|leaf| leaf.columns.len()).sum();
        let rows = ROWS_PER_COMPONENT.max(ROWS_PER_COLUMN * columns) * task.components;
        let rows = rows.max(MIN_ROWS);
        sample_rows(&sample, sample.rows() as usize, rows, options.seed)?
    };
    let points = Points::of(&first, task.leaves, summary);
    let trial = Trial {
        task,
        first: &first,
        points: &points,
        whitened: points.whitened(),
        options,
        control,
    };
    let tries = trial.tries();
    if tries == 1 && !is_whole {
        // A single start on a large table needs no trial.
        return em(task, source, trial.start(1), &options.em, control);
    }
    let to_the_end = is_whole && (tries == 1 || has_short_iterations(task, summary));
    let attempts = trial.run(tries, to_the_end);
    let outcomes = attempts.iter();
    *starts = outcomes
        .map(|attempt| Start::of(attempt, task, summary, to_the_end))
        .collect();
    let mut found = successful(attempts)?;
    sort_best_first(&mut found, task, summary);
    if !to_the_end {
        found.truncate(KEPT);
        let more = if is_whole {
            options.em.clone()
        } else {
            trial.limited_to(SECOND_ITERATIONS)
        };
        found = trial.continue_on(&sample, found, &more)?;
        sort_best_first(&mut found, task, summary);
    }
    let Some(best) = found.into_iter().next() else {
        return Ok(None);
    };
    if is_whole {
        return Ok(Some(EmResult {
            interrupted: control.is_interrupted(),
            ..best
        }));
    }
    match em(task, source, best.parameters.clone(), &options.em, control)? {
        Some(result) => Ok(Some(result)),
        None => Ok(Some(EmResult {
            interrupted: true,
            converged: false,
            ..best
        })),
    }
}

/// Whether an iteration over all rows takes so little time that no start needs to be given up.
fn has_short_iterations(task: &Task, summary: &TableSummary) -> bool {
    let products = |leaf: &Leaf| {
        let columns = leaf.columns.len() as f64;
        let is_correlated = match &leaf.family {
            LeafFamily::Multivariate { shape, .. } => shape.structure.is_correlated(),
            LeafFamily::MultivariateStudentT { shape, .. } => shape.structure.is_correlated(),
            _ => false,
        };
        if is_correlated {
            columns * (columns + 3.0) / 2.0
        } else {
            2.0 * columns
        }
    };
    let of_row: f64 = task.leaves.iter().map(products).sum();
    let rows = summary.rows as f64 + PRODUCTS_OF_MISSING * summary.incomplete;
    rows * of_row * task.components as f64 <= FEW_PRODUCTS
}

/// Sorts results by their objective, the highest first, and spurious ones last.
fn sort_best_first(found: &mut [EmFit], task: &Task, summary: &TableSummary) {
    let merit = |found: &EmFit| (!is_spurious(task, summary, found), found.objective);
    let order = |a: &EmFit, b: &EmFit| merit(b).partial_cmp(&merit(a));
    found.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
}

/// The data and options for trying starts.
struct Trial<'a> {
    task: &'a Task<'a>,
    first: &'a Table,
    points: &'a Points,
    whitened: Option<Points>,
    options: &'a FitOptions,
    control: Control<'a>,
}

impl Trial<'_> {
    /// The initial parameters of start `number`, counted from 1.
    fn start(&self, number: usize) -> crate::model::mixture::Parameters {
        let (init, without_k_means) = match (self.options.init, number) {
            (Init::Auto, 1) => (Init::Hierarchical, false),
            (Init::Auto, number) if number % 6 == 3 => (Init::Random, true),
            (Init::Auto, number) => (Init::KMeansPlusPlus, number % 6 == 0),
            (init, _) => (init, false),
        };
        let group = |points: &Points, k: usize, seed: u64| {
            if without_k_means {
                points.group_by_nearest_seed(k, init, seed)
            } else {
                points.group(k, init, seed)
            }
        };
        let seed = self.options.seed.wrapping_mul(1_000_003);
        let seed = seed.wrapping_add(number as u64);
        // Clusters may differ only along a direction of small variance.
        let points = match &self.whitened {
            Some(whitened) if number.is_multiple_of(2) => whitened,
            _ => self.points,
        };
        let (leaves, k) = (self.task.leaves, self.task.components);
        let clusters = k - self.task.noise_components();
        if clusters == k {
            let groups = group(points, k, seed);
            let statistics = statistics_of_groups(self.first, leaves, &groups, k);
            return self.task.maximize(&statistics, None);
        }
        // The share of noise is unknown: different starts try different shares.
        let share = NOISE_SHARES[number % NOISE_SHARES.len()];
        let (near, noise) = points.without_outliers(share);
        let groups = group(&near, clusters, seed);
        let mut statistics = statistics_of_groups(self.first, leaves, &groups, k);
        statistics.weights[clusters] += noise;
        self.task.maximize(&statistics, None)
    }

    /// The number of different starts.
    fn tries(&self) -> usize {
        // A hierarchical start is always the same, and a single component is where all rows are.
        if self.options.init == Init::Hierarchical || self.task.components == 1 {
            1
        } else {
            self.options.restarts.max(1)
        }
    }

    /// Runs EM from every start, for a few iterations or until it converges.
    fn run(&self, tries: usize, to_the_end: bool) -> Vec<Result<Option<EmFit>>> {
        let options = if to_the_end {
            self.options.em.clone()
        } else {
            self.limited_to(FIRST_ITERATIONS)
        };
        let one = |number: usize| {
            if self.control.is_interrupted() {
                return Ok(None);
            }
            self.control.report(Progress::Restart { number, of: tries });
            let start = self.start(number);
            em(self.task, self.first, start, &options, self.control)
        };
        in_parallel_if_small(self.first, (1..=tries).collect(), one)
    }

    /// Continues EM on a larger sample.
    fn continue_on(
        &self,
        sample: &Table,
        found: Vec<EmFit>,
        options: &EmOptions,
    ) -> Result<Vec<EmFit>> {
        successful(in_parallel_if_small(sample, found, |found| {
            let start = found.parameters.clone();
            let continued = em(self.task, sample, start, options, self.control)?;
            Ok(Some(continued.unwrap_or(found)))
        }))
    }

    /// The options of plain EM with at most this number of iterations.
    fn limited_to(&self, iterations: usize) -> EmOptions {
        EmOptions {
            tolerance: self.options.em.tolerance.max(1e-5),
            max_iterations: iterations.min(self.options.em.max_iterations),
            ..self.options.em.plain()
        }
    }
}

/// Applies a function to each item, in parallel if there are few rows.
fn in_parallel_if_small<T: Send>(
    rows: &Table,
    items: Vec<T>,
    run: impl Fn(T) -> Result<Option<EmFit>> + Sync,
) -> Vec<Result<Option<EmFit>>> {
    if rows.rows() <= MAX_PARALLEL_ROWS {
        items.into_par_iter().map(&run).collect()
    } else {
        items.into_iter().map(&run).collect()
    }
}

/// The results of successful attempts, without those that the caller stopped.
///
/// # Errors
/// If all attempts failed with a numerical error, or one with another error.
fn successful(attempts: Vec<Result<Option<EmFit>>>) -> Result<Vec<EmFit>> {
    let mut failure = None;
    let mut results = Vec::new();
    for attempt in attempts {
        match attempt {
            Ok(found) => results.extend(found),
            // If one start becomes singular, others may not.
            Err(error) if error.kind() == ErrorKind::Numeric => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    match failure {
        Some(error) if results.is_empty() => Err(error),
        _ => Ok(results),
    }
}
