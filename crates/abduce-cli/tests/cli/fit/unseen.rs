//! Categories that are not in the fitted rows, and new values of constant columns.

use crate::run::{Files, abduce};

const ROWS: &str = "y,c,x\na,red,1\na,blue,2\na,blue,3\nb,blue,6\nb,green,7\nb,red,9\n";

#[test]
fn unseen_missing_scores_an_unseen_category_like_a_missing_value() {
    let files = Files::new();
    let table = files.write("rows.csv", ROWS);
    let new = files.write("new.csv", "c,x\nblack,2\n,2\n");
    for smoothing in ["--smoothing=0", "--smoothing=1", "--smoothing=m=3"] {
        let arguments = ["naive-bayes", &table, "--target=y", smoothing];
        let model = files.fit(&[&arguments[..], &["--unseen=missing"]].concat());
        for command in [
            &["score"][..],
            &["predict", "--proba"],
            &["score", "--outliers=2"],
        ] {
            let outcome = abduce(&[command, &[&model, &new]].concat()).succeeds();
            let lines = outcome.lines();
            let answer = |line: &str| line.split_once(',').map(|(_, entry)| entry.to_string());
            let (first, second) = match command.len() {
                1 => (lines[1].into(), lines[2].into()),
                _ => (answer(lines[1]).unwrap(), answer(lines[2]).unwrap()),
            };
            assert_eq!(
                first.rsplit_once(',').map_or(&*first, |entry| entry.1),
                second.rsplit_once(',').map_or(&*second, |entry| entry.1),
                "{command:?} {smoothing}: {}",
                outcome.stdout
            );
            assert!(!outcome.stderr.contains("impossible"), "{}", outcome.stderr);
        }
        let shown = abduce(&["show", &model]).succeeds();
        assert!(
            shown.stdout.contains("treated as missing values"),
            "{}",
            shown.stdout
        );
        // An update keeps the option --unseen.
        let more = files.write("more.csv", "y,c,x\na,red,2.5\nb,green,8\n");
        abduce(&["update", &model, &more]).succeeds();
        let scored = abduce(&["score", &model, &new]).succeeds();
        assert_eq!(scored.lines()[1], scored.lines()[2]);
    }
    let wrong = [
        "fit",
        "naive-bayes",
        &table,
        "--target=y",
        "--unseen=unlikely",
    ];
    abduce(&wrong).fails(2, &["--unseen"]);
    let wrong = ["fit", "kmeans", &table, "-k2", "--unseen=missing"];
    abduce(&wrong).fails(2, &["--unseen does not apply to kmeans"]);
}

#[test]
fn models_with_different_unseen_options_do_not_merge() {
    let files = Files::new();
    let table = files.write("rows.csv", ROWS);
    let fit = |name: &str, option: &str| {
        let model = files.path(name);
        let fit = ["fit", "naive-bayes", &table, "--target=y", option];
        abduce(&[&fit[..], &["-o", &model]].concat()).succeeds();
        model
    };
    let (a, b) = (
        fit("a", "--unseen=missing"),
        fit("b", "--unseen=impossible"),
    );
    let together = files.path("together");
    abduce(&["merge", &a, &b, "-o", &together]).fails(2, &["--unseen"]);
}

#[test]
fn impute_warns_of_rows_of_density_0() {
    let files = Files::new();
    let table = files.write("rows.csv", ROWS);
    let model = files.fit(&["naive-bayes", &table, "--target=y", "--smoothing=0"]);
    let new = files.write("new.csv", "y,c,x\na,black,\nb,blue,\nb,black,3\n");
    let outcome = abduce(&["impute", &model, &new]).succeeds();
    let warning = "1 row with missing values: impossible under the model";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
}

/// A table of two columns, and the same with a constant third column.
fn with_and_without_a_constant(files: &Files) -> [String; 2] {
    let rows = |more: &str| {
        let row = |i: i32| format!("{},{}{more}\n", f64::from(i * i) / 8.0, (i * 5) % 7);
        (0..16).map(row).collect::<String>()
    };
    [
        files.write("plain.csv", format!("x,z\n{}", rows(""))),
        files.write("wider.csv", format!("x,z,k\n{}", rows(",5.5"))),
    ]
}

#[test]
fn a_constant_column_changes_nothing_in_densities_and_clusters() {
    let files = Files::new();
    let tables = with_and_without_a_constant(&files);
    let new = files.write("new.csv", "x,z,k\n1,2,8\n");
    for model in [
        &["kde"][..],
        &["kde", "--covariance=full"],
        &["histogram", "--bins=4"],
        &["knn"],
        &["kmeans", "-k2"],
        &["kmeans", "-k2", "--standardize"],
        &["kmeans", "-k2", "--distance=mahalanobis"],
    ] {
        let [plain, wider] = tables.each_ref().map(|table| {
            let kinds = ["--kind=*=real", "--json"];
            let fitted = abduce(&[&["fit"], model, &[table], &kinds].concat());
            let fitted = fitted.succeeds().json();
            let file = files.fit(&[model, &[table, "--kind=*=real"]].concat());
            let scored = abduce(&["score", &file, &new]).succeeds();
            let score: f64 = scored.lines()[1].parse().unwrap();
            let numbers = ["log_likelihood", "bic", "parameters"];
            let numbers = numbers.map(|key| fitted[key].as_f64().unwrap_or(0.0));
            (numbers, score, scored.stderr, file)
        });
        let pairs = plain.0.iter().zip(&wider.0);
        for (a, b) in pairs.chain([(&plain.1, &wider.1)]) {
            assert!((a - b).abs() <= 1e-9 * a.abs(), "{model:?}: {a} {b}");
        }
        let note = "column k was constant when the model was fitted; 1 row with another value";
        assert!(wider.2.contains(note), "{model:?}: {}", wider.2);
        if model[0] != "knn" {
            let drawn = abduce(&["sample", &wider.3, "-n2"]).succeeds();
            assert!(drawn.lines()[1].ends_with(",5.5"), "{}", drawn.stdout);
        }
    }
}

#[test]
fn impute_and_explain_report_new_values_of_constant_columns() {
    let files = Files::new();
    let table = files.write("rows.csv", "y,x,k\na,1,5.5\na,2,5.5\nb,4,5.5\nb,6,5.5\n");
    let new = files.write("new.csv", "y,x,k\na,,8\nb,3,\n");
    let model = files.fit(&[
        "gda",
        &table,
        "--target=y",
        "--kind=*=real",
        "--kind=y=categorical",
    ]);
    let note = "column k was constant when the model was fitted; 1 row with another value";
    let imputed = abduce(&["impute", &model, &new]).succeeds();
    assert!(imputed.stderr.contains(note), "{}", imputed.stderr);
    assert!(imputed.lines()[2].ends_with(",5.5"), "{}", imputed.stdout);
    let explained = abduce(&["explain", &model, &new]).succeeds();
    assert!(explained.stderr.contains(note), "{}", explained.stderr);
}

#[test]
fn a_lower_bound_is_marked_in_the_file_as_not_converged() {
    let files = Files::new();
    let rows = |first: i32| {
        let cell = |i: i32| match i % 4 {
            0 => String::new(),
            _ => ((i * i) % 11).to_string(),
        };
        let rows = (first..first + 20).map(|i| format!("{},{}\n", (i * 7) % 13, cell(i)));
        format!("x,z\n{}", rows.collect::<String>())
    };
    let (first, more) = (
        files.write("a.csv", rows(0)),
        files.write("b.csv", rows(20)),
    );
    let model = files.fit(&["mixture", "-k1", "--kind=*=real", &first]);
    let shown = abduce(&["show", &model, "--json"]).succeeds().json();
    assert_eq!(shown["fit"]["log_likelihood_of"], "rows");
    assert_eq!(shown["fit"]["converged"], true);
    let updated = abduce(&["update", &model, &more, "--json"])
        .succeeds()
        .json();
    assert_eq!(updated["log_likelihood_of"], "bound");
    let shown = abduce(&["show", &model, "--json"]).succeeds().json();
    assert_eq!(shown["fit"]["log_likelihood_of"], "bound");
    assert_eq!(shown["fit"]["converged"], false);
    let shown = abduce(&["show", &model]).succeeds().stdout;
    assert!(shown.contains("(lower bound)"), "{shown}");
    assert!(shown.contains("not converged"), "{shown}");
}

#[test]
fn a_weighted_log_likelihood_is_marked() {
    let files = Files::new();
    let table = files.write("rows.csv", "y,x\na,1\na,2\na,2.5\nb,6\nb,7\nb,9\n,2\n,8\n");
    for (weight, of) in [("0", "weighted"), ("0.5", "weighted"), ("1", "rows")] {
        let weight = format!("--unlabelled={weight}");
        let fit = [
            "fit",
            "naive-bayes",
            &table,
            "--target=y",
            &weight,
            "--json",
        ];
        assert_eq!(abduce(&fit).succeeds().json()["log_likelihood_of"], of);
    }
    let model = files.fit(&["naive-bayes", &table, "--target=y", "--unlabelled=0.5"]);
    let shown = abduce(&["show", &model]).succeeds().stdout;
    assert!(shown.contains("(unlabelled rows weighted)"), "{shown}");
}

#[test]
fn an_unseen_category_of_a_tied_column_favours_no_class() {
    let files = Files::new();
    let table = files.write(
        "rows.csv",
        "y,c\na,red\na,blue\na,blue\na,red\nb,blue\nb,green\n",
    );
    let model = files.fit(&["naive-bayes", &table, "--target=y", "--tie=c"]);
    let new = files.write("new.csv", "c\nblack\nblue\n");
    let outcome = abduce(&["predict", &model, &new, "--proba"]).succeeds();
    for line in &outcome.lines()[1..] {
        let first: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
        assert!((first - 4.0 / 6.0).abs() < 1e-12, "{}", outcome.stdout);
    }
}

#[test]
fn an_unseen_category_has_the_smoothed_probability_of_its_own_cluster() {
    let files = Files::new();
    // 20 rows of one level near 0, and 180 rows of two levels near 20.
    let few = (0..20).map(|i| format!("{},p\n", f64::from(i) / 10.0));
    let many = (0..180).map(|i| {
        let level = if i % 2 == 0 { "q" } else { "r" };
        format!("{},{level}\n", 20.0 + f64::from(i) / 90.0)
    });
    let rows: String = few.chain(many).collect();
    let table = files.write("t.csv", format!("x,level\n{rows}"));
    let new = files.write("u.csv", "x,level\n,zz\n");
    let (few, many) = (1.0_f64 / 23.0, 1.0_f64 / 183.0);
    for seed in ["0", "1", "2", "3", "4", "5"] {
        let fit = [
            "mixture",
            &table,
            "-k",
            "2",
            "--smoothing",
            "1",
            "--seed",
            seed,
        ];
        let model = files.fit(&fit);
        let found = abduce(&["score", &model, &new]).succeeds();
        let found: f64 = found.lines()[1].parse().unwrap();
        let expected: f64 = (0.9 * many + 0.1 * few).ln();
        assert!(
            (found - expected).abs() < 1e-4,
            "seed {seed}: {found} {expected}"
        );
    }
}
