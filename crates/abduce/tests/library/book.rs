//! The library examples in the book are the files in examples/, which are run here.

#[path = "../../examples/network.rs"]
mod network;
#[path = "../../examples/penguins.rs"]
mod penguins;

#[test]
fn the_examples_of_the_book_are_those_that_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).unwrap();
    penguins::main().unwrap();
    network::main().unwrap();
    for (chapter, example) in [
        ("library.md", include_str!("../../examples/penguins.rs")),
        ("networks.md", include_str!("../../examples/network.rs")),
    ] {
        let text = std::fs::read_to_string(format!("docs/src/{chapter}")).unwrap();
        let code = &example[example.find("use abduce").unwrap()..];
        assert!(text.contains(code), "{chapter} lacks {code}");
    }
}
