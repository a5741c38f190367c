//! `update`, `merge` and `forget` agree with fits of all the rows.

use crate::run::{Files, abduce, data};
use serde_json::Value;

/// The penguins in shards: the paths of the table and the fitted model of each.
fn shards(files: &Files, number: usize) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(data("penguins.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let mut shards = Vec::new();
    for (i, entry) in rows.chunks(rows.len().div_ceil(number)).enumerate() {
        let text = format!("{header}\n{}\n", entry.join("\n"));
        let table = files.write(&format!("part{i}.csv"), text);
        let model = files.path(&format!("part{i}.abduce"));
        fit(&[&table], &model);
        shards.push((table, model));
    }
    shards
}

fn fit(tables: &[&str], model: &str) {
    let mut all = vec!["fit", "naive-bayes"];
    all.extend(tables);
    all.extend([
        "--target",
        "species",
        "--kind",
        "year=categorical",
        "-o",
        model,
    ]);
    abduce(&all).succeeds();
}

fn predictions(model: &str) -> Vec<Vec<f64>> {
    let table = data("penguins.csv");
    let report = abduce(&["predict", model, &table, "--proba", "--json"]).succeeds();
    let report = report.json();
    let classes = report["probabilities"].as_object().unwrap().values();
    let list = |list: &Value| -> Vec<f64> {
        let numbers = list.as_array().unwrap().iter();
        numbers.map(|p| p.as_f64().unwrap()).collect()
    };
    classes.map(list).collect()
}

fn assert_same(a: &str, b: &str) {
    let (a, b) = (predictions(a), predictions(b));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn merging_seven_shards_and_forgetting_two_equals_fitting_the_other_five() {
    let files = Files::new();
    let shards = shards(&files, 7);
    let merged = files.path("merged.abduce");
    let mut all = vec!["merge"];
    all.extend(shards.iter().map(|(_, model)| model.as_str()));
    all.extend(["-o", &merged]);
    let report = abduce(&all).succeeds();
    assert!(
        report.stdout.contains("344 of 7 models"),
        "{}",
        report.stdout
    );
    let whole = files.path("whole.abduce");
    fit(&[&data("penguins.csv")], &whole);
    assert_same(&merged, &whole);

    for (table, _) in &shards[2..4] {
        abduce(&["forget", &merged, table]).succeeds();
    }
    let others = files.path("others.abduce");
    let tables: Vec<&str> = (0..7)
        .filter(|i| !(2..4).contains(i))
        .map(|i| shards[i].0.as_str())
        .collect();
    fit(&tables, &others);
    assert_same(&merged, &others);
    let parsed = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let (a, b) = (parsed(&merged), parsed(&others));
    assert_eq!(a["fit"]["rows"], b["fit"]["rows"]);
    assert_eq!(a["body"]["schema"], b["body"]["schema"]);
    assert_eq!(a["body"]["marks"], b["body"]["marks"]);
}

#[test]
fn an_update_reports_new_categories_and_replaces_the_file() {
    let files = Files::new();
    let old = files.write(
        "old.csv",
        "pet,weight,color\ncat,4,black\ndog,20,brown\ncat,5,white\n",
    );
    let new = files.write(
        "new.csv",
        "color,pet,weight,extra\nred,fox,7,1\nblack,cat,4.5,2\n",
    );
    let model = files.fit(&[
        "naive-bayes",
        &old,
        "--target",
        "pet",
        "--kind",
        "color=categorical",
    ]);
    let report = abduce(&["update", &model, &new, "--json"])
        .succeeds()
        .json();
    assert_eq!(
        (&report["rows"], &report["rows_before"]),
        (&5.into(), &3.into())
    );
    assert_eq!(report["classes"], serde_json::json!(["cat", "dog", "fox"]));
    let columns = report["columns"].as_array().unwrap();
    assert_eq!(columns[0]["new"], serde_json::json!(["fox"]));
    assert_eq!(columns[1]["new"], serde_json::json!(["red"]));
    let fox = files.write("fox.csv", "weight,color\n7,red\n");
    let predicted = abduce(&["predict", &model, &fox]).succeeds();
    assert_eq!(predicted.lines(), ["prediction", "fox"]);
    let report = abduce(&["forget", &model, &new]).succeeds();
    assert!(
        report.stdout.contains("gone in pet: fox"),
        "{}",
        report.stdout
    );
    let again = files.path("again.abduce");
    abduce(&[
        "fit",
        "naive-bayes",
        &old,
        "--target",
        "pet",
        "--kind",
        "color=categorical",
        "-o",
        &again,
    ])
    .succeeds();
    assert_eq!(predict(&model, &old), predict(&again, &old));
}

fn predict(model: &str, table: &str) -> String {
    abduce(&["predict", model, table, "--proba"])
        .succeeds()
        .stdout
}

#[test]
fn words_are_added_and_forgotten() {
    let files = Files::new();
    let messages = data("messages.tsv");
    let text = std::fs::read_to_string(&messages).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (head, rows) = lines.split_first().unwrap();
    let target = head.split('\t').next().unwrap();
    let (first, second) = rows.split_at(rows.len() / 2);
    let write_rows =
        |name: &str, rows: &[&str]| files.write(name, format!("{head}\n{}\n", rows.join("\n")));
    let (first, second) = (
        write_rows("first.tsv", first),
        write_rows("second.tsv", second),
    );
    let model = files.fit(&["naive-bayes", &first, "--target", target]);
    let before = std::fs::read_to_string(&model).unwrap();
    abduce(&["update", &model, &second]).succeeds();
    let whole = files.path("whole.abduce");
    abduce(&[
        "fit",
        "naive-bayes",
        &messages,
        "--target",
        target,
        "-o",
        &whole,
    ])
    .succeeds();
    assert_eq!(predict(&model, &messages), predict(&whole, &messages));
    abduce(&["forget", &model, &second]).succeeds();
    let parsed = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let (a, b) = (
        parsed(&before),
        parsed(&std::fs::read_to_string(&model).unwrap()),
    );
    assert_eq!(a["body"]["schema"], b["body"]["schema"]);
    assert_eq!(
        a["body"]["statistics"]["leaves"],
        b["body"]["statistics"]["leaves"]
    );
}

#[test]
fn failed_changes_leave_the_file_unchanged() {
    let files = Files::new();
    let table = files.write("t.csv", "pet,weight\ncat,4\ndog,20\ncat,5\ndog,22\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "pet", "--marks"]);
    let before = files.read("model.abduce");
    let never = files.write("never.csv", "pet,weight\ncat,4\ncat,4.5\n");
    abduce(&["forget", &model, &never])
        .fails(2, &["never.csv", "line 3", "not fitted to this row"]);
    let twice = files.write("twice.csv", "pet,weight\ncat,4\ncat,4\n");
    abduce(&["forget", &model, &twice]).fails(2, &["line 3", "fewer times"]);
    let label = files.write("label.csv", "pet,weight\nemu,4\n");
    abduce(&["forget", &model, &label]).fails(2, &["line 2", "\"emu\""]);
    abduce(&["forget", &model, &table]).fails(2, &["no row would be left"]);
    let bare = files.write("bare.csv", "weight\n4\n");
    abduce(&["forget", &model, &bare]).fails(2, &["without a label"]);
    let update = abduce(&["update", &model, &bare, "-o", &files.path("same.abduce")]);
    assert!(update.stderr.contains("rows without a label are not used"));
    update.succeeds();
    assert_eq!(files.read("same.abduce"), before);
    let half = files.write("half.csv", "pet,weight\ncat,4\ndog,20\n,5\ndog,22\n");
    let some = files.path("some.abduce");
    abduce(&["fit", "naive-bayes", &half, "--target", "pet", "-o", &some]).succeeds();
    abduce(&["forget", &some, &half]).fails(2, &["without a label"]);
    let word = files.write("word.csv", "pet,weight\ncat,heavy\n");
    abduce(&["update", &model, &word]).fails(2, &["line 2", "weight"]);
    let advice = "fit the model to all rows again with --kind \"weight=categorical\"";
    abduce(&["update", &model, &word]).fails(2, &[advice]);
    let other = files.write("other.csv", "a,b\n1,2\n");
    abduce(&["update", &model, &other]).fails(2, &["none of the model's columns"]);
    abduce(&["merge", &model, &model]).fails(2, &["-o FILE"]);
    let smoothed = files.path("smoothed.abduce");
    abduce(&[
        "fit",
        "naive-bayes",
        &table,
        "--target",
        "pet",
        "--smoothing",
        "2",
        "-o",
        &smoothed,
    ])
    .succeeds();
    let out = files.path("out.abduce");
    abduce(&["merge", &model, &smoothed, "-o", &out]).fails(2, &["fitted differently"]);
    let density = files.path("kde.abduce");
    abduce(&["fit", "kde", &table, "--target", "pet", "-o", &density]).succeeds();
    abduce(&["update", &density, &table])
        .fails(2, &["cannot be updated, merged or made to forget rows"]);
    assert_eq!(files.read("model.abduce"), before);
    assert!(!files.names().contains(&"out.abduce".to_string()));
}

#[test]
fn unlabelled_rows_and_dropped_calibrations_are_reported() {
    let files = Files::new();
    let table = data("penguins.csv");
    let model = files.fit(&[
        "naive-bayes",
        &table,
        "--target",
        "species",
        "--calibrate",
        "platt",
    ]);
    let text = std::fs::read_to_string(&table).unwrap();
    let unlabelled = text.lines().take(40).enumerate().map(|(i, line)| match i {
        0 => format!("{line}\n"),
        _ => format!("{}\n", &line[line.find(',').unwrap()..]),
    });
    let unlabelled = files.write("unlabelled.csv", unlabelled.collect::<String>());
    let out = files.path("out.abduce");
    let report = abduce(&["update", &model, &unlabelled, "-o", &out]).succeeds();
    assert!(report.stderr.contains("are not used"), "{}", report.stderr);
    let report = abduce(&[
        "update",
        &model,
        &unlabelled,
        "--unlabelled",
        "1",
        "-o",
        &out,
    ])
    .succeeds();
    assert!(report.stderr.contains("lower bound"), "{}", report.stderr);
    let clusters = files.path("clusters.abduce");
    let faithful = data("faithful.csv");
    abduce(&["fit", "mixture", &faithful, "-k", "2", "-o", &clusters]).succeeds();
    let report = abduce(&["update", &clusters, &faithful, "--json"])
        .succeeds()
        .json();
    assert_eq!(report["rows"], 2 * report["rows_before"].as_u64().unwrap());
}

/// Forgets rows one after the other.
fn forget_one_by_one(files: &Files, model: &str, header: &str, rows: &[&str]) {
    for row in rows {
        let one = files.write("one.csv", format!("{header}\n{row}\n"));
        abduce(&["forget", model, &one]).succeeds();
    }
}

#[test]
fn rows_that_were_fitted_can_always_be_forgotten() {
    let files = Files::new();
    let table = files.write("s.csv", "c,x\nb,0.2\nb,0.3\na,0.3\nb,0.3\na,0.2\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "c"]);
    forget_one_by_one(&files, &model, "c,x", &["b,0.2", "b,0.3", "a,0.2", "b,0.3"]);
    abduce(&["show", &model]).succeeds();

    let rows = "b,0.5,0.3\na,0.4,0.4\nb,0.2,0.2\nb,0.3,0.3\na,1.0,0.6\na,0.8,1.0\nb,0.0,0.2\na,0.5,0.6\nb,1.0,0.8\nb,0.3,0.8\n";
    let table = files.write("g.csv", format!("c,x,y\n{rows}"));
    let model = files.fit(&["gda", &table, "--target", "c"]);
    forget_one_by_one(
        &files,
        &model,
        "c,x,y",
        &["a,0.8,1.0", "a,0.5,0.6", "a,1.0,0.6"],
    );
    abduce(&["show", &model]).succeeds();
    abduce(&["predict", &model, &table, "--proba"]).succeeds();
}

#[test]
fn a_column_with_only_zeros_left_is_constant() {
    let files = Files::new();
    let table = files.write("z.csv", "c,n\na,8\na,6\na,0\nb,0\nb,2\na,0\n");
    let forgotten = files.write("g.csv", "c,n\na,6\nb,2\na,8\n");
    let rest = files.write("rest.csv", "c,n\na,0\nb,0\na,0\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "c"]);
    abduce(&["forget", &model, &forgotten]).succeeds();
    let again = files.path("again.abduce");
    abduce(&["fit", "naive-bayes", &rest, "--target", "c", "-o", &again]).succeeds();
    let score = |model: &str| abduce(&["score", model, &rest]).succeeds().stdout;
    assert_eq!(score(&model), score(&again));
}

#[test]
fn texts_without_words_are_added_and_forgotten() {
    let files = Files::new();
    let table = files.write(
        "t.tsv",
        "label\ttext\nham\thello you\nspam\tcash now\nham\t\nspam\t!!!\n",
    );
    let few = files.write("f.tsv", "label\ttext\nham\t\nspam\t!!!\n");
    let model = files.fit(&[
        "naive-bayes",
        &table,
        "--target",
        "label",
        "--kind",
        "text=text",
    ]);
    abduce(&["forget", &model, &few]).succeeds();
    abduce(&["update", &model, &few]).succeeds();
    let unknown = files.write("s.tsv", "label\ttext\nham\thello zebra\n");
    abduce(&["forget", &model, &unknown]).fails(2, &["s.tsv", "line 2", "zebra"]);
}

#[test]
fn event_models_work_with_a_single_count_column() {
    let files = Files::new();
    let table = files.write("d.csv", "c,n\na,1\nb,2\na,0\nb,5\n");
    for event in ["bernoulli", "multinomial", "complement"] {
        let model = files.fit(&["naive-bayes", &table, "--target", "c", "--event", event]);
        abduce(&["predict", &model, &table]).succeeds();
    }
}

#[test]
fn missing_weight_columns_are_reported() {
    let files = Files::new();
    let table = files.write("w.csv", "c,x,w\na,1,2\nb,2,1\na,1.5,1\nb,2.5,3\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "c", "--weight", "w"]);
    abduce(&["update", &model, &table, "--weight", "typo"]).fails(2, &["typo"]);
    abduce(&["update", &model, &table, "--columns", "x,typo"]).fails(2, &["typo"]);
    let bare = files.write("b.csv", "c,x\na,1\nb,2\n");
    let report = abduce(&["update", &model, &bare]).succeeds();
    assert!(
        report.stderr.contains("every row weighs 1"),
        "{}",
        report.stderr
    );
}
