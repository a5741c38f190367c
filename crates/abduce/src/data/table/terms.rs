//! Documents as sparse counts of terms, in compressed rows: only terms that occur are stored.

use arrow_buffer::ScalarBuffer;

/// The counts of terms in some documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The start of each row, and the end of the last.
    starts: ScalarBuffer<u32>,
    codes: ScalarBuffer<u32>,
    counts: ScalarBuffer<f64>,
}

impl Terms {
    /// Rows of (term, count), each in the order of the terms.
    ///
    /// ```
    /// use abduce::data::Terms;
    /// let terms = Terms::from_rows([vec![(0, 2.0), (3, 1.0)], vec![]]);
    /// assert_eq!(terms.len(), 2);
    /// assert_eq!(terms.rows().row(0), (&[0, 3][..], &[2.0, 1.0][..]));
    /// ```
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Terms {
        let mut builder = TermsBuilder::default();
        for row in rows {
            let (codes, counts): (Vec<u32>, Vec<f64>) = row.into_iter().unzip();
            builder.push(&codes, &counts);
        }
        builder.finish()
    }

    /// Terms from lists in compressed rows: row `i` is `starts[i]..starts[i + 1]`. The memory
    /// is shared unless there are counts of 0, which are left out. `None` if the lists do not
    /// match, or the terms of a row are not strictly increasing.
    ///
    /// ```
    /// use abduce::data::Terms;
    /// let rows = |starts: [u32; 3], codes: [u32; 3]| {
    ///     Terms::from_compressed(
    ///         starts.to_vec().into(),
    ///         codes.to_vec().into(),
    ///         vec![2.0, 0.0, 1.0].into(),
    ///     )
    /// };
    /// let terms = rows([0, 2, 3], [3, 7, 0]).expect("compressed rows");
    /// assert_eq!(terms, Terms::from_rows([vec![(3, 2.0)], vec![(0, 1.0)]]));
    /// assert!(rows([0, 3, 3], [3, 7, 0]).is_none());
    /// assert!(rows([0, 2, 4], [3, 7, 0]).is_none());
    /// ```
    pub fn from_compressed(
        starts: ScalarBuffer<u32>,
        codes: ScalarBuffer<u32>,
        counts: ScalarBuffer<f64>,
    ) -> Option<Terms> {
        let (first, last) = (*starts.first()? as usize, *starts.last()? as usize);
        let fits = starts.is_sorted() && codes.len() == counts.len() && last <= codes.len();
        if !fits || !are_ordered(&starts, &codes[first..last], first) {
            return None;
        }
        // Without an early exit the loop is vectorised.
        let zeros = counts[first..last]
            .iter()
            .fold(false, |found, count| found | (*count == 0.0));
        let terms = Terms::from_lists(starts, codes, counts);
        Some(if zeros { terms.without_zeros() } else { terms })
    }

    fn without_zeros(&self) -> Terms {
        let rows = self.rows();
        Terms::from_rows((0..self.len()).map(|row| {
            let (codes, counts) = rows.row(row);
            let pairs = codes.iter().copied().zip(counts.iter().copied());
            pairs.filter(|(_, count)| *count != 0.0).collect()
        }))
    }

    /// As [`from_compressed`](Terms::from_compressed), without checks.
    pub(crate) fn from_lists(
        starts: ScalarBuffer<u32>,
        codes: ScalarBuffer<u32>,
        counts: ScalarBuffer<f64>,
    ) -> Terms {
        Terms {
            starts,
            codes,
            counts,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows as kernels read them.
    pub fn rows(&self) -> TermRows<'_> {
        TermRows {
            starts: &self.starts,
            codes: &self.codes,
            counts: &self.counts,
        }
    }

    /// The rows `start..start + len`, sharing memory.
    pub fn slice(&self, start: usize, len: usize) -> Terms {
        Terms {
            starts: self.starts.slice(start, len + 1),
            ..self.clone()
        }
    }

    /// The largest code plus 1.
    pub fn width(&self) -> usize {
        let rows = self.rows();
        rows.codes()
            .iter()
            .max()
            .map_or(0, |most| *most as usize + 1)
    }
}

/// Whether the terms of each row are strictly increasing: they are if every code that is not
/// followed by a greater one ends a row. `codes` begin at position `first`.
fn are_ordered(starts: &[u32], codes: &[u32], first: usize) -> bool {
    let falls = |before: u32, after: u32| usize::from(before >= after);
    let pairs = codes.iter().zip(codes.iter().skip(1));
    let all: usize = pairs.map(|(before, after)| falls(*before, *after)).sum();
    let at_edges = starts.windows(2).map(|edge| match edge {
        // An edge is counted once, however many empty rows it has.
        [before, start] if before < start && (*start as usize) < first + codes.len() => {
            let at = *start as usize - first;
            falls(codes[at - 1], codes[at])
        }
        _ => 0,
    });
    all == at_edges.sum::<usize>()
}

/// A run of documents, as kernels read them.
#[derive(Clone, Copy, Debug)]
pub struct TermRows<'a> {
    starts: &'a [u32],
    codes: &'a [u32],
    counts: &'a [f64],
}

impl<'a> TermRows<'a> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The terms of a row, in order, and how often each occurs.
    #[inline]
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [f64]) {
        let (start, end) = (self.starts[i] as usize, self.starts[i + 1] as usize);
        (&self.codes[start..end], &self.counts[start..end])
    }

    /// The rows `start..start + len`.
    pub fn slice(&self, start: usize, len: usize) -> TermRows<'a> {
        TermRows {
            starts: &self.starts[start..=start + len],
            ..*self
        }
    }

    /// The start of each row in the lists, and the end of the last.
    pub(crate) fn starts(&self) -> &'a [u32] {
        self.starts
    }

    /// The terms of all rows, concatenated.
    pub fn codes(&self) -> &'a [u32] {
        &self.codes[self.span()]
    }

    /// How often each of [`codes`](TermRows::codes) occurs.
    pub fn counts(&self) -> &'a [f64] {
        &self.counts[self.span()]
    }

    fn span(&self) -> std::ops::Range<usize> {
        let first = self.starts.first().map_or(0, |start| *start as usize);
        let last = self.starts.last().map_or(0, |end| *end as usize);
        first..last
    }
}

/// Builds [`Terms`] row by row.
#[derive(Debug)]
pub(crate) struct TermsBuilder {
    starts: Vec<u32>,
    codes: Vec<u32>,
    counts: Vec<f64>,
}

impl Default for TermsBuilder {
    fn default() -> Self {
        TermsBuilder {
            starts: vec![0],
            codes: Vec::new(),
            counts: Vec::new(),
        }
    }
}

impl TermsBuilder {
    /// Appends a row; an empty one for a missing value.
    pub fn push(&mut self, codes: &[u32], counts: &[f64]) {
        self.codes.extend_from_slice(codes);
        self.counts.extend_from_slice(counts);
        self.starts.push(self.codes.len() as u32);
    }

    /// Returns the rows appended so far, and starts afresh.
    pub fn finish(&mut self) -> Terms {
        let TermsBuilder {
            starts,
            codes,
            counts,
        } = std::mem::take(self);
        Terms::from_lists(starts.into(), codes.into(), counts.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_of_rows_has_their_terms_and_no_others() {
        let rows = [
            vec![(1, 1.0)],
            vec![],
            vec![(0, 3.0), (9, 0.5)],
            vec![(2, 1.0)],
        ];
        let terms = Terms::from_rows(rows.clone());
        let slice = terms.slice(1, 2);
        assert_eq!(slice.len(), 2);
        assert_eq!(slice.rows().row(0), (&[][..], &[][..]));
        assert_eq!(slice.rows().row(1), (&[0, 9][..], &[3.0, 0.5][..]));
        assert_eq!(slice.rows().codes(), [0, 9]);
        assert_eq!(terms.rows().slice(2, 2).counts(), [3.0, 0.5, 1.0]);
        assert_eq!(slice.slice(1, 1).width(), 10);
        assert!(Terms::from_rows([]).is_empty());
    }

    #[test]
    fn compressed_rows_are_the_rows_they_compress() {
        let lists = |starts: &[u32], codes: &[u32], counts: &[f64]| {
            let (starts, codes) = (starts.to_vec(), codes.to_vec());
            Terms::from_compressed(starts.into(), codes.into(), counts.to_vec().into())
        };
        let rows = [
            vec![],
            vec![(4, 1.0), (6, 2.0)],
            vec![],
            vec![(1, 3.0)],
            vec![],
        ];
        let terms = lists(&[0, 0, 2, 2, 3, 3], &[4, 6, 1], &[1.0, 2.0, 3.0]);
        assert_eq!(terms, Some(Terms::from_rows(rows.clone())));
        // Lists that do not begin at 0, with zeros in some rows.
        let terms = lists(
            &[1, 2, 5, 5, 6, 6],
            &[9, 0, 4, 5, 6, 1, 1],
            &[7.0, 0.0, 1.0, -0.0, 2.0, 3.0, 0.0],
        );
        assert_eq!(terms, Some(Terms::from_rows(rows)));
        assert!(lists(&[0], &[], &[]).is_some_and(|terms| terms.is_empty()));
    }

    #[test]
    fn lists_that_are_not_ordered_rows_are_refused() {
        let refused = |starts: &[u32], codes: &[u32]| {
            let counts = vec![1.0; codes.len()];
            let (starts, codes) = (starts.to_vec(), codes.to_vec());
            Terms::from_compressed(starts.into(), codes.into(), counts.into()).is_none()
        };
        assert!(refused(&[], &[]));
        assert!(refused(&[0, 2], &[5, 5]));
        assert!(refused(&[0, 1, 3], &[0, 5, 4]));
        assert!(refused(&[0, 2, 1], &[0, 1]));
        assert!(refused(&[0, 3], &[0, 1]));
        assert!(!refused(&[0, 1, 1, 2], &[5, 5]));
    }
}
