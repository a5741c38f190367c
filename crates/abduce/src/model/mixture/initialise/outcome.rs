//! How the starts of a fit ended.

use crate::Result;
use crate::leaf::TableSummary;
use crate::model::mixture::report::diagnose::any_collapsed;
use crate::model::mixture::step::task::{EmFit, Task};
use serde::{Deserialize, Serialize};

/// The outcome of one start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The objective it reached, log-likelihood plus log-prior; `None` if it failed.
    pub objective: Option<f64>,
    /// The number of iterations.
    pub iterations: usize,
    /// How it ended.
    pub ended: Ended,
}

/// How a start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// At a maximum.
    Converged,
    /// At the maximum number of iterations.
    Unconverged,
    /// With a component collapsed onto a few rows; such a result is used only if there is no other.
    Spurious,
    /// After a few iterations (in a grid possibly none), or on a sample of a large table; it was not
    /// among the starts that were continued.
    Tried,
    /// With a numerical error.
    Failed,
    /// By the caller.
    Interrupted,
}

/// Whether a component has collapsed onto a few rows, or would have without rounding errors.
pub(super) fn is_spurious(task: &Task, summary: &TableSummary, found: &EmFit) -> bool {
    (found.singular && !found.converged) || any_collapsed(task.leaves, summary, &found.parameters)
}

impl Start {
    pub(super) fn of(
        attempt: &Result<Option<EmFit>>,
        task: &Task,
        summary: &TableSummary,
        until_convergence: bool,
    ) -> Start {
        let Ok(Some(found)) = attempt else {
            return Start {
                objective: None,
                iterations: 0,
                ended: match attempt {
                    Err(_) => Ended::Failed,
                    Ok(_) => Ended::Interrupted,
                },
            };
        };
        Start {
            objective: found.objective.is_finite().then_some(found.objective),
            iterations: found.iterations,
            ended: match found {
                found if found.interrupted => Ended::Interrupted,
                found if is_spurious(task, summary, found) => Ended::Spurious,
                _ if !until_convergence => Ended::Tried,
                found if found.converged => Ended::Converged,
                _ => Ended::Unconverged,
            },
        }
    }

    /// The best objective of several starts and the number of starts that reached it. Spurious
    /// ones count only if there are no others. An objective within 1e-5 per row of weight 1 counts
    /// as equal: at the default tolerance, converged fits can still differ by that much.
    pub fn best_of(starts: &[Start], weight: f64) -> Option<(f64, usize)> {
        let objectives = |with_spurious: bool| {
            starts
                .iter()
                .filter(move |start| with_spurious || start.ended != Ended::Spurious)
                .filter_map(|start| start.objective)
        };
        let with_spurious = objectives(false).next().is_none();
        let best = objectives(with_spurious).max_by(f64::total_cmp)?;
        let equal = objectives(with_spurious).filter(|objective| best - objective <= 1e-5 * weight);
        Some((best, equal.count()))
    }
}

/// The outcomes of the starts of a fit.
#[derive(Default)]
pub(crate) struct Starts {
    pub outcomes: Vec<Start>,
    /// Whether EM ended at the coarse tolerance of a grid instead of that of the options.
    pub is_coarse: bool,
}
