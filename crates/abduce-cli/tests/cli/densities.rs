//! `kde`, `histogram` and `knn`: fitted, shown and asked like any other model.

use crate::run::{Files, abduce, data};

/// Penguins by their numbers.
fn penguins(files: &Files, model: &str) -> String {
    let penguins = data("penguins.csv");
    files.fit(&[
        model,
        &penguins,
        "--target",
        "species",
        "--drop",
        "island,sex,year",
    ])
}

#[test]
fn a_density_for_each_class_is_a_classifier() {
    for (model, least) in [("kde", 330), ("histogram", 330), ("knn", 330)] {
        let files = Files::new();
        let file = penguins(&files, model);
        let ran = abduce(&["predict", &file, &data("penguins.csv")]).good();
        let truth = std::fs::read_to_string(data("penguins.csv")).unwrap();
        let truth = truth
            .lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap());
        let right = ran
            .lines()
            .into_iter()
            .skip(1)
            .zip(truth)
            .filter(|(a, b)| a == b);
        assert!(right.count() >= least, "{model}");
        let shown = abduce(&["show", &file]).good().stdout;
        for word in [model, "Gentoo", "tuning", "bill_length_mm"] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
        abduce(&["score", &file, &data("penguins.csv"), "--mean"]).good();
    }
}

#[test]
fn the_summary_tells_what_was_chosen() {
    let faithful = data("faithful.csv");
    let json = |arguments: &[&str]| {
        let all = [&["fit"], arguments, &["--json"]].concat();
        abduce(&all).good().json()
    };
    let kde = json(&[
        "kde",
        &faithful,
        "--kernel",
        "epanechnikov",
        "--bandwidth",
        "0.5",
    ]);
    assert_eq!(kde["densities"]["1"]["bandwidth"]["eruptions"], 0.5);
    assert_eq!(kde["densities"]["1"]["kernel"], "epanechnikov");
    assert!(kde["bic"].is_null() && kde["rows"] == 272);
    let chosen = json(&["kde", &faithful, "--drop", "waiting", "--bandwidth", "isj"]);
    let width = chosen["densities"]["1"]["bandwidth"]["eruptions"]
        .as_f64()
        .unwrap();
    assert!((0.05..0.3).contains(&width), "{width}");
    let histogram = json(&["histogram", &faithful, "--bins", "7"]);
    assert_eq!(histogram["densities"]["1"]["bins"]["waiting"], 7.0);
    assert!(histogram["bic"].is_number());
    let knn = json(&["knn", &faithful, "--neighbours", "9"]);
    assert_eq!(knn["densities"]["1"]["neighbours"], 9);
}

#[test]
fn holes_are_filled_and_rows_drawn_the_same_with_the_same_seed() {
    let files = Files::new();
    let file = penguins(&files, "kde");
    let holes = files.write("holes.csv", "bill_length_mm,body_mass_g\n40,\n,5000\n,\n");
    for how in ["mean", "mode", "draw"] {
        let ran = abduce(&["impute", &file, &holes, "--how", how]).good();
        assert!(
            ran.lines()[1].starts_with("40,") && !ran.stdout.contains(",\n"),
            "{}",
            ran.stdout
        );
    }
    let draw = |threads| {
        abduce(&[
            "sample",
            &file,
            "-n",
            "50",
            "--given",
            "species=Gentoo",
            "--seed",
            "3",
            "--threads",
            threads,
        ])
        .good()
        .stdout
    };
    assert_eq!(draw("1"), draw("2"));
    assert_eq!(
        draw("1")
            .lines()
            .filter(|line| line.starts_with("Gentoo,"))
            .count(),
        50
    );
}

#[test]
fn what_a_density_cannot_do_is_said() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let faithful = data("faithful.csv");
    let refused = |arguments: &[&str], words: &[&str]| {
        abduce(&[&["fit"], arguments].concat()).fails(2, words);
    };
    refused(&["kde", &penguins], &["species", "--drop", "--target"]);
    refused(&["kde", &faithful, "--bins", "7"], &["--bins", "histogram"]);
    refused(
        &["histogram", &faithful, "--kernel", "cosine"],
        &["--kernel", "kde"],
    );
    refused(
        &["mixture", &faithful, "-k", "2", "--bandwidth", "cv"],
        &["--bandwidth"],
    );
    refused(
        &["kde", &faithful, "--bandwidth", "isj"],
        &["isj", "one column"],
    );
    refused(&["knn", &faithful, "--restarts", "3"], &["--restarts"]);
    refused(
        &["kde", &faithful, "--covariance", "tied"],
        &["diagonal or full"],
    );
    let file = files.fit(&["knn", &faithful]);
    abduce(&["sample", &file]).fails(2, &["cannot be integrated", "kde"]);
}

#[test]
fn a_column_of_naive_bayes_may_have_a_density_of_its_own_points() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let families = "bill_length_mm=kde,body_mass_g=histogram";
    let file = files.fit(&[
        "naive-bayes",
        &penguins,
        "--target",
        "species",
        "--family",
        families,
    ]);
    let shown = abduce(&["show", &file]).good().stdout;
    assert!(shown.contains("bill_length_mm: kde") && shown.contains("body_mass_g: histogram"));
    let ran = abduce(&["predict", &file, &penguins]).good();
    let gentoo = ran.lines().iter().filter(|line| **line == "Gentoo").count();
    assert!((120..=128).contains(&gentoo), "{gentoo}");
    let holes = files.write("holes.csv", "bill_length_mm,body_mass_g\n,\n");
    for how in ["mean", "mode", "draw"] {
        let filled = abduce(&["impute", &file, &holes, "--how", how]).good();
        assert!(!filled.stdout.contains(",\n"), "{}", filled.stdout);
    }
    // Levels are no numbers.
    abduce(&[
        "fit",
        "naive-bayes",
        &penguins,
        "--target",
        "species",
        "--family",
        "sex=kde",
    ])
    .fails(2, &["sex", "family"]);
}
