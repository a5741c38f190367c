//! Damaged files must be rejected or used, and never end the process: model files and tables
//! are mutated at random and opened; every operation is run on those that open.
//! See fuzz/README.md. `ABDUCE_FUZZ` is the number of executions of each test,
//! `ABDUCE_FUZZ_SEED` the seed of the mutations.

mod binary;
mod models;
mod mutate;
mod operations;
mod tables;
mod watch;

use abduce::data::{ReadOptions, open};
use models::Seed;
use mutate::Random;
use std::path::Path;
use watch::Watch;

/// One in this many accepted files is also passed to the program itself.
const PROGRAM_EVERY: usize = 40;

fn setting(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(default, |text| text.parse().expect("a number"))
}

/// A generator of random numbers for each execution.
fn executions() -> impl Iterator<Item = Random> {
    let first = setting("ABDUCE_FUZZ_SEED", 0);
    let count = setting("ABDUCE_FUZZ", 1500);
    (0..count).map(move |execution| Random(first.wrapping_add(execution)))
}

/// Passes a model and a table to a random command.
fn run_program(watch: &mut Watch, seed: &Seed, bytes: &[u8], folder: &Path, random: &mut Random) {
    let model = folder.join("damaged.abduce");
    std::fs::write(&model, bytes).expect("a file that can be written");
    let command = operations::COMMANDS[random.below(operations::COMMANDS.len())];
    let output = operations::command(command, &model, &seed.table, folder);
    if !matches!(output.status.code(), Some(0..=2)) {
        let errors = String::from_utf8_lossy(&output.stderr);
        watch.report(
            &format!("{}.abduce", seed.name),
            bytes,
            format!("{command}: {errors}"),
        );
    }
}

#[test]
fn damaged_model_files_never_panic() {
    let mut watch = Watch::new();
    let folder = tempfile::tempdir().expect("a folder to write to");
    let seeds = models::seeds();
    for seed in seeds {
        let intact = operations::exercise(seed.text.as_bytes(), &seed.table);
        assert!(intact, "{} is rejected", seed.name);
    }
    for mut random in executions() {
        let seed = &seeds[random.below(seeds.len())];
        let bytes = if random.below(8) == 0 {
            mutate::bytes(seed.text.as_bytes(), &mut random)
        } else {
            let document = mutate::document(&seed.document, &mut random);
            document.to_string().into_bytes()
        };
        let name = format!("{}.abduce", seed.name);
        let accepted = watch.run(&name, &bytes, || operations::exercise(&bytes, &seed.table));
        if accepted && random.below(PROGRAM_EVERY) == 0 {
            run_program(&mut watch, seed, &bytes, folder.path(), &mut random);
        }
    }
    watch.finish("model files");
}

#[test]
fn models_never_panic_over_damaged_rows() {
    let mut watch = Watch::new();
    let folder = tempfile::tempdir().expect("a folder to write to");
    let seeds = models::seeds();
    for mut random in executions() {
        let seed = &seeds[random.below(seeds.len())];
        let rows = mutate::bytes(seed.rows.as_bytes(), &mut random);
        let path = folder.path().join("damaged.csv");
        std::fs::write(&path, &rows).expect("a file that can be written");
        let path = path.display().to_string();
        let name = format!("{}.csv", seed.name);
        watch.run(&name, &rows, || {
            operations::exercise(seed.text.as_bytes(), &path)
        });
    }
    watch.finish("rows for models");
}

#[test]
fn damaged_tables_never_panic() {
    let mut watch = Watch::new();
    let folder = tempfile::tempdir().expect("a folder to write to");
    let seeds = tables::seeds();
    for (name, bytes) in &seeds {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file that can be written");
        let options = ReadOptions {
            text: Some(Default::default()),
            drop: tables::date_columns(name),
            ..ReadOptions::default()
        };
        if let Err(error) = open(&[path.display().to_string()], &options) {
            panic!("{name} is rejected: {error}");
        }
    }
    for mut random in executions() {
        let (name, bytes) = &seeds[random.below(seeds.len())];
        let options = ReadOptions {
            drop: tables::date_columns(name),
            ..tables::options(&mut random)
        };
        let (name, bytes) = tables::damaged(name, bytes, &mut random);
        let path = folder.path().join(&name);
        std::fs::write(&path, &bytes).expect("a file that can be written");
        let path = path.display().to_string();
        watch.run(&name, &bytes, || tables::exercise(&path, &options));
    }
    watch.finish("tables");
}

#[test]
fn damaged_folders_of_texts_never_panic() {
    let mut watch = Watch::new();
    // A folder takes longer than a file.
    for mut random in executions().step_by(10) {
        let folder = tempfile::tempdir().expect("a folder to write to");
        let bytes = tables::damaged_folder(folder.path(), &mut random);
        let options = tables::options(&mut random);
        let path = folder.path().display().to_string();
        watch.run("texts", &bytes, || tables::exercise(&path, &options));
    }
    watch.finish("folders of texts");
}
