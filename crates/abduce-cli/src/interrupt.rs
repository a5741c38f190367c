//! Ctrl-C. While a model is fitted the first one asks for the best model so
//! far; everywhere else, and the second time, it ends the program at once,
//! without a half-written file left behind.

use crate::failure::{Failure, Outcome};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static FITTING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The exit code of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

pub fn install() -> Outcome {
    ctrlc::set_handler(|| {
        if FITTING.load(Ordering::SeqCst) && !ASKED.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Ok(mut unfinished) = UNFINISHED.lock()
            && let Some(path) = unfinished.take()
        {
            let _ = std::fs::remove_file(path);
        }
        std::process::exit(INTERRUPTED);
    })
    .map_err(|error| Failure::work(format!("Ctrl-C cannot be watched: {error}")))
}

/// Runs a fit that may be asked to stop.
pub fn stoppable<T>(fit: impl FnOnce(&AtomicBool) -> T) -> T {
    FITTING.store(true, Ordering::SeqCst);
    let result = fit(&ASKED);
    FITTING.store(false, Ordering::SeqCst);
    result
}

/// Says which file to remove if the program is ended now.
pub fn unfinished(path: Option<PathBuf>) {
    if let Ok(mut unfinished) = UNFINISHED.lock() {
        *unfinished = path;
    }
}
