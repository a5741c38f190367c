//! Texts as rows: the files of a folder and the messages of a mailbox, also of a mailbox in a
//! folder. The columns are `class`, if the input has one, and `text`. Only one batch of texts
//! is in memory at a time.

use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::data::read::batch::{Batch, TextRows};
use crate::data::read::input::{Input, Packing, not_opened, unpacked};
use crate::data::read::{BATCH_BYTES, Batches, Format, Known};
pub(super) use crate::text::begins_a_mailbox;
use crate::text::{Mail, Messages, file_text};
use crate::{Error, Result};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// A mailbox file, or a file of one message.
pub(super) const MAILBOX: Format = Format {
    name: "mailbox",
    extensions: &["mbox", "mbx", "eml"],
    magic: |_| false,
    seeks: false,
    sparse: true,
    known,
    header,
    batches,
    parts: None,
};

/// A folder of texts.
pub(super) const FOLDER: Format = Format {
    name: "folder",
    extensions: &[],
    ..MAILBOX
};

/// The longest file that is read as a text.
const LONGEST_TEXT: u64 = 256 << 20;

fn known(input: &Input) -> &'static [Known] {
    match input.class {
        Some(_) => &[Known::Label, Known::Text],
        None => &[Known::Text],
    }
}

fn header(input: &Input, _: &ReadOptions) -> Result<Vec<String>> {
    let class = input.class.as_ref().map(|_| "class".to_string());
    Ok(class.into_iter().chain(["text".to_string()]).collect())
}

fn batches(input: &Input, _: &ReadOptions, _: &[bool]) -> Result<Batches> {
    let mut documents = Documents {
        files: input.files().to_vec().into_iter(),
        mailbox: None,
        file: None,
        number: 0,
    };
    if input.files().is_empty() {
        let reader = BufReader::with_capacity(1 << 17, input.open()?);
        documents.mailbox = Some((Messages::new(reader), input.packing));
    }
    let class = input.class.clone();
    Ok(Box::new(std::iter::from_fn(move || {
        next_batch(&mut documents, class.as_deref()).transpose()
    })))
}

fn next_batch(documents: &mut Documents, class: Option<&str>) -> Result<Option<Batch>> {
    let mut raw = Vec::new();
    let mut bytes = 0;
    while raw.len() < CHUNK_ROWS && bytes < BATCH_BYTES {
        let Some(document) = documents.next()? else {
            break;
        };
        bytes += document.bytes.len();
        raw.push(document);
    }
    if raw.is_empty() {
        return Ok(None);
    }
    let texts: Vec<Result<String>> = raw.par_iter().map(Document::text).collect();
    let mut batch = TextRows {
        width: 1 + usize::from(class.is_some()),
        lines: raw.iter().map(|document| document.line).collect(),
        ..TextRows::default()
    };
    for text in texts {
        if let Some(class) = class {
            batch.text.push_str(class);
            batch.ends.push(batch.text.len());
        }
        batch.text.push_str(&text?);
        batch.ends.push(batch.text.len());
    }
    Ok(Some(Batch::Text(batch)))
}

/// A text before it is decoded.
struct Document {
    bytes: Vec<u8>,
    /// Whether it is a message of a mailbox.
    message: bool,
    /// The file, if it is in a folder.
    file: Option<PathBuf>,
    /// The line in the mailbox; in a folder, the number of the text.
    line: u64,
}

impl Document {
    fn text(&self) -> Result<String> {
        if self.message {
            Ok(Mail::parse(&self.bytes).text(false))
        } else {
            file_text(&self.bytes).map_err(|error| match &self.file {
                Some(file) => error.at_file(file.to_string_lossy()),
                None => error,
            })
        }
    }
}

type Bytes = BufReader<Box<dyn Read + Send>>;

/// The texts of an input, in order.
struct Documents {
    files: std::vec::IntoIter<PathBuf>,
    mailbox: Option<(Messages<Bytes>, Packing)>,
    /// The file being read, if it is in a folder.
    file: Option<PathBuf>,
    number: u64,
}

impl Documents {
    fn next(&mut self) -> Result<Option<Document>> {
        let read = self.next_of_file();
        match &self.file {
            Some(file) => read.map_err(|error| error.at_file(file.to_string_lossy())),
            None => read,
        }
    }

    fn next_of_file(&mut self) -> Result<Option<Document>> {
        loop {
            if let Some((messages, packing)) = &mut self.mailbox {
                let message = messages.next_raw();
                let message = message.map_err(|error| packing.damaged(error))?;
                self.number += 1;
                if let Some(bytes) = message {
                    return Ok(Some(Document {
                        bytes,
                        message: true,
                        line: self.file.as_ref().map_or(messages.line(), |_| self.number),
                        file: self.file.clone(),
                    }));
                }
                self.mailbox = None;
            }
            let Some(file) = self.files.next() else {
                return Ok(None);
            };
            self.file = Some(file.clone());
            let (reader, packing) = open_file(&file)?;
            let mut reader = BufReader::with_capacity(1 << 16, reader);
            let head = reader.fill_buf().map_err(|error| packing.damaged(error))?;
            if begins_a_mailbox(head) {
                self.mailbox = Some((Messages::new(reader), packing));
                continue;
            }
            let mut bytes = Vec::new();
            let read = reader.take(LONGEST_TEXT).read_to_end(&mut bytes);
            if read.map_err(|error| packing.damaged(error))? as u64 == LONGEST_TEXT {
                return Err(Error::data("this file is too long for a text"));
            }
            self.number += 1;
            return Ok(Some(Document {
                bytes,
                message: false,
                file: self.file.clone(),
                line: self.number,
            }));
        }
    }
}

/// A file in a folder, unpacked.
fn open_file(path: &Path) -> Result<(Box<dyn Read + Send>, Packing)> {
    let mut head = Vec::new();
    let mut file = File::open(path).map_err(not_opened)?;
    let read = (&mut file).take(6).read_to_end(&mut head);
    read.and_then(|_| file.rewind())
        .map_err(|error| Packing::Plain.damaged(error))?;
    let packing = Packing::of(&head);
    Ok((unpacked(file, packing)?, packing))
}
