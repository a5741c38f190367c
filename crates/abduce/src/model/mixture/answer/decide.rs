//! The most probable component of each row, argmax_j ln π_j + ln p(x | θ_j): no
//! probability need be taken of these sums to see which is the largest.

use crate::Result;
use crate::ask::Decider;
use crate::family::most_probable;
use crate::learn::EStep;
use crate::model::mixture::FittedMixture;
use crate::model::mixture::step::expect::Prepared;

impl FittedMixture {
    /// Says the most probable component of what is seen of each row; the first of several,
    /// and the largest where all are impossible.
    pub(crate) fn deciding(&self) -> Result<Decider<'_>> {
        let prepared = Prepared::new(&self.leaves, None, self.asked(), EStep::Soft)?;
        let prepared = prepared.with_noise_everywhere().with_log_densities();
        let largest = most_probable(&self.asked().weights) as u32;
        Ok(Box::new(move |chunk| {
            let mut out = vec![0; chunk.rows()];
            let (mut best, mut most) = (Vec::new(), Vec::new());
            prepared.process(chunk, None, |outcome| {
                let rows = outcome.rows.len();
                best.clear();
                best.resize(rows, largest);
                most.clear();
                most.resize(rows, f64::NEG_INFINITY);
                let components = outcome.responsibilities.chunks_exact(rows.max(1));
                for (j, own) in components.enumerate() {
                    for ((best, most), own) in best.iter_mut().zip(&mut most).zip(own) {
                        let more = *own > *most;
                        *best = if more { j as u32 } else { *best };
                        *most = if more { *own } else { *most };
                    }
                }
                let each = outcome.rows.iter().zip(&best);
                each.for_each(|(row, best)| out[*row as usize] = *best);
            })?;
            Ok(out)
        }))
    }
}
