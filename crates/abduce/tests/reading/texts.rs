//! Folders of texts, mailboxes and svmlight files give the same rows as a table of the same
//! texts, in memory and streamed, on any number of threads. Errors name file and line.

use super::*;
use crate::common::with_threads;
use abduce::data::*;
use abduce::text::{Analyzer, AnalyzerOptions, Unit};
use proptest::prelude::*;
use std::slice::from_ref;

const TEXTS: [(&str, &str, &str); 5] = [
    ("ham", "a.txt", "see you at noon"),
    ("ham", "b.txt", "the train is late again"),
    ("ham", "c.txt", "at noon then"),
    ("spam", "1", "win a free prize"),
    ("spam", "2", "free cash, claim it now"),
];

/// Writes a file and creates its folders.
fn write_file(files: &Files, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = files.path(name);
    let folder = std::path::Path::new(&path).parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

fn write_texts(files: &Files) -> String {
    for (class, name, text) in TEXTS {
        write_file(files, &format!("mail/{class}/{name}"), text);
    }
    files.path("mail")
}

fn options() -> ReadOptions {
    ReadOptions {
        target: Some("class".into()),
        text: Some(TextOptions::default()),
        ..ReadOptions::default()
    }
}

fn open_files(paths: &[String], options: &ReadOptions) -> Opened {
    open(paths, options).unwrap_or_else(|error| panic!("{paths:?}: {error}"))
}

#[track_caller]
fn assert_same(left: &Opened, right: &Opened) {
    assert_eq!(left.source.schema(), right.source.schema());
    assert_eq!(chunks(left), chunks(right));
}

fn mailbox(messages: &[&str]) -> String {
    let one = |text: &&str| format!("From ann Mon Jan  1 10:00:00 2024\nSubject: {text}\n\n\n");
    messages.iter().map(one).collect()
}

#[test]
fn a_folder_equals_a_table_of_its_texts() {
    let files = Files::new();
    let folder = write_texts(&files);
    let rows: String = TEXTS
        .iter()
        .map(|(class, _, text)| format!("{class}\t{text}\n"))
        .collect();
    let table = files.write("mail.tsv", format!("class\ttext\n{rows}"));
    let folder = open_files(&[folder], &options());
    assert_eq!(fields(&folder)[0].levels, ["ham", "spam"]);
    assert!(folder.notes.is_empty(), "{:?}", folder.notes);
    assert_eq!(
        folder.files,
        [files.path("mail/ham"), files.path("mail/spam")]
    );
    assert_same(&folder, &open_files(&[table], &options()));
    let each = [files.path("mail/ham"), files.path("mail/spam")];
    assert_same(&folder, &open_files(&each, &options()));
    assert_same(&folder, &open_files(&[files.path("mail/*")], &options()));
}

#[test]
fn mailboxes_equal_a_table_of_their_messages() {
    let files = Files::new();
    let ham = mailbox(&["see you", "at noon"]);
    let spam = mailbox(&["win cash", "free prize", "claim it"]);
    let boxes = [
        write_file(&files, "boxes/ham.mbox", &ham),
        write_file(&files, "boxes/spam.mbox", &spam),
    ];
    let rows = "ham,see you\nham,at noon\nspam,win cash\nspam,free prize\nspam,claim it\n";
    let kinds = ReadOptions {
        kinds: super::kinds(&["text=text"]),
        ..options()
    };
    let table = open_files(
        &[files.write("t.csv", format!("class,text\n{rows}"))],
        &kinds,
    );
    let given = open_files(&boxes, &options());
    assert_same(&given, &table);
    assert_same(&given, &open_files(&[files.path("boxes")], &options()));
    let packed = [
        write_file(&files, "packed/ham.mbox.gz", gzip(ham.as_bytes())),
        write_file(
            &files,
            "packed/spam",
            zstd::encode_all(spam.as_bytes(), 3).unwrap(),
        ),
    ];
    assert_same(&given, &open_files(&packed, &options()));
    // Mailboxes in the folders of the classes.
    write_file(&files, "mail/ham/all", &ham);
    write_file(&files, "mail/spam/all.mbox", &spam);
    assert_same(&given, &open_files(&[files.path("mail")], &options()));
    let one = ReadOptions {
        target: None,
        ..options()
    };
    let alone = open_files(&boxes[..1], &one);
    assert_eq!(fields(&alone)[0].name, "text");
    assert_eq!((fields(&alone).len(), alone.source.rows()), (1, 2));
}

#[test]
fn the_line_of_a_message_is_its_line_in_the_mailbox() {
    let files = Files::new();
    let file = write_file(&files, "a.mbox", mailbox(&["one", "two"]));
    let mut rows = raw_rows(&[file], &ReadOptions::default()).unwrap();
    let batch = rows.next().unwrap().unwrap();
    assert_eq!((batch.line(0), batch.line(1)), (1, 5));
    assert_eq!(batch.cell(1, 0).text.trim(), "two");
}

#[test]
fn an_svmlight_file_equals_a_table_of_weighted_terms() {
    let files = Files::new();
    let svm =
        "# made by hand\n+1 qid:3 3:1 7:0.25 # the first\n\n-1 7:2 10:3e0\n1 3:0\n? 10:1 3:2\n";
    let options = ReadOptions {
        target: Some("label".into()),
        ..options()
    };
    let rows = open_files(&[files.write("a.svm", svm)], &options);
    assert_eq!(fields(&rows)[0].levels, ["-1", "1"]);
    assert_eq!(codes(&rows, 0), [Some(1), Some(0), Some(1), None]);
    let encoder = fields(&rows)[1].text.as_ref().unwrap();
    let terms: Vec<&str> = (0..3).filter_map(|at| encoder.encoding.term(at)).collect();
    assert_eq!(terms, ["10", "3", "7"]);
    let expected = Column::from_terms([
        Some(vec![(1, 1.0), (2, 0.25)]),
        Some(vec![(0, 3.0), (2, 2.0)]),
        Some(vec![]),
        Some(vec![(0, 1.0), (1, 2.0)]),
    ]);
    assert_eq!(chunks(&rows)[0].column(1), &expected);
    for (name, bytes) in [
        ("a.svmlight.gz", gzip(svm.as_bytes())),
        ("a.libsvm.zst", zstd::encode_all(svm.as_bytes(), 3).unwrap()),
    ] {
        assert_same(&rows, &open_files(&[files.write(name, bytes)], &options));
    }
    let pairs = ReadOptions {
        kinds: kinds(&["features=text"]),
        text: Some(TextOptions {
            analyzer: Analyzer::new(AnalyzerOptions {
                unit: Unit::Pairs,
                ..AnalyzerOptions::default()
            })
            .unwrap(),
            ..TextOptions::default()
        }),
        ..options.clone()
    };
    let table = "label,features\n1,3:1 7:0.25\n-1,7:2 10:3\n1,9:0\n?,10:1 3:2\n";
    let table = files.write("a.csv", table);
    assert_same(&rows, &open_files(from_ref(&table), &pairs));
    // Either is read with the schema of the other.
    let schema = rows.source.schema();
    let with = |path: &str| open_with(&[path.to_string()], &options, schema).unwrap();
    assert_same(&with(&table), &with(&files.path("a.svm")));
}

#[test]
fn results_are_identical_for_any_number_of_threads_and_streamed() {
    let files = Files::new();
    let words = ["cash", "noon", "prize", "train", "late", "free", "you"];
    let text = |i: usize| -> String {
        let picked = (0..i % 9).map(|j| words[(i * i + 3 * j) % 7]);
        picked.collect::<Vec<_>>().join(" ")
    };
    let messages: Vec<String> = (0..5000).map(text).collect();
    for (i, text) in messages.iter().take(300).enumerate() {
        write_file(&files, &format!("mail/{}/{i}", i % 3), text);
    }
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let svm: String = (0..9000)
        .map(|i| format!("{} {}:{} {}:0.5\n", i % 3, i % 50, i % 7, 50 + i % 11))
        .collect();
    let cases = [
        (vec![files.path("mail")], "class"),
        (
            vec![
                write_file(&files, "a.mbox", mailbox(&messages)),
                write_file(&files, "b.mbox", mailbox(&messages[..10])),
            ],
            "class",
        ),
        (vec![files.write("a.svm", svm)], "label"),
    ];
    for (paths, target) in cases {
        let options = ReadOptions {
            target: Some(target.into()),
            ..options()
        };
        let whole = open_files(&paths, &options);
        let none = ReadOptions {
            memory_budget: 0,
            ..options.clone()
        };
        assert_same(&whole, &open_files(&paths, &none));
        for threads in [1, 3] {
            with_threads(threads, || {
                assert_same(&whole, &open_files(&paths, &options))
            });
        }
    }
}

#[test]
fn hidden_files_and_files_outside_class_folders_are_left_out() {
    let files = Files::new();
    let folder = write_texts(&files);
    let before = open_files(from_ref(&folder), &options());
    write_file(&files, "mail/ham/.hidden", "secret");
    write_file(&files, "mail/.git/config", "secret");
    assert_same(&before, &open_files(from_ref(&folder), &options()));
    write_file(&files, "mail/spam/deep/er/0", "free and deep");
    let deeper = open_files(from_ref(&folder), &options());
    assert_eq!(codes(&deeper, 0)[3..], [Some(1); 3]);
    std::fs::remove_dir_all(files.path("mail/spam/deep")).unwrap();
    write_file(&files, "mail/README", "how this was made");
    let after = open_files(&[folder], &options());
    assert_same(&before, &after);
    assert!(after.notes[0].contains("README"), "{:?}", after.notes);
}

#[test]
fn texts_outside_class_folders_have_no_label() {
    let files = Files::new();
    write_file(&files, "new/2.txt", "caf\u{e9} at noon");
    write_file(&files, "new/1.txt", b"caf\xe9 for free");
    write_file(
        &files,
        "new/3.html",
        "<html><td>free</td><td>cash</td></html>",
    );
    let none = ReadOptions {
        target: None,
        ..options()
    };
    let new = [files.path("new")];
    let texts = |paths: &[String]| -> Vec<String> {
        let mut rows = raw_rows(paths, &ReadOptions::default()).unwrap();
        let batch = rows.next().unwrap().unwrap();
        let text = |row| {
            batch
                .cell(row, 0)
                .text
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        (0..batch.rows()).map(text).collect()
    };
    assert_eq!(texts(&new), ["café for free", "café at noon", "free cash"]);
    assert_eq!(fields(&open_files(&new, &none)).len(), 1);
    write_file(&files, "Maildir/cur/1:2,S", "Subject: one\n\nfirst\n");
    write_file(&files, "Maildir/new/2", "Subject: two\n\nsecond\n");
    std::fs::create_dir(files.path("Maildir/tmp")).unwrap();
    assert_eq!(texts(&[files.path("Maildir")]), ["one first", "two second"]);
    let both = open_files(&[write_texts(&files), files.path("new")], &options());
    let labels = [
        Some(0),
        Some(0),
        Some(0),
        Some(1),
        Some(1),
        None,
        None,
        None,
    ];
    assert_eq!(codes(&both, 0), labels);
    assert_eq!(both.missing_values, [3, 0]);
}

#[test]
fn short_texts_are_text_and_numeric_class_names_are_categories() {
    let files = Files::new();
    for (name, text) in [("1/a", "yes"), ("2/a", "no"), ("2/b", "yes")] {
        write_file(&files, &format!("mail/{name}"), text);
    }
    let none = ReadOptions {
        target: None,
        ..options()
    };
    let found = open_files(&[files.path("mail")], &none);
    let kinds: Vec<&str> = fields(&found).iter().map(|f| f.kind.name()).collect();
    assert_eq!(kinds, ["categorical", "text"]);
    let given = ReadOptions {
        kinds: super::kinds(&["text=categorical", "class=ordinal"]),
        ..none.clone()
    };
    let found = open_files(&[files.path("mail")], &given);
    let kinds: Vec<&str> = fields(&found).iter().map(|f| f.kind.name()).collect();
    assert_eq!(kinds, ["ordinal", "categorical"]);
    let renamed = ReadOptions {
        names: Some(vec!["label".into(), "message".into()]),
        drop: vec!["label".into()],
        ..none
    };
    let found = open_files(&[files.path("mail")], &renamed);
    assert_eq!(fields(&found)[0].name, "message");
}

#[test]
fn the_label_column_of_folders_and_svmlight_files_is_known() {
    let files = Files::new();
    let label = |paths: &[String], options: &ReadOptions| label_column(paths, options).unwrap();
    let default = ReadOptions::default();
    let mail = write_texts(&files);
    assert_eq!(label(from_ref(&mail), &default).as_deref(), Some("class"));
    let svm = files.write("a.svm", "1 1:1\n");
    assert_eq!(label(&[svm], &default).as_deref(), Some("label"));
    let table = files.write("a.csv", "class,text\n1,x\n");
    assert_eq!(label(&[table], &default), None);
    let mbox = files.write("a.mbox", mailbox(&["one"]));
    assert_eq!(label(&[mbox], &default), None);
    assert_eq!(label(&["-".into()], &default), None);
    assert_eq!(label(from_ref(&mail), &drop_columns(&["class"])), None);
    let named = ReadOptions {
        names: Some(vec!["y".into(), "x".into()]),
        ..default
    };
    assert_eq!(label(&[mail], &named).as_deref(), Some("y"));
}

#[test]
fn errors_in_svmlight_files_name_the_line() {
    let files = Files::new();
    for (bytes, message) in [
        ("1 1:1\n1 2:-3\n", ", line 2: 2 has the negative weight -3;"),
        (
            "1 1:1\n1,3 2:3\n",
            ", line 2: the line has several labels, 1,3;",
        ),
        (
            "1 1:1\n\n2:3\n",
            ", line 3: the line does not begin with a label",
        ),
        ("spam 1:1\n", ", line 1: the label \"spam\" is not a number"),
        ("1 1:x\n", ", line 1: \"1:x\" is not a term with its weight"),
        ("1 1\n", ", line 1: \"1\" is not a term with its weight"),
        ("1 a:1\n", ", line 1: \"a\" is not the number of a feature"),
        ("1 1:nan\n", ", line 1: \"1:nan\" is not"),
        ("1 1:1e200\n", ", line 1: 1 has the weight 1e200"),
        (
            "1 3:1 2:1 3:1\n",
            ", line 1: feature 3 is on the line twice",
        ),
        ("# nothing\n", ": there are no rows"),
        ("", ": there are no rows"),
    ] {
        let path = files.write("a.svm", bytes);
        let options = ReadOptions {
            target: Some("label".into()),
            ..options()
        };
        let error = open(from_ref(&path), &options).unwrap_err();
        let message_found = error.to_string();
        assert!(
            message_found.starts_with(&format!("{path}{message}")),
            "{message_found}"
        );
    }
}

#[test]
fn errors_in_folders_of_texts_name_the_file() {
    let files = Files::new();
    let assert_error = |name: &str, file: &str, message: &str| {
        let error = open(&[files.path(name)], &options()).unwrap_err();
        let expected = format!("{}: {message}", files.path(file));
        assert!(error.to_string().starts_with(&expected), "{error}");
    };
    std::fs::create_dir(files.path("empty")).unwrap();
    assert_error("empty", "empty", "there is no file in this folder");
    write_file(&files, "half/ham/1", "text");
    std::fs::create_dir(files.path("half/spam")).unwrap();
    let half = open_files(&[files.path("half")], &options());
    let empty = |note: &String| note.contains("half/spam: there is no file in this folder");
    assert!(
        half.source.rows() == 1 && half.notes.iter().any(empty),
        "{:?}",
        half.notes
    );
    write_file(&files, "tables/1.csv", "a,b\n1,2\n");
    assert_error(
        "tables",
        "tables/1.csv",
        "this is a table in a folder of texts",
    );
    write_file(&files, "pictures/a/1.png", b"\x89PNG\0\0");
    assert_error("pictures", "pictures/a/1.png", "this file is not text");
    write_file(&files, "packed/a/1.txt.gz", &gzip(b"some text")[..12]);
    assert_error(
        "packed",
        "packed/a/1.txt.gz",
        "the compressed file is cut short",
    );
    #[cfg(unix)]
    {
        write_file(&files, "lost/a/1", "text");
        std::os::unix::fs::symlink("nowhere", files.path("lost/a/2")).unwrap();
        assert_error("lost", "lost/a/2", "there is no such file");
        write_file(&files, "loop/a/1", "text");
        std::os::unix::fs::symlink("..", files.path("loop/a/up")).unwrap();
        assert_eq!(
            open_files(&[files.path("loop")], &options()).source.rows(),
            1
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_files_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        lines in "([0-9:,.# \n-]|qid|e|From |10:10|Subject: ){0,60}",
    ) {
        let files = Files::new();
        for content in [&bytes[..], lines.as_bytes()] {
            for name in ["a.svm", "a.mbox", "mail/x/1"] {
                let path = write_file(&files, name, content);
                let path = if name.starts_with("mail") { files.path("mail") } else { path };
                let _ = open(&[path], &ReadOptions { target: None, ..options() });
            }
        }
    }
}
