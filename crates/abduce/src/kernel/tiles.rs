//! The two matrix products of an EM step, without storing Φ. A feature is the product of two
//! columns of a block, of which the last is all ones; η are the natural parameters of the
//! components. Written once for all vector widths:
//!
//! - Log-densities Φ·η: tiles of three registers of rows by a panel of components. The features
//!   of a tile are computed once, in chunks that stay in the L1 cache, and used by all panels.
//! - Moments Rᵀ·Φ: tiles of features by two registers of components, summed over rows before
//!   memory is written.
//!
//! Both are close to the peak performance (`bench/NOTES.md`); a general matrix product packs Φ
//! twice and, with many columns, has too few rows in the cache.

use crate::kernel::simd::{Level, vectorised};
use crate::kernel::vector::Vector;

/// The registers of rows in a tile of log-densities.
const ROW_REGISTERS: usize = 3;

/// The features of a chunk of log-densities.
const CHUNK: usize = 64;

/// The features whose moments are summed together.
const FEATURES: usize = 12;

/// The rows over which moments are summed in registers; their features fit the L1 cache.
const ROWS: usize = 128;

/// The distance of columns in a block is a multiple of this, so that tiles of every level read
/// inside of them.
pub(crate) const ALIGNMENT: usize = ROW_REGISTERS * 8;

/// The two columns of which a feature is the product.
pub(crate) type Pair = [u32; 2];

/// The columns of a block of rows and the features made of them.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The columns, `stride` apart.
    pub columns: &'a [f64],
    pub stride: usize,
    pub rows: usize,
    pub pairs: &'a [Pair],
}

impl Block<'_> {
    /// Checks what the tiles rely on when they read columns.
    fn check(&self) {
        let count = self.columns.len() / self.stride.max(1);
        assert!(self.rows <= self.stride && self.stride.is_multiple_of(ALIGNMENT));
        let known = |pair: &Pair| pair.iter().all(|column| (*column as usize) < count);
        assert!(self.pairs.iter().all(known));
    }

    /// The number at a row of a column.
    #[inline(always)]
    unsafe fn at(&self, column: u32, row: usize) -> *const f64 {
        // SAFETY: the caller ensures that the column and the row are of the block.
        unsafe {
            self.columns
                .as_ptr()
                .add(column as usize * self.stride + row)
        }
    }
}

/// η in panels of components, each feature by feature.
pub(crate) struct Panels {
    level: Level,
    /// The first component of each panel and its padded number of components.
    parts: Vec<(usize, usize)>,
    numbers: Vec<f64>,
    features: usize,
}

/// Buffers that are reused for all blocks.
#[derive(Default)]
pub(crate) struct Buffers {
    features: Vec<f64>,
    sums: Vec<f64>,
    transposed: Vec<f64>,
}

/// The components of a full panel: as many as leave registers for features and η.
fn panel_width(level: Level) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => 8,
        _ if cfg!(target_arch = "aarch64") => 8,
        _ => 4,
    }
}

impl Panels {
    /// Arranges η, given component by component.
    pub fn new(level: Level, natural: &[f64], features: usize) -> Panels {
        let components = natural.len() / features.max(1);
        let mut panels = Panels {
            level,
            parts: Vec::new(),
            numbers: Vec::new(),
            features,
        };
        let mut first = 0;
        while first < components {
            let left = components - first;
            let width = left.next_power_of_two().min(panel_width(level));
            panels.parts.push((first, width));
            for f in 0..features {
                let number = |k: usize| natural.get((first + k) * features + f).copied();
                panels
                    .numbers
                    .extend((0..width).map(|k| number(k).unwrap_or(0.0)));
            }
            first += width;
        }
        panels
    }

    /// The same for η in groups of `lanes` components, the last one padded.
    pub fn of_groups(level: Level, lanes: usize, numbers: Vec<f64>, features: usize) -> Panels {
        let groups = numbers.len() / (lanes * features).max(1);
        Panels {
            level,
            parts: (0..groups).map(|group| (group * lanes, lanes)).collect(),
            numbers,
            features,
        }
    }

    /// How many numbers they have.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds Φ·η and the `constants` to `out`, component-major, except for components to `skip`.
    ///
    /// # Panics
    /// If the lengths of the slices do not match.
    pub fn add_log_density(
        &self,
        block: Block,
        constants: &[f64],
        skip: &[bool],
        buffers: &mut Buffers,
        out: &mut [f64],
    ) {
        block.check();
        assert!(block.pairs.len() == self.features && skip.len() == constants.len());
        assert!(out.len() == constants.len() * block.rows);
        let padded = self.parts.last().map_or(0, |(first, width)| first + width);
        assert!(padded >= constants.len() && self.numbers.len() == padded * self.features);
        buffers.features.resize(CHUNK * ALIGNMENT, 0.0);
        if block.pairs.len() > CHUNK || !block.rows.is_multiple_of(ALIGNMENT) {
            buffers.sums.resize(padded * block.stride, 0.0);
        }
        let densities = Densities {
            block,
            panels: self,
            constants,
            skip,
        };
        add_log_density(self.level, &densities, buffers, out);
    }
}

/// What log-densities are computed from.
struct Densities<'a> {
    block: Block<'a>,
    panels: &'a Panels,
    constants: &'a [f64],
    skip: &'a [bool],
}

vectorised! {
    fn add_log_density(densities: &Densities, buffers: &mut Buffers, out: &mut [f64]) = add_log_density_by
}

/// # Safety
/// The processor must have the features of `V`. So for all functions below.
#[inline(always)]
unsafe fn add_log_density_by<V: Vector>(
    densities: &Densities,
    buffers: &mut Buffers,
    out: &mut [f64],
) {
    let Densities { block, panels, .. } = densities;
    let tile_rows = ROW_REGISTERS * V::LANES;
    for first in (0..panels.features.max(1)).step_by(CHUNK) {
        let last = panels.features.min(first + CHUNK);
        for row in (0..block.rows).step_by(tile_rows) {
            let whole = row + tile_rows <= block.rows;
            let direct = panels.parts.len() == 1;
            if !direct {
                // SAFETY: tiles are inside of columns, because their distance is a multiple of
                // the rows of a tile; the buffer has a chunk of features of one tile.
                unsafe { fill::<V>(block, first..last, row, &mut buffers.features) };
            }
            let mut numbers = 0;
            for &(component, width) in &panels.parts {
                let count = width.min(densities.constants.len() - component);
                let mut tile = Tile {
                    block,
                    pairs: &block.pairs[first..last],
                    features: &buffers.features[..(last - first) * tile_rows],
                    direct,
                    natural: &panels.numbers[numbers + first * width..numbers + last * width],
                    component,
                    count,
                    row,
                    start: (first == 0).then_some(densities.constants),
                    finish: (whole && last == panels.features).then_some(densities.skip),
                };
                numbers += panels.features * width;
                if densities.skip[component..component + count]
                    .iter()
                    .all(|s| *s)
                {
                    continue;
                }
                // SAFETY: the features and η of the chunk are those of the tile; `sums` has
                // a column for every padded component unless it is not used.
                unsafe {
                    match width {
                        8 if V::REGISTERS == 32 => tile.add::<V, 8>(&mut buffers.sums, out),
                        4 => tile.add::<V, 4>(&mut buffers.sums, out),
                        2 => tile.add::<V, 2>(&mut buffers.sums, out),
                        _ => tile.add::<V, 1>(&mut buffers.sums, out),
                    }
                }
            }
        }
    }
    // The rows of the last tile if it is not whole.
    let kept = block.rows / tile_rows * tile_rows;
    if kept == block.rows {
        return;
    }
    for (k, out) in out.chunks_exact_mut(block.rows).enumerate() {
        if !densities.skip[k] {
            let sums = &buffers.sums[k * block.stride..][kept..block.rows];
            out[kept..]
                .iter_mut()
                .zip(sums)
                .for_each(|(l, sum)| *l += sum);
        }
    }
}

/// Computes some features of a tile of rows.
#[inline(always)]
unsafe fn fill<V: Vector>(
    block: &Block,
    features: std::ops::Range<usize>,
    row: usize,
    out: &mut [f64],
) {
    let mut at = out.as_mut_ptr();
    for [a, b] in &block.pairs[features] {
        // SAFETY: the caller ensures that the tile is inside of columns and `out`.
        unsafe {
            let (a, b) = (block.at(*a, row), block.at(*b, row));
            for v in 0..ROW_REGISTERS {
                let product = V::load(a.add(v * V::LANES)).mul(V::load(b.add(v * V::LANES)));
                product.store(at.add(v * V::LANES));
            }
            at = at.add(ROW_REGISTERS * V::LANES);
        }
    }
}

/// A chunk of features of a tile of rows, and the η of a panel for them.
struct Tile<'a> {
    block: &'a Block<'a>,
    pairs: &'a [Pair],
    features: &'a [f64],
    /// Whether features are computed here, as no other panel needs them.
    direct: bool,
    natural: &'a [f64],
    component: usize,
    /// The components of the panel that exist.
    count: usize,
    row: usize,
    /// The constants to start from, at the first chunk.
    start: Option<&'a [f64]>,
    /// Which components to leave out of the results, at the last chunk.
    finish: Option<&'a [bool]>,
}

impl Tile<'_> {
    /// Adds the chunk to the sums, or to `out` if it is the last.
    #[inline(always)]
    unsafe fn add<V: Vector, const P: usize>(&mut self, sums: &mut [f64], out: &mut [f64]) {
        // SAFETY: the caller ensures the lengths of features, η and sums.
        unsafe {
            let place = |k: usize| (self.component + k) * self.block.stride + self.row;
            let mut tile = [[V::splat(0.0); ROW_REGISTERS]; P];
            match self.start {
                Some(constants) => {
                    for (k, tile) in tile.iter_mut().enumerate().take(self.count) {
                        *tile = [V::splat(constants[self.component + k]); ROW_REGISTERS];
                    }
                }
                None => {
                    for (k, tile) in tile.iter_mut().enumerate() {
                        for (v, sum) in tile.iter_mut().enumerate() {
                            *sum = V::load(sums.as_ptr().add(place(k) + v * V::LANES));
                        }
                    }
                }
            }
            if self.direct {
                for ([a, b], eta) in self.pairs.iter().zip(self.natural.as_chunks::<P>().0) {
                    let (a, b) = (self.block.at(*a, self.row), self.block.at(*b, self.row));
                    let products = std::array::from_fn(|v| {
                        V::load(a.add(v * V::LANES)).mul(V::load(b.add(v * V::LANES)))
                    });
                    add_feature(&mut tile, products, eta);
                }
            } else {
                let rows = self.features.chunks_exact(ROW_REGISTERS * V::LANES);
                for (row, eta) in rows.zip(self.natural.as_chunks::<P>().0) {
                    let row = std::array::from_fn(|v| V::load(row.as_ptr().add(v * V::LANES)));
                    add_feature(&mut tile, row, eta);
                }
            }
            let Some(skip) = self.finish else {
                for (k, tile) in tile.iter().enumerate() {
                    for (v, sum) in tile.iter().enumerate() {
                        sum.store(sums.as_mut_ptr().add(place(k) + v * V::LANES));
                    }
                }
                return;
            };
            for (k, tile) in tile.iter().enumerate().take(self.count) {
                if skip[self.component + k] {
                    continue;
                }
                let out = &mut out[(self.component + k) * self.block.rows + self.row..];
                let out = &mut out[..ROW_REGISTERS * V::LANES];
                for (v, sum) in tile.iter().enumerate() {
                    let at = out.as_mut_ptr().add(v * V::LANES);
                    V::load(at).add(*sum).store(at);
                }
            }
        }
    }
}

/// Adds a feature of a tile of rows times its η for the components of a panel.
#[inline(always)]
unsafe fn add_feature<V: Vector, const P: usize>(
    tile: &mut [[V; ROW_REGISTERS]; P],
    feature: [V; ROW_REGISTERS],
    natural: &[f64; P],
) {
    for (sums, eta) in tile.iter_mut().zip(natural) {
        // SAFETY: the caller ensures the features.
        unsafe {
            let eta = V::splat(*eta);
            for (sum, x) in sums.iter_mut().zip(&feature) {
                *sum = V::fma(*x, eta, *sum);
            }
        }
    }
}

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

/// The numbers in a register.
pub(crate) fn lanes(level: Level) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => 8,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => 4,
        Level::Baseline => 2,
    }
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
