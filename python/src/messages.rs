//! Messages of the library with Python parameters in place of command-line options.

use abduce::{Error, spell_options};

/// Options of the command line, and the corresponding parameters.
const PARAMETERS: &[(&str, &str)] = &[
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
    ("unlabelled", "unlabelled"),
    ("weight", "sample_weight"),
    ("known", "known"),
    ("above", "above"),
    ("draws", "draws"),
    ("marks", "marks"),
];

/// A text with parameters in place of options: `max_iter` for `--max-iter`,
/// `kinds={"x": "real"}` for `--kind "x=real"`, `smoothing=1` for `--smoothing 1`. An option without
/// a parameter loses its dashes; quoted text is not changed.
pub fn with_parameters(text: &str) -> String {
    translated(text).0
}

/// A warning or a note, without clauses about options that Python does not have.
pub fn warning(text: &str) -> String {
    let clauses = text.split("; ").map(translated);
    let mut known = clauses
        .filter(|(_, known)| *known)
        .map(|(clause, _)| clause);
    match known.next() {
        Some(first) => known.fold(first, |all, clause| format!("{all}; {clause}")),
        None => with_parameters(text),
    }
}

/// The hint of an error, unless it is about an option that Python does not have.
pub fn hint_in_python(hint: &str) -> Option<String> {
    let hint = hint.replace("as in a=0.3,b=0.7", "as in {\"a\": 0.3, \"b\": 0.7}");
    let hint = hint.as_str();
    let (text, known) = translated(hint);
    known.then_some(text)
}

/// The text, and whether all its options have parameters.
fn translated(text: &str) -> (String, bool) {
    // Options in backticks are translated as flags are.
    let text = spell_options(text, |name, value| {
        let flag = format!("--{}", name.replace('_', "-"));
        Some(value.map_or(flag.clone(), |value| format!("{flag} {value}")))
    });
    let (mut out, mut known, mut quoted) = (String::new(), true, false);
    let mut rest = text.as_str();
    while let Some(next) = rest.chars().next() {
        let option = rest.strip_prefix("--").filter(|_| !quoted);
        let is_in_name = |c: char| c.is_ascii_lowercase() || c == '-';
        let Some(after) =
            option.filter(|after| after.starts_with(|c: char| c.is_ascii_lowercase()))
        else {
            quoted ^= next == '"';
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        let (name, after) = after.split_at(after.find(|c| !is_in_name(c)).unwrap_or(after.len()));
        rest = after;
        let Some((_, parameter)) = PARAMETERS.iter().find(|(flag, _)| *flag == name) else {
            known = false;
            out.push_str(&name.replace('-', "_"));
            continue;
        };
        out.push_str(parameter);
        match (name, argument(rest)) {
            ("kind" | "family", Some((given, after))) => {
                if let Some((column, value)) = given.rsplit_once('=') {
                    out.push_str(&format!("={{\"{column}\": \"{value}\"}}"));
                    rest = after;
                }
            }
            ("drop", Some((given, after))) => {
                out.push_str(&format!("(columns=\"{given}\")"));
                rest = after;
            }
            _ => {
                if let Some((given, after)) = number(rest) {
                    out.push_str(&format!("={given}"));
                    rest = after;
                }
            }
        }
    }
    (out, known)
}

/// The number at the beginning of a text, as in ` 0.5`, and the rest.
fn number(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix(' ')?;
    let is_numeric = |c: char| c.is_ascii_digit() || c == '.';
    let given = &text[..text.find(|c| !is_numeric(c)).unwrap_or(text.len())];
    let given = given.trim_end_matches('.');
    (!given.is_empty()).then(|| (given, &text[given.len()..]))
}

/// The quoted argument at the beginning of a text, as in ` "x=real"`, and the rest.
fn argument(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix(' ')?;
    let quote = text
        .chars()
        .next()
        .filter(|character| ['"', '\''].contains(character))?;
    text[1..].split_once(quote)
}

/// The position of an error, with rows counted from 0 as in frames and arrays.
pub fn position_of(error: &Error) -> Option<String> {
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
        error
            .position()
            .map(|position| format!("character {position}")),
    ];
    let places: Vec<String> = places.into_iter().flatten().collect();
    (!places.is_empty()).then(|| places.join(", "))
}
