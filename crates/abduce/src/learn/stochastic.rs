//! Stochastic EM (Celeux & Diebolt 1985): the hidden labels are drawn from the
//! responsibilities, and the parameters are estimated as if the draws were what was seen.
//! The parameters then wander about a maximum instead of climbing it, and into the reach
//! of others. After every few rounds EM climbs from where they came; the best that it
//! found is where the next rounds begin, and where EM goes on in the end. So the end is
//! never lower than what EM finds from the same start.
//!
//! A draw depends on the seed, the round and the row's number alone, so that threads and
//! streams change nothing.

use super::em::{EmOptions, EmResult, Warm, em};
use super::latent::{Accelerated, EStep, Expected, Latent, Pass, Safeguards};
use super::pass::expect_all;
use crate::data::Source;
use crate::{Control, Progress};
use crate::{ErrorKind, Result};

/// Rounds of draws before EM climbs, its steps at most, and when it has climbed enough to
/// be compared.
const ROUNDS: usize = 10;
const STEPS: usize = 100;
const TOLERANCE: f64 = 1e-6;

type Found<M> = EmResult<<M as Latent>::Parameters, <M as Latent>::Statistics>;

/// Rounds of draws; the end is the best maximum that they came by.
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
            // The density of a row does not depend on what is drawn of it.
            let log_likelihood = statistics.log_likelihood();
            log_likelihoods.push(log_likelihood);
            control.report(Progress::Iteration {
                number: round,
                of: options.rounds,
                mean_log_likelihood: log_likelihood / statistics.weight().max(f64::MIN_POSITIVE),
            });
            // From few rows a component would become a spike, or vanish for ever.
            parameters = if model.determines(&statistics) {
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

/// Whether it is higher, and not by a component on a few rows.
fn is_better<M: Safeguards>(model: &M, one: &Found<M>, other: &Found<M>) -> bool {
    let sound = |found: &Found<M>| model.determines(&found.statistics);
    one.objective > other.objective && (sound(one) || !sound(other))
}
