//! The first pass over a stream of texts: which terms there are, in how many
//! documents each occurs, and how often. Memory stays bounded on texts that
//! bring ever new terms: when too many are held, those of the fewest documents
//! are dropped, as in lossy counting (Manku and Motwani, VLDB 2002), and what
//! that may have cost is told.

use rayon::prelude::*;

use super::analyzer::Analyzer;
use super::batch::{Batch, pieces};
use super::limits::Limits;
use super::table::TermTable;
use super::vocabulary::Vocabulary;
use crate::{Error, Result};

/// Terms held before rare ones are dropped.
const MOST_TERMS: usize = 4_000_000;
/// Bytes held before rare terms are dropped.
const MOST_BYTES: usize = 512 << 20;
/// Text that one thread counts before the counts are merged. It must not
/// depend on the number of threads, because terms are dropped between pieces.
const PIECE: usize = 1 << 20;
/// Pieces counted before they are merged: all of them are in memory.
const PIECES: usize = 16;

/// How often a term was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub documents: u64,
    pub occurrences: u64,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.documents += other.documents;
        self.occurrences += other.occurrences;
    }
}

/// Terms that were dropped to keep memory bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// How many terms; one that came back and was dropped again counts twice.
    pub terms: u64,
    /// How often they had occurred.
    pub occurrences: u64,
    /// No term occurs in more documents than it was counted in plus these.
    pub documents_missed: u64,
}

/// Counts the terms of a stream of texts, to choose a vocabulary from them.
///
/// ```
/// use abduce::text::{Analyzer, Frequency, Limits, TermCounter};
/// let mut counter = TermCounter::default();
/// counter.add(&Analyzer::default(), &["win cash now", "cash prize"]);
/// counter.add(&Analyzer::default(), &["see you now"]);
/// let limits = Limits { smallest: Frequency::Documents(2), ..Limits::default() };
/// let vocabulary = counter.finish(&limits)?;
/// assert_eq!(vocabulary.terms().collect::<Vec<_>>(), ["cash", "now"]);
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TermCounter {
    pub(super) table: TermTable,
    pub(super) tallies: Vec<Tally>,
    pub(super) documents: u64,
    most_terms: usize,
    dropped: Dropped,
}

impl Default for TermCounter {
    fn default() -> Self {
        TermCounter::holding(MOST_TERMS)
    }
}

impl TermCounter {
    /// Holds at most about so many terms at a time.
    pub fn holding(most_terms: usize) -> Self {
        TermCounter {
            table: TermTable::default(),
            tallies: Vec::new(),
            documents: 0,
            most_terms: most_terms.clamp(1, u32::MAX as usize / 2),
            dropped: Dropped::default(),
        }
    }

    /// Counts the terms of these texts, each a document.
    pub fn add<T: AsRef<str> + Sync>(&mut self, analyzer: &Analyzer, texts: &[T]) {
        for group in pieces(texts, PIECE).chunks(PIECES) {
            let batches: Vec<Batch> = group
                .par_iter()
                .map(|piece| Batch::count(analyzer, &texts[piece.clone()]))
                .collect();
            for batch in batches {
                self.absorb(batch.table, &batch.tallies, batch.ends.len());
                self.drop_rare();
            }
        }
    }

    /// How many documents were counted.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// How many different terms are held.
    pub fn terms(&self) -> usize {
        self.table.len()
    }

    /// In how many documents a term was counted.
    pub fn document_frequency(&self, term: &str) -> u64 {
        self.tally(term).documents
    }

    /// How often a term was counted.
    pub fn occurrences(&self, term: &str) -> u64 {
        self.tally(term).occurrences
    }

    fn tally(&self, term: &str) -> Tally {
        let code = self.table.code(term);
        code.and_then(|code| self.tallies.get(code as usize).copied())
            .unwrap_or_default()
    }

    /// What was dropped so far.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The vocabulary of the terms within the limits, by their text.
    pub fn finish(&self, limits: &Limits) -> Result<Vocabulary> {
        let codes = self.select(limits)?;
        Ok(Vocabulary::chosen(&self.table, &codes))
    }

    /// Whether there was not one term.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The codes of the terms within the limits, by their text.
    pub(super) fn select(&self, limits: &Limits) -> Result<Vec<u32>> {
        if self.table.is_empty() {
            return Err(Error::data("there is not one term in the texts")
                .with_hint("they may be empty, or hold nothing but stop words"));
        }
        limits.select(&self.table, &self.tallies, self.documents)
    }

    /// Adds the terms of a batch of documents, and returns the codes here of
    /// its codes.
    pub(super) fn absorb(
        &mut self,
        table: TermTable,
        tallies: &[Tally],
        documents: usize,
    ) -> Vec<Option<u32>> {
        self.documents += documents as u64;
        let all: Vec<u32> = (0..).take(table.len()).collect();
        let codes = if self.table.is_empty() {
            self.table = table;
            all.into_iter().map(Some).collect()
        } else {
            self.table.intern_from(&table, &all)
        };
        self.tallies.resize(self.table.len(), Tally::default());
        for (code, tally) in codes.iter().zip(tallies) {
            if let Some(code) = code {
                self.tallies[*code as usize].add(*tally);
            }
        }
        codes
    }

    /// Drops the terms of the fewest documents once there are too many: as
    /// few documents as leave half of the room free, so that this is rare.
    fn drop_rare(&mut self) {
        if self.table.len() <= self.most_terms && self.table.bytes() <= MOST_BYTES {
            return;
        }
        let mut frequencies: Vec<u64> = self.tallies.iter().map(|tally| tally.documents).collect();
        let keep = (self.most_terms / 2).min(self.table.len() / 2);
        let middle = frequencies.len() - 1 - keep;
        let (_, threshold, _) = frequencies.select_nth_unstable(middle);
        let threshold = *threshold;
        let mut kept = TermTable::default();
        let mut tallies = Vec::new();
        for (term, tally) in self.table.terms().zip(&self.tallies) {
            if tally.documents > threshold {
                kept.intern(term);
                tallies.push(*tally);
            } else {
                self.dropped.terms += 1;
                self.dropped.occurrences += tally.occurrences;
            }
        }
        self.dropped.documents_missed += threshold;
        self.table = kept;
        self.tallies = tallies;
    }
}
