//! The starts of k-means: initial centres, trials on a sample, and the outcome of each.

use super::fit::Run;
use super::iterate::{Rows, RunResult};
use super::parallel::seeds_from_all_rows;
use super::points::Points;
use super::seeding::{Measure, draw_seeds};
use super::specification::{Algorithm, Init};
use super::survey::Survey;
use crate::Progress;
use crate::data::{Source, Table};
use crate::model::mixture::{Ended, sample_rows};
use crate::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The number of rows on which starts are tried: this, or more if there are fewer per cluster than
/// the second number.
const SAMPLE_ROWS: usize = 20_000;
const MIN_ROWS_PER_CLUSTER: usize = 32;

/// The outcome of one start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The inertia it reached, for a large table on a sample of its rows; `None` if it was
    /// interrupted first.
    pub inertia: Option<f64>,
    /// The number of iterations.
    pub iterations: usize,
    /// How it ended.
    pub ended: Ended,
}

/// The maximum relative difference of inertias that count as equal.
const TOLERANCE: f64 = 1e-6;

impl Start {
    /// The outcome of a start with this inertia in the units of the table. `whole` is whether it
    /// ran on all rows.
    pub(super) fn of(found: Option<&RunResult>, inertia: f64, whole: bool) -> Start {
        Start {
            inertia: inertia.is_finite().then_some(inertia),
            iterations: found.map_or(0, |found| found.iterations),
            ended: match found {
                Some(found) if !found.interrupted => match (whole, found.converged) {
                    (false, _) => Ended::Tried,
                    (true, true) => Ended::Converged,
                    (true, false) => Ended::Unconverged,
                },
                _ => Ended::Interrupted,
            },
        }
    }

    /// The smallest inertia of several starts and the number of starts that reached it, up to a
    /// relative difference of 1e-6.
    ///
    /// ```
    /// use abduce::model::kmeans::Start;
    /// use abduce::model::mixture::Ended;
    /// let start = |inertia| Start { inertia: Some(inertia), iterations: 3, ended: Ended::Converged };
    /// let starts = [start(2.5), start(1.0), start(1.0)];
    /// assert_eq!(Start::best_of(&starts), Some((1.0, 2)));
    /// assert_eq!(Start::best_of(&[]), None);
    /// ```
    pub fn best_of(starts: &[Start]) -> Option<(f64, usize)> {
        let inertias = || starts.iter().filter_map(|start| start.inertia);
        let best = inertias().min_by(f64::total_cmp)?;
        let equal = inertias().filter(|inertia| inertia - best <= TOLERANCE * best);
        Some((best, equal.count()))
    }
}

impl Run<'_> {
    /// Runs several starts, for a large table on a sample, and continues the best on all rows.
    pub fn best_of_starts(
        &self,
        source: &dyn Source,
        survey: &Survey,
        starts: &mut Vec<Start>,
    ) -> Result<(Option<RunResult>, Algorithm)> {
        let clusters = self.specification.clusters;
        let size = SAMPLE_ROWS.max(clusters.saturating_mul(MIN_ROWS_PER_CLUSTER));
        let is_whole = survey.rows <= size as u64;
        let sample: Table = sample_rows(source, survey.rows as usize, size, self.options.seed)?;
        let rows = Rows::new(&sample, self.frame);
        let concatenated;
        let points = match rows.in_memory.as_deref() {
            Some([one]) => one,
            Some(chunks) => {
                concatenated = Points::concatenate(chunks);
                &concatenated
            }
            None => {
                return Err(
                    Error::parameter("this number of clusters needs too much memory")
                        .with_hint("ask for fewer clusters"),
                );
            }
        };
        let distinct = self.options.by_value.then(|| points.distinct());
        let points = distinct.as_ref().unwrap_or(points);
        // A single start on a large table needs no trial.
        if self.options.restarts <= 1 && !is_whole {
            let start = self.initial_centres(1, source, points)?;
            let (result, algorithm) = self.run_on_all_rows(source, start)?;
            starts.push(self.outcome(result.as_ref(), true));
            return Ok((result, algorithm));
        }
        let mut best: Option<(RunResult, Algorithm)> = None;
        for result in self.try_starts(source, &rows, points, is_whole) {
            let (result, algorithm) = result?;
            starts.push(self.outcome(result.as_ref(), is_whole));
            let Some(result) = result else {
                continue;
            };
            let is_better = |(best, _): &(RunResult, Algorithm)| result.inertia() < best.inertia();
            if best.as_ref().is_none_or(is_better) {
                best = Some((result, algorithm));
            }
        }
        let Some((best, algorithm)) = best else {
            return Ok((None, Algorithm::Auto));
        };
        if is_whole {
            return Ok((Some(best), algorithm));
        }
        let (result, algorithm) = self.run_on_all_rows(source, best.centres.clone())?;
        let result = result.unwrap_or(RunResult {
            interrupted: true,
            converged: false,
            ..best
        });
        Ok((Some(result), algorithm))
    }

    /// The results of all starts, in their order. They run in parallel, as each is small.
    fn try_starts(
        &self,
        source: &dyn Source,
        rows: &Rows,
        points: &Points,
        is_whole: bool,
    ) -> Vec<Result<(Option<RunResult>, Algorithm)>> {
        let mut options = self.options.clone();
        if !is_whole {
            options.tolerance = options.tolerance.max(1e-5);
            if options.algorithm == Algorithm::MiniBatch {
                options.algorithm = Algorithm::Auto;
            }
        }
        let tries = self.options.restarts.max(1);
        let numbers = (1..=tries).into_par_iter();
        let results = numbers.map(|number| {
            self.control.report(Progress::Restart { number, of: tries });
            if number > 1 && self.control.is_interrupted() {
                return Ok((None, Algorithm::Auto));
            }
            let start = self.initial_centres(number, source, points)?;
            self.run(rows, start, &options)
        });
        results.collect()
    }

    /// The seed of a start, counted from 1.
    pub fn seed_of_start(&self, number: usize) -> u64 {
        (self.options.seed.wrapping_mul(1_000_003)).wrapping_add(number as u64)
    }

    /// The initial centres of a start, counted from 1, drawn from points or from all rows.
    fn initial_centres(
        &self,
        number: usize,
        source: &dyn Source,
        points: &Points,
    ) -> Result<Vec<f64>> {
        let clusters = self.specification.clusters;
        let seed = self.seed_of_start(number);
        let centres = match self.options.init {
            Init::Parallel if self.measure == Measure::Squared => {
                seeds_from_all_rows(&self.rows(source)?, clusters, seed)?
            }
            init => draw_seeds(points, clusters, init, self.measure, seed),
        };
        if centres.is_empty() {
            return Err(Error::data("no row has a direction")
                .with_hint("rows of zeros have none; use `distance=euclidean`"));
        }
        Ok(centres)
    }

    /// The outcome of a start.
    pub fn outcome(&self, found: Option<&RunResult>, whole: bool) -> Start {
        let inertia = found.map_or(f64::INFINITY, RunResult::inertia);
        Start::of(found, self.in_table_units(inertia), whole)
    }
}
