//! Files of lines that are rows each: UTF-8, blank lines skipped but counted.

use crate::data::read::input::{Input, Packing};
use crate::{Error, Result};
use std::io::{BufRead, BufReader, Read};

/// A line longer than this is not a row.
const LINE_BYTES: u64 = 256 << 20;

/// The lines of a file that are not blank, with their numbers.
pub(super) struct Lines {
    bytes: BufReader<Box<dyn Read + Send>>,
    packing: Packing,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    pub fn open(input: &Input) -> Result<Lines> {
        let packing = input.packing;
        let mut bytes = BufReader::with_capacity(1 << 17, input.open()?);
        let head = bytes.fill_buf().map_err(|e| packing.damaged(e))?;
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(Error::data("the text is UTF-16, not UTF-8")
                .at_line(1)
                .with_hint("convert it, for example with iconv -f UTF-16 -t UTF-8"));
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            bytes.consume(3);
        }
        Ok(Lines {
            bytes,
            packing,
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
