//! `abduce concept`: version spaces, posteriors, predictions, and errors.

use crate::run::{Files, Outcome, abduce, abduce_reading, data};
use serde_json::{Value, json};

fn enjoy(more: &[&str]) -> Outcome {
    let table = data("enjoysport.csv");
    abduce(&[&["concept", &table, "--target", "EnjoySport"], more].concat())
}

#[track_caller]
fn assert_near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
}

#[test]
fn rows_without_a_header_are_predicted_with_or_without_labels() {
    let files = Files::new();
    let table = files.write("t.csv", "Sunny,Warm,Yes\nRainy,Cold,No\nSunny,Cold,Yes\n");
    let fit = ["concept", &table, "--no-header", "--names", "sky,air,label"];
    for cells in ["Sunny,Warm\n", "Sunny,Warm,\n"] {
        let rows = files.write("rows.csv", cells);
        let more = ["--target", "label", "--predict", &rows, "--json"];
        let report = abduce(&[&fit[..], &more[..]].concat()).succeeds();
        let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
        assert_eq!(report["predictions"].as_array().unwrap().len(), 1);
        assert_eq!(report["predictions"][0]["prediction"], "Yes");
    }
    let unseen = [&fit[..], &["--target", "label", "--check", "Foo=1"]].concat();
    abduce(&unseen).fails(2, &["--check", "no attribute \"Foo\"", "sky, air"]);
}

#[test]
fn the_version_space_of_mitchells_example_is_found() {
    let outcome = enjoy(&[]).succeeds();
    for line in [
        "version space: 6 hypotheses",
        "S     <Sunny, Warm, ?, Strong, ?, ?>",
        "G     <Sunny, ?, ?, ?, ?, ?>",
        "      <?, Warm, ?, ?, ?, ?>",
    ] {
        assert!(
            outcome.stdout.contains(line),
            "no {line} in {}",
            outcome.stdout
        );
    }
    let kinds = "Sky=categorical(Sunny,Cloudy,Rainy),Wind=categorical(Strong,Weak)";
    let report = enjoy(&["--kind", kinds, "--json"]).succeeds().json();
    assert_eq!(report["hypotheses"], 973);
    assert_eq!(report["version_space"]["size"], 6);
    assert_eq!(
        report["version_space"]["specific"],
        json!([["Sunny", "Warm", null, "Strong", null, null]])
    );
    assert_eq!(
        report["version_space"]["general"].as_array().unwrap().len(),
        2
    );
    assert_near(&report["evidence"], 6.0 / 973.0);
    assert_near(&report["posterior"][5]["probability"], 1.0 / 6.0);
    assert_eq!(report["map"]["hypotheses"], 6);
}

#[test]
fn new_days_are_predicted_by_vote_and_by_a_draw() {
    let files = Files::new();
    // Mitchell, table 2.6: all six hypotheses accept the first day, none the second, half the
    // third, two the fourth.
    let days = "Sky,AirTemp,Humidity,Wind,Water,Forecast\n\
                Sunny,Warm,Normal,Strong,Cool,Change\n\
                Rainy,Cold,Normal,Light,Warm,Same\n\
                Sunny,Warm,Normal,Light,Warm,Same\n\
                Sunny,Cold,Normal,Strong,Warm,Same\n";
    let days = files.write("days.csv", days);
    let report = enjoy(&["--predict", &days, "--json"]).succeeds().json();
    let predictions = report["predictions"].as_array().unwrap();
    for (prediction, p) in predictions.iter().zip([1.0, 0.0, 0.5, 1.0 / 3.0]) {
        assert_near(&prediction["probability"], p);
    }
    assert_eq!(predictions[0]["gibbs"], "Yes");
    assert_eq!(predictions[1]["gibbs"], "No");
    assert_eq!(predictions[2]["prediction"], "Yes");
    let path = files.path("out.csv");
    let outcome = enjoy(&["--predict", &days, "-o", &path]).succeeds();
    assert!(outcome.stdout.contains("predictions"));
    let written = files.read("out.csv");
    assert!(written.starts_with("in,row,prediction,P(Yes),gibbs\npredict,1,Yes,1,Yes\n"));
    assert_eq!(written.lines().count(), 5);
    let seeded = |seed: &str| {
        enjoy(&["--predict", &days, "--seed", seed])
            .succeeds()
            .stdout
    };
    assert_eq!(seeded("7"), seeded("7"));
    enjoy(&["--predict", &days, "-o", &days]).fails(2, &["-o would overwrite a file"]);
    enjoy(&["-o", &path]).fails(2, &["-o", "--predict"]);
}

#[test]
fn rows_without_a_label_are_predicted_and_not_used_as_examples() {
    let table = "a,b,y\nx,1,yes\ny,2,no\nx,2,\n";
    let report = abduce_reading(&["concept", "-", "--target", "y", "--json"], table);
    let report = report.succeeds().json();
    assert_eq!(
        report["examples"],
        json!({ "positive": 1.0, "negative": 1.0 })
    );
    assert_eq!(report["predictions"][0]["row"], 3);
    assert_near(&report["predictions"][0]["probability"], 1.0 / 3.0);
}

#[test]
fn checks_list_consistency_and_misclassified_rows() {
    let report = enjoy(&[
        "--json",
        "--check",
        "<Sunny, ?, ?, Strong, ?, ?>",
        "--check",
        "Wind=Strong",
        "--check",
        "∅",
    ]);
    let report = report.succeeds().json();
    let checks = report["checks"].as_array().unwrap();
    assert_eq!(checks[0]["consistent"], true);
    assert_eq!(checks[0]["map"], true);
    assert_eq!(checks[1]["rows"], json!([3]));
    assert_eq!(checks[1]["map"], false);
    assert_eq!(checks[2]["errors"], 3.0);
    let outcome = enjoy(&["--check", "Wind=Strong"]).succeeds();
    assert!(
        outcome.stdout.contains("wrong on 1 of 4 (row 3)"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn misclassified_rows_are_counted_whatever_their_weight() {
    let files = Files::new();
    let rows = (0..7).map(|_| "b,yes,0.25\n").collect::<String>();
    let table = files.write("t.csv", format!("a,y,w\nc,no,9\n{rows}"));
    let check = |of: &str| {
        let options = ["--target", "y", "--weight", "w", "--noise", "0.1"];
        let all = [&["concept", &table][..], &options, &["--check", of]].concat();
        abduce(&all).succeeds().stdout
    };
    let light = check("a=c");
    let expected = "wrong on 10.75 of 10.75 (rows 1, 2, 3, 4, 5 and 3 more)";
    assert!(light.contains(expected), "{light}");
    let heavy = check("?");
    assert!(heavy.contains("wrong on 9 of 10.75 (row 1)"), "{heavy}");
}

#[test]
fn the_posterior_evolves_and_its_evidence_is_a_chain() {
    let report = enjoy(&["--evolution", "--json"]).succeeds().json();
    let stages = report["evolution"].as_array().unwrap();
    let sizes: Vec<&Value> = stages.iter().map(|s| &s["map_hypotheses"]).collect();
    assert_eq!(sizes, [64, 32, 28, 6]);
    let chain: f64 = stages
        .iter()
        .map(|s| s["probability"].as_f64().unwrap())
        .product();
    assert_near(&report["evidence"], chain);
    let noisy = enjoy(&["--evolution", "--noise", "0.1", "--json"])
        .succeeds()
        .json();
    assert_eq!(noisy["evolution"].as_array().unwrap().len(), 4);
}

#[test]
fn contradictory_examples_are_an_error_without_noise() {
    let files = Files::new();
    let table = files.write("t.csv", "a,y\nx,yes\nz,no\nx,yes\nx,yes\nx,no\nz,no\n");
    let concept = |more: &[&str]| abduce(&[&["concept", &table, "--target", "y"], more].concat());
    let outcome = concept(&[]);
    assert_eq!(outcome.code, 1);
    assert!(
        outcome.stdout.contains("version space: empty"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains("from row 5 on") && outcome.stderr.contains("--noise"));
    let json = concept(&["--json"]);
    assert_eq!(
        (json.code, &json.json()["version_space"]["size"]),
        (1, &json!(0))
    );
    let noisy = concept(&["--noise", "0.1", "--json", "--predict", &table]);
    let noisy = noisy.succeeds().json();
    assert_eq!(noisy["posterior"][0]["hypothesis"], json!(["x"]));
    assert_eq!(noisy["predictions"][4]["prediction"], "yes");
}

#[test]
fn a_simple_prior_gives_the_empty_hypothesis_no_probability() {
    // <?> has prior 1/2, <x> and <z> have 1/4 each; the negative x leaves only <z>.
    let files = Files::new();
    let table = files.write("t.csv", "a,y\nx,no\nz,\n");
    let questions = ["concept", &table, "--target", "y", "--positive", "yes"];
    let simple = [&questions[..], &["--prior", "simple", "--json"]].concat();
    let report = abduce(&simple).succeeds().json();
    assert_near(&report["evidence"], 0.25);
    assert_eq!(report["posterior"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["posterior"][0]["hypothesis"], json!(["z"]));
    assert_near(&report["posterior"][0]["probability"], 1.0);
    // The version space does not depend on the prior: it contains <z> and the empty hypothesis.
    assert_eq!(report["version_space"]["size"], 2);
}

#[test]
fn a_simple_prior_prefers_few_constraints() {
    let report = enjoy(&["--prior", "simple", "--json"]).succeeds().json();
    let best = &report["posterior"][0]["hypothesis"];
    let constraints = best.as_array().unwrap().iter().filter(|v| !v.is_null());
    assert_eq!(constraints.count(), 1);
    assert_eq!(enjoy(&["--prior", "simple=2"]).code, 2);
    assert_eq!(enjoy(&["--prior", "odd"]).code, 2);
}

#[test]
fn the_positive_label_is_guessed_or_given() {
    let files = Files::new();
    let positive = |text: &str, more: &[&str]| {
        let table = files.write("t.csv", text);
        let outcome = abduce(&[&["concept", &table, "--target", "y", "--json"], more].concat());
        let report = outcome.succeeds().json();
        (report["positive"].clone(), report["negative"].clone())
    };
    for (text, expected) in [
        ("a,y\nx,TRUE\nz,FALSE\n", ("TRUE", "FALSE")),
        ("a,y\nx,1\nz,0\n", ("1", "0")),
        ("a,y\nx,-\nz,+\n", ("+", "-")),
        ("a,y\nx,good\nz,no\n", ("good", "no")),
        ("a,y\nx,no\nz,no\n", ("yes", "no")),
        ("a,y\nx,oui\nz,non\n", ("non", "oui")),
        ("a,y\nx,r\nz,g\nw,b\n", ("b", "not b")),
    ] {
        assert_eq!(positive(text, &[]), (json!(expected.0), json!(expected.1)));
    }
    let given = positive("a,y\nx,oui\nz,non\n", &["--positive", "oui"]);
    assert_eq!(given, (json!("oui"), json!("non")));
    enjoy(&["--positive", "yess"]).fails(2, &["--positive", "did you mean Yes"]);
}

#[test]
fn examples_may_all_have_the_same_label() {
    let learn = |table: &str| {
        let outcome = abduce_reading(&["concept", "-", "--target", "y", "--json"], table);
        outcome.succeeds().json()["version_space"].clone()
    };
    let positives = learn("a,b,y\nx,1,yes\nx,2,yes\n");
    assert_eq!(positives["general"], json!([[null, null]]));
    assert_eq!(positives["specific"], json!([["x", null]]));
    let negatives = learn("a,y\nx,no\nz,no\n");
    // ∅ is null.
    assert_eq!(negatives["specific"], json!([null]));
    assert_eq!(negatives["general"], json!([null]));
    assert_eq!(negatives["size"], 1);
}

#[test]
fn numbers_weights_missing_values_and_unicode_are_read() {
    let files = Files::new();
    let table = "été,n,w,y\nça,1,1,oui\nça,2,0,non\n日本,1,2,non\n,1,1,oui\n";
    let table = files.write("t.csv", table);
    let arguments = [
        "concept",
        &table,
        "--target",
        "y",
        "--weight",
        "w",
        "--positive",
        "oui",
    ];
    let outcome = abduce(&arguments).succeeds();
    assert!(outcome.stdout.contains("<ça, 1>"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("each number"), "{}", outcome.stderr);
    let unseen = files.write("p.csv", "été,n\nnée,1.0\nça,1\n");
    let report = abduce(&[&arguments[..], &["--predict", &unseen, "--json"]].concat());
    let report = report.succeeds().json();
    assert_near(&report["predictions"][0]["probability"], 0.0);
    assert_near(&report["predictions"][1]["probability"], 1.0);
}

#[test]
fn boundaries_too_long_to_list_give_a_note() {
    let names: Vec<String> = (0..40).map(|i| format!("a{i}")).collect();
    let row = |differs: &[usize], label: &str| {
        let cell = |i: usize| if differs.contains(&i) { "x" } else { "o" };
        let cells: Vec<&str> = (0..40).map(cell).chain([label]).collect();
        cells.join(",")
    };
    let mut lines = vec![format!("{},y", names.join(",")), row(&[], "yes")];
    lines.extend((0..20).map(|pair| row(&[2 * pair, 2 * pair + 1], "no")));
    let arguments = ["concept", "-", "--target", "y", "--json"];
    let outcome = abduce_reading(&arguments, &lines.join("\n")).succeeds();
    assert!(
        outcome.stderr.contains("general boundary"),
        "{}",
        outcome.stderr
    );
    let report = outcome.json();
    assert_eq!(report["version_space"]["size"], 3u64.pow(20));
    assert!(report["version_space"]["general"].is_null());
}

#[test]
fn wrong_usage_and_invalid_files_have_exit_code_2() {
    let files = Files::new();
    assert_eq!(abduce(&["concept", &data("enjoysport.csv")]).code, 2);
    let table = data("enjoysport.csv");
    abduce(&["concept", &table, "--target", "EnjoySprt"]).fails(2, &["did you mean EnjoySport"]);
    enjoy(&["--noise", "0.5"]).fails(2, &["0.5", "one half"]);
    enjoy(&["--noise", "-.1"]).fails(2, &["-0.1", "one half"]);
    enjoy(&["--check", "Sunny,?"]).fails(2, &["--check", "6 attributes, not 2"]);
    enjoy(&["--check", "Suny,?,?,?,?,?"]).fails(2, &["--check", "did you mean Sunny"]);
    enjoy(&["--predict", &files.path("absent.csv")]).fails(2, &["absent.csv"]);
    let other = files.write("o.csv", "a,b\n1,2\n");
    enjoy(&["--predict", &other]).fails(2, &["o.csv", "none of the"]);
    let concept =
        |name: &str, text: &str| abduce(&["concept", &files.write(name, text), "--target", "y"]);
    concept("rows.csv", "a,y\n").fails(2, &["rows.csv", "no rows"]);
    concept("labels.csv", "a,y\nx,\nz,\n").fails(2, &["\"y\"", "no row has a label"]);
    concept("target.csv", "y\nyes\nno\n").fails(2, &["no attributes"]);
    concept("ragged.csv", "a,y\nx,yes,1\n").fails(2, &["ragged.csv", "line 2"]);
    let many: String = (0..2000).map(|i| format!("{}.5,yes\n", i)).collect();
    concept("many.csv", &format!("a,y\n{many}")).fails(2, &["1000", "--drop"]);
}
