//! Documents as counts of terms, in compressed rows: only terms that occur take
//! room, so that memory grows with the words there are and not with the
//! vocabulary.

use arrow_buffer::ScalarBuffer;

/// The counts of terms of some documents. Rows share one list of terms; a row
/// may be empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Where each row begins, and where the last one ends.
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

    /// Lists in compressed rows: row `i` is `starts[i]..starts[i + 1]`.
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

    /// The largest code and one more.
    pub fn width(&self) -> usize {
        let rows = self.rows();
        rows.codes()
            .iter()
            .max()
            .map_or(0, |most| *most as usize + 1)
    }
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

    /// Where each row begins in the lists, and where the last one ends.
    pub(crate) fn starts(&self) -> &'a [u32] {
        self.starts
    }

    /// The terms of all rows, one after the other.
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

/// Rows of terms being put together.
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
    /// Appends a row; an empty one for a hole.
    pub fn push(&mut self, codes: &[u32], counts: &[f64]) {
        self.codes.extend_from_slice(codes);
        self.counts.extend_from_slice(counts);
        self.starts.push(self.codes.len() as u32);
    }

    /// Hands out the rows appended so far.
    pub fn finish(&mut self) -> Terms {
        let own = std::mem::take(self);
        Terms {
            starts: own.starts.into(),
            codes: own.codes.into(),
            counts: own.counts.into(),
        }
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
}
