//! Online EM (Cappé & Moulines, *Journal of the Royal Statistical Society* B 71, 2009): the
//! statistics of all rows are not recomputed but moved towards those of one batch after another,
//!
//!   s ← (1 − γ_t) s + γ_t (n / m) s_batch,  γ_t = (t + 2)^−0.6,
//!
//! and the parameters are updated after every batch of m of the n rows. A batch is some chunks in
//! the order of the source, so that a stream is read once a pass.

use super::em::{EmOptions, WarmStart};
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

/// Makes passes in batches until one gains no more than the tolerance over the previous one. Does
/// nothing if all rows fit in one batch.
pub(super) fn batch_passes<M: Safeguards>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    online: &Online,
    options: &EmOptions,
    control: Control,
) -> Result<WarmStart<M::Parameters, M::Statistics>> {
    let chunks = online.batch.div_ceil(CHUNK_ROWS).max(1);
    let step = Pass::expectation(options.plain().step);
    let passes = online.passes.min(options.max_iterations);
    let mut state = WarmStart::none(start);
    if source.rows() <= (chunks * CHUNK_ROWS) as u64 || passes == 0 {
        return Ok(state);
    }
    let Some(mut statistics) = expect_all(model, source, &state.parameters, step, control)? else {
        return Ok(state);
    };
    let weight = statistics.weight();
    state.log_likelihoods.push(statistics.log_likelihood());
    state.expectations = 1;
    state.parameters = model.maximize(&statistics, Some(&state.parameters));
    let mut batches = 0.0;
    for pass in 1..=passes {
        let mut log_likelihood = 0.0;
        let mut scan = source.scan()?;
        loop {
            let batch = scan.by_ref().take(chunks).collect::<Result<Vec<_>>>()?;
            if batch.is_empty() {
                break;
            }
            let batch = Table::from_chunks(source.schema().clone(), batch);
            let expected = expect_all(model, &batch, &state.parameters, step, control)?;
            let Some(expected) = expected else {
                state.statistics = Some(statistics);
                return Ok(state);
            };
            log_likelihood += expected.log_likelihood();
            if expected.weight() > 0.0 {
                batches += 1.0;
                move_towards(&mut statistics, expected, batches, weight);
                state.parameters = model.maximize(&statistics, Some(&state.parameters));
            }
        }
        let last = state.log_likelihoods.last().copied();
        let gain = log_likelihood - last.unwrap_or(log_likelihood);
        state.log_likelihoods.push(log_likelihood);
        state.expectations += 1;
        control.report(Progress::Iteration {
            number: pass,
            of: passes,
            mean_log_likelihood: log_likelihood / weight,
        });
        let size = 1.0 + (log_likelihood / weight + model.log_units()).abs();
        if gain / weight <= options.tolerance * size {
            break;
        }
    }
    state.statistics = Some(statistics);
    Ok(state)
}

/// Moves the statistics of all rows, of total weight `weight`, towards those of batch `number`.
fn move_towards<S: Expected>(statistics: &mut S, mut batch: S, number: f64, weight: f64) {
    let share = f64::powf(number + DELAY, -FORGETTING);
    statistics.scale(1.0 - share);
    batch.scale(share * weight / batch.weight());
    statistics.merge(batch);
}
