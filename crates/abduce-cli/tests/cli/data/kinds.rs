//! Kinds of columns on the command line: patterns, schema files, and hints that work.

use crate::run::*;

const SCANS: &str = "p1,p2,y\n0,0,a\n1,16,b\n0,2,a\n1,9,b\n1,15,a\n0,1,b\n";

#[test]
fn a_schema_gives_the_kinds_of_other_files() {
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
        let outcome = abduce(&[&fit[..], &["--json"]].concat()).succeeds();
        assert_eq!(
            outcome.json()["columns"][0]["kind"],
            "real",
            "{}",
            outcome.stdout
        );
        assert_eq!(outcome.json()["columns"][1]["kind"], "real");
    }
    let fit = ["fit", "naive-bayes", &half, "--target", "y"];
    let over = [
        &fit[..],
        &["--schema", &model, "--kind", "p2=count", "--json"],
    ]
    .concat();
    assert_eq!(
        abduce(&over).succeeds().json()["columns"][1]["kind"],
        "count"
    );
    let wrong = files.write("wrong.txt", "p1=real\np2=tall\n");
    abduce(&[&fit[..], &["--schema", &wrong]].concat()).fails(2, &["wrong.txt", "line 2", "tall"]);
    let other = files.write("other.txt", "z=real\n");
    abduce(&[&fit[..], &["--schema", &other]].concat()).fails(2, &["--schema", "none"]);
}

/// The options that an error suggests after "pass " or "again with ", up to a comma or the end.
fn hinted_options(stderr: &str) -> Vec<String> {
    let error = stderr
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap();
    let words = ["pass ", "with "];
    let hint = words.iter().find_map(|word| error.split(word).nth(1));
    let hint = hint.unwrap_or_else(|| panic!("{error}"));
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
fn following_the_hint_about_a_kind_fixes_the_error() {
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
        assert_succeeds_with_its_hint(&[&["fit", model, &table][..], &arguments].concat());
    }
}

/// Runs a command that fails, and again with the options that its error suggests.
fn assert_succeeds_with_its_hint(arguments: &[&str]) {
    let outcome = abduce(arguments);
    assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
    let hinted_options = hinted_options(&outcome.stderr);
    assert!(!hinted_options.is_empty(), "{}", outcome.stderr);
    let options: Vec<&str> = hinted_options.iter().map(String::as_str).collect();
    abduce(&[arguments, &options].concat()).succeeds();
}

#[test]
fn following_the_hint_about_a_family_fixes_the_error() {
    let files = Files::new();
    let rows = "y,x,w,d\na,1.5,r,1\nb,2.5,g,2\na,3.5,r,1\nb,4,b,2\na,-1,r,2\n";
    let table = files.write("t.csv", rows);
    for arguments in [
        &["naive-bayes", "--target", "y", "--family", "w=gaussian"][..],
        &["naive-bayes", "--target", "y", "--family", "x=categorical"],
        &["naive-bayes", "--target", "y", "--family", "x=poisson"],
        &["naive-bayes", "--target", "y", "--family", "x=gamma"],
        &["naive-bayes", "--target", "y", "--family", "w=bernoulli"],
        &[
            "mixture",
            "-k",
            "1",
            "--kind",
            "d=categorical",
            "--family",
            "d=gamma",
        ],
        &[
            "kmeans",
            "-k",
            "2",
            "--columns",
            "d",
            "--kind",
            "d=categorical",
        ],
        &[
            "gda",
            "--target",
            "d",
            "--columns",
            "x,d",
            "--kind",
            "d=real",
        ],
        &[
            "kde",
            "--target",
            "d",
            "--columns",
            "x,d",
            "--kind",
            "d=real",
        ],
    ] {
        assert_succeeds_with_its_hint(&[&["fit", arguments[0], &table], &arguments[1..]].concat());
    }
}

#[test]
fn following_the_hint_of_update_or_merge_fixes_the_error() {
    let files = Files::new();
    let counts = files.write("counts.csv", "y,n\na,0\nb,1\na,2\nb,1\na,3\nb,0\n");
    let reals = files.write("reals.csv", "y,n\na,0.5\nb,1\na,2\nb,1\na,3\nb,0\n");
    let words = files.write("words.csv", "y,n\na,u\nb,v\na,u\nb,v\na,u\nb,v\n");
    let merged = files.path("merged.abduce");
    for other in [&reals, &words] {
        let fit = |table: &String, hinted_options: &[String]| {
            let model = format!("{table}.abduce");
            let fit = ["fit", "naive-bayes", table, "--target", "y", "-o", &model];
            let hinted_options: Vec<&str> = hinted_options.iter().map(String::as_str).collect();
            abduce(&[&fit[..], &hinted_options].concat()).succeeds();
            model
        };
        let update = |model: &str| abduce(&["update", model, other, "-o", &merged]);
        let outcome = update(&fit(&counts, &[]));
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        update(&fit(&counts, &hinted_options(&outcome.stderr))).succeeds();

        let merge = |hinted_options: &[String]| {
            let parts = [fit(&counts, hinted_options), fit(other, hinted_options)];
            abduce(&["merge", &parts[0], &parts[1], "-o", &merged])
        };
        let outcome = merge(&[]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        merge(&hinted_options(&outcome.stderr)).succeeds();
    }
}

/// Images of 64 pixels with values from 0 to 16; pixels near the edge are mostly 0.
fn images(rows: std::ops::Range<u32>) -> String {
    let names: Vec<String> = (0..64).map(|pixel| format!("pixel_{pixel}")).collect();
    let mut text = names.join(",") + ",digit\n";
    let mut state = 9_u32;
    for row in 0..rows.end {
        let mut line = String::new();
        for pixel in 0..64 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let edge = [0, 1, 6, 7].contains(&(pixel % 8));
            let drawn = state >> 16;
            let value = match (pixel, edge) {
                // Some pixels are constant, or differ in a single row.
                (0 | 32, _) => 0,
                (39, _) => u32::from(row == 12),
                (_, true) => drawn % 17 * u32::from(drawn.is_multiple_of(40)),
                (_, false) => drawn % 17,
            };
            line += &format!("{value},");
        }
        if rows.contains(&row) {
            text += &format!("{line}{}\n", row % 3);
        }
    }
    text
}

#[test]
fn halves_of_a_table_of_pixels_get_the_same_kinds_and_merge() {
    let files = Files::new();
    let halves = [("first.csv", 0..100), ("second.csv", 100..200)];
    let halves = halves.map(|(name, rows)| files.write(name, images(rows)));
    let kinds = |table: &String| {
        let fit = ["fit", "naive-bayes", table, "--target", "digit", "--json"];
        let outcome = abduce(&fit).succeeds().json();
        let columns = outcome["columns"].as_array().unwrap().clone();
        columns
            .iter()
            .map(|column| column["kind"].clone())
            .collect::<Vec<_>>()
    };
    let [first, second] = [kinds(&halves[0]), kinds(&halves[1])];
    assert_eq!(first, second);
    let models = halves.each_ref().map(|half| {
        let model = format!("{half}.abduce");
        abduce(&[
            "fit",
            "naive-bayes",
            half,
            "--target",
            "digit",
            "-o",
            &model,
        ])
        .succeeds();
        model
    });
    let merged = files.path("merged.abduce");
    let outcome = abduce(&["merge", &models[0], &models[1], "-o", &merged]).succeeds();
    assert!(!outcome.stderr.contains("twice"), "{}", outcome.stderr);
}

#[test]
fn spellings_of_yes_are_one_level_in_predictions() {
    let files = Files::new();
    let learned = files.write("a.csv", "s,y\nTRUE,a\nFALSE,b\nTRUE,a\nFALSE,b\n");
    let model = files.fit(&["naive-bayes", &learned, "--target", "y"]);
    let new = files.write("b.csv", "s\ntrue\n0\n1\nFalse\n");
    let outcome = abduce(&["predict", &model, &new]).succeeds();
    assert_eq!(
        outcome.lines()[1..],
        ["a", "b", "a", "b"],
        "{}",
        outcome.stderr
    );
    assert!(
        !outcome.stderr.contains("not seen in the fit"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn columns_of_integers_are_sampled_and_imputed_as_integers() {
    let files = Files::new();
    let table = files.write("a.csv", "m,l\n3750,1.5\n3800,2.5\n3251,1.25\n,2\n4100,3\n");
    let model = files.fit(&["mixture", &table, "-k", "1"]);
    let drawn = abduce(&["sample", &model, "-n", "20"]).succeeds();
    for line in &drawn.lines()[1..] {
        let (mass, length) = line.split_once(',').unwrap();
        assert!(!mass.contains('.') && length.contains('.'), "{line}");
    }
    let filled = abduce(&["impute", &model, &table]).succeeds();
    let cell = filled.lines()[4].split(',').next().unwrap().to_string();
    assert!(cell.parse::<i64>().is_ok(), "{cell}");
}

#[test]
fn fit_explains_how_kinds_are_inferred() {
    let files = Files::new();
    let table = files.write("a.csv", SCANS);
    let fit = ["fit", "naive-bayes", &table, "--target", "y"];
    assert!(abduce(&fit).succeeds().stderr.contains("inferred kinds"));
    let with_kinds = abduce(&[&fit[..], &["--kind", "*=real"]].concat()).succeeds();
    assert!(
        !with_kinds.stderr.contains("inferred kinds"),
        "{}",
        with_kinds.stderr
    );
}
