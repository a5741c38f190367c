//! `score --outliers` ranks rows by tail probabilities, which are comparable between rows with
//! different missing values.

use crate::run::{Files, abduce, data};

/// Rows of independent normal numbers with mean 0 and standard deviation 1000.
fn normal_rows(rows: usize, columns: usize) -> String {
    let mut state = 3u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let names: Vec<String> = (0..columns).map(|c| format!("x{c}")).collect();
    let mut text = names.join(",") + "\n";
    for _ in 0..rows {
        let cells = (0..columns).map(|_| {
            // Box and Muller's transformation.
            let angle = std::f64::consts::TAU * uniform();
            format!(
                "{:.3}",
                1000.0 * (-2.0 * uniform().ln()).sqrt() * angle.cos()
            )
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

#[test]
fn a_far_row_with_missing_values_ranks_first() {
    let files = Files::new();
    let table = files.write("rows.csv", normal_rows(200, 6) + "6000,,,,,\n");
    let model = files.fit(&["mixture", &table, "-k", "1"]);
    let scores = abduce(&["score", &model, &table]).succeeds();
    let densities: Vec<f64> = (scores.lines()[1..].iter())
        .map(|x| x.parse().unwrap())
        .collect();
    assert!(
        densities[..200].iter().all(|entry| *entry < densities[200]),
        "the density of one number is higher than the densities of six numbers"
    );
    let outcome = abduce(&["score", &model, &table, "--outliers", "3"]).succeeds();
    assert_eq!(outcome.lines()[0], "row,log_density,tail_probability");
    let first: Vec<f64> = (outcome.lines()[1].split(','))
        .map(|x| x.parse().unwrap())
        .collect();
    assert_eq!((first[0], first[1]), (201.0, densities[200]));
    // The outlier widens the fitted Gaussian a little.
    assert!(first[2] > 1e-10 && first[2] < 1e-5, "{first:?}");
    let again = abduce(&["score", &model, &table, "--outliers", "3"]).succeeds();
    assert_eq!(
        outcome.stdout, again.stdout,
        "equal seeds give equal output"
    );
    let json = abduce(&["score", &model, &table, "--outliers", "3", "--json"]).succeeds();
    let json = &json.json()["outliers"][0];
    assert!(
        json["row"] == 201 && json["tail_probability"] == first[2],
        "{json}"
    );
}

#[test]
fn tail_probabilities_of_complete_rows_are_uniform() {
    let files = Files::new();
    let table = files.write("rows.csv", normal_rows(400, 3));
    let model = files.fit(&["mixture", &table, "-k", "1"]);
    let outcome = abduce(&["score", &model, &table, "--outliers", "400"]).succeeds();
    for (row, line) in outcome.lines()[1..].iter().enumerate() {
        let tail: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        let expected = (row as f64 + 0.5) / 400.0;
        assert!((tail - expected).abs() < 0.06, "{row}: {tail} {expected}");
    }
}

#[test]
fn labels_do_not_change_the_rank_of_a_row() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    let head = "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year";
    let cells = "Dream,38,21,175,5900,female,2007";
    let rows = format!("{head}\nChinstrap,{cells}\n,{cells}\nAdelie,{cells}\n");
    let rows = files.write("rows.csv", rows);
    let outcome = abduce(&["score", &model, &rows, "--outliers", "3", "--json"]).succeeds();
    let json = outcome.json();
    let outliers = json["outliers"].as_array().unwrap();
    assert_eq!(outliers.len(), 3);
    let tail = &outliers[0]["tail_probability"];
    assert!(tail.as_f64().unwrap() < 0.01, "{json}");
    assert!(
        outliers
            .iter()
            .all(|entry| entry["tail_probability"] == *tail)
    );
    let scores = abduce(&["score", &model, &rows, "--json"])
        .succeeds()
        .json();
    for entry in outliers {
        let row = entry["row"].as_u64().unwrap() as usize - 1;
        assert_eq!(
            entry["log_density"], scores["log_density"][row],
            "the log-density includes the label"
        );
    }
}

#[test]
fn rows_of_models_that_cannot_be_sampled_are_ranked_by_density() {
    let files = Files::new();
    let text = "kind,text\nham,see you at noon\nspam,win money now\nham,lunch at noon\n";
    let table = files.write("texts.csv", text);
    let model = files.fit(&[
        "naive-bayes",
        &table,
        "--target",
        "kind",
        "--kind",
        "text=text",
    ]);
    let outcome = abduce(&["score", &model, &table, "--outliers", "2"]).succeeds();
    assert!(
        outcome.stderr.contains("ranking by log_density"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.lines().len(), 3);
    assert!(outcome.lines()[1].ends_with(','), "{}", outcome.stdout);
}
