//! Log-densities of documents under all components at once. The weights of a term for all
//! components are adjacent in memory. A row of levels is a document too, in which each level is
//! a term with count 1.

use super::simd::{fma, multiversion};
use rayon::prelude::*;

/// The contribution of each term to the log-density under each component.
#[derive(Clone, Debug)]
pub(crate) struct TermTable {
    components: usize,
    /// The components of a term, padded to whole vectors.
    width: usize,
    /// Term-major: component `j` of term `t` is at `start + t * width + j`.
    weights: Vec<f64>,
    /// The start of the table, aligned to a cache line, so that a term spans as few cache
    /// lines as possible.
    start: usize,
    /// The contribution of every document, whatever its terms.
    base: Vec<f64>,
    /// Whether a term counts once per document whatever its count.
    once: bool,
}

impl TermTable {
    /// A table of the weights of terms and components, and the contribution of each component
    /// to every document.
    pub fn new(
        terms: usize,
        base: Vec<f64>,
        once: bool,
        weight: impl Fn(usize, usize) -> f64 + Sync,
    ) -> TermTable {
        let components = base.len();
        let width = match components {
            0..=2 => 2,
            3..=4 => 4,
            _ => components.next_multiple_of(8),
        };
        const LINE: usize = 64;
        let mut weights = vec![0.0; terms * width + LINE / 8];
        let start = weights.as_ptr().align_offset(LINE).min(LINE / 8);
        let rows = &mut weights[start..start + terms * width];
        let rows = rows.par_chunks_exact_mut(width).enumerate();
        rows.with_min_len(512).for_each(|(term, row)| {
            let places = row[..components].iter_mut().enumerate();
            places.for_each(|(j, out)| *out = weight(term, j));
        });
        TermTable {
            components,
            width,
            weights,
            start,
            base,
            once,
        }
    }

    /// The log-density of a document under one component.
    pub fn of_component(&self, component: usize, codes: &[u32], counts: &[f64]) -> f64 {
        let weight =
            |code: &u32| self.weights[self.start + *code as usize * self.width + component];
        let terms = codes.iter().zip(counts);
        let sum: f64 = if self.once {
            terms.map(|(code, _)| weight(code)).sum()
        } else {
            terms.map(|(code, count)| count * weight(code)).sum()
        };
        self.base[component] + sum
    }

    /// The number of components.
    pub fn components(&self) -> usize {
        self.components
    }

    /// The log-density of a document under every component; `counts` are ignored if terms
    /// count once.
    pub fn of_all(&self, codes: &[u32], counts: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.base);
        let counts = (!self.once).then_some(counts);
        add_terms(&self.weights[self.start..], self.width, codes, counts, out);
    }
}

multiversion! {
    /// Adds the weights of a document's terms times their counts.
    fn add_terms(weights: &[f64], width: usize, codes: &[u32], counts: Option<&[f64]>, out: &mut [f64]) = add_terms_body
}

#[inline(always)]
fn add_terms_body<const FUSED: bool>(
    weights: &[f64],
    width: usize,
    codes: &[u32],
    counts: Option<&[f64]>,
    out: &mut [f64],
) {
    match width {
        2 => add_wide::<FUSED, 2>(weights, width, codes, counts, out),
        4 => add_wide::<FUSED, 4>(weights, width, codes, counts, out),
        8 => add_wide::<FUSED, 8>(weights, width, codes, counts, out),
        16 => add_wide::<FUSED, 16>(weights, width, codes, counts, out),
        24 => add_wide::<FUSED, 24>(weights, width, codes, counts, out),
        32 => add_wide::<FUSED, 32>(weights, width, codes, counts, out),
        _ => {
            // As many components at a time as fit registers.
            for start in (0..out.len()).step_by(32) {
                let end = out.len().min(start + 32);
                let (weights, out) = (&weights[start..], &mut out[start..end]);
                match (width - start).min(32) {
                    8 => add_wide::<FUSED, 8>(weights, width, codes, counts, out),
                    16 => add_wide::<FUSED, 16>(weights, width, codes, counts, out),
                    24 => add_wide::<FUSED, 24>(weights, width, codes, counts, out),
                    _ => add_wide::<FUSED, 32>(weights, width, codes, counts, out),
                }
            }
        }
    }
}

/// Adds the weights of `WIDTH` components, whose sums stay in registers.
#[inline(always)]
fn add_wide<const FUSED: bool, const WIDTH: usize>(
    weights: &[f64],
    stride: usize,
    codes: &[u32],
    counts: Option<&[f64]>,
    out: &mut [f64],
) {
    let mut sums = [0.0; WIDTH];
    let row = |code: u32| {
        let start = code as usize * stride;
        &weights[start..start + WIDTH]
    };
    match counts {
        Some(counts) => {
            for (code, count) in codes.iter().zip(counts) {
                for (sum, weight) in sums.iter_mut().zip(row(*code)) {
                    *sum = fma::<FUSED>(*count, *weight, *sum);
                }
            }
        }
        None => {
            for code in codes {
                for (sum, weight) in sums.iter_mut().zip(row(*code)) {
                    *sum += weight;
                }
            }
        }
    }
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_components_at_once_equal_each_alone() {
        let terms = 1300;
        let weight = |t: usize, j: usize| -((3 * j + t % 17 + 1) as f64).sqrt();
        let (codes, counts) = ([0, 511, 512, 1299], [1.0, 2.0, 0.5, 3.0]);
        for components in [1, 2, 3, 5, 8, 9, 20, 31, 33, 50, 70, 100] {
            for once in [false, true] {
                let table = TermTable::new(terms, vec![-1.0; components], once, weight);
                let mut out = vec![0.0; components];
                table.of_all(&codes, &counts, &mut out);
                for (j, found) in out.iter().enumerate() {
                    let times = |i: usize| if once { 1.0 } else { counts[i] };
                    let terms = (0..4).map(|i| times(i) * weight(codes[i] as usize, j));
                    let expected = terms.sum::<f64>() - 1.0;
                    assert!((found - expected).abs() < 1e-12);
                    assert!((table.of_component(j, &codes, &counts) - expected).abs() < 1e-12);
                }
            }
        }
    }
}
