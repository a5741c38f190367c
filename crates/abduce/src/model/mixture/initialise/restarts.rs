//! Several starts, of which the best is kept. Where iterations take long, all starts are tried for
//! a few iterations, and only the best four are continued; on a large table, the first iterations
//! use few rows, those of the best four a larger sample, and only the best is continued on all
//! rows. On a small table, where one fit cannot use all threads, the starts run in parallel. The
//! fits of a grid share the groups of rows that they start from, and iterate fewer starts.

use crate::data::{Source, Table};
use crate::family::LeafFamily;
use crate::leaf::{Leaf, TableSummary};
use crate::learn::{EStep, EmOptions, EmResult, Latent, Stop, em};
use crate::model::mixture::initialise::outcome::{Ended, Start, Starts, is_spurious};
use crate::model::mixture::initialise::sample::{sample_rows, sample_size};
use crate::model::mixture::initialise::shared::{Seeding, SharedGroups, groups_of_start};
use crate::model::mixture::initialise::{Init, Points, statistics_of_groups};
use crate::model::mixture::step::task::{EmFit, Task};
use crate::model::mixture::{FitOptions, MixtureStatistics, Parameters};
use crate::{Control, Progress};
use crate::{ErrorKind, Result};
use rayon::prelude::*;
use std::cmp::Ordering;

/// The maximum number of rows for which starts run in parallel.
const MAX_PARALLEL_ROWS: u64 = 16_384;

/// The first iterations of each start where iterations take long; few rows of a large table.
const FIRST_ITERATIONS: usize = 8;

/// The starts that are continued after these.
const KEPT: usize = 4;

/// Their iterations on a larger sample of a large table.
const SECOND_ITERATIONS: usize = 12;

/// Up to this number of products in an iteration over a table, all starts run until convergence.
const FEW_PRODUCTS: f64 = 250_000.0;

/// The missing values of one row take as long as this number of complete rows.
const PRODUCTS_OF_MISSING: f64 = 4.0;

/// In a grid, up to this number of products in an iteration all starts run until convergence.
const FEW_PRODUCTS_OF_GRID: f64 = 50_000.0;

/// Above it, the number of starts that are iterated at all.
const ITERATED: usize = 6;

/// The first iterations of each of these.
const COARSE_ITERATIONS: usize = 5;

/// The starts that are then continued to the coarse tolerance.
const COARSE_KEPT: usize = 2;

/// The tolerance at which the fits of a grid are compared before the best are continued.
pub(crate) const COARSE_TOLERANCE: f64 = 3e-6;

/// The minimum number of rows on which starts are tried.
const MIN_ROWS: usize = 2_000;

/// The minimum number of these rows for each component.
const ROWS_PER_COMPONENT: usize = 500;

/// The minimum number of these rows for each component and column.
const ROWS_PER_COLUMN: usize = 4;

/// The initial shares of noise, used by the starts in turn.
const NOISE_SHARES: [f64; 4] = [0.02, 0.05, 0.15, 0.35];

/// Fits components without labels from several starts, and returns the best result; the outcome
/// of each start is written to `starts`. With the groups of a grid, where iterations take long,
/// EM ends at a coarse tolerance. `None` if the caller stopped it before any result.
pub(crate) fn best_of_starts(
    task: &Task,
    source: &dyn Source,
    summary: &TableSummary,
    (options, shared): (&FitOptions, Option<&SharedGroups>),
    control: Control,
    starts: &mut Starts,
) -> Result<Option<EmFit>> {
    let size = sample_size(source, task.leaves);
    let is_whole = summary.rows <= size as u64;
    let sample = sample_rows(source, summary.rows as usize, size, options.seed)?;
    let first = if is_whole {
        sample.clone()
    } else {
        let rows = rows_for_starts(task);
        sample_rows(&sample, sample.rows() as usize, rows, options.seed)?
    };
    let shared = shared.filter(|shared| shared.get(task.leaves, task.components, 1).is_some());
    let trial = Trial {
        task,
        summary,
        first: &first,
        shared,
        seeding: shared
            .is_none()
            .then(|| Seeding::of(&first, task.leaves, summary)),
        options,
        control,
    };
    let tries = tries(options, task.components);
    if tries == 1 && !is_whole {
        // A single start on a large table needs no trial.
        return em(task, source, trial.start(1).0, &options.em, control);
    }
    let products = products_of_iteration(task, summary);
    let is_coarse = shared.is_some() && products > FEW_PRODUCTS_OF_GRID;
    if is_coarse && task.components > 1 && can_be_coarse(&options.em) {
        starts.is_coarse = true;
        return trial.run_coarsely(tries, &mut starts.outcomes);
    }
    let until_convergence = is_whole && (tries == 1 || products <= FEW_PRODUCTS);
    let best = if until_convergence {
        trial.run_until_convergence(tries, &mut starts.outcomes)?
    } else {
        trial.run_in_rounds(tries, &sample, is_whole, &mut starts.outcomes)?
    };
    let Some(best) = best else {
        return Ok(None);
    };
    if is_whole {
        return Ok(Some(trial.marked_if_interrupted(best)));
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

/// The number of rows on which the starts of a large table are tried.
fn rows_for_starts(task: &Task) -> usize {
    let columns: usize = task.leaves.iter().map(|leaf| leaf.columns.len()).sum();
    let rows = ROWS_PER_COMPONENT.max(ROWS_PER_COLUMN * columns) * task.components;
    rows.max(MIN_ROWS)
}

/// The number of products in an iteration over all rows.
fn products_of_iteration(task: &Task, summary: &TableSummary) -> f64 {
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
    rows * of_row * task.components as f64
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
    summary: &'a TableSummary,
    first: &'a Table,
    /// The groups of a grid, if they include those of this fit.
    shared: Option<&'a SharedGroups>,
    /// The points of this fit, if it has no groups of a grid.
    seeding: Option<Seeding>,
    options: &'a FitOptions,
    control: Control<'a>,
}

impl Trial<'_> {
    /// The statistics of the groups of start `number`, counted from 1.
    fn statistics(&self, number: usize) -> MixtureStatistics {
        let (leaves, k) = (self.task.leaves, self.task.components);
        let shared = self.shared.and_then(|shared| shared.get(leaves, k, number));
        if let Some(groups) = shared {
            return statistics_of_groups(self.first, leaves, groups, k);
        }
        let unshared;
        let seeding = match &self.seeding {
            Some(seeding) => seeding,
            None => {
                unshared = Seeding::of(self.first, leaves, self.summary);
                &unshared
            }
        };
        let points = seeding.points(number);
        let clusters = k - self.task.noise_components();
        let group = |points: &Points, k| groups_of_start(points, k, number, self.options, None);
        if clusters == k {
            return statistics_of_groups(self.first, leaves, &group(points, k), k);
        }
        // The share of noise is unknown: different starts try different shares.
        let share = NOISE_SHARES[number % NOISE_SHARES.len()];
        let (near, noise) = points.without_outliers(share);
        let groups = group(&near, clusters);
        let mut statistics = statistics_of_groups(self.first, leaves, &groups, k);
        statistics.weights[clusters] += noise;
        statistics
    }

    /// The initial parameters of a start and their objective, with the groups as labels.
    fn start(&self, number: usize) -> (Parameters, f64) {
        let statistics = self.statistics(number);
        let parameters = self.task.maximize(&statistics, None);
        let complete = self.task.complete_log_likelihood(&statistics, &parameters);
        let objective = complete + self.task.log_prior(&parameters);
        (parameters, objective)
    }

    /// Runs EM from every start.
    fn run(&self, tries: usize, options: &EmOptions) -> Vec<Result<Option<EmFit>>> {
        let one = |number: usize| {
            if self.control.is_interrupted() {
                return Ok(None);
            }
            self.control.report(Progress::Restart { number, of: tries });
            let (start, _) = self.start(number);
            em(self.task, self.first, start, options, self.control)
        };
        in_parallel_if_small(self.first, (1..=tries).collect(), one)
    }

    /// Runs EM from every start until convergence, and returns the best result.
    fn run_until_convergence(
        &self,
        tries: usize,
        outcomes: &mut Vec<Start>,
    ) -> Result<Option<EmFit>> {
        let attempts = self.run(tries, &self.options.em);
        Ok(self.ranked(attempts, true, outcomes)?.into_iter().next())
    }

    /// Runs EM from every start for a few iterations, continues the best on the rows of `sample`,
    /// until convergence if it is the whole table, and returns the best result.
    fn run_in_rounds(
        &self,
        tries: usize,
        sample: &Table,
        is_whole: bool,
        outcomes: &mut Vec<Start>,
    ) -> Result<Option<EmFit>> {
        let attempts = self.run(tries, &self.limited_to(FIRST_ITERATIONS));
        let mut found = self.ranked(attempts, false, outcomes)?;
        found.truncate(KEPT);
        let more = if is_whole {
            self.options.em.clone()
        } else {
            self.limited_to(SECOND_ITERATIONS)
        };
        found = self.continue_on(sample, found, &more)?;
        sort_best_first(&mut found, self.task, self.summary);
        Ok(found.into_iter().next())
    }

    /// The successful attempts, the best first; writes the outcomes of all.
    fn ranked(
        &self,
        attempts: Vec<Result<Option<EmFit>>>,
        until_convergence: bool,
        outcomes: &mut Vec<Start>,
    ) -> Result<Vec<EmFit>> {
        let each = attempts.iter();
        *outcomes = each
            .map(|attempt| Start::of(attempt, self.task, self.summary, until_convergence))
            .collect();
        let mut found = successful(attempts)?;
        sort_best_first(&mut found, self.task, self.summary);
        Ok(found)
    }

    /// Runs EM to a coarse tolerance from the starts that are best after a few iterations. Only the
    /// starts whose groups have the highest likelihood are iterated.
    fn run_coarsely(&self, tries: usize, outcomes: &mut Vec<Start>) -> Result<Option<EmFit>> {
        let (task, summary) = (self.task, self.summary);
        let mut ranked: Vec<(usize, Parameters)> = Vec::new();
        for number in 1..=tries {
            if self.control.is_interrupted() {
                break;
            }
            let (start, objective) = self.start(number);
            outcomes.push(Start {
                objective: objective.is_finite().then_some(objective),
                iterations: 0,
                ended: Ended::Tried,
            });
            ranked.push((number, start));
        }
        let objective = |number: usize| outcomes[number - 1].objective.unwrap_or(f64::NEG_INFINITY);
        ranked.sort_by(|a, b| objective(b.0).total_cmp(&objective(a.0)));
        ranked.truncate(ITERATED);
        let numbers: Vec<usize> = ranked.iter().map(|(number, _)| *number).collect();
        let few = self.limited_to(COARSE_ITERATIONS);
        let attempts = in_parallel_if_small(self.first, ranked, |(_, start)| {
            em(task, self.first, start, &few, self.control)
        });
        for (number, attempt) in numbers.into_iter().zip(&attempts) {
            outcomes[number - 1] = Start::of(attempt, task, summary, false);
        }
        let mut found = successful(attempts)?;
        sort_best_first(&mut found, task, summary);
        found.truncate(COARSE_KEPT);
        found = self.continue_on(self.first, found, &coarse(&self.options.em))?;
        sort_best_first(&mut found, task, summary);
        let best = found.into_iter().next();
        Ok(best.map(|best| self.marked_if_interrupted(best)))
    }

    fn marked_if_interrupted(&self, found: EmFit) -> EmFit {
        EmResult {
            interrupted: self.control.is_interrupted(),
            ..found
        }
    }

    /// Continues EM from each result on the rows of `sample`.
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

    /// The options of plain EM with at most this number of iterations and a tolerance of at least
    /// 1e-5.
    fn limited_to(&self, iterations: usize) -> EmOptions {
        EmOptions {
            tolerance: self.options.em.tolerance.max(1e-5),
            max_iterations: iterations.min(self.options.em.max_iterations),
            ..self.options.em.plain()
        }
    }
}

/// Whether EM with these options can be stopped at the coarse tolerance and continued later.
fn can_be_coarse(options: &EmOptions) -> bool {
    let is_plain = options.step == EStep::Soft && options.online.is_none();
    is_plain && options.stop == Stop::Relative && options.tolerance < COARSE_TOLERANCE
}

/// The options of EM that ends at the coarse tolerance.
pub(crate) fn coarse(options: &EmOptions) -> EmOptions {
    EmOptions {
        tolerance: options.tolerance.max(COARSE_TOLERANCE),
        ..options.clone()
    }
}

/// The number of different starts of a fit with this number of components.
pub(super) fn tries(options: &FitOptions, components: usize) -> usize {
    // A hierarchical start is always the same, and a single component starts from all rows.
    if options.init == Init::Hierarchical || components == 1 {
        1
    } else {
        options.restarts.max(1)
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
