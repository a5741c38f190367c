//! Kinds of columns on the command line: patterns, files of kinds, and cures that work.

use crate::run::*;

const SCANS: &str = "p1,p2,y\n0,0,a\n1,16,b\n0,2,a\n1,9,b\n1,15,a\n0,1,b\n";

#[test]
fn a_schema_keeps_kinds_over_files() {
    let files = Files::new();
    let whole = files.write("whole.csv", SCANS);
    let half = files.write("half.csv", "p1,p2,y\n0,0,a\n1,1,b\n0,1,b\n");
    let model = files.fit(&["naive-bayes", &whole, "--target", "y"]);
    let kinds = files.write("kinds.txt", "# scans\np*=real\nlost=count\n");
    for schema in [&model, &kinds] {
        let fit = [
            "fit",
            "naive-bayes",
            &half,
            "--target",
            "y",
            "--schema",
            schema,
        ];
        let ran = abduce(&[&fit[..], &["--json"]].concat()).good();
        assert_eq!(ran.json()["columns"][0]["kind"], "real", "{}", ran.stdout);
        assert_eq!(ran.json()["columns"][1]["kind"], "real");
    }
    let fit = ["fit", "naive-bayes", &half, "--target", "y"];
    let over = [
        &fit[..],
        &["--schema", &model, "--kind", "p2=count", "--json"],
    ]
    .concat();
    assert_eq!(abduce(&over).good().json()["columns"][1]["kind"], "count");
    let wrong = files.write("wrong.txt", "p1=real\np2=tall\n");
    abduce(&[&fit[..], &["--schema", &wrong]].concat()).fails(2, &["wrong.txt", "line 2", "tall"]);
    let other = files.write("other.txt", "z=real\n");
    abduce(&[&fit[..], &["--schema", &other]].concat()).fails(2, &["--schema", "none"]);
}

/// The options that an error proposes after "pass ", up to a comma or the end.
fn cure(stderr: &str) -> Vec<String> {
    let error = stderr
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap();
    let hint = error
        .split("pass ")
        .nth(1)
        .unwrap_or_else(|| panic!("{error}"));
    let mut words = Vec::new();
    let mut rest = hint;
    while let Some(option) = rest.strip_prefix("--") {
        let (name, value) = option.split_once(" \"").unwrap();
        let (value, after) = value.split_once('"').unwrap();
        words.extend([format!("--{name}"), value.to_string()]);
        rest = after.trim_start();
    }
    words
}

#[test]
fn errors_about_kinds_propose_options_that_cure_them() {
    let files = Files::new();
    let rows = "n,b,w,y\n0,0,x,a\n1,1,y,b\n2,0,x,a\n2.5,1,z,b\n1,1,y,a\n";
    let table = files.write("t.csv", rows);
    let columns = |kept: &'static str| ["--columns", kept];
    for (model, arguments) in [
        (
            "mixture",
            [&columns("n")[..], &["-k", "1", "--kind", "n=count"]].concat(),
        ),
        (
            "mixture",
            [&columns("w,n")[..], &["-k", "1", "--kind", "*=real"]].concat(),
        ),
        (
            "mixture",
            [&columns("w,n")[..], &["-k", "1", "--kind", "w=binary"]].concat(),
        ),
        (
            "mixture",
            [
                &columns("w,n")[..],
                &["-k", "1", "--kind", "w=ordinal(x,y)"],
            ]
            .concat(),
        ),
        ("kde", columns("n,b").to_vec()),
        (
            "naive-bayes",
            ["--target", "y", "--kind", "y=real"].to_vec(),
        ),
    ] {
        let fit = [&["fit", model, &table][..], &arguments].concat();
        let ran = abduce(&fit);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        let cure = cure(&ran.stderr);
        let cured: Vec<&str> = cure.iter().map(String::as_str).collect();
        abduce(&[&fit[..], &cured].concat()).good();
    }
}

#[test]
fn spellings_of_yes_are_one_level_for_a_model_too() {
    let files = Files::new();
    let learned = files.write("a.csv", "s,y\nTRUE,a\nFALSE,b\nTRUE,a\nFALSE,b\n");
    let model = files.fit(&["naive-bayes", &learned, "--target", "y"]);
    let asked = files.write("b.csv", "s\ntrue\n0\n1\nFalse\n");
    let ran = abduce(&["predict", &model, &asked]).good();
    assert_eq!(ran.lines()[1..], ["a", "b", "a", "b"], "{}", ran.stderr);
    assert!(!ran.stderr.contains("never seen"), "{}", ran.stderr);
}

#[test]
fn columns_of_whole_numbers_are_drawn_and_filled_as_whole_numbers() {
    let files = Files::new();
    let table = files.write("a.csv", "m,l\n3750,1.5\n3800,2.5\n3251,1.25\n,2\n4100,3\n");
    let model = files.fit(&["mixture", &table, "-k", "1"]);
    let drawn = abduce(&["sample", &model, "-n", "20"]).good();
    for line in &drawn.lines()[1..] {
        let (mass, length) = line.split_once(',').unwrap();
        assert!(!mass.contains('.') && length.contains('.'), "{line}");
    }
    let filled = abduce(&["impute", &model, &table]).good();
    let cell = filled.lines()[4].split(',').next().unwrap().to_string();
    assert!(cell.parse::<i64>().is_ok(), "{cell}");
}

#[test]
fn fit_says_how_kinds_are_inferred() {
    let files = Files::new();
    let table = files.write("a.csv", SCANS);
    let fit = ["fit", "naive-bayes", &table, "--target", "y"];
    assert!(abduce(&fit).good().stderr.contains("inferred kinds"));
    let asked = abduce(&[&fit[..], &["--kind", "*=real"]].concat()).good();
    assert!(!asked.stderr.contains("inferred kinds"), "{}", asked.stderr);
}
