//! The library example in the book is the file in examples/, which is run here.

#[path = "../../examples/penguins.rs"]
mod penguins;

#[test]
fn the_example_of_the_book_is_the_one_that_runs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).unwrap();
    penguins::main().unwrap();
    let chapter = std::fs::read_to_string("docs/src/library.md").unwrap();
    let example = include_str!("../../examples/penguins.rs");
    let code = &example[example.find("use abduce").unwrap()..];
    assert!(chapter.contains(code), "docs/src/library.md lacks {code}");
}
