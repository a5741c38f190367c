//! Where EM begins. Unlabelled tables: k-means++ seeds and a few rounds of
//! k-means on standardised columns (levels as indicators), so that no two
//! components start equal; equal components would stay equal for ever. Labelled
//! ones: the labelled rows, each class pulled towards what all have in common,
//! so that two rows are enough for a class.

use super::groups::observe_groups;
use super::survey::Survey;
use super::{Leaf, MixtureStatistics};
use crate::data::{Source, Table};
use crate::family::{GaussianStats, MultivariateStats, Statistics, Stats as _, draw_index};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How the seeds of unlabelled components are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// Rows far from each other are likelier (Arthur & Vassilvitskii 2007).
    #[default]
    #[serde(rename = "kmeans++")]
    KMeansPlusPlus,
    /// Rows at random.
    Random,
}

/// Rounds of k-means after the seeding.
const ROUNDS: usize = 10;

/// The most indicators of one column: beyond it levels share them, which only
/// makes the seeds of a start a little less far apart.
const INDICATORS: usize = 16;

/// Rows as points: numbers standardised, levels as indicators, holes at the
/// centre.
pub(super) struct Points {
    width: usize,
    cells: Vec<f64>,
    weights: Vec<f64>,
}

impl Points {
    pub fn of(table: &Table, leaves: &[Leaf], survey: &Survey) -> Points {
        let schema = table.schema();
        let columns: Vec<usize> = leaves
            .iter()
            .flat_map(|leaf| leaf.columns.iter().copied())
            .collect();
        let places = |c: usize| schema.fields[c].levels.len().clamp(1, INDICATORS);
        let width = columns.iter().map(|c| places(*c)).sum();
        let rows = table.rows() as usize;
        let mut points = Points {
            width,
            cells: vec![0.0; rows * width],
            weights: Vec::with_capacity(rows),
        };
        let mut first = 0;
        for chunk in table.chunks() {
            let mut offset = 0;
            for column in &columns {
                let cells = chunk.column(*column).cells(0, chunk.rows());
                let (mean, scale) = (
                    survey.columns[*column].mean,
                    survey.variance(*column).sqrt(),
                );
                for row in (0..chunk.rows()).filter(|row| cells.is_seen(*row)) {
                    let point = (first + row) * width + offset;
                    if schema.fields[*column].kind.is_coded() {
                        points.cells[point + cells.codes()[row] as usize % INDICATORS] = 1.0;
                    } else {
                        points.cells[point] = (cells.reals()[row] - mean) / scale;
                    }
                }
                offset += places(*column);
            }
            match chunk.weights() {
                Some(weights) => points.weights.extend_from_slice(weights),
                None => points.weights.resize(first + chunk.rows(), 1.0),
            }
            first += chunk.rows();
        }
        points
    }

    fn point(&self, row: usize) -> &[f64] {
        &self.cells[row * self.width..(row + 1) * self.width]
    }

    /// Assigns every row to one of `k` groups.
    pub fn group(&self, k: usize, init: Init, seed: u64) -> Vec<usize> {
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
                Init::KMeansPlusPlus => nearest
                    .iter()
                    .zip(&self.weights)
                    .map(|(d, w)| d * w)
                    .collect(),
                Init::Random => self.weights.clone(),
            };
        }
        let mut groups = self.assign(&centers);
        for _ in 0..ROUNDS {
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
        (0..self.weights.len())
            .map(|row| {
                let distances = centers
                    .iter()
                    .map(|center| distance(self.point(row), center));
                let best = distances
                    .enumerate()
                    .fold(
                        (0, f64::INFINITY),
                        |best, (j, d)| {
                            if d < best.1 { (j, d) } else { best }
                        },
                    );
                best.0
            })
            .collect()
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

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The statistics of rows given wholly to their groups.
pub(super) fn statistics_of_groups(
    table: &Table,
    leaves: &[Leaf],
    groups: &[usize],
    k: usize,
) -> MixtureStatistics {
    let mut statistics = MixtureStatistics::zero(leaves, k);
    let mut first = 0;
    for chunk in table.chunks() {
        let group_of = |row: usize| Some(groups[first + row]);
        observe_groups(leaves, chunk, group_of, &mut statistics);
        first += chunk.rows();
    }
    statistics
}

/// Pulls every component towards what all have in common: a few rows' worth of
/// the pooled spread about its own mean, and one row's worth of frequencies that
/// leave no level impossible: what a start rules out, EM never gets back.
pub(super) fn pull_together(statistics: &mut MixtureStatistics) {
    for leaf in &mut statistics.leaves {
        let Some(mut all) = leaf.first().cloned() else {
            continue;
        };
        leaf[1..].iter().for_each(|own| all.merge(own));
        let within = pooled_within(leaf);
        for own in leaf.iter_mut() {
            match (own, &all, &within) {
                (
                    Statistics::Multivariate(MultivariateStats::Full {
                        weight,
                        mean,
                        scatter,
                    }),
                    Statistics::Multivariate(MultivariateStats::Full {
                        weight: w,
                        mean: m,
                        scatter: s,
                    }),
                    Some(Within::Full(covariance)),
                ) if *w > 0.0 => {
                    let rows = mean.len() as f64 + 1.0;
                    if *weight <= 0.0 {
                        mean.clone_from(m);
                        scatter
                            .iter_mut()
                            .zip(s)
                            .for_each(|(a, b)| *a = b * rows / w);
                    } else {
                        scatter
                            .iter_mut()
                            .zip(covariance)
                            .for_each(|(a, b)| *a += rows * b);
                    }
                    *weight += rows;
                }
                (
                    Statistics::Multivariate(MultivariateStats::Columns { columns, .. }),
                    Statistics::Multivariate(MultivariateStats::Columns { columns: all, .. }),
                    Some(Within::Columns(variances)),
                ) => {
                    for ((own, all), variance) in columns.iter_mut().zip(all).zip(variances) {
                        pull_column(own, all, *variance);
                    }
                }
                (
                    Statistics::Gaussian(own),
                    Statistics::Gaussian(all),
                    Some(Within::Columns(variances)),
                ) => {
                    pull_column(own, all, variances[0]);
                }
                (Statistics::Categorical(own), Statistics::Categorical(all), _) => {
                    let (levels, weight) = (all.counts.len() as f64, all.weight().max(1.0));
                    for (count, pooled) in own.counts.iter_mut().zip(&all.counts) {
                        *count += 0.5 * (pooled / weight + 1.0 / levels);
                    }
                }
                (Statistics::Bernoulli(own), Statistics::Bernoulli(all), _) => {
                    let weight = all.weight().max(1.0);
                    own.failures += 0.5 * (all.failures / weight + 0.5);
                    own.successes += 0.5 * (all.successes / weight + 0.5);
                }
                (Statistics::Poisson(own), Statistics::Poisson(all), _) => {
                    own.weight += 1.0;
                    own.sum += (all.sum / all.weight.max(1.0)).max(1e-3);
                }
                (Statistics::Exponential(own), Statistics::Exponential(all), _)
                    if all.weight > 0.0 =>
                {
                    let mut share = all.clone();
                    share.scale(1.0 / all.weight);
                    own.merge(&share);
                }
                _ => {}
            }
        }
    }
}

enum Within {
    Full(Vec<f64>),
    Columns(Vec<f64>),
}

fn pull_column(own: &mut GaussianStats, all: &GaussianStats, variance: f64) {
    const ROWS: f64 = 2.0;
    if all.weight <= 0.0 {
        return;
    }
    if own.weight <= 0.0 {
        *own = all.clone();
        own.scale(ROWS / all.weight);
    } else {
        own.weight += ROWS;
        own.scatter += ROWS * variance;
    }
}

/// The covariance within components, pooled over them.
fn pooled_within(leaf: &[Statistics]) -> Option<Within> {
    let columns = |parts: Vec<&[GaussianStats]>| {
        let d = parts.first().map_or(0, |p| p.len());
        Within::Columns(
            (0..d)
                .map(|c| {
                    let weight: f64 = parts.iter().map(|p| p[c].weight).sum();
                    let scatter: f64 = parts.iter().map(|p| p[c].scatter).sum();
                    if weight > 0.0 { scatter / weight } else { 0.0 }
                })
                .collect(),
        )
    };
    match leaf.first()? {
        Statistics::Gaussian(_) => Some(columns(
            leaf.iter()
                .filter_map(|s| match s {
                    Statistics::Gaussian(s) => Some(std::slice::from_ref(s)),
                    _ => None,
                })
                .collect(),
        )),
        Statistics::Multivariate(MultivariateStats::Columns { .. }) => Some(columns(
            leaf.iter()
                .filter_map(|s| match s {
                    Statistics::Multivariate(MultivariateStats::Columns { columns, .. }) => {
                        Some(columns.as_slice())
                    }
                    _ => None,
                })
                .collect(),
        )),
        Statistics::Multivariate(MultivariateStats::Full { scatter, .. }) => {
            let mut pooled = vec![0.0; scatter.len()];
            let mut total = 0.0;
            for own in leaf {
                if let Statistics::Multivariate(MultivariateStats::Full {
                    weight, scatter, ..
                }) = own
                {
                    total += weight;
                    pooled.iter_mut().zip(scatter).for_each(|(a, b)| *a += b);
                }
            }
            if total > 0.0 {
                pooled.iter_mut().for_each(|s| *s /= total);
            }
            Some(Within::Full(pooled))
        }
        _ => None,
    }
}
