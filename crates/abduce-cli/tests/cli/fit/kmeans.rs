//! `kmeans` with every command.

use crate::run::{Files, abduce, data};

#[test]
fn kmeans_is_fitted_shown_and_predicts() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let file = files.fit(&["kmeans", &faithful, "-k", "2", "--standardize"]);
    let shown = abduce(&["show", &file]).succeeds().stdout;
    for word in [
        "kmeans",
        "inertia",
        "79.576",
        "standardised",
        "waiting",
        "174",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let predicted = abduce(&["predict", &file, &faithful, "--proba"]).succeeds();
    assert_eq!(predicted.lines()[..2], ["prediction,P(1),P(2)", "1,1,0"]);
    let first = predicted
        .lines()
        .iter()
        .filter(|line| line.starts_with("1,1,0"))
        .count();
    assert_eq!(first, 174);
    let incomplete = files.write("incomplete.csv", "eruptions,waiting\n4.3,\n,54\n");
    let filled = abduce(&["impute", &file, &incomplete]).succeeds();
    assert!(filled.lines()[1].starts_with("4.3,8"), "{}", filled.stdout);
    assert_eq!(
        abduce(&["sample", &file, "-n", "7"])
            .succeeds()
            .lines()
            .len(),
        8
    );
    abduce(&["score", &file, &faithful, "--mean"]).succeeds();
}

#[test]
fn json_has_the_common_fields_and_the_inertia() {
    let outcome = abduce(&["fit", "kmeans", &data("faithful.csv"), "-k", "3", "--json"]).succeeds();
    let json = outcome.json();
    let keys = [
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
        "inertia",
        "restarts",
    ];
    for key in keys {
        assert!(!json[key].is_null(), "{key}");
    }
    assert_eq!(json["parameters"], 7);
    assert_eq!(json["clusters"]["centres"].as_array().unwrap().len(), 3);
    let trace = json["trace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap(), &json["inertia"]);
}

#[test]
fn every_distance_and_algorithm_works() {
    let faithful = data("faithful.csv");
    let inertia = |more: &[&str]| {
        let fit = ["fit", "kmeans", faithful.as_str(), "-k", "3", "--json"];
        let outcome = abduce(&[&fit, more].concat()).succeeds();
        outcome.json()["inertia"].as_f64().unwrap()
    };
    for distance in ["manhattan", "cosine", "mahalanobis"] {
        assert!(inertia(&["--distance", distance]) > 0.0);
        assert!(inertia(&["--distance", distance, "--medoids"]) > 0.0);
    }
    let plain = inertia(&[]);
    for algorithm in ["auto", "lloyd", "hamerly", "elkan", "yinyang"] {
        assert_eq!(inertia(&["--algorithm", algorithm]), plain);
    }
    assert!(inertia(&["--algorithm", "mini-batch"]) >= plain);
    for init in ["greedy", "kmeans++", "parallel", "random"] {
        assert!(inertia(&["--init", init]) >= plain * (1.0 - 1e-9));
    }
}

#[test]
fn clusters_agree_with_known_groups() {
    let penguins = data("penguins.csv");
    let outcome = abduce(&[
        "evaluate",
        "kmeans",
        &penguins,
        "-k",
        "3",
        "--truth",
        "species",
        "--standardize",
        "--drop",
        "island,sex,year",
        "--json",
    ]);
    let json = outcome.succeeds().json();
    let rand = json["adjusted_rand"]["mean"].as_f64().unwrap();
    assert!(rand > 0.6, "{json}");
}

#[test]
fn unsupported_options_of_kmeans_are_an_error() {
    let faithful = data("faithful.csv");
    let fails = |more: &[&str], words: &[&str]| {
        let outcome = abduce(&[&["fit", "kmeans", faithful.as_str()], more].concat());
        outcome.fails(2, words);
    };
    fails(&[], &["kmeans needs -k"]);
    fails(&["-k", "2", "--target", "waiting"], &["--target", "kmeans"]);
    fails(
        &["-k", "2", "--covariance", "full"],
        &["--covariance", "kmeans"],
    );
    fails(
        &["-k", "2", "--medoids", "--algorithm", "lloyd"],
        &["--algorithm"],
    );
    fails(
        &["-k", "2", "--medoids", "--init", "random"],
        &["--init", "medoids"],
    );
    fails(&["-k", "2", "--medoids", "--tol", "1"], &["--tol", "swap"]);
    let medians = ["-k", "2", "--distance", "manhattan"];
    fails(
        &[&medians[..], &["--algorithm", "elkan"]].concat(),
        &["--algorithm", "manhattan"],
    );
    fails(
        &[&medians[..], &["--init", "parallel"]].concat(),
        &["--init parallel", "manhattan"],
    );
    fails(
        &["-k", "2", "--init", "hierarchical"],
        &["--init", "greedy, kmeans++, parallel and random"],
    );
    let mixture = ["fit", "mixture", &faithful, "-k", "2"];
    abduce(&[&mixture[..], &["--distance", "cosine"]].concat())
        .fails(2, &["--distance", "mixture"]);
    abduce(&[&mixture[..], &["--init", "parallel"]].concat()).fails(2, &["--init", "hierarchical"]);
    let outcome = abduce(&[
        "fit",
        "kmeans",
        &faithful,
        "-k",
        "2",
        "--distance",
        "euclid",
    ]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("manhattan"), "{}", outcome.stderr);
}

#[test]
fn missing_values_are_imputed_from_the_centre_of_the_predicted_cluster() {
    let files = Files::new();
    let table = files.write("t.csv", "a,b\n1,1\n2,3\n1,2\n9,8\n8,9\n9,7\n");
    let file = files.fit(&["kmeans", &table, "-k", "2"]);
    let incomplete = files.write("incomplete.csv", "a,b\n5.5,\n,5\n,\n");
    let filled = abduce(&["impute", &file, &incomplete]).succeeds();
    let whole = files.write("filled.csv", &filled.stdout);
    let before = abduce(&["predict", &file, &incomplete]).succeeds().stdout;
    assert_eq!(
        abduce(&["predict", &file, &whole]).succeeds().stdout,
        before
    );
    // The centres are (4/3, 2) and (26/3, 8).
    assert_eq!(filled.lines()[1], "5.5,8");
    // Medoids impute too, with every distance.
    let rows = ["kmeans", &table, "-k", "2", "--medoids"];
    let medoids = files.fit(&[&rows[..], &["--distance", "mahalanobis"]].concat());
    abduce(&["impute", &medoids, &incomplete]).succeeds();
}

#[test]
fn distances_do_not_depend_on_internal_scaling() {
    let files = Files::new();
    let rows = "a,b\n1e155,1\n2e155,2\n-3e155,4\n1e155,3\n5e155,6\n";
    let table = files.write("t.csv", rows);
    let file = files.fit(&["kmeans", &table, "-k", "2"]);
    let predicted = abduce(&["predict", &file, &table]).succeeds();
    let clusters = &predicted.lines()[1..];
    assert_ne!(clusters[2], clusters[4], "{clusters:?}");
}

#[test]
fn columns_of_very_different_magnitudes_are_clustered() {
    let files = Files::new();
    let rows = "a,b\n1e300,1\n1.1e300,2\n5e300,40\n5.1e300,41\n,40\n,1\n";
    let table = files.write("t.csv", rows);
    let outcome = files.fit(&["kmeans", &table, "-k", "2"]);
    let predicted = abduce(&["predict", &outcome, &table]).succeeds();
    let clusters = &predicted.lines()[1..];
    assert_eq!((clusters[4], clusters[5]), (clusters[2], clusters[0]));
    let report = abduce(&["fit", "kmeans", &table, "-k", "2"])
        .succeeds()
        .stderr;
    assert!(
        report.contains("\"a\" spreads more than 100 times"),
        "{report}"
    );
    let tiny = rows.replace("40", "4e-299").replace(",1", ",1e-300");
    let tiny = files.write("tiny.csv", tiny);
    for distance in ["euclidean", "manhattan"] {
        let file = files.fit(&["kmeans", &tiny, "-k", "2", "--distance", distance]);
        let filled = abduce(&["impute", &file, &tiny]).succeeds();
        assert!(!filled.stdout.contains("NaN"), "{}", filled.stdout);
    }
}

#[test]
fn mahalanobis_clusters_do_not_depend_on_units() {
    let files = Files::new();
    let fitted = |name: &str, power: &str| {
        let rows = format!("a,b\n1{power},1\n2{power},2\n-3{power},4\n1{power},3\n5{power},6\n");
        let table = files.write(name, rows);
        let file = files.fit(&["kmeans", &table, "-k", "2", "--distance", "mahalanobis"]);
        abduce(&["score", &file, &table]).succeeds();
        abduce(&["predict", &file, &table]).succeeds().stdout
    };
    let expected = fitted("plain.csv", "");
    assert_eq!(fitted("large.csv", "e170"), expected);
    assert_eq!(fitted("small.csv", "e-170"), expected);
}

#[test]
fn kmeans_models_cannot_be_updated() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let file = files.fit(&["kmeans", &faithful, "-k", "2"]);
    for command in ["update", "forget"] {
        let outcome = abduce(&[
            command,
            &file,
            &faithful,
            "-o",
            &files.path("changed.abduce"),
        ]);
        outcome.fails(2, &["k-means", "cannot be updated"]);
    }
    let outcome = abduce(&["merge", &file, &file, "-o", &files.path("changed.abduce")]);
    outcome.fails(2, &["k-means"]);
}

#[test]
fn models_without_a_density_predict_but_do_not_score() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let file = files.fit(&["kmeans", &faithful, "-k", "2", "--distance", "manhattan"]);
    let score = abduce(&["score", &file, &faithful]);
    assert_eq!(score.code, 2, "{}", score.stderr);
    assert!(score.stderr.contains("no density"), "{}", score.stderr);
    assert_eq!(
        abduce(&["predict", &file, &faithful])
            .succeeds()
            .lines()
            .len(),
        273
    );
}
