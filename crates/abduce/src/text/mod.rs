//! Raw text to sparse counts. An [`Analyzer`] splits a text into terms (words, characters or
//! n-grams of them), a [`Vocabulary`] or [`Hashing`] gives every term a code, and
//! [`Documents`] hold the counts of the codes in each text. [`count`] does this in one pass
//! over texts in memory; a [`TermCounter`] followed by an [`Encoder`] in two passes over a
//! stream. [`Messages`] reads texts from mailbox files, [`file_text`] from other files.

mod analyzer;
mod batch;
mod characters;
mod count;
mod counter;
mod documents;
mod encoder;
#[cfg(feature = "text")]
mod files;
mod hashing;
#[cfg(test)]
mod laws;
mod limits;
mod pairs;
mod stop_words;
mod table;
mod vocabulary;
mod words;

pub use analyzer::{Analyzer, AnalyzerOptions, Scratch, Unit};
pub use count::count;
pub use counter::{Dropped, TermCounter};
pub use documents::Documents;
pub use encoder::{Encoder, Encoding};
#[cfg(feature = "text")]
pub(crate) use files::begins_a_mailbox;
#[cfg(feature = "text")]
pub use files::{Mail, Messages, file_text};
pub use hashing::{Hashing, murmur3};
pub use limits::{Frequency, Limits};
pub(crate) use pairs::pair;
pub use stop_words::StopWords;
pub use vocabulary::Vocabulary;
