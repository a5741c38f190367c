//! `evaluate`, calibrated models, costs and abstention.

use crate::run::{Files, abduce, data, half_labelled};
use serde_json::json;

fn penguins(arguments: &[&str]) -> Vec<String> {
    let table = data("penguins.csv");
    let start = ["evaluate", "naive-bayes", &table, "--target", "species"];
    let all = start.iter().chain(arguments);
    all.map(|argument| argument.to_string()).collect()
}

fn run(arguments: &[String]) -> crate::run::Outcome {
    abduce(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn an_evaluation_lists_metrics_classes_and_confusion() {
    let outcome = run(&penguins(&["--folds", "10"])).succeeds();
    for word in [
        "naive-bayes of species: 344 rows held out in 10 folds",
        "accuracy",
        "log-loss",
        "Brier",
        "calibration error",
        "precision",
        "confusion",
        "Chinstrap",
        "reliability",
    ] {
        assert!(
            outcome.stdout.contains(word),
            "no {word} in {}",
            outcome.stdout
        );
    }
    let json = run(&penguins(&["--json"])).succeeds().json();
    assert_eq!(json["folds"], 10);
    assert_eq!(json["held_out"], 344);
    let accuracy = &json["accuracy"];
    assert!(accuracy["all"].as_f64().unwrap() > 0.95, "{accuracy}");
    assert_eq!(accuracy["folds"].as_array().unwrap().len(), 10);
    let counts = json["confusion"]["weights"].as_array().unwrap();
    let counts = counts.iter().flat_map(|row| row.as_array().unwrap());
    assert_eq!(counts.map(|n| n.as_f64().unwrap()).sum::<f64>(), 344.0);
    assert_eq!(json["classes"]["Adelie"]["support"], 152.0);
    for figure in ["log_loss", "brier", "calibration_error", "macro_f1"] {
        assert!(json[figure]["mean"].is_number() && json[figure]["sd"].is_number());
    }
}

#[test]
fn folds_depend_on_the_seed_but_not_on_threads() {
    let figures = |arguments: &[&str]| {
        let mut json = run(&penguins(arguments)).succeeds().json();
        json.as_object_mut().unwrap().remove("seconds");
        json
    };
    let expected = figures(&["--json", "--folds", "4"]);
    for other in [&["--threads", "1"], &["--threads", "3"], &["--memory", "0"]] {
        let all = [&["--json", "--folds", "4"], &other[..]].concat();
        assert_eq!(figures(&all), expected, "{other:?}");
    }
    let other = figures(&["--json", "--folds", "4", "--seed", "1"]);
    assert_ne!(other["accuracy"]["folds"], expected["accuracy"]["folds"]);
}

#[test]
fn rows_without_a_label_are_not_evaluated() {
    let files = Files::new();
    let table = files.write("half.csv", half_labelled());
    let outcome = abduce(&[
        "evaluate",
        "gda",
        &table,
        "--target",
        "species",
        "--drop",
        "island,sex,year",
        "--folds",
        "3",
        "--json",
    ])
    .succeeds();
    let json = outcome.json();
    assert_eq!(json["rows"], 344);
    assert_eq!(json["held_out"], 172);
    assert!(outcome.stderr.contains("172 rows without a label"));
    assert!(json["accuracy"]["all"].as_f64().unwrap() > 0.95);
}

#[test]
fn too_many_folds_are_an_error_and_small_classes_give_a_note() {
    let table = data("tennis.csv");
    let tennis = |folds: &str| {
        abduce(&[
            "evaluate",
            "naive-bayes",
            &table,
            "--target",
            "PlayTennis",
            "--folds",
            folds,
        ])
    };
    tennis("15").fails(2, &["15 folds", "14 rows", "fewer folds"]);
    tennis("1000").fails(2, &["1000 folds", "14 rows"]);
    for wrong in ["1", "0", "-3", "many"] {
        assert_eq!(tennis(wrong).code, 2);
    }
    let outcome = tennis("10").succeeds();
    assert!(
        outcome.stderr.contains("fewer rows than folds"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("No (5)"), "{}", outcome.stderr);
    let outcome = tennis("14").succeeds();
    assert!(outcome.stdout.contains("14 rows held out in 14 folds"));
}

#[test]
fn clusters_are_compared_with_a_column_that_is_not_fitted() {
    let table = data("penguins.csv");
    let mixture = ["evaluate", "mixture", &table, "-k", "3", "--folds", "5"];
    let shown = ["--drop", "island,sex,year", "--truth", "species"];
    let outcome = abduce(&[&mixture[..], &shown].concat()).succeeds();
    assert!(outcome.stdout.contains("against species") && outcome.stdout.contains("adjusted Rand"));
    let json = abduce(&[&mixture[..], &shown, &["--json"]].concat());
    let json = json.succeeds().json();
    assert!(
        json["adjusted_rand"]["mean"].as_f64().unwrap() > 0.8,
        "{json}"
    );
    let hidden = ["--drop", "species,island,sex,year", "--json"];
    let without = abduce(&[&mixture[..], &hidden].concat()).succeeds().json();
    assert_eq!(without["log_likelihood"], json["log_likelihood"]);
    assert!(without["adjusted_rand"].is_null());
    abduce(&[&mixture[..], &["--truth", "specie"]].concat())
        .fails(2, &["--truth", "specie", "did you mean species"]);
    run(&penguins(&["--truth", "island"])).fails(2, &["--truth", "--target"]);
    let faithful = data("faithful.csv");
    let kde = abduce(&["evaluate", "kde", &faithful, "--json"])
        .succeeds()
        .json();
    assert!(kde["log_likelihood"]["all"].is_number());
    abduce(&["evaluate", "kde", &faithful, "--truth", "waiting"]).fails(2, &["--truth", "mixture"]);
}

#[test]
fn density_classifiers_are_evaluated() {
    let table = data("penguins.csv");
    for model in ["kde", "histogram", "knn"] {
        let json = abduce(&[
            "evaluate",
            model,
            &table,
            "--target",
            "species",
            "--columns",
            "bill_length_mm,bill_depth_mm",
            "--folds",
            "4",
            "--json",
        ]);
        let json = json.succeeds().json();
        assert!(json["accuracy"]["all"].as_f64().unwrap() > 0.9, "{json}");
    }
}

#[test]
fn a_class_of_probability_0_gives_a_reported_infinite_log_loss() {
    let files = Files::new();
    let table = files.write("t.csv", "x,y\n1,a\n2,a\n1,a\n5,b\n6,b\n5,b\n9,c\n");
    let arguments = [
        "evaluate",
        "naive-bayes",
        &table,
        "--target",
        "y",
        "--folds",
        "3",
    ];
    let outcome = abduce(&arguments).succeeds();
    assert!(outcome.stdout.contains("inf") && outcome.stdout.contains("clipped log-loss"));
    assert!(
        outcome.stdout.contains("probability 0"),
        "{}",
        outcome.stdout
    );
    let json = abduce(&[&arguments[..], &["--json"]].concat())
        .succeeds()
        .json();
    assert!(json["log_loss"]["all"].is_null() && json["clipped_log_loss"]["all"].is_number());
    assert_eq!(json["impossible"], 1.0);
}

#[test]
fn rows_in_empty_bins_are_reported_with_a_hint() {
    let files = Files::new();
    let rows: String = (0..30).map(|i| format!("{}\n", i * i)).collect();
    let table = files.write("t.csv", format!("x\n{rows}"));
    let outcome = abduce(&["evaluate", "histogram", &table, "--smoothing", "0"]).succeeds();
    assert!(
        outcome.stdout.contains("--smoothing 1"),
        "{}",
        outcome.stdout
    );
    // One fold for each row, with more than 255 folds.
    let rows: String = (0..300)
        .map(|i| format!("{}\n", f64::from(i).sin()))
        .collect();
    let table = files.write("many.csv", format!("x\n{rows}"));
    let outcome = abduce(&["evaluate", "histogram", &table, "--folds", "300"]).succeeds();
    assert!(
        outcome.stdout.contains("in 300 folds"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn show_reports_the_calibration_and_predict_uses_it() {
    let files = Files::new();
    let table = data("penguins.csv");
    let fit = ["naive-bayes", &table, "--target", "species"];
    let plain = files.fit(&fit);
    let plain = abduce(&["predict", &plain, &table, "--proba"])
        .succeeds()
        .stdout;
    for (how, word) in [
        ("isotonic", "isotonic regression"),
        ("platt", "Platt's curve"),
    ] {
        let model = files.fit(&[&fit[..], &["--calibrate", how]].concat());
        let shown = abduce(&["show", &model]).succeeds().stdout;
        let line = format!("by {word} on 344 rows held out in 5 folds");
        assert!(shown.contains(&line), "{shown}");
        let outcome = abduce(&["predict", &model, &table, "--proba"]).succeeds();
        assert_ne!(outcome.stdout, plain);
        for line in &outcome.lines()[1..] {
            let cells = line.split(',').skip(1);
            let sum: f64 = cells.map(|p| p.parse::<f64>().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{line}");
        }
        let text = std::fs::read_to_string(&model).unwrap();
        let damaged = text.replacen("\"method\": \"", "\"method\": \"x", 1);
        let damaged = files.write("damaged.abduce", damaged);
        abduce(&["predict", &damaged, &table]).fails(2, &["damaged"]);
    }
    let evaluated = run(&penguins(&[
        "--calibrate",
        "platt",
        "--folds",
        "3",
        "--json",
    ]));
    assert_eq!(evaluated.succeeds().json()["calibration"], "platt");
    let faithful = data("faithful.csv");
    abduce(&[
        "fit",
        "mixture",
        &faithful,
        "-k",
        "2",
        "--calibrate",
        "platt",
    ])
    .fails(2, &["--calibrate does not apply to mixture"]);
    abduce(&["fit", "kde", &faithful, "--calibrate", "platt"])
        .fails(2, &["--calibrate", "--target"]);
    assert_eq!(run(&penguins(&["--calibrate", "fully"])).code, 2);
}

#[test]
fn predict_abstains_below_a_threshold_and_counts_how_often() {
    let files = Files::new();
    let table = data("penguins.csv");
    let model = files.fit(&["naive-bayes", &table, "--target", "species"]);
    let arguments = ["predict", &model, &table, "--abstain-below", "0.999"];
    let outcome = abduce(&[&arguments[..], &["--proba"]].concat()).succeeds();
    let mut empty = 0;
    for line in &outcome.lines()[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        let top = cells[1..].iter().map(|p| p.parse::<f64>().unwrap());
        let top = top.fold(0.0, f64::max);
        assert_eq!(cells[0].is_empty(), top < 0.999, "{line}");
        empty += usize::from(cells[0].is_empty());
    }
    let report = format!("no prediction for {empty} of 344 rows");
    assert!(
        empty > 0 && outcome.stderr.contains(&report),
        "{}",
        outcome.stderr
    );
    let alone = abduce(&arguments).succeeds();
    assert_eq!(
        alone.lines().iter().filter(|l| **l == "\"\"").count(),
        empty
    );
    let json = abduce(&[&arguments[..], &["--json"]].concat())
        .succeeds()
        .json();
    let nulls = json["predictions"].as_array().unwrap().iter();
    assert_eq!(
        nulls.filter(|prediction| prediction.is_null()).count(),
        empty
    );
    for wrong in ["-0.1", "1.5", "half"] {
        assert_eq!(
            abduce(&["predict", &model, &table, "--abstain-below", wrong]).code,
            2
        );
    }
}

#[test]
fn the_class_with_the_least_expected_cost_is_predicted() {
    let files = Files::new();
    let table = data("tennis.csv");
    let model = files.fit(&["naive-bayes", &table, "--target", "PlayTennis"]);
    let predict = |costs: &str| abduce(&["predict", &model, &table, "--proba", "--costs", costs]);
    let outcome = predict("No>Yes=9").succeeds();
    for line in &outcome.lines()[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        let no: f64 = cells[1].parse().unwrap();
        assert_eq!(cells[0], if no > 0.1 { "No" } else { "Yes" }, "{line}");
    }
    let square = files.write("costs.csv", "true,No,Yes\nNo,0,9\nYes,1,0\n");
    assert_eq!(predict(&square).succeeds().stdout, outcome.stdout);
    let permuted = files.write("permuted.csv", "true,Yes,No\nYes,0,1\nNo,9,0\n");
    assert_eq!(predict(&permuted).succeeds().stdout, outcome.stdout);
    let plain = abduce(&["predict", &model, &table, "--proba"]).succeeds();
    assert_eq!(predict("No>Yes=1,Yes>No=1").succeeds().stdout, plain.stdout);
    predict("Noo>Yes=3").fails(2, &["Noo", "did you mean No?", "No, Yes"]);
    predict("No>Yes=dear").fails(2, &["No>Yes=dear", "TRUE>PREDICTED=COST"]);
    predict("No>Yes=inf").fails(2, &["inf"]);
    predict(&files.path("absent.csv")).fails(2, &["absent.csv"]);
    let bad = files.write("bad.csv", "true,No,Yes\nNo,0,9\nYes,one,0\n");
    predict(&bad).fails(2, &["bad.csv", "line 3", "\"No\"", "one"]);
    let unknown = files.write("unknown.csv", "true,No,Yess\nNo,0,9\n");
    predict(&unknown).fails(2, &["unknown.csv", "Yess", "did you mean Yes?"]);
}

#[test]
fn isotonic_calibration_has_a_finite_log_loss() {
    // This command is in the book.
    let arguments = penguins(&["--calibrate", "isotonic", "--folds", "5"]);
    let json = run(&[&arguments[..], &["--json".to_string()]].concat());
    let json = json.succeeds().json();
    assert!(json["log_loss"]["all"].as_f64().unwrap() < 0.2, "{json}");
    assert_eq!(json["impossible"], 0.0);
    let text = run(&arguments).succeeds().stdout;
    assert!(!text.contains("inf") && !text.contains("clipped"), "{text}");
}

#[test]
fn the_clipped_log_loss_is_printed_only_if_it_differs() {
    let files = Files::new();
    // The classes are so distant that the wrong one has a probability below 2⁻⁵².
    let rows_at = |x: f64, class: &str| -> String {
        let rows = (0..20).map(|i| format!("{},{class}\n", x + f64::from(i) / 10.0));
        rows.collect()
    };
    let rows = rows_at(0.0, "a") + &rows_at(100.0, "b") + "101,a\n";
    let table = files.write("t.csv", format!("x,y\n{rows}"));
    let fit = ["evaluate", "naive-bayes", &table, "--target", "y"];
    let text = abduce(&fit).succeeds().stdout;
    assert!(
        text.contains("clipped log-loss") && !text.contains("inf"),
        "{text}"
    );
    let json = abduce(&[&fit[..], &["--json"]].concat()).succeeds().json();
    let of = |name: &str| json[name]["all"].as_f64().unwrap();
    assert!(of("log_loss") > of("clipped_log_loss") + 0.1, "{json}");
}

#[test]
fn files_with_calibrations_without_bounds_give_the_same_answers() {
    let files = Files::new();
    let table = data("penguins.csv");
    let fit = ["naive-bayes", &table, "--target", "species"];
    let model = files.fit(&[&fit[..], &["--calibrate", "isotonic"]].concat());
    let text = std::fs::read_to_string(&model).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    fn without_bounds(value: &mut serde_json::Value) -> usize {
        match value {
            serde_json::Value::Object(map) if map.contains_key("least") => {
                let both = map.remove("least").is_some() && map.remove("most").is_some();
                usize::from(both)
            }
            serde_json::Value::Object(map) => map.values_mut().map(without_bounds).sum(),
            serde_json::Value::Array(all) => all.iter_mut().map(without_bounds).sum(),
            _ => 0,
        }
    }
    assert_eq!(without_bounds(&mut document), 3);
    let old = files.write("old.abduce", document.to_string());
    let zeros = |model: &str| {
        let outcome = abduce(&["predict", model, &table, "--proba"]).succeeds();
        let cells = outcome.stdout.lines().skip(1);
        let cells = cells.flat_map(|line| line.split(',').skip(1));
        let p = cells.map(|cell| cell.parse::<f64>().unwrap());
        p.filter(|p| *p == 0.0).count()
    };
    assert!(zeros(&old) > 0);
    assert_eq!(zeros(&model), 0);
}

#[test]
fn a_saved_model_is_evaluated_on_a_test_table() {
    let files = Files::new();
    let training = "y,x\na,1\nb,5\na,1.5\nb,5.5\na,0.5\nb,4.5\n";
    let model = files.fit(&[
        "naive-bayes",
        &files.write("a.csv", training),
        "--target",
        "y",
    ]);
    // Predicted correctly, correctly, wrongly; unlabelled; of an unseen class.
    let test = files.write("b.csv", "y,x\na,1\nb,5\nb,1.2\n,5\nc,5\n");
    let outcome = abduce(&["evaluate", &model, &test, "--json"]).succeeds();
    let report = outcome.json();
    assert_eq!(report["model"], "naive-bayes");
    assert_eq!(report["held_out"], 3);
    assert!((report["accuracy"]["all"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(report["accuracy"].as_object().unwrap().len(), 1);
    assert_eq!(
        report["confusion"]["weights"],
        json!([[1.0, 0.0], [1.0, 1.0]])
    );
    let predicted = abduce(&["predict", &model, &test, "--proba"]).succeeds();
    let p = |row: usize, column: usize| -> f64 {
        let lines = predicted.lines();
        lines[row].split(',').nth(column).unwrap().parse().unwrap()
    };
    let loss = -(p(1, 1).ln() + p(2, 2).ln() + p(3, 2).ln()) / 3.0;
    assert!((report["log_loss"]["all"].as_f64().unwrap() - loss).abs() < 1e-9 * loss);
    let outcome = abduce(&["evaluate", &model, &test]).succeeds();
    assert!(
        outcome.stdout.contains("3 rows of a test table"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("fold"), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("2 rows without a label"),
        "{}",
        outcome.stderr
    );
    for option in [
        &["--folds", "3"][..],
        &["--smoothing", "3"],
        &["--max-iter", "5"],
        &["--calibrate", "platt"],
        &["--kind", "x=count"],
        &["--predictive"],
    ] {
        let all = [&["evaluate", &model, &test], option].concat();
        abduce(&all).fails(2, &[option[0], "does not apply to a model file"]);
    }
    let weighted = files.write("w.csv", "y,x,w\na,1,2\nb,5,1\nb,1.2,0\n,1.2,0\n");
    let outcome = abduce(&["evaluate", &model, &weighted, "--weight", "w"]).succeeds();
    assert!(!outcome.stderr.contains("label"), "{}", outcome.stderr);
    abduce(&["evaluate", &model, &test, "--target", "x"]).fails(2, &["target of the model is y"]);
    let none = files.write("c.csv", "x\n1\n");
    abduce(&["evaluate", &model, &none]).fails(2, &["no row has a label"]);
    abduce(&["evaluate", "nave-bayes", &test]).fails(2, &["nave-bayes"]);
    abduce(&["evaluate", "lost.abduce", &test]).fails(2, &["lost.abduce"]);
}

#[test]
fn the_clusters_of_a_saved_mixture_are_compared_with_the_truth() {
    let files = Files::new();
    let rows = (0..40).map(|row| match row % 2 {
        0 => format!("{},left\n", row as f64 * 0.01),
        _ => format!("{},right\n", 9.0 + row as f64 * 0.01),
    });
    let table = files.write("a.csv", format!("x,side\n{}", rows.collect::<String>()));
    let model = files.fit(&["mixture", &table, "-k", "2", "--columns", "x"]);
    let report = abduce(&["evaluate", &model, &table, "--truth", "side", "--json"]).succeeds();
    assert_eq!(
        report.json()["adjusted_rand"]["all"],
        1.0,
        "{}",
        report.stdout
    );
    abduce(&["evaluate", &model, "-", "--truth", "side"]).fails(2, &["--truth", "standard input"]);
    let mean = abduce(&["score", &model, &table, "--mean"]).succeeds();
    let mean: f64 = mean.stdout.trim().parse().unwrap();
    let found = report.json()["log_likelihood"]["all"].as_f64().unwrap();
    assert!((found - mean).abs() < 1e-9 * mean.abs(), "{found} {mean}");
}
