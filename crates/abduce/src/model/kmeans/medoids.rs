//! Medoids: centres that are rows, for any distance. Swaps of a medoid with a row are
//! made as soon as one lowers the sum of distances, and the best medoid to leave is
//! known for every row at once (FasterPAM, Schubert & Rousseeuw, "Fast and eager
//! k-medoids clustering", 2021): a round costs n² distances whatever k is.

use crate::family::draw_index;
use crate::{Control, Progress};
use crate::{Error, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The maximum number of rows for medoids.
pub(super) const MOST_ROWS: usize = 50_000;

/// Medoids and what belongs to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Medoids {
    /// The rows that are centres.
    pub rows: Vec<usize>,
    /// For each row, the place of its medoid in `rows`.
    pub labels: Vec<usize>,
    /// The sum of distances before each round and at the end.
    pub trace: Vec<f64>,
    /// Whether no swap is left that lowers it.
    pub converged: bool,
}

impl Medoids {
    /// The weighted sum of distances to the medoids.
    pub fn total(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::INFINITY)
    }
}

/// Looks for `k` medoids of rows with weights, by any distance between two rows that
/// is symmetric and not negative.
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
/// If there is no row, no cluster, or a distance that is not a number.
pub fn medoids(
    weights: &[f64],
    k: usize,
    distance: &dyn Fn(usize, usize) -> f64,
    max_rounds: usize,
    seed: u64,
    control: Control,
) -> Result<Medoids> {
    among(
        weights,
        &vec![true; weights.len()],
        k,
        distance,
        max_rounds,
        seed,
        control,
    )
}

/// The same where only some rows may be medoids.
pub(super) fn among(
    weights: &[f64],
    may: &[bool],
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
    if rows > MOST_ROWS {
        return Err(Error::parameter(format!(
            "`medoids` supports at most {MOST_ROWS} rows, and there are {rows}"
        ))
        .with_hint("fit a sample of the rows, or leave out `medoids`"));
    }
    let mut swaps = Swaps::begin(weights, may, k, distance, seed)?;
    let mut trace = vec![swaps.total()];
    let mut converged = false;
    for number in 1..=max_rounds {
        let swapped = swaps.round(control)?;
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

struct Swaps<'a> {
    weights: &'a [f64],
    may: &'a [bool],
    distance: &'a dyn Fn(usize, usize) -> f64,
    medoids: Vec<usize>,
    /// The distances of all rows from each medoid.
    distances: Vec<Vec<f64>>,
    near: Vec<Near>,
}

impl<'a> Swaps<'a> {
    /// Medoids drawn far from each other.
    fn begin(
        weights: &'a [f64],
        may: &'a [bool],
        k: usize,
        distance: &'a dyn Fn(usize, usize) -> f64,
        seed: u64,
    ) -> Result<Swaps<'a>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut swaps = Swaps {
            weights,
            may,
            distance,
            medoids: Vec::new(),
            distances: Vec::new(),
            near: Vec::new(),
        };
        let chance = |(weight, may): (&f64, &bool)| if *may { *weight } else { 0.0 };
        let mut chances: Vec<f64> = weights.iter().zip(may).map(chance).collect();
        while swaps.medoids.len() < k && chances.iter().any(|chance| *chance > 0.0) {
            let row = draw_index(&chances, &mut rng);
            let own = swaps.distances_of(row)?;
            let first = swaps.medoids.is_empty();
            for (row, (gap, chance)) in own.iter().zip(&mut chances).enumerate() {
                let nearer = if may[row] { gap * weights[row] } else { 0.0 };
                *chance = if first { nearer } else { chance.min(nearer) };
            }
            swaps.medoids.push(row);
            swaps.distances.push(own);
        }
        if swaps.medoids.is_empty() {
            return Err(Error::data("every row has weight 0"));
        }
        swaps.near = (0..weights.len()).map(|row| swaps.nearest(row)).collect();
        Ok(swaps)
    }

    fn distances_of(&self, row: usize) -> Result<Vec<f64>> {
        let own: Vec<f64> = (0..self.weights.len())
            .map(|other| {
                if other == row {
                    0.0
                } else {
                    (self.distance)(row, other)
                }
            })
            .collect();
        if own.iter().all(|gap| *gap >= 0.0) {
            Ok(own)
        } else {
            Err(Error::parameter("a distance is negative or not a number"))
        }
    }

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

    /// Tries every row as a medoid; whether any became one.
    fn round(&mut self, control: Control) -> Result<bool> {
        let mut swapped = false;
        for row in 0..self.weights.len() {
            if control.is_interrupted() {
                break;
            }
            if !self.may[row] || self.weights[row] <= 0.0 || self.near[row].to_first == 0.0 {
                continue;
            }
            let own = self.distances_of(row)?;
            let (leaves, change) = self.best_to_leave(&own);
            // Less than this is rounding, and swaps without end.
            if change < -1e-12 * self.total() {
                self.medoids[leaves] = row;
                self.distances[leaves] = own;
                self.near = (0..self.weights.len())
                    .map(|row| self.nearest(row))
                    .collect();
                swapped = true;
            }
        }
        Ok(swapped)
    }

    /// The medoid that had best give its place to a row, and how the sum changes.
    fn best_to_leave(&self, distances: &[f64]) -> (usize, f64) {
        if self.medoids.len() == 1 {
            let gain = self.near.iter().zip(distances).zip(self.weights);
            return (
                0,
                gain.map(|((near, gap), w)| w * (gap - near.to_first)).sum(),
            );
        }
        let mut joined = 0.0;
        let mut left = vec![0.0; self.medoids.len()];
        for ((near, gap), weight) in self.near.iter().zip(distances).zip(self.weights) {
            if *weight <= 0.0 {
                continue;
            }
            // To its second medoid when the first leaves, unless the new one is nearer.
            left[near.first] += weight * (gap.min(near.to_second) - gap.min(near.to_first));
            joined += weight * (gap.min(near.to_first) - near.to_first);
        }
        // A row that goes to the new medoid anyway is counted in `joined` alone.
        let least = left.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        let (medoid, change) = least.map_or((0, 0.0), |(medoid, change)| (medoid, *change));
        (medoid, joined + change)
    }
}
