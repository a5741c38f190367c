//! The first pass over a stream of texts: the terms with their document frequencies and
//! counts. Memory is bounded by lossy counting (Manku and Motwani, VLDB 2002): when there are
//! too many terms, those of the fewest documents are dropped, and the possible error is
//! reported.

use rayon::prelude::*;

use super::analyzer::Analyzer;
use super::batch::{Batch, pieces};
use super::limits::Limits;
use super::table::TermTable;
use super::vocabulary::Vocabulary;
use crate::{Error, Result};

/// The number of terms above which rare ones are dropped.
const MAX_TERMS: usize = 4_000_000;
/// The memory in bytes above which rare terms are dropped.
const MAX_BYTES: usize = 512 << 20;
/// Bytes of text counted at a time by one thread. Terms are dropped between pieces, so this
/// must not depend on the number of threads.
const PIECE: usize = 1 << 20;
/// The number of pieces counted before they are merged.
const PIECES: usize = 16;

/// How often a term occurs.
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
    /// The number of dropped terms; one that recurs and is dropped again counts twice.
    pub terms: u64,
    /// The number of their occurrences.
    pub occurrences: u64,
    /// The most documents by which a document frequency may be too small.
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
        TermCounter::holding(MAX_TERMS)
    }
}

impl TermCounter {
    /// A counter that keeps at most about this many terms.
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

    /// The number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of different terms.
    pub fn terms(&self) -> usize {
        self.table.len()
    }

    /// The number of documents with a term.
    pub fn document_frequency(&self, term: &str) -> u64 {
        self.tally(term).documents
    }

    /// The number of occurrences of a term.
    pub fn occurrences(&self, term: &str) -> u64 {
        self.tally(term).occurrences
    }

    fn tally(&self, term: &str) -> Tally {
        let code = self.table.code(term);
        code.and_then(|code| self.tallies.get(code as usize).copied())
            .unwrap_or_default()
    }

    /// The terms dropped so far.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The vocabulary of the terms within the limits, sorted.
    ///
    /// # Errors
    /// If no term is left.
    pub fn finish(&self, limits: &Limits) -> Result<Vocabulary> {
        let codes = self.select(limits)?;
        Ok(Vocabulary::chosen(&self.table, &codes))
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The codes of the terms within the limits, sorted by term.
    pub(super) fn select(&self, limits: &Limits) -> Result<Vec<u32>> {
        if self.table.is_empty() {
            return Err(Error::data("there are no terms in the texts")
                .with_hint("they may be empty, or consist of stop words only"));
        }
        limits.select(&self.table, &self.tallies, self.documents)
    }

    /// Adds the terms of a batch of documents, and returns their codes in this counter.
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

    /// Drops about half of the terms, those of the fewest documents, if there are too many.
    fn drop_rare(&mut self) {
        if self.table.len() <= self.most_terms && self.table.bytes() <= MAX_BYTES {
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
