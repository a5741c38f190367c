//! Rows with missing cells that are completed one by one: by the conditional means of each
//! component, for its log-density and its moments.

use super::Interleaved;
use super::Pattern;
use super::lanes::{Lanes, Registers, place};
use super::moments::PatternMoments;
use crate::kernel::simd::vectorised;
use crate::kernel::vector::Vector;
use std::ops::Range;

/// The number of rows that are processed together.
const ROWS_TOGETHER: usize = 2;

/// Rows of a pattern among the loaded ones.
pub(super) struct Rows<'a> {
    pub pattern: &'a Pattern<'a>,
    /// The loaded columns, `stride` apart.
    pub columns: &'a [f64],
    pub stride: usize,
    /// The places of the observed columns among them.
    pub places: &'a [usize],
    pub rows: Range<usize>,
}

impl Rows<'_> {
    /// The components whose conditional means complete the rows.
    fn components(&self) -> &Interleaved {
        self.pattern.components
    }

    /// Fills `deviations` with the differences of `R` completed rows from the means of the components,
    /// column by column.
    #[inline(always)]
    unsafe fn complete<V: Vector, const R: usize>(
        &self,
        lanes: Lanes,
        row: usize,
        deviations: &mut Registers<V>,
    ) {
        let (components, conditionals) = (self.components(), &*self.pattern.conditionals);
        let o = conditionals.seen.len();
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            for (c, column) in conditionals.seen.iter().zip(self.places) {
                let mean: V = lanes.load(&components.mean, *c);
                let y = &self.columns[column * self.stride + row..][..R];
                deviations.set_row::<R>(*c, std::array::from_fn(|r| V::splat(y[r]).sub(mean)));
            }
            for (t, h) in conditionals.hidden.iter().enumerate() {
                let mut deviation = [V::splat(0.0); R];
                for (i, c) in conditionals.seen.iter().enumerate() {
                    let slope: V = lanes.load(&conditionals.parts.regression, t * o + i);
                    for (deviation, seen) in deviation.iter_mut().zip(deviations.row::<R>(*c)) {
                        *deviation = V::fma(slope, seen, *deviation);
                    }
                }
                deviations.set_row(*h, deviation);
            }
        }
    }
}

vectorised! {
    /// Writes the log-densities of the rows to `out`, row by row with padded components.
    pub(super) fn write_log_density(rows: &Rows, work: &mut Vec<f64>, out: &mut [f64]) = write_log_density_by
}

#[inline(always)]
unsafe fn write_log_density_by<V: Vector>(rows: &Rows, work: &mut Vec<f64>, out: &mut [f64]) {
    let width = rows.components().width;
    assert!(out.len() == rows.rows.len() * width);
    // SAFETY: the caller ensures the features; the lanes of a group are within the width.
    unsafe {
        work.resize(ROWS_TOGETHER * rows.components().order * V::LANES, 0.0);
        let mut deviations = Registers::new(work);
        for group in (0..width).step_by(V::LANES) {
            let lanes = Lanes { width, group };
            let mut row = 0;
            while row + ROWS_TOGETHER <= rows.rows.len() {
                rows.write_some::<V, ROWS_TOGETHER>(lanes, row, &mut deviations, out);
                row += ROWS_TOGETHER;
            }
            while row < rows.rows.len() {
                rows.write_some::<V, 1>(lanes, row, &mut deviations, out);
                row += 1;
            }
        }
    }
}

impl Rows<'_> {
    /// Writes the log-densities of `R` rows under the components of a register.
    #[inline(always)]
    unsafe fn write_some<V: Vector, const R: usize>(
        &self,
        lanes: Lanes,
        row: usize,
        deviations: &mut Registers<V>,
        out: &mut [f64],
    ) {
        let components = self.components();
        let d = components.order;
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            self.complete::<V, R>(lanes, self.rows.start + row, deviations);
            let mut distance = [V::splat(0.0); R];
            let mut first = 0;
            while first < d {
                // Four rows of the inverse factor at once, or the last ones alone.
                if first + 4 <= d {
                    whiten::<V, R, 4>(components, lanes, first, deviations, &mut distance);
                    first += 4;
                } else {
                    whiten::<V, R, 1>(components, lanes, first, deviations, &mut distance);
                    first += 1;
                }
            }
            let peak: V = lanes.load(&self.pattern.conditionals.peak, 0);
            for (r, distance) in distance.into_iter().enumerate() {
                lanes.store(out, row + r, V::fma(distance, V::splat(-0.5), peak));
            }
        }
    }
}

/// Adds the squares of `F` whitened coordinates from `first` on.
#[inline(always)]
unsafe fn whiten<V: Vector, const R: usize, const F: usize>(
    components: &Interleaved,
    lanes: Lanes,
    first: usize,
    deviations: &Registers<V>,
    distance: &mut [V; R],
) {
    // SAFETY: the caller ensures the features and lanes.
    unsafe {
        let mut white = [[V::splat(0.0); R]; F];
        for c in 0..first + F {
            let deviation: [V; R] = deviations.row(c);
            for (f, white) in white.iter_mut().enumerate() {
                let x: V = lanes.load(&components.inverse, (first + f) * components.order + c);
                for (white, deviation) in white.iter_mut().zip(deviation) {
                    *white = V::fma(x, deviation, *white);
                }
            }
        }
        for white in white {
            for (distance, white) in distance.iter_mut().zip(white) {
                *distance = V::fma(white, white, *distance);
            }
        }
    }
}

vectorised! {
    /// Adds the rows to moments about the means of the components, with `responsibilities` row by row.
    pub(super) fn accumulate(rows: &Rows, responsibilities: &[f64], work: &mut Vec<f64>, sums: &mut PatternMoments) = accumulate_by
}

#[inline(always)]
unsafe fn accumulate_by<V: Vector>(
    rows: &Rows,
    responsibilities: &[f64],
    work: &mut Vec<f64>,
    sums: &mut PatternMoments,
) {
    let width = rows.components().width;
    assert!(responsibilities.len() == rows.rows.len() * width);
    // SAFETY: the caller ensures the features; the lanes of a group are within the width.
    unsafe {
        work.resize(ROWS_TOGETHER * rows.components().order * V::LANES, 0.0);
        let mut deviations = Registers::new(work);
        for group in (0..width).step_by(V::LANES) {
            let lanes = Lanes { width, group };
            let mut weight = V::splat(0.0);
            for row in 0..rows.rows.len() {
                weight = weight.add(lanes.load(responsibilities, row));
            }
            lanes.add(&mut sums.weight, 0, weight);
            lanes.add(&mut sums.spread, 0, weight);
            let mut row = 0;
            while row + ROWS_TOGETHER <= rows.rows.len() {
                rows.accumulate_some::<V, ROWS_TOGETHER>(
                    lanes,
                    row,
                    &mut deviations,
                    responsibilities,
                    sums,
                );
                row += ROWS_TOGETHER;
            }
            while row < rows.rows.len() {
                rows.accumulate_some::<V, 1>(lanes, row, &mut deviations, responsibilities, sums);
                row += 1;
            }
        }
    }
}

impl Rows<'_> {
    /// Adds `R` rows to the moments about the means of the components of a register.
    #[inline(always)]
    unsafe fn accumulate_some<V: Vector, const R: usize>(
        &self,
        lanes: Lanes,
        row: usize,
        deviations: &mut Registers<V>,
        responsibilities: &[f64],
        sums: &mut PatternMoments,
    ) {
        let d = self.components().order;
        let is_zero = |r: usize| {
            let of_row = &responsibilities[(row + r) * lanes.width + lanes.group..][..V::LANES];
            of_row.iter().all(|responsibility| *responsibility == 0.0)
        };
        if (0..R).all(is_zero) {
            return;
        }
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let responsibilities: [V; R] =
                std::array::from_fn(|r| lanes.load(responsibilities, row + r));
            self.complete::<V, R>(lanes, self.rows.start + row, deviations);
            for a in 0..d {
                let deviation: [V; R] = deviations.row(a);
                let weighted: [V; R] =
                    std::array::from_fn(|r| deviation[r].mul(responsibilities[r]));
                let mut sum: V = lanes.load(&sums.about_means, a);
                for weighted in weighted {
                    sum = sum.add(weighted);
                }
                lanes.store(&mut sums.about_means, a, sum);
                let start = d + place(d, a, a);
                for b in a..d {
                    let mut sum: V = lanes.load(&sums.about_means, start + b - a);
                    for (weighted, deviation) in weighted.iter().zip(deviations.row::<R>(b)) {
                        sum = V::fma(*weighted, deviation, sum);
                    }
                    lanes.store(&mut sums.about_means, start + b - a, sum);
                }
            }
        }
    }
}
