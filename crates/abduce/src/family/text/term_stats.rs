//! The statistics of documents: how many there are, and how often each term occurs in them.
//! Counts of whole documents are exact.

use crate::Result;
use crate::data::Rows;
use crate::family::{Stats, WordsShape, never_seen};
use serde::{Deserialize, Serialize};

/// Documents and the terms in them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TermStats {
    /// The total weight of the documents.
    pub documents: f64,
    /// For each term, how often it occurred, or in how many documents.
    pub counts: Vec<f64>,
}

impl TermStats {
    /// Statistics of no document, for this number of terms.
    pub fn zero(terms: usize) -> TermStats {
        TermStats {
            documents: 0.0,
            counts: vec![0.0; terms],
        }
    }

    /// Whether these are statistics of the terms of a shape, none of them negative.
    pub(crate) fn fits(&self, shape: &WordsShape) -> bool {
        let counts = self.counts.iter().all(|count| *count >= 0.0);
        self.documents >= 0.0 && counts && self.counts.len() == shape.terms
    }

    /// Adds a document of these terms, each as often as it occurs.
    pub(crate) fn add(&mut self, codes: &[u32], counts: &[f64], weight: f64) {
        self.documents += weight;
        for (code, count) in codes.iter().zip(counts) {
            self.counts[*code as usize] += weight * count;
        }
    }

    /// Adds a document of these terms, each counted once.
    pub(crate) fn add_once(&mut self, codes: &[u32], weight: f64) {
        self.documents += weight;
        for code in codes {
            self.counts[*code as usize] += weight;
        }
    }

    /// Adds documents; `count` maps the occurrences of a term to what is counted. Documents with
    /// a missing count are left out.
    pub(crate) fn observe(&mut self, rows: &Rows, weights: &[f64], count: impl Fn(f64) -> f64) {
        each_document(rows, |document, terms| {
            let weight = weights[document];
            if terms.hidden {
                return;
            }
            self.documents += weight;
            terms.each(|term, occurs| self.counts[term] += weight * count(occurs));
        });
    }
}

impl Stats for TermStats {
    fn weight(&self) -> f64 {
        self.documents
    }

    fn merge(&mut self, other: &Self) {
        self.documents += other.documents;
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    fn scale(&mut self, factor: f64) {
        self.documents *= factor;
        self.counts.iter_mut().for_each(|count| *count *= factor);
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let less = |count: f64, other: f64| count - other < -1e-9 * (1.0 + count);
        let mut pairs = self.counts.iter().zip(&other.counts);
        if less(self.documents, other.documents) || pairs.any(|(count, other)| less(*count, *other))
        {
            return Err(never_seen());
        }
        // Rounding must not leave a trace of a term that is forgotten.
        let left = |count: f64, other: f64| match count - other {
            left if other > 0.0 && left <= 1e-12 * count => 0.0,
            left => left,
        };
        let rounding = 1e-12 * self.documents;
        self.documents = left(self.documents, other.documents);
        for (count, less) in self.counts.iter_mut().zip(&other.counts) {
            *count = left(*count, *less);
            // A term in every document must stay in exactly every document.
            if (*count - self.documents).abs() <= rounding {
                *count = self.documents;
            }
        }
        Ok(())
    }
}

/// The terms of one document.
pub(crate) struct Document<'a> {
    rows: &'a Rows<'a>,
    row: usize,
    /// Whether some of its counts are missing.
    pub hidden: bool,
}

impl Document<'_> {
    /// Passes on every term that occurs, in order, and how often.
    #[inline]
    pub fn each(&self, mut show: impl FnMut(usize, f64)) {
        match self.rows.only().terms() {
            Some(terms) => {
                let (codes, counts) = terms.row(self.row);
                let pairs = codes.iter().zip(counts);
                pairs.for_each(|(code, count)| show(*code as usize, *count));
            }
            None => {
                for (term, cells) in self.rows.columns.iter().enumerate() {
                    if cells.is_seen(self.row) && cells.reals()[self.row] != 0.0 {
                        show(term, cells.reals()[self.row]);
                    }
                }
            }
        }
    }

    /// Passes on every term whose count is missing.
    pub fn each_hidden(&self, mut show: impl FnMut(usize)) {
        for (term, cells) in self.rows.columns.iter().enumerate() {
            if !cells.is_seen(self.row) {
                show(term);
            }
        }
    }
}

/// Passes on the documents that are not wholly missing: rows of one column of text, or of a
/// column of counts for each term.
pub(crate) fn each_document(rows: &Rows, mut show: impl FnMut(usize, Document)) {
    for row in 0..rows.len {
        let seen = rows.columns.iter().filter(|c| c.is_seen(row)).count();
        if seen > 0 {
            let hidden = seen < rows.columns.len();
            show(row, Document { rows, row, hidden });
        }
    }
}
