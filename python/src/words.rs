//! What the engine says in the words of the command line, in those of Python.

use abduce::Error;

/// Options whose parameters have other names here.
const OTHERWISE: [(&str, &str); 5] = [
    ("kind", "kinds"),
    ("components", "n_components"),
    ("restarts", "n_init"),
    ("family", "families"),
    ("drop", "X.drop"),
];

/// A text with parameters in place of options: `max_iter` for `--max-iter`,
/// `kinds={"x": "real"}` for `--kind "x=real"`.
pub fn spoken(text: &str) -> String {
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let is_named = |c: char| c.is_ascii_lowercase() || c == '-';
        let end = part.find(|c| !is_named(c)).unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        if option.is_empty() {
            out.push_str("--");
            out.push_str(rest);
            continue;
        }
        let otherwise = OTHERWISE.iter().find(|(own, _)| *own == option);
        let name = otherwise.map_or_else(|| option.replace('-', "_"), |(_, own)| own.to_string());
        match pair(rest) {
            Some((column, value, rest)) if option == "kind" => {
                out.push_str(&format!("{name}={{\"{column}\": \"{value}\"}}{rest}"));
            }
            _ => {
                out.push_str(&name);
                out.push_str(rest);
            }
        }
    }
    out
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
