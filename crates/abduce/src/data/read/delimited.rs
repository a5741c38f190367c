//! Comma-, tab- and otherwise separated text: quotes, quoted line ends, CRLF
//! and a byte-order mark are understood; blank lines are skipped. A row with
//! more or fewer cells than the header is an error, never a guess.

use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::data::read::batch::{Batch, TextRows};
use crate::data::read::input::{Input, Packing};
use crate::data::read::{Batches, Format};
use crate::{Error, Result};
use csv_core::ReadRecordResult;
use std::io::{BufRead, BufReader, Read};

/// Comma-separated, or by whatever the first line shows.
pub(super) const CSV: Format = Format {
    name: "CSV",
    extensions: &["csv", "txt"],
    magic: |_| false,
    seeks: false,
    sparse: false,
    known: |_| &[],
    header,
    batches,
};

/// Tab-separated.
pub(super) const TSV: Format = Format {
    name: "TSV",
    extensions: &["tsv", "tab"],
    ..CSV
};

/// A batch ends when it holds this many bytes.
const BATCH_BYTES: usize = 4 << 20;

/// A quoted cell over more lines than this may be a stray quote that eats rows.
const MANY_LINES: u64 = 100;

/// A row longer than this is not a row but a quote that was never closed.
const ROW_BYTES: usize = 256 << 20;

fn header(input: &Input, options: &ReadOptions) -> Result<Vec<String>> {
    let mut rows = Rows::open(input, options)?;
    let Some(line) = rows.next_row()? else {
        return Err(Error::data("the file is empty"));
    };
    rows.width = rows.ends.len();
    rows.lines.push(line);
    if options.no_header {
        return Ok(vec![String::new(); rows.width]);
    }
    let batch = rows.batch()?;
    Ok((0..batch.width)
        .map(|column| batch.cell(0, column).trim().to_string())
        .collect())
}

fn batches(input: &Input, options: &ReadOptions, wanted: &[bool]) -> Result<Batches> {
    let mut rows = Rows::open(input, options)?;
    rows.width = wanted.len();
    rows.names = options.names.clone().unwrap_or(input.header.clone());
    if !options.no_header {
        rows.next_row()?;
    }
    Ok(Box::new(std::iter::from_fn(move || {
        rows.next_batch().transpose().map(|b| b.map(Batch::Text))
    })))
}

/// The rows of a file, cut into cells.
struct Rows {
    bytes: BufReader<Box<dyn Read + Send>>,
    cutter: csv_core::Reader,
    /// The line at which `bytes` stands.
    line: u64,
    width: usize,
    names: Vec<String>,
    // The batch being filled: all of `text` up to `used` is taken.
    text: Vec<u8>,
    used: usize,
    ends: Vec<usize>,
    row_ends: Vec<usize>,
    lines: Vec<u64>,
    long: Vec<(u64, u64)>,
    packing: Packing,
}

impl Rows {
    fn open(input: &Input, options: &ReadOptions) -> Result<Rows> {
        let mut bytes = BufReader::with_capacity(1 << 18, input.open()?);
        let packing = input.packing;
        let head = bytes.fill_buf().map_err(|e| packing.damaged(e))?;
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(Error::data("the text is UTF-16, not UTF-8")
                .at_line(1)
                .with_hint("convert it, for example with iconv -f UTF-16 -t UTF-8"));
        }
        let unfit = |d: &u8| b"\r\n".contains(d) || options.quote == Some(*d);
        if let Some(delimiter) = options.delimiter.filter(unfit) {
            let shown = char::from(delimiter).escape_default();
            return Err(
                Error::parameter(format!("\"{shown}\" cannot separate cells"))
                    .with_hint("pass --delimiter with a character such as , ; | or a tab"),
            );
        }
        let mark = if head.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let delimiter = options
            .delimiter
            .or((input.format.name == TSV.name).then_some(b'\t'))
            .unwrap_or_else(|| sniff(&head[mark..], options.quote));
        // In a file of tabs, text after a closing quote shows that quotes are
        // letters like others; taken to enclose cells they would eat rows.
        let quote = options.quote;
        let tabs = input.format.name == TSV.name;
        let stray = quote.filter(|_| tabs);
        let stray = stray.and_then(|quote| stray_quote(&head[mark..], delimiter, quote));
        let quote = quote.filter(|_| stray.is_none());
        bytes.consume(mark);
        let mut cutter = csv_core::ReaderBuilder::new();
        cutter.delimiter(delimiter).quoting(quote.is_some());
        if let Some(quote) = quote {
            cutter.quote(quote);
        }
        Ok(Rows {
            bytes,
            cutter: cutter.build(),
            line: 1,
            width: 0,
            names: Vec::new(),
            text: vec![0; 1 << 16],
            used: 0,
            ends: Vec::new(),
            row_ends: vec![0; 64],
            lines: Vec::new(),
            long: stray.map(|line| (line, 0)).into_iter().collect(),
            packing,
        })
    }

    fn clear(&mut self) {
        self.used = 0;
        self.ends.clear();
        self.lines.clear();
    }

    /// Appends one row to the batch and says on which line it starts.
    fn next_row(&mut self) -> Result<Option<u64>> {
        // The cutter would skip line ends as well, but not count them.
        loop {
            let head = self.bytes.fill_buf().map_err(|e| self.packing.damaged(e))?;
            let blank = head
                .iter()
                .take_while(|b| matches!(b, b'\n' | b'\r'))
                .count();
            self.line += head[..blank].iter().filter(|b| **b == b'\n').count() as u64;
            let all = blank == head.len() && !head.is_empty();
            let end = head.is_empty();
            self.bytes.consume(blank);
            if end {
                return Ok(None);
            }
            if !all {
                break;
            }
        }
        let start = self.line;
        let (mut written, mut cells) = (0, 0);
        loop {
            let head = self.bytes.fill_buf().map_err(|e| self.packing.damaged(e))?;
            // One line end more at the end of the file ends the row, unless it
            // stands in a quote that is still open.
            let last = head.is_empty();
            let (result, read, wrote, ended) = self.cutter.read_record(
                if last { b"\n" } else { head },
                &mut self.text[self.used + written..],
                &mut self.row_ends[cells..],
            );
            if !last {
                self.line += memchr::memchr_iter(b'\n', &head[..read]).count() as u64;
                self.bytes.consume(read);
            }
            written += wrote;
            cells += ended;
            match result {
                ReadRecordResult::InputEmpty if last => return Err(self.unclosed(start, cells)),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull
                    if written.max(cells * size_of::<usize>()) > ROW_BYTES =>
                {
                    return Err(Error::data("the row that starts here does not end").at_line(start));
                }
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => {
                    self.row_ends.resize(2 * self.row_ends.len(), 0);
                }
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(None),
            }
        }
        let used = self.used;
        self.ends
            .extend(self.row_ends[..cells].iter().map(|end| used + end));
        self.used += written;
        if self.line - start > MANY_LINES {
            self.long.push((start, self.line - start));
        }
        Ok(Some(start))
    }

    /// Says where a quote was opened: in the cell after the `cells` of the row
    /// that starts on this line.
    fn unclosed(&self, start: u64, cells: usize) -> Error {
        let before = cells.checked_sub(1).map_or(0, |last| self.row_ends[last]);
        let before = &self.text[self.used..self.used + before];
        Error::data("a quote is opened here and never closed")
            .at_line(start + memchr::memchr_iter(b'\n', before).count() as u64)
            .at_column(self.name(cells))
            .with_hint("close it, or pass --quote none")
    }

    fn name(&self, column: usize) -> String {
        let name = self.names.get(column).filter(|name| !name.is_empty());
        let by_position = || format!("column_{}", column + 1);
        name.cloned().unwrap_or_else(by_position)
    }

    /// The next rows, at most as many as a chunk has.
    fn next_batch(&mut self) -> Result<Option<TextRows>> {
        self.clear();
        while self.lines.len() < CHUNK_ROWS && self.used < BATCH_BYTES {
            let (cells, used) = (self.ends.len(), self.used);
            let Some(line) = self.next_row()? else {
                break;
            };
            let found = self.ends.len() - cells;
            if found == self.width {
                self.lines.push(line);
                continue;
            }
            if found == 1 && self.text[used..self.used].trim_ascii().is_empty() {
                self.ends.truncate(cells);
                self.used = used;
                continue;
            }
            return Err(Error::data(format!(
                "{found} {} where {} are expected",
                if found == 1 { "cell" } else { "cells" },
                self.width
            ))
            .at_line(line)
            .with_hint(match self.line - line {
                0 | 1 => "mend the row, or pass --delimiter if another character separates cells",
                _ => "a quote that opens in this row closes only lines below; mend it, or pass --quote none",
            }));
        }
        if self.lines.is_empty() {
            return Ok(None);
        }
        self.batch().map(Some)
    }

    /// Hands out what was read, after a check that it is UTF-8.
    fn batch(&mut self) -> Result<TextRows> {
        let size = self.text.len();
        let mut text = std::mem::replace(&mut self.text, vec![0; size]);
        text.truncate(self.used);
        let cells = self.ends.len();
        let ends = std::mem::replace(&mut self.ends, Vec::with_capacity(cells));
        let lines = std::mem::take(&mut self.lines);
        self.used = 0;
        let wrong = |at: usize| {
            let cell = ends.partition_point(|end| *end <= at);
            let (row, column) = (cell / self.width.max(1), cell % self.width.max(1));
            Error::data("the text is not UTF-8")
                .at_line(lines.get(row).copied().unwrap_or(1))
                .at_column(self.name(column))
                .with_hint("convert the file, for example with iconv -f LATIN1 -t UTF-8")
        };
        let text = String::from_utf8(text).map_err(|e| wrong(e.utf8_error().valid_up_to()))?;
        // Two broken cells may look whole when nothing stands between them.
        if !text.is_ascii()
            && let Some(end) = ends.iter().find(|end| !text.is_char_boundary(**end))
        {
            return Err(wrong(*end - 1));
        }
        Ok(TextRows {
            width: self.width,
            text,
            ends,
            lines,
            long: std::mem::take(&mut self.long),
        })
    }
}

/// The one of the usual separators that the first line shows outside quotes;
/// a comma when there is none or more than one.
fn sniff(head: &[u8], quote: Option<u8>) -> u8 {
    let mut quoted = false;
    let mut found = [false; 4];
    let separators = *b",;\t|";
    for &byte in head {
        match byte {
            _ if Some(byte) == quote => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            _ => {
                if let Some(at) = separators.iter().position(|s| *s == byte) {
                    found[at] = true;
                }
            }
        }
    }
    let mut shown = (0..4).filter(|at| found[*at]);
    match (shown.next(), shown.next()) {
        (Some(at), None) => separators[at],
        _ => b',',
    }
}

/// The first line on which a quoted cell goes on after its closing quote.
fn stray_quote(head: &[u8], delimiter: u8, quote: u8) -> Option<u64> {
    for (line, number) in head.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        for cell in line.split(|byte| *byte == delimiter) {
            let Some(inside) = cell.strip_prefix(&[quote]) else {
                continue;
            };
            let mut rest = inside;
            while let Some(at) = memchr::memchr(quote, rest) {
                match rest.get(at + 1) {
                    Some(next) if *next == quote => rest = &rest[at + 2..],
                    Some(_) => return Some(number),
                    None => break,
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_goes_on_after_its_closing_quote_shows_that_quotes_are_letters() {
        let stray = |head: &[u8]| stray_quote(head, b'\t', b'"');
        assert_eq!(stray(b"a\t\"b\"\n\"c \"\"d\"\"\"\t1\n"), None);
        assert_eq!(stray(b"a\tb\nham\t\"so\" he said\n"), Some(2));
        assert_eq!(stray(b"a\t5\" wide\n\"open\tb\n"), None);
    }

    #[test]
    fn the_separator_is_taken_from_the_first_line_only_when_it_is_clear() {
        assert_eq!(sniff(b"a;b;c\n1,2;3;4\n", Some(b'\"')), b';');
        assert_eq!(sniff(b"a\tb\n", Some(b'\"')), b'\t');
        assert_eq!(sniff(b"\"x;y\"|b\n", Some(b'\"')), b'|');
        assert_eq!(sniff(b"a;b,c\n", Some(b'\"')), b',');
        assert_eq!(sniff(b"a\n1;2\n", Some(b'\"')), b',');
        assert_eq!(sniff(b"", Some(b'\"')), b',');
    }
}
