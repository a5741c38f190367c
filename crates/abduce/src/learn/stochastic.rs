//! Stochastic EM (Celeux & Diebolt 1985): the hidden labels are drawn from the
//! responsibilities, and the parameters are estimated as if the draws were what was seen.
//! The parameters then wander about maxima instead of climbing the nearest one, and come by
//! better ones. The best that they came by is where EM goes on.
//!
//! A draw depends on the seed, the round and the row's number alone, so that threads and
//! streams change nothing.

use super::control::{Control, Progress};
use super::em::{EmOptions, Warm, expect_all};
use super::latent::{EStep, Latent};
use crate::data::Source;
use crate::{ErrorKind, Result};

/// Rounds of draws; the end is the best point visited.
pub(super) fn rounds<M: Latent>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    options: &EmOptions,
    control: Control,
) -> Result<Warm<M::Parameters, M::Statistics>> {
    let most = options.rounds.min(options.max_iterations);
    let mut best: Option<(f64, M::Parameters, M::Statistics)> = None;
    let mut log_likelihoods = Vec::with_capacity(most);
    let mut parameters = start;
    for round in 1..=most {
        let drawn = expect_all(model, source, &parameters, EStep::Sampled, round, control);
        let statistics = match (drawn, &best) {
            (Ok(Some(statistics)), _) => statistics,
            (Ok(None), _) => break,
            // Draws may leave a component without rows enough.
            (Err(why), Some((_, best, _))) if why.kind() == ErrorKind::Numeric => {
                parameters = best.clone();
                continue;
            }
            (Err(why), _) => return Err(why),
        };
        // The density of a row does not depend on what is drawn of it.
        let (log_likelihood, weight) = model.log_likelihood(&statistics);
        let objective = log_likelihood + model.log_prior(&parameters);
        log_likelihoods.push(log_likelihood);
        control.report(Progress::Iteration {
            number: round,
            of: most,
            mean_log_likelihood: log_likelihood / weight.max(f64::MIN_POSITIVE),
        });
        // From few rows a component would become a spike, or vanish for ever.
        let next = match &best {
            Some((_, best, _)) if !model.determines(&statistics) => best.clone(),
            _ => model.maximize(&statistics, Some(&parameters)),
        };
        if best.as_ref().is_none_or(|(most, ..)| objective > *most) {
            best = Some((objective, parameters, statistics));
        }
        parameters = next;
    }
    let (parameters, statistics) = match best {
        Some((_, parameters, statistics)) => (parameters, Some(statistics)),
        None => (parameters, None),
    };
    Ok(Warm {
        parameters,
        statistics,
        log_likelihoods,
    })
}

/// The last step of SplitMix64 (Steele, Lea & Flood 2014).
#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number from 0 up to 1 that belongs to a row.
pub(crate) fn uniform(seed: u64, row: u64) -> f64 {
    (mix(mix(seed).wrapping_add(row)) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
