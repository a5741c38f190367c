//! Runs code that must not panic, and collects the panics.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The location of the last panic in any thread.
static LOCATION: Mutex<Option<String>> = Mutex::new(None);
/// Whether a panic is a finding rather than a failed assertion of a test.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// Held by the running test, because tests would collect each other's panics.
static WATCHING: Mutex<()> = Mutex::new(());

/// The executions of a test and their results.
pub struct Watch {
    _alone: MutexGuard<'static, ()>,
    executions: u64,
    accepted: u64,
    slowest: (Duration, String),
    /// For each location of a panic, the first file and the number of panics.
    panics: BTreeMap<String, (String, u64)>,
}

impl Watch {
    /// Waits until no other test is watching.
    pub fn new() -> Watch {
        let alone = WATCHING.lock().unwrap_or_else(PoisonError::into_inner);
        std::fs::create_dir_all(output_folder().join("last")).expect("a folder to write to");
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !RUNNING.load(Ordering::Relaxed) {
                before(panic);
            } else if let Ok(mut location) = LOCATION.lock() {
                location.get_or_insert_with(|| panic.to_string());
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

    /// Runs `act` on a file, which stays in [`output_folder`] if `act` panics or ends the
    /// process. Returns whether `act` accepted the file.
    pub fn run(&mut self, name: &str, bytes: &[u8], act: impl FnOnce() -> bool) -> bool {
        std::fs::write(output_folder().join("last").join(name), bytes)
            .expect("a file that can be written");
        // Discards panics of decoders that the library has caught.
        LOCATION
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let start = Instant::now();
        RUNNING.store(true, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(act));
        RUNNING.store(false, Ordering::Relaxed);
        let elapsed = start.elapsed();
        self.executions += 1;
        let accepted = matches!(result, Ok(true));
        self.accepted += u64::from(accepted);
        if elapsed > self.slowest.0 {
            let file = output_folder().join("slowest").join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(&file, bytes).expect("a file that can be written");
            self.slowest = (elapsed, file.display().to_string());
        }
        if result.is_err() {
            let location = LOCATION
                .lock()
                .ok()
                .and_then(|mut location| location.take());
            self.report(name, bytes, location.unwrap_or_default());
        }
        accepted
    }

    /// Records a failure.
    pub fn report(&mut self, name: &str, bytes: &[u8], location: String) {
        let number = self.panics.len();
        let entry = self.panics.entry(location).or_insert_with(|| {
            let file = output_folder().join(format!("panic-{number}-{name}"));
            std::fs::write(&file, bytes).expect("a file that can be written");
            (file.display().to_string(), 0)
        });
        entry.1 += 1;
    }

    /// Fails if there was a panic, and lists the locations.
    #[track_caller]
    pub fn finish(self, what: &str) {
        let (elapsed, slowest) = &self.slowest;
        println!(
            "{what}: {} executions, {} accepted, slowest {} ms ({slowest})",
            self.executions,
            self.accepted,
            elapsed.as_millis()
        );
        let locations = self.panics.iter();
        let locations =
            locations.map(|(location, (file, count))| format!("{count} × {location}\n    {file}"));
        let locations: Vec<String> = locations.collect();
        assert!(locations.is_empty(), "panics:\n{}", locations.join("\n"));
    }
}

/// The folder of the files that led to a panic.
pub fn output_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fuzz")
}
