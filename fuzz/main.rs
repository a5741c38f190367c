//! Damaged files must be refused or used, and never end the process: model files and
//! tables are mutated at random, opened, and everything is done with those that open.
//! See fuzz/README.md. `ABDUCE_FUZZ` is the number of executions of each test,
//! `ABDUCE_FUZZ_SEED` the seed of the mutations.

mod models;
mod mutate;
mod tables;
mod watch;

use mutate::Random;
use std::process::Command;
use watch::Watch;

/// Whether damaged Parquet and Arrow files are part of the run. Their decoders are not
/// ours and may panic or allocate what a damaged header declares; set this to true once the
/// readers guard against both.
const BINARY_TABLES: bool = false;

/// The share of damaged model files that are also passed to the program.
const SHOWN: u64 = 200;

fn number(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

fn folder() -> tempfile::TempDir {
    std::fs::create_dir_all(watch::kept()).expect("a folder to write to");
    tempfile::tempdir().expect("a folder to write to")
}

#[test]
fn damaged_model_files_never_panic() {
    let mut watch = Watch::new();
    let folder = folder();
    let seeds = models::seeds(folder.path());
    for seed in &seeds {
        let bytes = seed.text.as_bytes();
        let intact = models::exercise(bytes, &seed.table);
        assert!(intact, "{} is refused", seed.name);
    }
    let first = number("ABDUCE_FUZZ_SEED", 0);
    for execution in 0..number("ABDUCE_FUZZ", 1500) {
        let mut random = Random(first.wrapping_add(execution));
        let seed = &seeds[random.below(seeds.len())];
        let bytes = if random.below(8) == 0 {
            mutate::bytes(seed.text.as_bytes(), &mut random)
        } else {
            let document = serde_json::from_str(&seed.text).expect("JSON");
            mutate::document(&document, &mut random)
                .to_string()
                .into_bytes()
        };
        let name = format!("{}.abduce", seed.name);
        watch.run(&name, &bytes, || models::exercise(&bytes, &seed.table));
        if execution % SHOWN == 0 {
            let path = folder.path().join("damaged.abduce");
            std::fs::write(&path, &bytes).expect("a file that can be written");
            let mut command = Command::new(env!("CARGO_BIN_EXE_abduce"));
            let ran = command
                .arg("show")
                .arg(&path)
                .output()
                .expect("the program");
            if !matches!(ran.status.code(), Some(0..=2)) {
                let why = String::from_utf8_lossy(&ran.stderr).into_owned();
                watch.report(&name, &bytes, format!("show: {why}"));
            }
        }
    }
    watch.finish("model files");
}

#[test]
fn damaged_tables_never_panic() {
    let mut watch = Watch::new();
    let folder = folder();
    let seeds = tables::seeds(BINARY_TABLES);
    let first = number("ABDUCE_FUZZ_SEED", 0);
    for execution in 0..number("ABDUCE_FUZZ", 1500) {
        let mut random = Random(first.wrapping_add(execution));
        let (name, bytes) = &seeds[random.below(seeds.len())];
        let (name, bytes) = tables::damaged(name, bytes, &mut random);
        let options = tables::options(&mut random);
        let path = folder.path().join(&name);
        std::fs::write(&path, &bytes).expect("a file that can be written");
        let path = path.display().to_string();
        watch.run(&name, &bytes, || tables::exercise(&path, &options));
    }
    watch.finish("tables");
}
