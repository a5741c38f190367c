//! The M-step where most responsibilities are nothing. Components over many columns hardly
//! overlap: nearly every row is of one of them, and beside the sums that it adds to there the
//! others get less than rounding. So the rows that count are gathered, component by component,
//! and only these are multiplied.

use super::{GaussianKernel, Scratch};
use crate::kernel::product::{Matrix, add_product};

/// A responsibility this small beside the largest of its component in the block is nothing:
/// 2⁻¹⁰⁰, so that a row may lie 10⁵ deviations off before it would be seen. A Student-t, in which
/// far rows count as others do, has responsibilities that small only of rows beyond all reason.
const NOTHING: f64 = 1.0 / (1u128 << 100) as f64;

/// Columns from which on gathering can pay.
const LEAST_COLUMNS: usize = 24;

/// How many times fewer rows have to be left, since products of few rows are slower and have
/// both halves of what is symmetric.
const FEWER: usize = 4;

/// First and second moments of each component in standardised coordinates, summed over gathered
/// rows; empty until there are some.
#[derive(Default)]
pub(super) struct Gathered(Vec<f64>);

impl Gathered {
    /// The moments of a component.
    pub fn of(&self, component: usize, order: usize) -> Option<(&[f64], &[f64])> {
        let own = self
            .0
            .chunks_exact((order + order * order).max(1))
            .nth(component)?;
        Some(own.split_at(order))
    }
}

impl GaussianKernel {
    /// Adds the loaded block to the moments if few enough of its rows count; says whether it did.
    pub(super) fn gather(
        &self,
        scratch: &mut Scratch,
        responsibilities: &[f64],
        moments: &mut Gathered,
    ) -> bool {
        let (rows, d) = (scratch.rows, self.order);
        if self.diagonal || d < LEAST_COLUMNS || rows == 0 {
            return false;
        }
        let least = |own: &[f64]| NOTHING * own.iter().copied().fold(0.0, f64::max);
        let least: Vec<f64> = responsibilities.chunks_exact(rows).map(least).collect();
        let each = || responsibilities.chunks_exact(rows).zip(&least);
        let counting = each().map(|(own, least)| own.iter().filter(|r| *r > least).count());
        if FEWER * counting.sum::<usize>() > responsibilities.len() {
            return false;
        }
        moments.0.resize(self.components.len() * (d + d * d), 0.0);
        let sums = moments.0.chunks_exact_mut(d + d * d);
        let each = each().zip(sums).zip(&self.components);
        // Those that are centred are summed about their own means.
        for (((own, least), sums), _) in each.filter(|(_, component)| !component.centred) {
            let (first, second) = sums.split_at_mut(d);
            let kept: Vec<usize> = (0..rows).filter(|row| own[*row] > *least).collect();
            let Scratch {
                features,
                difference,
                white,
                ..
            } = &mut *scratch;
            difference.clear();
            white.clear();
            for (y, sum) in features.chunks_exact(rows).zip(first) {
                let begun = white.len();
                difference.extend(kept.iter().map(|row| y[*row]));
                white.extend(kept.iter().map(|row| y[*row] * own[*row]));
                *sum += white[begun..].iter().sum::<f64>();
            }
            add_product(
                second,
                d,
                Matrix::new(white, kept.len(), d, kept.len()).transposed(),
                Matrix::new(difference, kept.len(), d, kept.len()),
            );
        }
        true
    }
}
