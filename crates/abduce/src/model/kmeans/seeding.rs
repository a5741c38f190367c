//! Initial centres: random rows, or rows that are probably far from each other (k-means++, Arthur
//! & Vassilvitskii 2007), with the best of several candidates for each centre. Missing values of
//! a drawn row are replaced by the mean of the table.

use super::assign::{Assigner, position_of_smallest};
use super::points::Points;
use super::specification::Init;
use crate::family::draw_index;
use crate::kernel::kmeans::{Packed, seen_manhattan, seen_squared, squared};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The measure of distance between points.
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

/// Draws `count` centres from points; fewer if every row equals a centre.
pub(super) fn draw_seeds(
    points: &Points,
    count: usize,
    init: Init,
    measure: Measure,
    seed: u64,
) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut centres: Vec<f64> = Vec::with_capacity(count * points.width);
    let mut near = vec![f64::INFINITY; points.rows];
    let mut probabilities = points.weights.clone();
    let candidates = match init {
        Init::Greedy => 2 + (count as f64).ln() as usize,
        _ => 1,
    };
    for number in 0..count {
        if !probabilities.iter().any(|probability| *probability > 0.0) {
            break;
        }
        let tries = if number == 0 { 1 } else { candidates };
        let mut best: Option<(f64, Vec<f64>, Vec<f64>)> = None;
        for _ in 0..tries {
            let place: Vec<f64> = (points.row(draw_index(&probabilities, &mut rng)).iter())
                .map(|x| if x.is_nan() { 0.0 } else { *x })
                .collect();
            let distances = nearest_distances(points, &place, &near, measure);
            let potential = distances
                .iter()
                .zip(&points.weights)
                .map(|(d, w)| d * w)
                .sum();
            if best.as_ref().is_none_or(|(least, ..)| potential < *least) {
                best = Some((potential, place, distances));
            }
        }
        let Some((_, place, distances)) = best else {
            break;
        };
        centres.extend(place);
        near = distances;
        let pairs = probabilities
            .iter_mut()
            .zip(near.iter().zip(&points.weights));
        match init {
            // A row is drawn only once.
            Init::Random => pairs
                .filter(|(_, (near, _))| **near <= 0.0)
                .for_each(|(probability, _)| *probability = 0.0),
            _ => pairs.for_each(|(probability, (near, weight))| *probability = near * weight),
        }
    }
    centres
}

/// The distance of each row from its nearest centre after another centre is added at `place`.
fn nearest_distances(points: &Points, place: &[f64], near: &[f64], measure: Measure) -> Vec<f64> {
    let rows = points.cells.chunks_exact(points.width).zip(near);
    match measure {
        Measure::Squared if points.is_complete => {
            rows.map(|(x, near)| near.min(squared(x, place))).collect()
        }
        _ => rows
            .map(|(x, near)| near.min(measure.between(x, place)))
            .collect(),
    }
}

impl Measure {
    /// The nearest centre of each row; `others` for rows of weight 0 or without any value.
    pub fn nearest_centres(
        self,
        points: &Points,
        centres: &[f64],
        packed: &Packed,
        others: u32,
    ) -> Vec<u32> {
        let mut labels = vec![others; points.rows];
        if self == Measure::Squared {
            let assigner = Assigner::of(centres, packed);
            assigner.label(points, &mut labels);
        } else {
            for row in points.complete_rows.iter().chain(&points.incomplete_rows) {
                let x = points.row(*row as usize);
                let centres = centres.chunks_exact(points.width);
                labels[*row as usize] = position_of_smallest(centres.map(|c| self.between(x, c)));
            }
        }
        labels
    }
}
