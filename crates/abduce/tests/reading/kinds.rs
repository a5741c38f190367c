//! The kind of a column is inferred from all of its cells, unless it is given.

use super::*;
use abduce::data::*;

#[test]
fn an_integer_column_that_turns_real_at_row_1501_is_real() {
    let mut text = String::from("x\n");
    (0..1500).for_each(|i| text.push_str(&format!("{}\n", i % 4)));
    let files = Files::new();
    let opened = files.open("a.csv", &text);
    assert_eq!(fields(&opened)[0].kind, Kind::Count);
    text.push_str("0.5\n");
    let opened = files.open("a.csv", text);
    assert_eq!(fields(&opened)[0].kind, Kind::Real);
    assert_eq!(numbers(&opened, 0)[1500], Some(0.5));
}

#[test]
fn kinds_are_inferred_from_all_cells() {
    let files = Files::new();
    for (cells, kind, levels) in [
        ("0 1 1", Kind::Binary, "0 1"),
        ("0.0 1.0 NA", Kind::Binary, "0 1"),
        ("1 1 1", Kind::Real, ""),
        ("0 5", Kind::Real, ""),
        ("0 1 2 1", Kind::Count, ""),
        ("0 1 2000", Kind::Real, ""),
        ("1 2 3", Kind::Real, ""),
        ("-1 0 1", Kind::Real, ""),
        ("0 1 2 0.5", Kind::Real, ""),
        ("True False True", Kind::Binary, "False True"),
        ("Y N", Kind::Binary, "N Y"),
        ("yes yes", Kind::Categorical, "yes"),
        ("yes false", Kind::Categorical, "false yes"),
        ("a Z é b", Kind::Categorical, "Z a b é"),
        ("? NA ?", Kind::Real, ""),
        ("10 9 x", Kind::Categorical, "10 9 x"),
        ("00 01 00", Kind::Real, ""),
        ("inf x", Kind::Categorical, "inf x"),
    ] {
        let rows: Vec<String> = cells.split(' ').map(|cell| format!("{cell},1.5")).collect();
        let opened = files.open("a.csv", format!("x,y\n{}", rows.join("\n")));
        assert_eq!(fields(&opened)[0].kind, kind, "{cells}");
        assert_eq!(fields(&opened)[0].levels.join(" "), levels, "{cells}");
    }
}

#[test]
fn text_is_left_out_with_a_note_unless_it_is_the_target() {
    let files = Files::new();
    let table = |rows: usize, words: usize| {
        let rows: Vec<String> = (0..rows).map(|i| format!("u{},{i}.5", i % words)).collect();
        files.write("a.csv", format!("id,x\n{}\n", rows.join("\n")))
    };
    let open_default = |path: String| open(&[path], &ReadOptions::default()).unwrap();
    let opened = open_default(table(60, 60));
    assert_eq!(fields(&opened).len(), 1);
    assert_eq!(opened.left_out, ["id"]);
    assert!(opened.notes[0].contains("column id has 60 different cells"));
    let opened = open(&[table(60, 60)], &target("id")).unwrap();
    assert_eq!(fields(&opened)[0].kind, Kind::Categorical);
    assert_eq!(fields(&opened)[0].levels.len(), 60);
    let opened = open_default(table(60, 50));
    assert_eq!(fields(&opened)[0].kind, Kind::Categorical);
    assert_eq!(fields(&open_default(table(20_000, 10_000))).len(), 2);
    assert_eq!(fields(&open_default(table(30_000, 10_001))).len(), 1);
}

#[test]
fn requested_text_columns_are_counts_of_words() {
    let files = Files::new();
    let rows: Vec<String> = (0..60).map(|i| format!("the {i}th day,u{i},{i}")).collect();
    let path = [files.write(
        "a.csv",
        format!("note,id,x\n{}\n,u60,60\n", rows.join("\n")),
    )];
    let options = ReadOptions {
        text: Some(TextOptions::default()),
        ..ReadOptions::default()
    };
    let opened = open(&path, &options).unwrap();
    let note = &fields(&opened)[0];
    assert_eq!((note.kind, note.terms()), (Kind::Text, 62));
    assert_eq!(opened.left_out, ["id"], "cells of one word are identifiers");
    assert_eq!(opened.missing_values[0], 1);
    let chunk = opened.source.scan().unwrap().next().unwrap().unwrap();
    let cells = chunk.column(0).cells(0, 61);
    let (codes, counts) = cells.terms().unwrap().row(3);
    let code = |word: &str| note.text.as_ref().unwrap().encoding.code(word).unwrap();
    let mut expected = ["the", "3th", "day"].map(code);
    expected.sort();
    assert_eq!((codes, counts), (&expected[..], &[1.0; 3][..]));
    assert!(!cells.is_seen(60));
    let streamed = open(
        &path,
        &ReadOptions {
            memory_budget: 0,
            ..options
        },
    )
    .unwrap();
    assert!(streamed.source.table().is_none());
    let again = streamed.source.scan().unwrap().next().unwrap().unwrap();
    assert_eq!(again, chunk);
}

#[test]
fn the_target_is_categorical_by_default() {
    let files = Files::new();
    let text = "i,b,s,r\n2,true,x,0.5\n10,false,y,1.5\n,true,x,\n";
    let path = [files.write("a.csv", text)];
    for (name, levels) in [
        ("i", ["2", "10"]),
        ("b", ["false", "true"]),
        ("s", ["x", "y"]),
        ("r", ["0.5", "1.5"]),
    ] {
        let opened = open(&path, &target(name)).unwrap();
        let at = opened.source.schema().position(name).unwrap();
        assert_eq!(fields(&opened)[at].kind, Kind::Categorical);
        assert_eq!(fields(&opened)[at].levels, levels);
    }
    let mut options = target("i");
    options.kinds = kinds(&["i=ordinal"]);
    assert_eq!(
        fields(&open(&path, &options).unwrap())[0].kind,
        Kind::Ordinal
    );
    options.kinds = kinds(&["i=real"]);
    assert!(open(&path, &options).is_err());
}

#[test]
fn given_kinds_override_inferred_ones() {
    let files = Files::new();
    let path = [files.write("a.csv", "x,size\n1,large\n1.0,small\n10,medium\n9,\n")];
    let options = ReadOptions {
        kinds: kinds(&["x=categorical", "size=ordinal(small,medium,large)"]),
        ..ReadOptions::default()
    };
    let opened = open(&path, &options).unwrap();
    assert_eq!(fields(&opened)[0].levels, ["1", "9", "10"]);
    assert_eq!(codes(&opened, 0), [Some(0), Some(0), Some(2), Some(1)]);
    assert_eq!(fields(&opened)[1].kind, Kind::Ordinal);
    assert_eq!(codes(&opened, 1), [Some(2), Some(0), Some(1), None]);
}

#[test]
fn a_stray_word_among_numbers_gives_a_note() {
    let files = Files::new();
    let path = [files.write("a.csv", "x,y\n1,0.5\n2,\n-,1\n3,2\n4,3\n")];
    let mut options = ReadOptions::default();
    let opened = open(&path, &options).unwrap();
    assert_eq!(fields(&opened)[0].kind, Kind::Categorical);
    let note = &opened.notes[0];
    assert!(
        note.contains("\"-\"") && note.contains("a.csv, line 4"),
        "{note}"
    );
    assert!(
        note.contains("`missing=\"NA,N/A,#N/A,NaN,null,None,?,-\"`"),
        "{note}"
    );
    options.missing = vec!["-".into()];
    let opened = open(&path, &options).unwrap();
    assert_eq!(numbers(&opened, 0)[1..4], [Some(2.0), None, Some(3.0)]);
    assert_eq!(numbers(&opened, 1)[1], None);
}

#[test]
fn unnamed_row_numbers_are_left_out_and_other_unnamed_columns_get_names() {
    let files = Files::new();
    let opened = files.open("r.csv", "\"\",x\n\"1\",0.5\n\"2\",1.5\n\"3\",3\n");
    assert_eq!(opened.left_out, ["column_1"]);
    assert!(opened.notes[0].contains("column_1"));
    assert_eq!(fields(&opened).len(), 1);
    let opened = files.open("p.csv", "x,\n0.5,3\n1.5,7\n");
    assert_eq!(fields(&opened)[1].name, "column_2");
    let opened = files.open("n.csv", "row,x\n1,0.5\n2,1.5\n");
    assert_eq!(fields(&opened).len(), 2);
}

#[test]
fn columns_can_be_selected_and_named() {
    let files = Files::new();
    let path = [files.write("a.csv", "a,b,c,w\n1.5,2,x,0\n2,3,y,1\n")];
    let options = ReadOptions {
        columns: Some(vec!["a".into()]),
        weight: Some("w".into()),
        ..target("c")
    };
    let opened = open(&path, &options).unwrap();
    let names: Vec<&str> = fields(&opened).iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(opened.left_out, ["b"]);
    assert_eq!(opened.source.schema().weight.as_deref(), Some("w"));
    assert_eq!(chunks(&opened)[0].weights(), Some(&[0.0, 1.0][..]));
    let path = [files.write("b.csv", "1.5,x\n2,y\n")];
    let mut options = ReadOptions {
        no_header: true,
        ..ReadOptions::default()
    };
    let opened = open(&path, &options).unwrap();
    assert_eq!(opened.source.rows(), 2);
    assert_eq!(fields(&opened)[1].name, "column_2");
    options.names = Some(vec!["u".into(), "v".into()]);
    let opened = open(&path, &options).unwrap();
    assert_eq!(fields(&opened)[1].name, "v");
    assert_eq!(opened.source.rows(), 2);
}

#[test]
fn decimal_commas_and_numeric_headers_give_a_note() {
    let files = Files::new();
    let opened = files.open("a.csv", "x;y\n1,5;2\n2,5;3\n");
    assert!(opened.notes[0].contains("\"1,5\""), "{:?}", opened.notes);
    let opened = files.open("a.csv", "5.1,3.5\n4.9,3.0\n");
    assert!(
        opened.notes[0].contains("`no_header`"),
        "{:?}",
        opened.notes
    );
}

#[test]
fn uninformative_targets_give_a_note() {
    let files = Files::new();
    let note = |text: &str| {
        let opened = open(&[files.write("a.csv", text)], &target("y")).unwrap();
        opened.notes.join("; ")
    };
    assert!(note("x,y\n1,a\n2,a\n").contains("one level only, a"));
    assert!(note("x,y\n1,a\n2,b\n3,c\n").contains("3 levels in 3 rows"));
    assert_eq!(note("x,y\n1,a\n2,b\n3,b\n"), "");
}

#[test]
fn missing_values_are_counted_by_column() {
    let files = Files::new();
    let opened = files.open("a.csv", "x,y\n1,a\n,b\nNA,\n4,b\n");
    assert_eq!(opened.missing_values, [2, 1]);
}

/// A table with these cells in its first column.
fn table(name: &str, cells: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = cells.map(|cell| format!("{cell},1.5")).collect();
    format!("{name},y\n{}\n", rows.join("\n"))
}

#[test]
fn a_single_zero_does_not_make_numbers_counts() {
    let files = Files::new();
    let kind = |cells: Vec<i64>| {
        let text = table("x", cells.iter().map(i64::to_string));
        fields(&files.open("a.csv", text))[0].kind
    };
    let far: Vec<i64> = (0..40).map(|i| 15 + i % 9).collect();
    assert_eq!(kind(far.clone()), Kind::Real);
    assert_eq!(kind([far, vec![0]].concat()), Kind::Real);
    let near: Vec<i64> = (0..400).map(|i| 4 + i % 5).collect();
    assert_eq!(kind([near, vec![0]].concat()), Kind::Real);
    assert_eq!(kind(vec![3750, 3800, 3250, 4000]), Kind::Real);
    assert_eq!(kind((0..300).map(|i| (i * i) % 5).collect()), Kind::Count);
}

#[test]
fn columns_with_similar_names_and_ranges_get_the_most_general_kind() {
    let files = Files::new();
    let kinds_of = |text: &str| -> Vec<Kind> {
        let opened = files.open("a.csv", text);
        fields(&opened).iter().map(|field| field.kind).collect()
    };
    let pixels = kinds_of("p_0,p_1,p_2,q\n0,0,0,0\n1,1,16,1\n0,2,12,0\n1,1,15,1\n");
    assert_eq!(pixels, [Kind::Real, Kind::Real, Kind::Real, Kind::Binary]);
    let terms = kinds_of("w1,w2\n0,0\n1,1\n0,2\n");
    assert_eq!(terms, [Kind::Count, Kind::Count]);
    let dummies = kinds_of("d1,d2,d3\n0,1,0\n1,0,0\n");
    assert_eq!(dummies[..2], [Kind::Binary, Kind::Binary]);
    let different = kinds_of("v1,v2\n0,20\n1,90\n0,41\n");
    assert_eq!(different, [Kind::Binary, Kind::Real]);
    let fractions = kinds_of("x1,x2\n0,0.5\n1,-1\n0,1\n");
    assert_eq!(fractions, [Kind::Binary, Kind::Real]);
    // The first column is similar to the second, and the second to the third.
    let chain = files.open("chain.csv", "b_1,b_2,b_3\n0,0,4\n1,1,90\n0,2,40\n1,5,60\n");
    let kinds: Vec<Kind> = fields(&chain).iter().map(|field| field.kind).collect();
    assert_eq!(kinds, [Kind::Count, Kind::Real, Kind::Real]);
    let notes = chain.notes.join("\n");
    assert!(notes.contains("column b_1 is read as count"), "{notes}");
    assert!(notes.contains("column b_2 is read as real"), "{notes}");
    let words = kinds_of("a1,a2,a3\n0,0,x\n1,14,y\n0,2,x\n");
    assert_eq!(words, [Kind::Binary, Kind::Real, Kind::Categorical]);
}

#[test]
fn patterns_of_names_set_kinds_and_the_last_match_applies() {
    let files = Files::new();
    let path = [files.write("a.csv", "p1,p2,q,y\n0,0,1,a\n1,1,0,b\n")];
    let read = |given: &[&str]| {
        let options = ReadOptions {
            kinds: kinds(given),
            ..target("y")
        };
        let opened = open(&path, &options)?;
        let kinds = fields(&opened).iter().map(|field| field.kind.name());
        Ok::<_, abduce::Error>(kinds.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(read(&["*=real"]).unwrap(), "real real real categorical");
    let later = read(&["*=real", "p*=count", "p2=binary"]).unwrap();
    assert_eq!(later, "count binary real categorical");
    let over = read(&["p2=binary", "*=real"]).unwrap();
    assert_eq!(over, "real real real categorical");
    let error = read(&["z*=real"]).unwrap_err().to_string();
    assert!(error.contains("no column matches \"z*\""), "{error}");
    assert!(read(&["y=real"]).is_err());
}

#[test]
fn spellings_of_no_and_yes_are_the_same_level() {
    let files = Files::new();
    for (cells, levels) in [
        ("TRUE true false 1 0", "false true"),
        ("Yes no NO", "no yes"),
        ("1 0 TRUE", "false true"),
    ] {
        let text = table("x", cells.split(' ').map(String::from));
        let opened = files.open("a.csv", &text);
        assert_eq!(fields(&opened)[0].kind, Kind::Binary, "{cells}");
        assert_eq!(fields(&opened)[0].levels.join(" "), levels);
        assert!(opened.notes.is_empty(), "{:?}", opened.notes);
        let labels = open(&[files.path("a.csv")], &target("x")).unwrap();
        assert_eq!(fields(&labels)[0].levels.join(" "), levels);
    }
    let opened = files.open("a.csv", "x,y\nTRUE,1.5\nfalse,2\n1,3\n");
    assert_eq!(codes(&opened, 0), [Some(1), Some(0), Some(1)]);
    // A kind that was options for keeps them apart.
    let options = ReadOptions {
        kinds: kinds(&["x=categorical"]),
        ..ReadOptions::default()
    };
    let opened = open(&[files.path("a.csv")], &options).unwrap();
    assert_eq!(fields(&opened)[0].levels.join(" "), "1 TRUE false");
}

#[test]
fn columns_of_integers_are_marked_as_whole() {
    let files = Files::new();
    let opened = files.open("a.csv", "mass,length\n3750,1.5\n3800,2\n");
    assert!(fields(&opened)[0].whole && !fields(&opened)[1].whole);
}

#[test]
fn columns_with_too_many_levels_give_a_note() {
    let files = Files::new();
    let notes = |text: String, options: &ReadOptions| {
        open(&[files.write("a.csv", text)], options)
            .unwrap()
            .notes
            .join("; ")
    };
    let plain = ReadOptions::default();
    let days = (0..60).map(|i| format!("2024-05-{:02}", 1 + i % 20));
    assert!(notes(table("day", days), &plain).contains("`drop=\"day\"`"));
    let names = (0..20).map(|i| format!("u{i}"));
    assert!(notes(table("id", names), &plain).contains("20 different levels in 20 rows"));
    let prices = (0..600).map(|i| (i % 200).to_string());
    let note = notes(table("price", prices), &target("price"));
    assert!(note.contains("200 different numbers"), "{note}");
    let stray = (0..1000).map(|i| match i {
        7 => "n/a?".to_string(),
        i => (i % 40).to_string(),
    });
    let note = notes(table("x", stray), &plain);
    assert!(
        note.contains("\"n/a?\"") && note.contains("line 9"),
        "{note}"
    );
    assert!(
        note.contains("`missing=\"NA,N/A,#N/A,NaN,null,None,?,n/a?\"`"),
        "{note}"
    );
}
