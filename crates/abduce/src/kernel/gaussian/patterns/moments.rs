//! The moments of rows with missing cells, over all patterns, and how the sums over the observed
//! columns of a pattern are extended to its hidden ones.

use super::super::{CentredMoments, GaussianKernel};
use super::conditionals::{Conditionals, Parts};
use super::lanes::{Lanes, place};
use super::{Interleaved, Pattern};
use crate::kernel::simd::vectorised;
use crate::kernel::vector::Vector;
use std::ops::Range;

/// The moments of completed rows in standardised coordinates, about the means of the components
/// and about the common origin. Several patterns add to the same sums.
pub(crate) struct PatternMoments {
    pub(super) weight: Vec<f64>,
    pub(super) about_means: Vec<f64>,
    pub(super) origin_weight: Vec<f64>,
    pub(super) about_origin: Vec<f64>,
    /// The sums over observed columns of the pattern in use.
    pub(super) seen_sums: Vec<f64>,
    pub(super) seen_weight: Vec<f64>,
    /// The weight of the conditional covariance of the pattern in use, for both ways of processing
    /// rows.
    pub(super) spread: Vec<f64>,
}

impl PatternMoments {
    pub(super) fn new(components: &Interleaved) -> Self {
        let (d, width) = (components.order, components.width);
        let features = d + d * (d + 1) / 2;
        PatternMoments {
            weight: vec![0.0; width],
            about_means: vec![0.0; features * width],
            origin_weight: vec![0.0; width],
            about_origin: vec![0.0; features * width],
            seen_sums: Vec::new(),
            seen_weight: vec![0.0; width],
            spread: vec![0.0; width],
        }
    }
}

impl GaussianKernel {
    /// The moments of some components over rows of all patterns: those about their means, and
    /// those about the origin.
    pub fn finish_patterns(
        &self,
        which: Range<usize>,
        moments: &PatternMoments,
    ) -> Vec<[CentredMoments; 2]> {
        let width = moments.weight.len();
        let middle = vec![0.0; self.order];
        let components = self.components[which].iter().enumerate();
        let both = components.map(|(lane, component)| {
            let one = |weight: &[f64], sums: &[f64], origin: &[f64]| {
                let sums: Vec<f64> = sums.iter().skip(lane).step_by(width).copied().collect();
                let (first, second) = sums.split_at(self.order);
                self.uncentre(weight[lane], first, origin, |a, b| {
                    second[place(self.order, a, b)]
                })
            };
            [
                one(&moments.weight, &moments.about_means, &component.mean),
                one(&moments.origin_weight, &moments.about_origin, &middle),
            ]
        });
        both.collect()
    }
}

/// The extension of sums over observed columns to all columns.
pub(super) struct Extension<'a> {
    pub pattern: &'a Pattern<'a>,
}

vectorised! {
    pub(super) fn extend(extension: &Extension, sums: &mut PatternMoments) = extend_by
}

#[inline(always)]
unsafe fn extend_by<V: Vector>(extension: &Extension, sums: &mut PatternMoments) {
    let width = extension.pattern.components.width;
    let by_origin = extension.pattern.conditionals.marginal.is_some();
    // SAFETY: the caller ensures the features; the lanes of a group are within the width.
    unsafe {
        for group in (0..width).step_by(V::LANES) {
            let lanes = Lanes { width, group };
            if by_origin {
                extension.extend::<V>(lanes, sums);
            }
            let target = if by_origin {
                &mut sums.about_origin
            } else {
                &mut sums.about_means
            };
            extension.add_spread::<V>(lanes, &sums.spread, target);
        }
    }
}

impl Extension<'_> {
    /// The position of a product of two columns in the sums over all columns.
    #[inline(always)]
    fn product(&self, a: usize, b: usize) -> usize {
        let d = self.pattern.components.order;
        d + place(d, a, b)
    }

    /// Adds the conditional covariance of hidden columns.
    #[inline(always)]
    unsafe fn add_spread<V: Vector>(&self, lanes: Lanes, spread: &[f64], sums: &mut [f64]) {
        let hidden = &self.pattern.conditionals.hidden;
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let spread: V = lanes.load(spread, 0);
            for (s, a) in hidden.iter().enumerate() {
                for (t, b) in hidden.iter().enumerate().skip(s) {
                    let place = s * hidden.len() + t;
                    let conditional: V =
                        lanes.load(&self.pattern.conditionals.parts.conditional, place);
                    lanes.add(sums, self.product(*a, *b), conditional.mul(spread));
                }
            }
        }
    }

    /// Adds the sums over observed columns and, from the regression on these, the sums over hidden
    /// columns, without their conditional covariance.
    #[inline(always)]
    unsafe fn extend<V: Vector>(&self, lanes: Lanes, sums: &mut PatternMoments) {
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            self.add_observed::<V>(lanes, sums);
            let (first, cross) = self.regressed_sums::<V>(lanes, &sums.seen_sums);
            self.add_hidden(lanes, sums, &first, &cross);
        }
    }

    /// Adds the sums over observed columns.
    #[inline(always)]
    unsafe fn add_observed<V: Vector>(&self, lanes: Lanes, sums: &mut PatternMoments) {
        let seen = &self.pattern.conditionals.seen;
        let (whole, seen_sums) = (&mut sums.about_origin, &sums.seen_sums);
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            for (i, a) in seen.iter().enumerate() {
                lanes.add::<V>(whole, *a, lanes.load(seen_sums, i));
                for (j, b) in seen.iter().enumerate().skip(i) {
                    let sum: V = lanes.load(seen_sums, seen.len() + place(seen.len(), i, j));
                    lanes.add(whole, self.product(*a, *b), sum);
                }
            }
        }
    }

    /// Σ r B y and Σ r B y yᵀ, hidden × observed.
    #[inline(always)]
    unsafe fn regressed_sums<V: Vector>(
        &self,
        lanes: Lanes,
        seen_sums: &[f64],
    ) -> (Vec<V>, Vec<V>) {
        let conditionals = &self.pattern.conditionals;
        let (o, m) = (conditionals.seen.len(), conditionals.hidden.len());
        let mut first = Vec::with_capacity(m);
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let mut cross = vec![V::splat(0.0); m * o];
            for t in 0..m {
                let mut sum = V::splat(0.0);
                let cross = &mut cross[t * o..(t + 1) * o];
                for i in 0..o {
                    let slope: V = lanes.load(&conditionals.parts.regression, t * o + i);
                    sum = V::fma(slope, lanes.load(seen_sums, i), sum);
                    for (j, cross) in cross.iter_mut().enumerate() {
                        let product: V = lanes.load(seen_sums, o + place(o, i, j));
                        *cross = V::fma(slope, product, *cross);
                    }
                }
                first.push(sum);
            }
            (first, cross)
        }
    }

    /// Adds the sums over hidden columns, from the [`regressed_sums`](Self::regressed_sums) and
    /// the intercepts.
    #[inline(always)]
    unsafe fn add_hidden<V: Vector>(
        &self,
        lanes: Lanes,
        sums: &mut PatternMoments,
        first: &[V],
        cross: &[V],
    ) {
        let Conditionals {
            seen,
            hidden,
            parts,
            ..
        } = &*self.pattern.conditionals;
        let Parts {
            regression,
            intercept,
            ..
        } = parts;
        let o = seen.len();
        let PatternMoments {
            about_origin: whole,
            seen_sums,
            seen_weight,
            ..
        } = sums;
        // SAFETY: the caller ensures the features and lanes.
        unsafe {
            let weight: V = lanes.load(seen_weight, 0);
            for (t, h) in hidden.iter().enumerate() {
                let start: V = lanes.load(intercept, t);
                lanes.add(whole, *h, V::fma(weight, start, first[t]));
                for (i, c) in seen.iter().enumerate() {
                    let sum: V = lanes.load(seen_sums, i);
                    let sum = V::fma(start, sum, cross[t * o + i]);
                    lanes.add(whole, self.product(*h, *c), sum);
                }
                for (s, g) in hidden.iter().enumerate().skip(t) {
                    let other: V = lanes.load(intercept, s);
                    // With intercepts c: an entry of Σ r (c + B y)(c + B y)ᵀ, which is
                    // (Σ r) c cᵀ + (Σ r B y) cᵀ + c (Σ r B y)ᵀ + (Σ r B y yᵀ) Bᵀ.
                    let mut sum = V::fma(weight, other, first[s]).mul(start);
                    sum = V::fma(first[t], other, sum);
                    for i in 0..o {
                        let slope: V = lanes.load(regression, s * o + i);
                        sum = V::fma(cross[t * o + i], slope, sum);
                    }
                    lanes.add(whole, self.product(*h, *g), sum);
                }
            }
        }
    }
}
