//! Text with cells separated by commas, tabs or another character; quotes, quoted line ends,
//! CRLF and a byte-order mark are supported, blank lines are skipped. A row with more or fewer
//! cells than the header is an error.

use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::data::read::batch::{Batch, TextRows};
use crate::data::read::input::{Input, Packing};
use crate::data::read::lines::{Text, open_text};
use crate::data::read::split::{Block, Buffer, Shape, not_utf8};
use crate::data::read::{BATCH_BYTES, Batches, Format, Part, Parts};
use crate::{Error, Result};
use csv_core::ReadRecordResult;
use std::io::BufRead;
use std::sync::Arc;

/// Separated by commas, or by the character found in the first line.
pub(super) const CSV: Format = Format {
    name: "CSV",
    extensions: &["csv", "txt"],
    magic: |_| false,
    seeks: false,
    sparse: false,
    known: |_| &[],
    header,
    batches,
    parts: Some(parts),
};

/// Tab-separated.
pub(super) const TSV: Format = Format {
    name: "TSV",
    extensions: &["tsv", "tab"],
    ..CSV
};

/// A quoted cell of more lines than this is suspicious: a stray quote may have joined rows.
const MANY_LINES: u64 = 100;

/// The separator is found in this many bytes.
const HEAD_BYTES: usize = 1 << 18;

/// The longest row that is read; a longer one has a quote that is never closed.
const ROW_BYTES: usize = 256 << 20;

fn header(input: &Input, options: &ReadOptions) -> Result<Vec<String>> {
    let mut rows = Rows::open(input, options)?;
    let Some(line) = rows.next_row()? else {
        return Err(Error::data("the file is empty"));
    };
    let width = rows.ends.len();
    rows.lines.push(line);
    if options.no_header {
        return Ok(vec![String::new(); width]);
    }
    rows.shape = Arc::new(Shape {
        delimiter: rows.shape.delimiter,
        width,
        names: Vec::new(),
    });
    let batch = rows.batch()?;
    Ok((0..batch.width)
        .map(|column| batch.cell(0, column).trim().to_string())
        .collect())
}

fn batches(input: &Input, options: &ReadOptions, wanted: &[bool]) -> Result<Batches> {
    let parts = parts(input, options, wanted)?;
    Ok(Box::new(parts.flat_map(|part| match part {
        Ok(part) => part.decode(),
        Err(error) => vec![Err(error)],
    })))
}

fn parts(input: &Input, options: &ReadOptions, wanted: &[bool]) -> Result<Parts> {
    let mut rows = Rows::open(input, options)?;
    let shape = Shape {
        delimiter: rows.shape.delimiter,
        width: wanted.len(),
        names: options.names.clone().unwrap_or(input.header.clone()),
    };
    rows.shape = Arc::new(shape);
    if !options.no_header {
        rows.next_row()?;
        rows.clear();
    }
    Ok(Box::new(std::iter::from_fn(move || {
        rows.next_part().transpose()
    })))
}

/// The rows of a file, split into cells.
struct Rows {
    bytes: Buffer<Text>,
    splitter: csv_core::Reader,
    quote: Option<u8>,
    /// The number of the next line in `bytes`.
    line: u64,
    shape: Arc<Shape>,
    // The batch being filled; its text is `text[..used]`.
    text: Vec<u8>,
    used: usize,
    ends: Vec<usize>,
    row_ends: Vec<usize>,
    lines: Vec<u64>,
    suspicious_quotes: Vec<(u64, u64)>,
    packing: Packing,
}

impl Rows {
    fn open(input: &Input, options: &ReadOptions) -> Result<Rows> {
        let mut bytes = open_text(input, HEAD_BYTES)?;
        let packing = input.packing;
        let head = bytes.fill_buf().map_err(|e| packing.damaged(e))?;
        let is_taken = |d: &u8| b"\r\n".contains(d) || options.quote == Some(*d);
        if let Some(delimiter) = options.delimiter.filter(is_taken) {
            let shown = char::from(delimiter).escape_default();
            return Err(
                Error::parameter(format!("\"{shown}\" cannot separate cells"))
                    .with_hint("pass `delimiter` with a character such as , ; | or a tab"),
            );
        }
        let tabs = input.format.name == TSV.name;
        let delimiter = (options.delimiter)
            .or(tabs.then_some(b'\t'))
            .unwrap_or_else(|| sniff(head, options.quote));
        // In tab-separated files quotes are often ordinary characters, as text after a closing
        // quote shows. Treated as quotes, they would join rows.
        let stray = options.quote.filter(|_| tabs);
        let stray = stray.and_then(|quote| stray_quote(head, delimiter, quote));
        let quote = options.quote.filter(|_| stray.is_none());
        let mut splitter = csv_core::ReaderBuilder::new();
        splitter.delimiter(delimiter).quoting(quote.is_some());
        if let Some(quote) = quote {
            splitter.quote(quote);
        }
        Ok(Rows {
            bytes: Buffer::new(bytes),
            splitter: splitter.build(),
            quote,
            line: 1,
            shape: Arc::new(Shape {
                delimiter,
                width: 0,
                names: Vec::new(),
            }),
            text: vec![0; 1 << 16],
            used: 0,
            ends: Vec::new(),
            row_ends: vec![0; 64],
            lines: Vec::new(),
            suspicious_quotes: stray.map(|line| (line, 0)).into_iter().collect(),
            packing,
        })
    }

    fn clear(&mut self) {
        self.used = 0;
        self.ends.clear();
        self.lines.clear();
    }

    /// Skips blank lines, and counts them; false at the end of the file.
    fn skip_blank_lines(&mut self) -> Result<bool> {
        loop {
            let head = self.bytes.fill(1).map_err(|e| self.packing.damaged(e))?;
            let blank = head
                .iter()
                .take_while(|b| matches!(b, b'\n' | b'\r'))
                .count();
            self.line += head[..blank].iter().filter(|b| **b == b'\n').count() as u64;
            let all = blank == head.len() && !head.is_empty();
            let end = head.is_empty();
            self.bytes.consume(blank);
            if end || !all {
                return Ok(!end);
            }
        }
    }

    /// Appends one row to the batch and returns the line on which it starts.
    fn next_row(&mut self) -> Result<Option<u64>> {
        if !self.skip_blank_lines()? {
            return Ok(None);
        }
        let start = self.line;
        let (mut written, mut cells) = (0, 0);
        loop {
            let head = self.bytes.fill(1).map_err(|e| self.packing.damaged(e))?;
            // A line end is appended to the file to end its last row.
            let last = head.is_empty();
            let (result, read, wrote, ended) = self.splitter.read_record(
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
            self.suspicious_quotes.push((start, self.line - start));
        }
        Ok(Some(start))
    }

    /// The error of a quote that is never closed, in the cell after the first `cells` of the
    /// row that starts on line `start`.
    fn unclosed(&self, start: u64, cells: usize) -> Error {
        let before = cells.checked_sub(1).map_or(0, |last| self.row_ends[last]);
        let before = &self.text[self.used..self.used + before];
        Error::data("a quote is opened here and never closed")
            .at_line(start + memchr::memchr_iter(b'\n', before).count() as u64)
            .at_column(self.shape.name(cells))
            .with_hint("close it, or pass `quote=none`")
    }

    /// The next rows: a block of lines without quotes, or rows split here.
    fn next_part(&mut self) -> Result<Option<Part>> {
        // A delimiter that is not ASCII could equal a byte of another character.
        if self.shape.delimiter.is_ascii() {
            let lines = self.bytes.take_lines(self.quote, ROW_BYTES);
            if let Some(bytes) = lines.map_err(|e| self.packing.damaged(e))? {
                let block = Block {
                    line: self.line,
                    shape: Arc::clone(&self.shape),
                    suspicious_quotes: std::mem::take(&mut self.suspicious_quotes),
                    bytes,
                };
                self.line += memchr::memchr_iter(b'\n', &block.bytes).count() as u64;
                return Ok(Some(Part::Work(Box::new(|| block.split()))));
            }
        }
        Ok(self
            .next_batch()?
            .map(|rows| Part::Batch(Batch::Text(rows))))
    }

    /// The next rows, at most [`CHUNK_ROWS`].
    fn next_batch(&mut self) -> Result<Option<TextRows>> {
        self.clear();
        while self.lines.len() < CHUNK_ROWS && self.used < BATCH_BYTES {
            let (cells, used) = (self.ends.len(), self.used);
            let Some(line) = self.next_row()? else {
                break;
            };
            let found = self.ends.len() - cells;
            if found == self.shape.width {
                self.lines.push(line);
                continue;
            }
            if found == 1 && self.text[used..self.used].trim_ascii().is_empty() {
                self.ends.truncate(cells);
                self.used = used;
                continue;
            }
            let spanned = self.line - line;
            return Err(wrong_width(found, self.shape.width, line, spanned));
        }
        if self.lines.is_empty() {
            return Ok(None);
        }
        self.batch().map(Some)
    }

    /// Returns the rows read so far, after a check that they are UTF-8.
    fn batch(&mut self) -> Result<TextRows> {
        let size = self.text.len();
        let mut text = std::mem::replace(&mut self.text, vec![0; size]);
        text.truncate(self.used);
        let cells = self.ends.len();
        let mut rows = TextRows {
            width: self.shape.width,
            text: String::new(),
            ends: std::mem::replace(&mut self.ends, Vec::with_capacity(cells)),
            starts: Vec::new(),
            lines: std::mem::take(&mut self.lines),
            suspicious_quotes: std::mem::take(&mut self.suspicious_quotes),
        };
        self.used = 0;
        let wrong = |rows: &TextRows, at: usize| not_utf8(rows, at, &self.shape);
        let text = String::from_utf8(text);
        rows.text = text.map_err(|e| wrong(&rows, e.utf8_error().valid_up_to()))?;
        // Invalid cells may form valid text when they are concatenated.
        let text = &rows.text;
        if !text.is_ascii()
            && let Some(end) = rows.ends.iter().find(|end| !text.is_char_boundary(**end))
        {
            return Err(wrong(&rows, *end - 1));
        }
        Ok(rows)
    }
}

/// The error for a row with more or fewer cells than there are columns, given its first line and
/// the number of lines it spans.
pub(super) fn wrong_width(found: usize, width: usize, line: u64, spanned: u64) -> Error {
    Error::data(format!(
        "{found} {} where {width} are expected",
        if found == 1 { "cell" } else { "cells" },
    ))
    .at_line(line)
    .with_hint(match spanned {
        0 | 1 => "correct the row, or pass `delimiter` if another character separates cells",
        _ => "a quote that opens in this row closes on a much later line; correct it, or pass `quote=none`",
    })
}

/// The only usual separator that occurs in the first line outside quotes; a comma if there is
/// none or more than one.
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

/// The first line with a quoted cell that continues after its closing quote.
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
    use crate::data::options::ReadOptions;

    /// All rows with their lines, or the error; all split by `csv_core` unless in blocks.
    fn rows_of(input: &Input, options: &ReadOptions, blocks: bool) -> Vec<String> {
        let mut rows = Rows::open(input, options).unwrap();
        rows.shape = Arc::new(Shape {
            delimiter: rows.shape.delimiter,
            width: 2,
            names: Vec::new(),
        });
        let mut found = Vec::new();
        loop {
            let next = if blocks {
                rows.next_part().map(|part| part.map(Part::decode))
            } else {
                let batch = rows.next_batch();
                batch.map(|rows| rows.map(|rows| vec![Ok(Batch::Text(rows))]))
            };
            let batches = match next {
                Ok(Some(batches)) => batches,
                Ok(None) => return found,
                Err(error) => vec![Err(error)],
            };
            for batch in batches {
                match batch {
                    Ok(Batch::Text(rows)) => found.extend((0..rows.lines.len()).map(|row| {
                        let (line, cell) = (rows.lines[row], rows.cell(row, 0));
                        format!("{line} {cell:?} {:?}", rows.cell(row, 1))
                    })),
                    Ok(_) => unreachable!("the rows are text"),
                    Err(error) => return vec![format!("{error:?}")],
                }
            }
        }
    }

    #[test]
    fn blocks_are_split_as_csv_core_splits_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let path = path.to_str().unwrap();
        let pieces: [&[u8]; 12] = [
            b"a,b\n",
            b"1,2\r\n",
            b"\n",
            b"\r",
            b" \n",
            b",\n",
            b" x ,\xc3\xa9\n",
            b"u,v\r",
            b"\r\n",
            b"\"q\",\"r\ns\"\n",
            b"p,\xff\n",
            b"1,2,3\n",
        ];
        // The last two pieces are errors, of which files have at most one kind: in a file with
        // both, the first is reported only where rows are split in blocks.
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for file in 0..400 {
            let many = if file % 20 == 0 { 200_000 } else { 12 };
            let kinds = [9, 10, 11, 12][file % 4];
            let mut bytes = Vec::new();
            for _ in 0..random(many) {
                let rare = if many > 12 {
                    random(kinds).min(random(1000))
                } else {
                    random(kinds)
                };
                let other_error = kinds == 12 && rare == 10;
                bytes.extend_from_slice(pieces[if other_error { 0 } else { rare }]);
            }
            if file % 3 == 0 {
                bytes.pop();
            }
            std::fs::write(path, &bytes).unwrap();
            let input = Input::new(path).unwrap();
            let options = ReadOptions {
                delimiter: Some(b','),
                ..ReadOptions::default()
            };
            let expected = rows_of(&input, &options, false);
            assert!(rows_of(&input, &options, true) == expected, "{file}");
        }
    }

    #[test]
    fn text_after_a_closing_quote_is_found() {
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
