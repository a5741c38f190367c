//! `fit --tails`: the fit, and every command on the model.

use crate::run::{Files, abduce, data};

/// Two clusters; one row in ten is an outlier.
fn with_outliers() -> String {
    let mut text = String::from("x,y\n");
    for row in 0..200 {
        let turn = f64::from(row) * 2.399_963;
        let radius = f64::from(row % 23) / 11.5;
        let centre = if row % 2 == 0 { 0.0 } else { 8.0 };
        let distance = match row % 20 {
            10 | 19 => 20.0 + f64::from(row) / 4.0,
            _ => 0.0,
        };
        let x = centre + radius * turn.cos() + distance * (3.0 * turn).cos();
        let y = radius * turn.sin() + distance * (3.0 * turn).sin();
        text += &format!("{x},{y}\n");
    }
    text
}

fn fitted(files: &Files, more: &[&str]) -> String {
    let table = files.write("table.csv", with_outliers());
    let base = ["mixture", &table, "-k", "2", "--tails", "student-t"];
    files.fit(&[&base[..], more].concat())
}

#[test]
fn the_summary_lists_tails_and_counts_parameters() {
    let files = Files::new();
    let table = files.write("table.csv", with_outliers());
    let fit = |tails: &str| {
        let arguments = ["fit", "mixture", &table, "-k", "2", "--tails", tails];
        abduce(&arguments).succeeds().stdout
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
        let new = files.write("new.csv", "x,y\n0.5,\n8,-0.2\n,\n900,5\n");
        let lines = |arguments: &[&str]| abduce(arguments).succeeds().lines().len();
        assert_eq!(lines(&["predict", &model, &new, "--proba"]), 5);
        assert_eq!(lines(&["score", &model, &new]), 5);
        for how in ["mean", "mode", "draw"] {
            let filled = abduce(&["impute", &model, &new, "--how", how]).succeeds();
            assert!(!filled.stdout.contains(",\n"), "{}", filled.stdout);
        }
        assert_eq!(lines(&["sample", &model, "-n", "7"]), 8);
        assert_eq!(lines(&["sample", &model, "-n", "7", "--given", "x=8"]), 8);
        let explained = abduce(&["explain", &model, &new, "--row", "2"]).succeeds();
        assert!(explained.stdout.contains("x, y"), "{}", explained.stdout);
        let shown = abduce(&["show", &model]).succeeds().stdout;
        for word in ["multivariate student-t", "location", "degrees"] {
            assert!(shown.contains(word), "{shown}");
        }
        let table = files.path("table.csv");
        let plot = files.path("plot.svg");
        abduce(&["plot", &model, &table, "-o", &plot]).succeeds();
        assert!(files.read("plot.svg").contains("<svg"));
    }
}

#[test]
fn a_far_row_has_a_higher_density_under_heavy_tails() {
    let files = Files::new();
    let score = |tails: &str| {
        let table = files.write("table.csv", with_outliers());
        let model = files.fit(&["mixture", &table, "-k", "2", "--tails", tails]);
        let far = files.write("far.csv", "x,y\n4,300\n");
        let scored = abduce(&["score", &model, &far]).succeeds();
        scored.lines()[1].parse::<f64>().unwrap()
    };
    assert!(score("student-t") > score("gaussian"));
}

#[test]
fn covariances_and_numbers_of_components_are_selected_with_tails() {
    let files = Files::new();
    let table = files.write("table.csv", with_outliers());
    let base = [
        "fit",
        "mixture",
        &table,
        "-k",
        "1-2",
        "--covariance",
        "EEE,VVV",
    ];
    let chosen = abduce(&[&base[..], &["--tails", "student-t", "--json"]].concat()).succeeds();
    let json = chosen.json();
    assert_eq!(json["components"].as_array().unwrap().len(), 2);
    let tried = json["selection"]["tried"].as_array().unwrap();
    let parameters: Vec<_> = tried
        .iter()
        .map(|entry| entry["parameters"].as_u64())
        .collect();
    // One component; two with a shared matrix; two with a matrix each. Each component has degrees
    // of freedom.
    for expected in [6, 10, 13] {
        assert!(parameters.contains(&Some(expected)), "{parameters:?}");
    }
}

#[test]
fn classes_with_tails_can_be_updated_but_not_forgotten() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let base = ["gda", &penguins, "--target", "species", "--columns"];
    let more = [
        "species,bill_length_mm,bill_depth_mm",
        "--tails",
        "student-t",
    ];
    let model = files.fit(&[&base[..], &more].concat());
    let predicted = abduce(&["predict", &model, &penguins]).succeeds();
    assert_eq!(predicted.lines().len(), 345);
    let updated = files.path("updated.abduce");
    abduce(&["update", &model, &penguins, "-o", &updated]).succeeds();
    let forgotten = files.path("forgotten.abduce");
    abduce(&["forget", &model, &penguins, "-o", &forgotten]).fails(2, &["cannot be forgotten"]);
}

#[test]
fn invalid_tails_and_models_without_tails_are_an_error() {
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
