//! Cells as numbers and as levels. A level that is a number has one spelling, so that 1, 1.0
//! and 1e0 are the same level; codes with leading zeros and integers that `f64` does not
//! represent exactly are compared as text.

use crate::data::read::batch::Cell;
use std::borrow::Cow;

/// Numbers beyond this overflow when squared and summed.
pub(crate) const TOO_LARGE: f64 = 1e140;

/// From here on, `f64` does not represent every integer.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;

/// Parses a trimmed cell as a number, which may be infinite.
#[inline]
pub(crate) fn number(text: &str) -> Option<f64> {
    number_of_bytes(text.as_bytes())
}

/// As [`number`], for the bytes of a cell.
#[inline]
pub(super) fn number_of_bytes(text: &[u8]) -> Option<f64> {
    match text.first()? {
        b'0'..=b'9' | b'+' | b'-' | b'.' | b'i' | b'I' => fast_float2::parse::<f64, _>(text)
            .ok()
            .filter(|x| !x.is_nan()),
        _ => None,
    }
}

/// What identifies a level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key<'a> {
    /// A finite number, by value; never the negative zero.
    Number(f64),
    /// Anything else, by spelling.
    Word(Cow<'a, str>),
}

/// The level of a cell; `None` for a missing value.
#[inline]
pub(crate) fn key(cell: Cell<'_>) -> Option<Key<'_>> {
    Some(match cell {
        Cell::Missing => return None,
        Cell::Text(text) => match number(text) {
            Some(x) if is_plain(text.as_bytes(), x) => Key::Number(x + 0.0),
            _ => Key::Word(Cow::Borrowed(text)),
        },
        Cell::Integer(x) if (x as f64).abs() < EXACT => Key::Number(x as f64),
        Cell::Integer(x) => Key::Word(Cow::Owned(x.to_string())),
        Cell::Number(x) if x.is_finite() => Key::Number(x + 0.0),
        Cell::Number(x) => Key::Word(Cow::Owned(x.to_string())),
        Cell::Bool(x) => Key::Word(Cow::Borrowed(if x { "true" } else { "false" })),
    })
}

/// Whether the value of a number identifies it, so that its spelling does not matter.
#[inline]
pub(super) fn is_plain(text: &[u8], x: f64) -> bool {
    let signs = text.iter().take_while(|byte| b"+-".contains(byte)).count();
    let padded = matches!(text[signs..], [b'0', b'0'..=b'9', ..]);
    !padded && x.is_finite() && (x.abs() < EXACT || x.fract() != 0.0)
}

/// The canonical spelling of a number.
pub(crate) fn token(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < EXACT {
        format!("{}", x as i64)
    } else {
        format!("{x:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_read_as_numbers() {
        for (text, x) in [
            ("1", 1.0),
            ("-2.5", -2.5),
            ("+3", 3.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("1E-2", 0.01),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(number(text), Some(x), "{text}");
        }
        for text in [
            "", "nan", "-nan", "0x10", "1_000", "1,5", "1 2", "--1", "e5", "-", ".", "in", "12a",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn spellings_of_one_number_are_one_level_but_codes_are_not() {
        let of = |text| key(Cell::Text(text)).unwrap();
        assert_eq!(of("1"), of("1.0"));
        assert_eq!(of("1"), of("+1e0"));
        assert_eq!(of("0"), of("-0.0"));
        assert_ne!(of("7"), of("007"));
        assert_ne!(of("9007199254740993"), of("9007199254740992"));
        assert_eq!(of("1"), key(Cell::Integer(1)).unwrap());
        assert_eq!(token(1.0), "1");
        assert_eq!(token(0.25), "0.25");
        assert_eq!(token(1e300), "1e300");
    }
}
