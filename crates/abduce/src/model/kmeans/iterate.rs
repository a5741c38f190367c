//! The loop: rows go to their nearest centres (the E-step, hard), centres to the
//! means of their rows (the M-step). Neither raises the inertia: that is checked in
//! every fit and the whole trace is kept. A centre without rows goes to the row
//! farthest from its own centre, which raises nothing either.

use super::assign::{Kept, Places};
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

/// The rows of a fit: a source, and its points where they fit into memory.
pub(super) struct Rows<'a> {
    pub source: &'a dyn Source,
    pub frame: &'a Frame,
    pub held: Option<Vec<Points>>,
}

/// The most memory that points may take.
const BUDGET: u64 = 512 << 20;

impl<'a> Rows<'a> {
    /// Holds the points of a table in memory, if they are not too many.
    pub fn new(source: &'a dyn Source, frame: &'a Frame) -> Rows<'a> {
        use rayon::prelude::*;
        let fits = Points::bytes(source.rows(), frame.columns.len()) <= BUDGET;
        let held = match (source.table(), source.maker()) {
            (Some(table), _) if fits => {
                let chunks = table.chunks().par_iter();
                Some(chunks.map(|chunk| Points::of(chunk, frame)).collect())
            }
            (None, Some(maker)) if fits => {
                let chunks = 0..source.rows().div_ceil(CHUNK_ROWS as u64) as usize;
                let points = |number: usize| Some(Points::of(&maker(number).ok()?, frame));
                // What cannot be made now will say so when it is asked for again.
                chunks.into_par_iter().map(points).collect()
            }
            _ => None,
        };
        Rows {
            source,
            frame,
            held,
        }
    }

    /// Holds the points of any source that fits into memory.
    pub fn gathered(source: &'a dyn Source, frame: &'a Frame) -> Result<Rows<'a>> {
        let mut rows = Rows::new(source, frame);
        if Points::bytes(source.rows(), frame.columns.len()) <= BUDGET && rows.held.is_none() {
            let points = source.scan()?.map(|chunk| Ok(Points::of(&chunk?, frame)));
            rows.held = Some(points.collect::<Result<_>>()?);
        }
        Ok(rows)
    }

    pub fn points(&self, number: usize, chunk: &Chunk) -> Cow<'_, Points> {
        match &self.held {
            Some(held) => Cow::Borrowed(&held[number]),
            None => Cow::Owned(Points::of(chunk, self.frame)),
        }
    }

    /// Folds what is made of the points of each chunk; those that are held need not be made
    /// of chunks again.
    pub fn fold<S: Send>(
        &self,
        segment: usize,
        add: impl Fn(&mut Option<S>, usize, &Points) -> Result<()> + Sync,
        merge: impl Fn(&mut S, S) + Sync,
    ) -> Result<Option<S>> {
        match &self.held {
            Some(held) => {
                let each = |partial: &mut Option<S>, number| add(partial, number, &held[number]);
                fold_numbers(held.len(), segment, each, merge)
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

/// What a run of the loop came to.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The centres of the last assignment, one after the other.
    pub centres: Vec<f64>,
    /// The weight of each cluster.
    pub weights: Vec<f64>,
    /// The weight of all seen cells.
    pub cells: f64,
    /// The cluster of each row; nothing where they are not in memory or some have no say.
    pub labels: Vec<u32>,
    /// The inertia that rounding gives to rows which are all where their centres are.
    pub nothing: f64,
    pub trace: Vec<f64>,
    pub seconds: Vec<f64>,
    pub iterations: usize,
    pub converged: bool,
    pub monotone: bool,
    pub interrupted: bool,
}

impl Found {
    pub fn inertia(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::INFINITY)
    }
}

/// Relative rise of the inertia that rounding can explain.
const ROUNDING: f64 = 1e-9;

/// How far off the mean of equal rows may be, by rounding, as a share of their length.
const MEANS: f64 = 64.0 * f64::EPSILON;

/// Runs the loop from given centres; `None` when the caller stopped it at once.
pub(super) fn iterate(
    rows: &Rows,
    start: Vec<f64>,
    algorithm: Algorithm,
    options: &Options,
    control: Control,
) -> Result<Option<Found>> {
    let clock = std::time::Instant::now();
    let width = rows.frame.columns.len();
    let kept: Option<Vec<Mutex<Kept>>> =
        (rows.held.as_ref()).map(|held| held.iter().map(|_| Mutex::default()).collect());
    let order = neighbours_together(&start, width);
    let mut centres: Vec<f64> = (order.iter())
        .flat_map(|j| &start[j * width..(j + 1) * width])
        .copied()
        .collect();
    let pass = |centres: &[f64], before: Option<&[f64]>| {
        let places = Places::new(centres, width, before, algorithm);
        assign_all(rows, &places, kept.as_deref(), control)
    };
    let Some(mut statistics) = pass(&centres, None)? else {
        return Ok(None);
    };
    let mut found = Found {
        trace: vec![inertia(&statistics, &centres)?],
        seconds: vec![clock.elapsed().as_secs_f64()],
        centres: Vec::new(),
        weights: Vec::new(),
        cells: statistics.cells(),
        labels: Vec::new(),
        nothing: MEANS * MEANS * statistics.squares(),
        iterations: 0,
        converged: false,
        monotone: true,
        interrupted: false,
    };
    let least = options
        .movement
        .map(|share| share * statistics.mean_variance());
    for number in 1..=options.max_iterations {
        let mut next = statistics.centres(&centres, rows.frame.unit);
        let placed = fill_empty(rows, &statistics, &centres, &mut next)?;
        if next == centres {
            // By movement, one that moves nothing is an iteration too.
            found.iterations += usize::from(least.is_some());
            found.converged = true;
            break;
        }
        let Some(after) = pass(&next, Some(&centres))? else {
            found.interrupted = true;
            break;
        };
        let (before, now) = (found.inertia(), inertia(&after, &next)?);
        let moved: f64 = (next.iter().zip(&centres))
            .map(|(a, b)| (a - b) * (a - b))
            .sum();
        found.monotone &= now <= before * (1.0 + ROUNDING) + found.nothing;
        statistics = after;
        centres = next;
        found.iterations = number;
        found.trace.push(now);
        found.seconds.push(clock.elapsed().as_secs_f64());
        control.report(Progress::Round {
            number,
            of: options.max_iterations,
            inertia: now,
        });
        let settled = match least {
            Some(least) => moved <= least,
            None => before - now <= options.tolerance * now && options.tolerance >= 0.0,
        };
        if settled && !placed {
            found.converged = true;
            break;
        }
    }
    found.cells = statistics.cells();
    if let (Some(kept), Some(held), false) = (kept, &rows.held, found.interrupted) {
        found.labels = labels(kept, held, &order);
    }
    found.weights = vec![0.0; order.len()];
    found.centres = start;
    for ((j, weight), centre) in
        (order.into_iter().zip(statistics.weights)).zip(centres.chunks_exact(width))
    {
        found.weights[j] = weight;
        found.centres[j * width..(j + 1) * width].copy_from_slice(centre);
    }
    Ok(Some(found))
}

/// The cluster of each row, where all have a say; clusters are called as `order` says.
fn labels(kept: Vec<Mutex<Kept>>, held: &[Points], order: &[usize]) -> Vec<u32> {
    let counts = |points: &Points| points.whole.len() + points.incomplete.len() == points.rows;
    if !held.iter().all(counts) {
        return Vec::new();
    }
    let kept = kept.into_iter().filter_map(|own| own.into_inner().ok());
    kept.flat_map(|own| own.labels.into_iter().map(|j| order[j as usize] as u32))
        .collect()
}

fn inertia(statistics: &Statistics, centres: &[f64]) -> Result<f64> {
    let inertia = statistics.inertia(centres);
    if inertia.is_finite() {
        Ok(inertia)
    } else {
        Err(Error::numeric("the inertia is not finite")
            .with_hint("check for values that are too large or too small"))
    }
}

/// One pass over all rows; `None` when the caller stopped it.
fn assign_all(
    rows: &Rows,
    places: &Places,
    kept: Option<&[Mutex<Kept>]>,
    control: Control,
) -> Result<Option<Statistics>> {
    // Statistics of many clusters are large beside a chunk.
    let segment = (places.packed.count() / 512)
        .clamp(1, 16)
        .next_power_of_two();
    let total = rows.fold(
        segment,
        |partial: &mut Option<Option<Statistics>>, number, points| {
            if control.is_interrupted() {
                *partial = Some(None);
                return Ok(());
            }
            let own = match kept.map(|kept| kept[number].lock()) {
                Some(Ok(mut kept)) => {
                    places.assign(points, &mut kept);
                    kept.statistics.clone()
                }
                Some(Err(_)) => {
                    return Err(Error::numeric(
                        "internal error, please report it: a thread has panicked",
                    ));
                }
                None => {
                    let mut labels = vec![0; points.rows];
                    places.label(points, &mut labels);
                    Some(Statistics::of(points, &labels, places.packed.count()))
                }
            };
            match (partial.as_mut(), own) {
                (Some(Some(all)), Some(own)) => all.merge(&own),
                (None, own) => *partial = Some(own),
                _ => *partial = Some(None),
            }
            Ok(())
        },
        |all, more| match (all.as_mut(), more) {
            (Some(all), Some(more)) => all.merge(&more),
            _ => *all = None,
        },
    )?;
    // What came in while the caller stopped it may be only a part.
    Ok(total.flatten().filter(|_| !control.is_interrupted()))
}

/// Puts centres without rows where rows are farthest from their own; whether there
/// were any to put.
fn fill_empty(
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
    let placed = !far.is_empty();
    for (cluster, place) in empty.into_iter().zip(far) {
        let own = &mut next[cluster * width..(cluster + 1) * width];
        // Of a hidden cell, the centre knows as much as before.
        let cells = own.iter_mut().zip(place);
        cells
            .filter(|(_, x)| !x.is_nan())
            .for_each(|(at, x)| *at = x);
    }
    Ok(placed)
}

/// An order of centres in which neighbours stand together, by halving them along
/// their widest column again and again: groups of eight then share their bounds.
fn neighbours_together(centres: &[f64], width: usize) -> Vec<usize> {
    let mut rows: Vec<(usize, &[f64])> = centres.chunks_exact(width).enumerate().collect();
    halve(&mut rows, width);
    rows.into_iter().map(|(j, _)| j).collect()
}

fn halve(rows: &mut [(usize, &[f64])], width: usize) {
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
        halve(left, width);
        halve(right, width);
    }
}
