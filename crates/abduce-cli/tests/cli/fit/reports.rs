//! Reports of mixtures and k-means: the summary, --json, `show` and plots.

use crate::run::{Files, Outcome, abduce, command, data};
use unicode_width::UnicodeWidthStr;

/// Two distant groups in one column.
fn one_column(files: &Files) -> String {
    let mut text = String::from("x\n");
    for i in 0..40 {
        let x = f64::from(i % 2) * 10.0 + (f64::from(i) * 1.7).sin();
        text += &format!("{x}\n");
    }
    files.write("one.csv", text)
}

#[test]
fn lines_fit_the_width_of_the_terminal() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let drop = ["--drop", "island,sex,year"];
    let fit = [&["gda", &penguins, "--target", "species"][..], &drop].concat();
    let model = files.fit(&fit);
    let narrow = |arguments: &[&str]| {
        let mut command = command(arguments);
        Outcome::of(command.env("COLUMNS", "40").output().unwrap()).succeeds()
    };
    let cross_validated = [&["evaluate"][..], &fit].concat();
    let fitted_again = [&["fit"][..], &fit].concat();
    for arguments in [&["show", &model][..], &cross_validated, &fitted_again] {
        let outcome = narrow(arguments);
        for line in outcome.stdout.lines().chain(outcome.stderr.lines()) {
            // A single word may be wider, such as the name of a temporary file.
            let is_one_word = line.split_whitespace().count() < 2;
            assert!(line.width() <= 40 || is_one_word, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn show_lists_the_settings_that_differ_from_the_defaults() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let plain = files.fit(&["mixture", &faithful, "-k", "2"]);
    let shown = abduce(&["show", &plain]).succeeds().stdout;
    assert!(shown.contains("covariance      full (VVV)"), "{shown}");
    for word in ["method", "tails", "prior", "fixed", "tied"] {
        let line = format!("\n  {word} ");
        assert!(!shown.contains(&line), "{word}: {shown}");
    }
    let fit = [
        "mixture",
        &faithful,
        "-k",
        "2",
        "--covariance",
        "EEI",
        "--tails",
        "student-t(5)",
        "--method",
        "hard",
        "--prior",
        "mclust",
        "--fix",
        "weights=0.25,0.75",
    ];
    let file = files.fit(&fit);
    let shown = abduce(&["show", &file]).succeeds().stdout;
    for line in [
        "method          hard",
        "covariance      EEI",
        "tails           student-t, degrees of freedom 5",
        "prior           normal-inverse-wishart(0.01)",
        "fixed           weights=0.25,0.75",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let fixed = [
        "mixture",
        &faithful,
        "-k",
        "2",
        "--fix",
        "1:waiting=gaussian(55,30)",
        "--tie",
        "eruptions",
    ];
    let shown = abduce(&["show", &files.fit(&fixed)]).succeeds().stdout;
    let fixed = "fixed           1:waiting=gaussian(mean 55, variance 30)";
    assert!(shown.contains(fixed), "{shown}");
    assert!(shown.contains("tied            eruptions"), "{shown}");
}

#[test]
fn selecting_the_largest_number_of_components_gives_a_note() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let choice = |k: &str| {
        let fit = ["fit", "mixture", &faithful, "-k", k, "--covariance", "EEE"];
        let model = files.path("chosen.abduce");
        let text = abduce(&[&fit[..], &["-o", &model]].concat())
            .succeeds()
            .stdout;
        let shown = abduce(&["show", &model]).succeeds().stdout;
        let json = abduce(&[&fit[..], &["--json"]].concat()).succeeds().json();
        [text, shown, json["notes"].to_string()]
    };
    // Three components have the best BIC of one to four.
    for report in choice("1-3") {
        assert!(
            report.contains("the largest number of components was chosen"),
            "{report}"
        );
    }
    for report in choice("1-4") {
        assert!(
            !report.contains("the largest number of components"),
            "{report}"
        );
    }
}

#[test]
fn kmeans_reports_its_starts() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let model = files.path("clusters.abduce");
    let fit = ["fit", "kmeans", &faithful, "-k", "5", "--restarts", "7"];
    let fit = [&fit[..], &["--init", "random", "-o", &model]].concat();
    let report = abduce(&fit).succeeds().stdout;
    let shown = abduce(&["show", &model]).succeeds().stdout;
    for text in [report, shown] {
        assert!(text.contains("starts          7: best inertia "), "{text}");
    }
    let json = abduce(&[&fit[..], &["--json"]].concat()).succeeds().json();
    let starts = json["starts"].as_array().unwrap();
    assert_eq!(starts.len(), 7);
    let inertias = starts
        .iter()
        .map(|entry| entry["inertia"].as_f64().unwrap());
    let least = inertias.fold(f64::INFINITY, f64::min);
    assert_eq!(json["inertia"].as_f64().unwrap(), least);
    for entry in starts {
        assert_eq!(entry["ended"], "converged");
        assert!(entry["iterations"].as_u64().unwrap() > 0);
    }
    let few = abduce(&[&fit[..], &["--max-iter", "1", "--json"]].concat());
    let few = few.succeeds().json();
    assert_eq!(few["starts"][0]["ended"], "unconverged");
    let medoids = ["fit", "kmeans", &faithful, "-k", "2", "--medoids", "--json"];
    let medoids = abduce(&medoids).succeeds().json();
    assert_eq!(medoids["starts"].as_array().unwrap().len(), 10);
}

#[test]
fn rows_of_weight_0_change_no_cluster() {
    let files = Files::new();
    let rows = "1,,1\n1.2,,1\n8,,1\n9,,1\n";
    let weighted = format!("x,y,w\n{rows}8.3,5,0\n100,,0\n");
    let weighted = files.write("weighted.csv", weighted);
    let without = files.write("without.csv", format!("x,y,w\n{rows}"));
    let fit = |path: &str| {
        let fit = ["fit", "kmeans", path, "-k", "2", "--weight", "w", "--json"];
        abduce(&fit).succeeds().json()
    };
    let (one, other) = (fit(&weighted), fit(&without));
    assert_eq!(one["rows"], 4);
    for key in [
        "rows", "weight", "inertia", "clusters", "starts", "warnings",
    ] {
        assert_eq!(one[key], other[key], "{key}");
    }
    let warnings = one["warnings"].to_string();
    assert!(warnings.contains("has only missing values and is left out"));
}

#[test]
fn equivalent_covariances_of_one_column_are_fitted_once() {
    let files = Files::new();
    let one = one_column(&files);
    let fit = ["fit", "mixture", &one, "-k", "1-3", "--covariance", "all"];
    let report = abduce(&fit).succeeds().stdout;
    let heading = |line: &str| {
        line.split_whitespace()
            .eq(["BIC", "EII", "spherical", "EVI"])
    };
    assert!(report.lines().any(heading), "{report}");
    for line in [
        "EII, EEI, EEE are the same model",
        "EVI, EVE, EEV, EVV are the same model",
        "spherical, VEI, VVI, VEE, VVE, VEV, VVV are the same model",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
}

#[test]
fn options_for_gaussians_have_a_note_if_there_are_none() {
    let files = Files::new();
    let levels = files.write("levels.csv", "a,b\nx,u\ny,v\nx,u\ny,u\nx,v\n");
    let fit = ["fit", "mixture", &levels, "-k", "2"];
    let given = ["--covariance", "EEE", "--tails", "student-t"];
    let outcome = abduce(&[&fit[..], &given, &["--prior", "mclust"]].concat()).succeeds();
    for option in ["--covariance", "--tails", "--prior"] {
        let note = format!("note: {option} has no effect");
        assert!(outcome.stderr.contains(&note), "{}", outcome.stderr);
    }
    assert!(!abduce(&fit).succeeds().stderr.contains("has no effect"));
}

#[test]
fn options_that_do_not_apply_are_an_error_with_the_reason() {
    let faithful = data("faithful.csv");
    let penguins = data("penguins.csv");
    let choice = ["fit", "mixture", &faithful, "-k", "1-3"];
    abduce(&[&choice[..], &["--fix", "weights=0.5,0.5"]].concat()).fails(
        2,
        &["--fix does not apply to a choice among several mixtures"],
    );
    let gda = ["fit", "gda", &penguins, "--target", "species"];
    abduce(&[&gda[..], &["--covariance", "EEE,VVV"]].concat())
        .fails(2, &["\"EEE,VVV\" is not a covariance"]);
    let clusters = ["fit", "kmeans", &faithful, "-k", "2"];
    abduce(&[&clusters[..], &["--method", "online"]].concat())
        .fails(2, &["--method does not apply to kmeans"]);
    abduce(&[&clusters[..], &["--tie", "waiting"]].concat()).fails(
        2,
        &[
            "--tie does not apply to kmeans",
            "naive-bayes, gda, mixture",
        ],
    );
}

#[test]
fn a_model_selected_by_bootstrap_tests_has_no_criteria_plot() {
    let files = Files::new();
    let one = one_column(&files);
    let fit = ["mixture", &one, "-k", "1-2", "--select", "bootstrap"];
    let file = files.fit(&[&fit[..], &["--replicates", "19"]].concat());
    let plot = abduce(&["plot", &file, "--what", "criteria"]);
    plot.fails(2, &["chosen by tests", "abduce show"]);
    assert!(abduce(&["show", &file]).succeeds().stdout.contains("LRTS"));
}

#[test]
fn commands_that_need_a_density_are_an_error_for_kmeans() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let file = files.fit(&["kmeans", &faithful, "-k", "2", "--distance", "manhattan"]);
    let words = ["no density", "euclidean"];
    abduce(&["plot", &file, "--what", "density"]).fails(2, &words);
    let evaluate = ["evaluate", "kmeans", &faithful, "-k", "2", "--distance"];
    abduce(&[&evaluate[..], &["manhattan"]].concat()).fails(2, &words);
    for what in ["classification", "uncertainty"] {
        abduce(&["plot", &file, &faithful, "--what", what]).succeeds();
    }
    let trace = abduce(&["plot", &file, "--what", "trace"])
        .succeeds()
        .stdout;
    assert!(trace.contains("inertia") && !trace.contains("log-likelihood"));
}

#[test]
fn the_objective_with_a_prior_never_falls() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let maximum = files.fit(&["mixture", &faithful, "-k", "2"]);
    let prior = "normal-inverse-wishart(50,50)";
    let fit = ["fit", "mixture", &faithful, "--start", &maximum];
    let with_prior = files.path("believing.abduce");
    let more = ["--prior", prior, "--json", "-o", &with_prior];
    let json = abduce(&[&fit[..], &more].concat()).succeeds().json();
    let numbers = |key: &str| -> Vec<f64> {
        let entry = json[key].as_array().unwrap().iter();
        entry.map(|x| x.as_f64().unwrap()).collect()
    };
    let (trace, objective) = (numbers("trace"), numbers("objective_trace"));
    assert_eq!(trace.len(), objective.len());
    assert!(trace[1] < trace[0], "{trace:?}");
    let rises = |pair: &[f64]| pair[1] >= pair[0] - 1e-9 * pair[0].abs();
    assert!(objective.windows(2).all(rises), "{objective:?}");
    assert_eq!(json["objective"].as_f64(), objective.last().copied());
    let trace = abduce(&["plot", &with_prior, "--what", "trace"])
        .succeeds()
        .stdout;
    assert!(trace.contains("log-prior"), "{trace}");
    let flat = [&fit[..], &["--variance-floor", "0", "--json"]].concat();
    assert!(abduce(&flat).succeeds().json()["objective_trace"].is_null());
}

#[test]
fn samples_cannot_be_conditioned_on_text() {
    let files = Files::new();
    let rows = "msg,class\nbuy this now today,spam\nsee you at lunch today,ham\n\
                buy cheap pills now here,spam\nlunch at noon with you,ham\n";
    let mail = files.write("mail.csv", rows);
    let fit = [
        "naive-bayes",
        &mail,
        "--target",
        "class",
        "--kind",
        "msg=text",
    ];
    let file = files.fit(&fit);
    let sample = abduce(&["sample", &file, "-n", "1", "--given", "msg=buy"]);
    sample.fails(
        2,
        &[
            "text columns cannot be conditioned on",
            "column \"msg\"",
            "abduce predict",
        ],
    );
}

#[test]
fn mahalanobis_needs_more_complete_rows_than_columns() {
    let files = Files::new();
    let rows = files.write("few.csv", "a,b,c\n1,2,5\n2,4.5,1\n7,1,2.5\n3,,9\n");
    let fit = [
        "fit",
        "kmeans",
        &rows,
        "-k",
        "2",
        "--distance",
        "mahalanobis",
    ];
    abduce(&fit).fails(
        2,
        &["at least 4 complete rows", "there are 3", "--standardize"],
    );
}

#[test]
fn show_names_the_start_file_and_the_start_by_column() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let first = files.fit(&["mixture", &faithful, "-k", "2"]);
    let second = files.path("second.abduce");
    let again = ["fit", "mixture", &faithful, "-k", "2", "--start", &first];
    abduce(&[&again[..], &["-o", &second]].concat()).succeeds();
    let shown = abduce(&["show", &second]).succeeds().stdout;
    assert!(
        shown.contains(&format!("started from    {first}")),
        "{shown}"
    );
    let penguins = data("penguins.csv");
    let by = files.fit(&["mixture", &penguins, "--start-by", "species"]);
    let shown = abduce(&["show", &by]).succeeds().stdout;
    assert!(shown.contains("the levels of \"species\""), "{shown}");
}

#[test]
fn tails_at_the_bound_and_columns_without_tails_are_reported() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let model = files.fit(&[
        "mixture",
        &faithful,
        "-k",
        "2",
        "--tails",
        "student-t",
        "--fix",
        "1:eruptions=gaussian(2,1)",
    ]);
    let shown = abduce(&["show", &model]).succeeds().stdout;
    let line = "tails           student-t, degrees of freedom 200 or more; a Gaussian in eruptions";
    assert!(shown.contains(line), "{shown}");
}

#[test]
fn bootstrap_tests_and_criteria_plots_need_a_selection() {
    let files = Files::new();
    let faithful = data("faithful.csv");
    let one = [
        "fit",
        "mixture",
        &faithful,
        "-k",
        "1",
        "--select",
        "bootstrap",
    ];
    abduce(&one).fails(2, &["not only 1", "--components 1-9"]);
    let clusters = files.fit(&["kmeans", &faithful, "-k", "2"]);
    let drawing = files.path("criteria.svg");
    let plot = [
        "plot", &clusters, &faithful, "--what", "criteria", "-o", &drawing,
    ];
    abduce(&plot).fails(2, &["only a mixture fitted with a choice"]);
}
