//! Moments Rᵀ·Φ of the rows of a block for all components.

use super::{Block, Buffers, lanes};
use crate::kernel::simd::{Level, vectorised};
use crate::kernel::vector::Vector;

/// The features whose moments are summed together.
const FEATURES: usize = 12;

/// The rows over which moments are summed in registers; their features fit the L1 cache.
const ROWS: usize = 128;

/// The level at which moments of so many components are summed: few do not fill wide registers.
pub(crate) fn moments_level(level: Level, components: usize) -> Level {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if components <= 4 => Level::Avx2,
        other => {
            let _ = components;
            other
        }
    }
}

/// The number of components in sums of moments, padded to whole registers.
pub(crate) fn padded(level: Level, components: usize) -> usize {
    components.next_multiple_of(lanes(moments_level(level, components)))
}

/// Adds Rᵀ·Φ to `sums`, feature by feature with padded components.
///
/// # Panics
/// If the lengths of the slices do not match.
pub(crate) fn accumulate(
    level: Level,
    block: Block,
    responsibilities: &[f64],
    buffers: &mut Buffers,
    sums: &mut [f64],
) {
    let components = responsibilities.len() / block.rows.max(1);
    let width = padded(level, components);
    block.check();
    assert!(responsibilities.len() == components * block.rows);
    assert!(sums.len() == block.pairs.len() * width);
    buffers.transposed.resize(ROWS * width, 0.0);
    let features = &mut buffers.features;
    features.resize(features.len().max(ROWS * FEATURES), 0.0);
    let task = Sums {
        block,
        responsibilities,
        components,
        width,
    };
    accumulate_block(moments_level(level, components), &task, buffers, sums);
}

/// What moments are summed over.
struct Sums<'a> {
    block: Block<'a>,
    responsibilities: &'a [f64],
    components: usize,
    width: usize,
}

vectorised! {
    fn accumulate_block(task: &Sums, buffers: &mut Buffers, sums: &mut [f64]) = accumulate_block_by
}

#[inline(always)]
unsafe fn accumulate_block_by<V: Vector>(task: &Sums, buffers: &mut Buffers, sums: &mut [f64]) {
    let Sums { block, width, .. } = task;
    let Buffers {
        transposed,
        features,
        ..
    } = buffers;
    for first in (0..block.rows).step_by(ROWS) {
        let rows = first..block.rows.min(first + ROWS);
        task.transpose(rows.clone(), transposed);
        let tiles = block.pairs.chunks(FEATURES);
        for (pairs, sums) in tiles.zip(sums.chunks_mut(FEATURES * width)) {
            for (out, [a, b]) in features.chunks_exact_mut(ROWS).zip(pairs) {
                let column = |c: u32| &block.columns[c as usize * block.stride..][rows.clone()];
                let cells = column(*a).iter().zip(column(*b));
                out.iter_mut()
                    .zip(cells)
                    .for_each(|(out, (a, b))| *out = a * b);
            }
            let mut tile = MomentTile {
                transposed,
                features,
                rows: rows.len(),
                width: *width,
                count: pairs.len(),
            };
            // SAFETY: `transposed` has the rows of the tile with `width` numbers, `features`
            // has `FEATURES` columns of `ROWS` numbers, `sums` has `count` rows of `width`.
            unsafe { tile.add::<V>(sums) };
        }
    }
}

impl Sums<'_> {
    /// Writes responsibilities row by row, with padded components.
    #[inline(always)]
    fn transpose(&self, rows: std::ops::Range<usize>, to: &mut [f64]) {
        let from = self.responsibilities.chunks_exact(self.block.rows);
        for (k, from) in from.enumerate() {
            let places = to.iter_mut().skip(k).step_by(self.width);
            places.zip(&from[rows.clone()]).for_each(|(to, r)| *to = *r);
        }
        if self.components < self.width {
            for row in to.chunks_exact_mut(self.width) {
                row[self.components..].fill(0.0);
            }
        }
    }
}

/// Some features of some rows, and the responsibilities of these rows.
struct MomentTile<'a> {
    transposed: &'a [f64],
    features: &'a [f64],
    rows: usize,
    width: usize,
    /// The features that exist.
    count: usize,
}

impl MomentTile<'_> {
    #[inline(always)]
    unsafe fn add<V: Vector>(&mut self, sums: &mut [f64]) {
        let mut lane = 0;
        // SAFETY: the caller ensures the lengths.
        unsafe {
            while lane + 2 * V::LANES <= self.width {
                if V::REGISTERS == 32 {
                    self.add_features::<V, FEATURES, 2>(0, lane, sums);
                } else {
                    self.add_features::<V, { FEATURES / 2 }, 2>(0, lane, sums);
                    self.add_features::<V, { FEATURES / 2 }, 2>(FEATURES / 2, lane, sums);
                }
                lane += 2 * V::LANES;
            }
            if lane < self.width {
                self.add_features::<V, FEATURES, 1>(0, lane, sums);
            }
        }
    }

    /// Sums `F` features from `first` on for `W` registers of components from `lane` on.
    #[inline(always)]
    unsafe fn add_features<V: Vector, const F: usize, const W: usize>(
        &self,
        first: usize,
        lane: usize,
        sums: &mut [f64],
    ) {
        if first >= self.count {
            return;
        }
        // SAFETY: the caller ensures the lengths; the sums of features beyond the last are
        // discarded.
        unsafe {
            let mut tile = [[V::splat(0.0); W]; F];
            let mut r = self.transposed.as_ptr().add(lane);
            let mut x = self.features.as_ptr().add(first * ROWS);
            for _ in 0..self.rows {
                let row: [V; W] = std::array::from_fn(|v| V::load(r.add(v * V::LANES)));
                for (f, sums) in tile.iter_mut().enumerate() {
                    let x = V::splat(*x.add(f * ROWS));
                    for (sum, r) in sums.iter_mut().zip(&row) {
                        *sum = V::fma(*r, x, *sum);
                    }
                }
                r = r.add(self.width);
                x = x.add(1);
            }
            for (f, tile) in tile.iter().enumerate().take(self.count - first) {
                for (v, added) in tile.iter().enumerate() {
                    let place = (first + f) * self.width + lane + v * V::LANES;
                    let at = sums.as_mut_ptr().add(place);
                    V::load(at).add(*added).store(at);
                }
            }
        }
    }
}
