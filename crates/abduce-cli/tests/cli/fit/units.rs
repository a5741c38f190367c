//! Columns whose squares overflow or underflow are scaled internally.

use crate::run::{Files, abduce};

fn table(scale: f64) -> String {
    let mut text = String::from("x,y\n");
    for i in 0..60 {
        let centre = if i % 2 == 0 { 1.0 } else { 5.0 };
        let x = (centre + (f64::from(i) * 1.3).sin()) * scale;
        text.push_str(&format!("{x:e},{}\n", i % 5));
    }
    text.push_str(",3\n");
    text
}

#[test]
fn answers_are_in_the_units_of_the_file() {
    for scale in [1e300, 1e-300] {
        let files = Files::new();
        let rows = files.write("rows.csv", table(scale));
        let file = files.fit(&["mixture", &rows, "-k", "2", "--covariance", "diagonal"]);
        let plain = Files::new();
        let small = plain.write("rows.csv", table(1.0));
        let unscaled = plain.fit(&["mixture", &small, "-k", "2", "--covariance", "diagonal"]);
        let clusters = |file: &str, rows: &str| abduce(&["predict", file, rows]).succeeds().stdout;
        assert_eq!(clusters(&file, &rows), clusters(&unscaled, &small));
        let filled = abduce(&["impute", &file, &rows]).succeeds();
        let cell = filled
            .lines()
            .pop()
            .unwrap()
            .split_once(',')
            .unwrap()
            .0
            .to_string();
        let x = cell.parse::<f64>().unwrap() / scale;
        assert!((1.0..5.0).contains(&x), "{cell}");
        let given = format!("x={:e}", 5.0 * scale);
        let drawn = abduce(&["sample", &file, "-n", "2", "--given", &given]).succeeds();
        assert!(drawn.lines()[1].starts_with(&format!("{:e},", 5.0 * scale)));
        let shown = abduce(&["show", &file]).succeeds().stdout;
        assert!(shown.contains("in units of"), "{shown}");
        let image = files.path("rows.svg");
        abduce(&["plot", &file, &rows, "-o", &image]).succeeds();
        for model in [
            &["kmeans", "-k", "2"][..],
            &["kde"],
            &["mixture", "-k", "1-3"],
        ] {
            abduce(&[&["fit", model[0], &rows], &model[1..]].concat()).succeeds();
        }
    }
}

#[test]
fn infinite_values_are_an_error() {
    let files = Files::new();
    let rows = files.write("rows.csv", "x\n1\ninf\n");
    let outcome = abduce(&["fit", "mixture", &rows, "-k", "1"]);
    outcome.fails(2, &["line 3", "column \"x\"", "not a finite number"]);
}

#[test]
fn models_of_scaled_columns_cannot_be_updated() {
    let files = Files::new();
    let rows = files.write("rows.csv", table(1e300));
    let file = files.fit(&["mixture", &rows, "-k", "2"]);
    for command in ["update", "forget"] {
        abduce(&[command, &file, &rows]).fails(2, &["column \"x\"", "in units of"]);
    }
    let merged = files.path("merged.abduce");
    abduce(&["merge", &file, &file, "-o", &merged]).fails(2, &["in units of"]);
    let fixed = [
        "fit",
        "mixture",
        &rows,
        "-k",
        "2",
        "--fix",
        "1:x=gaussian(1,1)",
    ];
    abduce(&fixed).fails(2, &["column \"x\"", "cannot be fixed"]);
}

#[test]
fn a_bandwidth_is_in_the_units_of_the_file() {
    let log_densities = |scale: f64| -> Vec<f64> {
        let files = Files::new();
        let rows = files.write("rows.csv", table(scale));
        let width = format!("{:e}", 0.25 * scale);
        let file = files.fit(&["kde", &rows, "--columns", "x", "--bandwidth", &width]);
        let scored = abduce(&["score", &file, &rows]).succeeds();
        let lines = scored.lines().into_iter().skip(1).take(60);
        lines.map(|line| line.parse().unwrap()).collect()
    };
    let plain = log_densities(1.0);
    for scale in [1e300, 1e-300] {
        let entry = log_densities(scale);
        for (a, b) in entry.iter().zip(&plain) {
            let difference = (a - entry[0]) - (b - plain[0]);
            assert!(difference.abs() < 1e-9, "{a} {b}");
        }
    }
}
