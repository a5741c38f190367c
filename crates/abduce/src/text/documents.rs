//! Sparse counts in compressed sparse rows: one row for each document, with the codes of its
//! terms in order and their counts.

/// The counts of terms in documents.
///
/// ```
/// use abduce::text::{Analyzer, Limits, count};
/// let texts = ["cash prize, cash!", "see you"];
/// let (vocabulary, documents) = count(&texts, &Analyzer::default(), &Limits::default())?;
/// let (terms, counts) = documents.row(0);
/// let named: Vec<_> = terms.iter().filter_map(|code| vocabulary.term(*code)).collect();
/// assert_eq!((named, counts), (vec!["cash", "prize"], &[2, 1][..]));
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents {
    pub(super) starts: Vec<usize>,
    pub(super) terms: Vec<u32>,
    pub(super) counts: Vec<u32>,
    pub(super) unknown: Vec<u32>,
    pub(super) width: usize,
}

impl Documents {
    /// No documents, of terms with codes below `width`.
    pub fn new(width: usize) -> Self {
        Documents {
            starts: vec![0],
            terms: Vec::new(),
            counts: Vec::new(),
            unknown: Vec::new(),
            width,
        }
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.unknown.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty()
    }

    /// The number of codes; every code is below it.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The start of each row in [`Documents::terms`] and [`Documents::counts`], and the end
    /// of the last.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The codes of all rows, ascending within each row.
    pub fn terms(&self) -> &[u32] {
        &self.terms
    }

    /// The count of each of [`Documents::terms`].
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The number of terms of each document that have no code, because they are new or left
    /// out by the limits.
    pub fn unknown(&self) -> &[u32] {
        &self.unknown
    }

    /// The codes and counts of one document; empty if there is no such document.
    pub fn row(&self, document: usize) -> (&[u32], &[u32]) {
        match self.starts.get(document..document.saturating_add(2)) {
            Some(&[start, end]) => (&self.terms[start..end], &self.counts[start..end]),
            _ => (&[], &[]),
        }
    }

    /// All documents in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (&[u32], &[u32])> {
        (0..self.len()).map(|document| self.row(document))
    }

    /// The total count of all terms.
    pub fn occurrences(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// Appends other documents.
    pub fn append(&mut self, other: &Documents) {
        let before = self.terms.len();
        let ends = other.starts.iter().skip(1);
        self.starts.extend(ends.map(|end| before + end));
        self.terms.extend_from_slice(&other.terms);
        self.counts.extend_from_slice(&other.counts);
        self.unknown.extend_from_slice(&other.unknown);
        self.width = self.width.max(other.width);
    }

    /// Appends one document, given by a code for each occurrence of a term, in any order.
    pub(super) fn push(&mut self, codes: &mut [u32], unknown: u32) {
        codes.sort_unstable();
        for run in codes.chunk_by(|left, right| left == right) {
            self.terms.push(run[0]);
            self.counts
                .push(u32::try_from(run.len()).unwrap_or(u32::MAX));
        }
        self.starts.push(self.terms.len());
        self.unknown.push(unknown);
    }
}
