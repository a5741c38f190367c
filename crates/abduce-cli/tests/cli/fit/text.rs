//! Naive Bayes on text, its smoothings and class priors, and `abduce explain`.

use crate::run::{Files, abduce, data};
use serde_json::Value;

const NEW: &str = "text\nclaim your free prize\nsee you at home tonight\n\n";

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn fit_messages(files: &Files, more: &[&str]) -> String {
    let model = files.path("messages.abduce");
    let (table, fit) = (data("messages.tsv"), ["fit", "naive-bayes"]);
    let rest = ["--target", "label", "-o", &model];
    abduce(&[&fit[..], &[table.as_str()], &rest[..], more].concat()).succeeds();
    model
}

#[test]
fn every_event_model_classifies_the_messages() {
    let files = Files::new();
    let rows = files.write("new.tsv", NEW);
    for more in [
        &[][..],
        &["--event", "bernoulli"],
        &["--event", "complement"],
        &["--family", "text=bernoulli"],
        &[
            "--ngrams",
            "1-2",
            "--stop-words",
            "english",
            "--min-df",
            "2",
        ],
        &["--terms", "characters-within-words", "--ngrams", "3-4"],
        &["--hash-bits", "12"],
        &["--max-terms", "50", "--max-df", "0.9", "--case-sensitive"],
        &["--memory", "0"],
    ] {
        let model = fit_messages(&files, more);
        let report = abduce(&["predict", &model, &rows, "--proba", "--json"]).succeeds();
        let report = parse(&report.stdout);
        assert_eq!(
            report["predictions"],
            parse("[\"spam\", \"ham\"]"),
            "{more:?}"
        );
        let sum = |row: usize| -> f64 {
            let each = report["probabilities"].as_object().unwrap().values();
            each.map(|p| p[row].as_f64().unwrap()).sum()
        };
        assert!((sum(0) - 1.0).abs() < 1e-12 && (sum(1) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_vocabulary_is_in_the_model_and_unknown_words_are_counted() {
    let files = Files::new();
    let model = fit_messages(&files, &[]);
    let file = parse(&std::fs::read_to_string(&model).unwrap());
    let words = &file["body"]["schema"]["fields"][1]["text"]["encoding"]["vocabulary"];
    assert!(
        words.as_array().unwrap().contains(&"prize".into()),
        "{words}"
    );
    let rows = files.write("new.tsv", "text\nflibberty prize gibbet\n");
    let outcome = abduce(&["predict", &model, &rows]).succeeds();
    assert!(
        outcome.stderr.contains("2 words are not in the vocabulary"),
        "{}",
        outcome.stderr
    );
    let shown = abduce(&["show", &model]).succeeds();
    assert!(shown.stdout.contains("typical words"), "{}", shown.stdout);
}

#[test]
fn contributions_add_up_to_the_log_odds_of_the_probabilities() {
    let files = Files::new();
    let rows = files.write("new.tsv", NEW);
    for more in [
        &[][..],
        &["--event", "bernoulli"],
        &["--event", "complement"],
    ] {
        let model = fit_messages(&files, more);
        let report = abduce(&["explain", &model, &rows, "--json"]).succeeds();
        for entry in parse(&report.stdout).as_array().unwrap() {
            let p = entry["probability"].as_f64().unwrap();
            let log_odds = entry["log_odds"].as_f64().unwrap();
            assert!((log_odds - (p / (1.0 - p)).ln()).abs() < 1e-9, "{entry}");
            let each = entry["contributions"].as_array().unwrap().iter();
            let each: Vec<f64> = each.map(|c| c["log_odds"].as_f64().unwrap()).collect();
            assert!((each.iter().sum::<f64>() - log_odds).abs() < 1e-9);
            assert!(each.is_sorted_by(|a, b| a.abs() >= b.abs()), "{each:?}");
        }
    }
    let model = files.path("penguins.abduce");
    let penguins = data("penguins.csv");
    abduce(&["fit", "gda", &penguins, "--target", "species", "-o", &model]).succeeds();
    let report = abduce(&["explain", &model, &penguins, "--row", "1", "--json"]).succeeds();
    assert_eq!(parse(&report.stdout).as_array().unwrap().len(), 1);
    let explain = |more: &[&str]| abduce(&[&["explain", &model, &penguins], more].concat());
    explain(&["--row", "1", "--against", "Gentoo"]).succeeds();
    explain(&["--row", "345"]).fails(2, &["--row", "1 to 344"]);
    explain(&["--row", "1", "--against", "Gento"]).fails(2, &["Gento", "did you mean Gentoo"]);
    explain(&["--row", "1", "--class", "Gentoo", "--against", "Gentoo"]).fails(2, &["--against"]);
}

/// P(no) of a sunny, cool, humid, windy day.
fn tennis(files: &Files, more: &[&str]) -> f64 {
    let (table, model) = (data("tennis.csv"), files.path("tennis.abduce"));
    let fit = [
        "fit",
        "naive-bayes",
        &table,
        "--target",
        "PlayTennis",
        "-o",
        &model,
    ];
    abduce(&[&fit[..], more].concat()).succeeds();
    let day = "Outlook,Temperature,Humidity,Wind\nSunny,Cool,High,Strong\n";
    let rows = files.write("day.csv", day);
    let report = abduce(&["predict", &model, &rows, "--proba", "--json"]).succeeds();
    parse(&report.stdout)["probabilities"]["No"][0]
        .as_f64()
        .unwrap()
}

#[test]
fn play_tennis_has_known_probabilities_with_every_smoothing() {
    let files = Files::new();
    // Counts of sunny, cool, high and strong among the 5 rows with no and the 9 with yes.
    let (no, yes) = ([3.0, 1.0, 4.0, 3.0], [2.0, 3.0, 3.0, 3.0]);
    let levels = [3.0, 3.0, 2.0, 2.0];
    let pooled = [5.0, 4.0, 7.0, 6.0].map(|n: f64| n / 14.0);
    let expected = |prior: [f64; 2], added: &dyn Fn(usize) -> (f64, f64)| {
        let side = |counts: [f64; 4], rows: f64| -> f64 {
            let factor = |i: usize| (counts[i] + added(i).0) / (rows + added(i).1);
            (0..4).map(factor).product()
        };
        let (a, b) = (prior[0] * side(no, 5.0), prior[1] * side(yes, 9.0));
        a / (a + b)
    };
    let learned = [5.0, 9.0];
    let assert_probability = |more: &[&str], expected: f64| {
        let obtained = tennis(&files, more);
        assert!(
            (obtained - expected).abs() < 1e-12,
            "{more:?}: {obtained} {expected}"
        );
    };
    assert_probability(&["--smoothing", "none"], expected(learned, &|_| (0.0, 0.0)));
    let laplace = |i: usize| (1.0, levels[i]);
    assert_probability(&["--smoothing", "laplace"], expected(learned, &laplace));
    assert_probability(
        &["--smoothing", "0.5"],
        expected(learned, &|i| (0.5, 0.5 * levels[i])),
    );
    assert_probability(
        &["--smoothing", "m=3"],
        expected(learned, &|i| (3.0 / levels[i], 3.0)),
    );
    assert_probability(
        &["--smoothing", "m=3,pooled"],
        expected(learned, &|i| (3.0 * pooled[i], 3.0)),
    );
    assert_probability(&["--class-smoothing", "1"], expected([6.0, 10.0], &laplace));
    assert_probability(
        &["--class-prior", "uniform"],
        expected([1.0, 1.0], &laplace),
    );
    assert_probability(
        &["--class-prior", "No=1,Yes=3"],
        expected([1.0, 3.0], &laplace),
    );
    let dirichlet = |i: usize| if i == 0 { (2.0, 3.0) } else { laplace(i) };
    assert_probability(
        &["--dirichlet", "Outlook=0.5,0.5,2"],
        expected(learned, &dirichlet),
    );
    let table = data("tennis.csv");
    let assert_error = |more: &[&str], words: &[&str]| {
        let fit = ["fit", "naive-bayes", &table, "--target", "PlayTennis"];
        abduce(&[&fit[..], more].concat()).fails(2, words);
    };
    assert_error(
        &["--class-prior", "No=1"],
        &["the prior of the class \"Yes\" is missing"],
    );
    assert_error(&["--class-prior", "Nope=1,Yes=1"], &["Nope", "No, Yes"]);
    assert_error(&["--class-prior", "even"], &["--class-prior", "uniform"]);
    assert_error(&["--dirichlet", "Outlook=1,2"], &["Outlook", "3 levels"]);
    assert_error(&["--dirichlet", "Nope=1,2"], &["Nope", "Outlook"]);
    assert_error(
        &["--dirichlet", "PlayTennis=1,2"],
        &["PlayTennis", "--class-prior"],
    );
    assert_error(&["--smoothing", "m=x"], &["with a number of at least 0"]);
    assert_error(
        &["--event", "trinomial"],
        &["multinomial, bernoulli and complement"],
    );
}

#[test]
fn an_unseen_category_has_its_smoothed_probability_and_is_reported() {
    let files = Files::new();
    let model = files.path("tennis.abduce");
    let table = data("tennis.csv");
    let fit = [
        "fit",
        "naive-bayes",
        &table,
        "--target",
        "PlayTennis",
        "-o",
        &model,
    ];
    abduce(&fit).succeeds();
    let rows = files.write("day.csv", "Outlook\nFoggy\n\"\"\n");
    let outcome = abduce(&["predict", &model, &rows, "--proba", "--json"]).succeeds();
    assert!(
        outcome.stderr.contains("not seen in the fit"),
        "{}",
        outcome.stderr
    );
    let no = &parse(&outcome.stdout)["probabilities"]["No"];
    // With five and nine rows, the class weights times 1/(5 + 3) and 1/(9 + 3).
    let (a, b) = (5.0 / 8.0, 9.0 / 12.0);
    assert!(
        (no[0].as_f64().unwrap() - a / (a + b)).abs() < 1e-12,
        "{no}"
    );
    assert!((no[1].as_f64().unwrap() - 5.0 / 14.0).abs() < 1e-12, "{no}");
}

#[test]
fn classes_may_be_words_numbers_or_booleans() {
    let files = Files::new();
    for [a, b] in [["x", "y"], ["1", "2"], ["false", "true"], ["0.5", "-3"]] {
        let rows: String = (0..12)
            .map(|i| format!("{},{}\n", if i % 2 == 0 { a } else { b }, i % 2 * 10 + i))
            .collect();
        let table = files.write("t.csv", format!("class,x\n{rows}"));
        let model = files.path("t.abduce");
        abduce(&[
            "fit",
            "naive-bayes",
            &table,
            "--target",
            "class",
            "-o",
            &model,
        ])
        .succeeds();
        let new = files.write("new.csv", "x\n2\n18\n");
        let outcome = abduce(&["predict", &model, &new]).succeeds();
        assert_eq!(outcome.stdout, format!("prediction\n{a}\n{b}\n"));
    }
}

#[test]
fn the_chosen_weight_of_unlabelled_rows_is_reported() {
    let files = Files::new();
    let text = std::fs::read_to_string(data("penguins.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let species = header
        .split(',')
        .position(|name| name == "species")
        .unwrap();
    let hide_label = |(i, line): (usize, &str)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if i % 10 != 0 {
            cells[species] = "";
        }
        cells.join(",")
    };
    let rows: Vec<String> = rows.lines().enumerate().map(hide_label).collect();
    let table = files.write("t.csv", format!("{header}\n{}\n", rows.join("\n")));
    let fit = |more: &[&str]| {
        let fit = [
            "fit",
            "naive-bayes",
            &table,
            "--target",
            "species",
            "--json",
        ];
        abduce(&[&fit[..], more].concat())
    };
    let outcome = fit(&[]).succeeds();
    assert!(
        outcome.stderr.contains("rows without a label"),
        "{}",
        outcome.stderr
    );
    let report = parse(&outcome.stdout);
    assert_eq!(report["unlabelled"]["tried"].as_array().unwrap().len(), 6);
    let given = parse(&fit(&["--unlabelled", "0.25"]).succeeds().stdout);
    assert!(given["unlabelled"].is_null());
    fit(&["--unlabelled", "-1"]).fails(2, &["from 0 to 1"]);
}

#[test]
fn documents_with_a_missing_count_are_classified() {
    let files = Files::new();
    let table = files.write("t.csv", "a,b,y\n5,0,A\n3,0,A\n1,4,B\n2,5,B\n");
    let model = files.path("t.abduce");
    let kinds = ["--kind", "a=count", "--kind", "b=count"];
    let fit = ["fit", "naive-bayes", &table, "--target", "y", "-o", &model];
    let event = ["--event", "multinomial", "--smoothing", "0"];
    abduce(&[&fit[..], &kinds[..], &event[..]].concat()).succeeds();
    let rows = files.write("new.csv", "a,b\n,3\n4,\n");
    let report = abduce(&["predict", &model, &rows, "--proba", "--json"])
        .succeeds()
        .json();
    assert_eq!(report["predictions"][0], "B");
    assert_eq!(report["probabilities"]["B"][0], 1.0);
    assert!(report["probabilities"]["A"][1].is_f64());
    let complement = ["--event", "complement", "--smoothing", "0"];
    let complement = abduce(&[&fit[..], &kinds[..], &complement[..]].concat());
    complement.fails(2, &["complement", "--smoothing 1"]);
    let pooled = ["--event", "bernoulli", "--smoothing", "m=3,pooled"];
    abduce(&[&fit[..], &kinds[..], &pooled[..]].concat()).succeeds();
    let huge: String = (0..20).map(|_| "1000000,0,A\n1,1000000,B\n").collect();
    let table = files.write("huge.csv", format!("a,b,y\n{huge}"));
    let fit = ["fit", "naive-bayes", &table, "--target", "y", "-o", &model];
    abduce(&[&fit[..], &kinds[..], &["--event", "multinomial"]].concat()).succeeds();
    let rows = files.write("new.csv", "a,b,y\n,1000,A\n");
    abduce(&["impute", &model, &rows, "--how", "draw"]).succeeds();
}

#[test]
fn texts_are_clustered_without_labels() {
    let files = Files::new();
    let cooking = [
        "boil the rice",
        "fry the onions",
        "boil and fry rice with onions",
    ];
    let sailing = [
        "hoist the sail",
        "steer into harbour",
        "steer and hoist a sail in harbour",
    ];
    let rows: String = (0..20)
        .flat_map(|i| [cooking[i % 3], sailing[i % 3]])
        .map(|text| format!("{text}\n"))
        .collect();
    let table = files.write("t.csv", format!("text\n{rows}"));
    let model = files.path("t.abduce");
    for event in ["multinomial", "bernoulli"] {
        let fit = [
            "fit",
            "mixture",
            &table,
            "-k",
            "2",
            "--kind",
            "text=text",
            "-o",
            &model,
        ];
        let more = ["--event", event, "--smoothing", "0.1", "--json"];
        let report = abduce(&[&fit[..], &more[..]].concat()).succeeds().json();
        assert_eq!(
            (&report["monotone"], &report["converged"]),
            (&true.into(), &true.into())
        );
        let outcome = abduce(&["predict", &model, &table]).succeeds();
        let lines = outcome.lines();
        assert!(lines[1] != lines[2], "{event}");
        let separated = lines[1..]
            .chunks(2)
            .all(|pair| pair == [lines[1], lines[2]]);
        assert!(separated, "{event}: {}", outcome.stdout);
    }
}
