//! `fit`: its output, the model file, and errors.

use crate::run::{Files, abduce, abduce_reading, data, half_labelled};

#[test]
fn a_fit_prints_kinds_on_stderr_and_a_summary_on_stdout() {
    let penguins = data("penguins.csv");
    let outcome = abduce(&["fit", "naive-bayes", &penguins, "--target", "species"]).succeeds();
    for word in [
        "344 rows",
        "Adelie",
        "log-likelihood",
        "BIC",
        "AIC",
        "converged",
    ] {
        assert!(outcome.stdout.contains(word), "{word}: {}", outcome.stdout);
    }
    for word in ["bill_length_mm", "categorical", "target: Adelie"] {
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    }
    let quiet = abduce(&[
        "fit",
        "naive-bayes",
        &penguins,
        "--target",
        "species",
        "--quiet",
    ]);
    assert_eq!(quiet.succeeds().stderr, "");
}

#[test]
fn json_has_the_documented_fields() {
    let outcome = abduce(&[
        "fit",
        "mixture",
        &data("faithful.csv"),
        "--components",
        "2",
        "--json",
    ]);
    let json = outcome.succeeds().json();
    for key in [
        "model",
        "rows",
        "columns",
        "log_likelihood",
        "bic",
        "aic",
        "parameters",
        "iterations",
        "converged",
        "trace",
        "components",
        "warnings",
        "seconds",
        "monotone",
        "restarts",
        "notes",
        "file",
    ] {
        assert!(json.get(key).is_some(), "no {key} in {json}");
    }
    assert_eq!(json["model"], "mixture");
    assert_eq!(json["rows"], 272);
    assert_eq!(json["columns"].as_array().unwrap().len(), 2);
    let log_likelihood = json["log_likelihood"].as_f64().unwrap();
    assert!((log_likelihood + 1130.26396).abs() < 1e-4);
    let components = json["components"].as_array().unwrap();
    let weights: f64 = components
        .iter()
        .map(|c| c["weight"].as_f64().unwrap())
        .sum();
    assert!((weights - 1.0).abs() < 1e-12);
    assert_eq!(components[0]["name"], "1");
    let trace = json["trace"].as_array().unwrap();
    assert!(trace.windows(2).all(|w| w[1].as_f64() >= w[0].as_f64()));
}

#[test]
fn rows_without_a_label_are_used_and_predicted() {
    let files = Files::new();
    let half = files.write("half.csv", half_labelled());
    let model = files.fit(&["naive-bayes", &half, "--target", "species"]);
    let shown = abduce(&["show", &model, "--json"]).succeeds().json();
    assert_eq!(shown["fit"]["rows"], 344);
    let outcome = abduce(&["predict", &model, &half]).succeeds();
    assert_eq!(outcome.lines().len(), 345);
    let species = ["Adelie", "Chinstrap", "Gentoo"];
    assert!(
        outcome.lines()[1..]
            .iter()
            .all(|line| species.contains(line))
    );
    // The assumptions of discriminant analysis hold here, so that it is also accurate.
    let model = files.fit(&[
        "gda",
        &half,
        "--target",
        "species",
        "--columns",
        "bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g",
    ]);
    let outcome = abduce(&["predict", &model, &half]).succeeds();
    let truth = std::fs::read_to_string(data("penguins.csv")).unwrap();
    let pairs = outcome.stdout.lines().zip(truth.lines()).skip(1);
    let right = pairs.filter(|(predicted, row)| row.starts_with(predicted));
    assert!(right.count() >= 335);
}

#[test]
fn every_option_of_a_mixture_is_accepted() {
    let outcome = abduce(&[
        "fit",
        "mixture",
        &data("penguins.csv"),
        "-k",
        "3",
        "--covariance",
        "tied",
        "--method",
        "hard",
        "--restarts",
        "2",
        "--init",
        "random",
        "--tol",
        "1e-5",
        "--max-iter",
        "50",
        "--smoothing",
        "0.5",
        "--class-smoothing",
        "1",
        "--variance-floor",
        "1e-4",
        "--family",
        "year=gaussian",
        "--drop",
        "species,sex",
        "--kind",
        "island=categorical",
        "--seed",
        "3",
        "--json",
    ]);
    let json = outcome.succeeds().json();
    assert_eq!(json["components"].as_array().unwrap().len(), 3);
    assert_eq!(json["columns"].as_array().unwrap().len(), 6);
    assert_eq!(json["restarts"].as_array().unwrap().len(), 2);
}

#[test]
fn families_and_kinds_can_be_chosen() {
    let files = Files::new();
    let text = "visits,wait,on\n3,0.5,1\n0,1.5,0\n2,0.25,1\n7,3,0\n";
    let table = files.write("t.csv", text);
    let model = files.fit(&[
        "mixture",
        &table,
        "-k",
        "1",
        "--kind",
        "visits=count,on=binary",
        "--family",
        "wait=exponential",
        "--family",
        "visits=poisson",
    ]);
    let shown = abduce(&["show", &model]).succeeds().stdout;
    for word in ["visits: poisson", "wait: exponential", "on: bernoulli"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    // The rate is the mean of the counts.
    assert!(
        shown
            .lines()
            .any(|l| l.split_whitespace().collect::<Vec<_>>() == ["1", "3", "4"])
    );
}

#[test]
fn options_that_do_not_apply_are_an_error() {
    let (penguins, faithful) = (data("penguins.csv"), data("faithful.csv"));
    let labelled = ["fit", "naive-bayes", &penguins, "--target", "species"];
    let with = |more: &[&str]| abduce(&[&labelled[..], more].concat());
    with(&["--covariance", "full"]).fails(2, &["--covariance", "naive-bayes", "gda"]);
    with(&["--components", "3"]).fails(2, &["--components", "naive-bayes"]);
    with(&["--restarts", "3"]).fails(2, &["--restarts"]);
    with(&["--init", "random"]).fails(2, &["--init"]);
    abduce(&[
        "fit", "mixture", &faithful, "-k", "2", "--target", "waiting",
    ])
    .fails(2, &["--target", "mixture"]);
    abduce(&["fit", "mixture", &faithful]).fails(2, &["mixture needs --components"]);
    abduce(&["fit", "gda", &penguins]).fails(2, &["gda needs --target"]);
}

#[test]
fn planned_models_are_reported_as_not_available() {
    let faithful = data("faithful.csv");
    let later = "not available in this version";
    for model in ["network", "logistic"] {
        abduce(&["fit", model, &faithful]).fails(2, &[model, later]);
    }
    abduce(&["fit", "mixture", &faithful, "--method", "gibbs"]).fails(2, &[later]);
}

#[test]
fn an_unwritable_output_is_an_error_before_reading_data() {
    let files = Files::new();
    let nowhere = files.path("no/such/folder/m.abduce");
    let absent = files.path("absent.csv");
    abduce(&["fit", "mixture", &absent, "-k", "2", "-o", &nowhere])
        .fails(2, &["m.abduce", "no folder"]);
    let folder = files.folder().display().to_string();
    abduce(&[
        "fit",
        "mixture",
        &data("faithful.csv"),
        "-k",
        "2",
        "-o",
        &folder,
    ])
    .fails(2, &["folder"]);
    assert!(files.names().is_empty());
}

#[test]
fn data_are_read_from_stdin_gzip_and_several_files() {
    let files = Files::new();
    let text = std::fs::read_to_string(data("faithful.csv")).unwrap();
    let whole = |outcome: crate::run::Outcome| {
        outcome.succeeds().json()["log_likelihood"]
            .as_f64()
            .unwrap()
    };
    let expected = whole(abduce(&[
        "fit",
        "mixture",
        &data("faithful.csv"),
        "-k",
        "2",
        "--json",
    ]));
    let piped = abduce_reading(&["fit", "mixture", "-", "-k", "2", "--json"], &text);
    assert_eq!(whole(piped), expected);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
    let gz = files.write("f.csv.gz", gzip.finish().unwrap());
    assert_eq!(
        whole(abduce(&["fit", "mixture", &gz, "-k", "2", "--json"])),
        expected
    );
    let lines: Vec<&str> = text.lines().collect();
    files.write("part1.csv", lines[..100].join("\n"));
    files.write(
        "part2.csv",
        [&lines[..1], &lines[100..]].concat().join("\n"),
    );
    let glob = files.path("part*.csv");
    assert_eq!(
        whole(abduce(&["fit", "mixture", &glob, "-k", "2", "--json"])),
        expected
    );
    let bare = files.write("bare.txt", lines[1..].join("\n").replace(',', ";"));
    let outcome = abduce(&[
        "fit",
        "mixture",
        &bare,
        "-k",
        "2",
        "--json",
        "--no-header",
        "--names",
        "a,b",
        "--delimiter",
        ";",
        "--memory",
        "1K",
    ]);
    assert_eq!(whole(outcome), expected);
}

#[test]
fn missing_values_unlabelled_rows_and_unsaved_models_give_notes() {
    let files = Files::new();
    let table = files.write("t.csv", half_labelled());
    let fit = ["fit", "naive-bayes", &table, "--target", "species"];
    let outcome = abduce(&fit).succeeds();
    for words in [
        "172 unlabelled",
        "172 rows without a label",
        "11 missing",
        "pass -o FILE",
    ] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
    let wide: Vec<String> = (0..50).map(|c| format!("c{c}")).collect();
    let (names, row) = (wide.join(","), vec!["1.5"; 50].join(","));
    let path = files.write("w.csv", format!("{names}\n{row}\n{row}\n"));
    let model = files.path("m.abduce");
    let outcome = abduce(&[
        "fit",
        "mixture",
        &path,
        "-k",
        "1",
        "-o",
        &model,
        "--covariance",
        "diagonal",
    ]);
    assert!(
        outcome.stderr.contains("and 20 more columns"),
        "{}",
        outcome.stderr
    );
    let few = files.write("few.csv", "c1\n1.5\n");
    let outcome = abduce(&["score", &model, &few]).succeeds();
    let words = "the data lack 49 of the model's columns: c0, c2, c3 and 46 more";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

#[test]
fn a_grid_of_criteria_is_printed_and_stored_in_the_model() {
    let files = Files::new();
    let model = files.path("chosen.abduce");
    let faithful = data("faithful.csv");
    let grid = [
        "fit",
        "mixture",
        &faithful,
        "-k",
        "1-3",
        "--covariance",
        "EEE,VVV",
        "-o",
        &model,
    ];
    let outcome = abduce(&grid).succeeds();
    assert!(outcome.stdout.contains("2314.30*"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("covariance      tied (EEE)"));
    let report = abduce(&[&grid[..], &["--json"]].concat()).succeeds().json();
    let (trace, elbo) = (&report["trace"], report["elbo"].as_array().unwrap());
    assert_eq!(elbo.len() as u64, report["iterations"].as_u64().unwrap());
    assert!(elbo[0].as_f64() <= trace[1].as_f64());
    let selection = &report["selection"];
    assert_eq!(selection["tried"].as_array().unwrap().len(), 6);
    let chosen = selection["chosen"].as_u64().unwrap() as usize;
    assert_eq!(selection["tried"][chosen]["components"], 3);
    assert_eq!(report["components"].as_array().unwrap().len(), 3);
    let kept: serde_json::Value = serde_json::from_str(&files.read("chosen.abduce")).unwrap();
    assert_eq!(&kept["fit"]["selection"], selection);
    abduce(&["predict", &model, &faithful]).succeeds();
}

#[test]
fn options_of_model_selection_are_checked() {
    let faithful = data("faithful.csv");
    let fit = |more: &[&str]| abduce(&[&["fit", "mixture", &faithful][..], more].concat());
    fit(&["-k", "2", "--select", "bic"]).fails(2, &["--select", "nothing to choose from"]);
    fit(&["-k", "3-1"]).fails(2, &["3-1", "not a range"]);
    fit(&["-k", "2", "--covariance", "VVX"]).fails(2, &["VVX", "EII"]);
    fit(&["-k", "2", "--prior", "wishart(1)"]).fails(2, &["wishart(1)", "mclust"]);
    let penguins = data("penguins.csv");
    let gda = [
        "fit",
        "gda",
        &penguins,
        "--target",
        "species",
        "--covariance",
        "all",
    ];
    abduce(&gda).fails(2, &["\"all\" is not a covariance"]);
    abduce(&["fit", "kmeans", &faithful, "-k", "2-4"])
        .fails(2, &["--components", "must be a whole number"]);
}

#[test]
fn predictive_naive_bayes_accepts_rows_without_a_label() {
    let arguments = ["fit", "naive-bayes", "-", "--target", "y", "--predictive"];
    abduce_reading(&arguments, "y,x\na,1\nb,2\n,3\n").succeeds();
}
