//! The nearest centre by half squared distances in single precision, a register of centres at a
//! time, with an error bound: a row whose two smallest distances differ by more has the same
//! label as in double precision; the few others are recomputed in double precision.
//!
//! With u = 2⁻²⁴, the error of ½|x|² + ½|c|² − x·c over d products is at most
//! (d + 5) u ½(|x| + |c|)² to first order in u: two roundings of the factors, three of the
//! norms and their sum, and one for each product, or two without fused multiply-adds. This bound
//! is added at the start, so that no result is negative, and the last b bits of each result are
//! replaced by its label, a relative change of less than 2^(b−23), so that the minimum includes
//! its label.

use super::narrow::{self, Least, Narrow, ROWS};
use super::nearest::nearest;
use super::packed::Packed;
use super::vector::Nearest;
use crate::kernel::simd::{Level, level};
use std::sync::atomic::{AtomicBool, Ordering};

/// Centres in single precision, in groups of as many as a register has lanes.
#[derive(Debug)]
pub(super) struct Single {
    level: Level,
    /// The lanes of a register.
    lanes: usize,
    /// The negated coordinates, group by group.
    negated: Vec<f32>,
    half_norms: Vec<f32>,
    /// The labels of each group's centres, as bits.
    labels: Vec<f32>,
    /// The number of bits of a label.
    bits: u32,
    /// Whether single precision is given up, because it decided too few rows.
    given_up: AtomicBool,
}

impl Clone for Single {
    fn clone(&self) -> Self {
        Single {
            level: self.level,
            lanes: self.lanes,
            negated: self.negated.clone(),
            half_norms: self.half_norms.clone(),
            labels: self.labels.clone(),
            bits: self.bits,
            given_up: AtomicBool::new(self.given_up.load(Ordering::Relaxed)),
        }
    }
}

/// The most bits of a label.
const MAX_BITS: u32 = 10;

/// The range of squared norms in which single precision neither overflows nor underflows.
const NORMS: std::ops::Range<f64> = 1e-30..1e30;

/// The lanes of a register and whether its multiply-adds round once.
fn register(level: Level) -> (usize, bool) {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => (narrow::Avx512::LANES, narrow::Avx512::FUSED),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => (narrow::Avx2::LANES, narrow::Avx2::FUSED),
        Level::Baseline => (narrow::Baseline::LANES, narrow::Baseline::FUSED),
    }
}

impl Single {
    /// Packs centres, given as rows of `width` numbers; `None` if single precision cannot
    /// represent them.
    pub fn new(centres: &[f64], width: usize, largest_norm: f64) -> Option<Single> {
        if !NORMS.contains(&largest_norm) || width == 0 {
            return None;
        }
        let level = level();
        let (lanes, _) = register(level);
        let count = centres.len() / width;
        let padded = count.next_multiple_of(lanes);
        let bits = padded.next_power_of_two().trailing_zeros();
        if bits > MAX_BITS {
            return None;
        }
        let mut single = Single {
            level,
            lanes,
            labels: (0..padded as u32).map(f32::from_bits).collect(),
            bits,
            negated: vec![0.0; padded * width],
            half_norms: vec![f32::MAX; padded],
            given_up: AtomicBool::new(false),
        };
        for (j, centre) in centres.chunks_exact(width).enumerate() {
            let (group, lane) = (j / lanes, j % lanes);
            let cells = &mut single.negated[group * width * lanes..][..width * lanes];
            let cells = cells.iter_mut().skip(lane).step_by(lanes).zip(centre);
            cells.for_each(|(cell, x)| *cell = -*x as f32);
            let norm: f64 = centre.iter().map(|x| x * x).sum();
            single.half_norms[j] = (0.5 * norm) as f32;
        }
        Some(single)
    }
}

/// The same labels as [`nearest`], given the squared norms of all rows of `cells`. The scores
/// are bounds: the first is at least that of the nearest centre, the second at most that of any
/// other.
pub(crate) fn nearest_within(
    centres: &Packed,
    cells: &[f64],
    norms: &[f64],
    rows: &[u32],
    out: &mut [Nearest],
) {
    match &centres.single {
        Some(single) if !single.given_up.load(Ordering::Relaxed) => {
            nearest_by_bounds(single, centres, cells, norms, rows, out);
        }
        _ => nearest(centres, cells, rows, out),
    }
}

fn nearest_by_bounds(
    single: &Single,
    centres: &Packed,
    cells: &[f64],
    norms: &[f64],
    rows: &[u32],
    out: &mut [Nearest],
) {
    let width = centres.width();
    let (_, fused) = register(single.level);
    let largest = centres.largest_norm.sqrt();
    let roundings = if fused { 1.0 } else { 2.0 };
    let terms = (roundings * width as f64 + 5.0) * 2f64.powi(-24) * 1.05;
    // The bound on the error of a half squared distance.
    let error = |norm: f64| terms * 0.5 * (largest + norm.sqrt()).powi(2);
    let search = Search {
        single,
        width,
        cells,
        rows,
        start: &|row| {
            let norm = norms[row as usize];
            (0.5 * norm + error(norm)) as f32
        },
    };
    search_rows(single.level, &search, out);
    let label = 2f64.powi(single.bits as i32 - 23);
    let mut undecided = Vec::new();
    for ((row, found), at) in rows.iter().zip(out.iter_mut()).zip(0..) {
        let norm = norms[*row as usize];
        let (error, start) = (error(norm), 0.5 * norm + error(norm));
        let least = found.score * (1.0 + label) + error - start;
        let others = found.second * (1.0 - label) - error - start;
        if others > least && norm < NORMS.end {
            (found.score, found.second) = (least, others);
        } else {
            undecided.push((*row, at));
        }
    }
    if undecided.len() * 2 > rows.len() {
        single.given_up.store(true, Ordering::Relaxed);
    }
    let again: Vec<u32> = undecided.iter().map(|(row, _)| *row).collect();
    let mut found = vec![Nearest::NONE; again.len()];
    nearest(centres, cells, &again, &mut found);
    for ((_, at), found) in undecided.iter().zip(found) {
        out[*at] = found;
    }
}

/// The rows whose nearest centres are searched.
struct Search<'a> {
    single: &'a Single,
    width: usize,
    cells: &'a [f64],
    rows: &'a [u32],
    /// The number from which the distances of a row start.
    start: &'a dyn Fn(u32) -> f32,
}

/// Searches at a level.
fn search_rows(level: Level, search: &Search, out: &mut [Nearest]) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn avx512(search: &Search, out: &mut [Nearest]) {
        // SAFETY: this function has the features of the vector.
        unsafe { search.run::<narrow::Avx512, 4>(out) }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2(search: &Search, out: &mut [Nearest]) {
        // SAFETY: as above.
        unsafe { search.run::<narrow::Avx2, 2>(out) }
    }
    assert!(level <= crate::kernel::simd::detected());
    match level {
        // SAFETY: by the assertion, the processor has these features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(search, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(search, out) },
        // SAFETY: every processor of the architecture has the baseline.
        Level::Baseline => unsafe { search.run::<narrow::Baseline, 2>(out) },
    }
}

/// The number of rows that are prefetched.
const AHEAD: usize = 16;

impl Search<'_> {
    /// Searches with tiles of [`ROWS`] rows by `G` groups of centres.
    ///
    /// # Safety
    /// The processor must have the features of `V`. So for all functions below.
    #[inline(always)]
    unsafe fn run<V: Narrow, const G: usize>(&self, out: &mut [Nearest]) {
        assert!(self.single.lanes == V::LANES);
        let width = self.width;
        let mut tile = Tile {
            single: self.single,
            width,
            cells: vec![0.0; ROWS * width],
            starts: [0.0; ROWS],
        };
        let rows = self.rows;
        for (at, out) in (0..rows.len()).step_by(ROWS).zip(out.chunks_mut(ROWS)) {
            let tile_rows = &rows[at..rows.len().min(at + ROWS)];
            if let Some(later) = rows.get(at + AHEAD..at + AHEAD + tile_rows.len()) {
                self.prefetch(later);
            }
            let targets = tile.cells.chunks_exact_mut(width).zip(&mut tile.starts);
            for ((cells, start), row) in targets.zip(tile_rows) {
                let x = &self.cells[*row as usize * width..][..width];
                cells
                    .iter_mut()
                    .zip(x)
                    .for_each(|(cell, x)| *cell = *x as f32);
                *start = (self.start)(*row);
            }
            // The last tile may contain rows of the previous one, whose results are ignored.
            // SAFETY: the caller ensures the features; the groups have the lanes of `V`.
            let found = unsafe { tile.nearest::<V, G>() };
            out.copy_from_slice(&found[..out.len()]);
        }
    }

    /// Loads rows into the cache.
    #[inline(always)]
    fn prefetch(&self, rows: &[u32]) {
        #[cfg(target_arch = "x86_64")]
        for row in rows {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for cell in self.cells[*row as usize * self.width..][..self.width]
                .iter()
                .step_by(8)
            {
                // SAFETY: every processor of the architecture has the instruction.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(cell).cast()) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = rows;
    }
}

/// Some rows in single precision and all centres.
struct Tile<'a> {
    single: &'a Single,
    width: usize,
    cells: Vec<f32>,
    starts: [f32; ROWS],
}

impl Tile<'_> {
    #[inline(always)]
    unsafe fn nearest<V: Narrow, const G: usize>(&self) -> [Nearest; ROWS] {
        // SAFETY: the caller ensures the features and the lanes.
        unsafe {
            let far = V::splat(f32::MAX);
            let mut least = [Least {
                best: far,
                second: far,
            }; ROWS];
            let groups = self.single.half_norms.len() / V::LANES;
            let whole = groups / G * G;
            for first in (0..whole).step_by(G) {
                self.update::<V, G>(first, &mut least);
            }
            for group in whole..groups {
                self.update::<V, 1>(group, &mut least);
            }
            V::across(least).map(|(best, second)| Nearest {
                label: best.to_bits() & !(u32::MAX << self.single.bits),
                score: f64::from(best),
                second: f64::from(second),
            })
        }
    }

    /// Updates the least by some groups of centres.
    #[inline(always)]
    unsafe fn update<V: Narrow, const G: usize>(&self, first: usize, least: &mut [Least<V>; ROWS]) {
        let (single, width) = (self.single, self.width);
        let group = width * V::LANES;
        let negated = &single.negated[first * group..(first + G) * group];
        let norms = &single.half_norms[first * V::LANES..][..G * V::LANES];
        let labels = &single.labels[first * V::LANES..][..G * V::LANES];
        let cells = &self.cells[..ROWS * width];
        // SAFETY: the caller ensures the features; all loads are inside of these slices.
        unsafe {
            let mut halves = [[V::splat(0.0); ROWS]; G];
            for (g, halves) in halves.iter_mut().enumerate() {
                let norms = V::load(norms.as_ptr().add(g * V::LANES));
                for (half, start) in halves.iter_mut().zip(&self.starts) {
                    *half = norms.add(V::splat(*start));
                }
            }
            for c in 0..width {
                let mut x = [V::splat(0.0); ROWS];
                for (r, x) in x.iter_mut().enumerate() {
                    *x = V::splat(*cells.get_unchecked(r * width + c));
                }
                for (g, halves) in halves.iter_mut().enumerate() {
                    let lanes = V::load(negated.as_ptr().add(g * group + c * V::LANES));
                    for (half, x) in halves.iter_mut().zip(&x) {
                        *half = V::fma(*x, lanes, *half);
                    }
                }
            }
            let kept = V::splat(f32::from_bits(u32::MAX << single.bits));
            for (g, halves) in halves.iter().enumerate() {
                let labels = V::load(labels.as_ptr().add(g * V::LANES));
                for (half, least) in halves.iter().zip(least.iter_mut()) {
                    least.take(half.labelled(kept, labels));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_double_precision_and_scores_are_bounds() {
        let numbers = |count: usize, seed: f64| -> Vec<f64> {
            (0..count).map(|i| (i as f64 * seed).sin()).collect()
        };
        for (width, k, offset) in [
            (1, 1, 0.0),
            (3, 7, 0.0),
            (5, 16, 1e3),
            (32, 64, 0.0),
            (17, 85, 1e7),
            (2, 33, 1e-3),
        ] {
            let rows: Vec<u32> = (0..301).rev().collect();
            let place = |x: &f64| x + offset;
            let cells: Vec<f64> = numbers(301 * width, 0.7).iter().map(place).collect();
            let mut centres: Vec<f64> = numbers(k * width, 1.3).iter().map(place).collect();
            // Rows on centres, and between two that differ in the last digits.
            centres[..width].copy_from_slice(&cells[..width]);
            if k > 2 {
                let twin: Vec<f64> = centres[..width].iter().map(|x| x * (1.0 + 1e-15)).collect();
                centres[2 * width..3 * width].copy_from_slice(&twin);
            }
            let packed = Packed::new(&centres, width);
            let norm = |x: &[f64]| x.iter().map(|x| x * x).sum();
            let norms: Vec<f64> = cells.chunks_exact(width).map(norm).collect();
            let mut exact = vec![Nearest::NONE; rows.len()];
            nearest(&packed, &cells, &rows, &mut exact);
            let mut found = exact.clone();
            nearest_within(&packed, &cells, &norms, &rows, &mut found);
            for (found, exact) in found.iter().zip(&exact) {
                assert_eq!(found.label, exact.label);
                assert!(found.score >= exact.score && found.second <= exact.second);
            }
        }
    }
}
