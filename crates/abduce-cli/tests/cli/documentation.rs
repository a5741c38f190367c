//! Every command that the documents show in a console block is run, in a
//! folder that holds the bundled tables.

use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The lines of ```console blocks that begin with `$ abduce`.
fn commands(document: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in document.lines() {
        if line.starts_with("```") {
            inside = line.trim() == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ abduce ")) {
            found.push(command.to_string());
        }
    }
    found
}

/// Splits a command as a shell does, as far as double quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Copies all that is in a folder.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            std::fs::create_dir(&place).unwrap();
            copy(&path, &place);
        } else {
            std::fs::copy(&path, place).unwrap();
        }
    }
}

#[test]
fn every_documented_command_works() {
    let folder = tempfile::tempdir().unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    copy(Path::new(data), folder.path());
    let mut documents = vec![Path::new(ROOT).join("README.md")];
    documents.extend(
        std::fs::read_dir(Path::new(ROOT).join("docs"))
            .unwrap()
            .map(|e| e.unwrap().path()),
    );
    let mut run = 0;
    for document in documents
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
    {
        for command in commands(&std::fs::read_to_string(document).unwrap()) {
            let output = Command::new(env!("CARGO_BIN_EXE_abduce"))
                .args(words(&command))
                .current_dir(folder.path())
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "abduce {command}\n{errors}");
            run += 1;
        }
    }
    assert!(run >= 10, "only {run} commands were found");
}
