//! The fits of a grid. All start from the same groups of rows. Where iterations take long, EM first
//! runs to a coarse tolerance, and a fit may be restarted from a fit of another covariance
//! structure. Fits that may still become the best, and fits that converge fast, are then continued
//! to the tolerance of the options. The others are stopped.

use crate::data::Source;
use crate::model::mixture::fit::fitting::Fitting;
use crate::model::mixture::initialise::restarts::{COARSE_TOLERANCE, coarse};
use crate::model::mixture::initialise::starting_point::StartingPoint;
use crate::model::mixture::report::diagnose::Spurious;
use crate::model::mixture::select::distinct::Pair;
use crate::model::mixture::select::exchange::start_from;
use crate::model::mixture::select::{Criterion, Grid, MAX_PARALLEL_ROWS};
use crate::model::mixture::{Fit, FitOptions, Parameters, Specification, fit_from};
use crate::{Control, Progress, Result};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest further gain in log-likelihood that is expected of a fit at the coarse tolerance, as
/// a multiple of the largest gain that its last iteration can have had.
const LARGEST_GAIN: f64 = 300.0;

/// A fit whose gain is multiplied by less than this in each iteration is always continued, as it
/// takes few more iterations.
const FAST_RATE: f64 = 0.8;

/// The smallest gain per row of weight 1 for which a fit is restarted from another.
const SMALLEST_GAIN: f64 = 1e-7;

/// The maximum number of rounds in which fits are restarted from others.
const EXCHANGES: usize = 2;

/// A fit of a grid.
#[derive(Clone)]
pub(super) struct Cell {
    pub pair: Pair,
    pub fit: Fit,
    /// Whether EM ended at the coarse tolerance.
    pub is_coarse: bool,
}

/// A cell, or the error of its fit; `None` if the caller stopped it.
pub(super) type Outcome = Option<Result<Cell>>;

/// The arguments of all fits of a grid.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    pub specification: &'a Specification,
    pub grid: &'a Grid,
    pub source: &'a dyn Source,
    pub options: &'a FitOptions,
    pub control: Control<'a>,
}

impl Cells<'_> {
    /// Fits each pair.
    pub fn fit(&self, pairs: &[Pair]) -> Vec<Outcome> {
        let mut outcomes = self.fit_first(pairs);
        for _ in 0..EXCHANGES {
            if !self.exchange(&mut outcomes) {
                break;
            }
        }
        self.finish(&mut outcomes);
        for outcome in &mut outcomes {
            if let Some(Ok(cell)) = outcome {
                // A fit at the coarse tolerance has not reached the tolerance of the options.
                cell.fit.converged &= !cell.is_coarse;
            }
        }
        outcomes
    }

    /// Applies a function to each item, in parallel if there are few rows: a fit of so few rows
    /// cannot use all threads.
    pub fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        run: impl Fn(&T) -> R + Sync + Send,
    ) -> Vec<R> {
        if self.source.rows() <= MAX_PARALLEL_ROWS {
            items.par_iter().with_max_len(1).map(run).collect()
        } else {
            items.iter().map(run).collect()
        }
    }

    fn silent(&self) -> Control<'_> {
        Control {
            progress: None,
            ..self.control
        }
    }

    fn specification_of(&self, (covariance, components): Pair) -> Specification {
        self.specification.with_pair(covariance, components)
    }

    fn fitting<'b>(&'b self, specification: &'b Specification) -> Fitting<'b> {
        let start = StartingPoint::Automatic;
        Fitting::new(
            specification,
            self.source,
            start,
            self.options,
            self.silent(),
        )
    }

    /// Fits each pair from the shared groups; only to the coarse tolerance where iterations take
    /// long.
    fn fit_first(&self, pairs: &[Pair]) -> Vec<Outcome> {
        let several = pairs.first().filter(|_| pairs.len() > 1);
        let shared = several.and_then(|pair| {
            let components: Vec<usize> = pairs.iter().map(|(_, k)| *k).collect();
            let specification = self.specification_of(*pair);
            // An error is not reported here: the fits fail with it too.
            let groups = self.fitting(&specification).shared_groups(&components);
            groups.ok().flatten()
        });
        let done = AtomicUsize::new(0);
        self.map(pairs, |pair| {
            if self.control.is_interrupted() {
                return None;
            }
            let specification = self.specification_of(*pair);
            let found = self
                .fitting(&specification)
                .run_from_groups(shared.as_ref());
            self.control.report(Progress::Candidate {
                number: done.fetch_add(1, Ordering::Relaxed) + 1,
                of: pairs.len(),
            });
            Some(found.map(|(fit, is_coarse)| Cell {
                pair: *pair,
                fit,
                is_coarse,
            }))
        })
    }

    /// Replaces each coarse fit by a fit that starts from another one with as many components, if
    /// that is better. Returns whether any was replaced.
    fn exchange(&self, outcomes: &mut [Outcome]) -> bool {
        let cells: Vec<&Cell> = outcomes.iter().filter_map(cell_of).collect();
        let options = FitOptions {
            em: coarse(&self.options.em),
            ..self.options.clone()
        };
        let replace = |outcome: &Outcome| -> Option<Fit> {
            let cell = cell_of(outcome).filter(|cell| cell.is_coarse)?;
            let start = best_start(cell, &cells)?;
            let fit = self.fit_from(cell.pair, &start, &options)?;
            let merit = |fit: &Fit| (Spurious::of(&fit.mixture).is_none(), objective(fit));
            (merit(&fit) > merit(&cell.fit)).then_some(fit)
        };
        let replaced = self.map(outcomes, replace);
        let mut any = false;
        for (outcome, fit) in outcomes.iter_mut().zip(replaced) {
            if let (Some(Ok(cell)), Some(fit)) = (outcome, fit) {
                any = true;
                let (restarts, starts) = (
                    std::mem::take(&mut cell.fit.restarts),
                    std::mem::take(&mut cell.fit.starts),
                );
                cell.fit = Fit {
                    restarts,
                    starts,
                    iterations: fit.iterations + cell.fit.iterations,
                    ..fit
                };
            }
        }
        any
    }

    /// Fits a pair from given parameters; `None` if that fails or is interrupted.
    fn fit_from(&self, pair: Pair, start: &Parameters, options: &FitOptions) -> Option<Fit> {
        if self.control.is_interrupted() {
            return None;
        }
        let specification = self.specification_of(pair);
        let start = Some(start);
        let fit = fit_from(&specification, self.source, start, options, self.silent());
        fit.ok().filter(|fit| !fit.interrupted)
    }

    /// Continues the coarse fits that may become the best and those that converge fast, until none
    /// is left.
    fn finish(&self, outcomes: &mut [Outcome]) {
        let mut tried = vec![false; outcomes.len()];
        loop {
            let best = self.best_value(outcomes);
            let is_next = |(number, outcome): (usize, &Outcome)| {
                let cell = cell_of(outcome).filter(|cell| cell.is_coarse);
                cell.is_some_and(|cell| !tried[number] && self.is_continued(&cell.fit, best))
            };
            let next: Vec<bool> = outcomes.iter().enumerate().map(is_next).collect();
            if !next.contains(&true) {
                return;
            }
            let numbers: Vec<usize> = (0..next.len()).filter(|number| next[*number]).collect();
            let continued = self.map(&numbers, |number| {
                let cell = cell_of(&outcomes[*number])?;
                let start = &cell.fit.mixture.parameters;
                self.fit_from(cell.pair, start, self.options)
            });
            for (number, more) in numbers.into_iter().zip(continued) {
                tried[number] = true;
                if let (Some(Ok(cell)), Some(more)) = (&mut outcomes[number], more) {
                    continue_fit(&mut cell.fit, more);
                    cell.is_coarse = false;
                }
            }
        }
    }

    /// The smallest criterion of the fits that may be chosen or, if there are none, of all.
    fn best_value(&self, outcomes: &[Outcome]) -> f64 {
        let smallest = |only_eligible: bool| {
            let cells = outcomes.iter().filter_map(cell_of);
            let cells = cells.filter(|cell| !only_eligible || is_eligible(cell));
            let values = cells.map(|cell| self.value(&cell.fit));
            values
                .filter(|value| value.is_finite())
                .min_by(f64::total_cmp)
        };
        let best = smallest(true).or_else(|| smallest(false));
        best.unwrap_or(f64::INFINITY)
    }

    fn value(&self, fit: &Fit) -> f64 {
        match self.grid.criterion {
            Criterion::Aic => fit.aic,
            _ => fit.bic,
        }
    }

    /// Whether a coarse fit is continued. Every fit is if the criterion does not follow from the
    /// likelihood of the rows.
    fn is_continued(&self, fit: &Fit, best: f64) -> bool {
        let is_likelihood = matches!(self.grid.criterion, Criterion::Bic | Criterion::Aic);
        let summary = &fit.mixture.summary;
        let mean = objective(fit) / fit.weight + summary.log_units(&fit.mixture.leaves);
        let last_gain = COARSE_TOLERANCE * (1.0 + mean.abs()) * fit.weight;
        let may_win = self.value(fit) - 2.0 * LARGEST_GAIN * last_gain <= best;
        let rate = fit.diagnostics.rate;
        let is_fast = rate.is_some_and(|rate| rate < FAST_RATE) || fit.trace.len() < 3;
        !is_likelihood || may_win || is_fast
    }
}

fn cell_of(outcome: &Outcome) -> Option<&Cell> {
    outcome.as_ref().and_then(|result| result.as_ref().ok())
}

fn is_eligible(cell: &Cell) -> bool {
    let mixture = &cell.fit.mixture;
    let left = mixture.components() - usize::from(mixture.has_noise());
    left == cell.pair.1 && Spurious::of(mixture).is_none()
}

fn objective(fit: &Fit) -> f64 {
    fit.objectives.last().copied().unwrap_or(f64::NAN)
}

/// Replaces a fit by its continuation, whose trace begins where that of the fit ends.
fn continue_fit(fit: &mut Fit, more: Fit) {
    let before = std::mem::replace(fit, more);
    let elapsed = before.trace_seconds.last().copied().unwrap_or(0.0);
    let seconds = fit.trace_seconds.iter().map(|seconds| elapsed + seconds);
    let seconds: Vec<f64> = seconds.collect();
    fit.trace_seconds = joined(before.trace_seconds, &seconds);
    fit.trace = joined(before.trace, &fit.trace);
    fit.objectives = joined(before.objectives, &fit.objectives);
    fit.bounds = [before.bounds, std::mem::take(&mut fit.bounds)].concat();
    fit.warmup = before.warmup;
    fit.iterations += before.iterations;
    fit.monotone &= before.monotone;
    fit.restarts = before.restarts;
    fit.starts = before.starts;
}

/// The first numbers, then the others without their first, which is the last of `first` again.
fn joined(mut first: Vec<f64>, others: &[f64]) -> Vec<f64> {
    first.extend(others.iter().skip(1));
    first
}

/// The parameters estimated from another fit that have the highest lower bound of their objective,
/// if it is above the objective of this fit.
fn best_start(cell: &Cell, cells: &[&Cell]) -> Option<Parameters> {
    let least = objective(&cell.fit) + SMALLEST_GAIN * cell.fit.weight;
    let others = cells.iter().filter(|other| {
        let is_other = other.pair.0 != cell.pair.0 && other.pair.1 == cell.pair.1;
        is_other && is_eligible(other)
    });
    let starts = others.filter_map(|other| start_from(&cell.fit, &other.fit));
    let better = starts.filter(|(_, bound)| *bound > least);
    let best = better.max_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(start, _)| start)
}
