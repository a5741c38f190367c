//! Numbers whose squares leave double precision are read in a unit of their own.

use crate::run::{Files, abduce};

fn table(scale: f64) -> String {
    let mut text = String::from("x,y\n");
    for i in 0..60 {
        let place = if i % 2 == 0 { 1.0 } else { 5.0 };
        let x = (place + (f64::from(i) * 1.3).sin()) * scale;
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
        let usual = plain.fit(&["mixture", &small, "-k", "2", "--covariance", "diagonal"]);
        let clusters = |file: &str, rows: &str| abduce(&["predict", file, rows]).good().stdout;
        assert_eq!(clusters(&file, &rows), clusters(&usual, &small));
        let filled = abduce(&["impute", &file, &rows]).good();
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
        let drawn = abduce(&["sample", &file, "-n", "2", "--given", &given]).good();
        assert!(drawn.lines()[1].starts_with(&format!("{:e},", 5.0 * scale)));
        let shown = abduce(&["show", &file]).good().stdout;
        assert!(shown.contains("in units of"), "{shown}");
        let image = files.path("rows.svg");
        abduce(&["plot", &file, &rows, "-o", &image]).good();
        for model in [
            &["kmeans", "-k", "2"][..],
            &["kde"],
            &["mixture", "-k", "1-3"],
        ] {
            abduce(&[&["fit", model[0], &rows], &model[1..]].concat()).good();
        }
    }
}

#[test]
fn infinite_values_are_refused() {
    let files = Files::new();
    let rows = files.write("rows.csv", "x\n1\ninf\n");
    let ran = abduce(&["fit", "mixture", &rows, "-k", "1"]);
    ran.fails(2, &["line 3", "column \"x\"", "not a finite number"]);
}

#[test]
fn models_of_scaled_numbers_cannot_be_updated() {
    let files = Files::new();
    let rows = files.write("rows.csv", table(1e300));
    let file = files.fit(&["mixture", &rows, "-k", "2"]);
    for command in ["update", "forget"] {
        abduce(&[command, &file, &rows]).fails(2, &["column \"x\"", "in units of"]);
    }
    let merged = files.path("merged.abduce");
    abduce(&["merge", &file, &file, "-o", &merged]).fails(2, &["in units of"]);
    let held = [
        "fit",
        "mixture",
        &rows,
        "-k",
        "2",
        "--fix",
        "1:x=gaussian(1,1)",
    ];
    abduce(&held).fails(2, &["column \"x\"", "cannot be held"]);
}

#[test]
fn a_bandwidth_is_in_the_units_of_the_file() {
    let log_densities = |scale: f64| -> Vec<f64> {
        let files = Files::new();
        let rows = files.write("rows.csv", table(scale));
        let width = format!("{:e}", 0.25 * scale);
        let file = files.fit(&["kde", &rows, "--columns", "x", "--bandwidth", &width]);
        let scored = abduce(&["score", &file, &rows]).good();
        let lines = scored.lines().into_iter().skip(1).take(60);
        lines.map(|line| line.parse().unwrap()).collect()
    };
    let usual = log_densities(1.0);
    for scale in [1e300, 1e-300] {
        let entry = log_densities(scale);
        for (a, b) in entry.iter().zip(&usual) {
            let apart = (a - entry[0]) - (b - usual[0]);
            assert!(apart.abs() < 1e-9, "{a} {b}");
        }
    }
}
