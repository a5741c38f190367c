//! Initial parameters of EM. Without labels, rows are clustered first, by hierarchical clustering
//! or by a few iterations of k-means from k-means++ seeds, on standardised columns with levels as
//! indicators. So no two components start equal; equal components would stay equal. With labels,
//! the start is estimated from the labelled rows, and the components are shrunk towards each
//! other, so that two rows are enough for a class.

mod hierarchical;
pub(crate) mod outcome;
mod outliers;
pub(crate) mod restarts;
pub(crate) mod sample;
pub(crate) mod shared;
pub(crate) mod starting_point;
mod whiten;

use crate::Result;
use crate::data::{Kind, Schema, Source, Table, fold};
use crate::family::draw_index;
use crate::kernel::pairs::{grouped_centres, nearest_centres};
use crate::leaf::Leaf;
use crate::leaf::TableSummary;
use crate::model::mixture::MixtureStatistics;
use crate::model::mixture::step::groups::{IncompleteRows, observe_groups};
use crate::model::mixture::step::maximize::segment;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How the components of a mixture without labels are initialised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// Hierarchical clustering for the first start and k-means++ for the others; of every six
    /// starts, one uses k-means++ seeds and one random rows without iterations of k-means.
    #[default]
    Auto,
    /// k-means from seeds that are probably far from each other (Arthur & Vassilvitskii 2007).
    #[serde(rename = "kmeans++")]
    KMeansPlusPlus,
    /// k-means from random rows.
    Random,
    /// Model-based hierarchical clustering, which does not depend on the seed.
    Hierarchical,
}

/// The number of iterations of k-means after the seeding.
const KMEANS_ITERATIONS: usize = 10;

/// The maximum number of indicators of a column. With more levels, several levels share an
/// indicator, which only makes the seeds a little less distant.
const MAX_INDICATORS: usize = 16;

/// The maximum number of coordinates of points that are whitened.
const MAX_WHITENED: usize = 100;

/// The number of coordinates of a text column; words are hashed to them.
const TEXT_COORDINATES: usize = 64;

/// Rows as points: numbers are standardised, levels are indicators, and missing values are 0.
pub(crate) struct Points {
    width: usize,
    /// Whether all columns are numeric.
    all_numeric: bool,
    cells: Vec<f64>,
    weights: Vec<f64>,
}

/// A hierarchical clustering, which can be cut into any number of groups.
pub(crate) struct Tree {
    /// The rows that were clustered.
    rows: Vec<usize>,
    /// Pairs of positions in `rows`, in the order in which their groups were merged.
    merges: Vec<(usize, usize)>,
}

impl Points {
    /// The number of coordinates of a row.
    pub fn width(schema: &Schema, leaves: &[Leaf]) -> usize {
        let columns = leaves.iter().flat_map(|leaf| &leaf.columns);
        columns.map(|c| coordinates_of(schema, *c)).sum()
    }

    pub fn of(table: &Table, leaves: &[Leaf], summary: &TableSummary) -> Points {
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
            all_numeric: !columns.iter().any(coded),
            cells: vec![0.0; rows * width],
            weights: Vec::with_capacity(rows),
        };
        let mut first = 0;
        for chunk in table.chunks() {
            let mut offset = 0;
            for column in &columns {
                let cells = chunk.column(*column).cells(0, chunk.rows());
                let (mean, scale) = {
                    let scale = summary.whole_scale(*column);
                    (scale.mean, scale.variance.sqrt())
                };
                for row in (0..chunk.rows()).filter(|row| cells.is_seen(*row)) {
                    let point = (first + row) * width + offset;
                    if let Some(documents) = cells.terms() {
                        let (codes, counts) = documents.row(row);
                        let words: f64 = counts.iter().sum();
                        for (code, count) in codes.iter().zip(counts) {
                            // A hash, so that words share coordinates evenly in any order.
                            let place = code.wrapping_mul(0x9e37_79b1) >> 16;
                            points.cells[point + place as usize % TEXT_COORDINATES] +=
                                count / words;
                        }
                    } else if schema.fields[*column].kind.is_coded() {
                        points.cells[point + cells.codes()[row] as usize % MAX_INDICATORS] = 1.0;
                    } else {
                        points.cells[point] = (cells.reals()[row] - mean) / scale;
                    }
                }
                offset += coordinates_of(schema, *column);
            }
            match chunk.weights() {
                Some(weights) => points.weights.extend_from_slice(weights),
                None => points.weights.resize(first + chunk.rows(), 1.0),
            }
            first += chunk.rows();
        }
        points
    }

    /// The same points transformed so that their covariance is the identity; `None` if a column is
    /// not numeric or there are too many coordinates.
    pub fn whitened(&self) -> Option<Points> {
        if self.width > MAX_WHITENED || !self.all_numeric {
            return None;
        }
        let (cells, width) = whiten::whitened(&self.cells, self.width, &self.weights);
        let weights = self.weights.clone();
        (width > 0).then_some(Points {
            width,
            all_numeric: true,
            cells,
            weights,
        })
    }

    fn point(&self, row: usize) -> &[f64] {
        &self.cells[row * self.width..(row + 1) * self.width]
    }

    /// Assigns rows to `k` groups. Rows of weight 0 get none, and hierarchical clustering uses only
    /// some of the rows.
    pub fn group(&self, k: usize, init: Init, seed: u64) -> Vec<Option<usize>> {
        self.group_with(k, init, seed, KMEANS_ITERATIONS)
    }

    /// Like [`group`](Self::group), but assigns rows to the nearest seed without iterations of
    /// k-means. Such groups vary more between seeds than those of k-means, which converges to few
    /// different results.
    pub fn group_by_nearest_seed(&self, k: usize, init: Init, seed: u64) -> Vec<Option<usize>> {
        self.group_with(k, init, seed, 0)
    }

    fn group_with(&self, k: usize, init: Init, seed: u64, iterations: usize) -> Vec<Option<usize>> {
        match init {
            Init::Hierarchical => self.group_hierarchically(k),
            _ => {
                let groups = self.group_by_k_means(k, init, seed, iterations);
                let groups = groups.into_iter().zip(&self.weights);
                // Rows of weight 0 must not influence a group.
                groups
                    .map(|(group, weight)| (*weight > 0.0).then_some(group))
                    .collect()
            }
        }
    }

    fn group_hierarchically(&self, k: usize) -> Vec<Option<usize>> {
        self.group_by_tree(&self.tree(), k)
    }

    /// Hierarchical clustering of some evenly spaced rows of positive weight.
    pub fn tree(&self) -> Tree {
        let weighted = self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
        let weighted: Vec<usize> = weighted.map(|(row, _)| row).collect();
        let rows = hierarchical::max_rows(self.width).min(weighted.len());
        let chosen: Vec<usize> = (0..rows)
            .map(|i| weighted[i * weighted.len() / rows])
            .collect();
        let cells: Vec<f64> = chosen
            .iter()
            .flat_map(|row| self.point(*row).to_vec())
            .collect();
        let weights: Vec<f64> = chosen.iter().map(|row| self.weights[*row]).collect();
        Tree {
            merges: hierarchical::merge_order(&cells, self.width, &weights),
            rows: chosen,
        }
    }

    /// Cuts a tree of these points into at most `k` groups. Rows that are not in it get none.
    pub fn group_by_tree(&self, tree: &Tree, k: usize) -> Vec<Option<usize>> {
        let found = hierarchical::groups_of(&tree.merges, tree.rows.len(), k);
        let mut groups = vec![None; self.weights.len()];
        tree.rows
            .iter()
            .zip(found)
            .for_each(|(row, group)| groups[*row] = Some(group));
        groups
    }

    /// The group of each row after some iterations of k-means from seeds.
    fn group_by_k_means(&self, k: usize, init: Init, seed: u64, iterations: usize) -> Vec<usize> {
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
        for _ in 0..iterations {
            self.update_centers(&groups, &mut centers);
            let next = self.assign(&centers);
            if next == groups {
                break;
            }
            groups = next;
        }
        groups
    }

    /// The nearest center of each row.
    fn assign(&self, centers: &[Vec<f64>]) -> Vec<usize> {
        if self.width == 0 {
            return vec![0; self.weights.len()];
        }
        nearest_centres(&self.cells, self.width, &grouped_centres(centers))
    }

    /// Moves each center to the mean of its group.
    fn update_centers(&self, groups: &[usize], centers: &mut [Vec<f64>]) {
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

/// The number of coordinates of a column.
fn coordinates_of(schema: &Schema, column: usize) -> usize {
    match schema.fields[column].kind {
        Kind::Text => TEXT_COORDINATES,
        _ => schema.fields[column].levels.len().clamp(1, MAX_INDICATORS),
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The statistics of groups of rows, from which initial parameters can be estimated. Missing
/// values of correlated columns are replaced by their expectation under the prior, so that
/// incomplete rows count too.
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
    shrink_components(leaves, &mut statistics);
    statistics
}

/// The statistics of labelled rows, from which initial parameters can be estimated; see
/// [`statistics_of_groups`].
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
    shrink_components(leaves, &mut statistics);
    Ok(statistics)
}

/// Shrinks the statistics of components towards each other, so that few rows are enough.
fn shrink_components(leaves: &[Leaf], statistics: &mut MixtureStatistics) {
    for (leaf, components) in leaves.iter().zip(&mut statistics.leaves) {
        leaf.family.shrink_together(components);
    }
}
