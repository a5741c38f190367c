//! Where centres begin: rows drawn far from each other (k-means++, Arthur &
//! Vassilvitskii 2007; several candidates for each, the best kept, as in their
//! thesis), or anywhere. Hidden cells of a drawn row are the middle of the table.

use super::assign::{Places, first_least};
use super::points::Points;
use super::specification::Init;
use crate::family::draw_index;
use crate::kernel::kmeans::{Packed, seen_manhattan, seen_squared, squared};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// How far apart coordinates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Squared,
    Absolute,
}

impl Measure {
    pub fn between(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Measure::Squared => seen_squared(a, b),
            Measure::Absolute => seen_manhattan(a, b),
        }
    }
}

/// Draws `count` centres out of points; fewer where all rows are where a centre is.
pub(super) fn seeds(
    points: &Points,
    count: usize,
    init: Init,
    measure: Measure,
    seed: u64,
) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut centres: Vec<f64> = Vec::with_capacity(count * points.width);
    let mut near = vec![f64::INFINITY; points.rows];
    let mut chances = points.weights.clone();
    let candidates = match init {
        Init::Greedy => 2 + (count as f64).ln() as usize,
        _ => 1,
    };
    for number in 0..count {
        if !chances.iter().any(|chance| *chance > 0.0) {
            break;
        }
        let tries = if number == 0 { 1 } else { candidates };
        let mut best: Option<(f64, Vec<f64>, Vec<f64>)> = None;
        for _ in 0..tries {
            let place: Vec<f64> = (points.row(draw_index(&chances, &mut rng)).iter())
                .map(|x| if x.is_nan() { 0.0 } else { *x })
                .collect();
            let own = nearer(points, &place, &near, measure);
            let potential = own.iter().zip(&points.weights).map(|(d, w)| d * w).sum();
            if best.as_ref().is_none_or(|(least, ..)| potential < *least) {
                best = Some((potential, place, own));
            }
        }
        let Some((_, place, own)) = best else { break };
        centres.extend(place);
        near = own;
        let pairs = chances.iter_mut().zip(near.iter().zip(&points.weights));
        match init {
            // A row is drawn once.
            Init::Random => pairs
                .filter(|(_, (near, _))| **near <= 0.0)
                .for_each(|(chance, _)| *chance = 0.0),
            _ => pairs.for_each(|(chance, (near, weight))| *chance = near * weight),
        }
    }
    centres
}

/// How far each row is from the nearest centre once there is one more.
fn nearer(points: &Points, place: &[f64], near: &[f64], measure: Measure) -> Vec<f64> {
    let rows = points.cells.chunks_exact(points.width).zip(near);
    match measure {
        Measure::Squared if points.complete => {
            rows.map(|(x, near)| near.min(squared(x, place))).collect()
        }
        _ => rows
            .map(|(x, near)| near.min(measure.between(x, place)))
            .collect(),
    }
}

impl Measure {
    /// The nearest centre of each row that is seen; a given one for the others.
    pub fn labels(
        self,
        points: &Points,
        centres: &[f64],
        packed: &Packed,
        others: u32,
    ) -> Vec<u32> {
        let mut labels = vec![others; points.rows];
        if self == Measure::Squared {
            let places = Places::of(centres, packed);
            places.label(points, &mut labels);
        } else {
            for row in points.whole.iter().chain(&points.incomplete) {
                let x = points.row(*row as usize);
                let centres = centres.chunks_exact(points.width);
                labels[*row as usize] = first_least(centres.map(|c| self.between(x, c)));
            }
        }
        labels
    }
}
