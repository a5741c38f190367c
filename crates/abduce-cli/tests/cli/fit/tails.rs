//! `fit --tails`: the fit, and every question to what came out.

use crate::run::{Files, abduce, data};

/// Two clusters, and of every ten rows one that lies far off.
fn outlying() -> String {
    let mut text = String::from("x,y\n");
    for row in 0..200 {
        let turn = f64::from(row) * 2.399_963;
        let radius = f64::from(row % 23) / 11.5;
        let middle = if row % 2 == 0 { 0.0 } else { 8.0 };
        let off = match row % 20 {
            10 | 19 => 20.0 + f64::from(row) / 4.0,
            _ => 0.0,
        };
        let x = middle + radius * turn.cos() + off * (3.0 * turn).cos();
        let y = radius * turn.sin() + off * (3.0 * turn).sin();
        text += &format!("{x},{y}\n");
    }
    text
}

fn fitted(files: &Files, more: &[&str]) -> String {
    let table = files.write("table.csv", outlying());
    let base = ["mixture", &table, "-k", "2", "--tails", "student-t"];
    files.fit(&[&base[..], more].concat())
}

#[test]
fn the_summary_lists_tails_and_counts_parameters() {
    let files = Files::new();
    let table = files.write("table.csv", outlying());
    let fit = |tails: &str| {
        let arguments = ["fit", "mixture", &table, "-k", "2", "--tails", tails];
        abduce(&arguments).good().stdout
    };
    let learned = fit("student-t");
    assert!(
        learned.contains("student-t, degrees of freedom"),
        "{learned}"
    );
    assert!(!fit("gaussian").contains("degrees of freedom"));
    let given = fit("student-t(4)");
    assert!(given.contains("degrees of freedom 4\n"), "{given}");
    let parameters = |text: &str| {
        let mut lines = text.lines().filter(|line| line.contains("parameters"));
        let number = lines.next().and_then(|line| line.split_whitespace().last());
        number.and_then(|entry| entry.parse::<u32>().ok()).unwrap()
    };
    assert_eq!(parameters(&given), 11);
    assert_eq!(parameters(&learned), 13);
}

#[test]
fn every_command_works_on_a_model_with_tails() {
    let files = Files::new();
    for covariance in ["full", "EEI", "VEE"] {
        let model = fitted(&files, &["--covariance", covariance]);
        let questions = files.write("asked.csv", "x,y\n0.5,\n8,-0.2\n,\n900,5\n");
        let lines = |arguments: &[&str]| abduce(arguments).good().lines().len();
        assert_eq!(lines(&["predict", &model, &questions, "--proba"]), 5);
        assert_eq!(lines(&["score", &model, &questions]), 5);
        for how in ["mean", "mode", "draw"] {
            let filled = abduce(&["impute", &model, &questions, "--how", how]).good();
            assert!(!filled.stdout.contains(",\n"), "{}", filled.stdout);
        }
        assert_eq!(lines(&["sample", &model, "-n", "7"]), 8);
        assert_eq!(lines(&["sample", &model, "-n", "7", "--given", "x=8"]), 8);
        let explained = abduce(&["explain", &model, &questions, "--row", "2"]).good();
        assert!(explained.stdout.contains("x, y"), "{}", explained.stdout);
        let shown = abduce(&["show", &model]).good().stdout;
        for word in ["multivariate student-t", "location", "degrees"] {
            assert!(shown.contains(word), "{shown}");
        }
        let table = files.path("table.csv");
        let plot = files.path("plot.svg");
        abduce(&["plot", &model, &table, "-o", &plot]).good();
        assert!(files.read("plot.svg").contains("<svg"));
    }
}

#[test]
fn a_far_row_scores_better_under_heavy_tails() {
    let files = Files::new();
    let score = |tails: &str| {
        let table = files.write("table.csv", outlying());
        let model = files.fit(&["mixture", &table, "-k", "2", "--tails", tails]);
        let far = files.write("far.csv", "x,y\n4,300\n");
        let scored = abduce(&["score", &model, &far]).good();
        scored.lines()[1].parse::<f64>().unwrap()
    };
    assert!(score("student-t") > score("gaussian"));
}

#[test]
fn structures_and_numbers_of_components_are_chosen_with_tails_too() {
    let files = Files::new();
    let table = files.write("table.csv", outlying());
    let base = [
        "fit",
        "mixture",
        &table,
        "-k",
        "1-2",
        "--covariance",
        "EEE,VVV",
    ];
    let chosen = abduce(&[&base[..], &["--tails", "student-t", "--json"]].concat()).good();
    let json = chosen.json();
    assert_eq!(json["components"].as_array().unwrap().len(), 2);
    let tried = json["selection"]["tried"].as_array().unwrap();
    let parameters: Vec<_> = tried
        .iter()
        .map(|entry| entry["parameters"].as_u64())
        .collect();
    // A shared matrix and one for each, with the degrees of freedom of each.
    for expected in [6, 10, 13] {
        assert!(parameters.contains(&Some(expected)), "{parameters:?}");
    }
}

#[test]
fn classes_with_tails_can_be_updated() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let base = ["gda", &penguins, "--target", "species", "--columns"];
    let more = [
        "species,bill_length_mm,bill_depth_mm",
        "--tails",
        "student-t",
    ];
    let model = files.fit(&[&base[..], &more].concat());
    let predicted = abduce(&["predict", &model, &penguins]).good();
    assert_eq!(predicted.lines().len(), 345);
    let grown = files.path("grown.abduce");
    abduce(&["update", &model, &penguins, "-o", &grown]).good();
    let forgotten = files.path("forgotten.abduce");
    abduce(&["forget", &model, &penguins, "-o", &forgotten]).fails(2, &["cannot be forgotten"]);
}

#[test]
fn invalid_tails_and_models_without_tails_are_refused() {
    let faithful = data("faithful.csv");
    for text in ["heavy", "student-t(", "student-t(0)", "student-t(x)"] {
        let base = ["fit", "mixture", &faithful, "-k", "2", "--tails", text];
        abduce(&base).fails(2, &["tails"]);
    }
    let penguins = data("penguins.csv");
    let base = ["--target", "species", "--tails", "student-t"];
    let naive = [&["fit", "naive-bayes", &penguins][..], &base].concat();
    abduce(&naive).fails(2, &["--tails does not apply", "gda, mixture"]);
    let clusters = [
        "fit",
        "kmeans",
        &faithful,
        "-k",
        "2",
        "--tails",
        "student-t",
    ];
    abduce(&clusters).fails(2, &["--tails does not apply"]);
}
