//! The EM loop. Each iteration maximises the parameters given the expected statistics and takes
//! the expectation again: with a soft E-step this is EM, with a hard one hard EM, as in k-means.
//! The objective, log-likelihood plus log-prior, never decreases; every fit checks that and keeps
//! the whole trace. Stochastic rounds (`stochastic.rs`) and batches (`online.rs`) only choose where
//! the loop starts; longer steps (`squarem.rs`) are kept only if their objective is at least as
//! high as that of an EM step.

use super::latent::{Accelerated, EStep, Expected, Latent, Pass, Safeguards};
use super::online::{self, Online};
use super::pass::expect_all;
use super::squarem::{Acceleration, LongSteps};
use super::stochastic;
use crate::data::Source;
use crate::{Control, Progress};
use crate::{ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How convergence is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// By the change of the mean objective relative to its size.
    #[default]
    Relative,
    /// By the change of the mean log-likelihood of a row in nats, after which one more step is
    /// made, as in other programs.
    PerRow,
}

impl Stop {
    fn is_relative(&self) -> bool {
        *self == Stop::Relative
    }
}

/// The options of EM: the E-step, when to stop, acceleration and warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmOptions {
    /// How missing labels and values are filled in.
    pub step: EStep,
    /// The relative change of the mean objective below which the fit has converged.
    pub tolerance: f64,
    /// How convergence is judged.
    #[serde(default, skip_serializing_if = "Stop::is_relative")]
    pub stop: Stop,
    /// The maximum number of iterations: E-steps over all rows after the first.
    pub max_iterations: usize,
    /// Whether steps may be longer than those of EM. Hard steps never are.
    #[serde(default)]
    pub acceleration: Acceleration,
    /// With [`EStep::Sampled`], the number of rounds of drawn labels before EM continues from the
    /// best maximum found.
    #[serde(default = "default_rounds")]
    pub rounds: usize,
    /// Batches of rows, after each of which the parameters are updated, before EM goes over all
    /// rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<Online>,
}

const fn default_rounds() -> usize {
    EmOptions::PLAIN.rounds
}

impl EmOptions {
    /// Soft EM without acceleration.
    pub const PLAIN: EmOptions = EmOptions {
        step: EStep::Soft,
        tolerance: 1e-8,
        stop: Stop::Relative,
        max_iterations: 1000,
        acceleration: Acceleration::None,
        rounds: 50,
        online: None,
    };

    /// The same options for plain EM, soft or hard: no draws, no batches, no long steps.
    pub fn plain(&self) -> EmOptions {
        EmOptions {
            step: self.deterministic_step(),
            acceleration: Acceleration::None,
            online: None,
            ..self.clone()
        }
    }

    /// The E-step of the iterations, in which the objective must not decrease.
    fn deterministic_step(&self) -> EStep {
        match self.step {
            EStep::Hard => EStep::Hard,
            EStep::Soft | EStep::Sampled => EStep::Soft,
        }
    }
}

impl Default for EmOptions {
    fn default() -> Self {
        EmOptions {
            acceleration: Acceleration::Auto,
            ..EmOptions::PLAIN
        }
    }
}

/// The result of an EM fit.
#[derive(Clone, Debug)]
pub struct EmResult<P, S> {
    /// The parameters of the last E-step.
    pub parameters: P,
    /// The statistics expected under them; with a tolerance per row, those from which they were
    /// estimated.
    pub statistics: S,
    /// The log-likelihood under the parameters before each step, and last under the parameters
    /// returned. With a hard E-step it is that of the rows completed by their most probable
    /// labels and cells.
    pub trace: Vec<f64>,
    /// After each maximisation, the lower bound of the log-likelihood (ELBO) under the previous
    /// expectation: at least the log-likelihood before the step, and below the one after it by
    /// the Kullback–Leibler divergence of the old posterior of labels and missing values from the
    /// new one.
    pub bounds: Vec<f64>,
    /// The log-likelihoods before the trace, which may decrease: those of rounds of drawn labels
    /// and of the maxima that EM reached from them, or of passes in batches.
    pub warmup: Vec<f64>,
    /// The log-likelihood plus log-prior at the end.
    pub objective: f64,
    /// The objective for every entry of the trace; it never decreases.
    pub objectives: Vec<f64>,
    /// The number of E-steps over all rows after the first, including those of the warm-up and of
    /// long steps that were rejected.
    pub iterations: usize,
    /// The number of steps in the trace that are longer than those of EM.
    pub long_steps: usize,
    /// Whether the change of the objective fell below the tolerance.
    pub converged: bool,
    /// Whether the objective never decreased by more than rounding.
    pub monotone: bool,
    /// Whether the fit ended at a singular maximum, where a component has too few rows for its
    /// covariance and rounding exceeds what a step would gain.
    pub singular: bool,
    /// Whether the caller stopped the fit.
    pub interrupted: bool,
    /// Seconds from the start to the end of each E-step in the trace.
    pub seconds: Vec<f64>,
}

impl<P, S> EmResult<P, S> {
    /// The result of no steps.
    fn at_start(parameters: P, statistics: S, log_likelihood: f64, objective: f64) -> Self {
        EmResult {
            parameters,
            statistics,
            trace: vec![log_likelihood],
            bounds: Vec::new(),
            warmup: Vec::new(),
            objective,
            objectives: vec![objective],
            iterations: 0,
            long_steps: 0,
            converged: false,
            monotone: true,
            singular: false,
            interrupted: false,
            seconds: Vec::new(),
        }
    }
}

/// The result of stochastic rounds or batches, from which EM starts.
pub(super) struct WarmStart<P, S> {
    pub parameters: P,
    /// Statistics to report if the caller stops the fit before EM starts.
    pub statistics: Option<S>,
    /// The log-likelihood in each round.
    pub log_likelihoods: Vec<f64>,
    /// The number of E-steps over all rows.
    pub expectations: usize,
}

impl<P, S> WarmStart<P, S> {
    /// The parameters as they are, without a warm-up.
    pub fn none(start: P) -> Self {
        WarmStart {
            parameters: start,
            statistics: None,
            log_likelihoods: Vec::new(),
            expectations: 0,
        }
    }
}

/// The maximum relative decrease of the objective by rounding.
const ROUNDING: f64 = 1e-9;

/// Runs EM from given parameters until it converges; `None` if the caller stopped it before the
/// first E-step.
///
/// # Errors
/// If the source cannot be read or a numerical error occurs; not converging is no error.
pub fn em<M: Safeguards + Accelerated>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    options: &EmOptions,
    control: Control,
) -> Result<Option<EmResult<M::Parameters, M::Statistics>>> {
    let clock = Instant::now();
    let step = options.deterministic_step();
    let warm_start = match (&options.online, options.step) {
        (Some(online), _) => online::batch_passes(model, source, start, online, options, control)?,
        (None, EStep::Sampled) => {
            stochastic::stochastic_rounds(model, source, start, options, control)?
        }
        _ => WarmStart::none(start),
    };
    let pass = Pass::expectation(step);
    let first = expect_all(model, source, &warm_start.parameters, pass, control)?;
    let interrupted = first.is_none();
    let Some(statistics) = first.or(warm_start.statistics) else {
        return Ok(None);
    };
    let (log_likelihood, weight) = (statistics.log_likelihood(), statistics.weight());
    let objective = log_likelihood + model.log_prior(&warm_start.parameters);
    let result = EmResult {
        iterations: warm_start.expectations,
        warmup: warm_start.log_likelihoods,
        interrupted,
        seconds: vec![clock.elapsed().as_secs_f64()],
        ..EmResult::at_start(warm_start.parameters, statistics, log_likelihood, objective)
    };
    if interrupted {
        return Ok(Some(result));
    }
    let acceleration = match step {
        EStep::Hard => Acceleration::None,
        _ => options.acceleration,
    };
    let run = EmRun {
        model,
        source,
        step,
        weight: weight.max(f64::MIN_POSITIVE),
        options,
        control,
        clock,
        result,
        e_steps: 0,
        long_steps: LongSteps::new(acceleration),
        before_em_step: None,
        before_long_step: None,
    };
    run.finish().map(Some)
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A step of EM.
    Plain,
    /// The last step of EM, after which only the likelihood is computed.
    Last,
    /// A step longer than that of EM.
    Long,
}

/// EM in progress.
struct EmRun<'a, M: Latent> {
    model: &'a M,
    source: &'a dyn Source,
    step: EStep,
    /// The total weight of the rows.
    weight: f64,
    options: &'a EmOptions,
    control: Control<'a>,
    clock: Instant,
    result: EmResult<M::Parameters, M::Statistics>,
    /// The number of E-steps after the first.
    e_steps: usize,
    long_steps: LongSteps,
    /// The parameters from which one EM step led to the present ones, if one did.
    before_em_step: Option<M::Parameters>,
    /// Parameters, statistics and objective before a long step, until an EM step follows it.
    before_long_step: Option<(M::Parameters, M::Statistics, f64)>,
}

impl<M: Safeguards + Accelerated> EmRun<'_, M> {
    /// Iterates until the fit ends, and returns the result after the last EM step.
    fn finish(mut self) -> Result<EmResult<M::Parameters, M::Statistics>> {
        while self.e_steps < self.options.max_iterations
            && !self.result.converged
            && !self.result.singular
            // An impossible row has no responsibilities, so that no step makes it possible.
            && self.result.objective > f64::NEG_INFINITY
        {
            if !self.iterate()? {
                self.result.interrupted = true;
                break;
            }
        }
        if let Some((parameters, statistics, objective)) = self.before_long_step {
            self.result.parameters = parameters;
            self.result.statistics = statistics;
            self.result.objective = objective;
            self.result.trace.pop();
            self.result.objectives.pop();
            self.result.bounds.pop();
            self.result.seconds.pop();
        }
        self.result.iterations += self.e_steps;
        Ok(self.result)
    }

    /// Makes one step; returns false if the caller stopped it.
    fn iterate(&mut self) -> Result<bool> {
        let (model, result) = (self.model, &self.result);
        let parameters = model.maximize(&result.statistics, Some(&result.parameters));
        let before = model.complete_log_likelihood(&result.statistics, &result.parameters);
        let after = model.complete_log_likelihood(&result.statistics, &parameters);
        let log_likelihood = result.trace.last().copied().unwrap_or(f64::NAN);
        let bound = log_likelihood + (after - before);
        if let Some(made) = self.try_long_step(&parameters, bound)? {
            return Ok(made);
        }
        let is_last = self.is_last();
        self.e_steps += 1;
        let pass = Pass {
            likelihood_only: is_last,
            ..Pass::expectation(self.step)
        };
        let statistics = expect_all(model, self.source, &parameters, pass, self.control)?;
        let Some(statistics) = statistics else {
            return Ok(false);
        };
        let lower_bound = bound + model.log_prior(&parameters);
        let objective = statistics.log_likelihood() + model.log_prior(&parameters);
        let rounding = self.rounding(objective);
        // An EM step ends below its bound or its start only because of rounding, which is
        // unbounded if a component is nearly a point.
        let must_not_decrease = !model.may_decrease(self.result.trace.len() - 1);
        let decreased = objective < self.result.objective - rounding;
        let is_inexact = objective < lower_bound - rounding && model.is_singular(&parameters);
        if must_not_decrease && (decreased || is_inexact || objective.is_nan()) {
            self.end_before_step(objective);
        } else {
            let step = if is_last { Step::Last } else { Step::Plain };
            self.accept(parameters, statistics, bound, step);
        }
        Ok(true)
    }

    /// Tries a step longer than the EM step to `parameters`. Returns whether it was made or, with
    /// false, the caller stopped it; `None` if the EM step should be made instead.
    fn try_long_step(&mut self, parameters: &M::Parameters, bound: f64) -> Result<Option<bool>> {
        // A long step must be followed by an EM step, which takes another iteration.
        let Some(start) = &self.before_em_step else {
            return Ok(None);
        };
        if self.e_steps + 2 > self.options.max_iterations {
            return Ok(None);
        }
        let (model, result) = (self.model, &self.result);
        let points = [start, &result.parameters, parameters];
        let extrapolated = self.long_steps.extrapolate(model, points, result.objective);
        let Some(extrapolated) = extrapolated else {
            return Ok(None);
        };
        self.e_steps += 1;
        let pass = Pass::expectation(self.step);
        let statistics = match expect_all(model, self.source, &extrapolated, pass, self.control) {
            Ok(Some(statistics)) => statistics,
            Ok(None) => return Ok(Some(false)),
            // Far from the data, covariances may have no inverse.
            Err(error) if error.kind() == ErrorKind::Numeric => {
                self.long_steps.record_outcome(false);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let lower_bound = bound + model.log_prior(parameters);
        let objective = statistics.log_likelihood() + model.log_prior(&extrapolated);
        let before = self.result.objective - self.rounding(self.result.objective);
        let is_kept = objective >= lower_bound && objective >= before;
        self.long_steps.record_outcome(is_kept);
        if !is_kept {
            return Ok(None);
        }
        self.accept(extrapolated, statistics, bound, Step::Long);
        Ok(Some(true))
    }

    /// Whether the next EM step is the last: with a tolerance per row, the gain of the previous
    /// step decides.
    fn is_last(&self) -> bool {
        self.options.stop == Stop::PerRow
            && (self.e_steps + 1 >= self.options.max_iterations || self.has_settled())
    }

    /// Whether the last step gained less than the tolerance per row.
    fn has_settled(&self) -> bool {
        match self.result.trace.as_slice() {
            [.., first, second] => (second - first).abs() < self.options.tolerance * self.weight,
            _ => false,
        }
    }

    /// The maximum decrease of an objective by rounding.
    fn rounding(&self, objective: f64) -> f64 {
        ROUNDING * (self.weight + objective.abs())
    }

    /// Ends the fit before a step that rounding makes useless.
    fn end_before_step(&mut self, objective: f64) {
        let change = (objective - self.result.objective) / self.weight;
        self.result.singular = true;
        self.result.converged =
            self.before_long_step.is_none() && change.abs() <= self.min_change(objective);
    }

    /// The change of the mean objective below which the fit has converged.
    fn min_change(&self, objective: f64) -> f64 {
        let mean = objective / self.weight + self.model.log_units();
        self.options.tolerance * (1.0 + mean.abs())
    }

    /// Accepts a step: updates the result, and judges convergence.
    fn accept(
        &mut self,
        parameters: M::Parameters,
        statistics: M::Statistics,
        bound: f64,
        step: Step,
    ) {
        let weight = self.weight;
        let had_settled = self.has_settled();
        let log_likelihood = statistics.log_likelihood();
        let objective = log_likelihood + self.model.log_prior(&parameters);
        let min_change = self.min_change(objective);
        let result = &mut self.result;
        let change = (objective - result.objective) / weight;
        if change < -ROUNDING * (1.0 + (objective / weight).abs()) {
            result.monotone = false;
        }
        let before = std::mem::replace(&mut result.parameters, parameters);
        if step == Step::Long {
            let statistics_before = std::mem::replace(&mut result.statistics, statistics);
            result.long_steps += 1;
            self.before_long_step = Some((before, statistics_before, result.objective));
            self.before_em_step = None;
        } else {
            if step == Step::Plain {
                result.statistics = statistics;
            } else {
                let bound = if bound.is_finite() {
                    bound
                } else {
                    log_likelihood
                };
                result.statistics.set_log_likelihood(bound);
            }
            self.before_long_step = None;
            self.before_em_step = Some(before);
            self.long_steps.record_gain(change);
        }
        result.objective = objective;
        result.bounds.push(bound);
        result.trace.push(log_likelihood);
        result.objectives.push(objective);
        result.seconds.push(self.clock.elapsed().as_secs_f64());
        self.control.report(Progress::Iteration {
            number: self.e_steps,
            of: self.options.max_iterations,
            mean_log_likelihood: log_likelihood / weight,
        });
        // If EM is slow, small steps do not mean that the maximum is near.
        let remaining = self.long_steps.remaining_gain(objective, change * weight);
        let is_near = remaining.is_none_or(|gain| gain / weight <= min_change);
        let is_long = step == Step::Long;
        result.converged = match self.options.stop {
            Stop::Relative => !is_long && change.abs() <= min_change && is_near,
            Stop::PerRow => !is_long && had_settled,
        };
    }
}
