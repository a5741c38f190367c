//! From raw cells to encoded columns: numbers become `f64` and levels codes. A cell that
//! does not fit its column is an error with its place and a hint.

pub(crate) mod alike;
pub(crate) mod cell_encoder;
pub(crate) mod infer;
pub(crate) mod learn_terms;
pub(crate) mod levels;
pub(crate) mod pattern;
pub(crate) mod settle;
pub(crate) mod texts;
pub(crate) mod truth;

use crate::data::missing::Missing;
use crate::data::options::kind_option;
use crate::data::read::{Cell, Located, number, token};
use crate::data::table::schema::Kind;
use crate::{Error, Result};

/// The file and line of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub file: String,
    pub line: u64,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

impl Located<'_> {
    pub fn place(&self, row: usize) -> Place {
        Place {
            file: self.name.to_string(),
            line: self.batch.line(row),
        }
    }
}

/// The number in a cell of a real or count column; `None` for a missing value.
///
/// # Errors
/// If the cell is not a number of this kind, or beyond `largest`.
#[inline]
pub(crate) fn as_number(
    cell: Cell<'_>,
    kind: Kind,
    largest: f64,
    name: &str,
    missing: &Missing,
) -> Result<Option<f64>> {
    let x = match cell {
        Cell::Missing => return Ok(None),
        Cell::Text(text) => number(text),
        Cell::Integer(x) => Some(x as f64),
        Cell::Number(x) => Some(x),
        Cell::Bool(x) => Some(f64::from(u8::from(x))),
    };
    match x {
        Some(x) if x.abs() <= largest => {
            if kind == Kind::Count && (x < 0.0 || x.fract() != 0.0) {
                return Err(not_a_count(cell, name));
            }
            Ok(Some(x))
        }
        Some(_) => Err(too_large(&shown(cell), name)),
        None => Err(not_a_number(&shown(cell), name, missing)),
    }
}

fn not_a_number(text: &str, name: &str, missing: &Missing) -> Error {
    let error = Error::data(format!("\"{text}\" is not a number")).at_column(name);
    if number(&text.replacen(',', ".", 1)).is_some() {
        return error.with_hint("numbers are written with a point; replace the comma");
    }
    error.with_hint(format!(
        "pass {} if it means missing, or correct the cell",
        missing.with(text)
    ))
}

fn not_a_count(cell: Cell<'_>, name: &str) -> Error {
    Error::data(format!("{} is not a count", shown(cell)))
        .at_column(name)
        .about_kind(Kind::Real.name())
        .with_hint(format!(
            "counts are 0, 1, 2, …; pass {} for other numbers",
            kind_option(name, Kind::Real.name())
        ))
}

/// The error of a number that is infinite or too large to be squared and summed.
pub(crate) fn too_large(text: &str, name: &str) -> Error {
    let digits = text.trim_start_matches(['+', '-']);
    let error = if digits.to_ascii_lowercase().starts_with("inf") {
        Error::data(format!("{text} is not a finite number"))
            .with_hint("correct the cell, or leave it empty")
    } else {
        let message = if number(text).is_none_or(f64::is_finite) {
            format!("{text} is too large, beyond 1e140")
        } else {
            format!("{text} is beyond the largest number of double precision, 1.8e308")
        };
        Error::data(message).with_hint("rescale the column, or correct the cell")
    };
    error.at_column(name)
}

/// A cell as a user would type it.
pub(crate) fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Text(text) => text.to_string(),
        Cell::Integer(x) => x.to_string(),
        Cell::Number(x) => token(x),
        Cell::Bool(x) => x.to_string(),
    }
}
