//! What the engine says in the words of the command line, in those of Python.

use abduce::Error;

/// Options of the command line, and the parameters that they are here.
const PARAMETERS: [(&str, &str); 15] = [
    ("kind", "kinds"),
    ("components", "n_components"),
    ("restarts", "n_init"),
    ("family", "families"),
    ("drop", "X.drop"),
    ("max-iter", "max_iter"),
    ("tol", "tol"),
    ("covariance", "covariance"),
    ("tails", "tails"),
    ("smoothing", "smoothing"),
    ("class-smoothing", "class_smoothing"),
    ("class-prior", "class_prior"),
    ("variance-floor", "variance_floor"),
    ("predictive", "predictive"),
    ("select", "select"),
];

/// A text with parameters in place of options: `max_iter` for `--max-iter`,
/// `kinds={"x": "real"}` for `--kind "x=real"`. What is quoted stays as it is.
pub fn spoken(text: &str) -> String {
    translated(text).0
}

/// A warning of the engine, without the clauses that name options which there are not here.
pub fn warning(text: &str) -> String {
    let clauses = text.split("; ").map(translated);
    let mut known = clauses.filter(|(_, known)| *known).map(|(own, _)| own);
    match known.next() {
        Some(first) => known.fold(first, |all, own| format!("{all}; {own}")),
        None => spoken(text),
    }
}

/// What to do about an error, unless it is to pass an option that there is not here.
pub fn advice(hint: &str) -> Option<String> {
    let (text, known) = translated(hint);
    known.then_some(text)
}

/// The text, and whether all options in it are known here.
fn translated(text: &str) -> (String, bool) {
    let (mut out, mut known, mut quoted) = (String::new(), true, false);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let option = rest.strip_prefix("--").filter(|_| !quoted);
        let is_named = |c: char| c.is_ascii_lowercase() || c == '-';
        let Some(after) = option.filter(|own| own.starts_with(|c: char| c.is_ascii_lowercase()))
        else {
            quoted ^= next == '"';
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        let (name, after) = after.split_at(after.find(|c| !is_named(c)).unwrap_or(after.len()));
        rest = after;
        let Some((_, parameter)) = PARAMETERS.iter().find(|(own, _)| *own == name) else {
            known = false;
            out.push_str("--");
            out.push_str(name);
            continue;
        };
        out.push_str(parameter);
        if let (Some((column, value, after)), "kind") = (pair(rest), name) {
            out.push_str(&format!("={{\"{column}\": \"{value}\"}}"));
            rest = after;
        }
    }
    (out, known)
}

/// What ` "column=value"` at the beginning of a text says, and what comes after it.
fn pair(text: &str) -> Option<(&str, &str, &str)> {
    let (quoted, rest) = text.strip_prefix(" \"")?.split_once('"')?;
    let (column, value) = quoted.rsplit_once('=')?;
    Some((column, value, rest))
}

/// Where the trouble is: rows are counted from 0, as frames and arrays count them.
pub fn place_of(error: &Error) -> Option<String> {
    let in_memory = error.file().is_none_or(|file| file == "the frame");
    let row = error.row().or(error.line().filter(|_| in_memory));
    let line = error.line().filter(|_| !in_memory);
    let places = [
        error.file().filter(|_| !in_memory).map(str::to_string),
        line.map(|line| format!("line {line}")),
        row.map(|row| format!("row {}", row.saturating_sub(1))),
        error.column().map(|column| format!("column \"{column}\"")),
        error
            .component()
            .map(|component| format!("component {component}")),
    ];
    let places: Vec<String> = places.into_iter().flatten().collect();
    (!places.is_empty()).then(|| places.join(", "))
}
