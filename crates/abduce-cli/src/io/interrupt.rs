//! Signals that end the program: SIGINT (Ctrl-C), SIGTERM and SIGHUP. The first signal during a fit
//! stops it with the best model so far; any other signal removes unfinished files and ends the
//! program at once. The exit code is 128 plus the number of the signal.

use crate::io::failure::{Failure, Outcome};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static FITTING: AtomicBool = AtomicBool::new(false);
/// Whether a signal has asked the fit to stop.
static STOPPED: AtomicBool = AtomicBool::new(false);
/// The signal that stopped a fit.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

const SIGINT: i32 = 2;

pub fn install() -> Outcome {
    watch().map_err(|error| Failure::work(format!("signals cannot be handled: {error}")))
}

#[cfg(unix)]
fn watch() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    // Signals that the parent ignores stay ignored: SIGHUP under nohup, SIGINT in a background
    // job of a script.
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let handled = handled.filter(|signal| !is_ignored(*signal));
    let mut signals = signal_hook::iterator::Signals::new(handled)?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || signals.forever().for_each(handle))?;
    Ok(())
}

#[cfg(not(unix))]
fn watch() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| handle(SIGINT))
}

/// Whether the process was started with a signal ignored.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Other systems do not report which signals are ignored, so SIGHUP, which nohup ignores, is never
/// handled.
#[cfg(all(unix, not(target_os = "linux")))]
fn is_ignored(signal: i32) -> bool {
    signal == signal_hook::consts::SIGHUP
}

fn handle(signal: i32) {
    if FITTING.load(Ordering::SeqCst) && !STOPPED.load(Ordering::SeqCst) {
        SIGNAL.store(signal, Ordering::SeqCst);
        STOPPED.store(true, Ordering::SeqCst);
        return;
    }
    // The lock is held until the end, so that no other file is created.
    let unfinished = UNFINISHED.lock();
    for path in unfinished.iter().flat_map(|paths| paths.iter()) {
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(128 + signal);
}

/// Runs a fit that a signal may stop.
pub fn stoppable<T>(fit: impl FnOnce(&AtomicBool) -> T) -> T {
    FITTING.store(true, Ordering::SeqCst);
    let result = fit(&STOPPED);
    FITTING.store(false, Ordering::SeqCst);
    result
}

/// Whether a signal has stopped a fit.
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// The failure of a fit, which is an interruption if a signal has stopped it.
pub fn failure(error: abduce::Error) -> Failure {
    if is_stopped() {
        Failure::Interrupted(Some(error.to_string()))
    } else {
        error.into()
    }
}

/// The exit code after a fit that a signal has stopped.
pub fn exit_code() -> u8 {
    u8::try_from(128 + SIGNAL.load(Ordering::SeqCst)).unwrap_or(1)
}

/// Creates a file that is removed if a signal ends the program before [`finished`]. `create`
/// returns the file and its temporary path.
pub fn create_tracked<T>(create: impl FnOnce() -> Outcome<(T, Option<PathBuf>)>) -> Outcome<T> {
    let mut paths = UNFINISHED.lock().unwrap_or_else(|lock| lock.into_inner());
    let (file, path) = create()?;
    paths.extend(path);
    Ok(file)
}

/// Removes a complete or deleted file from the list of unfinished files.
pub fn untrack(path: &std::path::Path) {
    let mut paths = UNFINISHED.lock().unwrap_or_else(|lock| lock.into_inner());
    paths.retain(|other| other != path);
}
