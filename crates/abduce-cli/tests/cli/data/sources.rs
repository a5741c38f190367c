//! Folders of texts, mailboxes and svmlight files as input of every command.

use crate::run::{Files, Outcome, abduce, data};

/// The bundled messages: the label and the text of each.
fn messages() -> Vec<(String, String)> {
    let table = std::fs::read_to_string(data("messages.tsv")).unwrap();
    let rows = table.lines().skip(1).map(|line| {
        let (label, text) = line.split_once('\t').unwrap();
        (label.to_string(), text.to_string())
    });
    rows.collect()
}

/// The same messages sorted by class, as folders, mailboxes and a table.
fn write_sources(files: &Files) -> [Vec<String>; 3] {
    let mut sorted = messages();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let mut boxes = [String::new(), String::new()];
    let mut table = "class\ttext\n".to_string();
    for (number, (class, text)) in sorted.iter().enumerate() {
        let folder = files.path(&format!("mail/{class}"));
        std::fs::create_dir_all(&folder).unwrap();
        files.write(&format!("mail/{class}/{number:04}"), text);
        boxes[usize::from(class == "spam")] += &format!(
            "From ann Mon Jan  1 10:00:00 2024\nFrom: ann@example.org\n\
             Content-Type: text/plain; charset=utf-8\n\n{text}\n\n"
        );
        table += &format!("{class}\t{text}\n");
    }
    let [ham, spam] = boxes;
    [
        vec![files.path("mail")],
        vec![files.write("ham.mbox", ham), files.write("spam.mbox", spam)],
        vec![files.write("mail.tsv", table)],
    ]
}

fn run(command: &[&str], paths: &[String], more: &[&str]) -> Outcome {
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    abduce(&[command, &paths, more].concat())
}

/// The body of a model file, without provenance.
fn body(files: &Files, name: &str) -> serde_json::Value {
    let model: serde_json::Value = serde_json::from_str(&files.read(name)).unwrap();
    model["body"].clone()
}

#[test]
fn folders_mailboxes_and_tables_of_the_same_messages_give_the_same_model() {
    let files = Files::new();
    let sources = write_sources(&files);
    for (number, paths) in sources.iter().enumerate() {
        let model = files.path(&format!("{number}.abduce"));
        let target: &[&str] = if number == 2 {
            &["--target", "class"]
        } else {
            &[]
        };
        let more = [&["-o", &model], target].concat();
        run(&["fit", "naive-bayes"], paths, &more).succeeds();
    }
    let expected = body(&files, "2.abduce");
    assert_eq!(body(&files, "0.abduce"), expected);
    assert_eq!(body(&files, "1.abduce"), expected);
    for threads in ["1", "3"] {
        let model = files.path("threads.abduce");
        let more = ["-o", &model, "--threads", threads, "--memory", "0"];
        run(&["fit", "naive-bayes"], &sources[0], &more).succeeds();
        assert_eq!(body(&files, "threads.abduce"), expected);
    }
    // A model of one source predicts the others, and new texts.
    let (folder, table) = (files.path("0.abduce"), files.path("2.abduce"));
    let answer = |model: &str, paths: &[String]| {
        run(&["predict", model], paths, &["--proba"])
            .succeeds()
            .stdout
    };
    let expected = answer(&table, &sources[2]);
    for paths in &sources {
        assert_eq!(answer(&folder, paths), expected);
    }
    std::fs::create_dir(files.path("new")).unwrap();
    files.write("new/1.txt", "claim your free prize");
    files.write("new/2.txt", "see you at home tonight");
    let outcome = run(&["predict", &folder], &[files.path("new")], &[]).succeeds();
    assert_eq!(outcome.stdout, "prediction\nspam\nham\n");
    let alone = run(&["predict", &folder], &sources[1][1..], &[]).succeeds();
    assert!(
        alone.lines()[1..]
            .iter()
            .filter(|line| **line == "spam")
            .count()
            > 5
    );
}

#[test]
fn every_command_reads_a_folder() {
    let files = Files::new();
    let [folder, boxes, _] = write_sources(&files);
    let model = files.path("m.abduce");
    run(&["fit", "naive-bayes"], &folder, &["-o", &model]).succeeds();
    let rows = messages().len();
    let outcome = run(&["score", &model], &folder, &[]).succeeds();
    assert_eq!(outcome.lines().len(), rows + 1);
    run(&["explain", &model], &folder, &["--row", "1"]).succeeds();
    let outcome = run(&["impute", &model], &folder, &[]).succeeds();
    assert!(
        outcome.stdout.starts_with("class,text\n"),
        "{}",
        outcome.stdout
    );
    for paths in [&folder, &boxes] {
        let more = ["--folds", "4", "--ngrams", "1-2", "--json"];
        let report = run(&["evaluate", "naive-bayes"], paths, &more)
            .succeeds()
            .json();
        assert_eq!(report["rows"], rows);
        assert!(
            report["accuracy"]["all"].as_f64().unwrap() > 0.7,
            "{}",
            report["accuracy"]
        );
    }
    let mixture = ["-k", "2", "--drop", "class"];
    run(&["fit", "mixture"], &folder, &mixture).succeeds();
    run(&["fit", "naive-bayes"], &folder, &["--target", "label"]).fails(2, &["class, text"]);
    run(&["fit", "naive-bayes"], &boxes[..1], &[]).fails(2, &["naive-bayes needs --target"]);
    run(&["fit", "kde"], &folder, &["--drop", "class"]).fails(2, &["no column is left"]);
}

const ROWS: &str = "1 1:2 4:1 # first\n2 2:1.5 3:2\n1 1:1 3:0.5 4:2\n2 2:3 3:1\n1 4:3\n2 3:2\n";

#[test]
fn svmlight_files_work_with_every_text_model() {
    let files = Files::new();
    let rows = files.write("rows.svm", ROWS);
    let model = files.path("m.abduce");
    let new = files.write("new.svm", "0 1:1 4:1\n0 2:1 99:1\n");
    let table = files.write("new.csv", "features\n1:1 4:1\n2:1 99:1\n");
    for event in ["multinomial", "bernoulli", "complement"] {
        let fit = ["fit", "naive-bayes", &rows, "--event", event, "-o", &model];
        let outcome = abduce(&fit).succeeds();
        assert!(outcome.stderr.contains("features"), "{}", outcome.stderr);
        let outcome = abduce(&["predict", &model, &new]).succeeds();
        assert_eq!(outcome.stdout, "prediction\n1\n2\n", "{event}");
        assert!(
            outcome.stderr.contains("1 word is not"),
            "{}",
            outcome.stderr
        );
        assert_eq!(
            abduce(&["predict", &model, &table]).succeeds().stdout,
            outcome.stdout
        );
        let evaluate = ["evaluate", "naive-bayes", &rows, "--event", event];
        let report = abduce(&[&evaluate[..], &["--folds", "3", "--json"]].concat());
        assert_eq!(report.succeeds().json()["rows"], 6);
    }
    abduce(&["explain", &model, &new, "--row", "1"]).succeeds();
    abduce(&["show", &model]).succeeds();
    let text = files.write(
        "rows.csv",
        "label,features\n1,1:2 4:1\n2,2:1.5 3:2\n1,1:1 3:0.5 4:2\n2,2:3 3:1\n1,4:3\n2,3:2\n",
    );
    let pairs = ["--kind", "features=text", "--terms", "pairs"];
    let fit = [
        "fit",
        "naive-bayes",
        &text,
        "--target",
        "label",
        "--event",
        "complement",
    ];
    let other = files.path("other.abduce");
    abduce(&[&fit[..], &pairs, &["-o", &other]].concat()).succeeds();
    assert_eq!(body(&files, "m.abduce"), body(&files, "other.abduce"));
}

#[test]
fn text_options_without_text_columns_give_a_note() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let fit = |more: &[&str]| {
        let fit = ["fit", "naive-bayes", &penguins, "--target", "species"];
        abduce(&[&fit[..], more].concat()).succeeds().stderr
    };
    let notes = fit(&["--ngrams", "1-2", "--min-df", "2"]);
    assert!(
        notes.contains("--ngrams, --min-df have no effect"),
        "{notes}"
    );
    assert!(!fit(&[]).contains("no effect: "));
    let rows = files.write("rows.svm", ROWS);
    let svm = abduce(&["fit", "naive-bayes", &rows, "--stop-words", "english"]).succeeds();
    assert!(
        svm.stderr.contains("--stop-words has no effect"),
        "{}",
        svm.stderr
    );
    let evaluate = ["evaluate", "naive-bayes", &rows, "--folds", "2"];
    let outcome = abduce(&[&evaluate[..], &["--hash-bits", "8"]].concat()).succeeds();
    assert!(
        outcome.stderr.contains("--hash-bits has no effect"),
        "{}",
        outcome.stderr
    );
    let table = data("messages.tsv");
    let text = ["fit", "naive-bayes", &table, "--target", "label"];
    let outcome = abduce(&[&text[..], &["--ngrams", "1-2"]].concat()).succeeds();
    assert!(
        !outcome.stderr.contains("no effect: "),
        "{}",
        outcome.stderr
    );
    let pairs = ["--terms", "pairs", "--ngrams", "2"];
    abduce(&[&text[..], &pairs].concat()).fails(2, &["not supported for terms with weights"]);
}

#[test]
fn errors_in_sources_name_file_and_line() {
    let files = Files::new();
    let svm = files.write("bad.svm", "1 1:1\n2 7:-2\n");
    let fit = |path: &str| abduce(&["fit", "naive-bayes", path]);
    fit(&svm).fails(2, &["bad.svm, line 2", "7 has the negative weight -2"]);
    fit(&files.write("two.svm", "1,2 1:1\n")).fails(2, &["line 1", "several labels"]);
    std::fs::create_dir(files.path("empty")).unwrap();
    fit(&files.path("empty")).fails(2, &["empty", "no file in this folder"]);
    fit(&files.path("nowhere")).fails(2, &["nowhere", "no such file"]);
    std::fs::create_dir_all(files.path("mail/ham")).unwrap();
    files.write("mail/ham/1", "text");
    files.write("mail/ham/2.bin", b"\0\x01\x02");
    fit(&files.path("mail")).fails(2, &["2.bin", "not text"]);
}
