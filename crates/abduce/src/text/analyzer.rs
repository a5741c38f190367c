//! From a text to its terms. The text is put in lower case, taken apart into
//! words (or characters), and every run of n of them is a term; runs of words
//! are joined by one space. What the terms are is what scikit-learn's
//! CountVectorizer with analyzer "word", "char" and "char_wb" makes of it.

use serde::{Deserialize, Serialize};

use super::characters::is_space;
use super::pairs::pair;
use super::stop_words::StopWords;
use super::table::{BLOCK, Span, TermTable};
use super::words::{split_ascii_words, split_words};
use crate::{Error, Result};

/// What a text is taken apart into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Runs of letters, digits and underscores.
    #[default]
    Words,
    /// Characters of any kind; several white spaces are one space.
    Characters,
    /// Characters between two white spaces, with one space put before and
    /// after: no term reaches over the end of a word.
    CharactersWithinWords,
    /// Terms that come with their weights, as in `cash:2 prize:0.5`; a weight
    /// is how often the term counts.
    Pairs,
}

/// How texts are taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalyzerOptions {
    /// What a text is taken apart into.
    pub unit: Unit,
    /// The shortest and the longest run of units that is a term: (1, 2) is
    /// single words and pairs of neighbours.
    pub ngrams: (usize, usize),
    /// Whether upper and lower case are the same.
    pub lowercase: bool,
    /// Words that are left out, before their neighbours are joined.
    pub stop_words: StopWords,
    /// How many characters a word has at least; shorter ones are left out.
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

/// Takes texts apart into terms.
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

/// Memory that an [`Analyzer`] uses again for every text.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    lowered: String,
    /// Units one after the other: words with a space between, or characters.
    units: String,
    spans: Vec<Span>,
    block: Vec<Span>,
}

impl Analyzer {
    /// Checks the options. Stop words are taken apart as texts are, so that
    /// "Don't" stops the "don" that is left of it.
    pub fn new(options: AnalyzerOptions) -> Result<Self> {
        let (shortest, longest) = options.ngrams;
        if shortest == 0 || shortest > longest {
            return Err(
                Error::parameter(format!("terms of {shortest} to {longest} units"))
                    .with_hint("the shortest run has at least 1, the longest no fewer"),
            );
        }
        let runs = options.ngrams != (1, 1) || options.stop_words != StopWords::None;
        if options.unit == Unit::Pairs && runs {
            return Err(Error::parameter("terms with weights make no text")
                .with_hint("they have no neighbours and no stop words"));
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

    /// The options that this was made with.
    pub fn options(&self) -> &AnalyzerOptions {
        &self.options
    }

    /// Calls `emit` with every term of the text, repeated ones too.
    pub fn terms(&self, text: &str, scratch: &mut Scratch, mut emit: impl FnMut(&str)) {
        self.blocks(text, scratch, |text, spans| {
            for span in spans {
                emit(&text[span.clone()]);
            }
        });
    }

    /// Calls `emit` with many terms at a time: a text, and where they lie in
    /// it.
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
                block.add_runs(units, spans, ngrams);
                block.finish(units);
            }
            Unit::Characters => {
                join_spaces(text, units);
                span_characters(units, 0, spans);
                block.add_runs(units, spans, ngrams);
                block.finish(units);
            }
            Unit::CharactersWithinWords => {
                for word in text.split(is_space).filter(|word| !word.is_empty()) {
                    let start = units.len();
                    units.push(' ');
                    units.push_str(word);
                    units.push(' ');
                    span_characters(units, start, spans);
                    // A word shorter than the run is a term once, however
                    // many lengths of runs there are.
                    if spans.len() < ngrams.0 {
                        block.add(units, start..units.len());
                    } else {
                        block.add_runs(units, spans, ngrams);
                    }
                }
                block.finish(units);
            }
            Unit::Pairs => {
                let mut start = 0;
                for word in text.split_inclusive(char::is_whitespace) {
                    // What is no pair is told of when it is weighed.
                    if let Ok((term, weight)) = pair(word.trim_end())
                        && weight > 0.0
                    {
                        block.add(text, start..start + term.len());
                    }
                    start += word.len();
                }
                block.finish(text);
            }
        }
    }

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

/// Terms that are emitted many at a time.
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

    /// Adds every run of `shortest` to `longest` neighbours.
    fn add_runs(&mut self, text: &str, units: &[Span], (shortest, longest): (usize, usize)) {
        for length in shortest..=longest.min(units.len()) {
            for run in units.windows(length) {
                self.add(text, run[0].start..run[length - 1].end);
            }
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

/// Writes the text in lower case, by all rules of Unicode: "İ" becomes two
/// characters, and a sigma at the end of a word is another one.
fn lower(text: &str, lowered: &mut String) {
    if text.is_ascii() {
        lowered.clear();
        lowered.push_str(text);
        lowered.make_ascii_lowercase();
    } else {
        *lowered = text.to_lowercase();
    }
}

/// Copies the text, with one space for every run of two or more white spaces;
/// a single tab or line break stays what it is.
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

/// Where each character lies, from `start` on.
fn span_characters(text: &str, start: usize, spans: &mut Vec<Span>) {
    spans.clear();
    spans.extend(text[start..].char_indices().map(|(place, character)| {
        let first = start + place;
        first..first + character.len_utf8()
    }));
}
