//! Splits blocks of text without quotes into cells, as `csv_core` does but faster: every
//! delimiter ends a cell, every line end a row, and blank lines are skipped.

use crate::data::read::batch::{Batch, TextRows};
use crate::data::read::delimited::wrong_width;
use crate::{Error, Result};
use std::io::Read;
use std::sync::Arc;

/// The number of bytes in a block.
const BLOCK_BYTES: usize = 1 << 19;

/// The least number of bytes before a quote that are worth a block.
const MIN_BYTES: usize = 1 << 14;

/// What the rows of a file look like.
pub(super) struct Shape {
    pub delimiter: u8,
    /// The number of cells in each row.
    pub width: usize,
    pub names: Vec<String>,
}

impl Shape {
    /// The name of a column in messages.
    pub fn name(&self, column: usize) -> String {
        let name = self.names.get(column).filter(|name| !name.is_empty());
        let by_position = || format!("column_{}", column + 1);
        name.cloned().unwrap_or_else(by_position)
    }
}

/// Whole lines of a file without quotes.
pub(super) struct Block {
    pub bytes: Vec<u8>,
    /// The number of the first line.
    pub line: u64,
    pub shape: Arc<Shape>,
    /// Rows with suspicious quotes before the block, as `Batch::suspicious_quotes` returns them.
    pub suspicious_quotes: Vec<(u64, u64)>,
}

impl Block {
    /// The rows of the block, and the error after them if there is one.
    pub fn split(mut self) -> Vec<Result<Batch>> {
        let mut rows = TextRows {
            width: self.shape.width,
            suspicious_quotes: std::mem::take(&mut self.suspicious_quotes),
            ..TextRows::default()
        };
        let error = self.find_cells(&mut rows);
        let (text, error) = match String::from_utf8(self.bytes) {
            Ok(text) => (text, error),
            Err(invalid) => {
                let at = invalid.utf8_error().valid_up_to();
                (String::new(), Some(not_utf8(&rows, at, &self.shape)))
            }
        };
        rows.text = text;
        let rows = (!rows.lines.is_empty() && !rows.text.is_empty()).then_some(Batch::Text(rows));
        rows.into_iter().map(Ok).chain(error.map(Err)).collect()
    }

    /// Finds the cells of all rows, or of those before the first row with an error; the text
    /// of the others is removed.
    fn find_cells(&mut self, rows: &mut TextRows) -> Option<Error> {
        let width = self.shape.width;
        let (mut start, mut line, mut cells) = (0, self.line, 0);
        let mut row_end = |rows: &mut TextRows, end: usize, line_end: bool| {
            let row = start;
            start = end + 1;
            let number = line;
            line += u64::from(line_end);
            if row == end {
                return None;
            }
            rows.ends.push(end);
            let found = rows.ends.len() - cells;
            if found == width {
                cells = rows.ends.len();
                rows.lines.push(number);
                rows.starts.push(row);
                return None;
            }
            rows.ends.truncate(cells);
            let blank = found == 1 && self.bytes[row..end].trim_ascii().is_empty();
            (!blank).then(|| (row, wrong_width(found, width, number, 1)))
        };
        let mut failed = None;
        for at in memchr::memchr3_iter(self.shape.delimiter, b'\n', b'\r', &self.bytes) {
            let byte = self.bytes[at];
            if byte == self.shape.delimiter {
                rows.ends.push(at);
                continue;
            }
            failed = row_end(rows, at, byte == b'\n');
            if failed.is_some() {
                break;
            }
        }
        if failed.is_none() {
            failed = row_end(rows, self.bytes.len(), false);
        }
        let (row, error) = failed?;
        self.bytes.truncate(row);
        Some(error)
    }
}

/// The error of bytes at some place of the text that are not UTF-8.
pub(super) fn not_utf8(rows: &TextRows, at: usize, shape: &Shape) -> Error {
    let cell = rows.ends.partition_point(|end| *end <= at);
    let (row, column) = (cell / rows.width.max(1), cell % rows.width.max(1));
    Error::data("the text is not UTF-8")
        .at_line(rows.lines.get(row).copied().unwrap_or(1))
        .at_column(shape.name(column))
        .with_hint("convert the file, for example with iconv -f LATIN1 -t UTF-8")
}

/// A file read in large blocks.
pub(super) struct Buffer<R> {
    reader: R,
    bytes: Vec<u8>,
    /// The bytes before are consumed.
    at: usize,
    ended: bool,
}

impl<R: Read> Buffer<R> {
    pub fn new(reader: R) -> Self {
        Buffer {
            reader,
            bytes: Vec::new(),
            at: 0,
            ended: false,
        }
    }

    /// The bytes read and not consumed, at least `wanted` of them unless the file ends.
    pub fn fill(&mut self, wanted: usize) -> std::io::Result<&[u8]> {
        let mut have = self.bytes.len() - self.at;
        if have < wanted && !self.ended {
            self.bytes.drain(..self.at);
            self.at = 0;
            self.bytes.resize(wanted.max(BLOCK_BYTES), 0);
            let read = self.read_after(&mut have);
            self.bytes.truncate(have);
            read?;
        }
        Ok(&self.bytes[self.at..])
    }

    /// Reads into the buffer after the bytes it has, until it is full or the file ends.
    fn read_after(&mut self, have: &mut usize) -> std::io::Result<()> {
        while *have < self.bytes.len() && !self.ended {
            match self.reader.read(&mut self.bytes[*have..]) {
                Ok(0) => self.ended = true,
                Ok(read) => *have += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub fn consume(&mut self, count: usize) {
        self.at += count;
    }

    /// Takes whole lines without the quote, about [`BLOCK_BYTES`] of them. `None` if there are
    /// hardly any before the next quote, or a line is longer than `longest`.
    pub fn take_lines(
        &mut self,
        quote: Option<u8>,
        longest: usize,
    ) -> std::io::Result<Option<Vec<u8>>> {
        let mut wanted = BLOCK_BYTES;
        let end = loop {
            self.fill(wanted)?;
            let bytes = &self.bytes[self.at..];
            let quoted = quote.and_then(|quote| memchr::memchr(quote, bytes));
            let unquoted = &bytes[..quoted.unwrap_or(bytes.len())];
            let line_end = memchr::memrchr2(b'\n', b'\r', unquoted);
            let have = bytes.len();
            match line_end {
                _ if self.ended && quoted.is_none() => break have,
                Some(end) if quoted.is_none() || end >= MIN_BYTES => break end + 1,
                None if quoted.is_none() && have <= longest => wanted = 2 * have,
                _ => return Ok(None),
            }
        };
        if end == 0 {
            return Ok(None);
        }
        if self.at > 0 {
            let lines = self.bytes[self.at..self.at + end].to_vec();
            self.at += end;
            return Ok(Some(lines));
        }
        let rest = self.bytes.split_off(end);
        Ok(Some(std::mem::replace(&mut self.bytes, rest)))
    }
}
