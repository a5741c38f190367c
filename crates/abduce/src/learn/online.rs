//! Online EM (Cappé & Moulines, *Journal of the Royal Statistical Society* B 71, 2009): the
//! statistics of all rows are not recomputed but moved towards those of one batch after another,
//!
//!   s ← (1 − γ_t) s + γ_t (n / m) s_batch,  γ_t = (t + 2)^−0.6,
//!
//! and the parameters are updated after every batch of m of the n rows. A batch is some chunks in
//! the order of the source, so that a stream is read once a pass.

use super::em::{EmOptions, Warm};
use super::latent::{Expected, Pass, Safeguards};
use super::pass::expect_all;
use crate::Result;
use crate::data::{CHUNK_ROWS, Source, Table};
use crate::{Control, Progress};
use serde::{Deserialize, Serialize};

/// Options of the passes in batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Online {
    /// The rows of a batch, rounded up to whole chunks of 4,096.
    pub batch: usize,
    /// The maximum number of passes over the rows.
    pub passes: usize,
}

impl Default for Online {
    fn default() -> Self {
        Online {
            batch: CHUNK_ROWS,
            passes: 5,
        }
    }
}

/// γ_t = (t + DELAY)^−FORGETTING for the batch t, counted from 1.
const FORGETTING: f64 = 0.6;
const DELAY: f64 = 2.0;

/// Passes in batches, until one gains no more than the tolerance over the previous one. Nothing
/// is done where all rows fit in one batch.
pub(super) fn passes<M: Safeguards>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    online: &Online,
    options: &EmOptions,
    control: Control,
) -> Result<Warm<M::Parameters, M::Statistics>> {
    let chunks = online.batch.div_ceil(CHUNK_ROWS).max(1);
    let pass = Pass::expectation(options.plainly().step);
    let most = online.passes.min(options.max_iterations);
    let mut warm = Warm::cold(start);
    if source.rows() <= (chunks * CHUNK_ROWS) as u64 || most == 0 {
        return Ok(warm);
    }
    let Some(mut statistics) = expect_all(model, source, &warm.parameters, pass, control)? else {
        return Ok(warm);
    };
    let weight = statistics.weight();
    warm.log_likelihoods.push(statistics.log_likelihood());
    warm.expectations = 1;
    warm.parameters = model.maximize(&statistics, Some(&warm.parameters));
    let mut number = 0.0;
    for number_of_pass in 1..=most {
        let mut sum = 0.0;
        let mut scan = source.scan()?;
        loop {
            let batch = scan.by_ref().take(chunks).collect::<Result<Vec<_>>>()?;
            if batch.is_empty() {
                break;
            }
            let batch = Table::from_chunks(source.schema().clone(), batch);
            let own = expect_all(model, &batch, &warm.parameters, pass, control)?;
            let Some(mut own) = own else {
                warm.statistics = Some(statistics);
                return Ok(warm);
            };
            sum += own.log_likelihood();
            if own.weight() <= 0.0 {
                continue;
            }
            number += 1.0;
            let share = f64::powf(number + DELAY, -FORGETTING);
            statistics.scale(1.0 - share);
            own.scale(share * weight / own.weight());
            statistics.merge(own);
            warm.parameters = model.maximize(&statistics, Some(&warm.parameters));
        }
        let before = warm.log_likelihoods.last().copied().unwrap_or(sum);
        warm.log_likelihoods.push(sum);
        warm.expectations += 1;
        control.report(Progress::Iteration {
            number: number_of_pass,
            of: most,
            mean_log_likelihood: sum / weight,
        });
        let size = 1.0 + (sum / weight + model.log_units()).abs();
        if (sum - before) / weight <= options.tolerance * size {
            break;
        }
    }
    warm.statistics = Some(statistics);
    Ok(warm)
}
