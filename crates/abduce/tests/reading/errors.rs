//! Errors in files name the file, line and column and say what to do.

use super::*;
use abduce::data::*;
use abduce::{Error, ErrorKind};

fn fails(files: &Files, name: &str, bytes: impl AsRef<[u8]>) -> Error {
    open(&[files.write(name, bytes)], &ReadOptions::default()).unwrap_err()
}

#[test]
fn errors_in_tables_name_file_line_and_column() {
    let files = Files::new();
    for (name, bytes, message) in [
        (
            "a.csv",
            &b"a,b\n1,2\n3\n"[..],
            ", line 3: 1 cell where 2 are expected",
        ),
        (
            "a.csv",
            b"a,b\n1,2\n3,4,5\n",
            ", line 3: 3 cells where 2 are",
        ),
        (
            "a.csv",
            b"a,b\n\"1\n,2\n",
            ", line 2, column \"a\": a quote is opened here and never closed; close it, or pass",
        ),
        (
            "a.csv",
            b"a,b,c\n\"1\n1\",2,\"x\n1,2,3\n",
            ", line 3, column \"c\": a quote is opened here and never closed",
        ),
        (
            "a.csv",
            b"a,\"b\n1,2\n",
            ", line 1, column \"column_2\": a quote is opened",
        ),
        (
            "a.csv",
            b"a,b\n\"1\n2\",3,4\n",
            ", line 2: 3 cells where 2 are expected; a quote that opens",
        ),
        ("a.csv", b"", ": the file is empty"),
        ("a.csv", b"\n\n", ": the file is empty"),
        ("a.jsonl", b"", ": the file is empty"),
        ("a.csv", b"a,b\n", ": there are no rows"),
        (
            "a.csv",
            b"a,b,a\n1,2,3\n",
            ", column \"a\": columns 1 and 3",
        ),
        (
            "a.csv",
            b"a,b\n1,x\n2,caf\xe9\n",
            ", line 3, column \"b\": the text is not UTF-8",
        ),
        (
            "a.csv",
            b"a,b\n1,x\n\xc3,\xa9\n",
            ", line 3, column \"a\": the text is not",
        ),
        (
            "a.csv",
            b"a,caf\xe9\n1,x\n",
            ", line 1, column \"column_2\": the text is not",
        ),
        ("a.csv", b"\xff\xfex\0\n\0", ", line 1: the text is UTF-16"),
        ("a.csv", b"\xfe\xff\0x\0\n", ", line 1: the text is UTF-16"),
        (
            "a.csv",
            b"a\n1\ninf\n",
            ", line 3, column \"a\": inf is not a finite number; correct",
        ),
        (
            "a.csv",
            b"a\n1\n-1e200\n",
            ", line 3, column \"a\": -1e200 is too large",
        ),
        (
            "a.csv",
            b"a\n1\n1e999\n",
            ", line 3, column \"a\": 1e999 is beyond",
        ),
        (
            "a.jsonl",
            b"{\"a\":1}\n{\"a\":[1]}\n",
            ", line 2, column \"a\": the value is itself",
        ),
        (
            "a.jsonl",
            b"{\"a\":1}\n\n{\"a\":1\n",
            ", line 3: this is not a JSON object",
        ),
        (
            "a.jsonl",
            b"{\"a\":1}\n7\n",
            ", line 2: this is not a JSON object",
        ),
        (
            "a.jsonl",
            b"{\"a\":1}\n{\"a\":\"\xe9\"}\n",
            ", line 2: the text is not UTF-8",
        ),
        ("a.xlsx", b"PK", ": the file has no known extension"),
        ("a", b"x\n1\n", ": the file has no known extension"),
        ("a.parquet", b"x\n1\n", ": this is not a Parquet file"),
        ("a.arrow", b"x\n1\n", ": this is not an Arrow file"),
        ("a.csv.gz", b"x\n1\n", ": this is not a gzip file"),
        ("a.csv.zst", b"x\n1\n", ": this is not a Zstandard file"),
        (
            "a.parquet",
            b"PAR1junkjunkjunk",
            ": the Parquet file is cut short",
        ),
        (
            "a.arrow",
            b"ARROW1\0\0junkjunkjunk",
            ": the Arrow file is cut short",
        ),
        (
            "a.arrow",
            b"\xff\xff\xff\xff\x10\0\0\0junkjunk",
            ": the Arrow file is cut short",
        ),
        (
            "a.feather",
            b"FEA1\0\0",
            ": this is a Feather file of version 1",
        ),
    ] {
        let error = fails(&files, name, bytes);
        let expected = format!("{}{message}", files.path(name));
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    }
    let error = fails(&files, "a.xlsx", "PK").to_string();
    assert!(
        error.contains(".csv") && error.contains(".parquet"),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_an_io_error() {
    let files = Files::new();
    let read = |argument: &str| open(&[argument.to_string()], &ReadOptions::default()).unwrap_err();
    for (argument, message) in [
        (files.path("none.csv"), "no such file"),
        (files.path("*.nothing"), "no file has a name like this"),
        (files.path("."), "folder"),
    ] {
        let error = read(&argument);
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(error.file(), Some(argument.as_str()));
    }
    let twice = ["-".to_string(), "-".to_string()];
    let error = open(&twice, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
    assert!(open(&[], &ReadOptions::default()).is_err());
}

#[test]
fn unknown_columns_in_options_are_an_error_that_lists_the_columns() {
    let files = Files::new();
    let path = [files.write("a.csv", "a,b\n1,2\n")];
    let unknown = || vec!["c".to_string()];
    let default = ReadOptions::default;
    for (option, options) in [
        (
            "`drop`",
            ReadOptions {
                drop: unknown(),
                ..default()
            },
        ),
        (
            "there is no column",
            ReadOptions {
                columns: Some(unknown()),
                ..default()
            },
        ),
        (
            "`kind`",
            ReadOptions {
                kinds: kinds(&["c=real"]),
                ..default()
            },
        ),
        ("`target`", target("c")),
        (
            "`weight`",
            ReadOptions {
                weight: Some("c".into()),
                ..default()
            },
        ),
    ] {
        let error = open(&path, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        let text = error.to_string();
        assert!(text.contains(option) && text.contains("\"c\""), "{text}");
        assert!(text.contains("a, b"), "{text}");
    }
    let both = ReadOptions {
        drop: vec!["a".into()],
        ..target("a")
    };
    assert!(open(&path, &both).is_err());
    let quote = ReadOptions {
        delimiter: Some(b'"'),
        ..default()
    };
    assert_eq!(
        open(&path, &quote).unwrap_err().kind(),
        ErrorKind::Parameter
    );
    let names = ReadOptions {
        names: Some(unknown()),
        ..default()
    };
    let error = open(&path, &names).unwrap_err();
    assert!(
        error.to_string().contains("1 name is given for 2 columns"),
        "{error}"
    );
}

#[test]
fn cells_that_do_not_fit_the_requested_kind_are_named() {
    let files = Files::new();
    let text = "x,size,n\n1,large,1\n1.0,small,2.5\n10,medium,-1\n9,,x\n";
    let path = [files.write("a.csv", text)];
    for (kind, line, column, message) in [
        (
            "size=ordinal(small,large)",
            4,
            "size",
            "\"medium\" is not one of the levels",
        ),
        ("size=real", 2, "size", "\"large\" is not a number"),
        (
            "size=real",
            2,
            "size",
            "pass `kind=\"size=categorical\"` after",
        ),
        ("n=count", 3, "n", "2.5 is not a count"),
        ("n=real", 5, "n", "\"x\" is not a number"),
    ] {
        let options = ReadOptions {
            kinds: kinds(&[kind]),
            ..ReadOptions::default()
        };
        let error = open(&path, &options).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!((error.line(), error.column()), (Some(line), Some(column)));
    }
    let options = ReadOptions {
        kinds: kinds(&["x=binary"]),
        ..ReadOptions::default()
    };
    let error = open(&path, &options).unwrap_err();
    assert!(error.to_string().contains("1, 9, 10"), "{error}");
}

#[test]
fn weights_must_be_nonnegative_numbers() {
    let files = Files::new();
    let options = ReadOptions {
        weight: Some("w".into()),
        ..ReadOptions::default()
    };
    for (cell, message) in [
        ("-1", "negative"),
        ("", "missing"),
        ("NA", "missing"),
        ("much", "\"much\" is not a number"),
        ("inf", "not a finite number"),
    ] {
        let path = files.write("a.csv", format!("x,w\n1.5,0\n2,{cell}\n"));
        let error = open(&[path], &options).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!((error.line(), error.column()), (Some(3), Some("w")));
    }
}

#[test]
fn files_with_other_columns_are_an_error_with_file_and_column() {
    let files = Files::new();
    let first = files.write("a.csv", "x,y\n1,2\n");
    for (text, column) in [("x\n1\n", "y"), ("y,x,z\n1,2,3\n", "z")] {
        let second = files.write("b.csv", text);
        let error = open(&[first.clone(), second.clone()], &ReadOptions::default()).unwrap_err();
        assert_eq!(error.file(), Some(second.as_str()));
        assert_eq!(error.column(), Some(column));
    }
}

#[test]
fn line_numbers_count_quoted_line_ends_blank_lines_and_crlf() {
    let files = Files::new();
    for end in ["\n", "\r\n"] {
        let lines = [
            "a,b",
            "\"two\nlines\",1",
            "",
            "x,2",
            "\"q\"\"uote\",3",
            "y,oops",
        ];
        let path = [files.write("a.csv", lines.join(end))];
        let options = ReadOptions {
            kinds: kinds(&["b=real"]),
            ..ReadOptions::default()
        };
        let error = open(&path, &options).unwrap_err();
        assert_eq!(error.line(), Some(7), "{error}");
        let opened = open(&path, &drop_columns(&["b"])).unwrap();
        assert_eq!(
            fields(&opened)[0].levels,
            ["q\"uote", "two\nlines", "x", "y"]
        );
    }
}

#[test]
fn the_last_line_may_lack_a_line_end() {
    let files = Files::new();
    for text in [
        "a,b\n1,\"x\"",
        "a,b\n1,\"x\"\n",
        "a,b\r\n1,\"x\"\r\n",
        "a,b\n1,x",
    ] {
        let opened = open(&[files.write("a.csv", text)], &ReadOptions::default()).unwrap();
        assert_eq!(opened.source.rows(), 1, "{text:?}");
        assert_eq!(fields(&opened)[1].levels, ["x"], "{text:?}");
    }
}

#[test]
fn the_quote_character_can_be_changed_or_disabled() {
    let files = Files::new();
    let path = [files.write("a.tsv", "a\tb\n1\t\"x\n2\ty\"\n")];
    let none = ReadOptions {
        quote: None,
        ..ReadOptions::default()
    };
    let opened = open(&path, &none).unwrap();
    assert_eq!(opened.source.rows(), 2);
    assert_eq!(fields(&opened)[1].levels, ["\"x", "y\""]);
    let single = ReadOptions {
        quote: Some(b'\''),
        ..ReadOptions::default()
    };
    let path = [files.write("b.csv", "a,b\n1,'x,y'\n2,z\n")];
    let opened = open(&path, &single).unwrap();
    assert_eq!(fields(&opened)[1].levels, ["x,y", "z"]);
}

#[test]
fn a_quoted_cell_of_very_many_lines_gives_a_note() {
    let files = Files::new();
    let quoted = "x,y\n".repeat(145);
    let path = [files.write("a.csv", format!("a,b\nv,\"w\n{quoted}x,\"\nv,w\n"))];
    let opened = open(&path, &ReadOptions::default()).unwrap();
    assert_eq!(opened.source.rows(), 2);
    let is_about_quotes =
        |note: &String| note.contains("line 2: a quoted cell") && note.contains("`quote=none`");
    assert!(
        opened.notes.iter().any(is_about_quotes),
        "{:?}",
        opened.notes
    );
    let short = [files.write("b.csv", "a,b\nv,\"w\nx\"\n")];
    assert!(
        open(&short, &ReadOptions::default())
            .unwrap()
            .notes
            .is_empty()
    );
}

#[test]
fn misspelled_columns_get_a_suggestion() {
    let files = Files::new();
    let path = [files.write("a.csv", "species,island\nx,1\ny,2\n")];
    let error = |name: &str| open(&path, &target(name)).unwrap_err().to_string();
    assert!(error("specis").contains("did you mean species?"));
    assert!(error("Island").contains("did you mean island?"));
    assert!(!error("mass").contains("did you mean"));
    let text = open(&path, &drop_columns(&["species", "island"])).unwrap_err();
    assert!(!text.to_string().ends_with("; "), "{text}");
}
