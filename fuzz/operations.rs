//! Runs every operation on a model.

use abduce::Control;
use abduce::data::{Opened, ReadOptions, Source, open_more, open_with};
use abduce::family::Fill;
use abduce::store::Model;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::path::Path;
use std::process::{Command, Output};

/// The commands that read a model: `MODEL`, `TABLE` and `OUTPUT` are paths.
pub const COMMANDS: &[&str] = &[
    "show MODEL",
    "show MODEL --json",
    "predict MODEL TABLE --proba",
    "score MODEL TABLE",
    "score MODEL TABLE --outliers 3",
    "impute MODEL TABLE --how draw",
    "sample MODEL -n 3",
    "update MODEL TABLE -o OUTPUT",
    "merge MODEL MODEL -o OUTPUT",
    "forget MODEL TABLE -o OUTPUT",
    "explain MODEL TABLE --row 1",
    "plot MODEL TABLE -o OUTPUT",
    "fit mixture TABLE -k 1 --schema MODEL",
];

/// Runs one of the [`COMMANDS`].
pub fn command(command: &str, model: &Path, table: &str, folder: &Path) -> Output {
    let output = folder.join("output");
    let mut program = Command::new(env!("CARGO_BIN_EXE_abduce"));
    for word in command.split(' ') {
        match word {
            "MODEL" => program.arg(model),
            "TABLE" => program.arg(table),
            "OUTPUT" => program.arg(&output),
            word => program.arg(word),
        };
    }
    program.output().expect("the program")
}

/// Runs every operation on a model file. Returns whether the file was accepted.
pub fn exercise(text: &[u8], table: &str) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let Ok(model) = Model::from_json(text) else {
        return false;
    };
    let schema = model.schema();
    let target = model
        .target()
        .map(|target| schema.fields[target].name.clone());
    let options = ReadOptions {
        target,
        weight: schema.weight.clone(),
        ..ReadOptions::default()
    };
    let paths = [table.to_string()];
    if let Ok(opened) = open_with(&paths, &options, schema) {
        query(&model, &*opened.source);
    }
    let empty_row = vec![None; schema.fields.len()];
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    if let Ok(joint) = model.joint() {
        let _ = joint.sample(&empty_row, 5, &mut rng);
        for column in 0..schema.fields.len() {
            let _ = joint.condition(&empty_row, column);
        }
    }
    let unsettled = model
        .incremental()
        .map_or(Vec::new(), |model| model.unsettled());
    if let Ok(more) = open_more(&paths, &options, schema, &unsettled) {
        update_and_merge(&model, &more);
    }
    let _ = model.to_json();
    true
}

fn query(model: &Model, source: &dyn Source) {
    let classes = model.names().len();
    let Ok(scan) = source.scan() else {
        return;
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for chunk in scan.flatten() {
        let unanswerable = model.predictor().unanswerable(&chunk);
        let rows = 0..chunk.rows() as u32;
        let rows: Vec<u32> = rows
            .filter(|row| !unanswerable.contains(&(*row as usize)))
            .collect();
        let chunk = chunk.take(&rows);
        let _ = model.posterior(&chunk);
        let _ = model
            .decider()
            .and_then(|decide| decide(&chunk).map(|_| ()));
        if let Ok(joint) = model.joint() {
            let _ = joint.log_density(&chunk);
            for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
                let _ = joint.complete(&chunk, how, &mut rng);
            }
        }
        if let (true, Ok(model)) = (chunk.rows() > 0, model.explain()) {
            let _ = model.explain(&chunk, 0, 0, classes.saturating_sub(1));
        }
    }
}

fn update_and_merge(model: &Model, more: &Opened) {
    let source = &*more.source;
    let results = [
        model.update(source, more.files.clone(), None, Control::default()),
        model.update(source, more.files.clone(), Some(0.5), Control::default()),
        Model::merge(&[model.clone(), model.clone()]),
        model.forget(source, Control::default()),
    ];
    for changed in results.into_iter().flatten() {
        let _ = changed.model.to_json();
    }
}
