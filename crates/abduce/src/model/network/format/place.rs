//! Errors at a place in a file. Readers pass byte offsets around, which cost nothing; the line
//! and the character are counted only when there is an error to report.

use crate::{Error, Result};
use std::fmt::Display;

/// A data error with the line and the character, both counted from 1, of a byte offset.
pub(super) fn error_at(text: &str, offset: usize, message: impl Display) -> Error {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let character = before[line_start..].chars().count() + 1;
    Error::data(format!("{message}, at character {character}")).at_line(line as u64)
}

/// Attaches the place of a byte offset to an error that has no line.
pub(super) fn at<T>(text: &str, offset: usize, result: Result<T>) -> Result<T> {
    result.map_err(|error| {
        if error.line().is_some() {
            return error;
        }
        let located = error_at(text, offset, error.message());
        match error.hint() {
            Some(hint) => located.with_hint(hint),
            None => located,
        }
    })
}

/// A piece of a file as it is quoted in a message: shortened if it is long.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return format!("\"{text}\"");
    }
    let beginning: String = text.chars().take(LONGEST).collect();
    format!("\"{beginning}…\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_characters_are_counted_from_one() {
        let text = "one\nzwölf drei";
        let error = error_at(text, text.find("drei").unwrap(), "wrong");
        assert_eq!(error.line(), Some(2));
        assert_eq!(error.message(), "wrong, at character 7");
        assert_eq!(
            error_at("", 9, "wrong").to_string(),
            "line 1: wrong, at character 1"
        );
    }

    #[test]
    fn an_error_that_has_a_line_keeps_it() {
        let error = error_at("a\nb", 0, "wrong").with_hint("correct it");
        let kept = at::<()>("a\nb", 2, Err(error.clone())).unwrap_err();
        assert_eq!(kept, error);
    }
}
