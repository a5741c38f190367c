//! Control characters, names that are not UTF-8, huge numbers, and concurrent processes.

use crate::run::{Files, abduce, command, data};

const CONTROL_CHARACTERS: &str = "a\u{1b}[2J\u{202e}b\u{7}";

#[test]
fn control_characters_are_written_to_files_but_not_to_the_terminal() {
    let files = Files::new();
    let mut table = format!("x,{CONTROL_CHARACTERS},y\n");
    for row in 0..40 {
        let class = if row % 2 == 0 {
            CONTROL_CHARACTERS
        } else {
            "plain"
        };
        let level = if row % 3 == 0 {
            "\"c\u{1b}]0;t\u{7}\nd\""
        } else {
            "e"
        };
        table += &format!("{}.{row},{level},{class}\n", row % 2);
    }
    let table = files.write("table.csv", table);
    let model = files.fit(&["naive-bayes", &table, "--target", "y"]);
    let runs: [&[&str]; 6] = [
        &["fit", "naive-bayes", &table, "--target", "y"],
        &["show", &model],
        &["explain", &model, &table, "--row", "1"],
        &[
            "evaluate",
            "naive-bayes",
            &table,
            "--target",
            "y",
            "--folds",
            "2",
        ],
        &["fit", "naive-bayes", &table, "--target", "z\u{1b}[1m"],
        &["show", &files.path("none\u{1b}[1m.abduce")],
    ];
    for arguments in runs {
        let outcome = abduce(arguments);
        let printed = outcome.stdout + &outcome.stderr;
        assert!(printed.contains("\\u{1b}["), "{arguments:?}: {printed}");
        let safe = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(printed.chars().all(safe), "{arguments:?}: {printed:?}");
    }
    let data = abduce(&["predict", &model, &table]).succeeds().stdout;
    assert!(data.contains(CONTROL_CHARACTERS));
    let document = abduce(&["show", &model, "--json"]).succeeds().json();
    assert!(document.to_string().contains("\u{202e}"));
}

#[test]
fn headings_are_still_colored() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "2"]);
    let shown = abduce(&["show", &model, "--color", "always"])
        .succeeds()
        .stdout;
    assert!(
        shown.starts_with("\u{1b}[1mmixture\u{1b}[0m\n"),
        "{shown:?}"
    );
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf_8_are_an_error() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let files = Files::new();
    let name = OsStr::from_bytes(b"mod\xffel.abduce");
    let model = files.folder().join(name);
    let penguins = data("penguins.csv");
    let mut fit = command(&["fit", "naive-bayes", &penguins, "--target", "species", "-o"]);
    assert!(fit.arg(&model).output().unwrap().status.success());
    let shown = command(&["show"]).arg(&model).output().unwrap();
    assert!(shown.status.success());
    let table = files.folder().join(OsStr::from_bytes(b"tab\xffle.csv"));
    let outcome = command(&["fit", "naive-bayes"])
        .arg(table)
        .output()
        .unwrap();
    assert_eq!(outcome.status.code(), Some(2));
    let stderr = String::from_utf8(outcome.stderr).unwrap();
    assert!(stderr.contains("is not valid UTF-8"), "{stderr}");
}

#[test]
fn rows_of_concurrent_updates_are_all_kept() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let model = files.fit(&["naive-bayes", &penguins, "--target", "species"]);
    let rows =
        |model: &str| abduce(&["show", model, "--json"]).succeeds().json()["fit"]["rows"].clone();
    let before = rows(&model).as_u64().unwrap();
    let start = || {
        command(&["update", &model, &penguins, "-q"])
            .spawn()
            .unwrap()
    };
    let running: Vec<_> = (0..6).map(|_| start()).collect();
    let statuses = running.into_iter().map(|mut child| child.wait().unwrap());
    let succeeded = statuses.filter(|status| status.success()).count() as u64;
    assert_eq!(succeeded, 6, "updates wait for each other");
    assert_eq!(rows(&model), before * (1 + succeeded));
    assert_eq!(files.names(), ["model.abduce"]);
}

#[test]
fn standard_input_is_bounded() {
    let mut fit = command(&["fit", "mixture", "-", "-k", "1"]);
    let table = std::fs::File::open(data("faithful.csv")).unwrap();
    fit.env("ABDUCE_SPOOL_LIMIT", "100").stdin(table);
    let outcome = fit.output().unwrap();
    assert_eq!(outcome.status.code(), Some(2));
    let stderr = String::from_utf8(outcome.stderr).unwrap();
    assert!(stderr.contains("standard input") && stderr.contains("ABDUCE_SPOOL_LIMIT"));
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_no_copy_of_standard_input() {
    use std::io::Write;
    use std::process::Stdio;
    let files = Files::new();
    let mut fit = command(&["fit", "mixture", "-", "-k", "1"]);
    fit.env("TMPDIR", files.folder()).stdin(Stdio::piped());
    let mut child = fit.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe can buffer, so that some of it has been copied.
    stdin.write_all(&b"1,2\n".repeat(1 << 18)).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(files.names(), [""; 0]);
}

#[test]
fn huge_numbers_in_options_are_an_error_or_work() {
    let files = Files::new();
    let rows = (0..12).map(|i| format!("{},{}.5,{}.25\n", i % 2, i * i % 17, i * 7 % 13));
    let table = files.write("t.csv", format!("y,x,z\n{}", rows.collect::<String>()));
    let model = files.fit(&["mixture", "-k1", &table]);
    let bootstrap = ["--select=bootstrap", "-k1-2", "--restarts=1"];
    for number in [
        "1000000000000000000",
        "9223372036854775808",
        "18446744073709551615",
    ] {
        let value = |option: &str| format!("{option}={number}");
        let runs: [(&[&str], String); 14] = [
            (&["fit", "mixture", &table, "-k2"], value("--restarts")),
            (&["fit", "kmeans", &table, "-k2"], value("--restarts")),
            (&["fit", "mixture", &table], value("--components")),
            (&["fit", "kmeans", &table], value("--components")),
            (
                &["fit", "kmeans", &table, "--medoids"],
                value("--components"),
            ),
            (
                &[&["fit", "mixture", &table], &bootstrap[..]].concat(),
                value("--replicates"),
            ),
            (
                &["evaluate", "naive-bayes", &table, "--target=y"],
                value("--folds"),
            ),
            (
                &[
                    "fit",
                    "naive-bayes",
                    &table,
                    "--target=y",
                    "--calibrate=platt",
                ],
                value("--calibration-folds"),
            ),
            (&["fit", "mixture", &table, "-k2"], value("--max-iter")),
            (&["fit", "kmeans", &table, "-k2"], value("--max-iter")),
            (&["fit", "histogram", &table, "--target=y"], value("--bins")),
            (&["fit", "knn", &table, "--target=y"], value("--neighbors")),
            (&["impute", &model, &table, "--how=draw"], value("--copies")),
            (&["score", &model, &table], value("--outliers")),
        ];
        for (arguments, option) in runs {
            let outcome = abduce(&[arguments, &[&option]].concat());
            let report = format!("{arguments:?} {option}: {}", outcome.stderr);
            assert!([0, 2].contains(&outcome.code), "{report}");
            assert!(!outcome.stderr.contains("panicked"), "{report}");
            let errors = outcome
                .stderr
                .lines()
                .filter(|line| line.starts_with("error: "));
            assert_eq!(errors.count(), usize::from(outcome.code == 2), "{report}");
        }
    }
}

#[test]
fn kmeans_assigns_empty_rows_to_the_largest_cluster() {
    let files = Files::new();
    let table = files.write("table.csv", "a,b\n9,9\n1,2\n2,1\n8,9\n,\n1,1\n");
    let model = files.fit(&["kmeans", &table, "-k", "2"]);
    let outcome = abduce(&["predict", &model, &table, "--proba"]).succeeds();
    assert_eq!(outcome.lines()[5], "1,1,0");
    let warning = "1 row without a number in any column of the model, assigned to the largest";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    assert_eq!(
        outcome.lines()[2],
        "1,1,0",
        "the largest cluster is the first"
    );
    let help = abduce(&["predict", "--help"]).succeeds().stdout;
    assert!(help.contains("row without any"));
}
