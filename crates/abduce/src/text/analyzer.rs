//! Splits a text into terms. The text is put in lower case and split into words or
//! characters; every n-gram of them is a term, words joined by one space. The terms are those
//! of scikit-learn's CountVectorizer with analyzer "word", "char" and "char_wb".

use serde::{Deserialize, Serialize};

use super::characters::is_space;
use super::pairs::pair;
use super::stop_words::StopWords;
use super::table::{BLOCK, Span, TermTable};
use super::words::{split_ascii_words, split_words};
use crate::{Error, Result};

/// What a text is split into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Runs of letters, digits and underscores.
    #[default]
    Words,
    /// All characters; several white spaces are one space.
    Characters,
    /// The characters of each word, padded with a space on both sides; no term spans words.
    CharactersWithinWords,
    /// Terms with weights, which are used as counts, as in `cash:2 prize:0.5`.
    Pairs,
}

/// How texts are split into terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalyzerOptions {
    /// What a text is split into.
    pub unit: Unit,
    /// The smallest and the largest n of n-grams: (1, 2) is single words and pairs of
    /// neighbours.
    pub ngrams: (usize, usize),
    /// Whether texts are converted to lower case.
    pub lowercase: bool,
    /// Words that are left out before n-grams are formed.
    pub stop_words: StopWords,
    /// The fewest characters of a word; shorter ones are left out.
    pub shortest_word: usize,
}

impl Default for AnalyzerOptions {
    fn default() -> Self {
        AnalyzerOptions {
            unit: Unit::Words,
            ngrams: (1, 1),
            lowercase: true,
            stop_words: StopWords::None,
            shortest_word: 2,
        }
    }
}

/// Splits texts into terms.
///
/// ```
/// use abduce::text::{Analyzer, AnalyzerOptions, Scratch};
/// let options = AnalyzerOptions { ngrams: (1, 2), ..Default::default() };
/// let analyzer = Analyzer::new(options)?;
/// let mut terms = Vec::new();
/// analyzer.terms("Win a PRIZE now!", &mut Scratch::default(), |term| terms.push(term.to_string()));
/// assert_eq!(terms, ["win", "prize", "now", "win prize", "prize now"]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "AnalyzerOptions", into = "AnalyzerOptions")]
pub struct Analyzer {
    options: AnalyzerOptions,
    stop_words: TermTable,
}

/// Buffers that an [`Analyzer`] reuses for every text.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    lowered: String,
    /// The concatenated units: words separated by a space, or characters.
    units: String,
    spans: Vec<Span>,
    block: Vec<Span>,
}

impl Analyzer {
    /// An analyzer with these options. Stop words are split as texts are, so that "don't"
    /// leaves out "don".
    ///
    /// # Errors
    /// If the range of n-grams is empty, or pairs are to have n-grams or stop words.
    pub fn new(options: AnalyzerOptions) -> Result<Self> {
        let (shortest, longest) = options.ngrams;
        if shortest == 0 || shortest > longest {
            return Err(
                Error::parameter(format!("n-grams of {shortest} to {longest} units"))
                    .with_hint("the smallest n is at least 1, and at most the largest"),
            );
        }
        let is_plain = options.ngrams == (1, 1) && options.stop_words == StopWords::None;
        if options.unit == Unit::Pairs && !is_plain {
            let message = "n-grams and stop words are not supported for terms with weights";
            return Err(Error::parameter(message));
        }
        let whole_words = Analyzer {
            options: AnalyzerOptions {
                unit: Unit::Words,
                ngrams: (1, 1),
                stop_words: StopWords::None,
                ..options.clone()
            },
            stop_words: TermTable::default(),
        };
        let mut stop_words = TermTable::default();
        let mut scratch = Scratch::default();
        for words in options.stop_words.words() {
            whole_words.terms(words, &mut scratch, |word| {
                stop_words.intern(word);
            });
        }
        Ok(Analyzer {
            options,
            stop_words,
        })
    }

    /// The options of this analyzer.
    pub fn options(&self) -> &AnalyzerOptions {
        &self.options
    }

    /// Calls `emit` with every occurrence of a term in the text.
    pub fn terms(&self, text: &str, scratch: &mut Scratch, mut emit: impl FnMut(&str)) {
        self.blocks(text, scratch, |text, spans| {
            for span in spans {
                emit(&text[span.clone()]);
            }
        });
    }

    /// Calls `emit` with many terms at a time, as spans of a text.
    pub(super) fn blocks(
        &self,
        text: &str,
        scratch: &mut Scratch,
        emit: impl FnMut(&str, &[Span]),
    ) {
        let Scratch {
            lowered,
            units,
            spans,
            block,
        } = scratch;
        let text = if self.options.lowercase {
            lower(text, lowered);
            lowered.as_str()
        } else {
            text
        };
        units.clear();
        spans.clear();
        let mut block = Block::new(block, emit);
        let ngrams = self.options.ngrams;
        match self.options.unit {
            Unit::Words if ngrams == (1, 1) => {
                self.words(text, |word| block.add(text, word));
                block.finish(text);
            }
            Unit::Words => {
                self.words(text, |word| {
                    if !units.is_empty() {
                        units.push(' ');
                    }
                    spans.push(units.len()..units.len() + word.len());
                    units.push_str(&text[word]);
                });
                block.add_ngrams(units, spans, ngrams);
                block.finish(units);
            }
            Unit::Characters => {
                join_spaces(text, units);
                span_characters(units, 0, spans);
                block.add_ngrams(units, spans, ngrams);
                block.finish(units);
            }
            Unit::CharactersWithinWords => {
                for word in text.split(is_space).filter(|word| !word.is_empty()) {
                    block.add_padded_word(word, units, spans, ngrams);
                }
                block.finish(units);
            }
            Unit::Pairs => {
                block.add_pairs(text);
                block.finish(text);
            }
        }
    }

    /// Calls `emit` with every word that is long enough and not a stop word.
    fn words(&self, text: &str, mut emit: impl FnMut(Span)) {
        let shortest = self.options.shortest_word;
        let stops = !self.stop_words.is_empty();
        let is_ascii = text.is_ascii();
        let split = |span: Span| {
            let long_enough = span.len() >= shortest
                && (is_ascii || text[span.clone()].chars().count() >= shortest);
            if long_enough && !(stops && self.stop_words.code_at(text, &span).is_some()) {
                emit(span);
            }
        };
        if is_ascii {
            split_ascii_words(text, split);
        } else {
            split_words(text, split);
        }
    }
}

/// Collects terms and emits many at a time.
struct Block<'a, Emit> {
    spans: &'a mut Vec<Span>,
    emit: Emit,
}

impl<'a, Emit: FnMut(&str, &[Span])> Block<'a, Emit> {
    fn new(spans: &'a mut Vec<Span>, emit: Emit) -> Self {
        spans.clear();
        Block { spans, emit }
    }

    #[inline]
    fn add(&mut self, text: &str, span: Span) {
        self.spans.push(span);
        if self.spans.len() == BLOCK {
            self.finish(text);
        }
    }

    /// Adds all n-grams of the units for n from `shortest` to `longest`.
    fn add_ngrams(&mut self, text: &str, units: &[Span], (shortest, longest): (usize, usize)) {
        for n in shortest..=longest.min(units.len()) {
            for ngram in units.windows(n) {
                self.add(text, ngram[0].start..ngram[n - 1].end);
            }
        }
    }

    /// Appends a word padded with spaces to `units`, and adds its n-grams of characters.
    fn add_padded_word(
        &mut self,
        word: &str,
        units: &mut String,
        spans: &mut Vec<Span>,
        ngrams: (usize, usize),
    ) {
        let start = units.len();
        units.push(' ');
        units.push_str(word);
        units.push(' ');
        span_characters(units, start, spans);
        // As in scikit-learn, a word shorter than the smallest n is one term.
        if spans.len() < ngrams.0 {
            self.add(units, start..units.len());
        } else {
            self.add_ngrams(units, spans, ngrams);
        }
    }

    /// Adds the terms of all pairs of positive weight. Malformed pairs are skipped; they are
    /// an error when the text is weighed.
    fn add_pairs(&mut self, text: &str) {
        let mut start = 0;
        for word in text.split_inclusive(char::is_whitespace) {
            if let Ok((term, weight)) = pair(word.trim_end())
                && weight > 0.0
            {
                self.add(text, start..start + term.len());
            }
            start += word.len();
        }
    }

    fn finish(&mut self, text: &str) {
        (self.emit)(text, self.spans);
        self.spans.clear();
    }
}

impl TryFrom<AnalyzerOptions> for Analyzer {
    type Error = Error;

    fn try_from(options: AnalyzerOptions) -> Result<Self> {
        Analyzer::new(options)
    }
}

impl From<Analyzer> for AnalyzerOptions {
    fn from(analyzer: Analyzer) -> Self {
        analyzer.options
    }
}

impl PartialEq for Analyzer {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

/// Writes the text in lower case by the rules of Unicode: "İ" becomes two characters, and a
/// sigma at the end of a word becomes "ς".
fn lower(text: &str, lowered: &mut String) {
    if text.is_ascii() {
        lowered.clear();
        lowered.push_str(text);
        lowered.make_ascii_lowercase();
    } else {
        *lowered = text.to_lowercase();
    }
}

/// Copies the text with one space for every run of two or more white spaces; a single tab or
/// line break is kept.
fn join_spaces(text: &str, joined: &mut String) {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let mut kept = character;
        if is_space(character) {
            while characters.next_if(|next| is_space(*next)).is_some() {
                kept = ' ';
            }
        }
        joined.push(kept);
    }
}

/// The span of each character from `start` on.
fn span_characters(text: &str, start: usize, spans: &mut Vec<Span>) {
    spans.clear();
    spans.extend(text[start..].char_indices().map(|(place, character)| {
        let first = start + place;
        first..first + character.len_utf8()
    }));
}
