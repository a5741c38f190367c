//! Progress reports and interruption of a fit.

use std::sync::atomic::{AtomicBool, Ordering};

/// A step of a fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The first pass over all rows begins.
    Survey,
    /// Fit `number` of `of` candidates in a model selection has ended.
    Candidate {
        /// Counted from 1.
        number: usize,
        /// How many there will be.
        of: usize,
    },
    /// Replicate `number` of `of` in a bootstrap test of `components` against one more has
    /// ended.
    Replicate {
        /// The number of components under test.
        components: usize,
        /// Counted from 1.
        number: usize,
        /// How many there will be.
        of: usize,
    },
    /// Restart `number` of `of` begins.
    Restart {
        /// Counted from 1.
        number: usize,
        /// How many there will be.
        of: usize,
    },
    /// An EM iteration over all rows has ended.
    Iteration {
        /// Counted from 1.
        number: usize,
        /// The most there will be.
        of: usize,
        /// The mean log-likelihood of a row.
        mean_log_likelihood: f64,
    },
    /// A round of k-means over all rows has ended.
    Round {
        /// Counted from 1.
        number: usize,
        /// The most there will be.
        of: usize,
        /// The sum of distances to the centres.
        inertia: f64,
    },
}

/// Observes a fit and can interrupt it; the default does neither.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Set to true, for example by a signal handler, to stop with the best model so far.
    pub interrupt: Option<&'a AtomicBool>,
    /// Called at every step.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl Control<'_> {
    /// Whether to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    pub(crate) fn report(&self, progress: Progress) {
        if let Some(watch) = self.progress {
            watch(progress);
        }
    }
}
