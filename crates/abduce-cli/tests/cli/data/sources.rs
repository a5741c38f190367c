//! Folders of texts, mailboxes and svmlight files, wherever data are taken.

use crate::run::{Files, Ran, abduce, data};

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
fn written(files: &Files) -> [Vec<String>; 3] {
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

fn run(command: &[&str], paths: &[String], more: &[&str]) -> Ran {
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    abduce(&[command, &paths, more].concat())
}

/// A model without what it says of its files and its time.
fn body(files: &Files, name: &str) -> serde_json::Value {
    let model: serde_json::Value = serde_json::from_str(&files.read(name)).unwrap();
    model["body"].clone()
}

#[test]
fn a_folder_mailboxes_and_a_table_of_the_same_messages_are_one_model() {
    let files = Files::new();
    let sources = written(&files);
    for (number, paths) in sources.iter().enumerate() {
        let model = files.path(&format!("{number}.abduce"));
        let target: &[&str] = if number == 2 {
            &["--target", "class"]
        } else {
            &[]
        };
        let more = [&["-o", &model], target].concat();
        run(&["fit", "naive-bayes"], paths, &more).good();
    }
    let expected = body(&files, "2.abduce");
    assert_eq!(body(&files, "0.abduce"), expected);
    assert_eq!(body(&files, "1.abduce"), expected);
    for threads in ["1", "3"] {
        let model = files.path("threads.abduce");
        let more = ["-o", &model, "--threads", threads, "--memory", "0"];
        run(&["fit", "naive-bayes"], &sources[0], &more).good();
        assert_eq!(body(&files, "threads.abduce"), expected);
    }
    // Each model answers about each source, and about new texts alone.
    let (folder, table) = (files.path("0.abduce"), files.path("2.abduce"));
    let answer =
        |model: &str, paths: &[String]| run(&["predict", model], paths, &["--proba"]).good().stdout;
    let expected = answer(&table, &sources[2]);
    for paths in &sources {
        assert_eq!(answer(&folder, paths), expected);
    }
    std::fs::create_dir(files.path("new")).unwrap();
    files.write("new/1.txt", "claim your free prize");
    files.write("new/2.txt", "see you at home tonight");
    let ran = run(&["predict", &folder], &[files.path("new")], &[]).good();
    assert_eq!(ran.stdout, "prediction\nspam\nham\n");
    let alone = run(&["predict", &folder], &sources[1][1..], &[]).good();
    assert!(
        alone.lines()[1..]
            .iter()
            .filter(|said| **said == "spam")
            .count()
            > 5
    );
}

#[test]
fn every_command_reads_a_folder() {
    let files = Files::new();
    let [folder, boxes, _] = written(&files);
    let model = files.path("m.abduce");
    run(&["fit", "naive-bayes"], &folder, &["-o", &model]).good();
    let rows = messages().len();
    let ran = run(&["score", &model], &folder, &[]).good();
    assert_eq!(ran.lines().len(), rows + 1);
    run(&["explain", &model], &folder, &["--row", "1"]).good();
    let ran = run(&["impute", &model], &folder, &[]).good();
    assert!(ran.stdout.starts_with("class,text\n"), "{}", ran.stdout);
    for paths in [&folder, &boxes] {
        let more = ["--folds", "4", "--ngrams", "1-2", "--json"];
        let report = run(&["evaluate", "naive-bayes"], paths, &more)
            .good()
            .json();
        assert_eq!(report["rows"], rows);
        assert!(
            report["accuracy"]["all"].as_f64().unwrap() > 0.7,
            "{}",
            report["accuracy"]
        );
    }
    let mixture = ["-k", "2", "--drop", "class"];
    run(&["fit", "mixture"], &folder, &mixture).good();
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
        let ran = abduce(&fit).good();
        assert!(ran.stderr.contains("features"), "{}", ran.stderr);
        let ran = abduce(&["predict", &model, &new]).good();
        assert_eq!(ran.stdout, "prediction\n1\n2\n", "{event}");
        assert!(ran.stderr.contains("1 word is not"), "{}", ran.stderr);
        assert_eq!(
            abduce(&["predict", &model, &table]).good().stdout,
            ran.stdout
        );
        let evaluate = ["evaluate", "naive-bayes", &rows, "--event", event];
        let report = abduce(&[&evaluate[..], &["--folds", "3", "--json"]].concat());
        assert_eq!(report.good().json()["rows"], 6);
    }
    abduce(&["explain", &model, &new, "--row", "1"]).good();
    abduce(&["show", &model]).good();
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
    abduce(&[&fit[..], &pairs, &["-o", &other]].concat()).good();
    assert_eq!(body(&files, "m.abduce"), body(&files, "other.abduce"));
}

#[test]
fn text_options_without_text_columns_are_noted() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let fit = |more: &[&str]| {
        let fit = ["fit", "naive-bayes", &penguins, "--target", "species"];
        abduce(&[&fit[..], more].concat()).good().stderr
    };
    let said = fit(&["--ngrams", "1-2", "--min-df", "2"]);
    assert!(said.contains("--ngrams, --min-df have no effect"), "{said}");
    assert!(!fit(&[]).contains("no effect: "));
    let rows = files.write("rows.svm", ROWS);
    let svm = abduce(&["fit", "naive-bayes", &rows, "--stop-words", "english"]).good();
    assert!(
        svm.stderr.contains("--stop-words has no effect"),
        "{}",
        svm.stderr
    );
    let evaluate = ["evaluate", "naive-bayes", &rows, "--folds", "2"];
    let ran = abduce(&[&evaluate[..], &["--hash-bits", "8"]].concat()).good();
    assert!(
        ran.stderr.contains("--hash-bits has no effect"),
        "{}",
        ran.stderr
    );
    let table = data("messages.tsv");
    let text = ["fit", "naive-bayes", &table, "--target", "label"];
    let ran = abduce(&[&text[..], &["--ngrams", "1-2"]].concat()).good();
    assert!(!ran.stderr.contains("no effect: "), "{}", ran.stderr);
    let pairs = ["--terms", "pairs", "--ngrams", "2"];
    abduce(&[&text[..], &pairs].concat()).fails(2, &["not supported for terms with weights"]);
}

#[test]
fn a_damaged_source_is_reported_once_with_its_position() {
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
