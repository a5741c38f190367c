//! The cells of a column as texts.

use crate::Result;
use crate::data::encode::shown;
use crate::data::missing::Missing;
use crate::data::read::{Cell, Located};
use std::ops::Range;

/// The texts of a run of cells, concatenated.
pub(crate) struct Texts {
    text: String,
    ends: Vec<usize>,
    seen: Vec<bool>,
}

impl Texts {
    /// The cells of a column; all missing values if the data lack it. The default words for a
    /// missing value are texts here, only those chosen by the user are not.
    pub fn of(
        located: &Located<'_>,
        column: Option<usize>,
        rows: Range<usize>,
        missing: &Missing,
    ) -> Result<Texts> {
        let none = Missing::new(&[]);
        let missing = if missing.are_default() {
            &none
        } else {
            missing
        };
        let mut texts = Texts {
            text: String::new(),
            ends: Vec::with_capacity(rows.len()),
            seen: Vec::with_capacity(rows.len()),
        };
        let mut append = |cell: Cell<'_>| {
            match cell {
                Cell::Missing => {}
                Cell::Text(text) => texts.text.push_str(text),
                other => texts.text.push_str(&shown(other)),
            }
            texts.ends.push(texts.text.len());
            texts.seen.push(cell != Cell::Missing);
        };
        match column {
            Some(column) => located.visit(column, rows, missing, |_, cell| {
                append(cell);
                Ok(())
            })?,
            None => rows.for_each(|_| append(Cell::Missing)),
        }
        Ok(texts)
    }

    /// Each text, `None` for a missing value.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let texts = starts.zip(&self.ends).zip(&self.seen);
        texts.map(|((start, end), seen)| seen.then(|| &self.text[*start..*end]))
    }
}
