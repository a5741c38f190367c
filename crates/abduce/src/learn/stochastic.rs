//! Stochastic EM (Celeux & Diebolt 1985): missing labels are drawn from the responsibilities, and
//! the parameters are estimated as if the draws had been observed. The parameters then move
//! randomly around a maximum, and may come close to others. After every few rounds, EM runs from
//! the current parameters; the next rounds, and EM in the end, start from the best maximum found.
//! So the result is never worse than that of EM from the same start.
//!
//! A draw depends only on the seed, the round and the number of the row, not on the number of
//! threads or on the source.

use super::em::{EmOptions, EmResult, WarmStart, em};
use super::latent::{Accelerated, EStep, Expected, Latent, Pass, Safeguards};
use super::pass::expect_all;
use crate::data::Source;
use crate::{Control, Progress};
use crate::{ErrorKind, Result};

/// The number of rounds of draws between runs of EM.
const ROUNDS_PER_RUN: usize = 10;

/// The maximum number of iterations of these runs, and their tolerance, which is sufficient to
/// compare maxima.
const MAX_ITERATIONS: usize = 100;
const MIN_TOLERANCE: f64 = 1e-6;

type ModelResult<M> = EmResult<<M as Latent>::Parameters, <M as Latent>::Statistics>;

/// Runs rounds of draws; the result has the parameters of the best maximum found.
pub(super) fn stochastic_rounds<M: Safeguards + Accelerated>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    options: &EmOptions,
    control: Control,
) -> Result<WarmStart<M::Parameters, M::Statistics>> {
    let em_options = EmOptions {
        acceleration: options.acceleration,
        tolerance: options.tolerance.max(MIN_TOLERANCE),
        max_iterations: MAX_ITERATIONS.min(options.max_iterations),
        ..options.plain()
    };
    let silent = Control {
        progress: None,
        ..control
    };
    let Some(first) = em(model, source, start.clone(), &em_options, silent)? else {
        return Ok(WarmStart::none(start));
    };
    let mut search = Search {
        model,
        source,
        options,
        control,
        round: 0,
        expectations: first.iterations + 1,
        log_likelihoods: first.trace.clone(),
        best: first,
    };
    while search.round < options.rounds && !control.is_interrupted() {
        let parameters = search.draw_rounds()?;
        let result = match em(model, source, parameters, &em_options, silent) {
            Ok(Some(result)) => result,
            Ok(None) => break,
            Err(error) if error.kind() == ErrorKind::Numeric => continue,
            Err(error) => return Err(error),
        };
        search.expectations += result.iterations + 1;
        search.log_likelihoods.extend(result.trace.last());
        if is_better(model, &result, &search.best) {
            search.best = result;
        }
    }
    Ok(WarmStart {
        parameters: search.best.parameters,
        statistics: Some(search.best.statistics),
        log_likelihoods: search.log_likelihoods,
        expectations: search.expectations,
    })
}

/// The search for a better maximum.
struct Search<'a, M: Latent> {
    model: &'a M,
    source: &'a dyn Source,
    options: &'a EmOptions,
    control: Control<'a>,
    /// The number of rounds so far.
    round: usize,
    best: ModelResult<M>,
    /// The log-likelihoods so far, and the number of E-steps.
    log_likelihoods: Vec<f64>,
    expectations: usize,
}

impl<M: Safeguards> Search<'_, M> {
    /// Runs some rounds of draws from the best maximum, and returns the last parameters.
    fn draw_rounds(&mut self) -> Result<M::Parameters> {
        let mut parameters = self.best.parameters.clone();
        for _ in 0..ROUNDS_PER_RUN.min(self.options.rounds - self.round) {
            self.round += 1;
            let pass = Pass {
                round: self.round,
                ..Pass::expectation(EStep::Sampled)
            };
            let drawn = expect_all(self.model, self.source, &parameters, pass, self.control);
            let statistics = match drawn {
                Ok(Some(statistics)) => statistics,
                Ok(None) => break,
                Err(error) if error.kind() == ErrorKind::Numeric => {
                    parameters = self.best.parameters.clone();
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.expectations += 1;
            // The density of a row does not depend on its drawn label.
            let log_likelihood = statistics.log_likelihood();
            self.log_likelihoods.push(log_likelihood);
            self.control.report(Progress::Iteration {
                number: self.round,
                of: self.options.rounds,
                mean_log_likelihood: log_likelihood / statistics.weight().max(f64::MIN_POSITIVE),
            });
            // Estimated from few rows, a component would collapse or vanish for good.
            parameters = if self.model.has_enough_rows(&statistics) {
                self.model.maximize(&statistics, Some(&parameters))
            } else {
                self.best.parameters.clone()
            };
        }
        Ok(parameters)
    }
}

/// Whether one maximum is higher than another, and not only because a component has few rows.
fn is_better<M: Safeguards>(model: &M, one: &ModelResult<M>, other: &ModelResult<M>) -> bool {
    let is_valid = |result: &ModelResult<M>| model.has_enough_rows(&result.statistics);
    one.objective > other.objective && (is_valid(one) || !is_valid(other))
}
