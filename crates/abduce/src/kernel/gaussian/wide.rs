//! The two products of an EM step for chips with AVX-512, without storing Φ: products of
//! columns are made where they are used, and sums stay in registers.
//!
//! Log-densities: eight rows to a register, three registers of rows by eight components,
//! so that each number of η serves three fused products. Moments: eight components to a
//! register, twelve features by two registers, whose rows are summed before memory is
//! touched. Both come near the chip's peak (`bench/NOTES.md`); a general matrix product
//! packs Φ twice and, with many columns, leaves too few rows in cache.

use crate::kernel::simd::{Level, level};
use std::arch::x86_64::{
    __m512d, _mm512_add_pd, _mm512_fmadd_pd, _mm512_loadu_pd, _mm512_mask_storeu_pd,
    _mm512_maskz_loadu_pd, _mm512_mul_pd, _mm512_set1_pd, _mm512_setzero_pd, _mm512_storeu_pd,
};
use std::ops::Range;

/// Numbers in a register.
const LANES: usize = 8;

/// Features whose sums are in registers at once.
const FEATURES: usize = 12;

/// Rows whose features are in the first-level cache at once.
const ROWS: usize = 128;

/// Whether the chip can.
pub(super) fn is_there() -> bool {
    level() == Level::Avx512
}

/// The number of components with those that fill the last register.
pub(super) fn padded(components: usize) -> usize {
    components.next_multiple_of(LANES)
}

/// η in panels of eight components: feature after feature, eight numbers each.
pub(super) fn panels(natural: &[f64], features: usize) -> Vec<f64> {
    let components = natural.len() / features.max(1);
    let mut panels = vec![0.0; padded(components) * features];
    for (k, own) in natural.chunks_exact(features.max(1)).enumerate() {
        let panel = &mut panels[k / LANES * LANES * features..];
        for (f, x) in own.iter().enumerate() {
            panel[f * LANES + k % LANES] = *x;
        }
    }
    panels
}

/// Adds Φ·η and the constants to `out`, component-major, but for components to `skip`.
/// `linear` are the standardised columns, each of `rows`.
///
/// # Panics
/// If the slices do not fit each other.
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
    assert!(is_there() && linear.len() == order * rows && skip.len() == components);
    assert!(panels.len() == padded(components) * features && out.len() == components * rows);
    for (p, panel) in panels.chunks_exact(LANES * features).enumerate() {
        let first = p * LANES;
        let number = LANES.min(components - first);
        let own = Panel {
            linear,
            rows,
            order,
            diagonal,
            panel,
            constants: &constants[first..first + number],
            skip: &skip[first..first + number],
        };
        let out = &mut out[first * rows..(first + number) * rows];
        // SAFETY: the chip has AVX-512, and the lengths were checked.
        unsafe { own.add(out) };
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
        // SAFETY: all rows of a tile are rows of the block; of the last, the mask says
        // which are.
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

    /// `V` registers of rows from `row` on, by eight components.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn tile<const V: usize>(&self, row: usize, mask: u8, out: &mut [f64]) {
        let x = self.linear.as_ptr();
        let mut eta = self.panel.as_ptr();
        // SAFETY: a column has `rows` numbers, of which a register reads those that the
        // mask allows; η has eight numbers for every feature.
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
                    let own = _mm512_maskz_loadu_pd(mask, at);
                    let own = _mm512_add_pd(own, _mm512_add_pd(*sum, constant));
                    _mm512_mask_storeu_pd(at, mask, own);
                }
            }
        }
    }
}

/// Adds a feature of some rows times its η of eight components.
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

/// Adds Rᵀ·Φ to `sums`, which has the padded components of each feature side by side.
///
/// # Panics
/// If the slices do not fit each other.
pub(super) fn accumulate(
    linear: &[f64],
    rows: usize,
    diagonal: bool,
    responsibilities: &[f64],
    room: &mut Room,
    sums: &mut [f64],
) {
    let order = linear.len() / rows.max(1);
    let features = super::feature_count(order, diagonal);
    let components = responsibilities.len() / rows.max(1);
    let width = padded(components);
    assert!(is_there() && linear.len() == order * rows);
    assert!(responsibilities.len() == components * rows && sums.len() == features * width);
    room.turned.resize(ROWS * width, 0.0);
    room.products.resize(ROWS * FEATURES, 0.0);
    let block = Block {
        linear,
        rows,
        order,
        diagonal,
        responsibilities,
        width,
    };
    // SAFETY: the chip has AVX-512, and the lengths were checked.
    unsafe { block.accumulate(room, sums) };
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
    unsafe fn accumulate(&self, room: &mut Room, sums: &mut [f64]) {
        let Room { turned, products } = room;
        for first in (0..self.rows).step_by(ROWS) {
            let rows = first..self.rows.min(first + ROWS);
            let number = rows.len();
            let column = |c: usize| &self.linear[c * self.rows..][rows.clone()];
            self.turn(rows.clone(), turned);
            let (mut held, mut begun) = (0, 0);
            let last = |i: usize| if self.diagonal { i + 1 } else { self.order };
            // The columns themselves come first, then the products of each with those
            // after it.
            for i in 0..=self.order {
                let others = match i {
                    0 => 0..self.order,
                    _ => i - 1..last(i - 1),
                };
                for j in others {
                    let out = &mut products[held * ROWS..][..number];
                    match i {
                        0 => out.copy_from_slice(column(j)),
                        _ => {
                            let pairs = column(i - 1).iter().zip(column(j));
                            out.iter_mut()
                                .zip(pairs)
                                .for_each(|(out, (a, b))| *out = a * b);
                        }
                    }
                    held += 1;
                    if held == FEATURES || (i == self.order && j + 1 == self.order) {
                        let sums = &mut sums[begun * self.width..(begun + held) * self.width];
                        // SAFETY: `turned` has as many rows of `width`, `products` of
                        // twelve features, and `sums` `width` for each of those held.
                        unsafe { add_rows(turned, products, number, self.width, held, sums) };
                        (begun, held) = (begun + held, 0);
                    }
                }
            }
        }
    }

    /// Responsibilities with the components of each row side by side.
    #[inline]
    #[target_feature(enable = "avx512f,avx2,fma")]
    fn turn(&self, rows: Range<usize>, to: &mut [f64]) {
        let components = self.responsibilities.len() / self.rows;
        for (k, own) in self.responsibilities.chunks_exact(self.rows).enumerate() {
            let places = to.iter_mut().skip(k).step_by(self.width);
            places.zip(&own[rows.clone()]).for_each(|(to, r)| *to = *r);
        }
        for row in to.chunks_exact_mut(self.width) {
            row[components..].fill(0.0);
        }
    }
}

/// Room to work in, used again from block to block.
#[derive(Default)]
pub(super) struct Room {
    turned: Vec<f64>,
    products: Vec<f64>,
}

/// Adds the features of rows times their responsibilities.
#[target_feature(enable = "avx512f")]
unsafe fn add_rows(
    turned: &[f64],
    products: &[f64],
    rows: usize,
    width: usize,
    features: usize,
    sums: &mut [f64],
) {
    let mut lane = 0;
    // SAFETY: as the caller says.
    unsafe {
        while lane + 2 * LANES <= width {
            add_rows_of::<2>(turned, products, rows, width, lane, features, sums);
            lane += 2 * LANES;
        }
        if lane < width {
            add_rows_of::<1>(turned, products, rows, width, lane, features, sums);
        }
    }
}

/// The same for `V` registers of components from `lane` on.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn add_rows_of<const V: usize>(
    turned: &[f64],
    products: &[f64],
    rows: usize,
    width: usize,
    lane: usize,
    features: usize,
    sums: &mut [f64],
) {
    let mut tile = [[_mm512_setzero_pd(); V]; FEATURES];
    // SAFETY: `turned` has `rows` rows of `width`, `products` twelve columns of `ROWS`
    // numbers; features beyond the last are summed too, but not kept.
    unsafe {
        let (mut r, mut x) = (turned.as_ptr().add(lane), products.as_ptr());
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
            for (v, own) in tile.iter().enumerate() {
                let at = sums.as_mut_ptr().add(f * width + lane + v * LANES);
                _mm512_storeu_pd(at, _mm512_add_pd(_mm512_loadu_pd(at), *own));
            }
        }
    }
}
