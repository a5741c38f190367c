//! Model files: damaged ones are refused, old ones stay readable.

use crate::run::{Files, abduce, data};

#[test]
fn damaged_truncated_newer_and_foreign_files_are_refused() {
    let files = Files::new();
    let model = files.fit(&["naive-bayes", &data("penguins.csv"), "--target", "species"]);
    let text = std::fs::read_to_string(&model).unwrap();
    let show = |name: &str, bytes: &[u8]| abduce(&["show", &files.write(name, bytes)]);
    show("cut.abduce", &text.as_bytes()[..text.len() / 2]).fails(2, &["cut.abduce", "cut short"]);
    let newer = text.replacen("\"version\": 1", "\"version\": 99", 1);
    show("newer.abduce", newer.as_bytes()).fails(2, &["newer.abduce", "99", "later abduce"]);
    let damaged = text.replacen("\"weights\"", "\"wights\"", 1);
    show("damaged.abduce", damaged.as_bytes()).fails(2, &["damaged.abduce", "damaged"]);
    show("empty.abduce", b"").fails(2, &["empty.abduce"]);
    show("table.abduce", b"a,b\n1,2\n").fails(2, &["table.abduce", "not an abduce model"]);
    show("binary.abduce", &[0xff, 0xfe, 0, 1]).fails(2, &["binary.abduce", "not an abduce model"]);
    abduce(&["show", &files.path("absent.abduce")]).fails(2, &["absent.abduce"]);
    let table = data("penguins.csv");
    abduce(&["predict", &table, &table]).fails(2, &["penguins.csv", "not an abduce model"]);
}
