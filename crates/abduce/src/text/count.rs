//! Vocabulary and counts of texts in memory in one pass. Threads count batches of texts with
//! local codes; the terms are merged and sorted; then threads translate the codes.

use rayon::prelude::*;

use super::analyzer::Analyzer;
use super::batch::{Batch, Entry, pieces};
use super::counter::TermCounter;
use super::documents::Documents;
use super::limits::Limits;
use super::vocabulary::Vocabulary;
use crate::Result;

/// The code of a term that the limits leave out.
const LEFT_OUT: u32 = u32::MAX;
/// The fewest bytes of text in a batch.
const SMALLEST_BATCH: usize = 1 << 16;

/// Counts the terms of texts in memory, each a document.
///
/// ```
/// use abduce::text::{Analyzer, Limits, count};
/// let texts = ["win cash", "cash, cash and more"];
/// let (vocabulary, documents) = count(&texts, &Analyzer::default(), &Limits::default())?;
/// assert_eq!(vocabulary.terms().collect::<Vec<_>>(), ["and", "cash", "more", "win"]);
/// assert_eq!(documents.row(1), (&[0, 1, 2][..], &[1, 2, 1][..]));
/// # Ok::<(), abduce::Error>(())
/// ```
pub fn count<T: AsRef<str> + Sync>(
    texts: &[T],
    analyzer: &Analyzer,
    limits: &Limits,
) -> Result<(Vocabulary, Documents)> {
    // The number of batches does not affect the result, as the vocabulary and all rows are
    // sorted. With fewer batches, fewer terms have to be merged.
    let bytes: usize = texts.iter().map(|text| text.as_ref().len() + 8).sum();
    let share = bytes.div_ceil(rayon::current_num_threads());
    let mut batches: Vec<Batch> = pieces(texts, share.max(SMALLEST_BATCH))
        .into_par_iter()
        .map(|piece| Batch::count(analyzer, &texts[piece]))
        .collect();

    let mut counter = TermCounter::default();
    let codes: Vec<Vec<Option<u32>>> = batches
        .iter_mut()
        .map(|batch| {
            let table = std::mem::take(&mut batch.table);
            counter.absorb(table, &batch.tallies, batch.ends.len())
        })
        .collect();
    let kept = counter.select(limits)?;
    let mut sorted = vec![LEFT_OUT; counter.terms()];
    for (place, &code) in (0..).zip(&kept) {
        sorted[code as usize] = place;
    }

    let translated = || -> Vec<Vec<u32>> {
        let pairs = batches.par_iter_mut().zip(&codes);
        pairs
            .map(|(batch, codes)| {
                let last = |code: &Option<u32>| code.map_or(LEFT_OUT, |code| sorted[code as usize]);
                let codes: Vec<u32> = codes.iter().map(last).collect();
                translate(batch, &codes)
            })
            .collect()
    };
    let chosen = || Vocabulary::chosen(&counter.table, &kept);
    let (unknown, vocabulary) = rayon::join(translated, chosen);
    let documents = joined(&batches, unknown.concat(), vocabulary.len());
    Ok((vocabulary, documents))
}

/// Gives the entries of a batch their final codes and sorts each row. Returns the number of
/// terms of each row that are left out.
fn translate(batch: &mut Batch, codes: &[u32]) -> Vec<u32> {
    let mut unknown = Vec::with_capacity(batch.ends.len());
    let mut start = 0;
    let mut free = 0;
    for end in &mut batch.ends {
        let mut missed: u32 = 0;
        let first = free;
        for place in start..*end {
            let Entry { code, count } = batch.entries[place];
            let code = codes[code as usize];
            if code == LEFT_OUT {
                missed = missed.saturating_add(count);
            } else {
                batch.entries[free] = Entry { code, count };
                free += 1;
            }
        }
        batch.entries[first..free].sort_unstable_by_key(|entry| entry.code);
        start = *end;
        *end = free;
        unknown.push(missed);
    }
    batch.entries.truncate(free);
    unknown
}

fn joined(batches: &[Batch], unknown: Vec<u32>, width: usize) -> Documents {
    let mut starts = Vec::with_capacity(unknown.len() + 1);
    starts.push(0);
    let mut before = 0;
    for batch in batches {
        starts.extend(batch.ends.iter().map(|end| before + end));
        before += batch.entries.len();
    }
    let column = |part: fn(&Entry) -> u32| {
        let mut column = Vec::with_capacity(before);
        for batch in batches {
            column.extend(batch.entries.iter().map(part));
        }
        column
    };
    let (terms, counts) = rayon::join(
        || column(|entry| entry.code),
        || column(|entry| entry.count),
    );
    Documents {
        starts,
        terms,
        counts,
        unknown,
        width,
    }
}
