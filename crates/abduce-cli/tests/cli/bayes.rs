//! `abduce bayes`: posteriors from options and files, and errors.

use crate::run::{Files, abduce, abduce_reading};

const CANCER: [&str; 5] = [
    "bayes",
    "--prior",
    "cancer=.008,healthy=.992",
    "--likelihood",
    "positive=.98,.03",
];

fn cancer(more: &[&str]) -> crate::run::Outcome {
    abduce(&[&CANCER, more].concat())
}

#[track_caller]
fn assert_near(value: &serde_json::Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
}

#[test]
fn two_positive_tests_make_cancer_likely() {
    let outcome = cancer(&["--observe", "positive"]).succeeds();
    assert!(outcome.stdout.contains("0.208511") && outcome.stdout.contains("MAP      healthy"));
    let report = cancer(&["--observe", "positive,positive", "--json"])
        .succeeds()
        .json();
    assert_near(&report["posterior"]["cancer"], 0.895896);
    assert_near(&report["steps"][0]["posterior"]["cancer"], 0.208511);
    assert_near(&report["steps"][1]["probability"], 0.228085);
    assert_near(&report["evidence"], 0.008576);
    assert_near(&report["next"][0]["probability"], 0.881101);
    assert_eq!(report["map"][0], "cancer");
    assert_eq!(report["maximum_likelihood"][0], "cancer");
    assert_eq!(report["steps"][0]["map"], "healthy");
}

#[test]
fn repeated_options_and_files_are_equivalent() {
    let files = Files::new();
    let table = files.write(
        "tests.csv",
        "hypothesis,prior,positive\ncancer,.008,98%\nhealthy,0.992,3/100\n",
    );
    let list = files.write("list.txt", "positive\nnot positive\npositive\n");
    let counts = files.write("counts.tsv", "outcome\ttimes\n!positive\t1\npositive\t2\n");
    let first = cancer(&["--json", "--observe", "positive=2,not positive"]);
    let first = first.succeeds().json();
    for arguments in [
        &["--table", &table, "--observations", &list][..],
        &["--table", &table, "--observations", &counts],
        &[
            "--table",
            &table,
            "--observe",
            "positive",
            "--observe",
            "!positive,positive",
        ],
    ] {
        let report = abduce(&[&["bayes", "--json"], arguments].concat());
        let report = report.succeeds().json();
        assert_near(
            &report["posterior"]["cancer"],
            first["posterior"]["cancer"].as_f64().unwrap(),
        );
        assert_near(
            &report["log_evidence"],
            first["log_evidence"].as_f64().unwrap(),
        );
    }
    let text = "outcome\npositive\n";
    let piped = abduce_reading(&["bayes", "--table", &table, "--observations", "-"], text);
    assert!(piped.succeeds().stdout.contains("0.208511"));
}

#[test]
fn long_histories_are_abbreviated_without_the_option_trace() {
    let many = ["positive"; 60].join(",");
    let short = cancer(&["--observe", &many]).succeeds();
    assert!(short.stdout.contains("… 40 more") && short.lines().len() < 40);
    let whole = cancer(&["--observe", &many, "--trace"]).succeeds();
    assert!(whole.lines().len() > 60);
    let report = cancer(&["--observe", &many, "--json"]).succeeds().json();
    assert_eq!(report["steps"].as_array().unwrap().len(), 60);
}

#[test]
fn an_observation_of_tiny_probability_is_not_shown_as_impossible() {
    let outcome = abduce(&[
        "bayes",
        "--prior",
        "fair,loaded",
        "--likelihood",
        "six=1/6,1/2",
        "--observe",
        "six=2000",
    ])
    .succeeds();
    let line = outcome
        .lines()
        .into_iter()
        .find(|line| line.contains("× 2000"));
    assert!(line.unwrap().contains("10^-602.4"), "{}", outcome.stdout);
}

#[test]
fn thousands_of_hypotheses_and_observations_do_not_underflow() {
    let files = Files::new();
    let mut table = String::from("hypothesis,heads\n");
    (0..2000).for_each(|i| table += &format!("bias {i},{}\n", f64::from(i) / 2000.0));
    let table = files.write("coins.csv", table);
    let flips = "heads\nheads\nnot heads\nheads\n".repeat(1000);
    let flips = files.write("flips.txt", flips);
    let arguments = ["bayes", "--table", &table, "--observations", &flips];
    let outcome = abduce(&arguments).succeeds();
    assert!(
        outcome.stdout.contains("MAP      bias 1500 "),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("10^-9") && outcome.lines().len() < 50);
    let report = abduce(&[&arguments[..], &["--json"]].concat())
        .succeeds()
        .json();
    assert!(report["steps"][0].get("posterior").is_none());
    assert_eq!(report["hypotheses"][0]["posterior"], 0.0);
    assert!(report["hypotheses"][0]["log_likelihood"].is_null());
}

#[test]
fn all_ties_are_listed_and_prior_0_stays_0() {
    let report = abduce(&[
        "bayes",
        "--prior",
        "a,b,c",
        "--likelihood",
        "x=1/2,1/2,0",
        "--observe",
        "x=9",
        "--json",
    ]);
    let report = report.succeeds().json();
    assert_eq!(report["map"].as_array().unwrap().len(), 2);
    assert_eq!(report["posterior"]["c"], 0.0);
    let priors = ["bayes", "--prior", "é=0,日本=1", "--likelihood", "🦀=1,.1"];
    let outcome = abduce(&[&priors[..], &["--observe", "🦀"]].concat()).succeeds();
    assert!(outcome.stdout.contains("MAP      日本 (1)") && outcome.stdout.contains("ML       é"));
}

#[test]
fn priors_are_normalized_with_a_note_or_an_error_with_a_hint() {
    let bayes = |prior: &str, more: &[&str]| {
        let start = ["bayes", "--prior", prior, "--likelihood", "x=.5,.5,.6"];
        abduce(&[&start[..], more].concat())
    };
    let rounded = bayes("a=.333,b=.333,c=.333", &[]).succeeds();
    assert!(
        rounded.stderr.contains("sum to 0.999"),
        "{}",
        rounded.stderr
    );
    bayes("a=.3,b=.3,c=.3", &[]).fails(2, &["--prior", "0.9", "--normalize"]);
    bayes("a=3,b=1,c=1", &[]).fails(2, &["more than 1", "--normalize"]);
    let odds = bayes("a=3,b=1,c=1", &["--normalize", "--json"])
        .succeeds()
        .json();
    assert_near(&odds["hypotheses"][0]["prior"], 0.6);
    bayes("a=0,b=0,c=0", &["--normalize"]).fails(2, &["no hypothesis is possible"]);
    bayes("a=-1,b=1,c=1", &[]).fails(2, &["--prior", "is negative"]);
    bayes("a=.5,b=.5,c", &[]).fails(2, &["\"c\" has no probability"]);
    bayes("a=.5,a=.25,c=.25", &[]).fails(2, &["two hypotheses \"a\""]);
    bayes("a=x,b=.5,c=.5", &[]).fails(2, &["\"x\"", "1/4"]);
}

#[test]
fn invalid_likelihoods_and_observations_are_an_error() {
    let one = |likelihood: &str| abduce(&["bayes", "--prior", "a,b", "--likelihood", likelihood]);
    one("x=.5,1.5").fails(2, &["--likelihood", "\"b\" is 1.5"]);
    one("x=.5,-.5").fails(2, &["--likelihood", "is negative"]);
    one("x=.5").fails(2, &["needs 2 likelihoods, not 1", "a, b"]);
    one(".5,.5").fails(2, &["does not name an outcome"]);
    cancer(&["--observe", "postive"]).fails(2, &["\"postive\"", "did you mean positive"]);
    cancer(&["--observe", "positive=-1"]).fails(2, &["--observe", "0 or more"]);
    abduce(&["bayes"]).fails(2, &["--prior", "--table"]);
    assert_eq!(cancer(&["--table", "t.csv"]).code, 2);
    let sure = ["bayes", "--prior", "a,b", "--likelihood", "x=1,0"];
    let outcome = abduce(&[&sure[..], &["--observe", "x,not x"]].concat());
    outcome.fails(1, &["observation 2", "\"not x\"", "impossible"]);
}

#[test]
fn errors_in_files_name_line_and_column() {
    let files = Files::new();
    let table = |text: &str| abduce(&["bayes", "--table", &files.write("t.csv", text)]);
    table("hypothesis,x\na,.5\nb,tall\n").fails(2, &["t.csv", "line 3", "\"x\"", "tall"]);
    table("hypothesis,x\na,.5\nb,1.5\n").fails(2, &["line 3", "\"x\"", "more than 1"]);
    table("hypothesis,x\na,.5\nb,\n").fails(2, &["line 3", "\"x\""]);
    table("hypothesis,prior\na,.5\n,.5\n").fails(2, &["line 3", "no name"]);
    table("hypothesis,prior,x\na,.5,.1\na,.5,.1\n").fails(2, &["t.csv", "two hypotheses"]);
    table("hypothesis,prior,x\na,.5,.1\nb,.9,.1\n").fails(2, &["t.csv", "sum to 1.4"]);
    table("name,x\na,.5\n").fails(2, &["t.csv", "hypothesis", "name, x"]);
    table("hypothesis,x\n").fails(2, &["t.csv", "no rows"]);
    table("").fails(2, &["t.csv"]);
    table("hypothesis,x\na\n").fails(2, &["t.csv", "line 2"]);
    abduce(&["bayes", "--table", &files.path("absent.csv")]).fails(2, &["absent.csv"]);
    let observed = |text: &str| cancer(&["--observations", &files.write("o.csv", text)]);
    observed("positive\nnegative\n").fails(2, &["o.csv", "line 2", "negative"]);
    observed("outcome,times\npositive,often\n").fails(2, &["o.csv", "line 2", "often"]);
    observed("a,b\npositive,1\n").fails(2, &["o.csv", "no column \"outcome\""]);
    let impossible = files.write("i.csv", "x\nnot x\n");
    let sure = [
        "bayes",
        "--prior",
        "a,b",
        "--likelihood",
        "x=1,0",
        "--observations",
    ];
    abduce(&[&sure[..], &[&impossible]].concat()).fails(1, &["i.csv", "line 2", "impossible"]);
    let table = files.write("t.csv", "hypothesis,x\na,.5\n");
    let over = abduce(&["bayes", "--table", &table, "-o", &table]);
    over.fails(2, &["-o would overwrite a file"]);
}

#[test]
fn outcomes_that_are_not_exclusive_give_a_note() {
    let outcome = abduce(&[
        "bayes",
        "--prior",
        "flu,cold",
        "--likelihood",
        "cough=.8,.6",
        "--likelihood",
        "fever=.9,.1",
        "--observe",
        "cough,fever",
    ]);
    let outcome = outcome.succeeds();
    assert!(outcome.stderr.contains("sum to 1.7"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("0.923077"), "{}", outcome.stdout);
}
