//! Bad input gets exit code 2 and one line that says where and what.

use crate::run::{Files, abduce, data};

#[test]
fn absent_empty_and_ragged_files_are_refused() {
    let files = Files::new();
    let fit = |path: &str| abduce(&["fit", "mixture", path, "-k", "1"]);
    fit(&files.path("absent.csv")).fails(2, &["absent.csv"]);
    fit(&files.path("*.nothing")).fails(2, &["*.nothing"]);
    fit(&files.write("empty.csv", "")).fails(2, &["empty.csv"]);
    fit(&files.write("header.csv", "a,b\n")).fails(2, &["header.csv", "no rows"]);
    fit(&files.write("ragged.csv", "a,b\n1,2\n3\n")).fails(2, &["ragged.csv", "line 3"]);
    fit(&files.write("twice.csv", "a,a\n1,2\n")).fails(2, &["twice.csv", "a"]);
}

#[test]
fn a_cell_of_the_wrong_kind_is_named() {
    let files = Files::new();
    let table = files.write("t.csv", "a,b\n1,2\ntall,3\n4,5\n");
    let fit = abduce(&["fit", "mixture", &table, "-k", "1", "--kind", "a=real"]);
    fit.fails(2, &["t.csv", "line 3", "\"a\"", "tall"]);
    let taken = abduce(&["fit", "mixture", &table, "-k", "1", "--missing", "tall"]);
    taken.good();
}

#[test]
fn an_unknown_column_is_refused_with_the_list_of_columns() {
    let penguins = data("penguins.csv");
    let fit = |option: &str, value: &str| {
        abduce(&["fit", "mixture", &penguins, "-k", "1", option, value])
    };
    for (option, value) in [
        ("--drop", "specis"),
        ("--weight", "specis"),
        ("--kind", "specis=real"),
    ] {
        fit(option, value).fails(2, &[option, "specis", "species, island"]);
    }
    fit("--columns", "specis").fails(2, &["no column \"specis\"", "species, island"]);
    fit("--family", "specis=poisson").fails(2, &["specis", "species, island"]);
    fit("--family", "island=poison").fails(2, &["poison", "poisson"]);
    fit("--family", "island").fails(2, &["--family"]);
    fit("--kind", "island=tall").fails(2, &["tall", "categorical"]);
    abduce(&["fit", "gda", &penguins, "--target", "specis"]).fails(2, &["specis", "species"]);
}

#[test]
fn a_target_without_labels_is_refused() {
    let files = Files::new();
    let table = files.write("t.csv", "a,b\n1,\n2,NA\n3,?\n");
    abduce(&["fit", "naive-bayes", &table, "--target", "b"]).fails(2, &["b"]);
}

#[test]
fn missing_columns_are_refused_and_unknown_levels_are_noted() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    abduce(&["predict", &model, &data("faithful.csv")]).fails(2, &["none of the model's columns"]);
    let table = files.write("t.csv", "island,year\nAtlantis,2007\n");
    let ran = abduce(&["predict", &model, &table]).good();
    assert_eq!(ran.lines().len(), 2);
    assert!(
        ran.stderr.contains("Atlantis") || ran.stderr.contains("island"),
        "{}",
        ran.stderr
    );
}

#[test]
fn wrong_usage_has_exit_code_two() {
    for arguments in [
        &["predict"][..],
        &["frobnicate"],
        &["query", "m.abduce"],
        &["fit", "mixture", "t.csv", "-k", "0"],
        &["fit", "mixture", "t.csv", "-k", "2", "--tol", "-1"],
        &["fit", "mixture", "t.csv", "-k", "2", "--delimiter", "abc"],
        &["fit", "mixture", "t.csv", "-k", "-1"],
        &["sample", "m.abduce", "-n", "-1"],
        &["--threads", "0", "tour"],
        &["--color", "sometimes", "tour"],
    ] {
        let ran = abduce(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn an_input_file_is_not_overwritten() {
    let files = Files::new();
    let table = files.write("t.csv", "a,b\n1,2\n2,3.5\n4,1\n3,\n");
    let before = files.read("t.csv");
    let model = files.fit(&["mixture", &table, "-k", "1"]);
    let kept = files.read("model.abduce");
    let words = &["-o would overwrite a file"];
    abduce(&["fit", "mixture", &table, "-k", "1", "-o", &table]).fails(2, words);
    for command in ["predict", "score", "impute"] {
        abduce(&[command, &model, &table, "-o", &table]).fails(2, words);
        abduce(&[command, &model, &table, "-o", &model]).fails(2, words);
    }
    abduce(&["sample", &model, "-o", &model]).fails(2, words);
    abduce(&["show", &model, "-o", &model]).fails(2, words);
    assert_eq!(files.read("t.csv"), before);
    assert_eq!(files.read("model.abduce"), kept);
}

#[test]
fn a_table_is_not_written_under_the_name_of_another_format() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "1"]);
    for name in ["t.parquet", "t.arrow", "t.feather", "t.jsonl", "t.jsonl.gz"] {
        let path = files.path(name);
        abduce(&["sample", &model, "-o", &path]).fails(2, &["CSV or TSV", ".csv"]);
    }
    assert_eq!(files.names(), ["model.abduce"]);
}

#[test]
fn negative_counts_are_refused_with_a_hint() {
    for (arguments, words) in [
        (&["fit", "mixture", "t.csv", "-k", "-1"][..], "at least 1"),
        (
            &["fit", "mixture", "t.csv", "--restarts", "-1"],
            "at least 1",
        ),
        (
            &["fit", "mixture", "t.csv", "--max-iter", "-1"],
            "at least 1",
        ),
        (&["fit", "mixture", "t.csv", "--tol", "-1e-3"], "0 or more"),
        (&["sample", "m.abduce", "-n", "-5"], "0 or more"),
        (&["tour", "--seed", "-5"], "0 or more"),
    ] {
        abduce(arguments).fails(2, &[words]);
    }
}

#[test]
fn kinds_of_a_fitted_model_cannot_be_changed() {
    let files = Files::new();
    let table = files.write("t.csv", "a,n\n1.5,0\n2,3\n4,1\n3,2\n");
    let model = files.fit(&["mixture", &table, "-k", "1", "--kind", "n=count"]);
    let word = files.write("w.csv", "a,n\n1,1\ntall,2\n");
    let ran = abduce(&["predict", &model, &word]);
    ran.fails(2, &["w.csv", "line 3", "--missing", "or correct the cell"]);
    assert!(!ran.stderr.contains("--kind"), "{}", ran.stderr);
    let half = files.write("h.csv", "a,n\n1,1.5\n");
    let ran = abduce(&["score", &model, &half]);
    let advice = "fit it again with --kind \"n=real\"";
    ran.fails(2, &["h.csv", "1.5 is not a count", advice, "?,1.5\""]);
    abduce(&["score", &model, &half, "--missing", "NA,1.5"]).good();
    assert_eq!(
        abduce(&["impute", &model, &half, "--kind", "n=real"]).code,
        2
    );
}

#[test]
fn repeated_options_are_refused_and_long_lists_are_shortened() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    let sample = abduce(&["sample", &model, "--given", "sex=male,sex=female"]);
    sample.fails(2, &["--given", "sex", "twice"]);
    let lines = files.write("t.jsonl", "{\"a\":1}\n{\"a\":1,\"a\":2}\n");
    abduce(&["fit", "mixture", &lines, "-k", "1"]).fails(2, &["line 2", "\"a\"", "twice"]);
    let families = "eruptions=exponential,waiting=poisson";
    let table = data("faithful.csv");
    let fit = ["fit", "mixture", &table, "-k", "1", "--family", families];
    abduce(&fit).good();
}

#[test]
fn the_number_of_threads_is_capped() {
    let ran = abduce(&["--threads", "100000", "tour"]).good();
    assert!(ran.stderr.contains("(100000 requested)"), "{}", ran.stderr);
}

#[test]
fn a_missing_model_file_is_reported_like_missing_data() {
    let files = Files::new();
    let absent = files.path("m.abduce");
    abduce(&["show", &absent]).fails(2, &["m.abduce", "there is no such file"]);
    let folder = files.path("");
    abduce(&["show", &folder]).fails(2, &["this is a folder"]);
}

#[test]
fn weights_that_are_all_zero_are_refused_by_every_model() {
    let files = Files::new();
    let table = files.write("t.csv", "x,y,w\n1,a,0\n2,b,0\n");
    for fit in [
        &["naive-bayes", &table, "--target", "y"][..],
        &["gda", &table, "--target", "y"],
        &["mixture", &table, "-k", "1", "--drop", "y"],
        &["kmeans", &table, "-k", "1", "--drop", "y"],
        &["kde", &table, "--drop", "y"],
    ] {
        let ran = abduce(&[&["fit"], fit, &["--weight", "w"]].concat());
        assert!(!ran.stderr.contains("no cell"), "{}", ran.stderr);
        ran.fails(2, &["every row has weight 0", "column \"w\""]);
    }
}

#[test]
fn a_number_beyond_double_precision_is_refused() {
    let files = Files::new();
    let table = files.write("t.csv", "x\n1\n1e309\n");
    abduce(&["fit", "mixture", &table, "-k", "1"]).fails(2, &["1e309", "1.8e308", "line 3"]);
}

#[test]
fn unsupported_output_formats_are_wrong_usage() {
    let files = Files::new();
    let table = data("faithful.csv");
    let model = files.fit(&["mixture", &table, "-k", "2"]);
    let out = |end: &str| files.path(&format!("out.{end}"));
    abduce(&["plot", &model, &table, "-o", &out("png")]).fails(2, &["out.png", ".svg"]);
    abduce(&["predict", &model, &table, "-o", &out("jsonl")]).fails(2, &["out.jsonl", ".csv"]);
    abduce(&["impute", &model, &table, "-o", &out("parquet")]).fails(2, &["out.parquet", ".csv"]);
}

#[test]
fn scores_without_a_density_are_refused_before_writing() {
    let files = Files::new();
    let text = files.write("t.csv", "m,y\nred red,a\nblue,b\ngreen,a\nblue blue,b\n");
    let complement = [
        "naive-bayes",
        &text,
        "--target",
        "y",
        "--event",
        "complement",
    ];
    let model = files.fit(&[&complement[..], &["--kind", "m=text"]].concat());
    let ran = abduce(&["score", &model, &text]);
    assert_eq!(ran.stdout, "");
    ran.fails(2, &["not densities"]);
    let table = data("faithful.csv");
    let model = files.fit(&["kmeans", &table, "-k", "2", "--distance", "manhattan"]);
    let ran = abduce(&["score", &model, &table]);
    assert_eq!(ran.stdout, "");
    ran.fails(2, &["no density"]);
}
