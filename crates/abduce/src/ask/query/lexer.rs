//! Reads a question from left to right: signs, quoted texts, keywords and names.

use super::ast::{Operator, Word};
use crate::{Error, Result};

/// The operators; where one begins another, the longer comes first.
const OPERATORS: [(&str, Operator); 10] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("≠", Operator::NotEqual),
    ("≤", Operator::AtMost),
    ("≥", Operator::AtLeast),
];

/// The characters of a question and how far they are read.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    characters: &'a [char],
    next: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(characters: &'a [char]) -> Lexer<'a> {
        Lexer {
            characters,
            next: 0,
        }
    }

    /// The position of the next character, counted from 1.
    pub fn position(&self) -> usize {
        self.next + 1
    }

    /// An error at the next character.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::parameter(message).at_position(self.position())
    }

    pub fn rest(&self) -> &'a [char] {
        &self.characters[self.next..]
    }

    pub fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub fn skip_spaces(&mut self) {
        let spaces = self.rest().iter().take_while(|c| c.is_whitespace());
        self.next += spaces.count();
    }

    /// Cuts the last character off, if it is this one but for spaces.
    pub fn cut_last(&mut self, last: char) -> bool {
        let end = self.rest().iter().rposition(|c| !c.is_whitespace());
        let end = end.filter(|end| self.rest()[*end] == last);
        if let Some(end) = end {
            self.characters = &self.characters[..self.next + end];
        }
        end.is_some()
    }

    /// Whether the next characters are these.
    pub fn sees(&self, text: &str) -> bool {
        let mut rest = self.rest().iter();
        text.chars().all(|c| rest.next() == Some(&c))
    }

    /// Skips spaces, and then these characters if they are next.
    pub fn take(&mut self, text: &str) -> bool {
        self.skip_spaces();
        let found = self.sees(text);
        if found {
            self.next += text.chars().count();
        }
        found
    }

    /// Skips spaces, and then a keyword if it is next and nothing continues it.
    pub fn take_keyword(&mut self, word: &str) -> bool {
        let mut after = *self;
        let found = after.take(word) && !after.rest().first().is_some_and(|c| is_of_word(*c));
        if found {
            *self = after;
        }
        found
    }

    /// Whether a keyword is next, behind a space.
    pub fn sees_keyword(mut self, word: &str) -> bool {
        let before = self.characters[..self.next].last();
        before.is_some_and(|c| c.is_whitespace()) && self.take_keyword(word)
    }

    pub fn sees_operator(mut self) -> bool {
        self.take_operator().is_some()
    }

    pub fn take_operator(&mut self) -> Option<Operator> {
        let mut operators = OPERATORS.iter();
        operators.find_map(|(sign, operator)| self.take(sign).then_some(*operator))
    }

    /// A text in quotes, if a quote is next. A quote within it is doubled.
    pub fn take_quoted(&mut self) -> Result<Option<Word>> {
        self.skip_spaces();
        let Some(quote) = self.rest().first().copied().filter(|c| "\"'".contains(*c)) else {
            return Ok(None);
        };
        let mut text = String::new();
        let mut rest = self.rest()[1..].iter().peekable();
        let mut length = 1;
        while let Some(c) = rest.next() {
            length += 1;
            if *c != quote {
                text.push(*c);
            } else if rest.next_if_eq(&&quote).is_some() {
                length += 1;
                text.push(quote);
            } else {
                let position = self.position();
                self.next += length;
                return Ok(Some(Word { text, position }));
            }
        }
        Err(self.error("this quote is not closed"))
    }

    /// One of some texts, if it is next and `ends` accepts what follows: the longest.
    pub fn take_known<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t str>,
        ends: impl Fn(&Lexer) -> bool,
    ) -> Option<Word> {
        self.skip_spaces();
        let position = self.position();
        let known = texts.filter(|text| !text.is_empty() && self.sees(text));
        let known = known.filter_map(|text| {
            let mut after = *self;
            after.next += text.chars().count();
            after.skip_spaces();
            ends(&after).then_some((after, text))
        });
        let (after, text) = known.max_by_key(|(after, _)| after.next)?;
        *self = after;
        Some(Word {
            text: text.into(),
            position,
        })
    }

    /// All characters before the first place that `ends` accepts, without spaces around them.
    pub fn take_until(&mut self, ends: impl Fn(&Lexer) -> bool) -> Word {
        self.skip_spaces();
        let position = self.position();
        let start = self.next;
        while !self.is_at_end() && !ends(self) {
            self.next += 1;
        }
        let text: String = self.characters[start..self.next].iter().collect();
        Word {
            text: text.trim_end().into(),
            position,
        }
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
