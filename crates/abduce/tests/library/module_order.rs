//! The order of the library's modules: each uses only those before it, so that there is no
//! cycle between them.

use std::collections::BTreeSet;
use std::path::Path;

/// The modules of `src`, in the order in which they build on each other.
const ORDER: [&str; 20] = [
    "error", "spelling", "control", "validate", "kernel", "text", "data", "density", "family",
    "leaf", "bayes", "ask", "learn", "model", "concept", "estimate", "eval", "store", "plot",
    "prelude",
];

/// The modules that a piece of source code names after `crate::`, comments left out.
fn used(source: &str) -> BTreeSet<String> {
    let code: Vec<&str> = (source.lines())
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut modules = BTreeSet::new();
    for (_, after) in code
        .match_indices("crate::")
        .map(|(at, prefix)| (at, &code[at + prefix.len()..]))
    {
        let names = match after.strip_prefix('{') {
            // The names at the top of a group, as in `crate::{data::Table, Error}`.
            Some(group) => top_names(group),
            None => vec![first_name(after)],
        };
        let is_module = |name: &&str| name.starts_with(char::is_lowercase);
        modules.extend(names.into_iter().filter(is_module).map(String::from));
    }
    modules
}

fn first_name(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())]
}

fn top_names(group: &str) -> Vec<&str> {
    let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(first_name(group[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

pub(super) fn sources(path: &Path, found: &mut Vec<std::path::PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|end| end == "rs") {
        found.push(path.to_path_buf());
    }
}

#[test]
fn modules_use_only_modules_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 200, "{} files", files.len());
    let place = |module: &str| ORDER.iter().position(|name| *name == module);
    for file in files {
        let path = file.strip_prefix(&root).unwrap();
        let first = path.iter().next().unwrap().to_str().unwrap();
        let user = first.trim_end_matches(".rs");
        if user == "lib" {
            continue;
        }
        let user_place = place(user).unwrap_or_else(|| panic!("{user} is not in ORDER"));
        for module in used(&std::fs::read_to_string(&file).unwrap()) {
            // Other names are items at the root, such as functions and macros.
            let Some(other) = place(&module) else {
                continue;
            };
            assert!(
                other <= user_place,
                "{} uses {module}, which comes after {user}",
                path.display()
            );
        }
    }
}

#[test]
fn modules_are_found_in_every_form_of_use() {
    let source = "use crate::data::Table;\nuse crate::{Error, ask::{Joint, Posterior}, eval};\n\
                  // crate::store::Model\nfn f() { crate::text::g(); }";
    let expected = ["ask", "data", "eval", "text"].map(String::from);
    assert_eq!(used(source), BTreeSet::from(expected));
}
