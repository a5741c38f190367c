//! From what EM found to a fit: components in their order, the figures that compare
//! fits, BIC = −2 ln L + ν ln n and AIC = −2 ln L + 2ν, and what the user should know.

use crate::Control;
use crate::Result;
use crate::data::{Schema, Source};
use crate::leaf::Seen;
use crate::learn::{EmOptions, em};
use crate::model::LogLikelihoodOf;
use crate::model::mixture::fit::saddle;
use crate::model::mixture::report::diagnose::{diagnose, order_components};
use crate::model::mixture::report::diagnostics::Diagnostics;
use crate::model::mixture::step::task::{Found, Task};
use crate::model::mixture::{Fit, FitOptions};

impl Fit {
    /// Takes the likelihood of the rows as they are, whose trace is that of rows completed.
    pub(crate) fn is_of_rows(
        &mut self,
        task: &Task,
        source: &dyn Source,
        control: Control,
    ) -> Result<()> {
        let task = Task {
            components: self.mixture.components(),
            ..task.clone()
        };
        let once = EmOptions {
            max_iterations: 0,
            ..EmOptions::PLAIN
        };
        let start = self.mixture.parameters.clone();
        if let Some(found) = em(&task, source, start, &once, control)? {
            self.log_likelihood = found.trace.last().copied().unwrap_or(f64::NAN);
            let parameters = self.parameters as f64;
            self.bic = -2.0 * self.log_likelihood + parameters * self.weight.ln();
            self.aic = -2.0 * self.log_likelihood + 2.0 * parameters;
        }
        Ok(())
    }
}

/// The fit that a result is.
pub(crate) fn finish(
    task: &Task,
    schema: &Schema,
    seen: Seen,
    options: &FitOptions,
    mut result: Found,
) -> Fit {
    let mut warnings = Vec::new();
    let dropped = match task.target.is_none() && !task.is_numbered() && !options.numbered {
        true => order_components(task.leaves, &mut result, &mut warnings),
        false => 0,
    };
    warnings.extend(diagnose(
        task.leaves,
        schema,
        task.target,
        &seen,
        &result,
        options,
    ));
    if task.target.is_none() {
        warnings.extend(saddle::told(task, &seen, &result));
    }
    // Stopped while starts were tried on a sample, that is all there is.
    let weight = result.statistics.total;
    let all = seen.total - (1.0 - task.unlabelled) * seen.unlabelled;
    if result.interrupted && weight < 0.999 * all {
        warnings.push(format!(
            "stopped before all rows were used: model and figures are of a sample of weight {weight}"
        ));
    }
    let rows = seen.rows;
    let mixture = task.mixture(schema, result.parameters, result.statistics, seen);
    let mut log_likelihood = result.trace.last().copied().unwrap_or(f64::NAN);
    // Scores are no likelihood.
    if !mixture.is_generative() {
        log_likelihood = f64::NAN;
        result.trace = vec![f64::NAN];
        result.objectives = vec![f64::NAN];
        result.bounds.clear();
    }
    let parameters = mixture.free_parameters();
    let mut diagnostics =
        Diagnostics::without_rows(&mixture, &result.trace, &result.bounds, dropped);
    // Of steps of several lengths, gains tell no rate.
    if result.leaps > 0 {
        (diagnostics.rate, diagnostics.remaining) = (None, None);
    }
    Fit {
        rows,
        weight,
        log_likelihood,
        log_likelihood_of: LogLikelihoodOf::Rows,
        parameters,
        bic: -2.0 * log_likelihood + parameters as f64 * weight.ln(),
        aic: -2.0 * log_likelihood + 2.0 * parameters as f64,
        iterations: result.iterations,
        converged: result.converged,
        monotone: result.monotone,
        interrupted: result.interrupted,
        trace: result.trace,
        objectives: result.objectives,
        warmup: result.warmup,
        bounds: result.bounds,
        trace_seconds: result.seconds,
        restarts: Vec::new(),
        starts: Vec::new(),
        diagnostics,
        warnings,
        unlabelled: None,
        mixture,
    }
}
