//! Stochastic EM (Celeux & Diebolt 1985): hidden labels are drawn from the responsibilities, and
//! the parameters are estimated as if the draws had been observed. The parameters then wander
//! about a maximum instead of climbing it, and come close to others. After every few rounds EM
//! climbs from there; the next rounds, and EM in the end, start from the best maximum found. So
//! the result is never lower than EM's from the same start.
//!
//! A draw depends on the seed, the round and the row's number alone, so that threads and
//! streams change nothing.

use super::em::{EmOptions, EmResult, Warm, em};
use super::latent::{Accelerated, EStep, Expected, Latent, Pass, Safeguards};
use super::pass::expect_all;
use crate::data::Source;
use crate::{Control, Progress};
use crate::{ErrorKind, Result};

/// The rounds of draws before EM climbs, the maximum number of its steps, and its tolerance,
/// coarse enough to compare maxima.
const ROUNDS: usize = 10;
const STEPS: usize = 100;
const TOLERANCE: f64 = 1e-6;

type Found<M> = EmResult<<M as Latent>::Parameters, <M as Latent>::Statistics>;

/// Rounds of draws; the result is the best maximum found.
pub(super) fn rounds<M: Safeguards + Accelerated>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    options: &EmOptions,
    control: Control,
) -> Result<Warm<M::Parameters, M::Statistics>> {
    let climbing = EmOptions {
        acceleration: options.acceleration,
        tolerance: options.tolerance.max(TOLERANCE),
        max_iterations: STEPS.min(options.max_iterations),
        ..options.plainly()
    };
    let silent = Control {
        progress: None,
        ..control
    };
    let Some(mut best) = em(model, source, start.clone(), &climbing, silent)? else {
        return Ok(Warm::cold(start));
    };
    let mut expectations = best.iterations + 1;
    let mut log_likelihoods = best.trace.clone();
    let mut round = 0;
    while round < options.rounds && !control.is_interrupted() {
        let mut parameters = best.parameters.clone();
        for _ in 0..ROUNDS.min(options.rounds - round) {
            round += 1;
            let pass = Pass {
                round,
                ..Pass::expectation(EStep::Sampled)
            };
            let drawn = expect_all(model, source, &parameters, pass, control);
            let statistics = match drawn {
                Ok(Some(statistics)) => statistics,
                Ok(None) => break,
                Err(why) if why.kind() == ErrorKind::Numeric => {
                    parameters = best.parameters.clone();
                    continue;
                }
                Err(why) => return Err(why),
            };
            expectations += 1;
            // The density of a row does not depend on its drawn label.
            let log_likelihood = statistics.log_likelihood();
            log_likelihoods.push(log_likelihood);
            control.report(Progress::Iteration {
                number: round,
                of: options.rounds,
                mean_log_likelihood: log_likelihood / statistics.weight().max(f64::MIN_POSITIVE),
            });
            // Estimated from few rows, a component would become a spike or vanish for good.
            parameters = if model.has_enough_rows(&statistics) {
                model.maximize(&statistics, Some(&parameters))
            } else {
                best.parameters.clone()
            };
        }
        let climbed = match em(model, source, parameters, &climbing, silent) {
            Ok(Some(climbed)) => climbed,
            Ok(None) => break,
            Err(why) if why.kind() == ErrorKind::Numeric => continue,
            Err(why) => return Err(why),
        };
        expectations += climbed.iterations + 1;
        log_likelihoods.extend(climbed.trace.last());
        if is_better(model, &climbed, &best) {
            best = climbed;
        }
    }
    Ok(Warm {
        parameters: best.parameters,
        statistics: Some(best.statistics),
        log_likelihoods,
        expectations,
    })
}

/// Whether one maximum is higher than the other, and not because of a component on a few rows.
fn is_better<M: Safeguards>(model: &M, one: &Found<M>, other: &Found<M>) -> bool {
    let sound = |found: &Found<M>| model.has_enough_rows(&found.statistics);
    one.objective > other.objective && (sound(one) || !sound(other))
}
