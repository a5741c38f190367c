//! The most probable component of each row, argmax_j ln π_j + ln p(x | θ_j), without computing
//! probabilities.

use crate::Result;
use crate::ask::Decider;
use crate::family::most_probable;
use crate::learn::EStep;
use crate::model::mixture::FittedMixture;
use crate::model::mixture::step::expect::Prepared;

impl FittedMixture {
    /// A function that returns the most probable component of each row given its seen cells: the
    /// first of equally probable ones, and the component of the largest weight if all are
    /// impossible.
    pub(crate) fn most_probable_components(&self) -> Result<Decider<'_>> {
        let prepared = Prepared::new(&self.leaves, None, self.answering_parameters(), EStep::Soft)?;
        let prepared = prepared.with_noise_everywhere().with_log_densities();
        let largest = most_probable(&self.answering_parameters().weights) as u32;
        Ok(Box::new(move |chunk| {
            let mut out = vec![0; chunk.rows()];
            let (mut best, mut best_log_density) = (Vec::new(), Vec::new());
            prepared.process(chunk, None, |outcome| {
                let rows = outcome.rows.len();
                best.clear();
                best.resize(rows, largest);
                best_log_density.clear();
                best_log_density.resize(rows, f64::NEG_INFINITY);
                let components = outcome.responsibilities.chunks_exact(rows.max(1));
                for (j, log_densities) in components.enumerate() {
                    let rows = best.iter_mut().zip(&mut best_log_density);
                    for ((best, largest), log_density) in rows.zip(log_densities) {
                        let is_larger = *log_density > *largest;
                        *best = if is_larger { j as u32 } else { *best };
                        *largest = if is_larger { *log_density } else { *largest };
                    }
                }
                let each = outcome.rows.iter().zip(&best);
                each.for_each(|(row, best)| out[*row as usize] = *best);
            })?;
            Ok(out)
        }))
    }
}
