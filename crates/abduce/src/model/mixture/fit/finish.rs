//! From the result of EM to a fit: ordered components, the information criteria
//! BIC = −2 ln L + ν ln n and AIC = −2 ln L + 2ν, and warnings.

use crate::Control;
use crate::Result;
use crate::data::{Schema, Source};
use crate::leaf::TableSummary;
use crate::learn::{EmOptions, em};
use crate::model::LogLikelihoodOf;
use crate::model::mixture::fit::identical;
use crate::model::mixture::report::diagnose::{diagnose, order_components};
use crate::model::mixture::report::diagnostics::Diagnostics;
use crate::model::mixture::step::task::{EmFit, Task};
use crate::model::mixture::{Fit, FitOptions};

impl Fit {
    /// Replaces the log-likelihood of hard EM, which is that of the completed rows, by that of
    /// the rows.
    pub(crate) fn use_soft_log_likelihood(
        &mut self,
        task: &Task,
        source: &dyn Source,
        control: Control,
    ) -> Result<()> {
        let task = Task {
            components: self.mixture.components(),
            ..task.clone()
        };
        let options = EmOptions {
            max_iterations: 0,
            ..EmOptions::PLAIN
        };
        let parameters = self.mixture.parameters.clone();
        if let Some(found) = em(&task, source, parameters, &options, control)? {
            self.log_likelihood = found.trace.last().copied().unwrap_or(f64::NAN);
            self.bic = bic(self.log_likelihood, self.parameters, self.weight);
            self.aic = aic(self.log_likelihood, self.parameters);
        }
        Ok(())
    }
}

fn bic(log_likelihood: f64, parameters: usize, weight: f64) -> f64 {
    -2.0 * log_likelihood + parameters as f64 * weight.ln()
}

fn aic(log_likelihood: f64, parameters: usize) -> f64 {
    -2.0 * log_likelihood + 2.0 * parameters as f64
}

/// A warning if the fit was interrupted while starts were tried on a sample.
fn sample_warning(task: &Task, summary: &TableSummary, found: &EmFit) -> Option<String> {
    let weight = found.statistics.total;
    let all = summary.total - (1.0 - task.unlabelled) * summary.unlabelled;
    (found.interrupted && weight < 0.999 * all).then(|| {
        format!(
            "interrupted before all rows were used: the model and its report describe a sample \
             of weight {weight}"
        )
    })
}

/// Converts the result of EM to a fit: orders components, and adds criteria and warnings.
pub(crate) fn finish(
    task: &Task,
    schema: &Schema,
    summary: TableSummary,
    options: &FitOptions,
    mut found: EmFit,
) -> Fit {
    let mut warnings = Vec::new();
    let mut dropped = 0;
    if task.target.is_none() && !task.has_fixed_numbering() && !options.numbered {
        dropped = order_components(task.leaves, &mut found, &mut warnings);
    }
    warnings.extend(diagnose(task, schema, &summary, &found, options));
    if task.target.is_none() {
        warnings.extend(identical::warnings(task, &summary, &found));
    }
    warnings.extend(sample_warning(task, &summary, &found));
    let (rows, weight) = (summary.rows, found.statistics.total);
    let mixture = task.fitted_mixture(schema, found.parameters, found.statistics, summary);
    let mut log_likelihood = found.trace.last().copied().unwrap_or(f64::NAN);
    // Scores are no likelihood.
    if !mixture.is_generative() {
        log_likelihood = f64::NAN;
        found.trace = vec![f64::NAN];
        found.objectives = vec![f64::NAN];
        found.bounds.clear();
    }
    let parameters = mixture.free_parameters();
    let mut diagnostics = Diagnostics::without_rows(&mixture, &found.trace, &found.bounds, dropped);
    // Accelerated steps differ in length, so their gains have no common rate.
    if found.long_steps > 0 {
        (diagnostics.rate, diagnostics.remaining) = (None, None);
    }
    Fit {
        rows,
        weight,
        log_likelihood,
        log_likelihood_of: LogLikelihoodOf::Rows,
        parameters,
        bic: bic(log_likelihood, parameters, weight),
        aic: aic(log_likelihood, parameters),
        iterations: found.iterations,
        converged: found.converged,
        monotone: found.monotone,
        interrupted: found.interrupted,
        trace: found.trace,
        objectives: found.objectives,
        warmup: found.warmup,
        bounds: found.bounds,
        trace_seconds: found.seconds,
        restarts: Vec::new(),
        starts: Vec::new(),
        diagnostics,
        warnings,
        unlabelled: None,
        mixture,
    }
}
