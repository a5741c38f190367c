//! Assignment of rows to their nearest centres, one file per algorithm. By the triangle inequality,
//! bounds of distances show for many rows that the nearest centre is the same as before; only the
//! distances of the others are computed. Bounds include a margin for rounding, so that all
//! algorithms give the same labels.

mod elkan;
mod hamerly;
mod yinyang;

use super::points::Points;
use super::specification::Algorithm;
use super::statistics::Statistics;
use crate::kernel::kmeans::{
    LANES, Nearest, Packed, nearest, nearest_within, seen_squared, squared,
};
use std::borrow::Cow;

/// Assigns rows to the centres of one pass; it knows how far each centre has moved since the
/// previous pass.
pub(super) struct Assigner<'a> {
    pub centres: &'a [f64],
    pub packed: Cow<'a, Packed>,
    moves: Option<CentreMoves>,
    algorithm: Algorithm,
}

/// The distances that centres have moved since the previous pass.
struct CentreMoves {
    /// The move of each centre.
    each: Vec<f64>,
    /// The largest move in each group of eight centres.
    groups: Vec<f64>,
    /// The largest move, the centre that made it, and the largest move of the other centres.
    largest: f64,
    mover: usize,
    largest_of_others: f64,
    /// A lower bound of the distance of each centre from the nearest other one.
    separation: Vec<f64>,
}

/// The state of the rows of a chunk between passes: labels, their statistics, and bounds.
#[derive(Default)]
pub(super) struct ChunkState {
    pub labels: Vec<u32>,
    pub statistics: Option<Statistics>,
    upper: Vec<f64>,
    lower: Vec<f64>,
    tightening: hamerly::Tightening,
}

impl<'a> Assigner<'a> {
    /// The assigner of a pass; `before` are the centres of the previous pass, if there was one.
    pub fn new(
        centres: &'a [f64],
        width: usize,
        before: Option<&[f64]>,
        algorithm: Algorithm,
    ) -> Assigner<'a> {
        let packed = Packed::new(centres, width);
        let uses_bounds = !matches!(algorithm, Algorithm::Lloyd);
        let moves = before.filter(|_| uses_bounds).map(|before| {
            CentreMoves::new(centres, before, &packed, algorithm == Algorithm::Hamerly)
        });
        Assigner {
            centres,
            packed: Cow::Owned(packed),
            moves,
            algorithm,
        }
    }

    /// An assigner without bounds, for packed centres.
    pub fn of(centres: &'a [f64], packed: &'a Packed) -> Assigner<'a> {
        Assigner {
            centres,
            packed: Cow::Borrowed(packed),
            moves: None,
            algorithm: Algorithm::Lloyd,
        }
    }

    fn centre(&self, label: u32) -> &[f64] {
        let width = self.packed.width();
        &self.centres[label as usize * width..][..width]
    }

    /// Twice the maximum rounding error of a squared distance of a row with this norm.
    fn slack(&self, norm: f64) -> f64 {
        let terms = self.packed.width() as f64 + 8.0;
        4.0 * terms * f64::EPSILON * (norm + self.packed.largest_norm)
    }

    /// Computes the labels of rows without a state.
    pub fn label(&self, points: &Points, labels: &mut [u32]) {
        for rows in points.complete_rows.chunks(TILE) {
            let mut found = [Nearest::NONE; TILE];
            let found = &mut found[..rows.len()];
            nearest_within(&self.packed, &points.cells, &points.norms, rows, found);
            let pairs = rows.iter().zip(found.iter());
            pairs.for_each(|(row, found)| labels[*row as usize] = found.label);
        }
        self.label_incomplete(points, labels);
    }

    /// Computes the labels of incomplete rows, and returns whether any has changed.
    fn label_incomplete(&self, points: &Points, labels: &mut [u32]) -> bool {
        let mut changed = false;
        for row in &points.incomplete_rows {
            let x = points.row(*row as usize);
            let centres = self.centres.chunks_exact(points.width);
            let label = position_of_smallest(centres.map(|centre| seen_squared(x, centre)));
            changed |= labels[*row as usize] != label;
            labels[*row as usize] = label;
        }
        changed
    }

    /// Updates the state of a chunk: its labels and, if a label has changed, its statistics.
    pub fn assign(&self, points: &Points, state: &mut ChunkState) {
        let has_started = !state.labels.is_empty();
        state.labels.resize(points.rows, 0);
        let mut changed = match (self.algorithm, has_started) {
            (Algorithm::Hamerly, true) => self.assign_by_hamerly(points, state),
            (Algorithm::Hamerly, false) => self.start_hamerly(points, state),
            (Algorithm::Yinyang, _) => self.assign_by_yinyang(points, state, has_started),
            (Algorithm::Elkan, _) => self.assign_by_elkan(points, state, has_started),
            _ => {
                let before = state.labels.clone();
                self.label(points, &mut state.labels);
                before != state.labels
            }
        };
        changed |= self.label_incomplete(points, &mut state.labels);
        if changed || state.statistics.is_none() {
            let clusters = self.packed.count();
            state.statistics = Some(Statistics::of(points, &state.labels, clusters));
        }
    }
}

/// The number of rows whose distances are computed at a time.
const TILE: usize = 256;

/// Whether a row keeps its label in spite of rounding, if its distance from its centre is at most
/// `upper` and that from other centres at least `lower`.
fn is_clear(upper: f64, lower: f64, slack: f64) -> bool {
    lower > upper && (lower - upper) * (lower + upper) > slack
}

/// The upper bound of a distance, from a score ½|c|² − x·c.
fn upper_bound(score: f64, norm: f64, slack: f64) -> f64 {
    ((2.0 * score + norm).max(0.0) + slack).sqrt()
}

/// The lower bound of a distance, from a score.
fn lower_bound(score: f64, norm: f64, slack: f64) -> f64 {
    (2.0 * score + norm - slack).max(0.0).sqrt()
}

/// The position of the smallest number, the first of equal ones.
pub(super) fn position_of_smallest(numbers: impl Iterator<Item = f64>) -> u32 {
    let mut smallest = (0, f64::INFINITY);
    for (number, position) in numbers.zip(0..) {
        if number < smallest.1 {
            smallest = (position, number);
        }
    }
    smallest.0
}

impl CentreMoves {
    fn new(centres: &[f64], before: &[f64], packed: &Packed, with_separation: bool) -> CentreMoves {
        let width = packed.width();
        let pairs = centres.chunks_exact(width).zip(before.chunks_exact(width));
        // Rounded up, as bounds depend on it.
        let each: Vec<f64> = pairs
            .map(|(a, b)| squared(a, b).sqrt() * (1.0 + 1e-12))
            .collect();
        let largest_of = |moves: &[f64]| moves.iter().copied().fold(0.0, f64::max);
        let largest = largest_of(&each);
        let mover = each
            .iter()
            .position(|distance| *distance == largest)
            .unwrap_or(0);
        let others = each.iter().enumerate().filter(|(j, _)| *j != mover);
        CentreMoves {
            groups: each.chunks(LANES).map(largest_of).collect(),
            largest,
            mover,
            largest_of_others: others.map(|(_, distance)| *distance).fold(0.0, f64::max),
            separation: if with_separation {
                separations(centres, packed)
            } else {
                Vec::new()
            },
            each,
        }
    }
}

/// A lower bound of the distance of each centre from the nearest other one.
fn separations(centres: &[f64], packed: &Packed) -> Vec<f64> {
    let width = packed.width();
    let rows: Vec<u32> = (0..packed.count() as u32).collect();
    let mut found = vec![Nearest::NONE; rows.len()];
    nearest(packed, centres, &rows, &mut found);
    let each = centres.chunks_exact(width).zip(found);
    let each = each.map(|(centre, found)| {
        let norm: f64 = centre.iter().map(|x| x * x).sum();
        let slack = 4.0 * (width as f64 + 8.0) * f64::EPSILON * (norm + packed.largest_norm);
        lower_bound(found.second, norm, slack)
    });
    each.collect()
}
