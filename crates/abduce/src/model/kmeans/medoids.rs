//! k-medoids: centres that are rows, for any distance, by FasterPAM (Schubert & Rousseeuw, "Fast
//! and eager k-medoids clustering", 2021). A medoid is replaced by a row as soon as that decreases
//! the sum of distances, and the best medoid to replace is found for each row in one step, so that
//! a round needs n² distances for any k.

use crate::family::draw_index;
use crate::{Control, Progress};
use crate::{Error, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The maximum number of rows for medoids.
pub(super) const MAX_ROWS: usize = 50_000;

/// Medoids and the assignment of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Medoids {
    /// The rows that are medoids.
    pub rows: Vec<usize>,
    /// For each row, the position of its medoid in `rows`.
    pub labels: Vec<usize>,
    /// The sum of distances before each round and at the end.
    pub trace: Vec<f64>,
    /// Whether no swap would decrease the sum of distances.
    pub converged: bool,
}

impl Medoids {
    /// The weighted sum of distances to the medoids.
    pub fn total(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::INFINITY)
    }
}

/// Finds `k` medoids of weighted rows, for a symmetric, non-negative distance between two rows.
///
/// ```
/// use abduce::Control;
/// use abduce::model::kmeans::medoids;
/// let x: [f64; 5] = [0.0, 1.0, 2.0, 10.0, 11.0];
/// let distance = |a: usize, b: usize| (x[a] - x[b]).abs();
/// let found = medoids(&[1.0; 5], 2, &distance, 100, 0, Control::default())?;
/// assert_eq!(found.total(), 3.0);
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If there is no row or no cluster, or a distance is negative or not a number.
pub fn medoids(
    weights: &[f64],
    k: usize,
    distance: &dyn Fn(usize, usize) -> f64,
    max_rounds: usize,
    seed: u64,
    control: Control,
) -> Result<Medoids> {
    medoids_among(
        weights,
        &vec![true; weights.len()],
        k,
        distance,
        max_rounds,
        seed,
        control,
    )
}

/// Like [`medoids`], if only some rows are allowed as medoids.
pub(super) fn medoids_among(
    weights: &[f64],
    allowed: &[bool],
    k: usize,
    distance: &dyn Fn(usize, usize) -> f64,
    max_rounds: usize,
    seed: u64,
    control: Control,
) -> Result<Medoids> {
    let rows = weights.len();
    if rows == 0 || k == 0 {
        return Err(Error::parameter(
            "medoids need at least one row and one cluster",
        ));
    }
    if rows > MAX_ROWS {
        return Err(Error::parameter(format!(
            "`medoids` supports at most {MAX_ROWS} rows, and there are {rows}"
        ))
        .with_hint("fit a sample of the rows, or leave out `medoids`"));
    }
    let mut swaps = Swaps::new(weights, allowed, k, distance, seed)?;
    let mut trace = vec![swaps.total()];
    let mut converged = false;
    for number in 1..=max_rounds {
        let swapped = swaps.try_all_rows(control)?;
        trace.push(swaps.total());
        control.report(Progress::Round {
            number,
            of: max_rounds,
            inertia: swaps.total(),
        });
        if !swapped {
            converged = !control.is_interrupted();
            break;
        }
    }
    Ok(Medoids {
        labels: swaps.near.iter().map(|near| near.first).collect(),
        rows: swaps.medoids,
        trace,
        converged,
    })
}

/// The nearest and second nearest medoid of a row.
#[derive(Clone, Copy, Debug)]
struct Near {
    first: usize,
    to_first: f64,
    to_second: f64,
}

/// The medoids during the search.
struct Swaps<'a> {
    weights: &'a [f64],
    allowed: &'a [bool],
    distance: &'a dyn Fn(usize, usize) -> f64,
    medoids: Vec<usize>,
    /// The distances of all rows from each medoid.
    distances: Vec<Vec<f64>>,
    near: Vec<Near>,
}

impl<'a> Swaps<'a> {
    /// Initial medoids, drawn as in k-means++.
    fn new(
        weights: &'a [f64],
        allowed: &'a [bool],
        k: usize,
        distance: &'a dyn Fn(usize, usize) -> f64,
        seed: u64,
    ) -> Result<Swaps<'a>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut swaps = Swaps {
            weights,
            allowed,
            distance,
            medoids: Vec::new(),
            distances: Vec::new(),
            near: Vec::new(),
        };
        let probability = |(weight, allowed): (&f64, &bool)| if *allowed { *weight } else { 0.0 };
        let mut probabilities: Vec<f64> = weights.iter().zip(allowed).map(probability).collect();
        while swaps.medoids.len() < k && probabilities.iter().any(|probability| *probability > 0.0)
        {
            let row = draw_index(&probabilities, &mut rng);
            let distances = swaps.distances_of(row)?;
            let first = swaps.medoids.is_empty();
            for (row, (gap, probability)) in distances.iter().zip(&mut probabilities).enumerate() {
                let nearer = if allowed[row] {
                    gap * weights[row]
                } else {
                    0.0
                };
                *probability = if first {
                    nearer
                } else {
                    probability.min(nearer)
                };
            }
            swaps.medoids.push(row);
            swaps.distances.push(distances);
        }
        if swaps.medoids.is_empty() {
            return Err(Error::data("every row has weight 0"));
        }
        swaps.near = (0..weights.len()).map(|row| swaps.nearest(row)).collect();
        Ok(swaps)
    }

    /// The distances of all rows from one row.
    fn distances_of(&self, row: usize) -> Result<Vec<f64>> {
        let distances: Vec<f64> = (0..self.weights.len())
            .map(|other| {
                if other == row {
                    0.0
                } else {
                    (self.distance)(row, other)
                }
            })
            .collect();
        if distances.iter().all(|gap| *gap >= 0.0) {
            Ok(distances)
        } else {
            Err(Error::parameter("a distance is negative or not a number"))
        }
    }

    /// The nearest medoids of a row.
    fn nearest(&self, row: usize) -> Near {
        let mut near = Near {
            first: 0,
            to_first: f64::INFINITY,
            to_second: f64::INFINITY,
        };
        for (medoid, distances) in self.distances.iter().enumerate() {
            let gap = distances[row];
            if gap < near.to_first {
                near = Near {
                    first: medoid,
                    to_first: gap,
                    to_second: near.to_first,
                };
            } else if gap < near.to_second {
                near.to_second = gap;
            }
        }
        near
    }

    fn total(&self) -> f64 {
        let rows = self.near.iter().zip(self.weights);
        rows.map(|(near, weight)| weight * near.to_first).sum()
    }

    /// Tries every row as a medoid, and returns whether any became one.
    fn try_all_rows(&mut self, control: Control) -> Result<bool> {
        let mut swapped = false;
        for row in 0..self.weights.len() {
            if control.is_interrupted() {
                break;
            }
            if !self.allowed[row] || self.weights[row] <= 0.0 || self.near[row].to_first == 0.0 {
                continue;
            }
            let distances = self.distances_of(row)?;
            let (replaced, change) = self.best_medoid_to_replace(&distances);
            // Smaller changes may be rounding errors, which could cause endless swaps.
            if change < -1e-12 * self.total() {
                self.medoids[replaced] = row;
                self.distances[replaced] = distances;
                self.near = (0..self.weights.len())
                    .map(|row| self.nearest(row))
                    .collect();
                swapped = true;
            }
        }
        Ok(swapped)
    }

    /// The best medoid to replace by a row with these distances, and the change of the sum.
    fn best_medoid_to_replace(&self, distances: &[f64]) -> (usize, f64) {
        if self.medoids.len() == 1 {
            let gain = self.near.iter().zip(distances).zip(self.weights);
            return (
                0,
                gain.map(|((near, gap), w)| w * (gap - near.to_first)).sum(),
            );
        }
        // The change for rows that are nearest to the new medoid, and the additional change for the
        // rows of each medoid if that is the one replaced.
        let mut gain = 0.0;
        let mut loss = vec![0.0; self.medoids.len()];
        for ((near, gap), weight) in self.near.iter().zip(distances).zip(self.weights) {
            if *weight <= 0.0 {
                continue;
            }
            // Without its first medoid, the row moves to the second or the new one.
            loss[near.first] += weight * (gap.min(near.to_second) - gap.min(near.to_first));
            gain += weight * (gap.min(near.to_first) - near.to_first);
        }
        let smallest = loss.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        let (medoid, change) = smallest.map_or((0, 0.0), |(medoid, change)| (medoid, *change));
        (medoid, gain + change)
    }
}
