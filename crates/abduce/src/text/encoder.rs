//! The second pass over a stream, and the only one with hashing: texts to counts of known
//! codes. A model file contains the encoder of each column of text.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::analyzer::{Analyzer, Scratch};
use super::batch::pieces;
use super::documents::Documents;
use super::hashing::Hashing;
use super::limits::Limits;
use super::table::Keys;
use super::vocabulary::Vocabulary;

/// Bytes of text that one thread encodes at a time.
const PIECE: usize = 1 << 18;
/// Bytes of a stream that are read before they are encoded.
const HELD: usize = 16 << 20;

/// How terms get their codes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// By a list of terms.
    Vocabulary(Vocabulary),
    /// By hashing.
    Hashing(Hashing),
}

impl Encoding {
    /// The code of a term, if it has one.
    #[inline]
    pub fn code(&self, term: &str) -> Option<u32> {
        match self {
            Encoding::Vocabulary(vocabulary) => vocabulary.code(term),
            Encoding::Hashing(hashing) => Some(hashing.code(term)),
        }
    }

    /// The term of a code, if it is known.
    pub fn term(&self, code: u32) -> Option<&str> {
        match self {
            Encoding::Vocabulary(vocabulary) => vocabulary.term(code),
            Encoding::Hashing(_) => None,
        }
    }

    /// The number of codes.
    pub fn width(&self) -> usize {
        match self {
            Encoding::Vocabulary(vocabulary) => vocabulary.len(),
            Encoding::Hashing(hashing) => hashing.width(),
        }
    }
}

/// Converts texts to counts.
///
/// ```
/// use abduce::text::{Analyzer, Encoder, Encoding, Limits, Vocabulary};
/// let vocabulary: Vocabulary = ["cash", "prize"].into_iter().collect();
/// let encoder = Encoder {
///     analyzer: Analyzer::default(),
///     encoding: Encoding::Vocabulary(vocabulary),
///     limits: Limits::default(),
/// };
/// let documents = encoder.encode(&["a prize, a big PRIZE"]);
/// assert_eq!(documents.row(0), (&[1][..], &[2][..]));
/// assert_eq!(documents.unknown(), [1]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoder {
    /// How texts are split into terms.
    pub analyzer: Analyzer,
    /// How terms get their codes.
    pub encoding: Encoding,
    /// The limits with which the vocabulary was chosen; without limits it may grow.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub limits: Limits,
}

impl Encoder {
    /// Whether terms may be added: not to a vocabulary chosen with limits, whose counts of
    /// the terms left out are unknown.
    pub fn may_grow(&self) -> bool {
        matches!(self.encoding, Encoding::Vocabulary(_)) && self.limits.are_none()
    }

    /// The counts of terms in these texts, each a document. Terms with weights are counted
    /// too; their weights are ignored.
    pub fn encode<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Documents {
        let parts: Vec<Documents> = pieces(texts, PIECE)
            .into_par_iter()
            .map(|piece| self.encode_piece(&texts[piece]))
            .collect();
        let mut documents = Documents::new(self.encoding.width());
        let entries = parts.iter().map(|part| part.terms.len()).sum();
        documents.terms.reserve_exact(entries);
        documents.counts.reserve_exact(entries);
        for part in &parts {
            documents.append(part);
        }
        documents
    }

    /// The counts of a stream of texts, only some of which are in memory at a time.
    pub fn encode_stream<T: AsRef<str> + Sync>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Documents {
        let mut documents = Documents::new(self.encoding.width());
        let mut held = Vec::new();
        let mut bytes = 0;
        for text in texts {
            bytes += text.as_ref().len() + size_of::<T>();
            held.push(text);
            if bytes >= HELD {
                documents.append(&self.encode(&held));
                held.clear();
                bytes = 0;
            }
        }
        documents.append(&self.encode(&held));
        documents
    }

    fn encode_piece<T: AsRef<str>>(&self, texts: &[T]) -> Documents {
        let mut documents = Documents::new(self.encoding.width());
        let mut scratch = Scratch::default();
        let mut keys = Keys::default();
        let mut codes = Vec::new();
        for text in texts {
            let mut unknown: u32 = 0;
            codes.clear();
            let mut found = |code| match code {
                Some(code) => codes.push(code),
                None => unknown = unknown.saturating_add(1),
            };
            self.analyzer
                .blocks(text.as_ref(), &mut scratch, |text, spans| {
                    match &self.encoding {
                        Encoding::Vocabulary(vocabulary) => {
                            vocabulary.look_up(text, spans, &mut keys, &mut found);
                        }
                        Encoding::Hashing(hashing) => {
                            for span in spans {
                                found(Some(hashing.code(&text[span.clone()])));
                            }
                        }
                    }
                });
            documents.push(&mut codes, unknown);
        }
        documents
    }
}
