//! Diagnostics of mixtures and their starts in text and JSON, and bootstrap tests of the number
//! of components.

use crate::run::*;

#[test]
fn a_mixture_is_reported_with_figures_for_each_component() {
    let files = Files::new();
    let (faithful, model) = (data("faithful.csv"), files.path("model.abduce"));
    let fit = ["fit", "mixture", &faithful, "-k", "3", "-o", &model];
    let tied = [&fit[..], &["--covariance", "tied"]].concat();
    let outcome = abduce(&tied).succeeds();
    for words in [
        "rows  condition  uncertainty",
        "starts          10: best objective -1126.3160 reached by ",
        "certainty       0.85",
        ", mean uncertainty 0.06",
    ] {
        assert!(
            outcome.stdout.contains(words),
            "{words}: {}",
            outcome.stdout
        );
    }
    let report = abduce(&[&tied[..], &["--json"]].concat()).succeeds().json();
    let starts = report["starts"].as_array().unwrap();
    assert_eq!(starts.len(), 10);
    assert_eq!(starts[0]["ended"], "converged");
    assert_eq!(report["restarts"].as_array().unwrap().len(), 10);
    let diagnostics = &report["diagnostics"];
    assert_eq!(diagnostics["components"].as_array().unwrap().len(), 3);
    let rows = diagnostics["components"].as_array().unwrap().iter();
    let rows: f64 = rows.map(|entry| entry["rows"].as_f64().unwrap()).sum();
    assert!((rows - 272.0).abs() < 1e-9);
    assert_eq!(diagnostics["dropped"], 0);
    let gap = diagnostics["gap"].as_f64().unwrap();
    assert!((0.0..1e-3).contains(&gap), "{gap}");
    let kept: serde_json::Value = serde_json::from_str(&files.read("model.abduce")).unwrap();
    assert_eq!(&kept["fit"]["diagnostics"], diagnostics);
    assert_eq!(&kept["fit"]["starts"], &report["starts"]);
    let shown = abduce(&["show", &model]).succeeds().stdout;
    assert!(!outcome.stdout.contains("effective"), "{}", outcome.stdout);
    assert!(shown.contains("Kish's rows"), "{shown}");
    assert!(shown.contains("uncertainty  entropy"), "{shown}");
    assert!(shown.contains("reached by"), "{shown}");
}

#[test]
fn labelled_classes_have_no_entropy_figures() {
    let penguins = data("penguins.csv");
    let fit = ["fit", "gda", &penguins, "--target", "species"];
    let outcome = abduce(&fit).succeeds();
    for word in ["uncertainty", "certainty", "starts"] {
        assert!(!outcome.stdout.contains(word), "{}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("condition"), "{}", outcome.stdout);
}

/// Two clusters in one column, at a distance of eight standard deviations.
fn two_clusters() -> String {
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005);
        state = state.wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut text = String::from("x\n");
    for row in 0..80 {
        let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        text.push_str(&format!("{:.3}\n", f64::from(row % 2) * 8.0 + normal));
    }
    text
}

#[test]
fn bootstrap_tests_stop_at_the_first_accepted_number() {
    let files = Files::new();
    let table = files.write("two.csv", two_clusters());
    let model = files.path("tested.abduce");
    let fit = |more: &[&str]| {
        let options = "-k 1-4 --covariance tied --select bootstrap --replicates 39";
        let options = options.split(' ').chain(more.iter().copied());
        let all: Vec<&str> = ["fit", "mixture", &table]
            .into_iter()
            .chain(options)
            .collect();
        abduce(&all).succeeds()
    };
    let outcome = fit(&["-o", &model]);
    for words in [
        "components      LRTS       p",
        "1 or 2      119.2905  0.0250",
        "2 components: not rejected at 0.05; 39 tables simulated",
    ] {
        assert!(
            outcome.stdout.contains(words),
            "{words}: {}",
            outcome.stdout
        );
    }
    let kept: serde_json::Value = serde_json::from_str(&files.read("tested.abduce")).unwrap();
    let test = &kept["fit"]["bootstrap"];
    assert_eq!(test["chosen"], 2);
    assert_eq!(test["accepted"], true);
    assert_eq!(test["steps"].as_array().unwrap().len(), 2);
    assert_eq!(kept["provenance"]["specification"]["components"], 2);
    let shown = abduce(&["show", &model]).succeeds().stdout;
    assert!(shown.contains("1 or 2"), "{shown}");
}

#[test]
fn options_of_bootstrap_tests_are_checked() {
    let faithful = data("faithful.csv");
    let fit = |more: &[&str]| abduce(&[&["fit", "mixture", &faithful][..], more].concat());
    let bootstrap = |more: &[&str]| fit(&[&["--select", "bootstrap"][..], more].concat());
    bootstrap(&["-k", "2"]).fails(2, &["--select bootstrap", "range"]);
    let few = ["-k", "1-3", "--replicates", "39", "--significance", "0.01"];
    bootstrap(&few).fails(2, &["too few", "--replicates"]);
    bootstrap(&["-k", "2,4"]).fails(2, &["--select bootstrap", "range"]);
    bootstrap(&["-k", "1-3", "--covariance", "all"]).fails(2, &["one --covariance"]);
    bootstrap(&["-k", "1-3", "--significance", "1.5"]).fails(2, &["between 0 and 1"]);
    bootstrap(&["-k", "1-3", "--replicates", "0"]).fails(2, &["at least 1"]);
    fit(&["-k", "1-3", "--replicates", "9"]).fails(2, &["--replicates", "--select bootstrap"]);
    fit(&["-k", "1-3", "--select", "best"]).fails(2, &["bic, aic, icl and cv", "bootstrap"]);
    let kmeans = [
        "fit",
        "kmeans",
        &faithful,
        "-k",
        "2",
        "--select",
        "bootstrap",
    ];
    abduce(&kmeans).fails(2, &["--select", "kmeans"]);
}

#[test]
fn fixed_small_variances_are_not_reported_as_degenerate() {
    let columns = "bill_length_mm,body_mass_g";
    let penguins = data("penguins.csv");
    let fit = ["fit", "mixture", &penguins, "-k", "3", "--columns", columns];
    let outcome = abduce(&[&fit[..], &["--covariance", "identity"]].concat()).succeeds();
    assert!(
        !outcome.stderr.contains("almost no variance"),
        "{}",
        outcome.stderr
    );
    assert!(
        !outcome.stdout.contains("almost no variance"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn uniform_columns_in_a_mixture_give_a_warning() {
    let faithful = data("faithful.csv");
    let fit = [
        "fit",
        "mixture",
        &faithful,
        "-k",
        "2",
        "--family",
        "waiting=uniform",
    ];
    let report = |more: &[&str]| {
        let outcome = abduce(&[&fit[..], more].concat()).succeeds();
        format!("{}{}", outcome.stdout, outcome.stderr).contains("never narrows")
    };
    assert!(report(&[]));
    assert!(!report(&["--method", "hard"]));
    assert!(!report(&["--tie", "waiting"]));
}

#[test]
fn the_number_of_components_is_at_most_the_number_of_rows() {
    let faithful = data("faithful.csv");
    let fit = [
        "fit",
        "mixture",
        &faithful,
        "-k",
        "1000000",
        "--restarts",
        "1",
    ];
    let outcome = abduce(&[&fit[..], &["--max-iter", "2"]].concat()).succeeds();
    let report = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(report.contains("components were requested"), "{report}");
}

#[test]
fn an_impossible_unlabelled_row_ends_the_fit_with_its_reason() {
    let files = Files::new();
    let rows = "x,c\n1,a\n1.2,a\n1.9,a\n2,b\n2.4,b\n2.9,b\n50,\n";
    let table = files.write("t.csv", rows);
    for family in ["x=histogram", "x=uniform"] {
        let fit = [
            "fit",
            "naive-bayes",
            &table,
            "--target",
            "c",
            "--family",
            family,
        ];
        let fit = [&fit[..], &["--unlabelled", "1", "--json"]].concat();
        let report = abduce(&fit).succeeds().json();
        assert_eq!(report["iterations"], 0);
        assert_eq!(report["converged"], false);
        let warnings = report["warnings"].to_string();
        assert!(
            warnings.contains("a row is impossible in every component"),
            "{warnings}"
        );
    }
}

#[test]
fn unlabelled_rows_are_left_out_where_most_labels_occur_once() {
    let files = Files::new();
    let rows = (0..200).map(|i| {
        format!(
            "{i},{}\n",
            if i % 10 == 0 {
                "".into()
            } else {
                format!("c{i}")
            }
        )
    });
    let table = files.write("t.csv", format!("x,c\n{}", rows.collect::<String>()));
    let fit = [
        "fit",
        "naive-bayes",
        &table,
        "--target",
        "c",
        "--kind",
        "x=real",
    ];
    let outcome = abduce(&fit).succeeds();
    let text = outcome.stdout + &outcome.stderr;
    assert!(
        text.contains("20 rows without a label left out: there are too few labels"),
        "{text}"
    );
    let refused = abduce(&[&fit[..], &["--unlabelled", "2"]].concat());
    refused.fails(2, &["--unlabelled", "from 0 to 1"]);
}
