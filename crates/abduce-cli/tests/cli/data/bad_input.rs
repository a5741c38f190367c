//! Invalid input gives exit code 2 and one error line with position and reason.

use crate::run::{Files, abduce, data};

#[test]
fn absent_empty_and_ragged_files_are_an_error() {
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
    let with_missing = abduce(&["fit", "mixture", &table, "-k", "1", "--missing", "tall"]);
    with_missing.succeeds();
}

#[test]
fn unknown_columns_are_an_error_that_lists_the_columns() {
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
fn an_unknown_column_hints_at_a_misread_header() {
    let files = Files::new();
    let spaces = files.write("spaces.csv", "a b c\n1 2 x\n3 4 y\n");
    abduce(&["fit", "naive-bayes", &spaces, "--target", "c"])
        .fails(2, &["the only column is \"a b c\"", "--delimiter"]);
    let text = "a message that is far too long to be the name of a column of this table";
    let messages = files.write("messages.tsv", format!("ham\t{text}\nspam\tshort\n"));
    abduce(&["fit", "naive-bayes", &messages, "--target", "label"])
        .fails(2, &["no column \"label\"", "--no-header and --names"]);
}

#[test]
fn a_target_without_labels_is_an_error() {
    let files = Files::new();
    let table = files.write("t.csv", "a,b\n1,\n2,NA\n3,?\n");
    abduce(&["fit", "naive-bayes", &table, "--target", "b"]).fails(2, &["b"]);
}

#[test]
fn missing_columns_are_an_error_and_unseen_levels_give_a_note() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    abduce(&["predict", &model, &data("faithful.csv")]).fails(2, &["none of the model's columns"]);
    let table = files.write("t.csv", "island,year\nAtlantis,2007\n");
    let outcome = abduce(&["predict", &model, &table]).succeeds();
    assert_eq!(outcome.lines().len(), 2);
    assert!(
        outcome.stderr.contains("Atlantis") || outcome.stderr.contains("island"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn wrong_usage_has_exit_code_2() {
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
        let outcome = abduce(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
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
fn tables_are_not_written_with_the_extension_of_another_format() {
    let files = Files::new();
    let model = files.fit(&["mixture", &data("faithful.csv"), "-k", "1"]);
    for name in ["t.parquet", "t.arrow", "t.feather", "t.jsonl", "t.jsonl.gz"] {
        let path = files.path(name);
        abduce(&["sample", &model, "-o", &path]).fails(2, &["CSV or TSV", ".csv"]);
    }
    assert_eq!(files.names(), ["model.abduce"]);
}

#[test]
fn negative_numbers_are_an_error_with_a_hint() {
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
    let with_word = files.write("w.csv", "a,n\n1,1\ntall,2\n");
    let outcome = abduce(&["predict", &model, &with_word]);
    outcome.fails(2, &["w.csv", "line 3", "--missing", "or correct the cell"]);
    assert!(!outcome.stderr.contains("--kind"), "{}", outcome.stderr);
    let with_fraction = files.write("h.csv", "a,n\n1,1.5\n");
    let outcome = abduce(&["score", &model, &with_fraction]);
    let advice = "fit it again with --kind \"n=real\"";
    outcome.fails(2, &["h.csv", "1.5 is not a count", advice, "?,1.5\""]);
    abduce(&["score", &model, &with_fraction, "--missing", "NA,1.5"]).succeeds();
    assert_eq!(
        abduce(&["impute", &model, &with_fraction, "--kind", "n=real"]).code,
        2
    );
}

#[test]
fn duplicate_columns_in_options_and_keys_are_an_error() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    let sample = abduce(&["sample", &model, "--given", "sex=male,sex=female"]);
    sample.fails(2, &["--given", "sex", "twice"]);
    let lines = files.write("t.jsonl", "{\"a\":1}\n{\"a\":1,\"a\":2}\n");
    abduce(&["fit", "mixture", &lines, "-k", "1"]).fails(2, &["line 2", "\"a\"", "twice"]);
    let families = "eruptions=exponential,waiting=poisson";
    let table = data("faithful.csv");
    let fit = ["fit", "mixture", &table, "-k", "1", "--family", families];
    abduce(&fit).succeeds();
}

#[test]
fn the_number_of_threads_is_capped() {
    let outcome = abduce(&["--threads", "100000", "tour"]).succeeds();
    assert!(
        outcome.stderr.contains("(100000 requested)"),
        "{}",
        outcome.stderr
    );
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
fn weights_that_are_all_0_are_an_error_for_every_model() {
    let files = Files::new();
    let table = files.write("t.csv", "x,y,w\n1,a,0\n2,b,0\n");
    for fit in [
        &["naive-bayes", &table, "--target", "y"][..],
        &["gda", &table, "--target", "y"],
        &["mixture", &table, "-k", "1", "--drop", "y"],
        &["kmeans", &table, "-k", "1", "--drop", "y"],
        &["kde", &table, "--drop", "y"],
    ] {
        let outcome = abduce(&[&["fit"], fit, &["--weight", "w"]].concat());
        assert!(!outcome.stderr.contains("no cell"), "{}", outcome.stderr);
        outcome.fails(2, &["every row has weight 0", "column \"w\""]);
    }
}

#[test]
fn numbers_beyond_double_precision_are_an_error() {
    let files = Files::new();
    let table = files.write("t.csv", "x\n1\n1e309\n");
    abduce(&["fit", "mixture", &table, "-k", "1"]).fails(2, &["1e309", "1.8e308", "line 3"]);
}

#[test]
fn unsupported_output_formats_are_an_error() {
    let files = Files::new();
    let table = data("faithful.csv");
    let model = files.fit(&["mixture", &table, "-k", "2"]);
    let out = |end: &str| files.path(&format!("out.{end}"));
    abduce(&["plot", &model, &table, "-o", &out("png")]).fails(2, &["out.png", ".svg"]);
    abduce(&["predict", &model, &table, "-o", &out("jsonl")]).fails(2, &["out.jsonl", ".csv"]);
    abduce(&["impute", &model, &table, "-o", &out("parquet")]).fails(2, &["out.parquet", ".csv"]);
}

#[test]
fn scores_without_a_density_are_an_error_before_writing() {
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
    let outcome = abduce(&["score", &model, &text]);
    assert_eq!(outcome.stdout, "");
    outcome.fails(2, &["not densities"]);
    let table = data("faithful.csv");
    let model = files.fit(&["kmeans", &table, "-k", "2", "--distance", "manhattan"]);
    let outcome = abduce(&["score", &model, &table]);
    assert_eq!(outcome.stdout, "");
    outcome.fails(2, &["no density"]);
}
