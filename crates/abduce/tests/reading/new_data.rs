//! New data are read with the schema of a model: columns are matched by name, levels get the
//! same codes, an unseen level gets the code after the last, an unseen label is missing.

use super::*;
use abduce::data::*;

#[test]
fn new_data_are_encoded_with_the_schema_of_the_model() {
    let files = Files::new();
    let text = "name,age,smokes,height\nann,31,yes,1.7\nbob,?,no,1.85\nann,45,no,NA\n";
    let schema = files.open("old.csv", text).source.schema().clone();
    let path = files.write(
        "new.csv",
        "height,extra,name,age\n1.5,9,zoe,20\n,9,bob,\n2,9,Ann,3\n",
    );
    let opened = open_with(&[path], &ReadOptions::default(), &schema).unwrap();
    assert_eq!(opened.source.schema(), &schema);
    assert_eq!(codes(&opened, 0), [Some(2), Some(1), Some(2)]);
    assert_eq!(codes(&opened, 2), [None; 3]);
    assert_eq!(numbers(&opened, 3), [Some(1.5), None, Some(2.0)]);
    assert_eq!(opened.left_out, ["extra"]);
    let notes = opened.notes.join("\n");
    assert!(notes.contains("no column smokes"), "{notes}");
    assert!(
        notes.contains("column name: 2 cells hold categories"),
        "{notes}"
    );
    assert!(
        notes.contains("(first: \"zoe\"") && notes.contains("line 2"),
        "{notes}"
    );
    let wrong = |text: &str| {
        let path = files.write("wrong.csv", text);
        open_with(&[path], &ReadOptions::default(), &schema).unwrap_err()
    };
    let error = wrong("age\n3\nold\n");
    assert_eq!((error.line(), error.column()), (Some(3), Some("age")));
    assert!(wrong("zzz\n3\n").to_string().contains("zzz"));
    assert!(wrong("age\n").to_string().contains("no rows"));
    let path = files.write("bare.csv", "bob,77\n");
    let options = ReadOptions {
        no_header: true,
        names: Some(vec!["name".into(), "age".into()]),
        ..ReadOptions::default()
    };
    let opened = open_with(&[path], &options, &schema).unwrap();
    assert_eq!(numbers(&opened, 1), [Some(77.0)]);
}

#[test]
fn rows_of_new_data_without_a_weight_column_have_weight_1() {
    let files = Files::new();
    let path = files.write("a.csv", "x,w\n1.5,2\n2,0\n");
    let options = ReadOptions {
        weight: Some("w".into()),
        ..ReadOptions::default()
    };
    let schema = open(&[path], &options).unwrap().source.schema().clone();
    let again = |text: &str| {
        let path = files.write("b.csv", text);
        open_with(&[path], &ReadOptions::default(), &schema).unwrap()
    };
    assert_eq!(chunks(&again("x\n1\n"))[0].weights(), None);
    assert_eq!(chunks(&again("w,x\n5,1\n"))[0].weights(), Some(&[5.0][..]));
}
