//! Borrowed views of columns, as families and kernels read them.

use crate::data::table::terms::TermRows;
use arrow_buffer::BooleanBuffer;

/// Borrowed validity bits; a set bit means seen.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    offset: usize,
    len: usize,
}

impl<'a> Bits<'a> {
    /// A view of an Arrow bitmap.
    pub fn new(buffer: &'a BooleanBuffer) -> Self {
        Bits {
            bytes: buffer.values(),
            offset: buffer.offset(),
            len: buffer.len(),
        }
    }

    /// Whether bit `i` is set.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        debug_assert!(i < self.len);
        let bit = self.offset + i;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits `start..start + len`.
    pub fn slice(&self, start: usize, len: usize) -> Bits<'a> {
        assert!(start + len <= self.len);
        Bits {
            bytes: self.bytes,
            offset: self.offset + start,
            len,
        }
    }
}

/// The values of some consecutive cells.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Numbers.
    Real(&'a [f64]),
    /// Codes of levels.
    Code(&'a [u32]),
    /// Terms of documents.
    Text(TermRows<'a>),
}

/// A view of some consecutive cells of one column.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// The values, meaningless where a cell is not seen.
    pub values: Values<'a>,
    /// Which cells are seen; `None` if all are.
    pub seen: Option<Bits<'a>>,
}

impl<'a> Cells<'a> {
    /// Numbers without missing values.
    pub fn real(values: &'a [f64]) -> Self {
        Cells {
            values: Values::Real(values),
            seen: None,
        }
    }

    /// Codes without missing values.
    pub fn code(values: &'a [u32]) -> Self {
        Cells {
            values: Values::Code(values),
            seen: None,
        }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        match self.values {
            Values::Real(values) => values.len(),
            Values::Code(values) => values.len(),
            Values::Text(rows) => rows.len(),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether every cell is seen.
    pub fn is_complete(&self) -> bool {
        self.seen.is_none()
    }

    /// Whether cell `i` is seen.
    #[inline]
    pub fn is_seen(&self, i: usize) -> bool {
        self.seen.is_none_or(|bits| bits.get(i))
    }

    /// Cell `i` as a number, a level as its code; `None` for missing values and text.
    #[inline]
    pub fn number(&self, i: usize) -> Option<f64> {
        match self.values {
            Values::Real(values) => self.is_seen(i).then(|| values[i]),
            Values::Code(codes) => self.is_seen(i).then(|| f64::from(codes[i])),
            Values::Text(_) => None,
        }
    }

    /// The numbers; empty for other columns.
    #[inline]
    pub fn reals(&self) -> &'a [f64] {
        match self.values {
            Values::Real(values) => values,
            _ => &[],
        }
    }

    /// The codes; empty for other columns.
    #[inline]
    pub fn codes(&self) -> &'a [u32] {
        match self.values {
            Values::Code(values) => values,
            _ => &[],
        }
    }

    /// The terms of documents; `None` for other columns.
    #[inline]
    pub fn terms(&self) -> Option<TermRows<'a>> {
        match self.values {
            Values::Text(rows) => Some(rows),
            _ => None,
        }
    }

    /// The cells `start..start + len`.
    pub fn slice(&self, start: usize, len: usize) -> Cells<'a> {
        let values = match self.values {
            Values::Real(values) => Values::Real(&values[start..start + len]),
            Values::Code(values) => Values::Code(&values[start..start + len]),
            Values::Text(rows) => Values::Text(rows.slice(start, len)),
        };
        Cells {
            values,
            seen: self.seen.map(|bits| bits.slice(start, len)),
        }
    }
}

/// Some rows of the columns of one family.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The columns, all of the same length.
    pub columns: &'a [Cells<'a>],
    /// The number of rows.
    pub len: usize,
}

impl<'a> Rows<'a> {
    /// Rows over the given columns.
    pub fn new(columns: &'a [Cells<'a>]) -> Self {
        let len = columns.first().map_or(0, Cells::len);
        debug_assert!(columns.iter().all(|c| c.len() == len));
        Rows { columns, len }
    }

    /// The only column of a one-column family.
    #[inline]
    pub fn only(&self) -> &Cells<'a> {
        &self.columns[0]
    }
}
