//! Lines of UTF-8 text files; blank lines are skipped but counted.

use crate::data::read::input::{Input, Packing};
use crate::{Error, Result};
use std::io::{BufRead, BufReader, Read};

/// The longest line that is read.
const LINE_BYTES: u64 = 256 << 20;

/// A buffered text file.
pub(super) type Text = BufReader<Box<dyn Read + Send>>;

/// Opens a text file with a buffer of some bytes, after its byte-order mark if it has one.
///
/// # Errors
/// If the text is UTF-16, or the file cannot be read.
pub(super) fn open_text(input: &Input, capacity: usize) -> Result<Text> {
    let mut text = BufReader::with_capacity(capacity, input.open()?);
    let head = text.fill_buf().map_err(|e| input.packing.damaged(e))?;
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(Error::data("the text is UTF-16, not UTF-8")
            .at_line(1)
            .with_hint("convert it, for example with iconv -f UTF-16 -t UTF-8"));
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        text.consume(3);
    }
    Ok(text)
}

/// The lines of a file that are not blank, with their numbers.
pub(super) struct Lines {
    bytes: Text,
    packing: Packing,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    pub fn open(input: &Input) -> Result<Lines> {
        Ok(Lines {
            bytes: open_text(input, 1 << 17)?,
            packing: input.packing,
            line: Vec::new(),
            number: 0,
        })
    }

    /// The next line with its number, counted from 1.
    pub fn next_line(&mut self) -> Result<Option<(u64, &str)>> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = (&mut self.bytes)
                .take(LINE_BYTES)
                .read_until(b'\n', &mut self.line)
                .map_err(|e| self.packing.damaged(e))?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == LINE_BYTES {
                return Err(Error::data("the line does not end").at_line(self.number));
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        match std::str::from_utf8(&self.line) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(_) => Err(Error::data("the text is not UTF-8").at_line(self.number)),
        }
    }
}
