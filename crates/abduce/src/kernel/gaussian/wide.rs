//! The two products of an EM step for AVX-512, without storing Φ: products of columns are
//! computed where they are used, and sums stay in registers.
//!
//! Log-densities: tiles of three registers of eight rows by eight components, so that each
//! number of η is used in three fused products. Moments: tiles of twelve features by two
//! registers of eight components, summed over rows before memory is written. Both are close to
//! the peak performance (`bench/NOTES.md`); a general matrix product packs Φ twice and, with
//! many columns, has too few rows in the cache.

use crate::kernel::simd::{Level, level};
use std::arch::x86_64::{
    __m512d, _mm512_add_pd, _mm512_fmadd_pd, _mm512_loadu_pd, _mm512_mask_storeu_pd,
    _mm512_maskz_loadu_pd, _mm512_mul_pd, _mm512_set1_pd, _mm512_setzero_pd, _mm512_storeu_pd,
};
use std::ops::Range;

/// The numbers in a register.
const LANES: usize = 8;

/// The features of a tile.
const FEATURES: usize = 12;

/// The rows whose features fit the L1 cache.
const ROWS: usize = 128;

/// Whether the processor has AVX-512.
pub(super) fn is_available() -> bool {
    level() == Level::Avx512
}

/// The number of components, padded to whole registers.
pub(super) fn padded(components: usize) -> usize {
    components.next_multiple_of(LANES)
}

/// η in panels of eight components, feature by feature.
pub(super) fn panels(natural: &[f64], features: usize) -> Vec<f64> {
    let components = natural.len() / features.max(1);
    let mut panels = vec![0.0; padded(components) * features];
    for (k, component) in natural.chunks_exact(features.max(1)).enumerate() {
        let panel = &mut panels[k / LANES * LANES * features..];
        for (f, x) in component.iter().enumerate() {
            panel[f * LANES + k % LANES] = *x;
        }
    }
    panels
}

/// Adds Φ·η and the constants to `out`, component-major, except for components to `skip`.
/// `linear` has the standardised columns, each of `rows`.
///
/// # Panics
/// If the lengths of the slices do not match.
pub(super) fn add_log_density(
    linear: &[f64],
    rows: usize,
    diagonal: bool,
    panels: &[f64],
    constants: &[f64],
    skip: &[bool],
    out: &mut [f64],
) {
    let order = linear.len() / rows.max(1);
    let features = super::feature_count(order, diagonal);
    let components = constants.len();
    assert!(is_available() && linear.len() == order * rows && skip.len() == components);
    assert!(panels.len() == padded(components) * features && out.len() == components * rows);
    for (p, panel) in panels.chunks_exact(LANES * features).enumerate() {
        let first = p * LANES;
        let number = LANES.min(components - first);
        let panel = Panel {
            linear,
            rows,
            order,
            diagonal,
            panel,
            constants: &constants[first..first + number],
            skip: &skip[first..first + number],
        };
        let out = &mut out[first * rows..(first + number) * rows];
        // SAFETY: the processor has AVX-512, and the lengths were checked.
        unsafe { panel.add(out) };
    }
}

struct Panel<'a> {
    linear: &'a [f64],
    rows: usize,
    order: usize,
    diagonal: bool,
    panel: &'a [f64],
    constants: &'a [f64],
    skip: &'a [bool],
}

impl Panel<'_> {
    #[target_feature(enable = "avx512f")]
    unsafe fn add(&self, out: &mut [f64]) {
        let mut row = 0;
        // SAFETY: all rows of a tile are rows of the block; the mask excludes those of the last
        // tile that are not.
        unsafe {
            while row + 3 * LANES <= self.rows {
                self.tile::<3>(row, u8::MAX, out);
                row += 3 * LANES;
            }
            while row < self.rows {
                let left = self.rows - row;
                let mask = if left >= LANES {
                    u8::MAX
                } else {
                    (1 << left) - 1
                };
                self.tile::<1>(row, mask, out);
                row += LANES;
            }
        }
    }

    /// Adds a tile of `V` registers of rows from `row` on and eight components.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn tile<const V: usize>(&self, row: usize, mask: u8, out: &mut [f64]) {
        let x = self.linear.as_ptr();
        let mut eta = self.panel.as_ptr();
        // SAFETY: a register reads the numbers of a column that the mask allows, which are
        // within its `rows`; η has eight numbers for every feature.
        unsafe {
            let load = |c: usize| -> [__m512d; V] {
                std::array::from_fn(|v| {
                    let at = x.add(c * self.rows + row + v * LANES);
                    match mask {
                        u8::MAX => _mm512_loadu_pd(at),
                        _ => _mm512_maskz_loadu_pd(mask, at),
                    }
                })
            };
            let mut sums = [[_mm512_setzero_pd(); V]; LANES];
            for c in 0..self.order {
                add_feature(&mut sums, load(c), eta);
                eta = eta.add(LANES);
            }
            for i in 0..self.order {
                let a = load(i);
                let last = if self.diagonal { i + 1 } else { self.order };
                for j in i..last {
                    let b = load(j);
                    let product = std::array::from_fn(|v| _mm512_mul_pd(a[v], b[v]));
                    add_feature(&mut sums, product, eta);
                    eta = eta.add(LANES);
                }
            }
            for (k, sums) in sums.iter().enumerate().take(self.constants.len()) {
                if self.skip[k] {
                    continue;
                }
                let constant = _mm512_set1_pd(self.constants[k]);
                for (v, sum) in sums.iter().enumerate() {
                    let at = out.as_mut_ptr().add(k * self.rows + row + v * LANES);
                    let before = _mm512_maskz_loadu_pd(mask, at);
                    let after = _mm512_add_pd(before, _mm512_add_pd(*sum, constant));
                    _mm512_mask_storeu_pd(at, mask, after);
                }
            }
        }
    }
}

/// Adds a feature of some rows times its η for eight components.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn add_feature<const V: usize>(
    sums: &mut [[__m512d; V]; LANES],
    feature: [__m512d; V],
    eta: *const f64,
) {
    for (k, sums) in sums.iter_mut().enumerate() {
        // SAFETY: the caller has eight numbers at `eta`.
        let eta = unsafe { _mm512_set1_pd(*eta.add(k)) };
        for (sum, x) in sums.iter_mut().zip(&feature) {
            *sum = _mm512_fmadd_pd(*x, eta, *sum);
        }
    }
}

/// Adds Rᵀ·Φ to `sums`, feature by feature with padded components.
///
/// # Panics
/// If the lengths of the slices do not match.
pub(super) fn accumulate(
    linear: &[f64],
    rows: usize,
    diagonal: bool,
    responsibilities: &[f64],
    buffers: &mut Buffers,
    sums: &mut [f64],
) {
    let order = linear.len() / rows.max(1);
    let features = super::feature_count(order, diagonal);
    let components = responsibilities.len() / rows.max(1);
    let width = padded(components);
    assert!(is_available() && linear.len() == order * rows);
    assert!(responsibilities.len() == components * rows && sums.len() == features * width);
    buffers.transposed.resize(ROWS * width, 0.0);
    buffers.products.resize(ROWS * FEATURES, 0.0);
    let block = Block {
        linear,
        rows,
        order,
        diagonal,
        responsibilities,
        width,
    };
    // SAFETY: the processor has AVX-512, and the lengths were checked.
    unsafe { block.accumulate(buffers, sums) };
}

struct Block<'a> {
    linear: &'a [f64],
    rows: usize,
    order: usize,
    diagonal: bool,
    responsibilities: &'a [f64],
    width: usize,
}

impl Block<'_> {
    #[target_feature(enable = "avx512f,avx2,fma")]
    unsafe fn accumulate(&self, buffers: &mut Buffers, sums: &mut [f64]) {
        let Buffers {
            transposed,
            products,
        } = buffers;
        for first in (0..self.rows).step_by(ROWS) {
            let rows = first..self.rows.min(first + ROWS);
            let number = rows.len();
            let column = |c: usize| &self.linear[c * self.rows..][rows.clone()];
            self.transpose(rows.clone(), transposed);
            let (mut count, mut first_feature) = (0, 0);
            let last = |i: usize| if self.diagonal { i + 1 } else { self.order };
            // First the columns, then the products of each with the following ones.
            for i in 0..=self.order {
                let others = match i {
                    0 => 0..self.order,
                    _ => i - 1..last(i - 1),
                };
                for j in others {
                    let out = &mut products[count * ROWS..][..number];
                    match i {
                        0 => out.copy_from_slice(column(j)),
                        _ => {
                            let pairs = column(i - 1).iter().zip(column(j));
                            out.iter_mut()
                                .zip(pairs)
                                .for_each(|(out, (a, b))| *out = a * b);
                        }
                    }
                    count += 1;
                    if count == FEATURES || (i == self.order && j + 1 == self.order) {
                        let sums = &mut sums
                            [first_feature * self.width..(first_feature + count) * self.width];
                        // SAFETY: `transposed` has `number` rows of `width`, `products` has
                        // twelve features, and `sums` has `count` features of `width`.
                        unsafe { add_rows(transposed, products, number, self.width, count, sums) };
                        (first_feature, count) = (first_feature + count, 0);
                    }
                }
            }
        }
    }

    /// Writes responsibilities row by row, with padded components.
    #[inline]
    #[target_feature(enable = "avx512f,avx2,fma")]
    fn transpose(&self, rows: Range<usize>, to: &mut [f64]) {
        let components = self.responsibilities.len() / self.rows;
        for (k, from) in self.responsibilities.chunks_exact(self.rows).enumerate() {
            let places = to.iter_mut().skip(k).step_by(self.width);
            places.zip(&from[rows.clone()]).for_each(|(to, r)| *to = *r);
        }
        for row in to.chunks_exact_mut(self.width) {
            row[components..].fill(0.0);
        }
    }
}

/// Buffers that are reused for all blocks.
#[derive(Default)]
pub(super) struct Buffers {
    transposed: Vec<f64>,
    products: Vec<f64>,
}

/// Adds some features of rows times their responsibilities.
#[target_feature(enable = "avx512f")]
unsafe fn add_rows(
    transposed: &[f64],
    products: &[f64],
    rows: usize,
    width: usize,
    features: usize,
    sums: &mut [f64],
) {
    let mut lane = 0;
    // SAFETY: the caller ensures the lengths.
    unsafe {
        while lane + 2 * LANES <= width {
            add_rows_of::<2>(transposed, products, rows, width, lane, features, sums);
            lane += 2 * LANES;
        }
        if lane < width {
            add_rows_of::<1>(transposed, products, rows, width, lane, features, sums);
        }
    }
}

/// The same as [`add_rows`] for `V` registers of components from `lane` on.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn add_rows_of<const V: usize>(
    transposed: &[f64],
    products: &[f64],
    rows: usize,
    width: usize,
    lane: usize,
    features: usize,
    sums: &mut [f64],
) {
    let mut tile = [[_mm512_setzero_pd(); V]; FEATURES];
    // SAFETY: `transposed` has `rows` rows of `width`, `products` has twelve columns of `ROWS`
    // numbers; the sums of features beyond the last are discarded.
    unsafe {
        let (mut r, mut x) = (transposed.as_ptr().add(lane), products.as_ptr());
        for _ in 0..rows {
            let r_row: [__m512d; V] = std::array::from_fn(|v| _mm512_loadu_pd(r.add(v * LANES)));
            for (f, sums) in tile.iter_mut().enumerate() {
                let x = _mm512_set1_pd(*x.add(f * ROWS));
                for (sum, r) in sums.iter_mut().zip(&r_row) {
                    *sum = _mm512_fmadd_pd(*r, x, *sum);
                }
            }
            r = r.add(width);
            x = x.add(1);
        }
        for (f, tile) in tile.iter().enumerate().take(features) {
            for (v, added) in tile.iter().enumerate() {
                let at = sums.as_mut_ptr().add(f * width + lane + v * LANES);
                _mm512_storeu_pd(at, _mm512_add_pd(_mm512_loadu_pd(at), *added));
            }
        }
    }
}
