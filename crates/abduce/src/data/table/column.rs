//! Encoded columns. Numbers are `f64`, levels `u32` codes, texts counts of terms; a missing
//! value is a cleared validity bit.

use crate::data::table::cells::{Bits, Cells, Values};
use crate::data::table::chunk::CHUNK_ROWS;
use crate::data::table::schema::Kind;
use crate::data::table::terms::{Terms, TermsBuilder};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};

/// One encoded column of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real or count cells.
    Real {
        /// The numbers, finite but meaningless at missing values.
        values: ScalarBuffer<f64>,
        /// Which cells are seen; `None` if all are.
        nulls: Option<NullBuffer>,
    },
    /// Binary, categorical or ordinal cells.
    Code {
        /// The codes, 0 at missing values.
        values: ScalarBuffer<u32>,
        /// Which cells are seen; `None` if all are.
        nulls: Option<NullBuffer>,
    },
    /// Text cells.
    Text {
        /// The terms of each cell, none at missing values.
        values: Terms,
        /// Which cells are seen; `None` if all are.
        nulls: Option<NullBuffer>,
    },
}

impl Column {
    /// A column of numbers; `None` and NaN are missing values.
    pub fn from_numbers(cells: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (values, seen) = split(cells.into_iter().map(|c| c.filter(|x| !x.is_nan())));
        Column::Real {
            values: values.into(),
            nulls: nulls(seen),
        }
    }

    /// A column of codes; `None` is a missing value.
    pub fn from_codes(cells: impl IntoIterator<Item = Option<u32>>) -> Self {
        let (values, seen) = split(cells.into_iter());
        Column::Code {
            values: values.into(),
            nulls: nulls(seen),
        }
    }

    /// A column of text from the terms of each cell, in order, with their counts; `None` is a
    /// missing value.
    pub fn from_terms(cells: impl IntoIterator<Item = Option<Vec<(u32, f64)>>>) -> Self {
        let (values, seen) = split(cells.into_iter());
        Column::Text {
            values: Terms::from_rows(values),
            nulls: nulls(seen),
        }
    }

    /// A column of missing values.
    pub fn hidden(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Text => Column::from_terms(vec![None; rows]),
            kind if kind.is_coded() => Column::from_codes(vec![None; rows]),
            _ => Column::from_numbers(vec![None; rows]),
        }
    }

    /// Whether the cells can be of this kind.
    pub fn fits(&self, kind: Kind) -> bool {
        match self {
            Column::Real { .. } => matches!(kind, Kind::Real | Kind::Count),
            Column::Code { .. } => kind.is_coded(),
            Column::Text { .. } => kind == Kind::Text,
        }
    }

    /// A column of cells from other columns, each given by column and row.
    pub(crate) fn gather<'a>(
        cells: impl Iterator<Item = (&'a Column, usize)>,
        kind: Kind,
    ) -> Column {
        fn seen<T: Copy>(values: &[T], nulls: &Option<NullBuffer>, i: usize) -> Option<T> {
            nulls
                .as_ref()
                .is_none_or(|n| n.is_valid(i))
                .then(|| values[i])
        }
        match kind {
            Kind::Text => {
                let mut builder = TermsBuilder::default();
                let mut seen = Vec::new();
                for (column, i) in cells {
                    let cells = column.cells(i, 1);
                    let (codes, counts) = cells.terms().map_or((&[][..], &[][..]), |t| t.row(0));
                    builder.push(codes, counts);
                    seen.push(cells.is_seen(0));
                }
                Column::Text {
                    values: builder.finish(),
                    nulls: nulls(seen),
                }
            }
            kind if kind.is_coded() => Column::from_codes(cells.map(|cell| match cell {
                (Column::Code { values, nulls }, i) => seen(values, nulls, i),
                _ => None,
            })),
            _ => Column::from_numbers(cells.map(|cell| match cell {
                (Column::Real { values, nulls }, i) => seen(values, nulls, i),
                _ => None,
            })),
        }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        match self {
            Column::Real { values, .. } => values.len(),
            Column::Code { values, .. } => values.len(),
            Column::Text { values, .. } => values.len(),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which cells are seen; `None` if all are.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        match self {
            Column::Real { nulls, .. }
            | Column::Code { nulls, .. }
            | Column::Text { nulls, .. } => nulls.as_ref(),
        }
    }

    /// A view of the rows `start..start + len`.
    pub fn cells(&self, start: usize, len: usize) -> Cells<'_> {
        let seen = self
            .nulls()
            .map(|nulls| Bits::new(nulls.inner()).slice(start, len));
        let values = match self {
            Column::Real { values, .. } => Values::Real(&values[start..start + len]),
            Column::Code { values, .. } => Values::Code(&values[start..start + len]),
            Column::Text { values, .. } => Values::Text(values.rows().slice(start, len)),
        };
        Cells { values, seen }
    }

    /// The rows `start..start + len`, sharing memory.
    pub fn slice(&self, start: usize, len: usize) -> Column {
        match self {
            Column::Real { values, nulls } => Column::Real {
                values: values.slice(start, len),
                nulls: nulls.as_ref().map(|n| n.slice(start, len)),
            },
            Column::Code { values, nulls } => Column::Code {
                values: values.slice(start, len),
                nulls: nulls.as_ref().map(|n| n.slice(start, len)),
            },
            Column::Text { values, nulls } => Column::Text {
                values: values.slice(start, len),
                nulls: nulls.as_ref().map(|n| n.slice(start, len)),
            },
        }
    }

    /// The rows at the positions `rows`, in that order.
    pub fn take(&self, rows: &[u32]) -> Column {
        let nulls = self.nulls().map(|n| {
            NullBuffer::new(BooleanBuffer::collect_bool(rows.len(), |i| {
                n.is_valid(rows[i] as usize)
            }))
        });
        let nulls = nulls.filter(|n| n.null_count() > 0);
        match self {
            Column::Real { values, .. } => Column::Real {
                values: taken(values, rows).into(),
                nulls,
            },
            Column::Code { values, .. } => Column::Code {
                values: taken(values, rows).into(),
                nulls,
            },
            Column::Text { values, .. } => {
                let mut builder = TermsBuilder::default();
                for row in rows {
                    let (codes, counts) = values.rows().row(*row as usize);
                    builder.push(codes, counts);
                }
                Column::Text {
                    values: builder.finish(),
                    nulls,
                }
            }
        }
    }
}

fn taken<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|row| values[*row as usize]).collect()
}

fn split<T: Default>(cells: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<bool>) {
    cells
        .map(|cell| {
            let seen = cell.is_some();
            (cell.unwrap_or_default(), seen)
        })
        .unzip()
}

fn nulls(seen: Vec<bool>) -> Option<NullBuffer> {
    seen.contains(&false).then(|| NullBuffer::from(seen))
}

/// Reusable buffers for cells in another order.
#[derive(Default)]
pub(crate) struct Gather {
    reals: Vec<f64>,
    codes: Vec<u32>,
    other: Option<Column>,
}

impl Gather {
    /// The cells at the positions `rows`, in that order.
    pub fn cells(&mut self, column: &Column, rows: &[u32]) -> Cells<'_> {
        match column {
            Column::Real {
                values,
                nulls: None,
            } => {
                self.reals.clear();
                put_in_order(values, rows, &mut self.reals);
                Cells::real(&self.reals)
            }
            Column::Code {
                values,
                nulls: None,
            } => {
                self.codes.clear();
                put_in_order(values, rows, &mut self.codes);
                Cells::code(&self.codes)
            }
            _ => (self.other.insert(column.take(rows))).cells(0, rows.len()),
        }
    }
}

/// Appends the values at the positions `rows`. For a full chunk, whose length is a constant,
/// the modulus removes the bounds checks.
fn put_in_order<T: Copy>(values: &[T], rows: &[u32], out: &mut Vec<T>) {
    debug_assert!(rows.iter().all(|row| (*row as usize) < values.len()));
    match <&[T; CHUNK_ROWS]>::try_from(values) {
        Ok(full) => out.extend(rows.iter().map(|row| full[*row as usize % CHUNK_ROWS])),
        Err(_) => out.extend(rows.iter().map(|row| values[*row as usize])),
    }
}
