//! The M-step if most responsibilities are negligible. Components over many columns hardly
//! overlap, so that a row contributes to one of them and less than rounding to the others. The
//! rows that matter are gathered for each component, and only these are multiplied.

use super::{GaussianKernel, Scratch};
use crate::kernel::linear::add_symmetric_product;
use crate::kernel::product::Matrix;

/// A responsibility is negligible if its ratio to the component's largest in the block is
/// below 2⁻¹⁰⁰: such a row would have to lie 10⁵ standard deviations away to matter.
const NEGLIGIBLE: f64 = 1.0 / (1u128 << 100) as f64;

/// The fewest columns for which gathering can be faster.
const MIN_COLUMNS: usize = 24;

/// The factor by which the rows must be fewer: products of few rows are slower, and both halves
/// of symmetric matrices are computed.
const FEWER: usize = 4;

/// With at least this many columns and at most this many components, matrix products are faster
/// even if all rows matter: sums of moments fill registers with components, and few components
/// leave lanes empty.
const WIDE_COLUMNS: usize = 256;
const WIDE_COMPONENTS: usize = 4;

/// First and second moments of each component in standardised coordinates over gathered rows;
/// empty if there are none.
#[derive(Default)]
pub(super) struct Gathered(Vec<f64>);

impl Gathered {
    /// The moments of a component; of its second moments, only the upper half is defined.
    pub fn of(&self, component: usize, order: usize) -> Option<(&[f64], &[f64])> {
        let mut components = self.0.chunks_exact((order + order * order).max(1));
        Some(components.nth(component)?.split_at(order))
    }
}

impl GaussianKernel {
    /// Adds the loaded block to the moments if few enough of its responsibilities matter;
    /// returns whether it did.
    pub(super) fn gather(
        &self,
        scratch: &mut Scratch,
        responsibilities: &[f64],
        moments: &mut Gathered,
    ) -> bool {
        let (rows, d) = (scratch.rows, self.order);
        if self.diagonal || d < MIN_COLUMNS || rows == 0 {
            return false;
        }
        let least = |r: &[f64]| NEGLIGIBLE * r.iter().copied().fold(0.0, f64::max);
        let least: Vec<f64> = responsibilities.chunks_exact(rows).map(least).collect();
        let each = || responsibilities.chunks_exact(rows).zip(&least);
        let kept = each().map(|(all, least)| all.iter().filter(|r| *r > least).count());
        let is_wide = d >= WIDE_COLUMNS && self.components.len() <= WIDE_COMPONENTS;
        if !is_wide && FEWER * kept.sum::<usize>() > responsibilities.len() {
            return false;
        }
        moments.0.resize(self.components.len() * (d + d * d), 0.0);
        let sums = moments.0.chunks_exact_mut(d + d * d);
        let each = each().zip(sums).zip(&self.components);
        // Moments of centred components are summed about their means elsewhere.
        for (((r, least), sums), _) in each.filter(|(_, component)| !component.centred) {
            let (first, second) = sums.split_at_mut(d);
            let kept: Vec<usize> = (0..rows).filter(|row| r[*row] > *least).collect();
            let Scratch {
                columns,
                stride,
                difference,
                white,
                ..
            } = &mut *scratch;
            difference.clear();
            white.clear();
            for (y, sum) in columns.chunks_exact(*stride).zip(first) {
                let begun = white.len();
                difference.extend(kept.iter().map(|row| y[*row]));
                white.extend(kept.iter().map(|row| y[*row] * r[*row]));
                *sum += white[begun..].iter().sum::<f64>();
            }
            add_symmetric_product(
                second,
                Matrix::new(white, kept.len(), d, kept.len()).transposed(),
                Matrix::new(difference, kept.len(), d, kept.len()),
            );
        }
        true
    }
}
