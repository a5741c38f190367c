//! Seeds: model files of every kind, with a table for each.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A model file to damage, and a table to use it with.
pub struct Seed {
    pub name: String,
    pub text: String,
    pub document: Value,
    /// The table as text, and the path of a file with it.
    pub rows: String,
    pub table: String,
}

impl Seed {
    /// Reads a model file; its table is written to the same folder.
    fn new(folder: &Path, name: &str, model: &Path, rows: String) -> Seed {
        let path = folder.join(format!("{name}.csv"));
        std::fs::write(&path, &rows).expect("a file that can be written");
        let text = std::fs::read_to_string(model).expect("a model file");
        Seed {
            name: name.into(),
            document: serde_json::from_str(&text).expect("JSON"),
            text,
            rows,
            table: path.display().to_string(),
        }
    }
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
        "naive-bayes --target label --family a=exponential,b=gamma,n=geometric",
    ),
    (
        "student-t",
        "mixed",
        "naive-bayes --target label --columns label,a --family a=student-t --unlabelled 1",
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
    for row in 0..22_u32 {
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
    for row in 0..20_usize {
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

/// All seeds: the stored files of earlier versions, and one of each kind of model.
pub fn seeds() -> &'static [Seed] {
    static SEEDS: OnceLock<Vec<Seed>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let folder = crate::watch::output_folder().join("models");
        std::fs::create_dir_all(&folder).expect("a folder to write to");
        build(&folder)
    })
}

fn build(folder: &Path) -> Vec<Seed> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let stored = [
        ("v1-naive-bayes", "data/penguins.csv"),
        ("v1-gda", "data/penguins.csv"),
        ("v1-mixture", "tests/models/mixed.csv"),
        ("v1-kde", "data/faithful.csv"),
        ("v1-histogram", "data/faithful.csv"),
    ];
    let mut seeds: Vec<Seed> = Vec::new();
    for (name, table) in stored {
        let whole = std::fs::read_to_string(manifest.join(table)).expect("a table");
        let few: Vec<&str> = whole.lines().step_by(25).collect();
        let model = manifest.join(format!("tests/models/{name}.abduce"));
        seeds.push(Seed::new(folder, name, &model, few.join("\n") + "\n"));
    }
    for (name, table, arguments) in FITS {
        let rows = if *table == "texts" { texts() } else { mixed() };
        let model = fit(folder, name, &rows, arguments);
        seeds.push(Seed::new(folder, name, &model, rows));
    }
    seeds
}

/// Fits a model with the program. Returns the path of its file.
fn fit(folder: &Path, name: &str, rows: &str, arguments: &str) -> PathBuf {
    let table = folder.join("rows.csv");
    std::fs::write(&table, rows).expect("a file that can be written");
    let model = folder.join(format!("{name}.abduce"));
    let (kind, options) = arguments.split_once(' ').expect("a model and its options");
    let mut command = Command::new(env!("CARGO_BIN_EXE_abduce"));
    command.args(["fit", kind]).arg(table);
    command.args(options.split(' ')).arg("-o").arg(&model);
    let output = command.output().expect("the program");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    model
}
