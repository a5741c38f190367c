//! The EM loop. Each iteration maximises the parameters given the expected statistics and takes
//! the expectation again: EM with a soft E-step, hard EM, as in k-means, with a hard one. The
//! objective, log-likelihood plus log-prior, never falls; every fit checks that and keeps the
//! whole trace. Stochastic rounds (`stochastic.rs`) and batches (`online.rs`) only choose where
//! the loop starts; longer steps (`squarem.rs`) are kept only where they rise at least as high as
//! EM's.

use super::latent::{Accelerated, EStep, Expected, Latent, Pass, Safeguards};
use super::online::{self, Online};
use super::pass::expect_all;
use super::squarem::{Acceleration, Strides};
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

/// When to stop, and how to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmOptions {
    /// How hidden labels and cells are filled in.
    pub step: EStep,
    /// The relative change of the mean objective below which the fit has converged.
    pub tolerance: f64,
    /// How convergence is judged.
    #[serde(default, skip_serializing_if = "Stop::is_relative")]
    pub stop: Stop,
    /// The maximum number of iterations: E-steps over all rows after the first.
    pub max_iterations: usize,
    /// Whether steps may be longer than EM's. Hard steps never are.
    #[serde(default)]
    pub acceleration: Acceleration,
    /// With [`EStep::Sampled`], the number of rounds of drawn labels before EM continues from the
    /// best maximum found.
    #[serde(default = "rounds")]
    pub rounds: usize,
    /// Batches of rows, after each of which the parameters are updated, before EM goes over all
    /// rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<Online>,
}

const fn rounds() -> usize {
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
    pub fn plainly(&self) -> EmOptions {
        EmOptions {
            step: self.closing_step(),
            acceleration: Acceleration::None,
            online: None,
            ..self.clone()
        }
    }

    /// The E-step of the iterations in which the objective must rise.
    fn closing_step(&self) -> EStep {
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
    /// The statistics expected under them; with a tolerance per row, those that they were
    /// estimated from.
    pub statistics: S,
    /// The log-likelihood under the parameters before each step, and last under the parameters
    /// returned. With a hard E-step it is that of the rows completed by their most probable
    /// labels and cells.
    pub trace: Vec<f64>,
    /// After each maximisation, the lower bound of the log-likelihood (ELBO) under the previous
    /// expectation: at least the log-likelihood before the step, and below the one after it by
    /// the Kullback–Leibler divergence of the old posterior of what is hidden from the new one.
    pub bounds: Vec<f64>,
    /// The log-likelihoods before the trace, which need not rise: those of rounds of drawn labels
    /// and of the maxima EM climbed to from them, or of passes in batches.
    pub warmup: Vec<f64>,
    /// The log-likelihood plus log-prior at the end.
    pub objective: f64,
    /// The objective for every entry of the trace; it never falls.
    pub objectives: Vec<f64>,
    /// The number of E-steps over all rows after the first, including those of the warm-up and of
    /// long steps that were rejected.
    pub iterations: usize,
    /// The number of steps longer than EM's in the trace.
    pub leaps: usize,
    /// Whether the change of the objective fell below the tolerance.
    pub converged: bool,
    /// Whether the objective never fell by more than rounding.
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
    /// Before any step.
    fn at(parameters: P, statistics: S, log_likelihood: f64, objective: f64) -> Self {
        EmResult {
            parameters,
            statistics,
            trace: vec![log_likelihood],
            bounds: Vec::new(),
            warmup: Vec::new(),
            objective,
            objectives: vec![objective],
            iterations: 0,
            leaps: 0,
            converged: false,
            monotone: true,
            singular: false,
            interrupted: false,
            seconds: Vec::new(),
        }
    }
}

/// Where stochastic rounds or batches ended.
pub(super) struct Warm<P, S> {
    pub parameters: P,
    /// Statistics to report if the caller stops the fit before EM starts.
    pub statistics: Option<S>,
    /// The log-likelihood in each round.
    pub log_likelihoods: Vec<f64>,
    /// How many E-steps went over all rows.
    pub expectations: usize,
}

impl<P, S> Warm<P, S> {
    /// Before any step.
    pub fn cold(start: P) -> Self {
        Warm {
            parameters: start,
            statistics: None,
            log_likelihoods: Vec::new(),
            expectations: 0,
        }
    }
}

/// Relative fall of the objective that rounding can explain.
const ROUNDING: f64 = 1e-9;

/// Runs EM from given parameters until it converges.
///
/// # Errors
/// If the source cannot be read or the arithmetic fails; not converging is no error.
pub fn em<M: Safeguards + Accelerated>(
    model: &M,
    source: &dyn Source,
    start: M::Parameters,
    options: &EmOptions,
    control: Control,
) -> Result<Option<EmResult<M::Parameters, M::Statistics>>> {
    let clock = Instant::now();
    let step = options.closing_step();
    let warm = match (&options.online, options.step) {
        (Some(online), _) => online::passes(model, source, start, online, options, control)?,
        (None, EStep::Sampled) => stochastic::rounds(model, source, start, options, control)?,
        _ => Warm::cold(start),
    };
    let first = expect_all(
        model,
        source,
        &warm.parameters,
        Pass::expectation(step),
        control,
    )?;
    let interrupted = first.is_none();
    let Some(statistics) = first.or(warm.statistics) else {
        return Ok(None);
    };
    let (log_likelihood, weight) = (statistics.log_likelihood(), statistics.weight());
    let objective = log_likelihood + model.log_prior(&warm.parameters);
    let result = EmResult {
        iterations: warm.expectations,
        warmup: warm.log_likelihoods,
        interrupted,
        seconds: vec![clock.elapsed().as_secs_f64()],
        ..EmResult::at(warm.parameters, statistics, log_likelihood, objective)
    };
    if interrupted {
        return Ok(Some(result));
    }
    let mut climb = Climb {
        strides: Strides::new(match step {
            EStep::Hard => Acceleration::None,
            _ => options.acceleration,
        }),
        model,
        source,
        step,
        weight: weight.max(f64::MIN_POSITIVE),
        options,
        control,
        clock,
        result,
        spent: 0,
        before: None,
        firm: None,
    };
    let over = |result: &EmResult<_, _>| result.converged || result.singular;
    while climb.spent < options.max_iterations && !over(&climb.result) {
        if !climb.rise()? {
            climb.result.interrupted = true;
            break;
        }
    }
    Ok(Some(climb.end()))
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A step of EM.
    Plain,
    /// The last step of EM, after which only the likelihood is computed.
    Last,
    /// A step longer than EM's.
    Long,
}

/// EM in progress.
struct Climb<'a, M: Latent> {
    model: &'a M,
    source: &'a dyn Source,
    step: EStep,
    weight: f64,
    options: &'a EmOptions,
    control: Control<'a>,
    clock: Instant,
    result: EmResult<M::Parameters, M::Statistics>,
    /// The number of E-steps after the first.
    spent: usize,
    strides: Strides,
    /// The parameters from which one EM step led to the present ones, if it did.
    before: Option<M::Parameters>,
    /// Parameters, statistics and objective before a long step, until an EM step follows it.
    firm: Option<(M::Parameters, M::Statistics, f64)>,
}

impl<M: Safeguards + Accelerated> Climb<'_, M> {
    /// One step; false when the caller stopped it.
    fn rise(&mut self) -> Result<bool> {
        let (model, result) = (self.model, &self.result);
        let parameters = model.maximize(&result.statistics, Some(&result.parameters));
        let before = model.complete_log_likelihood(&result.statistics, &result.parameters);
        let after = model.complete_log_likelihood(&result.statistics, &parameters);
        let last = result.trace.last().copied().unwrap_or(f64::NAN);
        let bound = last + (after - before);
        if let Some(made) = self.leap(&parameters, bound)? {
            return Ok(made);
        }
        let last = self.is_last();
        self.spent += 1;
        let pass = Pass {
            likelihood_only: last,
            ..Pass::expectation(self.step)
        };
        let statistics = expect_all(model, self.source, &parameters, pass, self.control)?;
        let Some(statistics) = statistics else {
            return Ok(false);
        };
        let least = bound + model.log_prior(&parameters);
        let objective = statistics.log_likelihood() + model.log_prior(&parameters);
        let rounding = self.rounding(objective);
        // A step of EM ends below its bound or its start only by rounding, which is unbounded
        // where a component is nearly a point.
        let stepped = !model.may_decrease(self.result.trace.len() - 1);
        let fell = objective < self.result.objective - rounding;
        let spoiled = objective < least - rounding && model.is_singular(&parameters);
        if stepped && (fell || spoiled || objective.is_nan()) {
            self.stay(objective);
        } else {
            let step = if last { Step::Last } else { Step::Plain };
            self.accept(parameters, statistics, bound, step);
        }
        Ok(true)
    }

    /// Tries a step longer than the one of EM to `parameters`: whether it was made, or the
    /// caller stopped it; `None` where EM's is to be made instead.
    fn leap(&mut self, parameters: &M::Parameters, bound: f64) -> Result<Option<bool>> {
        // A long step must be followed by one of EM, which takes another iteration.
        let Some(start) = &self.before else {
            return Ok(None);
        };
        if self.spent + 2 > self.options.max_iterations {
            return Ok(None);
        }
        let (model, result) = (self.model, &self.result);
        let points = [start, &result.parameters, parameters];
        let Some(far) = self.strides.leap(model, points, result.objective) else {
            return Ok(None);
        };
        self.spent += 1;
        let pass = Pass::expectation(self.step);
        let statistics = match expect_all(model, self.source, &far, pass, self.control) {
            Ok(Some(statistics)) => statistics,
            Ok(None) => return Ok(Some(false)),
            // Far from the data, covariances may have no inverse.
            Err(why) if why.kind() == ErrorKind::Numeric => {
                self.strides.learn(false);
                return Ok(None);
            }
            Err(why) => return Err(why),
        };
        let least = bound + model.log_prior(parameters);
        let objective = statistics.log_likelihood() + model.log_prior(&far);
        let here = self.result.objective - self.rounding(self.result.objective);
        let kept = objective >= least && objective >= here;
        self.strides.learn(kept);
        if !kept {
            return Ok(None);
        }
        self.accept(far, statistics, bound, Step::Long);
        Ok(Some(true))
    }

    /// Whether the next step of EM is the last: with a tolerance per row, the gain of the
    /// previous step decides.
    fn is_last(&self) -> bool {
        self.options.stop == Stop::PerRow
            && (self.spent + 1 >= self.options.max_iterations || self.has_settled())
    }

    /// Whether the last step gained less than the tolerance per row.
    fn has_settled(&self) -> bool {
        match self.result.trace.as_slice() {
            [.., first, second] => (second - first).abs() < self.options.tolerance * self.weight,
            _ => false,
        }
    }

    /// The fall of an objective that rounding can explain.
    fn rounding(&self, objective: f64) -> f64 {
        ROUNDING * (self.weight + objective.abs())
    }

    /// Ends the fit before a step that rounding has spoiled.
    fn stay(&mut self, objective: f64) {
        let change = (objective - self.result.objective) / self.weight;
        self.result.singular = true;
        self.result.converged = self.firm.is_none() && change.abs() <= self.least(objective);
    }

    /// The change of the mean objective at which the fit has converged.
    fn least(&self, objective: f64) -> f64 {
        let mean = objective / self.weight + self.model.log_units();
        self.options.tolerance * (1.0 + mean.abs())
    }

    /// Moves to where a step led.
    fn accept(&mut self, to: M::Parameters, statistics: M::Statistics, bound: f64, step: Step) {
        let (model, weight) = (self.model, self.weight);
        let (long, settled) = (step == Step::Long, self.has_settled());
        let log_likelihood = statistics.log_likelihood();
        let objective = log_likelihood + model.log_prior(&to);
        let least = self.least(objective);
        let result = &mut self.result;
        let change = (objective - result.objective) / weight;
        if change < -ROUNDING * (1.0 + (objective / weight).abs()) {
            result.monotone = false;
        }
        let from = std::mem::replace(&mut result.parameters, to);
        match step {
            Step::Long => {
                let expected = std::mem::replace(&mut result.statistics, statistics);
                result.leaps += 1;
                self.firm = Some((from, expected, result.objective));
                self.before = None;
            }
            Step::Plain | Step::Last => {
                if step == Step::Plain {
                    result.statistics = statistics;
                } else {
                    let least = if bound.is_finite() {
                        bound
                    } else {
                        log_likelihood
                    };
                    result.statistics.set_log_likelihood(least);
                }
                self.firm = None;
                self.before = Some(from);
                self.strides.watch(change);
            }
        }
        result.objective = objective;
        result.bounds.push(bound);
        result.trace.push(log_likelihood);
        result.objectives.push(objective);
        result.seconds.push(self.clock.elapsed().as_secs_f64());
        self.control.report(Progress::Iteration {
            number: self.spent,
            of: self.options.max_iterations,
            mean_log_likelihood: log_likelihood / weight,
        });
        // Where EM is slow, small steps do not mean that the maximum is near.
        let left = self.strides.left(objective, change * weight);
        let near = left.is_none_or(|gain| gain / weight <= least);
        result.converged = match self.options.stop {
            Stop::Relative => !long && change.abs() <= least && near,
            Stop::PerRow => !long && settled,
        };
    }

    /// The result, at the end of a step of EM.
    fn end(mut self) -> EmResult<M::Parameters, M::Statistics> {
        if let Some((parameters, statistics, objective)) = self.firm {
            self.result.parameters = parameters;
            self.result.statistics = statistics;
            self.result.objective = objective;
            self.result.trace.pop();
            self.result.objectives.pop();
            self.result.bounds.pop();
            self.result.seconds.pop();
        }
        self.result.iterations += self.spent;
        self.result
    }
}
