//! Parsers of the values of options.

use crate::io::failure::{Failure, Outcome};
use std::num::{IntErrorKind, ParseIntError};

/// A number, 0 or more.
pub fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a number, 0 or more".into()),
    }
}

/// Splits `a,b` at its commas; a name that contains a comma is put in double quotes.
pub fn split_list(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match (c, parts.last_mut()) {
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => parts.push(String::new()),
            (c, Some(part)) => part.push(c),
            _ => {}
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

/// The parts of several lists.
pub fn split_lists(texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| split_list(text)).collect()
}

/// Splits `a=x,b=y(1,2)` into its assignments.
pub fn split_assignments(text: &str) -> Vec<&str> {
    let parts = split_outside_parentheses(text);
    // The name of a column may contain a comma: then the text is one assignment.
    if parts.iter().all(|part| part.contains('=')) {
        parts
    } else {
        vec![text]
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    let (mut quoted, mut before) = (false, ',');
    for (at, c) in text.char_indices() {
        // Only a quote at the start of a word begins quoted text.
        if c == '"' && (quoted || matches!(before, '(' | ',' | ' ')) {
            quoted = !quoted;
        }
        before = c;
        match c {
            _ if quoted => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A whole number that may be 0.
pub fn whole(text: &str) -> Result<u64, String> {
    let invalid = |_| "must be a whole number, 0 or more".to_string();
    text.parse().map_err(invalid)
}

/// A whole number, at least 1.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    let number: Result<usize, ParseIntError> = text.parse();
    match number {
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err("is too large".into()),
        Ok(0) | Err(_) => Err("must be a whole number, at least 1".into()),
        Ok(number) => Ok(number),
    }
}

/// The names of the options that are given.
pub fn given(options: &[(bool, &'static str)]) -> impl Iterator<Item = &'static str> {
    let given = options.iter().filter(|(is_given, _)| *is_given);
    given.map(|(_, option)| *option)
}

/// The name of the first option that is given.
pub fn first_given(options: &[(bool, &'static str)]) -> Option<&'static str> {
    given(options).next()
}

pub fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            [byte] if *byte != b'\n' && *byte != b'\r' => Ok(*byte),
            _ => Err("a delimiter is one ASCII character, or \"tab\"".into()),
        },
    }
}

/// The character around a cell, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quote(pub Option<u8>);

pub fn quote(text: &str) -> Result<Quote, String> {
    match text.as_bytes() {
        b"none" => Ok(Quote(None)),
        [byte] if !b"\r\n".contains(byte) && byte.is_ascii() => Ok(Quote(Some(*byte))),
        _ => Err("a quote is one ASCII character, or \"none\"".into()),
    }
}

/// A number of bytes, as in 256M.
pub fn memory(text: &str) -> Result<u64, String> {
    let invalid = || format!("\"{text}\" is not a size; write 256M or 2G");
    let upper = text.trim().to_ascii_uppercase();
    let plain = upper.trim_end_matches('B').trim_end_matches('I');
    let (digits, shift) = match plain.chars().last() {
        Some('K') => (&plain[..plain.len() - 1], 10),
        Some('M') => (&plain[..plain.len() - 1], 20),
        Some('G') => (&plain[..plain.len() - 1], 30),
        Some('T') => (&plain[..plain.len() - 1], 40),
        _ => (plain, 0),
    };
    let size: f64 = digits.trim().parse().map_err(|_| invalid())?;
    if !size.is_finite() || size < 0.0 {
        return Err(invalid());
    }
    Ok((size * (1u64 << shift) as f64) as u64)
}

/// Splits `column=value`. Column names may contain `=`: the longest known name before an `=` is
/// taken, otherwise the text is split at the first `=`.
pub fn split_assignment(text: &str, is_known: impl Fn(&str) -> bool) -> Outcome<(&str, &str)> {
    let positions = text.match_indices('=').map(|(at, _)| at);
    let splits = positions.map(|at| (text[..at].trim(), text[at + 1..].trim()));
    let last_known = splits.clone().filter(|(column, _)| is_known(column)).last();
    last_known.or_else(|| splits.clone().next()).ok_or_else(|| {
        Failure::usage(format!(
            "\"{text}\" does not name a column and its value; write column=value"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_quotes() {
        assert_eq!(split_list("a, b,c"), ["a", "b", "c"]);
        assert_eq!(split_list("\"a,b\",c"), ["a,b", "c"]);
    }

    #[test]
    fn sizes_and_delimiters_are_read() {
        assert_eq!(memory("256M"), Ok(256 << 20));
        assert_eq!(memory("1.5GiB"), Ok(3 << 29));
        assert!(memory("many").is_err() && memory("-1").is_err());
        assert_eq!(delimiter("tab"), Ok(b'\t'));
        assert_eq!(delimiter(";"), Ok(b';'));
        assert!(delimiter("ab").is_err());
        assert_eq!(quote("none"), Ok(Quote(None)));
        assert_eq!(quote("'"), Ok(Quote(Some(b'\''))));
        assert!(quote("").is_err());
    }

    #[test]
    fn a_column_name_may_contain_an_equals_sign() {
        let known = |name: &str| name == "a=b" || name == "a";
        assert_eq!(split_assignment("a=b=c", known).unwrap(), ("a=b", "c"));
        assert_eq!(split_assignment("a=x=y", known).unwrap(), ("a", "x=y"));
        assert!(split_assignment("a", known).is_err());
    }
}
