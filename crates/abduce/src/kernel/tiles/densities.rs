//! Log-densities Φ·η of the rows of a block under all components.

use super::{ALIGNMENT, Block, Buffers, Pair};
use crate::kernel::simd::{Level, vectorised};
use crate::kernel::vector::Vector;

/// The registers of rows in a tile, on processors with 32 registers and with 16. With 16, larger
/// tiles leave too few registers for features and η, and sums would be kept in memory.
const ROW_REGISTERS: [usize; 2] = [3, 2];

/// The features of a chunk.
const CHUNK: usize = 64;

/// η in panels of components, each feature by feature.
pub(crate) struct Panels {
    level: Level,
    /// The first component of each panel and its padded number of components.
    parts: Vec<(usize, usize)>,
    numbers: Vec<f64>,
    features: usize,
}

/// The components of a full panel: as many as leave registers for features and η.
fn panel_width(level: Level) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => 8,
        _ if cfg!(target_arch = "aarch64") => 8,
        _ => 6,
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
        let count = components.div_ceil(panel_width(level));
        let mut first = 0;
        for panel in 0..count {
            let width = (components - first).div_ceil(count - panel);
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
    // SAFETY: the caller ensures the features of the vector.
    unsafe {
        if V::REGISTERS == 32 {
            add_tiles::<V, { ROW_REGISTERS[0] }>(densities, buffers, out);
        } else {
            add_tiles::<V, { ROW_REGISTERS[1] }>(densities, buffers, out);
        }
    }
}

/// Adds log-densities by tiles of `R` registers of rows.
#[inline(always)]
unsafe fn add_tiles<V: Vector, const R: usize>(
    densities: &Densities,
    buffers: &mut Buffers,
    out: &mut [f64],
) {
    let Densities { block, panels, .. } = densities;
    let tile_rows = R * V::LANES;
    for first in (0..panels.features.max(1)).step_by(CHUNK) {
        let last = panels.features.min(first + CHUNK);
        for row in (0..block.rows).step_by(tile_rows) {
            let whole = row + tile_rows <= block.rows;
            let direct = panels.parts.len() == 1;
            if !direct {
                // SAFETY: tiles are inside of columns, because their distance is a multiple of
                // the rows of a tile; the buffer has a chunk of features of one tile.
                unsafe { fill::<V, R>(block, first..last, row, &mut buffers.features) };
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
                        8 if V::REGISTERS == 32 => tile.add::<V, R, 8>(&mut buffers.sums, out),
                        7 if V::REGISTERS == 32 => tile.add::<V, R, 7>(&mut buffers.sums, out),
                        6 => tile.add::<V, R, 6>(&mut buffers.sums, out),
                        5 => tile.add::<V, R, 5>(&mut buffers.sums, out),
                        4 => tile.add::<V, R, 4>(&mut buffers.sums, out),
                        3 => tile.add::<V, R, 3>(&mut buffers.sums, out),
                        2 => tile.add::<V, R, 2>(&mut buffers.sums, out),
                        _ => tile.add::<V, R, 1>(&mut buffers.sums, out),
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
unsafe fn fill<V: Vector, const R: usize>(
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
            for v in 0..R {
                let product = V::load(a.add(v * V::LANES)).mul(V::load(b.add(v * V::LANES)));
                product.store(at.add(v * V::LANES));
            }
            at = at.add(R * V::LANES);
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
    unsafe fn add<V: Vector, const R: usize, const P: usize>(
        &mut self,
        sums: &mut [f64],
        out: &mut [f64],
    ) {
        // SAFETY: the caller ensures the lengths of features, η and sums.
        unsafe {
            let place = |k: usize| (self.component + k) * self.block.stride + self.row;
            let mut tile = [[V::splat(0.0); R]; P];
            match self.start {
                Some(constants) => {
                    for (k, tile) in tile.iter_mut().enumerate().take(self.count) {
                        *tile = [V::splat(constants[self.component + k]); R];
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
                let rows = self.features.chunks_exact(R * V::LANES);
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
                let out = &mut out[..R * V::LANES];
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
unsafe fn add_feature<V: Vector, const R: usize, const P: usize>(
    tile: &mut [[V; R]; P],
    feature: [V; R],
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
