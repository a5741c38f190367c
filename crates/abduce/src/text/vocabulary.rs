//! The terms of a model with their codes; in a model file, a list of strings in the order of
//! the codes.

use serde::{Deserialize, Serialize};

use super::table::{Keys, Span, TermTable};
use crate::{Error, Result};

/// Terms with codes 0, 1, 2 … in sorted order. Terms that are added later get the codes after
/// these, and codes never change.
///
/// ```
/// use abduce::text::Vocabulary;
/// let mut vocabulary: Vocabulary = ["prize", "cash"].into_iter().collect();
/// assert_eq!(vocabulary.code("prize"), Some(1));
/// assert_eq!(vocabulary.extend(["bonus", "cash"]), 1);
/// assert_eq!(vocabulary.terms().collect::<Vec<_>>(), ["cash", "prize", "bonus"]);
/// assert_eq!(vocabulary.term(7), None);
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Vocabulary {
    table: TermTable,
}

impl Vocabulary {
    /// The number of terms.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The code of a term, if it is known.
    #[inline]
    pub fn code(&self, term: &str) -> Option<u32> {
        self.table.code(term)
    }

    /// The term of a code.
    pub fn term(&self, code: u32) -> Option<&str> {
        self.table.term(code)
    }

    /// All terms in the order of their codes.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        self.table.terms()
    }

    /// Adds new terms, in sorted order, and returns their number.
    pub fn extend<T: AsRef<str>>(&mut self, terms: impl IntoIterator<Item = T>) -> usize {
        let before = self.len();
        let mut terms: Vec<T> = terms.into_iter().collect();
        terms.sort_unstable_by(|left, right| left.as_ref().cmp(right.as_ref()));
        for term in terms {
            self.table.intern(term.as_ref());
        }
        self.len() - before
    }

    /// Calls `found` with the code of every term of the text, `None` for unknown ones.
    pub(super) fn look_up(
        &self,
        text: &str,
        spans: &[Span],
        keys: &mut Keys,
        found: impl FnMut(Option<u32>),
    ) {
        self.table.look_up(text, spans, keys, found);
    }

    /// Some terms of a table, with new codes in this order.
    pub(super) fn chosen(table: &TermTable, codes: &[u32]) -> Self {
        let mut chosen = TermTable::with_room(codes.len());
        chosen.intern_from(table, codes);
        Vocabulary { table: chosen }
    }
}

impl<T: AsRef<str>> FromIterator<T> for Vocabulary {
    fn from_iter<I: IntoIterator<Item = T>>(terms: I) -> Self {
        let mut vocabulary = Vocabulary::default();
        vocabulary.extend(terms);
        vocabulary
    }
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.terms().eq(other.terms())
    }
}

impl TryFrom<Vec<String>> for Vocabulary {
    type Error = Error;

    fn try_from(terms: Vec<String>) -> Result<Self> {
        let mut vocabulary = Vocabulary {
            table: TermTable::with_room(terms.len()),
        };
        for term in &terms {
            let before = vocabulary.len();
            vocabulary.table.intern(term);
            if vocabulary.len() == before {
                return Err(Error::data(format!(
                    "the term \"{term}\" is twice in the vocabulary"
                )));
            }
        }
        Ok(vocabulary)
    }
}

impl From<Vocabulary> for Vec<String> {
    fn from(vocabulary: Vocabulary) -> Self {
        vocabulary.terms().map(str::to_string).collect()
    }
}
