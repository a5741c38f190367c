//! Model files of every kind, and everything that can be done with one.

use abduce::ask::Joint;
use abduce::data::{Opened, ReadOptions, Source, open_more, open_with};
use abduce::family::Fill;
use abduce::learn::Control;
use abduce::store::Model;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A model file that is to be damaged, and a table to use it with.
pub struct Seed {
    pub name: String,
    pub text: String,
    pub table: String,
}

/// The fits that seeds come from: a name, a table and the arguments.
const FITS: &[(&str, &str, &str)] = &[
    ("naive-bayes", "mixed", "naive-bayes --target label"),
    (
        "predictive",
        "mixed",
        "naive-bayes --target label --predictive --smoothing 2",
    ),
    (
        "calibrated",
        "mixed",
        "naive-bayes --target label --calibrate isotonic",
    ),
    (
        "platt",
        "mixed",
        "naive-bayes --target label --calibrate platt",
    ),
    (
        "families",
        "mixed",
        "naive-bayes --target label --family a=kde,b=histogram,n=negative-binomial",
    ),
    (
        "scalars",
        "mixed",
        "naive-bayes --target label --family a=student-t,b=gamma,n=geometric",
    ),
    (
        "more-scalars",
        "mixed",
        "naive-bayes --target label --family a=uniform,b=log-normal,n=zero-inflated-poisson",
    ),
    ("gda", "mixed", "gda --target label"),
    (
        "tied",
        "mixed",
        "gda --target label --covariance tied --prior mclust",
    ),
    ("mixture", "mixed", "mixture -k 2 --drop label"),
    (
        "diagonal",
        "mixed",
        "mixture -k 2 --drop label --covariance diagonal --tie c",
    ),
    ("noise", "mixed", "mixture -k 2 --drop label --noise"),
    (
        "tails",
        "mixed",
        "mixture -k 2 --drop label --tails student-t",
    ),
    ("kmeans", "mixed", "kmeans -k 2 --columns a,b,n"),
    (
        "mahalanobis",
        "mixed",
        "kmeans -k 2 --columns a,b --distance mahalanobis",
    ),
    (
        "cosine",
        "mixed",
        "kmeans -k 2 --columns a,b --distance cosine",
    ),
    ("medoids", "mixed", "kmeans -k 2 --columns a,b --medoids"),
    ("kde", "mixed", "kde --columns a,b,label --target label"),
    (
        "histogram",
        "mixed",
        "histogram --columns a,b,label --target label --smoothing 1",
    ),
    (
        "knn",
        "mixed",
        "knn --columns a,b,label --target label --neighbours 3",
    ),
    ("words", "texts", "naive-bayes --target label"),
    (
        "presence",
        "texts",
        "naive-bayes --target label --event bernoulli",
    ),
    (
        "complement",
        "texts",
        "naive-bayes --target label --event complement",
    ),
    (
        "hashed",
        "texts",
        "naive-bayes --target label --hash-bits 6",
    ),
    (
        "limited",
        "texts",
        "naive-bayes --target label --max-terms 5 --ngrams 2",
    ),
];

/// A table of all kinds of columns with missing cells and labels.
fn mixed() -> String {
    let mut text = String::from("label,a,b,n,c,d\n");
    for row in 0..40_u32 {
        let label = ["yes", "no", ""][if row % 11 == 10 {
            2
        } else {
            (row % 2) as usize
        }];
        let a = f64::from(row % 7) + 5.0 * f64::from(row % 2) + 0.01 * f64::from(row);
        let b = 0.5 + f64::from(row % 5) * 0.3 + f64::from(row % 2);
        let a = if row % 13 == 5 {
            String::new()
        } else {
            a.to_string()
        };
        let c = ["red", "green", "blue", ""][(row * row % 4) as usize];
        let d = ["f", "t"][(row % 3 % 2) as usize];
        text += &format!("{label},{a},{b},{},{c},{d}\n", row * 7 % 5);
    }
    text
}

fn texts() -> String {
    let mut text = String::from("label,words\n");
    for row in 0..30_usize {
        let label = ["ham", "spam", ""][if row % 10 == 9 { 2 } else { row % 2 }];
        let words = [
            "free prize now",
            "see you at lunch",
            "call me now, free",
            "the report",
        ];
        text += &format!("{label},\"{} {}\"\n", words[row * row % 4], words[row % 3]);
    }
    text
}

/// All seeds: the kept files of earlier versions, and one of each kind of model.
pub fn seeds(folder: &Path) -> Vec<Seed> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = [
        ("v1-naive-bayes", "data/penguins.csv"),
        ("v1-gda", "data/penguins.csv"),
        ("v1-mixture", "tests/models/mixed.csv"),
        ("v1-kde", "data/faithful.csv"),
        ("v1-histogram", "data/faithful.csv"),
    ];
    let mut seeds: Vec<Seed> = Vec::new();
    for (name, table) in kept {
        let path = manifest.join(format!("tests/models/{name}.abduce"));
        let whole = std::fs::read_to_string(manifest.join(table)).expect("a table");
        let few: Vec<&str> = whole.lines().take(30).collect();
        let table = write(folder, &format!("{name}.csv"), &(few.join("\n") + "\n"));
        let text = std::fs::read_to_string(path).expect("a model file");
        seeds.push(Seed {
            name: name.into(),
            text,
            table,
        });
    }
    let tables = [
        ("mixed", write(folder, "mixed.csv", &mixed())),
        ("texts", write(folder, "texts.csv", &texts())),
    ];
    for (name, table, arguments) in FITS {
        let (_, table) = tables
            .iter()
            .find(|(own, _)| own == table)
            .expect("a table");
        let path = folder.join(format!("{name}.abduce"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_abduce"));
        command
            .arg("fit")
            .args(arguments.split(' ').take(1))
            .arg(table);
        command
            .args(arguments.split(' ').skip(1))
            .arg("-o")
            .arg(&path);
        let ran = command.output().expect("the program");
        let why = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{name}: {why}");
        let text = std::fs::read_to_string(&path).expect("a model file");
        seeds.push(Seed {
            name: name.to_string(),
            text,
            table: table.clone(),
        });
    }
    seeds
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, text).expect("a file that can be written");
    path.display().to_string()
}

/// Does everything with a model file; whether it was accepted.
pub fn exercise(text: &[u8], table: &str) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let Ok(model) = Model::from_json(text) else {
        return false;
    };
    let joint = model.joint();
    let schema = joint.schema();
    let target = joint
        .target()
        .map(|target| schema.fields[target].name.clone());
    let options = ReadOptions {
        target,
        weight: schema.weight.clone(),
        ..ReadOptions::default()
    };
    let paths = [table.to_string()];
    if let Ok(opened) = open_with(&paths, &options, schema) {
        ask(&model, &*opened.source);
    }
    let nothing = vec![None; schema.fields.len()];
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let _ = joint.sample(&nothing, 5, &mut rng);
    for column in 0..schema.fields.len() {
        let _ = joint.condition(&nothing, column);
    }
    if let Ok(more) = open_more(&paths, &options, schema, &model.unsettled()) {
        change(&model, &more);
    }
    let _ = model.to_json();
    true
}

fn ask(model: &Model, source: &dyn Source) {
    let joint: &dyn Joint = model.joint();
    let classes = joint.names().len();
    let Ok(scan) = source.scan() else {
        return;
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for chunk in scan.flatten() {
        let lacking = joint.unanswerable(&chunk);
        let rows = 0..chunk.rows() as u32;
        let rows: Vec<u32> = rows
            .filter(|row| !lacking.contains(&(*row as usize)))
            .collect();
        let chunk = chunk.take(&rows);
        let _ = joint.log_density(&chunk);
        let _ = model.posterior(&chunk);
        let _ = model
            .decider()
            .and_then(|decide| decide(&chunk).map(|_| ()));
        for how in [Fill::Mean, Fill::Mode, Fill::Draw] {
            let _ = joint.complete(&chunk, how, &mut rng);
        }
        if chunk.rows() > 0 {
            let _ = joint.explain(&chunk, 0, 0, classes.saturating_sub(1));
        }
    }
}

fn change(model: &Model, more: &Opened) {
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
