//! Cells as text: numbers in the fewest digits that parse to the same number, and words quoted only
//! where CSV needs it.

use abduce::data::{Column, Field, Kind};
use std::io::{self, Write};

/// A number in the fewest digits that parse to the same number.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if size.is_finite() && !(1e-5..1e16).contains(&size) {
        format!("{x:e}")
    } else {
        x.to_string()
    }
}

/// A filled or drawn cell: the name of a level, or a number, which is whole in a column of whole
/// numbers.
pub fn filled(field: &Field, x: f64) -> String {
    match field.kind {
        kind if kind.is_coded() => field.levels.get(x as usize).cloned().unwrap_or_default(),
        Kind::Count => number(field.rounded(x)),
        _ => number(field.rounded(x * field.unit)),
    }
}

/// The number or code in a column's cell; `None` for a missing value.
pub fn value(column: &Column, row: usize) -> Option<f64> {
    column.cells(row, 1).number(0)
}

/// Writes one line of CSV, or of TSV if the separator is a tab.
pub fn write_line<'a>(
    out: &mut impl Write,
    separator: u8,
    cells: impl IntoIterator<Item = &'a str>,
) -> io::Result<()> {
    let mut cells = cells.into_iter().peekable();
    let mut alone = true;
    while let Some(cell) = cells.next() {
        let last = cells.peek().is_none();
        // Most readers of CSV skip an empty line.
        if needs_quotes(cell, separator) || (alone && last && cell.is_empty()) {
            write!(out, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            out.write_all(cell.as_bytes())?;
        }
        if !last {
            out.write_all(&[separator])?;
        }
        alone = false;
    }
    out.write_all(b"\n")
}

fn needs_quotes(cell: &str, separator: u8) -> bool {
    let is_space = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_whitespace());
    cell.bytes()
        .any(|c| c == separator || matches!(c, b'"' | b'\n' | b'\r'))
        || is_space(cell.bytes().next())
        || is_space(cell.bytes().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_parse_to_the_same_number() {
        for x in [
            0.0,
            -1.0,
            0.1,
            1e300,
            1.5e-7,
            123456789.125,
            f64::MIN_POSITIVE,
        ] {
            assert_eq!(number(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
            assert!(number(x).len() < 25, "{}", number(x));
        }
        assert_eq!(number(f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn only_cells_that_need_quotes_are_quoted() {
        let separated = |separator: u8, cells: &[&str]| {
            let mut out = Vec::new();
            write_line(&mut out, separator, cells.iter().copied()).unwrap();
            String::from_utf8(out).unwrap()
        };
        let line = |cells: &[&str]| separated(b',', cells);
        assert_eq!(separated(b'\t', &["a,b", "c\td"]), "a,b\t\"c\td\"\n");
        assert_eq!(line(&["a", "b c", ""]), "a,b c,\n");
        assert_eq!(line(&["a,b", "say \"x\""]), "\"a,b\",\"say \"\"x\"\"\"\n");
        assert_eq!(line(&[""]), "\"\"\n");
    }
}
