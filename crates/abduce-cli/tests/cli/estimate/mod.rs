//! `abduce estimate`: the reports of every family, and its options.

mod input;

use crate::run::{Files, Outcome, abduce};
use serde_json::Value;

/// Every family with valid rows, the known parameters that it needs, and a row outside its
/// support.
pub const FAMILIES: [(&str, &str, &[&str], Option<&str>); 14] = [
    ("bernoulli", "1 0 1 1 0 1", &[], Some("2")),
    (
        "binomial",
        "3 0 7 2 2 5",
        &["--known", "trials=9"],
        Some("10"),
    ),
    ("geometric", "3 0 7 2 2 5", &[], Some("-1")),
    ("negative-binomial", "3 0 7 2 12 5", &[], Some("0.5")),
    ("poisson", "3 0 7 2 2 5", &[], Some("-3")),
    ("zero-inflated-poisson", "3 0 7 0 2 0", &[], Some("1.5")),
    ("exponential", "0.3 2.5 1.1 0", &[], Some("-0.1")),
    ("gamma", "0.3 2.5 1.1 0.7 0.2 4 1 2", &[], Some("0")),
    ("beta", "0.3 0.5 0.1 0.7 0.2 0.6", &[], Some("1")),
    ("gaussian", "0.3 -2.5 1.1 0", &[], None),
    ("log-normal", "0.3 2.5 1.1 0.7", &[], Some("-2")),
    ("student-t", "0.3 -2.5 1.1 0 0.2 90", &[], None),
    ("von-mises", "0.3 -2.5 1.1 0", &[], None),
    ("uniform", "0.3 -2.5 1.1 0", &[], None),
];

/// A table of one column x.
pub fn column(cells: &str) -> String {
    let cells = cells.split(' ').map(|cell| format!("{cell}\n"));
    format!("x\n{}", cells.collect::<String>())
}

/// Estimates from a table of one column x.
pub fn estimate(family: &str, cells: &str, more: &[&str]) -> Outcome {
    let files = Files::new();
    let table = files.write("t.csv", column(cells));
    abduce(&[&["estimate", family, &table], more].concat())
}

#[track_caller]
pub fn report(family: &str, cells: &str, more: &[&str]) -> Value {
    estimate(family, cells, &[&["--json"], more].concat())
        .succeeds()
        .json()
}

#[track_caller]
pub fn assert_near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    let error = (value - expected).abs();
    assert!(
        error < 1e-6 * (1.0 + expected.abs()),
        "{value} is not {expected}"
    );
}

#[test]
fn the_report_of_a_beta_bernoulli_pair_has_known_values() {
    let files = Files::new();
    let data = files.write("data.csv", column("1 0 1 1 0 1"));
    let line = [
        "estimate",
        "bernoulli",
        &data,
        "--column",
        "x",
        "--prior",
        "beta(2,2)",
    ];
    let outcome = abduce(&line).succeeds();
    assert_eq!(outcome.stderr, "");
    for words in [
        "bernoulli of x: 6 rows",
        "ML  standard error    MAP  mean",
        "0.666667         0.19245  0.625   0.6  0.299295 to 0.863004",
        "0.314599 to 0.875521",
        "prior           beta(a=2, b=2)",
        "posterior       beta(a=6, b=4)",
        "predictive      bernoulli(probability=0.6)",
        "log-evidence    -4.43082",
        "0.222778 to 0.956728 (Clopper-Pearson)",
    ] {
        assert!(
            outcome.stdout.contains(words),
            "no {words} in {}",
            outcome.stdout
        );
    }
    let report = abduce(&[&line[..], &["--json"]].concat()).succeeds().json();
    assert_near(
        &report["maximum_likelihood"]["parameters"]["probability"],
        2.0 / 3.0,
    );
    assert_near(&report["map"]["probability"], 0.625);
    assert_near(&report["mean"]["probability"], 0.6);
    assert_near(&report["posterior"]["parameters"]["a"], 6.0);
    assert_near(&report["log_evidence"], -4.430816798843316);
    assert_eq!(report["method"], "conjugate");
    assert_eq!(report["columns"][0], "x");
}

#[test]
fn every_family_has_every_part_of_the_report() {
    for (family, cells, more, _) in FAMILIES {
        let outcome = estimate(family, cells, more).succeeds();
        for part in [
            "ML ",
            "mean",
            "95% equal-tailed",
            "95% shortest",
            "log-likelihood",
            "prior",
            "posterior",
            "predictive",
            "log-evidence",
            "log-loss of ML",
            "entropy of ML",
        ] {
            assert!(outcome.stdout.contains(part), "{family} has no {part}");
        }
        assert!(!outcome.stdout.contains("NaN"), "{}", outcome.stdout);
        let report = report(family, cells, more);
        assert_eq!(report["family"], family);
        assert_eq!(report["rows"], cells.split(' ').count());
        assert!(report["maximum_likelihood"]["log_likelihood"].is_f64());
        let parameters = report["maximum_likelihood"]["parameters"]
            .as_object()
            .unwrap();
        assert!(!parameters.is_empty(), "{family}");
        for entry in report["intervals"].as_array().unwrap() {
            for kind in ["equal_tailed", "shortest"] {
                assert!(
                    entry[kind][0].as_f64() <= entry[kind][1].as_f64(),
                    "{family}"
                );
            }
        }
        for part in ["mean", "predictive", "risk", "prior"] {
            assert!(report[part].is_object(), "{family} has no {part}");
        }
    }
}

#[test]
fn weight_2_equals_the_row_twice_and_weight_0_no_row() {
    let files = Files::new();
    for (family, cells, more, impossible) in FAMILIES {
        let cells: Vec<&str> = cells.split(' ').collect();
        let mut weighted = String::from("x,w\n");
        let mut twice = String::from("x\n");
        for (i, cell) in cells.iter().enumerate() {
            let weight = 1 + i % 2;
            weighted += &format!("{cell},{weight}\n");
            twice += &format!("{cell}\n").repeat(weight);
        }
        weighted += &format!("{},0\n", impossible.unwrap_or("1"));
        let weighted = files.write("weighted.csv", weighted);
        let twice = files.write("twice.csv", twice);
        let line = ["estimate", family, "--json", "--column", "x"];
        let one = abduce(&[&line[..], more, &[&weighted, "--weight", "w"]].concat());
        let (one, other) = (
            one.succeeds().json(),
            abduce(&[&line[..], more, &[&twice]].concat())
                .succeeds()
                .json(),
        );
        assert_eq!(one["weight"], other["weight"]);
        let likelihood = |of: &Value| of["maximum_likelihood"]["log_likelihood"].clone();
        assert_near(&likelihood(&one), likelihood(&other).as_f64().unwrap());
        for (name, mean) in other["mean"].as_object().unwrap() {
            // Draws from posteriors without a closed form depend a little on the order of rows.
            let (one, other) = (one["mean"][name].as_f64().unwrap(), mean.as_f64().unwrap());
            let error = (one - other).abs();
            assert!(
                error < 1e-5 * (1.0 + other.abs()),
                "{family} {name} {one} {other}"
            );
        }
    }
    let none = files.write("none.csv", "x,w\n3,0\n");
    abduce(&[
        "estimate", "poisson", &none, "--column", "x", "--weight", "w",
    ])
    .fails(2, &["every row has weight 0"]);
    let wrong = files.write("wrong.csv", "x,w\n3,-1\n");
    abduce(&[
        "estimate", "poisson", &wrong, "--column", "x", "--weight", "w",
    ])
    .fails(2, &["line 2", "\"w\"", "negative"]);
}

#[test]
fn the_drug_trial_has_known_values_for_every_form_of_its_prior() {
    let files = Files::new();
    let table = files.write(
        "prior.csv",
        "place,density\n0,2\n0.5,2\n0.5000000000001,8\n1,8\n",
    );
    let cured = "1 1 1 1 1 1 0 0 0 0";
    for prior in [
        &["--prior", "0.8 if x > 0.5 else 0.2"][..],
        &["--prior", "0.2 + 0.6*(probability > 0.5)"],
        &["--prior-table", &table],
    ] {
        let report = report("bernoulli", cured, &[prior, &["--above", "0.5"]].concat());
        assert_near(&report["above"][0]["probability"], 0.913618198);
        assert_near(&report["mean"]["probability"], 0.627715442);
        assert_near(&report["log_evidence"], -7.505432414);
        assert_eq!(report["method"], "quadrature");
    }
    let weighted = files.write("t.csv", "x,w\n1,6\n0,4\n");
    let outcome = abduce(&[
        "estimate",
        "bernoulli",
        &weighted,
        "--column",
        "x",
        "--weight",
        "w",
        "--prior-table",
        &table,
        "--json",
    ]);
    assert_near(
        &outcome.succeeds().json()["mean"]["probability"],
        0.627715442,
    );
}

#[test]
fn known_parameters_are_not_estimated() {
    let report = |family: &str, known: &str| report(family, "1 3 2 2", &["--known", known]);
    assert_near(&report("gaussian", "variance=4")["mean"]["mean"], 2.0);
    let precision = report("gaussian", "mean=0");
    assert_near(
        &precision["maximum_likelihood"]["parameters"]["variance"],
        4.5,
    );
    assert_near(&report("gamma", "shape=2")["mean"]["rate"], 1.0);
    let size = report("negative-binomial", "size=2");
    assert_near(&size["mean"]["probability"], 0.5);
    let assert_error = |family: &str, known: &[&str], words: &[&str]| {
        let options: Vec<&str> = known.iter().flat_map(|entry| ["--known", entry]).collect();
        estimate(family, "1 3 2 2", &options).fails(2, words);
    };
    assert_error("binomial", &[], &["trials", "--trials 10"]);
    assert_error("binomial", &["trials=2.5"], &["whole number", "2.5"]);
    assert_error("binomial", &["trials=2"], &["t.csv, line 3", "from 0 to 2"]);
    let twice = ["variance=1", "variance=2"];
    assert_error("gaussian", &twice, &["\"variance\"", "twice"]);
    assert_error("gaussian", &["variance=big"], &["--known", "\"big\""]);
    assert_error("gaussian", &["sd=1"], &["\"sd\"", "mean or variance"]);
    assert_error("gaussian", &["variance=-1"], &["positive", "-1"]);
    assert_error(
        "gaussian",
        &["mean=1", "variance=1"],
        &["nothing to estimate"],
    );
    assert_error("gaussian", &["4"], &["\"4\"", "name=value"]);
    assert_error("gaussian", &["mean=low"], &["\"low\"", "not a number"]);
    assert_error("poisson", &["rate=1"], &["\"rate\"", "leave --known out"]);
}

#[test]
fn credible_levels_and_thresholds_can_be_set() {
    let cells = "3 0 7 2 2 5";
    let report = report(
        "poisson",
        cells,
        &["--level", "0.5", "--above", "3", "--above", "rate=2"],
    );
    assert_eq!(report["level"], 0.5);
    let (three, two) = (
        &report["above"][0]["probability"],
        &report["above"][1]["probability"],
    );
    assert!(three.as_f64() < two.as_f64());
    let outcome = estimate("poisson", cells, &["--level", "0.5", "--above", "3"]).succeeds();
    assert!(outcome.stdout.contains("50% equal-tailed") && outcome.stdout.contains("P(rate > 3)"));
    let both = ["--above", "variance=4", "--above", "-1"];
    let outcome = estimate("gaussian", cells, &both).succeeds();
    assert!(outcome.stdout.contains("P(variance > 4)") && outcome.stdout.contains("P(mean > -1)"));
    for level in ["0", "1", "1.5", "-1", "NaN"] {
        let outcome = estimate("poisson", cells, &["--level", level]);
        outcome.fails(2, &["between 0 and 1", level]);
    }
    estimate("poisson", cells, &["--above", "lambda=3"]).fails(2, &["\"lambda\"", "rate"]);
    estimate("gamma", "1 2 3", &["--above", "scale=3"]).fails(2, &["\"scale\"", "shape, rate"]);
    estimate("poisson", cells, &["--above", "rate="]).fails(2, &["not a number"]);
}

#[test]
fn risk_is_measured_on_test_rows_and_against_true_parameters() {
    let files = Files::new();
    let test = files.write("test.csv", column("0 1"));
    let report = report("bernoulli", "1 1 1", &["--test", &test]);
    assert_eq!(report["test"]["impossible"], 1);
    assert!(
        report["test"]["maximum_likelihood"].is_null(),
        "JSON has no infinity"
    );
    assert!(report["test"]["predictive"].as_f64().unwrap() > 0.0);
    let outcome = estimate("bernoulli", "1 1 1", &["--test", &test]).succeeds();
    assert!(outcome.stdout.contains("1 of 2 test rows are impossible"));
    let report = self::report("poisson", "3 0 7 2 2 5", &["--against", "poisson(3)"]);
    assert_near(&report["against"]["entropy"], 1.931470198);
    let divergence = 3.0 * (3.0_f64 / (19.0 / 6.0)).ln() - 3.0 + 19.0 / 6.0;
    assert_near(&report["against"]["divergence"], divergence);
    let against = |text: &str| estimate("poisson", "3 0 7", &["--against", text]);
    against("poisson").fails(2, &["\"poisson\"", "poisson(3)"]);
    against("poisson(x)").fails(2, &["poisson(3)"]);
    against("poisson(3,4)").fails(2, &["2 numbers", "poisson(rate)"]);
    against("poisson(-3)").fails(2, &["rate", "0 or more"]);
    against("poison(3)").fails(2, &["poison", "geometric(probability)"]);
}

#[test]
fn a_test_table_has_the_levels_of_the_data() {
    let files = Files::new();
    let yes = files.write("yes.csv", column("yes yes"));
    let test_loss = |cells: &str| {
        let report = report("bernoulli", cells, &["--test", &yes]);
        report["test"]["maximum_likelihood"].clone()
    };
    // A single level is the success in both tables.
    assert_near(&test_loss("no yes yes no"), 2.0_f64.ln());
    assert_near(&test_loss("yes yes"), 0.0);
    let other = files.write("other.csv", "y\n1\n");
    estimate("poisson", "1 2", &["--test", &other]).fails(2, &["x", "y"]);
}

#[test]
fn the_second_of_two_levels_is_the_success() {
    let outcome = estimate("bernoulli", "yes no yes", &[]).succeeds();
    assert!(
        outcome.stderr.contains("that of \"yes\""),
        "{}",
        outcome.stderr
    );
    let report = report("bernoulli", "yes no yes", &[]);
    assert_near(
        &report["maximum_likelihood"]["parameters"]["probability"],
        2.0 / 3.0,
    );
    let only = self::report("bernoulli", "yes yes", &[]);
    assert_near(
        &only["maximum_likelihood"]["parameters"]["probability"],
        1.0,
    );
    assert_eq!(only["risk"]["ruled_out"][0], "anything else");
}

#[test]
fn missing_values_are_skipped_and_counted() {
    let report = report("poisson", "3 NA 5 ?", &[]);
    assert_eq!((&report["rows"], &report["hidden"]), (&2.into(), &2.into()));
    assert_near(&report["maximum_likelihood"]["parameters"]["rate"], 4.0);
    let outcome = estimate("poisson", "3 NA 5", &[]).succeeds();
    assert!(
        outcome
            .stdout
            .contains("2 rows, 1 row with a missing value")
    );
}

#[test]
fn proper_priors_and_bounded_likelihoods_are_never_improper() {
    let files = Files::new();
    let one = files.write("one.csv", "x\n3\n");
    let prior = "location=normal(0,1); scale=gamma(2,1); degrees=gamma(2,0.1)";
    abduce(&[
        "estimate",
        "student-t",
        &one,
        "--column",
        "x",
        "--prior",
        prior,
    ])
    .succeeds();
    let narrow = files.write("n.csv", "x\n1000.01\n1000.02\n999.99\n1000\n");
    let prior = "shape=gamma(2,0.1); rate=gamma(2,0.1)";
    let report = abduce(&[
        "estimate", "gamma", &narrow, "--column", "x", "--prior", prior,
    ]);
    assert!(!report.stderr.contains("improper"), "{}", report.stderr);
}

#[test]
fn a_parameter_at_its_bound_has_no_standard_error() {
    let files = Files::new();
    let table = files.write("t.csv", "x\n3\n3\n4\n3\n3\n4\n3\n");
    let arguments = [
        "estimate",
        "negative-binomial",
        &table,
        "--column",
        "x",
        "--json",
    ];
    let errors = abduce(&arguments).succeeds().json();
    let errors = &errors["maximum_likelihood"]["standard_errors"];
    assert!(errors["size"].is_null(), "{errors}");
    // Given size r and mean m, p = r/(r + m) has variance p² (1 − p)/(n r).
    let (n, r, m) = (7.0, 1e7, 23.0 / 7.0);
    let p: f64 = r / (r + m);
    let expected = (p * p * (m / (r + m)) / (n * r)).sqrt();
    let found = errors["probability"].as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-2, "{found} {expected}");
}

#[test]
fn a_predictive_deviation_that_may_be_infinite_is_left_out() {
    let files = Files::new();
    let table = files.write("t.csv", "x\n0\n0\n0\n0\n");
    let arguments = [
        "estimate",
        "negative-binomial",
        &table,
        "--column",
        "x",
        "--json",
    ];
    let json = abduce(&arguments).succeeds().json();
    assert!(
        json["predictive"]["deviation"].is_null(),
        "{}",
        json["predictive"]
    );
    assert!(json["predictive"]["mean"].is_number());
    assert!(
        json["notes"].to_string().contains("may be infinite"),
        "{}",
        json["notes"]
    );
}

#[test]
fn words_in_a_numeric_family_are_an_error_with_their_line() {
    let files = Files::new();
    let table = files.write("t.csv", "t,x\na,1\nb,2\n");
    let words = files.write("words.csv", "t\na\nb\n");
    for arguments in [
        &["gaussian", &table, "--column", "t"][..],
        &["gaussian", &words],
    ] {
        let outcome = abduce(&[&["estimate"], arguments].concat());
        assert!(!outcome.stderr.contains("--kind"), "{}", outcome.stderr);
        outcome.fails(2, &["\"a\"", "line 2", "needs numbers"]);
    }
}

#[test]
fn a_point_mass_reports_no_probability_of_other_numbers() {
    let files = Files::new();
    let one = abduce(&[
        "estimate",
        "point-mass",
        &files.write("p.csv", "x\n3.5\n3.5\n"),
    ]);
    assert!(!one.succeeds().stdout.contains("gives it a probability"));
}
