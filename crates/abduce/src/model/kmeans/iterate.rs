//! The iterations of k-means: rows are assigned to their nearest centres (the hard E-step), and
//! centres move to the means of their rows (the M-step). Neither increases the inertia; every fit
//! checks that and keeps the whole trace. The centre of an empty cluster moves to the row farthest
//! from its centre, which does not increase the inertia either.

use super::assign::{Assigner, ChunkState};
use super::farthest::farthest;
use super::frame::Frame;
use super::points::Points;
use super::specification::{Algorithm, Options};
use super::statistics::Statistics;
use crate::data::{CHUNK_ROWS, Chunk, Source, fold, fold_numbers};
use crate::{Control, Progress};
use crate::{Error, Result};
use std::borrow::Cow;
use std::sync::Mutex;
use std::time::Instant;

/// The rows of a fit: a source, and its points if they fit into memory.
pub(super) struct Rows<'a> {
    pub source: &'a dyn Source,
    pub frame: &'a Frame,
    /// The points of each chunk.
    pub in_memory: Option<Vec<Points>>,
}

/// The maximum memory for points.
const MAX_BYTES: u64 = 512 << 20;

impl<'a> Rows<'a> {
    /// Rows with the points of a table in memory, if there are not too many.
    pub fn new(source: &'a dyn Source, frame: &'a Frame) -> Rows<'a> {
        use rayon::prelude::*;
        let fits = Points::bytes(source.rows(), frame.columns.len()) <= MAX_BYTES;
        let in_memory = match (source.table(), source.maker()) {
            (Some(table), _) if fits => {
                let chunks = table.chunks().par_iter();
                Some(chunks.map(|chunk| Points::of(chunk, frame)).collect())
            }
            (None, Some(maker)) if fits => {
                let chunks = 0..source.rows().div_ceil(CHUNK_ROWS as u64) as usize;
                let points = |number: usize| Some(Points::of(&maker(number).ok()?, frame));
                // If a chunk fails, the fit reports the error when it reads the chunk again.
                chunks.into_par_iter().map(points).collect()
            }
            _ => None,
        };
        Rows {
            source,
            frame,
            in_memory,
        }
    }

    /// Rows with the points of any source in memory, if there are not too many.
    pub fn new_in_memory(source: &'a dyn Source, frame: &'a Frame) -> Result<Rows<'a>> {
        let mut rows = Rows::new(source, frame);
        if Points::bytes(source.rows(), frame.columns.len()) <= MAX_BYTES
            && rows.in_memory.is_none()
        {
            let points = source.scan()?.map(|chunk| Ok(Points::of(&chunk?, frame)));
            rows.in_memory = Some(points.collect::<Result<_>>()?);
        }
        Ok(rows)
    }

    /// The points of a chunk and its number.
    pub fn points(&self, number: usize, chunk: &Chunk) -> Cow<'_, Points> {
        match &self.in_memory {
            Some(chunks) => Cow::Borrowed(&chunks[number]),
            None => Cow::Owned(Points::of(chunk, self.frame)),
        }
    }

    /// Folds the points of all chunks, from memory if they are there.
    pub fn fold<S: Send>(
        &self,
        segment: usize,
        add: impl Fn(&mut Option<S>, usize, &Points) -> Result<()> + Sync,
        merge: impl Fn(&mut S, S) + Sync,
    ) -> Result<Option<S>> {
        match &self.in_memory {
            Some(chunks) => {
                let each = |partial: &mut Option<S>, number| add(partial, number, &chunks[number]);
                fold_numbers(chunks.len(), segment, each, merge)
            }
            None => {
                let each = |partial: &mut Option<S>, number, chunk: &Chunk| {
                    add(partial, number, &Points::of(chunk, self.frame))
                };
                fold(self.source, segment, each, merge)
            }
        }
    }
}

/// The result of some iterations.
#[derive(Clone, Debug)]
pub(super) struct RunResult {
    /// The centres of the last assignment, one after another.
    pub centres: Vec<f64>,
    /// The weight of each cluster.
    pub weights: Vec<f64>,
    /// The weight of all seen cells.
    pub cells: f64,
    /// The cluster of each row; empty if the rows are not in memory or some are ignored.
    pub labels: Vec<u32>,
    /// An upper bound of the inertia that rounding causes if every row equals its centre.
    pub rounding_inertia: f64,
    pub trace: Vec<f64>,
    pub seconds: Vec<f64>,
    pub iterations: usize,
    pub converged: bool,
    pub monotone: bool,
    pub interrupted: bool,
}

impl RunResult {
    /// The result of no iterations, with the initial inertia.
    pub fn at_start(inertia: f64, clock: Instant) -> RunResult {
        RunResult {
            centres: Vec::new(),
            weights: Vec::new(),
            cells: 0.0,
            labels: Vec::new(),
            rounding_inertia: 0.0,
            trace: vec![inertia],
            seconds: vec![clock.elapsed().as_secs_f64()],
            iterations: 0,
            converged: false,
            monotone: true,
            interrupted: false,
        }
    }

    /// Sets the centres and weights, in the order of the initial centres; `order` has the position
    /// there of each cluster.
    fn set_clusters(
        &mut self,
        start: Vec<f64>,
        order: &[usize],
        statistics: &Statistics,
        centres: &[f64],
    ) {
        let width = statistics.width;
        self.cells = statistics.cells();
        self.weights = vec![0.0; order.len()];
        self.centres = start;
        let clusters = order.iter().zip(&statistics.weights);
        for ((j, weight), centre) in clusters.zip(centres.chunks_exact(width)) {
            self.weights[*j] = *weight;
            self.centres[j * width..(j + 1) * width].copy_from_slice(centre);
        }
    }

    /// Records the inertia after an iteration.
    pub fn record_iteration(&mut self, number: usize, inertia: f64, clock: Instant) {
        self.iterations = number;
        self.trace.push(inertia);
        self.seconds.push(clock.elapsed().as_secs_f64());
    }

    pub fn inertia(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::INFINITY)
    }
}

/// The maximum relative increase of the inertia by rounding.
const ROUNDING: f64 = 1e-9;

/// The maximum rounding error of the mean of equal rows, as a share of their length.
const MEAN_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Iterates from given centres; `None` if the caller stopped it before the first assignment.
pub(super) fn iterate(
    rows: &Rows,
    start: Vec<f64>,
    algorithm: Algorithm,
    options: &Options,
    control: Control,
) -> Result<Option<RunResult>> {
    let clock = Instant::now();
    let width = rows.frame.columns.len();
    let states: Option<Vec<Mutex<ChunkState>>> =
        (rows.in_memory.as_ref()).map(|chunks| chunks.iter().map(|_| Mutex::default()).collect());
    let order = order_by_proximity(&start, width);
    let mut centres = in_order(&start, &order, width);
    let pass = |centres: &[f64], before: Option<&[f64]>| {
        let assigner = Assigner::new(centres, width, before, algorithm);
        assign_all(rows, &assigner, states.as_deref(), control)
    };
    let Some(mut statistics) = pass(&centres, None)? else {
        return Ok(None);
    };
    let mut result = RunResult::at_start(inertia(&statistics, &centres)?, clock);
    result.rounding_inertia = MEAN_ROUNDING * MEAN_ROUNDING * statistics.squares();
    let min_movement = options
        .movement
        .map(|share| share * statistics.mean_variance());
    for number in 1..=options.max_iterations {
        let mut next = statistics.centres(&centres, rows.frame.unit);
        let moved_empty = move_empty_centres(rows, &statistics, &centres, &mut next)?;
        if next == centres {
            // If convergence is judged by movement, this counts as an iteration.
            result.iterations += usize::from(min_movement.is_some());
            result.converged = true;
            break;
        }
        let Some(after) = pass(&next, Some(&centres))? else {
            result.interrupted = true;
            break;
        };
        let (before, now) = (result.inertia(), inertia(&after, &next)?);
        let movement = squared_distance(&next, &centres);
        result.monotone &= now <= before * (1.0 + ROUNDING) + result.rounding_inertia;
        statistics = after;
        centres = next;
        result.record_iteration(number, now, clock);
        control.report(Progress::Round {
            number,
            of: options.max_iterations,
            inertia: now,
        });
        let is_within_tolerance = match min_movement {
            Some(min_movement) => movement <= min_movement,
            None => before - now <= options.tolerance * now && options.tolerance >= 0.0,
        };
        if is_within_tolerance && !moved_empty {
            result.converged = true;
            break;
        }
    }
    if let (Some(states), Some(chunks), false) = (states, &rows.in_memory, result.interrupted) {
        result.labels = labels(states, chunks, &order);
    }
    result.set_clusters(start, &order, &statistics, &centres);
    Ok(Some(result))
}

/// The centres in this order.
fn in_order(centres: &[f64], order: &[usize], width: usize) -> Vec<f64> {
    let places = order.iter();
    places
        .flat_map(|j| &centres[j * width..(j + 1) * width])
        .copied()
        .collect()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The cluster of each row, numbered by `order`; empty if some rows are ignored.
fn labels(states: Vec<Mutex<ChunkState>>, chunks: &[Points], order: &[usize]) -> Vec<u32> {
    let has_all_rows =
        |points: &Points| points.complete_rows.len() + points.incomplete_rows.len() == points.rows;
    if !chunks.iter().all(has_all_rows) {
        return Vec::new();
    }
    let states = states.into_iter();
    let states = states.filter_map(|state| state.into_inner().ok());
    states
        .flat_map(|state| state.labels.into_iter().map(|j| order[j as usize] as u32))
        .collect()
}

/// The inertia, or an error if it is not finite.
fn inertia(statistics: &Statistics, centres: &[f64]) -> Result<f64> {
    let inertia = statistics.inertia(centres);
    if inertia.is_finite() {
        Ok(inertia)
    } else {
        Err(Error::numeric("the inertia is not finite")
            .with_hint("check for values that are too large or too small"))
    }
}

/// Assigns all rows in one pass, and returns the statistics of the clusters; `None` if the caller
/// stopped it.
fn assign_all(
    rows: &Rows,
    assigner: &Assigner,
    states: Option<&[Mutex<ChunkState>]>,
    control: Control,
) -> Result<Option<Statistics>> {
    // The statistics of many clusters are large compared with a chunk.
    let segment = (assigner.packed.count() / 512)
        .clamp(1, 16)
        .next_power_of_two();
    let total = rows.fold(
        segment,
        |partial: &mut Option<Option<Statistics>>, number, points| {
            if control.is_interrupted() {
                *partial = Some(None);
                return Ok(());
            }
            let statistics = match states.map(|states| states[number].lock()) {
                Some(Ok(mut state)) => {
                    assigner.assign(points, &mut state);
                    state.statistics.clone()
                }
                Some(Err(_)) => {
                    return Err(Error::numeric(
                        "internal error, please report it: a thread has panicked",
                    ));
                }
                None => {
                    let mut labels = vec![0; points.rows];
                    assigner.label(points, &mut labels);
                    Some(Statistics::of(points, &labels, assigner.packed.count()))
                }
            };
            match (partial.as_mut(), statistics) {
                (Some(Some(all)), Some(more)) => all.merge(&more),
                (None, statistics) => *partial = Some(statistics),
                _ => *partial = Some(None),
            }
            Ok(())
        },
        |all, more| match (all.as_mut(), more) {
            (Some(all), Some(more)) => all.merge(&more),
            _ => *all = None,
        },
    )?;
    // If the caller stopped the pass, the statistics cover only a part of the rows.
    Ok(total.flatten().filter(|_| !control.is_interrupted()))
}

/// Moves the centres of empty clusters to the rows farthest from their centres, and returns
/// whether any was moved.
fn move_empty_centres(
    rows: &Rows,
    statistics: &Statistics,
    centres: &[f64],
    next: &mut [f64],
) -> Result<bool> {
    let width = statistics.width;
    let weights = statistics.weights.iter().enumerate();
    let empty: Vec<usize> = (weights.filter(|(_, weight)| **weight <= 0.0))
        .map(|(cluster, _)| cluster)
        .collect();
    if empty.is_empty() {
        return Ok(false);
    }
    let far = farthest(rows, centres, empty.len())?;
    let any_moved = !far.is_empty();
    for (cluster, row) in empty.into_iter().zip(far) {
        let centre = &mut next[cluster * width..(cluster + 1) * width];
        // Where the row has a missing value, the coordinate of the centre stays.
        let cells = centre.iter_mut().zip(row);
        cells
            .filter(|(_, x)| !x.is_nan())
            .for_each(|(at, x)| *at = x);
    }
    Ok(any_moved)
}

/// An order of centres in which near ones are adjacent, by recursive splits at the median of the
/// widest column. The bounds for groups of eight centres are then tight.
fn order_by_proximity(centres: &[f64], width: usize) -> Vec<usize> {
    let mut rows: Vec<(usize, &[f64])> = centres.chunks_exact(width).enumerate().collect();
    split_at_widest_column(&mut rows, width);
    rows.into_iter().map(|(j, _)| j).collect()
}

/// Sorts centres by recursive splits.
fn split_at_widest_column(rows: &mut [(usize, &[f64])], width: usize) {
    use crate::kernel::kmeans::LANES;
    if rows.len() <= LANES {
        return;
    }
    let spread = |c: usize| {
        let low = rows
            .iter()
            .map(|(_, row)| row[c])
            .fold(f64::INFINITY, f64::min);
        let high = rows
            .iter()
            .map(|(_, row)| row[c])
            .fold(f64::NEG_INFINITY, f64::max);
        high - low
    };
    let widest = (0..width).max_by(|a, b| spread(*a).total_cmp(&spread(*b)));
    let widest = widest.unwrap_or(0);
    rows.sort_by(|(_, a), (_, b)| a[widest].total_cmp(&b[widest]));
    let half = (rows.len() / 2).next_multiple_of(LANES).min(rows.len());
    let (left, right) = rows.split_at_mut(half);
    if !right.is_empty() {
        split_at_widest_column(left, width);
        split_at_widest_column(right, width);
    }
}
