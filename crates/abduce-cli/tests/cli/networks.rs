//! `marginals`, `separated` and `convert`: Bayesian networks on the command line.

use crate::run::{Files, abduce, data};

#[test]
fn marginals_are_those_of_other_programs() {
    let given = ["--given", "asia=yes,dysp=yes"];
    let asia = data("asia.bif");
    let report = abduce(&[&["marginals", &asia, "--json"][..], &given].concat());
    let report = report.succeeds().json();
    // pyAgrum 3.3.1, LazyPropagation.
    for (variable, expected) in [
        ("tub", 0.08775096498292),
        ("lung", 0.09952514509455),
        ("bronc", 0.81140207158924),
    ] {
        let found = report["marginals"][variable]["yes"].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-13, "{variable}: {found}");
    }
    let table = abduce(&[&["marginals", &asia][..], &given].concat()).succeeds();
    assert_eq!(table.lines().len(), 17);
    assert!(table.stderr.contains("log-probability of the evidence"));
}

#[test]
fn evidence_of_a_file_and_of_the_command_line_is_combined() {
    let files = Files::new();
    let evidence = files.write("asia.evid", "1\n2 0 0 7 0\n");
    let asia = data("asia.bif");
    let by_file = abduce(&["marginals", &asia, "--evidence", &evidence]).succeeds();
    let by_name = abduce(&["marginals", &asia, "--given", "asia=yes,dysp=yes"]).succeeds();
    assert_eq!(by_file.stdout, by_name.stdout);
    let both = [
        "marginals",
        &asia,
        "--evidence",
        &evidence,
        "--given",
        "dysp=no",
    ];
    abduce(&both).fails(2, &["\"dysp\" is given twice"]);
    let wrong = files.write("wrong.evid", "1 99 0");
    abduce(&["marginals", &asia, "--evidence", &wrong]).fails(2, &["wrong.evid", "no variable 99"]);
}

#[test]
fn all_formats_keep_every_bit() {
    let files = Files::new();
    let asia = data("asia.bif");
    let marginals = |file: &str| abduce(&["marginals", file, "--json"]).succeeds().json();
    let expected = marginals(&asia);
    let mut from = asia;
    for name in ["a.xdsl", "b.net", "c.xml", "d.bif.gz", "e.bifxml", "f.bif"] {
        let to = files.path(name);
        abduce(&["convert", &from, &to]).succeeds();
        from = to;
    }
    let found = marginals(&from);
    for variable in ["tub", "dysp", "xray"] {
        let (a, b) = (
            &found["marginals"][variable],
            &expected["marginals"][variable],
        );
        assert!((a["yes"].as_f64().unwrap() - b["yes"].as_f64().unwrap()).abs() < 1e-15);
    }
    let again = files.path("g.xdsl");
    abduce(&["convert", &from, &again]).succeeds();
    assert_eq!(files.read("g.xdsl"), files.read("a.xdsl"));
    abduce(&["convert", &from, &files.path("a.dot")]).succeeds();
    assert!(files.read("a.dot").starts_with("digraph"));
}

#[test]
fn bad_questions_are_refused_with_their_reason() {
    let files = Files::new();
    let asia = data("asia.bif");
    let marginals = |given: &str| abduce(&["marginals", &asia, "--given", given]);
    marginals("tub=yes,either=no,smoke=no").fails(1, &["tub=yes, either=no together"]);
    marginals("tub=maybe").fails(2, &["no state \"maybe\"", "yes, no"]);
    marginals("x=yes").fails(2, &["no variable \"x\"", "asia, tub"]);
    abduce(&["marginals", &asia, "--memory", "100"])
        .fails(1, &["of memory, as a clique has", "--memory"]);
    abduce(&["marginals", &data("penguins.csv")]).fails(2, &["penguins.csv", ".bif"]);
    abduce(&["convert", &asia, &files.path("a.txt")]).fails(2, &["a.txt", ".xdsl"]);
    abduce(&["separated", &asia, "asia", "asia"]).fails(2, &["named twice"]);
    let broken = files.write(
        "b.bif",
        "network a { }\nvariable x { type discrete [2] { a b ",
    );
    abduce(&["marginals", &broken]).fails(2, &["b.bif, line 2", "at character"]);
}

#[test]
fn separation_is_answered_with_a_path() {
    let ask = |rest: &[&str]| {
        let asia = data("asia.bif");
        abduce(&[&["separated", &asia], rest].concat())
            .succeeds()
            .stdout
    };
    assert_eq!(ask(&["asia", "smoke"]), "yes\n");
    assert_eq!(ask(&["asia,tub", "smoke", "--given", "xray,lung"]), "yes\n");
    assert_eq!(
        ask(&["tub", "smoke", "--given", "xray"]),
        "no: tub -> either <- lung <- smoke\n"
    );
    let json: serde_json::Value = serde_json::from_str(&ask(&["lung", "bronc", "--json"])).unwrap();
    assert_eq!(json["separated"], false);
    assert_eq!(json["path"], serde_json::json!(["lung", "smoke", "bronc"]));
}

#[test]
fn the_probability_of_much_evidence_does_not_underflow() {
    let files = Files::new();
    let mut text = "network n { } variable c { type discrete [2] { a, b }; }\n\
                    probability ( c ) { table 0.25, 0.75; }\n"
        .to_string();
    let count = 1000;
    for i in 0..count {
        let (a, b) = if i % 2 == 0 {
            (1e-3, 1e-6)
        } else {
            (1e-6, 1e-3)
        };
        text += &format!(
            "variable x{i} {{ type discrete [2] {{ y, n }}; }}\n\
             probability ( x{i} | c ) {{ (a) {a}, {}; (b) {b}, {}; }}\n",
            1.0 - a,
            1.0 - b
        );
    }
    let network = files.write("n.bif", text);
    let given: Vec<String> = (0..count).map(|i| format!("x{i}=y")).collect();
    let given = ["--given", &given.join(",")];
    let report = abduce(&[&["marginals", &network, "--json"][..], &given].concat());
    let report = report.succeeds().json();
    let log = report["log_evidence"].as_f64().unwrap();
    let expected = f64::from(count) * 0.5 * 1e-9f64.ln();
    assert!((log - expected).abs() < 1e-9, "{log}");
    assert!((report["marginals"]["c"]["a"].as_f64().unwrap() - 0.25).abs() < 1e-9);
}
