//! Splits a file into words, quoted strings and marks, each with its byte offset. The formats
//! differ in their comments and in the characters that are marks. In a quoted string, `\"` is a
//! quote and `\\` a backslash; every other character, a line break too, stands for itself.

use super::numbers::{Numbers, finite};
use super::place::{error_at, excerpt};
use crate::{Error, Result};
use std::borrow::Cow;

/// What tells one format's tokens from another's.
#[derive(Debug)]
pub(super) struct Syntax {
    /// The beginnings of comments that end with the line.
    pub comments: &'static [&'static str],
    /// Whether `/* … */` is a comment.
    pub block_comments: bool,
    /// The ASCII characters that are tokens of their own.
    pub marks: &'static [u8],
    /// Whether `"…"` is a token.
    pub quotes: bool,
}

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// Characters up to a space, a mark, a quote or a comment.
    Word(&'a str),
    /// A string in quotes, without them.
    Quoted(Cow<'a, str>),
    /// A character that is a token of its own.
    Mark(char),
}

impl<'a> Token<'a> {
    /// The name that a word or a quoted string stands for.
    pub fn name(self) -> Option<Cow<'a, str>> {
        match self {
            Token::Word(word) => Some(Cow::Borrowed(word)),
            Token::Quoted(text) => Some(text),
            Token::Mark(_) => None,
        }
    }

    /// The token as it is quoted in a message.
    fn excerpt(&self) -> String {
        match self {
            Token::Word(word) => excerpt(word),
            Token::Quoted(text) => excerpt(text),
            Token::Mark(mark) => format!("\"{mark}\""),
        }
    }
}

/// The tokens of a file.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    syntax: &'static Syntax,
    position: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens of a text.
    pub fn new(text: &'a str, syntax: &'static Syntax) -> Self {
        Tokens {
            text,
            syntax,
            position: 0,
        }
    }

    /// The byte offset up to which the text has been read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Continues from a byte offset that [`Tokens::position`] has returned.
    pub fn seek(&mut self, position: usize) {
        self.position = position;
    }

    /// An error at a byte offset.
    pub fn error(&self, at: usize, message: impl std::fmt::Display) -> Error {
        error_at(self.text, at, message)
    }

    /// The next token and its byte offset; `None` at the end.
    pub fn next(&mut self) -> Result<Option<(Token<'a>, usize)>> {
        self.skip_space()?;
        let start = self.position;
        let Some(first) = self.text.as_bytes().get(start).copied() else {
            return Ok(None);
        };
        if self.syntax.marks.contains(&first) {
            self.position += 1;
            return Ok(Some((Token::Mark(char::from(first)), start)));
        }
        if self.syntax.quotes && first == b'"' {
            return Ok(Some((Token::Quoted(self.quoted()?), start)));
        }
        // The first byte is part of the word whatever it is, so that there is progress.
        self.position += 1;
        while !self.word_ends() {
            self.position += 1;
        }
        Ok(Some((Token::Word(&self.text[start..self.position]), start)))
    }

    /// The next token; the end of the file is an error.
    pub fn require(&mut self, expected: &str) -> Result<(Token<'a>, usize)> {
        let next = self.next()?;
        next.ok_or_else(|| {
            let message = format!("expected {expected} but the file ends");
            self.error(self.text.trim_end().len(), message)
        })
    }

    /// The next token is this mark.
    pub fn expect(&mut self, mark: char) -> Result<usize> {
        let expected = format!("\"{mark}\"");
        match self.require(&expected)? {
            (Token::Mark(found), at) if found == mark => Ok(at),
            (token, at) => Err(self.unexpected(&token, at, &expected)),
        }
    }

    /// Whether the next token is this mark, which is then skipped.
    pub fn accept(&mut self, mark: char) -> Result<bool> {
        let before = self.position;
        let accepted = matches!(self.next()?, Some((Token::Mark(found), _)) if found == mark);
        if !accepted {
            self.position = before;
        }
        Ok(accepted)
    }

    /// The next token is a name.
    pub fn name(&mut self, expected: &str) -> Result<(Cow<'a, str>, usize)> {
        match self.require(expected)? {
            (Token::Word(word), at) => Ok((Cow::Borrowed(word), at)),
            (Token::Quoted(text), at) => Ok((text, at)),
            (token, at) => Err(self.unexpected(&token, at, expected)),
        }
    }

    /// Names with or without commas between them, up to a mark.
    pub fn names_until(&mut self, end: char, expected: &str) -> Result<Vec<(Cow<'a, str>, usize)>> {
        let mut names = Vec::new();
        loop {
            let (token, at) = self.require(expected)?;
            match token {
                Token::Mark(mark) if mark == end => return Ok(names),
                Token::Mark(',') => {}
                Token::Mark(_) => return Err(self.unexpected(&token, at, expected)),
                token => names.extend(token.name().map(|name| (name, at))),
            }
        }
    }

    /// The next token is a number.
    pub fn number(&mut self) -> Result<(f64, usize)> {
        let (token, at) = self.require("a number")?;
        Ok((self.value(&token, at)?, at))
    }

    /// The next token is a count or an index.
    pub fn integer(&mut self, expected: &str) -> Result<(usize, usize)> {
        let (token, at) = self.require(expected)?;
        let value = match token {
            Token::Word(word) => word.parse().ok(),
            _ => None,
        };
        let value = value.ok_or_else(|| self.unexpected(&token, at, expected))?;
        Ok((value, at))
    }

    /// Numbers with or without commas between them, up to a mark.
    pub fn numbers_until(&mut self, end: char) -> Result<Numbers> {
        let mut numbers = Numbers::default();
        loop {
            let (token, at) = self.require("a number")?;
            match token {
                Token::Mark(mark) if mark == end => return Ok(numbers),
                Token::Mark(',') => {}
                token => numbers.push(self.value(&token, at)?, at),
            }
        }
    }

    /// The finite number that a token stands for.
    pub fn value(&self, token: &Token<'_>, at: usize) -> Result<f64> {
        let value = match token {
            Token::Word(word) => finite(word),
            _ => None,
        };
        value.ok_or_else(|| self.unexpected(token, at, "a number"))
    }

    /// Skips tokens up to and including a mark.
    pub fn skip_past(&mut self, end: char) -> Result<()> {
        let expected = format!("\"{end}\"");
        while self.require(&expected)?.0 != Token::Mark(end) {}
        Ok(())
    }

    /// Skips tokens up to the next `{` and then up to its `}`.
    pub fn skip_block(&mut self) -> Result<()> {
        self.skip_past('{')?;
        let mut depth = 1usize;
        while depth > 0 {
            match self.require("\"}\"")?.0 {
                Token::Mark('{') => depth += 1,
                Token::Mark('}') => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// The error that a token is not the one expected.
    pub fn unexpected(&self, token: &Token<'_>, at: usize, expected: &str) -> Error {
        self.error(
            at,
            format!("expected {expected} but found {}", token.excerpt()),
        )
    }

    /// Whether a word ends before the next byte.
    fn word_ends(&self) -> bool {
        let Some(byte) = self.text.as_bytes().get(self.position) else {
            return true;
        };
        byte.is_ascii_whitespace()
            || self.syntax.marks.contains(byte)
            || (self.syntax.quotes && *byte == b'"')
            // A comment that begins with a letter begins a word.
            || (byte.is_ascii_punctuation() && self.comment_end().is_some())
    }

    /// Skips spaces and comments.
    fn skip_space(&mut self) -> Result<()> {
        loop {
            let rest = &self.text.as_bytes()[self.position..];
            self.position += rest
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            match self.comment_end() {
                None => return Ok(()),
                Some(Some(end)) => self.position = end,
                Some(None) => return Err(self.error(self.position, "the comment has no end")),
            }
        }
    }

    /// Where the comment that begins here ends, if one does; `Some(None)` if it has no end.
    fn comment_end(&self) -> Option<Option<usize>> {
        let bytes = &self.text.as_bytes()[self.position..];
        if self.syntax.block_comments && bytes.starts_with(b"/*") {
            let end = bytes[2..].windows(2).position(|pair| pair == b"*/");
            return Some(end.map(|end| self.position + 2 + end + 2));
        }
        let begins = |prefix: &&str| bytes.starts_with(prefix.as_bytes());
        self.syntax.comments.iter().any(begins).then(|| {
            let length = bytes
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(bytes.len());
            Some(self.position + length)
        })
    }

    /// The quoted string that begins here.
    fn quoted(&mut self) -> Result<Cow<'a, str>> {
        let start = self.position + 1;
        let bytes = self.text.as_bytes();
        let mut unescaped: Option<String> = None;
        // Up to here the text has been copied to `unescaped`.
        let mut copied = start;
        let mut here = start;
        loop {
            match bytes.get(here) {
                None => return Err(self.error(self.position, "the quoted string has no end")),
                Some(b'"') => break,
                Some(b'\\') if matches!(bytes.get(here + 1), Some(b'"' | b'\\')) => {
                    let text = unescaped.get_or_insert_default();
                    text.push_str(&self.text[copied..here]);
                    copied = here + 1;
                    here += 2;
                }
                Some(_) => here += 1,
            }
        }
        self.position = here + 1;
        let rest = &self.text[copied..here];
        Ok(match unescaped {
            None => Cow::Borrowed(rest),
            Some(text) => Cow::Owned(text + rest),
        })
    }
}

/// A name in quotes.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether a name is read back as it is without quotes.
pub(super) fn is_word(name: &str, syntax: &'static Syntax) -> bool {
    let mut tokens = Tokens::new(name, syntax);
    matches!(tokens.next(), Ok(Some((Token::Word(word), 0))) if word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    static SYNTAX: Syntax = Syntax {
        comments: &["//"],
        block_comments: true,
        marks: b"(),;",
        quotes: true,
    };

    fn all(text: &str) -> Vec<(Token<'_>, usize)> {
        let mut tokens = Tokens::new(text, &SYNTAX);
        std::iter::from_fn(|| tokens.next().unwrap()).collect()
    }

    #[test]
    fn comments_end_words_and_are_skipped() {
        let text = "0.5//half\n/* a\nb */Yes/No ( x";
        let expected = vec![
            (Token::Word("0.5"), 0),
            (Token::Word("Yes/No"), 19),
            (Token::Mark('('), 26),
            (Token::Word("x"), 28),
        ];
        assert_eq!(all(text), expected);
    }

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        for name in [
            "",
            "a b",
            "say \"hi\"",
            "C:\\",
            "\\\"",
            "line\nbreak",
            "\\n",
        ] {
            assert_eq!(all(&quote(name)), [(Token::Quoted(Cow::Borrowed(name)), 0)]);
        }
        assert_eq!(
            all(r#""C:\temp""#),
            [(Token::Quoted(Cow::Borrowed("C:\\temp")), 0)]
        );
    }

    #[test]
    fn a_word_is_a_name_that_needs_no_quotes() {
        for name in ["<5", ">=7.5", "12-18", "Yes/No", "naïve", "\u{a0}"] {
            assert!(is_word(name, &SYNTAX), "{name}");
        }
        for name in ["", "a b", "a,b", "a//b", "/*", "\"", " a", "a\n"] {
            assert!(!is_word(name, &SYNTAX), "{name}");
        }
    }

    #[test]
    fn what_has_no_end_is_an_error_at_its_beginning() {
        let unended = Tokens::new("\n  \"abc", &SYNTAX).next().unwrap_err();
        assert_eq!(
            unended.to_string(),
            "line 2: the quoted string has no end, at character 3"
        );
        let comment = Tokens::new("/* a", &SYNTAX).next().unwrap_err();
        assert_eq!(
            comment.to_string(),
            "line 1: the comment has no end, at character 1"
        );
    }
}
