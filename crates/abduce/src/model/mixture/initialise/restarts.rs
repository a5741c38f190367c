//! Several starts, of which the best is kept. On a large table all are tried for a few
//! rounds on few rows, the best four for some more on a larger sample, and only the best
//! goes over all rows. On a small one, where a fit leaves threads idle, they run side by
//! side.

use crate::data::{Source, Table};
use crate::leaf::Seen;
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

/// Rows up to which starts run side by side.
const SMALL: u64 = 16_384;

/// On large tables: the rounds that each start gets on few rows, how many of them go on,
/// and the rounds that these get on a sample.
const FIRST_ROUNDS: usize = 8;
const KEPT: usize = 4;
const MORE_ROUNDS: usize = 12;

/// The rows for each component on which every start is tried, at the least, and for each
/// column.
const ROWS_EACH: usize = 500;
const ROWS_EACH_COLUMN: usize = 4;

/// The shares of rows that starts take for noise, in turn.
const NOISE_SHARES: [f64; 4] = [0.02, 0.05, 0.15, 0.35];

/// What became of one start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The objective it reached, log-likelihood plus log-prior; nothing where it came to
    /// none.
    pub objective: Option<f64>,
    /// How many times its parameters were maximised.
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
    /// After as many iterations as were allowed.
    Unconverged,
    /// With a component collapsed onto a few rows: such a maximum is taken only if there
    /// is no other.
    Spurious,
    /// After a few rounds on a sample of a large table, where only the best go on.
    Tried,
    /// By arithmetic that failed.
    Failed,
    /// By the caller.
    Interrupted,
}

/// Whether a maximum is on rows that happen to lie close to each other, or would have been
/// but for rounding.
fn is_spurious(task: &Task, seen: &Seen, found: &EmFit) -> bool {
    let spoiled = found.singular && !found.converged;
    spoiled || any_collapsed(task.leaves, seen, &found.parameters)
}

impl Start {
    fn of(attempt: &Result<Option<EmFit>>, task: &Task, seen: &Seen, whole: bool) -> Start {
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
                found if is_spurious(task, seen, found) => Ended::Spurious,
                _ if !whole => Ended::Tried,
                found if found.converged => Ended::Converged,
                _ => Ended::Unconverged,
            },
        }
    }

    /// Of several starts, the best objective of those that are to be trusted, or of all if
    /// none is, and how many reached it: all those within 1e-5 of it for a row of weight 1,
    /// which is what a thousand iterations at the default tolerance can still differ by.
    pub fn best_of(starts: &[Start], weight: f64) -> Option<(f64, usize)> {
        let reached = |spurious: bool| {
            let these = starts.iter();
            let these = these.filter(move |own| spurious || own.ended != Ended::Spurious);
            these.filter_map(|own| own.objective)
        };
        let best = |spurious: bool| reached(spurious).max_by(f64::total_cmp);
        let spurious = best(false).is_none();
        let best = best(spurious)?;
        let near = reached(spurious).filter(|own| best - own <= 1e-5 * weight);
        Some((best, near.count()))
    }
}

/// Fits components without labels; what each start came to goes to `starts`.
pub(crate) fn best_of_starts(
    task: &Task,
    source: &dyn Source,
    seen: &Seen,
    options: &FitOptions,
    control: Control,
    starts: &mut Vec<Start>,
) -> Result<Option<EmFit>> {
    let size = sample_size(source, task.leaves);
    let whole = seen.rows <= size as u64;
    let sample = sample_rows(source, seen.rows as usize, size, options.seed)?;
    let columns: usize = task.leaves.iter().map(|leaf| leaf.columns.len()).sum();
    let few = ROWS_EACH.max(ROWS_EACH_COLUMN * columns) * task.components;
    let first = match whole {
        true => sample.clone(),
        false => sample_rows(
            &sample,
            sample.rows() as usize,
            few.max(2_000),
            options.seed,
        )?,
    };
    let points = Points::of(&first, task.leaves, seen);
    let trial = Trial {
        task,
        first: &first,
        points: &points,
        whitened: points.whitened(),
        options,
        control,
    };
    let tries = options.restarts.max(1);
    if tries == 1 && !whole {
        // One start on a large table needs no trial.
        let start = trial.start(1);
        return em(task, source, start, &options.em, control);
    }
    let merit = |found: &EmFit| (!is_spurious(task, seen, found), found.objective);
    let sort = |found: &mut Vec<EmFit>| {
        let better = |a: &EmFit, b: &EmFit| merit(b).partial_cmp(&merit(a));
        found.sort_by(|a, b| better(a, b).unwrap_or(Ordering::Equal));
    };
    let attempts = trial.run(whole);
    let told = |attempt| Start::of(attempt, task, seen, whole);
    *starts = attempts.iter().map(told).collect();
    let mut found = those_found(attempts)?;
    sort(&mut found);
    if !whole {
        found.truncate(KEPT);
        found = trial.go_on(found, &sample)?;
        sort(&mut found);
    }
    let Some(best) = found.into_iter().next() else {
        return Ok(None);
    };
    if whole {
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

/// What starts are tried on.
struct Trial<'a> {
    task: &'a Task<'a>,
    first: &'a Table,
    points: &'a Points,
    whitened: Option<Points>,
    options: &'a FitOptions,
    control: Control<'a>,
}

impl Trial<'_> {
    /// The parameters that start `number`, counted from 1, begins with.
    fn start(&self, number: usize) -> crate::model::mixture::Parameters {
        let (init, raw) = match (self.options.init, number) {
            (Init::Auto, 1) => (Init::Hierarchical, false),
            (Init::Auto, number) if number % 6 == 3 => (Init::Random, true),
            (Init::Auto, number) => (Init::KMeansPlusPlus, number % 6 == 0),
            (init, _) => (init, false),
        };
        let grouped = |points: &Points, k: usize, seed: u64| match raw {
            true => points.group_by_seeds(k, init, seed),
            false => points.group(k, init, seed),
        };
        let seed = self.options.seed.wrapping_mul(1_000_003);
        let seed = seed.wrapping_add(number as u64);
        // Clusters may lie apart in a direction that is narrow beside the others.
        let points = match &self.whitened {
            Some(white) if number.is_multiple_of(2) => white,
            _ => self.points,
        };
        let (leaves, k) = (self.task.leaves, self.task.components);
        let clusters = k - self.task.noise_components();
        if clusters == k {
            let groups = grouped(points, k, seed);
            let statistics = statistics_of_groups(self.first, leaves, &groups, k);
            return self.task.maximize(&statistics, None);
        }
        // How much is noise is not known before; what fits best will tell.
        let share = NOISE_SHARES[number % NOISE_SHARES.len()];
        let (near, noise) = points.without_far(share);
        let groups = grouped(&near, clusters, seed);
        let mut statistics = statistics_of_groups(self.first, leaves, &groups, k);
        statistics.weights[clusters] += noise;
        self.task.maximize(&statistics, None)
    }

    /// Every start, to the end or for the first rounds.
    fn run(&self, whole: bool) -> Vec<Result<Option<EmFit>>> {
        // The tree of a hierarchical start is always the same.
        let tries = match self.options.init {
            Init::Hierarchical => 1,
            _ => self.options.restarts.max(1),
        };
        let options = match whole {
            true => self.options.em.clone(),
            false => self.rounds(FIRST_ROUNDS),
        };
        let one = |number: usize| {
            if self.control.is_interrupted() {
                return Ok(None);
            }
            self.control.report(Progress::Restart { number, of: tries });
            let start = self.start(number);
            em(self.task, self.first, start, &options, self.control)
        };
        self.all(self.first, (1..=tries).collect(), one)
    }

    fn go_on(&self, found: Vec<EmFit>, sample: &Table) -> Result<Vec<EmFit>> {
        let options = self.rounds(MORE_ROUNDS);
        those_found(self.all(sample, found, |found| {
            let start = found.parameters.clone();
            let more = em(self.task, sample, start, &options, self.control)?;
            Ok(Some(more.unwrap_or(found)))
        }))
    }

    fn rounds(&self, most: usize) -> EmOptions {
        EmOptions {
            tolerance: self.options.em.tolerance.max(1e-5),
            max_iterations: most.min(self.options.em.max_iterations),
            ..self.options.em.plainly()
        }
    }

    /// Does the same with each, side by side where rows are few.
    fn all<T: Send>(
        &self,
        rows: &Table,
        these: Vec<T>,
        one: impl Fn(T) -> Result<Option<EmFit>> + Sync,
    ) -> Vec<Result<Option<EmFit>>> {
        match rows.rows() <= SMALL {
            true => these.into_par_iter().map(&one).collect(),
            false => these.into_iter().map(&one).collect(),
        }
    }
}

/// Those that came to an end.
///
/// # Errors
/// If the arithmetic of all of them failed, or anything else of one.
fn those_found(attempts: Vec<Result<Option<EmFit>>>) -> Result<Vec<EmFit>> {
    let mut failure = None;
    let mut kept = Vec::new();
    for attempt in attempts {
        match attempt {
            Ok(found) => kept.extend(found),
            // Where one start comes to a singular end, others need not.
            Err(why) if why.kind() == ErrorKind::Numeric => failure = Some(why),
            Err(why) => return Err(why),
        }
    }
    match failure {
        Some(why) if kept.is_empty() => Err(why),
        _ => Ok(kept),
    }
}
