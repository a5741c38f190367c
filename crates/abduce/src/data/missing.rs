//! The words for a missing value.

use crate::data::options::{ReadOptions, quoted};

/// The words for a missing value, prepared for a fast check of every cell.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    tokens: Vec<String>,
    starts: [bool; 256],
    longest: usize,
}

impl Missing {
    pub fn new(tokens: &[String]) -> Self {
        let tokens: Vec<String> = tokens
            .iter()
            .map(|token| token.trim_ascii().to_string())
            .filter(|token| !token.is_empty())
            .collect();
        let mut starts = [false; 256];
        for token in &tokens {
            let start = token.as_bytes()[0];
            starts[start as usize] = true;
            if any_case(token) {
                starts[start.to_ascii_lowercase() as usize] = true;
                starts[start.to_ascii_uppercase() as usize] = true;
            }
        }
        Missing {
            longest: tokens.iter().map(String::len).max().unwrap_or(0),
            starts,
            tokens,
        }
    }

    /// Whether these are the default words.
    pub fn are_default(&self) -> bool {
        let default = Missing::new(&ReadOptions::default().missing);
        self.tokens == default.tokens
    }

    /// Whether a trimmed cell is a missing value.
    #[inline]
    pub fn is(&self, trimmed: &str) -> bool {
        self.is_bytes(trimmed.as_bytes())
    }

    /// As [`Missing::is`], for the bytes of a cell.
    #[inline]
    pub fn is_bytes(&self, trimmed: &[u8]) -> bool {
        let Some(&start) = trimmed.first() else {
            return true;
        };
        self.starts[start as usize] && trimmed.len() <= self.longest && self.is_token(trimmed)
    }

    fn is_token(&self, trimmed: &[u8]) -> bool {
        self.tokens.iter().any(|token| {
            let word = token.as_bytes();
            word == trimmed || (any_case(token) && word.eq_ignore_ascii_case(trimmed))
        })
    }

    /// The option that makes one more word a missing value, as messages name it.
    pub fn with(&self, word: &str) -> String {
        let mut tokens: Vec<String> = self.tokens.clone();
        tokens.push(if word.contains(',') {
            format!("\"{word}\"")
        } else {
            word.to_string()
        });
        format!("`missing={}`", quoted(&tokens.join(",")))
    }
}

/// Whether a word is matched in any case. "None" is not, as "none" may be an answer, nor are
/// words that the user chose.
fn any_case(token: &str) -> bool {
    let words = ["na", "n/a", "#n/a", "nan", "null"];
    words.iter().any(|word| token.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_words_are_missing_values_and_others_are_not() {
        let missing = Missing::new(&ReadOptions::default().missing);
        for word in [
            "", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "Null",
            "None", "?",
        ] {
            assert!(missing.is(word), "{word}");
        }
        for word in ["NAA", "0", "-", "??", "nul", "none", "#"] {
            assert!(!missing.is(word), "{word}");
        }
        assert!(Missing::new(&[]).is(""));
    }
}
