//! Sparse counts: one row for each document, with the codes of its terms in
//! order and how often each occurs. Zeros are not held (compressed sparse
//! rows).

/// How often each term occurs in each document.
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

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.unknown.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty()
    }

    /// How many codes there are: every term's is below.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Where each row starts in [`Documents::terms`] and
    /// [`Documents::counts`]; the last number is where the last row ends.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The codes of all rows, one row after the other, ascending in each.
    pub fn terms(&self) -> &[u32] {
        &self.terms
    }

    /// How often the terms occur, beside [`Documents::terms`].
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// How many terms of each document have no code: they are new, or the
    /// limits left them out.
    pub fn unknown(&self) -> &[u32] {
        &self.unknown
    }

    /// The codes of one document and how often they occur; nothing for a
    /// document that there is not.
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

    /// How many terms were counted in all, repeated ones too.
    pub fn occurrences(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// In how many documents each code occurs.
    pub fn document_frequencies(&self) -> Vec<u64> {
        let mut frequencies = vec![0; self.width];
        for &code in &self.terms {
            frequencies[code as usize] += 1;
        }
        frequencies
    }

    /// Adds the documents of another after these.
    pub fn append(&mut self, other: &Documents) {
        let before = self.terms.len();
        let ends = other.starts.iter().skip(1);
        self.starts.extend(ends.map(|end| before + end));
        self.terms.extend_from_slice(&other.terms);
        self.counts.extend_from_slice(&other.counts);
        self.unknown.extend_from_slice(&other.unknown);
        self.width = self.width.max(other.width);
    }

    /// Adds one document by the codes of its terms in any order, repeated
    /// ones too.
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
