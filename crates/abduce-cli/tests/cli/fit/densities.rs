//! `kde`, `histogram` and `knn` with every command.

use crate::run::{Files, abduce, data};

/// Fits a model of the species to the numeric columns of the penguins.
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
        let outcome = abduce(&["predict", &file, &data("penguins.csv")]).succeeds();
        let truth = std::fs::read_to_string(data("penguins.csv")).unwrap();
        let truth = truth
            .lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap());
        let right = outcome
            .lines()
            .into_iter()
            .skip(1)
            .zip(truth)
            .filter(|(a, b)| a == b);
        assert!(right.count() >= least, "{model}");
        let shown = abduce(&["show", &file]).succeeds().stdout;
        for word in [model, "Gentoo", "tuning", "bill_length_mm"] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
        abduce(&["score", &file, &data("penguins.csv"), "--mean"]).succeeds();
    }
}

#[test]
fn the_summary_lists_the_chosen_bandwidths() {
    let faithful = data("faithful.csv");
    let json = |arguments: &[&str]| {
        let all = [&["fit"], arguments, &["--json"]].concat();
        abduce(&all).succeeds().json()
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
fn imputed_and_sampled_values_do_not_depend_on_threads() {
    let files = Files::new();
    let file = penguins(&files, "kde");
    let incomplete = files.write(
        "incomplete.csv",
        "bill_length_mm,body_mass_g\n40,\n,5000\n,\n",
    );
    for how in ["mean", "mode", "draw"] {
        let outcome = abduce(&["impute", &file, &incomplete, "--how", how]).succeeds();
        assert!(
            outcome.lines()[1].starts_with("40,") && !outcome.stdout.contains(",\n"),
            "{}",
            outcome.stdout
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
        .succeeds()
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
fn unsupported_options_and_columns_of_densities_are_an_error() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let faithful = data("faithful.csv");
    let assert_error = |arguments: &[&str], words: &[&str]| {
        abduce(&[&["fit"], arguments].concat()).fails(2, words);
    };
    // All columns are listed at once, in an option that can be copied.
    for model in ["kde", "histogram", "knn"] {
        assert_error(
            &[model, &penguins],
            &[
                "species (categorical)",
                "--drop species,island,sex",
                "--target",
            ],
        );
        assert_error(
            &[model, &penguins, "--target", "species"],
            &[
                "island (categorical), sex (categorical)",
                "--drop island,sex",
            ],
        );
    }
    assert_error(&["kde", &faithful, "--bins", "7"], &["--bins", "histogram"]);
    assert_error(
        &["histogram", &faithful, "--kernel", "cosine"],
        &["--kernel", "kde"],
    );
    assert_error(
        &["mixture", &faithful, "-k", "2", "--bandwidth", "cv"],
        &["--bandwidth"],
    );
    assert_error(
        &["kde", &faithful, "--bandwidth", "isj"],
        &["isj", "one column"],
    );
    assert_error(&["knn", &faithful, "--restarts", "3"], &["--restarts"]);
    assert_error(
        &["kde", &faithful, "--covariance", "tied"],
        &["diagonal or full"],
    );
    let file = files.fit(&["knn", &faithful]);
    abduce(&["sample", &file]).fails(2, &["cannot be integrated", "kde"]);
}

#[test]
fn a_column_of_naive_bayes_may_have_a_kernel_density() {
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
    let shown = abduce(&["show", &file]).succeeds().stdout;
    assert!(shown.contains("bill_length_mm: kde") && shown.contains("body_mass_g: histogram"));
    let outcome = abduce(&["predict", &file, &penguins]).succeeds();
    let gentoo = outcome
        .lines()
        .iter()
        .filter(|line| **line == "Gentoo")
        .count();
    assert!((120..=128).contains(&gentoo), "{gentoo}");
    let incomplete = files.write("incomplete.csv", "bill_length_mm,body_mass_g\n,\n");
    for how in ["mean", "mode", "draw"] {
        let filled = abduce(&["impute", &file, &incomplete, "--how", how]).succeeds();
        assert!(!filled.stdout.contains(",\n"), "{}", filled.stdout);
    }
    // A kernel density needs numbers.
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

#[test]
fn rows_that_knn_cannot_predict_are_empty_and_counted() {
    let files = Files::new();
    let file = penguins(&files, "knn");
    let text = "bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g\n\
                40,18,190,3700\n,18,190,3700\n50,15,220,5000\n50,,,5000\n,,,\n";
    let incomplete = files.write("incomplete.csv", text);
    let outcome = abduce(&["predict", &file, &incomplete]).succeeds();
    let empty = "\"\"";
    assert_eq!(
        outcome.lines(),
        ["prediction", "Adelie", empty, "Gentoo", empty, "Adelie"]
    );
    let warning = "2 rows have a missing value (first: row 2)";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    let proba = abduce(&["predict", &file, &incomplete, "--proba"]).succeeds();
    assert_eq!(proba.lines()[2], ",,,");
    let json = abduce(&["predict", &file, &incomplete, "--proba", "--json"])
        .succeeds()
        .json();
    assert!(json["predictions"][1].is_null() && json["predictions"][2] == "Gentoo");
    assert!(json["probabilities"]["Adelie"][3].is_null());
    assert_eq!(json["probabilities"]["Adelie"].as_array().unwrap().len(), 5);
    let scored = abduce(&["score", &file, &incomplete]).succeeds();
    assert_eq!(scored.lines().len(), 6);
    assert!(scored.lines()[2] == empty && scored.lines()[5] == "0");
    assert!(scored.stderr.contains(warning), "{}", scored.stderr);
    let json = abduce(&["score", &file, &incomplete, "--mean", "--json"])
        .succeeds()
        .json();
    assert!(json["rows"] == 3 && json["mean"].is_number());
    let outliers = abduce(&["score", &file, &incomplete, "--outliers", "9"]).succeeds();
    assert_eq!(outliers.lines().len(), 4);
    let unpredictable = files.write("nothing.csv", "bill_length_mm,body_mass_g\n40,\n");
    abduce(&["score", &file, &unpredictable, "--mean"]).fails(1, &["no row has a density"]);
}

#[test]
fn a_density_without_classes_cannot_predict() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    for model in ["kde", "histogram", "knn"] {
        let file = files.fit(&[model, &faithful]);
        abduce(&["predict", &file, &faithful]).fails(2, &["no classes", "--target", "score"]);
    }
    // A mixture predicts clusters.
    let file = files.fit(&["mixture", &faithful, "-k", "1"]);
    abduce(&["predict", &file, &faithful]).succeeds();
}

#[test]
fn fits_that_fall_back_to_another_rule_report_it() {
    let files = Files::new();
    let report = |text: &str, arguments: &[&str]| {
        let file = files.write("odd.csv", text);
        let all = [&["fit"], &arguments[..1], &[file.as_str()], &arguments[1..]].concat();
        abduce(&all).succeeds().stderr
    };
    let one = report("x,y\n1.5,2.5\n", &["kde"]);
    assert!(one.contains("and so no variance: all rows"), "{one}");
    let few = report(
        "x,z\n1.5,a\n2.5,a\n3.5,b\n",
        &["knn", "--target", "z", "--neighbours", "2"],
    );
    assert!(
        few.contains("all of them are counted: class \"b\""),
        "{few}"
    );
    let waves = (0..40).map(|i| format!("{}\n", f64::from(i).sin()));
    let waves: String = waves.collect();
    let copies = format!("x\n{waves}{waves}{waves}");
    let cv = report(&copies, &["kde", "--bandwidth", "cv"]);
    assert!(cv.contains("Scott's rule: all rows"), "{cv}");
    let alone = report("x,z\n1,a\n2,a\n3,a\n9,b\n", &["kde", "--target", "z"]);
    let infinite = alone.lines().find(|line| line.contains("-inf"));
    assert!(
        infinite.is_some_and(|line| line.ends_with("class \"b\"")),
        "{alone}"
    );
    let file = files.write("odd.csv", &copies);
    let tuned = abduce(&["fit", "kde", &file, "--bandwidth", "cv"])
        .succeeds()
        .stdout;
    assert!(
        tuned.contains("by Scott's rule where that has no solution"),
        "{tuned}"
    );
    let knuth = report(&copies, &["histogram", "--bins", "knuth"]);
    assert!(
        knuth.contains("Freedman-Diaconis rule: column \"x\""),
        "{knuth}"
    );
}

#[test]
fn a_histogram_is_shown_with_its_edges_and_counts() {
    let files = Files::new();
    let table = files.write("t.csv", "x,z\n0,a\n1,a\n1.5,b\n4,b\n4,b\n");
    let file = files.fit(&["histogram", &table, "--target", "z", "--bins", "2"]);
    let shown = abduce(&["show", &file]).succeeds().stdout;
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    for line in [["0", "2", "2", "1"], ["2", "4", "0", "2"]] {
        assert!(lines.contains(&line.to_vec()), "{shown}");
    }
}

#[test]
fn values_that_a_density_cannot_impute_are_reported() {
    let files = Files::new();
    let table = files.write("t.csv", "x,y\n0,1\n1,2\n2,1\n3,4\n");
    let incomplete = files.write("incomplete.csv", "x,y\n0,1\n,2\n99,\n");
    let knn = files.fit(&["knn", &table]);
    abduce(&["impute", &knn, &incomplete])
        .fails(2, &["incomplete.csv, line 3", "cannot fill missing values"]);
    let histogram = files.fit(&["histogram", &table, "--bins", "2"]);
    let outcome = abduce(&["impute", &histogram, &incomplete]).succeeds();
    assert!(
        outcome
            .stderr
            .contains("1 row with missing values: impossible"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_class_of_equal_numbers_is_predicted_with_every_family() {
    let files = Files::new();
    let of_b = (0..20).map(|i| format!("{},b\n", 0.03 + 0.047 * f64::from(i)));
    let table: String = of_b.chain((0..20).map(|_| "0.4,a\n".to_string())).collect();
    let table = files.write("equal.csv", format!("x,z\n{table}"));
    let new = files.write("new.csv", "x\n0.4\n0.9\n");
    for family in [
        "gaussian",
        "student-t",
        "gamma",
        "log-normal",
        "beta",
        "von-mises",
        "uniform",
        "kde",
        "histogram",
    ] {
        for floor in ["1e-6", "0"] {
            let file = files.fit(&[
                "naive-bayes",
                &table,
                "--target",
                "z",
                "--family",
                &format!("x={family}"),
                "--variance-floor",
                floor,
            ]);
            let outcome = abduce(&["predict", &file, &new]).succeeds();
            assert_eq!(
                outcome.lines(),
                ["prediction", "a", "b"],
                "{family} {floor}"
            );
        }
    }
}

#[test]
fn a_joint_histogram_of_many_columns_has_a_warning() {
    let files = Files::new();
    let names: Vec<String> = (0..13).map(|c| format!("c{c}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for row in 0..40 {
        let cells: Vec<String> = (0..13)
            .map(|c| format!("{}.5", (row * (c + 3)) % 17))
            .collect();
        text.push_str(&format!("{},{}\n", cells.join(","), ["a", "b"][row % 2]));
    }
    let table = files.write("t.csv", text);
    let fit = ["fit", "histogram", &table, "--target", "y"];
    let warning = "warning: a joint histogram of 13 columns";
    assert!(abduce(&fit).succeeds().stderr.contains(warning));
    let few = [&fit[..], &["--columns", "c1,c2"]].concat();
    assert!(!abduce(&few).succeeds().stderr.contains(warning));
}
