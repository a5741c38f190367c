//! The commands that query a model: predict, score, impute, sample, show.

use crate::run::{Files, abduce, abduce_reading, data};

fn penguins(files: &Files) -> String {
    files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"])
}

#[test]
fn probabilities_are_written_next_to_predictions_and_sum_to_one() {
    let files = Files::new();
    let model = penguins(&files);
    let outcome = abduce(&["predict", &model, &data("penguins.csv"), "--proba"]).succeeds();
    let lines = outcome.lines();
    assert_eq!(lines[0], "prediction,P(Adelie),P(Chinstrap),P(Gentoo)");
    assert_eq!(lines.len(), 345);
    for line in &lines[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        let sum: f64 = cells[1..].iter().map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{line}");
    }
    let json = abduce(&[
        "predict",
        &model,
        &data("penguins.csv"),
        "--proba",
        "--json",
    ]);
    let json = json.succeeds().json();
    let predictions = json["predictions"].as_array().unwrap();
    assert_eq!(predictions.len(), 344);
    assert_eq!(predictions[0], lines[1].split(',').next().unwrap());
    assert_eq!(
        json["probabilities"]["Gentoo"].as_array().unwrap().len(),
        344
    );
}

#[test]
fn labels_in_the_data_do_not_change_predictions() {
    let files = Files::new();
    let model = penguins(&files);
    let with = abduce(&["predict", &model, &data("penguins.csv")]).succeeds();
    let without = abduce(&[
        "predict",
        &model,
        &data("penguins.csv"),
        "--drop",
        "species",
    ]);
    assert_eq!(with.stdout, without.succeeds().stdout);
}

#[test]
fn clusters_are_numbered_from_1_and_output_files_equal_stdout() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let outcome = abduce(&["predict", &model, &data("faithful.csv")]).succeeds();
    assert!(
        outcome.lines()[1..]
            .iter()
            .all(|line| ["1", "2"].contains(line))
    );
    let out = files.path("out.csv");
    let report = abduce(&["predict", &model, &data("faithful.csv"), "-o", &out]).succeeds();
    assert_eq!(report.stdout, "");
    assert_eq!(files.read("out.csv"), outcome.stdout);
    assert_eq!(files.names(), ["model.abduce", "out.csv"]);
}

#[test]
fn the_mean_score_is_the_mean_log_density() {
    let files = Files::new();
    let model = penguins(&files);
    let table = data("penguins.csv");
    let all = abduce(&["score", &model, &table]).succeeds();
    assert_eq!(all.lines()[0], "log_density");
    let scores: Vec<f64> = all.lines()[1..]
        .iter()
        .map(|x| x.parse().unwrap())
        .collect();
    assert_eq!(scores.len(), 344);
    let mean: f64 = abduce(&["score", &model, &table, "--mean"])
        .succeeds()
        .stdout
        .trim()
        .parse()
        .unwrap();
    assert!((mean - scores.iter().sum::<f64>() / 344.0).abs() < 1e-9);
    let shown = abduce(&["show", &model, "--json"]).succeeds().json();
    let total = shown["fit"]["log_likelihood"].as_f64().unwrap();
    assert!(
        (total / 344.0 - mean).abs() < 1e-9,
        "the fit and the score agree"
    );
    let json = abduce(&["score", &model, &table, "--json"])
        .succeeds()
        .json();
    assert_eq!(json["log_density"].as_array().unwrap().len(), 344);
}

#[test]
fn weights_count_in_the_mean_score() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let once = files.write("once.csv", "eruptions,waiting,w\n3.6,79,3\n1.8,54,1\n");
    let repeated = files.write(
        "repeated.csv",
        "eruptions,waiting\n3.6,79\n3.6,79\n3.6,79\n1.8,54\n",
    );
    let mean = |arguments: &[&str]| -> f64 {
        let all = [&["score", &model, "--mean"], arguments].concat();
        abduce(&all).succeeds().stdout.trim().parse().unwrap()
    };
    let difference = mean(&[&once, "--weight", "w"]) - mean(&[&repeated]);
    assert!(difference.abs() < 1e-12);
}

#[test]
fn imputing_keeps_observed_values_and_fills_all_others() {
    let files = Files::new();
    let model = penguins(&files);
    let table = data("penguins.csv");
    let before = std::fs::read_to_string(&table).unwrap();
    for how in ["mean", "mode", "draw"] {
        let outcome = abduce(&["impute", &model, &table, "--how", how]).succeeds();
        assert_eq!(outcome.lines().len(), 345);
        for (old, new) in before.lines().zip(outcome.lines()) {
            for (old, new) in old.split(',').zip(new.split(',')) {
                match old {
                    "NA" | "" => assert!(new != "NA" && !new.is_empty(), "{old} {new}"),
                    _ => assert_eq!(old, new),
                }
            }
        }
    }
}

#[test]
fn columns_outside_the_model_are_copied_unchanged() {
    let files = Files::new();
    let train = files.write("train.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n");
    let model = files.fit(&["naive-bayes", &train, "--target", "b"]);
    let table = files.write(
        "table.csv",
        "note,b,a,z\n\"said \"\"hi, you\"\"\",x,1.500,\n,NA,2,07\nlast,z,,?\n",
    );
    let outcome = abduce(&["impute", &model, &table]).succeeds();
    let lines = outcome.lines();
    assert_eq!(lines[0], "note,b,a,z");
    assert_eq!(lines[1], "\"said \"\"hi, you\"\"\",x,1.500,");
    assert!([",x,2,07", ",y,2,07"].contains(&lines[2]), "{}", lines[2]);
    assert!(
        lines[3].starts_with("last,z,3,"),
        "an unseen category is not a missing value: {}",
        lines[3]
    );
}

#[test]
fn copies_are_numbered_and_differ_only_in_imputed_values() {
    let files = Files::new();
    let model = penguins(&files);
    let table = data("penguins.csv");
    let outcome = abduce(&["impute", &model, &table, "--how", "draw", "--copies", "2"]).succeeds();
    let lines = outcome.lines();
    assert_eq!(lines.len(), 1 + 2 * 344);
    assert!(lines[0].starts_with("copy,species"));
    assert!(lines[1].starts_with("1,") && lines[345].starts_with("2,"));
    assert_eq!(lines[1][1..], lines[345][1..], "a whole row");
    assert_ne!(lines[4][1..], lines[348][1..], "a row with missing values");
    abduce(&["impute", &model, &table, "--copies", "2"]).fails(2, &["--how draw"]);
}

#[test]
fn copies_reflect_the_uncertainty_of_the_parameters() {
    let files = Files::new();
    // There is almost no noise given the parameters, so that copies differ almost only by their
    // parameters.
    let table = files.write("t.csv", "x,y\n1,2.1\n2,3.9\n3,6.2\n4,7.8\n50,\n");
    let real = ["--kind", "*=real", "-k", "1"];
    let model = files.fit(&[&["mixture", &table][..], &real].concat());
    let filled = |more: &[&str]| -> Vec<f64> {
        let outcome =
            abduce(&[&["impute", &model, &table, "--how", "draw"], more].concat()).succeeds();
        let rows = outcome
            .lines()
            .into_iter()
            .filter(|line| line.contains("50,"));
        rows.map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
            .collect()
    };
    let spread = |entry: &[f64]| {
        let mean = entry.iter().sum::<f64>() / entry.len() as f64;
        let squares: f64 = entry.iter().map(|x| (x - mean).powi(2)).sum();
        (squares / (entry.len() as f64 - 1.0)).sqrt()
    };
    let single: Vec<f64> = (0..10)
        .flat_map(|seed| filled(&["--seed", &seed.to_string()]))
        .collect();
    let copies = filled(&["--copies", "10"]);
    assert_eq!(copies.len(), 10);
    // The slope has a standard error of about 0.1, which is 5 at x = 50.
    assert!(spread(&single) < 0.5, "{single:?}");
    assert!(spread(&copies) > 1.5, "{copies:?}");
    assert_eq!(copies, filled(&["--copies", "10"]), "the same seed");
}

#[test]
fn counts_are_imputed_as_integers() {
    let files = Files::new();
    let table = files.write("t.csv", "n,c\n3,x\n0,y\n2,x\n,y\n7,x\n1,y\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "c", "--kind", "n=count"]);
    let outcome = abduce(&["impute", &model, &table]).succeeds();
    assert_eq!(outcome.lines()[4], "1,y", "the mean of 0 and 1, rounded");
}

#[test]
fn samples_have_the_given_values_and_the_requested_number_of_rows() {
    let files = Files::new();
    let model = penguins(&files);
    let given = "species=Gentoo,body_mass_g=5000";
    let outcome = abduce(&["sample", &model, "-n", "5000", "--given", given]).succeeds();
    assert_eq!(outcome.lines().len(), 5001);
    assert!(outcome.lines()[0].starts_with("species,island,"));
    assert!(
        outcome.lines()[1..]
            .iter()
            .all(|l| l.starts_with("Gentoo,") && l.contains(",5000,"))
    );
    let json = abduce(&["sample", &model, "-n", "3", "--json"])
        .succeeds()
        .json();
    assert_eq!(json["rows"].as_array().unwrap().len(), 3);
    abduce(&["sample", &model, "--given", "specie=Gentoo"])
        .fails(2, &["specie", "species, island"]);
    abduce(&["sample", &model, "--given", "species=Emu"]).fails(2, &["Emu", "Adelie, Chinstrap"]);
    abduce(&["sample", &model, "--given", "year=soon"]).fails(2, &["year", "soon", "number"]);
    abduce(&["sample", &model, "--given", "year"]).fails(2, &["column=value"]);
}

#[test]
fn samples_under_impossible_conditions_are_an_error() {
    let files = Files::new();
    let table = files.write("t.csv", "a,c\nu,x\nu,x\nv,y\nv,y\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "c", "--smoothing", "0"]);
    abduce(&["sample", &model, "--given", "a=u,c=y"]).fails(1, &["probability 0"]);
}

#[test]
fn show_lists_every_kind_of_column() {
    let files = Files::new();
    let table = data("penguins.csv");
    for (covariance, word) in [
        ("full", "covariance of Gentoo"),
        ("tied", "covariance of all"),
        ("diagonal", "sd"),
        ("spherical", "sd"),
    ] {
        let model = files.fit(&[
            "gda",
            &table,
            "--target",
            "species",
            "--covariance",
            covariance,
        ]);
        let outcome = abduce(&["show", &model]).succeeds();
        assert!(
            outcome.stdout.contains(word),
            "{covariance}: {}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("P(Torgersen)") && outcome.stdout.contains("penguins.csv"));
    }
}

#[test]
fn unicode_names_and_tables_of_one_row_work() {
    let files = Files::new();
    let table = files.write(
        "t.csv",
        "größe,色,ñame\n1.5,赤,Zoë\n2.5,青,Łukasz\n1.0,赤,Zoë\n2.6,青,Łukasz\n2.2,青,Łukasz\n",
    );
    let model = files.fit(&["naive-bayes", &table, "--target", "ñame"]);
    let one = files.write("one.csv", "größe,色\n2.4,青\n");
    let outcome = abduce(&["predict", &model, &one, "--proba"]).succeeds();
    assert_eq!(outcome.lines()[0], "prediction,P(Zoë),P(Łukasz)");
    assert!(outcome.lines()[1].starts_with("Łukasz,"));
    assert_eq!(
        outcome.stderr, "",
        "a missing target column of new rows is not reported"
    );
    let sampled = abduce(&["sample", &model, "--given", "色=青,ñame=Zoë"]).succeeds();
    assert!(sampled.lines()[1].contains("青,Zoë"));
    abduce(&["fit", "mixture", &one, "-k", "1"]).succeeds();
}

#[test]
fn impute_reads_stdin_like_a_file() {
    let files = Files::new();
    let model = penguins(&files);
    let text = std::fs::read_to_string(data("penguins.csv")).unwrap();
    let piped = abduce_reading(&["impute", &model, "-"], &text).succeeds();
    let named = abduce(&["impute", &model, &data("penguins.csv")]).succeeds();
    assert_eq!(piped.stdout, named.stdout);
}

#[test]
fn the_extension_determines_the_output_format() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let plain = abduce(&["sample", &model, "-n", "9"]).succeeds().stdout;
    for name in ["t.csv", "t.txt", "t", "t.tsv", "t.csv.gz", "t.tsv.zst"] {
        let path = files.path(name);
        abduce(&["sample", &model, "-n", "9", "-o", &path]).succeeds();
        let bytes = std::fs::read(&path).unwrap();
        match name {
            "t.tsv" => assert_eq!(files.read(name), plain.replace(',', "\t")),
            "t.csv.gz" => assert_eq!(bytes[..2], [0x1f, 0x8b]),
            "t.tsv.zst" => assert_eq!(bytes[..4], [0x28, 0xb5, 0x2f, 0xfd]),
            _ => assert_eq!(files.read(name), plain),
        }
        if name.starts_with("t.csv") || name.starts_with("t.tsv") {
            let read = abduce(&["score", &model, &path]).succeeds();
            assert_eq!(read.lines().len(), 10, "{name}");
        }
    }
}

#[test]
fn predict_reports_rows_of_density_0() {
    let files = Files::new();
    let table = files.write("t.csv", "c,n\na,0\na,1\na,2\nb,3\nb,4\nb,0\n");
    let fit = [
        "naive-bayes",
        &table,
        "--target",
        "c",
        "--family",
        "n=exponential",
    ];
    let kinds = ["--kind", "n=real"];
    let model = files.fit(&[&fit[..], &kinds].concat());
    let new = files.write("new.csv", "n\n1\n-1\n\"\"\n-3\n");
    let outcome = abduce(&["predict", &model, &new]).succeeds();
    assert_eq!(outcome.lines().len(), 5);
    let words = "2 rows are impossible under the model (first: row 2)";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    let possible = files.write("new.csv", "n\n1\n\"\"\n");
    let outcome = abduce(&["predict", &model, &possible]).succeeds();
    assert!(!outcome.stderr.contains("impossible"), "{}", outcome.stderr);
}

#[test]
fn empty_rows_do_not_change_the_shared_covariance() {
    let files = Files::new();
    // 20 complete and 480 empty rows of a wide class, 500 complete rows of a narrow one.
    let wide: Vec<f64> = (0..20)
        .map(|i| 6.0 * f64::from(i * 7 % 20 - 10) / 5.0)
        .collect();
    let narrow: Vec<f64> = (0..500)
        .map(|i| 3.0 + f64::from(i * 37 % 100 - 50) / 30.0)
        .collect();
    let row = |class: &'static str| move |x: &f64| format!("{class},{x}\n");
    let rows: String = (wide.iter().map(row("a")))
        .chain((0..480).map(|_| "a,\n".to_string()))
        .chain(narrow.iter().map(row("b")))
        .collect();
    let table = files.write("rows.csv", format!("y,x\n{rows}"));
    let model = files.fit(&[
        "gda",
        &table,
        "--target=y",
        "--covariance=tied",
        "--variance-floor=0",
    ]);
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let scatter = |x: &[f64]| x.iter().map(|y| (y - mean(x)).powi(2)).sum::<f64>();
    let variance = (scatter(&wide) + scatter(&narrow)) / 520.0;
    let outcome = abduce(&["predict", &model, &table, "--proba"]).succeeds();
    for (line, x) in outcome.lines()[1..21].iter().zip(&wide) {
        let log = |entry: &[f64]| -0.5 * (x - mean(entry)).powi(2) / variance;
        let expected = 1.0 / (1.0 + (log(&narrow) - log(&wide)).exp());
        let found: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
        assert!(
            (found - expected).abs() < 1e-9,
            "{x}: {line}, not {expected}"
        );
    }
}

#[test]
fn a_given_number_is_written_unchanged_in_samples() {
    let files = Files::new();
    let rows = (0..40).map(|i| format!("{},{}\n", 100 + i % 13, i % 7));
    let table = files.write("t.csv", format!("i,z\n{}", rows.collect::<String>()));
    let model = files.fit(&["mixture", &table, "-k", "1"]);
    let outcome = abduce(&["sample", &model, "-n", "3", "--given", "i=110.5"]).succeeds();
    for line in &outcome.lines()[1..] {
        assert!(line.starts_with("110.5,"), "{line}");
    }
}

#[test]
fn any_categorical_column_can_be_predicted_from_the_others() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let model = files.fit(&["naive-bayes", &penguins, "--target", "species"]);
    let predict = ["predict", &model, &penguins, "--target"];
    let islands = abduce(&[&predict[..], &["island", "--proba"]].concat()).succeeds();
    let mut lines = islands.stdout.lines();
    let header = lines.next().unwrap();
    assert_eq!(header, "prediction,P(Biscoe),P(Dream),P(Torgersen)");
    for line in lines.clone() {
        let cells: Vec<f64> = line
            .split(',')
            .skip(1)
            .map(|p| p.parse().unwrap())
            .collect();
        assert!((cells.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line}");
    }
    assert_eq!(lines.count(), 344);
    // Naming the target of the model is the default.
    let species = abduce(&[&predict[..], &["species"]].concat()).succeeds();
    let default = abduce(&["predict", &model, &penguins]).succeeds();
    assert_eq!(species.stdout, default.stdout);
    abduce(&[&predict[..], &["year"]].concat()).fails(2, &["--target", "no levels"]);
}
