//! A line on stderr about a fit that takes a while: drawn only on a terminal,
//! and only after half a second, so that short fits stay silent.

use crate::context::Context;
use abduce::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(500);

pub struct FitProgress {
    wanted: bool,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bar: Option<ProgressBar>,
    restart: Option<(usize, usize)>,
    /// Whether the start has had an iteration.
    begun: bool,
}

impl FitProgress {
    pub fn new(context: &Context) -> FitProgress {
        FitProgress {
            wanted: !context.quiet && std::io::stderr().is_terminal(),
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
                state.begun = false;
            }
            // After the last start, the best goes on with all rows.
            Progress::Iteration { number: 1, .. } | Progress::Round { number: 1, .. }
                if state.begun =>
            {
                state.restart = None;
            }
            Progress::Iteration { .. } | Progress::Round { .. } => state.begun = true,
            Progress::Survey | Progress::Candidate { .. } | Progress::Replicate { .. } => {}
        }
        if !self.wanted || self.start.elapsed() < PATIENCE {
            return;
        }
        let restart = match state.restart {
            Some((number, of)) if of > 1 => format!("start {number} of {of}, "),
            _ => String::new(),
        };
        let message = match progress {
            Progress::Round {
                number, inertia, ..
            } => format!("{restart}iteration {number}, inertia {inertia:.6}"),
            Progress::Survey => "looking at all rows".to_string(),
            Progress::Candidate { number, of } => format!("{number} of {of} fits compared"),
            Progress::Replicate {
                components,
                number,
                of,
            } => format!(
                "{components} or {} components: {number} of {of} tables drawn",
                components + 1
            ),
            Progress::Restart { .. } => format!("{restart}beginning"),
            Progress::Iteration {
                number,
                mean_log_likelihood,
                ..
            } => {
                format!("{restart}iteration {number}, mean log-likelihood {mean_log_likelihood:.6}")
            }
        };
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
