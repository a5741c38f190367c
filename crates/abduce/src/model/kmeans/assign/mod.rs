//! Rows to their nearest centres, one file per way. Bounds on distances say of many
//! rows that nothing can have changed (the triangle inequality); only the others are
//! computed, by the same arithmetic as all would be. A bound is believed only with
//! room for rounding, so that every way gives every row the same label.

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

/// The centres of one pass, and how far each has moved since the pass before.
pub(super) struct Places<'a> {
    pub centres: &'a [f64],
    pub packed: Cow<'a, Packed>,
    moves: Option<Moves>,
    algorithm: Algorithm,
}

struct Moves {
    each: Vec<f64>,
    /// The farthest move of each group of eight.
    groups: Vec<f64>,
    /// The farthest move, whose it is, and the farthest of the others.
    most: f64,
    mover: usize,
    others: f64,
    /// How far the nearest other centre is from each.
    apart: Vec<f64>,
}

/// What is kept of the rows of a chunk between passes.
#[derive(Default)]
pub(super) struct Kept {
    pub labels: Vec<u32>,
    pub statistics: Option<Statistics>,
    upper: Vec<f64>,
    lower: Vec<f64>,
    tightening: hamerly::Tightening,
}

impl<'a> Places<'a> {
    /// Centres of a pass after one with the centres `before`, if there was one.
    pub fn new(
        centres: &'a [f64],
        width: usize,
        before: Option<&[f64]>,
        algorithm: Algorithm,
    ) -> Places<'a> {
        let packed = Packed::new(centres, width);
        let bounded = !matches!(algorithm, Algorithm::Lloyd);
        let moves = before
            .filter(|_| bounded)
            .map(|before| Moves::new(centres, before, &packed, algorithm == Algorithm::Hamerly));
        Places {
            centres,
            packed: Cow::Owned(packed),
            moves,
            algorithm,
        }
    }

    /// Centres that are packed already.
    pub fn of(centres: &'a [f64], packed: &'a Packed) -> Places<'a> {
        Places {
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

    /// How far off a squared distance of this row may be by rounding, twice.
    fn slack(&self, norm: f64) -> f64 {
        let terms = self.packed.width() as f64 + 8.0;
        4.0 * terms * f64::EPSILON * (norm + self.packed.largest_norm)
    }

    /// The labels of rows, with nothing kept.
    pub fn label(&self, points: &Points, labels: &mut [u32]) {
        for rows in points.whole.chunks(TILE) {
            let mut found = [Nearest::NONE; TILE];
            let found = &mut found[..rows.len()];
            nearest_within(&self.packed, &points.cells, &points.norms, rows, found);
            let pairs = rows.iter().zip(found.iter());
            pairs.for_each(|(row, found)| labels[*row as usize] = found.label);
        }
        self.label_incomplete(points, labels);
    }

    fn label_incomplete(&self, points: &Points, labels: &mut [u32]) -> bool {
        let mut changed = false;
        for row in &points.incomplete {
            let x = points.row(*row as usize);
            let centres = self.centres.chunks_exact(points.width);
            let label = first_least(centres.map(|centre| seen_squared(x, centre)));
            changed |= labels[*row as usize] != label;
            labels[*row as usize] = label;
        }
        changed
    }

    /// Brings what is kept of a chunk up to date: its labels, and its statistics
    /// where a label has changed.
    pub fn assign(&self, points: &Points, kept: &mut Kept) {
        let begun = !kept.labels.is_empty();
        kept.labels.resize(points.rows, 0);
        let mut changed = match (self.algorithm, begun) {
            (Algorithm::Hamerly, true) => self.hamerly(points, kept),
            (Algorithm::Hamerly, false) => self.begin_hamerly(points, kept),
            (Algorithm::Yinyang, _) => self.yinyang(points, kept, begun),
            (Algorithm::Elkan, _) => self.elkan(points, kept, begun),
            _ => {
                let before = kept.labels.clone();
                self.label(points, &mut kept.labels);
                before != kept.labels
            }
        };
        changed |= self.label_incomplete(points, &mut kept.labels);
        if changed || kept.statistics.is_none() {
            let clusters = self.packed.count();
            kept.statistics = Some(Statistics::of(points, &kept.labels, clusters));
        }
    }
}

/// Rows looked up at once.
const TILE: usize = 256;

/// Whether a row nearer than `upper` to its centre and farther than `lower` from
/// others keeps its label, whatever rounding does.
fn is_clear(upper: f64, lower: f64, slack: f64) -> bool {
    lower > upper && (lower - upper) * (lower + upper) > slack
}

/// At most so far, by a score.
fn above(score: f64, norm: f64, slack: f64) -> f64 {
    ((2.0 * score + norm).max(0.0) + slack).sqrt()
}

/// At least so far, by a score.
fn below(score: f64, norm: f64, slack: f64) -> f64 {
    (2.0 * score + norm - slack).max(0.0).sqrt()
}

/// The position of the first of the least numbers.
pub(super) fn first_least(numbers: impl Iterator<Item = f64>) -> u32 {
    let mut least = (0, f64::INFINITY);
    for (number, at) in numbers.zip(0..) {
        if number < least.1 {
            least = (at, number);
        }
    }
    least.0
}

impl Moves {
    fn new(centres: &[f64], before: &[f64], packed: &Packed, apart: bool) -> Moves {
        let width = packed.width();
        let pairs = centres.chunks_exact(width).zip(before.chunks_exact(width));
        // Rounded up, since bounds lean on it.
        let each: Vec<f64> = pairs
            .map(|(a, b)| squared(a, b).sqrt() * (1.0 + 1e-12))
            .collect();
        let farthest = |moves: &[f64]| moves.iter().copied().fold(0.0, f64::max);
        let most = farthest(&each);
        let mover = each.iter().position(|own| *own == most).unwrap_or(0);
        let others = each.iter().enumerate().filter(|(j, _)| *j != mover);
        Moves {
            groups: each.chunks(LANES).map(farthest).collect(),
            most,
            mover,
            others: others.map(|(_, own)| *own).fold(0.0, f64::max),
            apart: if apart {
                nearest_others(centres, packed)
            } else {
                Vec::new()
            },
            each,
        }
    }
}

fn nearest_others(centres: &[f64], packed: &Packed) -> Vec<f64> {
    let width = packed.width();
    let rows: Vec<u32> = (0..packed.count() as u32).collect();
    let mut found = vec![Nearest::NONE; rows.len()];
    nearest(packed, centres, &rows, &mut found);
    let each = centres.chunks_exact(width).zip(found);
    let each = each.map(|(centre, found)| {
        let norm: f64 = centre.iter().map(|x| x * x).sum();
        let slack = 4.0 * (width as f64 + 8.0) * f64::EPSILON * (norm + packed.largest_norm);
        below(found.second, norm, slack)
    });
    each.collect()
}
