//! Columns of counts and of levels in unlabelled rows: log-densities and sums of all components
//! at once. A count x has the Poisson log-mass
//!
//!   ln p_j(x) = ln p_m(x) + x ln(λ_j/m) + m − λ_j
//!
//! with a rate m that all components share, so that counts are features of the two matrix
//! products of an EM step, as in [`tiles`]. Levels are counted by their codes.

use crate::data::Cells;
use crate::family::{Distribution, PoissonStats, Statistics, Stats as _};
use crate::kernel::by_row::ByRow;
use crate::kernel::levels::add_codes;
use crate::kernel::simd::{self, Level};
use crate::kernel::special::{ln_factorial, ln_poisson_mass, poisson_deviance};
use crate::kernel::tiles::{self, Block, Pair, Panels};
use crate::leaf::kernels::{Fast, LeafKernel};
use std::sync::LazyLock;

/// The largest rate whose natural parameters are precise.
const LARGEST_RATE: f64 = 1e5;

/// Columns prepared for many blocks.
pub(crate) struct ColumnTable {
    level: Level,
    components: usize,
    counts: Vec<CountColumn>,
    levels: Vec<LevelColumn>,
    complete: Features,
    incomplete: Features,
    /// Whether the log-densities of each leaf are computed here.
    densities: Vec<bool>,
    /// Whether the sums of each leaf are computed here.
    sums: Vec<bool>,
}

/// A leaf over counts.
struct CountColumn {
    leaf: usize,
    /// The rate that all components share.
    rate: f64,
}

/// A leaf over levels.
struct LevelColumn {
    leaf: usize,
    /// The number of levels of the columns before it.
    start: usize,
    /// The number of its levels.
    size: usize,
}

/// The features of count columns. They are computed from these columns, in order: the counts, their
/// log-masses ln p_m, indicators of observed cells unless all are observed, the sum of all ln p_m,
/// and ones.
struct Features {
    log_density: Vec<Pair>,
    panels: Panels,
    constants: Vec<f64>,
    sums: Vec<Pair>,
}

/// Buffers that are reused for all blocks.
#[derive(Default)]
pub(crate) struct ColumnBuffers {
    columns: Vec<f64>,
    stride: usize,
    rows: usize,
    complete: bool,
    tiles: tiles::Buffers,
    by_row: ByRow,
    places: Vec<(usize, usize)>,
    has_sums: bool,
    /// The sums over blocks without missing counts, and over other blocks.
    sums: [Vec<f64>; 2],
    counts: Vec<f64>,
}

impl ColumnTable {
    /// The columns of leaves that are not `fixed` and whose components are all of one family;
    /// `None` if there is none, or if some components are noise.
    pub fn new(kernels: &[LeafKernel], fixed: &[bool], weights: &[f64]) -> Option<ColumnTable> {
        let components = weights.len();
        if kernels
            .iter()
            .any(|kernel| kernel.family_components != components)
        {
            return None;
        }
        let (mut counts, mut levels, mut rates, mut start) = (vec![], vec![], vec![], 0);
        let learned = kernels.iter().enumerate().filter(|(leaf, _)| !fixed[*leaf]);
        for (leaf, kernel) in learned {
            if let Fast::Levels(logs) = &kernel.fast {
                // The last entry is for an unseen category.
                let size = logs.first()?.len() - 1;
                levels.push(LevelColumn { leaf, start, size });
                start += size;
            } else if let Some(of_leaf) = poisson_rates(kernel.distributions) {
                let total: f64 = weights.iter().sum();
                let mean = of_leaf
                    .iter()
                    .zip(weights)
                    .map(|(rate, weight)| rate * weight);
                let mean = mean.sum::<f64>() / total;
                let largest = of_leaf.iter().copied().fold(0.0, f64::max);
                let rate = if mean.is_finite() && mean > 0.0 {
                    mean
                } else {
                    largest
                };
                counts.push(CountColumn { leaf, rate });
                rates.push(of_leaf);
            }
        }
        if counts.is_empty() && levels.is_empty() {
            return None;
        }
        let (mut densities, mut sums) = (vec![false; kernels.len()], vec![false; kernels.len()]);
        for column in &counts {
            (densities[column.leaf], sums[column.leaf]) = (true, true);
        }
        levels
            .iter()
            .for_each(|column: &LevelColumn| sums[column.leaf] = true);
        let level = simd::level();
        let features = |complete| Features::new(level, &counts, &rates, components, complete);
        Some(ColumnTable {
            level,
            components,
            complete: features(true),
            incomplete: features(false),
            counts,
            levels,
            densities,
            sums,
        })
    }

    /// Whether a leaf's log-densities are added by [`add_log_density`](Self::add_log_density).
    pub fn has_density(&self, leaf: usize) -> bool {
        self.densities[leaf]
    }

    /// Whether a leaf's sums are added by [`accumulate`](Self::accumulate).
    pub fn has_sums(&self, leaf: usize) -> bool {
        self.sums[leaf]
    }

    /// Adds the log-densities of counts to `out`, component-major.
    pub fn add_log_density(
        &self,
        leaves: &[Vec<Cells>],
        rows: usize,
        buffers: &mut ColumnBuffers,
        out: &mut [f64],
    ) {
        if self.counts.is_empty() {
            return;
        }
        self.load(leaves, rows, buffers);
        let features = self.features(buffers.complete);
        let block = Block {
            columns: &buffers.columns,
            stride: buffers.stride,
            rows,
            pairs: &features.log_density,
        };
        let skip = vec![false; self.components];
        let (panels, constants) = (&features.panels, &features.constants);
        panels.add_log_density(block, constants, &skip, &mut buffers.tiles, out);
    }

    fn features(&self, complete: bool) -> &Features {
        if complete {
            &self.complete
        } else {
            &self.incomplete
        }
    }

    /// Fills the columns from which the features are computed.
    fn load(&self, leaves: &[Vec<Cells>], rows: usize, buffers: &mut ColumnBuffers) {
        let cells = |column: &CountColumn| leaves[column.leaf][0];
        let count = self.counts.len();
        buffers.complete = self.counts.iter().all(|column| cells(column).is_complete());
        buffers.rows = rows;
        buffers.stride = rows.next_multiple_of(tiles::ALIGNMENT);
        let parts = if buffers.complete { 2 } else { 3 };
        let stride = buffers.stride;
        buffers.columns.clear();
        buffers.columns.resize((parts * count + 2) * stride, 0.0);
        let (all, last) = buffers.columns.split_at_mut(parts * count * stride);
        let (base, ones) = last.split_at_mut(stride);
        ones.fill(1.0);
        let (numbers, rest) = all.split_at_mut(count * stride);
        let (masses, seen) = rest.split_at_mut(count * stride);
        for (c, column) in self.counts.iter().enumerate() {
            let cells = cells(column);
            let place = c * stride..c * stride + rows;
            let targets = numbers[place.clone()]
                .iter_mut()
                .zip(&mut masses[place.clone()]);
            let log_rate = column.rate.ln();
            for (row, ((number, mass), x)) in targets.zip(cells.reals()).enumerate() {
                if cells.is_seen(row) {
                    *number = *x;
                    *mass = log_mass(*x, column.rate, log_rate);
                    base[row] += *mass;
                    if mass.is_infinite() {
                        // Not a count, and impossible under all components: its responsibilities
                        // are 0.
                        (*number, *mass) = (0.0, 0.0);
                    }
                }
            }
            if !buffers.complete {
                let seen = seen[place].iter_mut().enumerate();
                seen.for_each(|(row, seen)| *seen = f64::from(u8::from(cells.is_seen(row))));
            }
        }
    }

    /// Adds the block whose log-densities were computed last to the sums; levels are read from
    /// `leaves`.
    pub fn accumulate(
        &self,
        leaves: &[Vec<Cells>],
        responsibilities: &[f64],
        rows: usize,
        buffers: &mut ColumnBuffers,
    ) {
        let width = tiles::padded(self.level, self.components);
        buffers.has_sums = true;
        if !self.counts.is_empty() {
            let features = self.features(buffers.complete);
            let sums = &mut buffers.sums[usize::from(!buffers.complete)];
            sums.resize(features.sums.len() * width, 0.0);
            let block = Block {
                columns: &buffers.columns,
                stride: buffers.stride,
                rows,
                pairs: &features.sums,
            };
            tiles::accumulate(
                self.level,
                block,
                responsibilities,
                &mut buffers.tiles,
                sums,
            );
        }
        if self.levels.is_empty() {
            return;
        }
        buffers.by_row.load(responsibilities, rows, width);
        let total = self.levels.last().map_or(0, |last| last.start + last.size);
        buffers.counts.resize(total * width, 0.0);
        for column in &self.levels {
            let cells = &leaves[column.leaf][0];
            let codes = cells.codes().iter().enumerate();
            let codes = codes.map(|(row, code)| cells.is_seen(row).then_some(*code));
            let sums = &mut buffers.counts[column.start * width..][..column.size * width];
            let lanes = tiles::moments_level(self.level, self.components);
            add_codes(lanes, codes, &buffers.by_row, &mut buffers.places, sums);
        }
    }

    /// Adds the sums of all blocks to the statistics of the leaves, and clears the sums.
    pub fn finish(&self, buffers: &mut ColumnBuffers, statistics: &mut [Vec<Statistics>]) {
        if !std::mem::take(&mut buffers.has_sums) {
            return;
        }
        let width = tiles::padded(self.level, self.components);
        for (c, column) in self.counts.iter().enumerate() {
            for (complete, sums) in [true, false].into_iter().zip(&buffers.sums) {
                if sums.is_empty() {
                    continue;
                }
                let feature = |f: usize, j: usize| sums[f * width + j];
                let count = self.counts.len();
                for (j, stats) in statistics[column.leaf].iter_mut().enumerate() {
                    let weight = if complete {
                        self.complete_weight(buffers, width, j)
                    } else {
                        feature(2 * count + c, j)
                    };
                    if let Statistics::Poisson(stats) = stats
                        && weight > 0.0
                    {
                        let sum = feature(c, j);
                        let deviance = poisson_deviance(sum / weight, column.rate);
                        stats.merge(&PoissonStats {
                            weight,
                            sum,
                            peak: feature(count + c, j) + weight * deviance,
                        });
                    }
                }
            }
        }
        for column in &self.levels {
            let counts = &buffers.counts[column.start * width..][..column.size * width];
            for (j, stats) in statistics[column.leaf].iter_mut().enumerate() {
                let counts = counts.iter().skip(j).step_by(width);
                match stats {
                    Statistics::Bernoulli(stats) => {
                        for (code, count) in counts.enumerate() {
                            if code == 0 {
                                stats.failures += count;
                            } else {
                                stats.successes += count;
                            }
                        }
                    }
                    Statistics::Categorical(stats) => {
                        let all = stats.counts.iter_mut().zip(counts);
                        all.for_each(|(all, count)| *all += count);
                    }
                    _ => {}
                }
            }
        }
        buffers.counts.clear();
        buffers.sums.iter_mut().for_each(Vec::clear);
    }

    /// The weight of a component in blocks without missing counts.
    fn complete_weight(&self, buffers: &ColumnBuffers, width: usize, component: usize) -> f64 {
        let features = self.complete.sums.len();
        let sums = &buffers.sums[0];
        sums[(features - 1) * width + component]
    }
}

impl Features {
    fn new(
        level: Level,
        counts: &[CountColumn],
        rates: &[Vec<f64>],
        components: usize,
        complete: bool,
    ) -> Features {
        let count = counts.len() as u32;
        let parts = if complete { 2 } else { 3 };
        let (base, ones) = (parts * count, parts * count + 1);
        // The indicators are features too: m − λ_j is added for observed cells only.
        let seen = if complete { 0..0 } else { 2 * count..3 * count };
        let log_density = (0..count).chain(seen).chain([base]).map(|c| [c, ones]);
        let log_density: Vec<Pair> = log_density.collect();
        // The sum of the last feature is the weight.
        let sums = (0..parts * count)
            .chain([ones])
            .map(|c| [c, ones])
            .collect();
        let mut natural = Vec::with_capacity(components * log_density.len());
        let mut constants = Vec::with_capacity(components);
        for j in 0..components {
            let columns = || {
                counts
                    .iter()
                    .zip(rates)
                    .map(|(column, rates)| (column.rate, rates[j]))
            };
            natural.extend(columns().map(|(shared, rate)| (rate / shared).ln()));
            let gaps = columns().map(|(shared, rate)| shared - rate);
            if complete {
                constants.push(gaps.sum());
            } else {
                natural.extend(gaps);
                constants.push(0.0);
            }
            natural.push(1.0);
        }
        Features {
            panels: Panels::new(level, &natural, log_density.len()),
            log_density,
            constants,
            sums,
        }
    }
}

/// The rates of Poisson distributions whose natural parameters are precise; `None` for other
/// distributions.
fn poisson_rates(distributions: &[Distribution]) -> Option<Vec<f64>> {
    let rate = |distribution: &Distribution| match distribution {
        Distribution::Poisson(poisson) => {
            Some(poisson.rate).filter(|rate| *rate > 0.0 && *rate <= LARGEST_RATE)
        }
        _ => None,
    };
    distributions.iter().map(rate).collect()
}

/// ln x! of small counts.
static LOG_FACTORIALS: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..1024).map(|x| ln_factorial(f64::from(x))).collect());

/// The Poisson log-mass of a count, given the rate and its logarithm.
fn log_mass(x: f64, rate: f64, log_rate: f64) -> f64 {
    match LOG_FACTORIALS.get(x as usize) {
        Some(log_factorial) if x >= 0.0 && x.fract() == 0.0 => x * log_rate - rate - log_factorial,
        _ if x >= 0.0 && x.fract() == 0.0 => ln_poisson_mass(x, rate),
        _ => f64::NEG_INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Column;
    use crate::family::{Bernoulli, Categorical, Family as _, Poisson};

    /// Five rows of counts, of two levels and of three, complete or with missing cells, under
    /// three components: the table has the log-densities and the sums of each distribution.
    #[test]
    fn densities_and_sums_are_those_of_each_distribution() {
        let poissons = [0.7, 4.0, 1100.0].map(|rate| Distribution::Poisson(Poisson { rate }));
        let bernoullis =
            [0.1, 0.5, 0.9].map(|probability| Distribution::Bernoulli(Bernoulli { probability }));
        let categoricals = [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.1, 0.8]].map(|shares| {
            Distribution::Categorical(Categorical {
                probabilities: shares.to_vec(),
            })
        });
        let families = [&poissons, &bernoullis, &categoricals];
        let weights = [0.2, 0.5, 0.3];
        let kernels = families.map(|distributions| LeafKernel {
            distributions,
            family_components: 3,
            fast: Fast::new(distributions, &[], &weights, false).unwrap(),
            unbounded: false,
        });
        let table = ColumnTable::new(&kernels, &[false; 3], &weights).unwrap();
        let r: Vec<f64> = (0..15).map(|t| 0.1 + f64::from(t % 7)).collect();
        let mut buffers = ColumnBuffers::default();
        let zero = || {
            vec![
                vec![Statistics::Poisson(Poisson::zero(&())); 3],
                vec![Statistics::Bernoulli(Bernoulli::zero(&())); 3],
                vec![Statistics::Categorical(Categorical::zero(&3)); 3],
            ]
        };
        let (mut found, mut expected) = (zero(), zero());
        for missing in [None, Some(2)] {
            let seen = |row: usize| missing != Some(row);
            let number = |(row, x): (usize, f64)| seen(row).then_some(x);
            let counts = [0.0, 3.0, 1.0, 1200.0, 7.0]
                .into_iter()
                .enumerate()
                .map(number);
            let code = |(row, code): (usize, u32)| seen(row).then_some(code);
            let codes =
                |codes: [u32; 5]| Column::from_codes(codes.into_iter().enumerate().map(code));
            let columns = [
                Column::from_numbers(counts),
                codes([0, 1, 1, 0, 1]),
                codes([2, 0, 1, 2, 2]),
            ];
            let cells: Vec<Vec<Cells>> = columns.iter().map(|c| vec![c.cells(0, 5)]).collect();
            let mut out = vec![0.0; 15];
            table.add_log_density(&cells, 5, &mut buffers, &mut out);
            let mut sum = vec![0.0; 15];
            kernels[0].add_log_density(None, &cells[0], &mut sum);
            for (out, sum) in out.iter().zip(&sum) {
                assert!((out - sum).abs() < 1e-9 * (1.0 + sum.abs()), "{out} {sum}");
            }
            table.accumulate(&cells, &r, 5, &mut buffers);
            for ((kernel, cells), stats) in kernels.iter().zip(&cells).zip(&mut expected) {
                kernel.expect(None, cells, &r, stats);
            }
        }
        table.finish(&mut buffers, &mut found);
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            let numbers = |stats: &Statistics| match stats {
                Statistics::Poisson(stats) => vec![stats.weight, stats.sum, stats.peak],
                Statistics::Bernoulli(stats) => vec![stats.failures, stats.successes],
                Statistics::Categorical(stats) => stats.counts.clone(),
                _ => Vec::new(),
            };
            let (found, expected) = (numbers(found), numbers(expected));
            assert!(!found.is_empty());
            for (a, b) in found.iter().zip(&expected) {
                assert!(
                    (a - b).abs() < 1e-9 * (1.0 + b.abs()),
                    "{found:?} {expected:?}"
                );
            }
        }
    }
}
