//! Runs code that must not panic, and collects the places where it does.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where the last panic was, whichever thread it was in.
static PLACE: Mutex<Option<String>> = Mutex::new(None);
/// Whether a panic is a finding, and not a failed assertion of the tests.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// Held by the test that is watching: tests would collect each other's panics.
static WATCHING: Mutex<()> = Mutex::new(());

/// Executions and what became of them.
pub struct Watch {
    _alone: MutexGuard<'static, ()>,
    executions: u64,
    accepted: u64,
    slowest: (Duration, String),
    /// The first file found for each place of a panic, and how many there were.
    panics: BTreeMap<String, (String, u64)>,
}

impl Watch {
    /// Waits until no other test is watching.
    pub fn new() -> Watch {
        let alone = WATCHING.lock().unwrap_or_else(PoisonError::into_inner);
        std::fs::create_dir_all(kept().join("last")).expect("a folder to write to");
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !RUNNING.load(Ordering::Relaxed) {
                before(panic);
            } else if let Ok(mut place) = PLACE.lock() {
                place.get_or_insert_with(|| panic.to_string());
            }
        }));
        Watch {
            _alone: alone,
            executions: 0,
            accepted: 0,
            slowest: Default::default(),
            panics: BTreeMap::new(),
        }
    }

    /// Runs `act` on a file, which stays in the folder of [`kept`] if `act` panics or ends
    /// the process. `act` says whether the file was accepted, and so does the result.
    pub fn run(&mut self, name: &str, bytes: &[u8], act: impl FnOnce() -> bool) -> bool {
        std::fs::write(kept().join("last").join(name), bytes).expect("a file that can be written");
        // Panics of decoders are caught where they happen.
        PLACE.lock().unwrap_or_else(PoisonError::into_inner).take();
        let begin = Instant::now();
        RUNNING.store(true, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(act));
        RUNNING.store(false, Ordering::Relaxed);
        let taken = begin.elapsed();
        self.executions += 1;
        let accepted = matches!(result, Ok(true));
        self.accepted += u64::from(accepted);
        if taken > self.slowest.0 {
            let file = kept().join("slowest").join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(&file, bytes).expect("a file that can be written");
            self.slowest = (taken, file.display().to_string());
        }
        if result.is_err() {
            let place = PLACE.lock().ok().and_then(|mut place| place.take());
            self.report(name, bytes, place.unwrap_or_default());
        }
        accepted
    }

    /// Notes a failure.
    pub fn report(&mut self, name: &str, bytes: &[u8], place: String) {
        let number = self.panics.len();
        let entry = self.panics.entry(place).or_insert_with(|| {
            let file = kept().join(format!("panic-{number}-{name}"));
            std::fs::write(&file, bytes).expect("a file that can be written");
            (file.display().to_string(), 0)
        });
        entry.1 += 1;
    }

    /// Fails if anything panicked, and lists the places.
    #[track_caller]
    pub fn finish(self, what: &str) {
        let (taken, slowest) = &self.slowest;
        println!(
            "{what}: {} executions, {} accepted, slowest {} ms ({slowest})",
            self.executions,
            self.accepted,
            taken.as_millis()
        );
        let places = self.panics.iter();
        let places = places.map(|(place, (file, count))| format!("{count} × {place}\n    {file}"));
        let places: Vec<String> = places.collect();
        assert!(places.is_empty(), "panics:\n{}", places.join("\n"));
    }
}

/// Where files are kept that led to a panic.
pub fn kept() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fuzz")
}
