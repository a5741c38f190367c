//! Messages of the library name options, never flags or commands, so that each interface can
//! spell them its own way.

use super::module_order::sources;
use std::path::Path;

/// The commands of the program.
const COMMANDS: [&str; 19] = [
    "bayes",
    "completions",
    "concept",
    "estimate",
    "evaluate",
    "explain",
    "fit",
    "forget",
    "impute",
    "man",
    "merge",
    "plot",
    "predict",
    "query",
    "sample",
    "score",
    "show",
    "tour",
    "update",
];

fn names_flag(line: &str) -> bool {
    let is_flag = |after: &str| after.starts_with(|c: char| c.is_ascii_lowercase());
    (line.match_indices("--")).any(|(at, dashes)| is_flag(&line[at + dashes.len()..]))
}

fn names_command(line: &str) -> bool {
    line.match_indices("abduce ").any(|(at, program)| {
        let after = &line[at + program.len()..];
        let word = after.split(|c: char| !c.is_ascii_lowercase()).next();
        COMMANDS.contains(&word.unwrap_or_default())
    })
}

#[test]
fn library_sources_name_no_flag_and_no_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let is_checked = |file: &&std::path::PathBuf| {
        let path = file.strip_prefix(&root).unwrap();
        // The example in spelling.rs shows how an interface spells flags.
        path != Path::new("spelling.rs")
    };
    for file in files.iter().filter(is_checked) {
        let source = std::fs::read_to_string(file).unwrap();
        for (number, line) in source.lines().enumerate() {
            assert!(
                !names_flag(line) && !names_command(line),
                "{}:{}: {line}",
                file.display(),
                number + 1
            );
        }
    }
}

#[test]
fn flags_and_commands_are_found_in_strings() {
    assert!(names_flag("\"raise --max-iter\"") && names_command("\"use abduce fit\""));
    assert!(!names_flag("\"raise `max_iter`\" // -----"));
    assert!(!names_command("this is not an abduce model"));
}
