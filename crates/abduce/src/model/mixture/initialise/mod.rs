//! Where EM begins. Unlabelled tables: a tree of merged rows, or k-means++ seeds and
//! a few rounds of k-means, on standardised columns (levels as indicators), so that no
//! two components start equal; equal components would stay equal for ever. Labelled
//! ones: the labelled rows, each class pulled towards what all have in common,
//! so that two rows are enough for a class.

mod far;
mod hierarchical;
pub(crate) mod restarts;
pub(crate) mod sample;
pub(crate) mod starting_point;
mod whiten;

use crate::Result;
use crate::data::{Kind, Schema, Source, Table, fold};
use crate::family::draw_index;
use crate::kernel::pairs::{grouped_centres, nearest_centres};
use crate::leaf::Leaf;
use crate::leaf::Seen;
use crate::model::mixture::MixtureStatistics;
use crate::model::mixture::step::groups::{IncompleteRows, observe_groups};
use crate::model::mixture::step::maximize::segment;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How the seeds of unlabelled components are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// Hierarchical first, and k-means++ for the starts after it; of every six starts, one
    /// begins at k-means++ seeds and one at random rows that no rounds of k-means have moved.
    #[default]
    Auto,
    /// Rows far from each other are likelier (Arthur & Vassilvitskii 2007).
    #[serde(rename = "kmeans++")]
    KMeansPlusPlus,
    /// Rows at random.
    Random,
    /// Groups merged two by two, where that costs the least likelihood; the same
    /// whatever the seed.
    Hierarchical,
}

/// Rounds of k-means after the seeding.
const ROUNDS: usize = 10;

/// The most indicators of one column: beyond it levels share them, which only
/// makes the seeds of a start a little less far apart.
const INDICATORS: usize = 16;

/// Coordinates beyond which points are not whitened.
const WHITENED: usize = 100;

/// The places of a column of text, which words share.
const WORDS: usize = 64;

/// Rows as points: numbers standardised, levels as indicators, missing values at the
/// centre.
pub(crate) struct Points {
    width: usize,
    /// Whether they are numbers alone, which have directions.
    numbers: bool,
    cells: Vec<f64>,
    weights: Vec<f64>,
}

impl Points {
    /// How many numbers a row becomes.
    pub fn width(schema: &Schema, leaves: &[Leaf]) -> usize {
        let columns = leaves.iter().flat_map(|leaf| &leaf.columns);
        columns.map(|c| places(schema, *c)).sum()
    }

    pub fn of(table: &Table, leaves: &[Leaf], seen: &Seen) -> Points {
        let schema = table.schema();
        let columns: Vec<usize> = leaves
            .iter()
            .flat_map(|leaf| leaf.columns.iter().copied())
            .collect();
        let width = Points::width(schema, leaves);
        let rows = table.rows() as usize;
        let coded = |c: &usize| {
            let kind = schema.fields[*c].kind;
            kind.is_coded() || kind == Kind::Text
        };
        let mut points = Points {
            width,
            numbers: !columns.iter().any(coded),
            cells: vec![0.0; rows * width],
            weights: Vec::with_capacity(rows),
        };
        let mut first = 0;
        for chunk in table.chunks() {
            let mut offset = 0;
            for column in &columns {
                let cells = chunk.column(*column).cells(0, chunk.rows());
                let (mean, scale) = {
                    let scale = seen.whole_scale(*column);
                    (scale.mean, scale.variance.sqrt())
                };
                for row in (0..chunk.rows()).filter(|row| cells.is_seen(*row)) {
                    let point = (first + row) * width + offset;
                    if let Some(documents) = cells.terms() {
                        let (codes, counts) = documents.row(row);
                        let words: f64 = counts.iter().sum();
                        for (code, count) in codes.iter().zip(counts) {
                            // Words share places evenly, whatever their order.
                            let place = code.wrapping_mul(0x9e37_79b1) >> 16;
                            points.cells[point + place as usize % WORDS] += count / words;
                        }
                    } else if schema.fields[*column].kind.is_coded() {
                        points.cells[point + cells.codes()[row] as usize % INDICATORS] = 1.0;
                    } else {
                        points.cells[point] = (cells.reals()[row] - mean) / scale;
                    }
                }
                offset += places(schema, *column);
            }
            match chunk.weights() {
                Some(weights) => points.weights.extend_from_slice(weights),
                None => points.weights.resize(first + chunk.rows(), 1.0),
            }
            first += chunk.rows();
        }
        points
    }

    /// The same in coordinates in which their covariance is the identity; `None` where
    /// they are not numbers alone, or too many to be worth it.
    pub fn whitened(&self) -> Option<Points> {
        if self.width > WHITENED || !self.numbers {
            return None;
        }
        let (cells, width) = whiten::whitened(&self.cells, self.width, &self.weights);
        let weights = self.weights.clone();
        (width > 0).then_some(Points {
            width,
            numbers: true,
            cells,
            weights,
        })
    }

    fn point(&self, row: usize) -> &[f64] {
        &self.cells[row * self.width..(row + 1) * self.width]
    }

    /// Assigns rows to `k` groups; a tree is made of some of them only.
    pub fn group(&self, k: usize, init: Init, seed: u64) -> Vec<Option<usize>> {
        self.group_in_rounds(k, init, seed, ROUNDS)
    }

    /// The same without rounds of k-means: rows belong to the nearest seed. Such groups are
    /// less alike than those of k-means, which has few ends.
    pub fn group_by_seeds(&self, k: usize, init: Init, seed: u64) -> Vec<Option<usize>> {
        self.group_in_rounds(k, init, seed, 0)
    }

    fn group_in_rounds(
        &self,
        k: usize,
        init: Init,
        seed: u64,
        rounds: usize,
    ) -> Vec<Option<usize>> {
        match init {
            Init::Hierarchical => self.merged(k),
            _ => {
                let groups = self.spread(k, init, seed, rounds);
                let groups = groups.into_iter().zip(&self.weights);
                // Rows that weigh nothing are taken by groups, and tell them nothing.
                groups
                    .map(|(group, weight)| (*weight > 0.0).then_some(group))
                    .collect()
            }
        }
    }

    fn merged(&self, k: usize) -> Vec<Option<usize>> {
        let weighing = self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
        let weighing: Vec<usize> = weighing.map(|(row, _)| row).collect();
        let most = hierarchical::most_rows(self.width).min(weighing.len());
        let chosen: Vec<usize> = (0..most)
            .map(|i| weighing[i * weighing.len() / most])
            .collect();
        let cells: Vec<f64> = chosen
            .iter()
            .flat_map(|row| self.point(*row).to_vec())
            .collect();
        let weights: Vec<f64> = chosen.iter().map(|row| self.weights[*row]).collect();
        let found = hierarchical::groups(&cells, self.width, &weights, k);
        let mut groups = vec![None; self.weights.len()];
        chosen
            .iter()
            .zip(found)
            .for_each(|(row, group)| groups[*row] = Some(group));
        groups
    }

    fn spread(&self, k: usize, init: Init, seed: u64, rounds: usize) -> Vec<usize> {
        let rows = self.weights.len();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut centers: Vec<Vec<f64>> = Vec::with_capacity(k);
        let mut nearest = vec![f64::INFINITY; rows];
        let mut chances = self.weights.clone();
        for _ in 0..k {
            let any = chances.iter().any(|c| *c > 0.0);
            let row = if any {
                draw_index(&chances, &mut rng)
            } else {
                rng.random_range(0..rows)
            };
            let center = self.point(row).to_vec();
            for (row, nearest) in nearest.iter_mut().enumerate() {
                *nearest = nearest.min(distance(self.point(row), &center));
            }
            centers.push(center);
            chances = match init {
                Init::KMeansPlusPlus | Init::Auto => nearest
                    .iter()
                    .zip(&self.weights)
                    .map(|(d, w)| d * w)
                    .collect(),
                _ => self.weights.clone(),
            };
        }
        let mut groups = self.assign(&centers);
        for _ in 0..rounds {
            self.recenter(&groups, &mut centers);
            let next = self.assign(&centers);
            if next == groups {
                break;
            }
            groups = next;
        }
        groups
    }

    fn assign(&self, centers: &[Vec<f64>]) -> Vec<usize> {
        if self.width == 0 {
            return vec![0; self.weights.len()];
        }
        nearest_centres(&self.cells, self.width, &grouped_centres(centers))
    }

    fn recenter(&self, groups: &[usize], centers: &mut [Vec<f64>]) {
        let mut weights = vec![0.0; centers.len()];
        let mut sums = vec![vec![0.0; self.width]; centers.len()];
        for (row, group) in groups.iter().enumerate() {
            weights[*group] += self.weights[row];
            for (sum, x) in sums[*group].iter_mut().zip(self.point(row)) {
                *sum += self.weights[row] * x;
            }
        }
        for ((center, sum), weight) in centers.iter_mut().zip(sums).zip(weights) {
            if weight > 0.0 {
                *center = sum.into_iter().map(|s| s / weight).collect();
            }
        }
    }
}

fn places(schema: &Schema, column: usize) -> usize {
    match schema.fields[column].kind {
        Kind::Text => WORDS,
        _ => schema.fields[column].levels.len().clamp(1, INDICATORS),
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The statistics of rows given wholly to their groups, made fit to start from.
/// IncompleteRows cells of correlated columns are taken as the table's mean and spread,
/// so that rows count of which no other is complete.
pub(crate) fn statistics_of_groups(
    table: &Table,
    leaves: &[Leaf],
    groups: &[Option<usize>],
    k: usize,
) -> MixtureStatistics {
    let mut statistics = MixtureStatistics::zero(leaves, k);
    let mut first = 0;
    for chunk in table.chunks() {
        let group_of = |row: usize| groups[first + row];
        observe_groups(
            leaves,
            chunk,
            group_of,
            IncompleteRows::Expect,
            &mut statistics,
        );
        first += chunk.rows();
    }
    pull_together(leaves, &mut statistics);
    statistics
}

/// The statistics of labelled rows, made fit to start from as
/// [`statistics_of_groups`] does.
pub(crate) fn statistics_of_labels(
    source: &dyn Source,
    leaves: &[Leaf],
    target: usize,
) -> Result<MixtureStatistics> {
    let labels = source.schema().fields[target].levels.len();
    let statistics = fold(
        source,
        segment(leaves, labels),
        |partial, _, chunk| {
            let statistics = partial.get_or_insert_with(|| MixtureStatistics::zero(leaves, labels));
            let cells = chunk.column(target).cells(0, chunk.rows());
            let label_of = |row: usize| cells.is_seen(row).then(|| cells.codes()[row] as usize);
            observe_groups(leaves, chunk, label_of, IncompleteRows::Expect, statistics);
            Ok(())
        },
        |total: &mut MixtureStatistics, more| total.merge(&more),
    )?;
    let mut statistics = statistics.unwrap_or_else(|| MixtureStatistics::zero(leaves, labels));
    pull_together(leaves, &mut statistics);
    Ok(statistics)
}

fn pull_together(leaves: &[Leaf], statistics: &mut MixtureStatistics) {
    for (leaf, own) in leaves.iter().zip(&mut statistics.leaves) {
        leaf.family.pull_together(own);
    }
}
