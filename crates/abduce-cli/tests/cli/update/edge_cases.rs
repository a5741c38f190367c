//! Edge cases of updates: columns that lose their last value, priors of 0, parts of a row's
//! weight, rows of weight 0.

use crate::run::{Files, abduce, data};
use serde_json::Value;

fn probabilities(model: &str, table: &str) -> Vec<f64> {
    let report = abduce(&["predict", model, table, "--proba", "--json"]).succeeds();
    let report = report.json();
    let classes = report["probabilities"].as_object().unwrap().values();
    let numbers = classes.flat_map(|list| list.as_array().unwrap().clone());
    numbers.map(|p| p.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

const WITHOUT_LEVELS: &str = "y,lev,z\na,,1.5\nb,,2.5\na,,1.7\nb,,3.5\n";

#[test]
fn a_categorical_column_that_loses_its_last_value_is_left_out() {
    let files = Files::new();
    let seen = "a,u,1.5\nb,v,3.5\n";
    let all = files.write("all.csv", format!("{WITHOUT_LEVELS}{seen}"));
    let forgotten = files.write("gone.csv", format!("y,lev,z\n{seen}"));
    let rest = files.write("rest.csv", WITHOUT_LEVELS);
    for options in [
        &["naive-bayes"][..],
        &["gda"],
        &["naive-bayes", "--smoothing", "m=2"],
        &["naive-bayes", "--smoothing", "m=2,pooled"],
        &["naive-bayes", "--family", "lev=categorical"],
    ] {
        let mut arguments = options.to_vec();
        arguments.extend([&*all, "--target", "y"]);
        let model = files.fit(&arguments);
        abduce(&["forget", &model, &forgotten]).succeeds();
        let remaining = probabilities(&model, &all);
        arguments[options.len()] = &rest;
        arguments.extend(["--kind", "lev=categorical"]);
        let fitted = files.fit(&arguments);
        assert_close(&remaining, &probabilities(&fitted, &all));
        // The column can return.
        abduce(&["update", &model, &forgotten]).succeeds();
    }
}

#[test]
fn a_class_of_prior_0_is_never_predicted() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let prior = "Adelie=0,Gentoo=.5,Chinstrap=.5";
    let model = files.fit(&[
        "naive-bayes",
        &penguins,
        "--target",
        "species",
        "--class-prior",
        prior,
    ]);
    let report = abduce(&["predict", &model, &penguins]).succeeds();
    assert!(!report.stdout.contains("Adelie") && report.stdout.contains("Gentoo"));
    abduce(&["update", &model, &penguins]).succeeds();
    abduce(&["show", &model]).succeeds();
}

#[test]
fn prior_weights_that_overflow_are_an_error_and_nothing_is_written() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let text = files.write(
        "t.csv",
        "y,text\na,one two three four\nb,three four five six\n",
    );
    let model = files.path("m.abduce");
    for (table, target, option, value) in [
        (&text, "y", "--smoothing", "1e308"),
        (&text, "y", "--smoothing", "m=1e308,pooled"),
        (&penguins, "species", "--class-smoothing", "1e308"),
        (&penguins, "species", "--variance-floor", "1e308"),
        (
            &penguins,
            "species",
            "--class-prior",
            "Adelie=1e308,Gentoo=1e308,Chinstrap=1e308",
        ),
    ] {
        let outcome = abduce(&[
            "fit",
            "naive-bayes",
            table,
            "--target",
            target,
            option,
            value,
            "-o",
            &model,
        ]);
        let range = if option == "--class-prior" {
            "number of at least 0"
        } else {
            "number from 0"
        };
        outcome.fails(2, &[range]);
        assert!(!std::path::Path::new(&model).exists());
    }
}

#[test]
fn explanations_have_the_class_and_probability_of_predict() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    for how in ["isotonic", "platt"] {
        let model = files.fit(&[
            "naive-bayes",
            &penguins,
            "--target",
            "species",
            "--calibrate",
            how,
        ]);
        let report = abduce(&["explain", &model, &penguins, "--json"]).succeeds();
        assert!(report.stderr.contains("calibrated"), "{}", report.stderr);
        let predicted = abduce(&["predict", &model, &penguins, "--proba", "--json"]).succeeds();
        let predicted = predicted.json();
        let explained = report.json();
        for (row, entry) in explained.as_array().unwrap().iter().enumerate() {
            let class = entry["class"].as_str().unwrap();
            assert_eq!(predicted["predictions"][row], *class);
            assert_eq!(predicted["probabilities"][class][row], entry["probability"]);
        }
    }
}

fn rows_of(model: &str) -> Value {
    let text = std::fs::read_to_string(model).unwrap();
    let model: Value = serde_json::from_str(&text).unwrap();
    model["fit"]["rows"].clone()
}

#[test]
fn a_row_is_forgotten_when_its_weight_is_zero() {
    let files = Files::new();
    let all = files.write(
        "all.csv",
        "w,y,z,l\n5,a,1.5,u\n1,b,2.5,v\n.1,a,2,u\n.2,a,2,u\n2,b,3,u\n",
    );
    let fifth = files.write("fifth.csv", "w,y,z,l\n1,a,1.5,u\n");
    let sum = files.write("sum.csv", "w,y,z,l\n.3,a,2,u\n");
    let rest = files.write("rest.csv", "w,y,z,l\n1,b,2.5,v\n2,b,3,u\n");
    let weight = ["--target", "y", "--weight", "w"];
    for marks in [&["--marks"][..], &[]] {
        let mut arguments = vec!["naive-bayes", &all];
        arguments.extend(weight);
        arguments.extend(marks);
        let model = files.fit(&arguments);
        for _ in 0..4 {
            abduce(&["forget", &model, &fifth]).succeeds();
        }
        if !marks.is_empty() {
            assert_eq!(rows_of(&model), 5);
        }
        abduce(&["forget", &model, &fifth]).succeeds();
        abduce(&["forget", &model, &sum]).succeeds();
        if !marks.is_empty() {
            assert_eq!(rows_of(&model), 2);
        }
        let outcome = abduce(&["forget", &model, &fifth]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        arguments[1] = &rest;
        let remaining = probabilities(&model, &all);
        let fitted = files.fit(&arguments);
        assert_close(&remaining, &probabilities(&fitted, &all));
    }
}

#[test]
fn rows_of_weight_0_change_nothing() {
    let files = Files::new();
    let rows = "w,y,z,l,t\n1,a,1.5,u,one two and three\n2,b,2.5,v,three and four words\n\
                1,a,2,u,five words and six\n1,b,3,u,seven words or eight\n";
    let weightless = "0,c,900,w,nine words are new\n0,,-5,x,ten words are new\n0,a,oops,y,\n";
    let with = files.write("with.csv", format!("{rows}{weightless}"));
    let without = files.write("without.csv", rows);
    let only = files.write("only.csv", format!("w,y,z,l,t\n{weightless}"));
    let kind = ["--target", "y", "--weight", "w", "--kind", "t=text"];
    let fit = |table: &str| {
        let mut arguments = vec!["naive-bayes", table];
        arguments.extend(kind);
        files.fit(&arguments)
    };
    let parsed = |model: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(model).unwrap()).unwrap()
    };
    let plain = fit(&without);
    let expected = (parsed(&plain), probabilities(&plain, &without));
    let model = fit(&with);
    let found = parsed(&model);
    assert_eq!(found["body"]["schema"], expected.0["body"]["schema"]);
    assert_eq!(found["fit"]["rows"], 4);
    assert_close(&probabilities(&model, &without), &expected.1);
    for command in ["update", "forget"] {
        let outcome = abduce(&[command, &model, &only]).succeeds();
        assert!(
            outcome.stderr.contains("the model is unchanged"),
            "{}",
            outcome.stderr
        );
        assert_eq!(parsed(&model), found);
    }
}

#[test]
fn a_class_prior_is_kept_when_its_rows_are_forgotten() {
    let files = Files::new();
    let first = "y,z\na,1.5\nb,2.5\na,1.7\nb,3.5\n";
    let second = "y,z\na,1\nc,9\nc,9.5\n";
    let (one, two) = (files.write("1.csv", first), files.write("2.csv", second));
    let forgotten = files.write("gone.csv", "y,z\nc,9\nc,9.5\n");
    let prior = ["--target", "y", "--class-prior", "a=2,b=1,c=1"];
    let fit = |tables: &[&str], name: &str| {
        let model = files.path(name);
        let mut arguments = vec!["fit", "naive-bayes"];
        arguments.extend(tables);
        arguments.extend(prior);
        arguments.extend(["-o", &model]);
        let outcome = abduce(&arguments).succeeds();
        assert!(outcome.stderr.contains("sums to 4"), "{}", outcome.stderr);
        model
    };
    let (a, b) = (fit(&[&one], "a.m"), fit(&[&two], "b.m"));
    let whole = fit(&[&one, &two], "all.m");
    let merged = files.path("merged.m");
    abduce(&["merge", &a, &b, "-o", &merged]).succeeds();
    assert_close(&probabilities(&merged, &two), &probabilities(&whole, &two));
    abduce(&["forget", &merged, &forgotten]).succeeds();
    let rest = files.write("rest.csv", format!("{first}a,1\n"));
    let rest = fit(&[&rest], "rest.m");
    assert_close(&probabilities(&merged, &two), &probabilities(&rest, &two));
    let new = files.write("new.csv", "y,z\nd,7\n");
    let outcome = abduce(&["update", &whole, &new]);
    outcome.fails(2, &["\"d\"", "the prior of the class", "--class-prior"]);
}

#[test]
fn new_categories_under_a_dirichlet_prior_are_named() {
    let files = Files::new();
    let table = files.write("t.csv", "y,s\na,f\nb,m\na,m\nb,f\n");
    let new = files.write("new.csv", "y,s\na,x\n");
    let model = files.fit(&[
        "naive-bayes",
        &table,
        "--target",
        "y",
        "--dirichlet",
        "s=1,2",
    ]);
    let outcome = abduce(&["update", &model, &new]);
    outcome.fails(2, &["column \"s\"", "\"x\"", "--dirichlet"]);
}

#[test]
fn hints_of_update_suggest_only_valid_options() {
    let files = Files::new();
    let table = files.write("t.csv", "y,n,z\na,0,1.5\nb,1,2.5\na,2,3\nb,0,4\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "y", "--kind", "n=count"]);
    let new = files.write("new.csv", "y,n,z\na,1.5,2\n");
    let outcome = abduce(&["update", &model, &new]);
    let advice = "fit the model to all rows again with --kind \"n=real\"";
    outcome.fails(2, &["is not a count", advice]);
    let outcome = abduce(&["update", &model, &table, "--weight", "z"]);
    outcome.fails(2, &["column \"z\"", "weigh"]);
    let comma = files.write("comma.csv", "y;n;z\na;1;3,5\n");
    let outcome = abduce(&["update", &model, &comma]);
    outcome.fails(2, &["\"3,5\" is not a number", "comma"]);
}

#[test]
fn models_that_cannot_be_merged_are_an_error_with_the_reason() {
    let files = Files::new();
    let table = files.write("t.csv", "y,year\na,2007\nb,2008\na,2008\nb,2009\na,2009\n");
    let fit = |name: &str, more: &[&str]| {
        let model = files.path(name);
        let mut arguments = vec!["fit", "naive-bayes", &table, "--target", "y", "-o", &model];
        arguments.extend(more);
        abduce(&arguments).succeeds();
        model
    };
    let (a, b) = (fit("a.m", &[]), fit("b.m", &["--smoothing", "2"]));
    let model = files.path("all.m");
    abduce(&["merge", &a, &b, "-o", &model]).fails(2, &["b.m", "--smoothing"]);
    let levels = fit("c.m", &["--kind", "year=categorical"]);
    abduce(&["merge", &a, &levels, "-o", &model]).fails(2, &["column \"year\"", "--kind"]);
    let marked = fit("d.m", &["--marks"]);
    let outcome = abduce(&["merge", &a, &marked, "-o", &model]).succeeds();
    assert!(
        outcome.stderr.contains("no row marks"),
        "{}",
        outcome.stderr
    );
    let outcome = abduce(&["merge", &a, &a, "-o", &model]).succeeds();
    assert!(outcome.stderr.contains("twice"), "{}", outcome.stderr);
}

#[test]
fn texts_and_classes_may_be_any_string() {
    let files = Files::new();
    let folder = files.folder();
    for (class, texts) in [("NA", ["NA", "one two"]), ("spam", ["? ", "three four"])] {
        std::fs::create_dir_all(folder.join("mail").join(class)).unwrap();
        for (i, text) in texts.iter().enumerate() {
            files.write(&format!("mail/{class}/{i}.txt"), text);
        }
    }
    std::fs::create_dir_all(folder.join("mail/void")).unwrap();
    let mail = files.path("mail");
    let model = files.path("model.abduce");
    let outcome = abduce(&[
        "fit",
        "naive-bayes",
        &mail,
        "--marks",
        "-o",
        &model,
        "--json",
    ])
    .succeeds();
    assert!(outcome.stderr.contains("void") && outcome.stderr.contains("not a class"));
    assert_eq!(outcome.json()["rows"], 4);
    assert!(!outcome.stderr.contains("no label"), "{}", outcome.stderr);
    let spam = files.path("mail/spam");
    for command in ["update", "forget"] {
        let outcome = abduce(&[command, &model, &spam]);
        outcome.fails(2, &["folders of all classes"]);
    }
    std::fs::create_dir_all(folder.join("unknown/NA")).unwrap();
    std::fs::create_dir_all(folder.join("unknown/spam")).unwrap();
    files.write("unknown/NA/0.txt", "NA");
    files.write("unknown/spam/7.txt", "one two");
    let unknown = files.path("unknown");
    abduce(&["forget", &model, &unknown]).fails(2, &["7.txt", "was not fitted to this row"]);

    std::fs::create_dir_all(folder.join("x")).unwrap();
    std::fs::create_dir_all(folder.join("y")).unwrap();
    let letter = "From a@b Mon Jan  1 00:00:00 2024\nSubject: s\n\nwords\n";
    let boxes = [
        files.write("x/inbox.mbox", letter),
        files.write("y/inbox.mbox", letter),
    ];
    let outcome = abduce(&["fit", "naive-bayes", &boxes[0], &boxes[1]]);
    outcome.fails(2, &["same class name, \"inbox\""]);
}

#[test]
fn errors_about_costs_and_classes_name_the_option() {
    let files = Files::new();
    let penguins = data("penguins.csv");
    let model = files.fit(&["naive-bayes", &penguins, "--target", "species"]);
    for (costs, words) in [
        ("", &["--costs", "is empty"][..]),
        ("Gentoo=Adelie", &["--costs", "TRUE>PREDICTED=COST"]),
        ("Gentoo=5", &["--costs", "Gentoo>PREDICTED=5"]),
        ("Gentoo>Adelie=5,Gentoo>Adelie=4", &["--costs", "twice"]),
        ("Gento>Adelie=5", &["--costs", "did you mean Gentoo"]),
    ] {
        let outcome = abduce(&["predict", &model, &penguins, "--costs", costs]);
        outcome.fails(2, words);
    }
    let outcome = abduce(&["explain", &model, &penguins, "--class", "Gento"]);
    outcome.fails(2, &["--class", "did you mean Gentoo"]);
}

#[test]
fn a_row_of_density_0_in_every_class_is_explained() {
    let files = Files::new();
    let table = files.write("t.csv", "y,l,m\na,u,p\nb,v,q\na,u,p\nb,v,q\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "y", "--smoothing", "0"]);
    let new = files.write("new.csv", "y,l,m\n,u,q\n,u,p\n");
    let report = abduce(&["explain", &model, &new]).succeeds().stdout;
    assert!(report.contains("impossible in every class"), "{report}");
    assert!(
        !report.contains("NaN") && !report.contains("inf"),
        "{report}"
    );
    let report = abduce(&["explain", &model, &new, "--json"]).succeeds();
    assert!(!report.stdout.contains("null"), "{}", report.stdout);
    assert_eq!(report.json()[0]["impossible"], true);
}

#[test]
fn evaluation_without_labels_is_an_error() {
    let files = Files::new();
    let table = files.write("t.csv", "y,x\n,1.5\n,2\n,3\n,4\n");
    let outcome = abduce(&["evaluate", "naive-bayes", &table, "--target", "y"]);
    outcome.fails(2, &["no row has a label", "column \"y\""]);
}

#[test]
fn spellings_of_yes_stay_one_level_with_a_third_level() {
    let files = Files::new();
    let table = files.write("a.csv", "b,y\nYes,u\nNO,v\nyes,u\nno,v\n");
    let model = files.fit(&["naive-bayes", &table, "--target", "y"]);
    for more in ["b,y\nYES,u\nmaybe,v\n", "b,y\nmaybe,v\n"] {
        let more = files.write("more.csv", more);
        let updated = files.path("updated.abduce");
        abduce(&["update", &model, &more, "-o", &updated]).succeeds();
        let outcome = abduce(&["predict", &updated, &table]).succeeds();
        assert!(
            !outcome.stderr.contains("not seen in the fit"),
            "{}",
            outcome.stderr
        );
        assert_eq!(outcome.lines()[1..], ["u", "v", "u", "v"]);
        // The levels equal those of a fit of all rows.
        let whole = files.write("whole.csv", "b,y\nYes,u\nNO,v\nyes,u\nno,v\nmaybe,v\n");
        let whole = files.fit(&["naive-bayes", &whole, "--target", "y"]);
        let levels = |model: &str| {
            let text = std::fs::read_to_string(model).unwrap();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            json["body"]["schema"]["fields"][0]["levels"].to_string()
        };
        assert_eq!(levels(&updated), levels(&whole));
    }
}
