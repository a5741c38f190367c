//! The README's library example is the one in examples/, and it runs.

#[path = "../../examples/penguins.rs"]
mod penguins;

#[test]
fn the_readme_shows_an_example_that_runs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).unwrap();
    penguins::main().unwrap();
    let readme = std::fs::read_to_string("README.md").unwrap();
    let example = include_str!("../../examples/penguins.rs");
    let code = example
        .split_once("use abduce::ask")
        .map(|(_, code)| code)
        .unwrap();
    for line in code.lines().filter(|line| !line.starts_with("///")) {
        assert!(readme.contains(line.trim()), "the README lacks: {line}");
    }
}
