//! The book's library example is the one in examples/, and it runs.

#[path = "../../examples/penguins.rs"]
mod penguins;

#[test]
fn the_book_shows_an_example_that_runs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).unwrap();
    penguins::main().unwrap();
    let chapter = std::fs::read_to_string("docs/src/library.md").unwrap();
    let example = include_str!("../../examples/penguins.rs");
    let code = &example[example.find("use abduce").unwrap()..];
    assert!(chapter.contains(code), "docs/src/library.md lacks {code}");
}
