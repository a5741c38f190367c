//! Counts of a batch of texts with local codes, before there is a vocabulary. Threads count
//! batches independently and the codes are translated afterwards, so that every text is read
//! only once.

use std::ops::Range;

use super::analyzer::{Analyzer, Scratch};
use super::counter::Tally;
use super::table::{Keys, TermTable};

/// Counts of some texts, with codes in the order of first occurrence.
pub(super) struct Batch {
    pub table: TermTable,
    /// The total counts of each term.
    pub tallies: Vec<Tally>,
    /// The end of the entries of each text; they start at the end of the previous text's.
    pub ends: Vec<usize>,
    pub entries: Vec<Entry>,
}

/// The count of one term in one text.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub code: u32,
    pub count: u32,
}

impl Batch {
    pub fn count<T: AsRef<str>>(analyzer: &Analyzer, texts: &[T]) -> Self {
        let mut scratch = Scratch::default();
        let mut keys = Keys::default();
        let mut table = TermTable::default();
        let mut entries: Vec<Entry> = Vec::new();
        let mut ends = Vec::with_capacity(texts.len());
        // The latest entry of each term; one before `first` belongs to an earlier text.
        let mut latest: Vec<usize> = Vec::new();
        for text in texts {
            let first = entries.len();
            analyzer.blocks(text.as_ref(), &mut scratch, |text, spans| {
                table.intern_all(text, spans, &mut keys, |code| {
                    // There are fewer than 2³² terms in a batch.
                    let Some(code) = code else {
                        return;
                    };
                    match latest.get_mut(code as usize) {
                        Some(place) if *place >= first => {
                            let count = &mut entries[*place].count;
                            *count = count.saturating_add(1);
                            return;
                        }
                        Some(place) => *place = entries.len(),
                        None => latest.push(entries.len()),
                    }
                    entries.push(Entry { code, count: 1 });
                });
            });
            ends.push(entries.len());
        }
        let mut tallies = vec![Tally::default(); table.len()];
        for entry in &entries {
            tallies[entry.code as usize].add(Tally {
                documents: 1,
                occurrences: entry.count.into(),
            });
        }
        Batch {
            table,
            tallies,
            ends,
            entries,
        }
    }
}

/// Splits texts into consecutive pieces of about this many bytes.
pub(super) fn pieces<T: AsRef<str>>(texts: &[T], bytes: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut held = 0;
    for (place, text) in texts.iter().enumerate() {
        // An empty text counts too.
        held += text.as_ref().len() + 8;
        if held >= bytes {
            pieces.push(start..place + 1);
            start = place + 1;
            held = 0;
        }
    }
    if start < texts.len() {
        pieces.push(start..texts.len());
    }
    pieces
}
