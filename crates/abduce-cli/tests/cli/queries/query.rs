//! `abduce query`: the query language on the command line.

use crate::run::{Files, abduce, data};

fn penguins(files: &Files) -> String {
    files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"])
}

fn mixture(files: &Files) -> String {
    files.fit(&["mixture", &data("faithful.csv"), "-k", "2"])
}

fn number(model: &str, question: &str) -> f64 {
    let outcome = abduce(&["query", model, question]).succeeds();
    outcome.stdout.trim().parse().unwrap()
}

#[test]
fn probabilities_of_an_event_and_its_complement_sum_to_one() {
    let files = Files::new();
    let model = penguins(&files);
    for (event, complement) in [
        ("bill_length_mm>45", "bill_length_mm<=45"),
        ("island in {Biscoe, Dream}", "island = 'Torgersen'"),
        ("species!=Adelie", "species=Adelie"),
    ] {
        let given = "body_mass_g between 3500 and 4500";
        let sum = number(&model, &format!("P({event} | {given})"))
            + number(&model, &format!("P({complement} | {given})"));
        assert!((sum - 1.0).abs() < 1e-5, "{event}: {sum}");
    }
}

#[test]
fn a_table_has_a_line_for_each_combination() {
    let files = Files::new();
    let model = penguins(&files);
    let outcome = abduce(&["query", &model, "P(species, sex | island=Dream)"]).succeeds();
    let lines = outcome.lines();
    assert_eq!(lines.len(), 7);
    let heading: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(heading, ["species", "sex", "probability"]);
    let json = abduce(&["query", &model, "P(species, sex | island=Dream)", "--json"]);
    let json = json.succeeds().json();
    assert_eq!(json["method"], "exact");
    assert_eq!(json["columns"][1], "sex");
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows[1]["values"][0], "Adelie");
    let sum: f64 = rows
        .iter()
        .map(|row| row["probability"].as_f64().unwrap())
        .sum();
    assert!((sum - 1.0).abs() < 1e-12);
}

#[test]
fn a_query_agrees_with_predict() {
    let files = Files::new();
    let model = penguins(&files);
    let row = files.write(
        "row.csv",
        "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\n\
         Dream,47.5,,,,,\n",
    );
    let outcome = abduce(&["predict", &model, &row, "--proba", "--json"]).succeeds();
    let predicted = outcome.json();
    let question = "P(species=Gentoo | bill_length_mm=47.5, island=Dream)";
    let outcome = abduce(&["query", &model, question, "--json"]).succeeds();
    let found = outcome.json()["probability"].as_f64().unwrap();
    let expected = predicted["probabilities"]["Gentoo"][0].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

#[test]
fn draws_have_a_standard_error_and_follow_the_seed() {
    let files = Files::new();
    let model = mixture(&files);
    let question = "P(waiting>80, eruptions>4)";
    let outcome = abduce(&["query", &model, question]).succeeds();
    assert!(outcome.stdout.contains(" ± "), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("10000 draws"), "{}", outcome.stderr);
    let json = |seed: &str, draws: &str| {
        let arguments = [
            "query", &model, question, "--json", "--seed", seed, "--draws", draws,
        ];
        abduce(&arguments).succeeds().json()
    };
    assert_eq!(json("0", "1000"), json("0", "1000"));
    let (few, many) = (json("1", "1000"), json("1", "40000"));
    let error = |entry: &serde_json::Value| entry["standard_error"].as_f64().unwrap();
    assert!(error(&many) < 0.3 * error(&few));
    let rows = abduce(&["query", &model, question, "--draws", "20"]).succeeds();
    assert!(rows.stderr.contains("increase --draws"), "{}", rows.stderr);
}

#[test]
fn errors_mark_the_position() {
    let files = Files::new();
    let model = penguins(&files);
    for (question, indent) in [
        ("P(species | bil_length_mm>45)", 12),
        ("P(species | island=Dreem)", 19),
        ("P(species | sex=)", 16),
        ("P(species", 9),
    ] {
        let outcome = abduce(&["query", &model, question]);
        assert_eq!(outcome.code, 2, "{question}");
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        assert!(
            lines[0].contains(&format!("character {}", indent + 1)),
            "{}",
            outcome.stderr
        );
        assert_eq!(lines[1], format!("  {question}"));
        assert_eq!(lines[2], format!("  {}^", " ".repeat(indent)));
    }
    let outcome = abduce(&["query", &model, "P(speciés\u{1b} | x=1)"]);
    assert!(!outcome.stderr.contains('\u{1b}'), "{}", outcome.stderr);
}

#[test]
fn evidence_of_probability_zero_is_an_error() {
    let files = Files::new();
    let model = mixture(&files);
    let outcome = abduce(&["query", &model, "P(waiting | eruptions>1e6)"]);
    assert_eq!(outcome.code, 1);
    assert!(
        outcome.stderr.contains("probability 0"),
        "{}",
        outcome.stderr
    );
    let outcome = abduce(&["query", &model, "P(waiting | do(eruptions=3))"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("interventions"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_clusters_of_k_means_are_asked_as_its_gaussians() {
    let files = Files::new();
    let model = files.fit(&["kmeans", &data("faithful.csv"), "-k", "2"]);
    let ask = |question: &str| abduce(&["query", &model, question]).succeeds().stdout;
    let lines = ask("P(component)");
    let shares = lines
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().last());
    assert!(shares.clone().eq([Some("0.5"), Some("0.5")]), "{lines}");
    let both: f64 = ["component=1", "component=2"]
        .map(|component| number(&model, &format!("P(waiting>70, {component})")))
        .iter()
        .sum();
    assert!((both - number(&model, "P(waiting>70)")).abs() < 1e-5);
}

#[test]
fn rows_are_drawn_from_one_component() {
    let files = Files::new();
    let model = mixture(&files);
    let sample = ["sample", &model, "-n", "2000", "--given"];
    let drawn = abduce(&[&sample[..], &["component=2"]].concat()).succeeds();
    let eruptions = drawn.lines().into_iter().skip(1).map(|line| {
        let (eruptions, _) = line.split_once(',').unwrap();
        eruptions.parse::<f64>().unwrap()
    });
    let mean = eruptions.sum::<f64>() / 2000.0;
    assert!((mean - number(&model, "E(eruptions | component=2)")).abs() < 0.05);
    let unknown = abduce(&[&sample[..], &["component=3"]].concat());
    unknown.fails(2, &["--given", "no component 3", "1, 2"]);
}
