//! README and book: every command in a console block is run, and its output is compared with
//! the output shown.
//!
//! The commands of a document run in a folder of its own with the bundled tables. A line `…`
//! matches any lines, and `…` within a line any text. The number of spaces may differ, and
//! decimal numbers by one unit of the last digit. Pictures must equal those in docs/src/images.

use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

/// A command of a console block, and the lines shown below it.
#[derive(Debug, PartialEq)]
struct Session {
    command: String,
    output: Vec<String>,
}

/// The `$ abduce` commands in the ```console blocks of a document. A command
/// whose line ends with a backslash continues on the next line.
fn sessions(document: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut inside = false;
    let mut continued = false;
    for line in document.lines() {
        if line.starts_with("```") {
            inside = line.trim() == "```console";
        } else if !inside {
            continue;
        } else if continued {
            let command = &mut sessions.last_mut().unwrap().command;
            continued = append(command, line.trim_start());
        } else if let Some(start) = line.strip_prefix("$ abduce ") {
            let mut command = String::new();
            continued = append(&mut command, start);
            let output = Vec::new();
            sessions.push(Session { command, output });
        } else {
            assert!(!line.starts_with('$'), "not a command of abduce: {line}");
            let session = sessions.last_mut().expect("output before a command");
            session.output.push(line.to_string());
        }
    }
    for session in &mut sessions {
        while session.output.last().is_some_and(String::is_empty) {
            session.output.pop();
        }
    }
    sessions
}

/// Appends a line to a command; true if the command continues on the next.
fn append(command: &mut String, line: &str) -> bool {
    let (text, continues) = match line.strip_suffix('\\') {
        Some(text) => (text, true),
        None => (line, false),
    };
    command.push_str(text);
    continues
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

/// A piece of a line of output.
#[derive(Debug, PartialEq)]
enum Token {
    Wildcard,
    Space,
    Number(String),
    Text(char),
}

fn tokens(line: &str) -> Vec<Token> {
    let chars: Vec<char> = line.trim_end().chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let after_word = at > 0 && chars[at - 1].is_alphanumeric();
        let length = number_length(&chars[at..]);
        if length > 0 && !after_word {
            let number = chars[at..at + length].iter().collect();
            tokens.push(Token::Number(number));
            at += length;
            continue;
        }
        match chars[at] {
            '…' => tokens.push(Token::Wildcard),
            c if !c.is_whitespace() => tokens.push(Token::Text(c)),
            _ if tokens.last() != Some(&Token::Space) => tokens.push(Token::Space),
            _ => {}
        }
        at += 1;
    }
    tokens
}

/// The number of characters of the number that begins here, as in -1.5e-8.
fn number_length(chars: &[char]) -> usize {
    let digits = |from: usize| {
        let rest = chars.get(from..).unwrap_or_default();
        rest.iter().take_while(|c| c.is_ascii_digit()).count()
    };
    let sign = usize::from(chars.first() == Some(&'-'));
    let whole = digits(sign);
    if whole == 0 {
        return 0;
    }
    let mut end = sign + whole;
    if chars.get(end) == Some(&'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if chars.get(end) == Some(&'e') {
        let sign = usize::from(chars.get(end + 1) == Some(&'-'));
        if digits(end + 1 + sign) > 0 {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    end
}

/// Whether a number equals the one shown, to one unit of the last digit shown. Integers must
/// be equal.
fn same_number(shown: &str, found: &str) -> bool {
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((shown, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len() as i32);
    if decimals == 0 && exponent == "0" {
        return shown == found;
    }
    let unit = 10f64.powi(exponent.parse::<i32>().unwrap() - decimals);
    let difference = shown.parse::<f64>().unwrap() - found.parse::<f64>().unwrap();
    difference.abs() <= unit * (1.0 + 1e-9)
}

fn same_token(shown: &Token, found: &Token) -> bool {
    match (shown, found) {
        (Token::Number(shown), Token::Number(found)) => same_number(shown, found),
        _ => shown == found,
    }
}

/// Whether `found` matches `pattern`, some of whose items are wildcards.
fn matches_pattern<P, F>(
    found: &[F],
    pattern: &[P],
    wildcard: fn(&P) -> bool,
    same: fn(&P, &F) -> bool,
) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return found.is_empty();
    };
    if wildcard(first) {
        return (0..=found.len()).any(|n| matches_pattern(&found[n..], rest, wildcard, same));
    }
    found.split_first().is_some_and(|(item, others)| {
        same(first, item) && matches_pattern(others, rest, wildcard, same)
    })
}

fn same_line(shown: &String, found: &String) -> bool {
    let wildcard = |token: &Token| *token == Token::Wildcard;
    shown == found || matches_pattern(&tokens(found), &tokens(shown), wildcard, same_token)
}

fn same_output(shown: &[String], found: &[String]) -> bool {
    matches_pattern(found, shown, |line| line == "…", same_line)
}

fn lines(text: &str) -> Vec<String> {
    text.trim_end().lines().map(String::from).collect()
}

/// All files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let below = |path: PathBuf| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    };
    paths.into_iter().flat_map(below).collect()
}

/// The README and the chapters of the book.
fn documents() -> Vec<PathBuf> {
    let mut documents = vec![Path::new(ROOT).join("README.md")];
    documents.extend(files(&Path::new(ROOT).join("docs")));
    documents.retain(|path| path.extension().is_some_and(|e| e == "md"));
    documents
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    for path in files(from) {
        let copy = to.join(path.strip_prefix(from).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(&path, copy).unwrap();
    }
}

/// Runs a command in a folder. Returns a description of the difference from the document, if
/// there is one.
fn difference(session: &Session, folder: &Path) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_abduce"))
        .args(words(&session.command))
        .current_dir(folder)
        .output()
        .unwrap();
    let command = &session.command;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Some(format!("$ abduce {command}\n{errors}"));
    }
    let found = lines(&String::from_utf8(output.stdout).unwrap());
    if session.output.is_empty() || same_output(&session.output, &found) {
        return None;
    }
    let (shown, found) = (session.output.join("\n"), found.join("\n"));
    Some(format!(
        "$ abduce {command}\nis documented to print\n{shown}\nbut prints\n{found}"
    ))
}

/// The pictures in a folder that differ from those of the same name in the book.
fn changed_pictures(folder: &Path) -> Vec<String> {
    let read = |path: &Path| lines(&std::fs::read_to_string(path).unwrap());
    let mut changed = Vec::new();
    for picture in files(&Path::new(ROOT).join("docs/src/images")) {
        let made = folder.join(picture.file_name().unwrap());
        if made.exists() && !same_output(&read(&picture), &read(&made)) {
            changed.push(format!("{} has changed", picture.display()));
        }
    }
    changed
}

#[test]
fn commands_print_the_documented_output() {
    let mut run = 0;
    let mut failures = Vec::new();
    for document in documents() {
        let folder = tempfile::tempdir().unwrap();
        copy(Path::new(DATA), folder.path());
        let name = document.display();
        for session in sessions(&std::fs::read_to_string(&document).unwrap()) {
            let failure = difference(&session, folder.path());
            failures.extend(failure.map(|text| format!("{name}: {text}")));
            run += 1;
        }
        failures.extend(changed_pictures(folder.path()));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(run >= 10, "only {run} commands were found");
}

/// The addresses of a document's links to files.
fn links(document: &str) -> Vec<String> {
    let mut inside = false;
    let mut links = Vec::new();
    for line in document.lines() {
        inside ^= line.starts_with("```");
        if inside {
            continue;
        }
        let targets = line.split("](").skip(1).filter_map(|l| l.split_once(')'));
        let addresses = targets.map(|(address, _)| address.split('#').next().unwrap());
        links.extend(
            addresses
                .filter(|a| !a.is_empty() && !a.contains("://"))
                .map(String::from),
        );
    }
    links
}

#[test]
fn every_link_to_a_file_is_valid() {
    for document in documents() {
        for link in links(&std::fs::read_to_string(&document).unwrap()) {
            let path = document.parent().unwrap().join(&link);
            assert!(path.exists(), "{}: {link}", document.display());
        }
    }
}

#[test]
fn every_chapter_is_in_the_summary() {
    let book = Path::new(ROOT).join("docs/src");
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let listed = links(&summary);
    for chapter in files(&book) {
        let chapter = chapter.strip_prefix(&book).unwrap().display().to_string();
        let is_chapter = chapter.ends_with(".md") && chapter != "SUMMARY.md";
        assert!(!is_chapter || listed.contains(&chapter), "{chapter}");
    }
}

#[test]
fn commands_and_their_output_are_found_in_console_blocks() {
    let document =
        "$ abduce no\n```console\n$ abduce fit \\\n    x\none\n\ntwo\n\n$ abduce show y\n```\n";
    let found = sessions(document);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].command, "fit x");
    assert_eq!(found[0].output, ["one", "", "two"]);
    assert_eq!(found[1].command, "show y");
    assert!(found[1].output.is_empty());
}

#[test]
fn an_ellipsis_matches_lines_or_text() {
    let same = |shown: &str, found: &str| same_output(&lines(shown), &lines(found));
    assert!(same("a\n…\nd", "a\nb\nc\nd"));
    assert!(same("a\n…\nd", "a\nd"));
    assert!(!same("a\n…\nd", "a\nb\nc"));
    assert!(!same("a", "a\nb"));
    assert!(same("took … s", "took 0.15 s"));
    assert!(!same("took … s", "took 0.15 min"));
}

#[test]
fn a_decimal_may_differ_by_one_unit_of_its_last_digit() {
    let same = |shown: &str, found: &str| same_line(&shown.to_string(), &found.to_string());
    assert!(same("mean -1.25", "mean   -1.26"));
    assert!(same("mean -1.25", "mean -1.2512"));
    assert!(!same("mean -1.25", "mean -1.27"));
    assert!(!same("mean -1.25", "mean 1.25"));
    assert!(same("2.5e-8,x", "2.6e-8,x"));
    assert!(!same("2.5e-8,x", "2.5e-7,x"));
    assert!(!same("344 rows", "345 rows"));
    assert!(!same("x1", "x2"));
}
