//! The progress of a fit, on one line of stderr: only on a terminal, and only after half a second.

use crate::context::Context;
use abduce::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Shorter fits show no progress.
const DELAY: Duration = Duration::from_millis(500);

pub struct FitProgress {
    shown: bool,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bar: Option<ProgressBar>,
    restart: Option<(usize, usize)>,
    /// Whether the current start has begun to iterate.
    has_iterated: bool,
}

impl FitProgress {
    pub fn new(context: &Context) -> FitProgress {
        FitProgress {
            shown: !context.quiet && std::io::stderr().is_terminal(),
            start: Instant::now(),
            state: Mutex::default(),
        }
    }

    pub fn show(&self, progress: Progress) {
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        match progress {
            Progress::Restart { number, of } => {
                state.restart = Some((number, of));
                state.has_iterated = false;
            }
            // After the last start, the best one is continued on all rows.
            Progress::Iteration { number: 1, .. } | Progress::Round { number: 1, .. }
                if state.has_iterated =>
            {
                state.restart = None;
            }
            Progress::Iteration { .. } | Progress::Round { .. } => state.has_iterated = true,
            Progress::Survey | Progress::Candidate { .. } | Progress::Replicate { .. } => {}
        }
        if !self.shown || self.start.elapsed() < DELAY {
            return;
        }
        let message = message(progress, state.restart);
        let bar = state.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        bar.set_message(message);
    }

    pub fn clear(&self) {
        if let Ok(mut state) = self.state.lock()
            && let Some(bar) = state.bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

/// The text about a step of the fit; `restart` is the number of the start and of all starts.
fn message(progress: Progress, restart: Option<(usize, usize)>) -> String {
    let restart = match restart {
        Some((number, of)) if of > 1 => format!("start {number} of {of}, "),
        _ => String::new(),
    };
    match progress {
        Progress::Round {
            number, inertia, ..
        } => format!("{restart}iteration {number}, inertia {inertia:.6}"),
        Progress::Survey => "reading all rows".to_string(),
        Progress::Candidate { number, of } => format!("{number} of {of} fits compared"),
        Progress::Replicate {
            components,
            number,
            of,
        } => format!(
            "{components} or {} components: {number} of {of} tables simulated",
            components + 1
        ),
        Progress::Restart { .. } => format!("{restart}starting"),
        Progress::Iteration {
            number,
            mean_log_likelihood,
            ..
        } => {
            format!("{restart}iteration {number}, mean log-likelihood {mean_log_likelihood:.6}")
        }
    }
}
