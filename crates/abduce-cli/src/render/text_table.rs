//! Text tables: a first column of names, then numbers.

use crate::io::escape;
use std::fmt::Write;
use std::ops::Range;
use terminal_size::terminal_size;
use unicode_width::UnicodeWidthStr;

/// A table with a heading line.
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub fn new<T: Into<String>>(heading: impl IntoIterator<Item = T>) -> TextTable {
        let mut table = TextTable { rows: Vec::new() };
        table.row(heading);
        table
    }

    /// Adds a row; each cell is escaped to one line.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells = cells.into_iter().map(Into::into);
        let safe = cells.map(|cell: String| escape::line(&cell).into_owned());
        self.rows.push(safe.collect());
    }

    /// The lines, indented, with names on the left and numbers aligned to the right. A table wider
    /// than the terminal is divided into blocks of columns, each with the names.
    pub fn text(&self, indent: usize) -> String {
        self.within(indent, terminal_width())
    }

    fn within(&self, indent: usize, most: usize) -> String {
        let widths = self.widths();
        let fits = |names: usize| (widths.iter().skip(1)).all(|width| names + 2 + width <= most);
        if fits(indent + widths.first().copied().unwrap_or(0)) {
            return self.in_blocks(&widths, indent, most);
        }
        // A long title of the names would push the columns out of the terminal.
        let mut table = TextTable {
            rows: self.rows.clone(),
        };
        let title = table.rows[0].first_mut().map(std::mem::take);
        let title = wrapped(&title.unwrap_or_default(), most - indent.min(most), 0);
        let title = title.lines().map(|line| format!("{:indent$}{line}\n", ""));
        title.collect::<String>() + &table.in_blocks(&table.widths(), indent, most)
    }

    /// The widths of the columns.
    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(c));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }

    /// The lines, in blocks of columns that fit.
    fn in_blocks(&self, widths: &[usize], indent: usize, most: usize) -> String {
        let mut text = String::new();
        for block in blocks(widths, indent, most) {
            if !text.is_empty() {
                text.push('\n');
            }
            for row in &self.rows {
                let mut line = " ".repeat(indent);
                let names = row.iter().enumerate().take(1);
                let shown = row.iter().enumerate().take(block.end).skip(block.start);
                for (c, cell) in names.chain(shown) {
                    let gap = " ".repeat(widths[c] - cell.width());
                    let _ = match c {
                        0 => write!(line, "{cell}{gap}"),
                        _ => write!(line, "  {gap}{cell}"),
                    };
                }
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    }
}

/// The columns after the first, in blocks that fit next to it.
fn blocks(widths: &[usize], indent: usize, most: usize) -> Vec<Range<usize>> {
    let names = indent + widths.first().copied().unwrap_or(0);
    let (mut blocks, mut start, mut used) = (Vec::new(), 1, names);
    for (c, width) in widths.iter().enumerate().skip(1) {
        if c > start && used + 2 + width > most {
            blocks.push(start..c);
            (start, used) = (c, names);
        }
        used += 2 + width;
    }
    blocks.push(start..widths.len().max(1));
    blocks
}

/// The number of characters in a line of a table: COLUMNS if it is set, else the width of the
/// terminal, else 80.
fn terminal_width() -> usize {
    let terminal = || terminal_size().map(|(width, _)| usize::from(width.0));
    let terminal = || terminal().filter(|width| *width > 0);
    columns_variable().or_else(terminal).unwrap_or(80)
}

/// The number of characters in a line of text: as for tables, but unlimited in files and pipes
/// unless COLUMNS is set.
pub fn line_width(is_terminal: bool) -> usize {
    if is_terminal {
        terminal_width()
    } else {
        columns_variable().unwrap_or(usize::MAX)
    }
}

/// The environment variable COLUMNS, if it is a positive number.
fn columns_variable() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?;
    columns.trim().parse().ok().filter(|columns| *columns > 0)
}

/// Indented lines `name value` with aligned values, which are wrapped at `width`.
pub fn labelled<N: AsRef<str>, V: AsRef<str>>(
    lines: impl IntoIterator<Item = (N, V)>,
    width: usize,
) -> String {
    let mut text = String::new();
    for (name, value) in lines {
        let (name, value) = (escape::line(name.as_ref()), escape::line(value.as_ref()));
        let line = format!("  {name:<15} {value}");
        text.push_str(&wrapped(line.trim_end(), width, 18));
        text.push('\n');
    }
    text
}

/// A line wrapped at spaces to `width`; all lines after the first are indented.
pub fn wrapped(line: &str, width: usize, indent: usize) -> String {
    // A deep indent would leave no room for words in a narrow terminal.
    let indent = indent.min(width / 2);
    let start = line.len() - line.trim_start().len();
    let (mut text, mut used) = (line[..start].to_string(), start);
    let mut is_first = true;
    for word in line[start..].split(' ') {
        let wide = word.width();
        if !is_first && used + 1 + wide > width {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if !is_first {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += wide;
        is_first = false;
    }
    text
}

/// A count with its noun: `1 row`, `2 rows`.
pub fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// A number with about six significant digits.
pub fn readable(x: f64) -> String {
    readable_within(x, 0.0)
}

/// The number with this natural logarithm, as a power of ten if it is smaller than any `f64`.
pub fn readable_exp(log: f64) -> String {
    if log < -700.0 && log.is_finite() {
        format!("10^{:.1}", log / std::f64::consts::LN_10)
    } else {
        readable(log.exp())
    }
}

/// Formats a number with uncertainty `width`: about six significant digits, or as many as three
/// digits of `width` need.
pub fn readable_within(x: f64, width: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return x.to_string();
    }
    let place = |size: f64| size.log10().floor() as i32;
    let least = if width > 0.0 { 2 - place(width) } else { 0 };
    if !(1e-4..1e9).contains(&size) {
        let digits = (least + place(size)).clamp(4, 15) as usize;
        return format!("{x:.digits$e}");
    }
    let digits = (5 - place(size))
        .clamp(0, 8)
        .max(least.min(15 - place(size))) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_is_divided_into_blocks_that_fit() {
        let mut table = TextTable::new(["k", "EII", "VII", "EEI"]);
        table.row(["1", "-1234.56", "-2234.56", "-3234.56"]);
        let cut = table.within(2, 24);
        assert!(cut.lines().all(|line| line.width() <= 24), "{cut}");
        assert_eq!(cut.matches("\n  k").count() + 1, 2, "{cut}");
        assert!(cut.contains("-3234.56"), "{cut}");
        assert_eq!(table.within(2, 80).lines().count(), 2);
        let narrow = table.within(2, 5);
        assert_eq!(narrow.lines().filter(|l| l.contains("  1 ")).count(), 3);
    }

    #[test]
    fn a_long_title_is_above_columns_that_would_not_fit_next_to_it() {
        let mut table = TextTable::new(["covariance of Adelie", "flipper_length_mm"]);
        table.row(["x", "1.5"]);
        let lines = "  covariance of Adelie\n     flipper_length_mm\n  x                1.5\n";
        assert_eq!(table.within(2, 40), lines);
        assert_eq!(table.within(2, 41).lines().count(), 2);
    }

    #[test]
    fn long_lines_are_wrapped_at_spaces_and_keep_every_word() {
        let line = "  fitted on       first.csv, second.csv, third-with-a-long-name.csv";
        let broken = wrapped(line, 40, 18);
        assert!(broken.lines().count() > 1, "{broken}");
        assert!(broken.lines().all(|line| line.width() <= 44), "{broken}");
        assert!(
            broken
                .lines()
                .skip(1)
                .all(|line| line.starts_with(&" ".repeat(18)))
        );
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&broken), words(line));
        assert_eq!(wrapped(line, usize::MAX, 18), line);
        assert_eq!(wrapped("ein größeres 漢字", 12, 2), "ein größeres\n  漢字");
        assert_eq!(wrapped("", 1, 5), "");
    }

    #[test]
    fn readable_numbers_keep_six_digits() {
        assert_eq!(readable(1234.5678), "1234.57");
        assert_eq!(readable(0.00123456789), "0.00123457");
        assert_eq!(readable(1e-9), "1.0000e-9");
        assert_eq!(readable(3.0), "3");
        assert_eq!(readable(0.0), "0");
        assert_eq!(readable(-0.0), "0");
    }

    #[test]
    fn numbers_too_small_for_f64_are_shown_as_powers_of_ten() {
        assert_eq!(readable_exp(0.25_f64.ln()), "0.25");
        assert_eq!(readable_exp(-2302.585093), "10^-1000.0");
        assert_eq!(readable_exp(f64::NEG_INFINITY), "0");
    }

    #[test]
    fn interval_ends_are_shown_with_enough_digits_to_differ() {
        assert_eq!(readable_within(1000000.23333, 0.5), "1000000.233");
        assert_eq!(readable_within(1e12 + 0.25, 0.5), "1.000000000000250e12");
        assert_eq!(readable_within(0.5, 1e-300), "0.5");
        assert_eq!(readable_within(1e-300, 1e-300), "1.0000e-300");
        assert_eq!(readable_within(2.5, f64::INFINITY), "2.5");
    }
}
