//! A table larger than memory: encoded chunks in an unlinked temporary file, read back for
//! every scan with read-ahead. Plain reads bound the resident memory, a memory map would not.

use crate::data::read::no_room;
use crate::data::table::chunk::Chunk;
use crate::data::table::column::Column;
use crate::data::table::schema::{Kind, Schema};
use crate::data::table::source::Source;
use crate::data::table::terms::Terms;
use crate::{Error, Result};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, ScalarBuffer};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// The number of chunks that are read ahead.
const AHEAD: usize = 2;

/// Chunks being written to a temporary file.
pub(crate) struct Spill {
    file: BufWriter<File>,
    index: Vec<Entry>,
    end: u64,
    rows: u64,
}

/// The position and layout of a chunk in the file.
#[derive(Clone)]
struct Entry {
    at: u64,
    bytes: usize,
    rows: usize,
    weighted: bool,
    /// Which columns have validity bits.
    nullable: Vec<bool>,
    /// The number of terms in each column of text.
    terms: Vec<usize>,
}

impl Spill {
    pub fn new() -> Result<Spill> {
        Ok(Spill {
            file: BufWriter::with_capacity(1 << 20, tempfile::tempfile().map_err(no_room)?),
            index: Vec::new(),
            end: 0,
            rows: 0,
        })
    }

    /// Appends a chunk: each column's values and validity bits, then the weights. Every part
    /// is padded to eight bytes, so that it is aligned when read back.
    pub fn write(&mut self, chunk: &Chunk) -> Result<()> {
        let mut entry = Entry {
            at: self.end,
            bytes: 0,
            rows: chunk.rows(),
            weighted: chunk.weights().is_some(),
            nullable: Vec::new(),
            terms: Vec::new(),
        };
        for column in chunk.columns() {
            entry.bytes += match column {
                Column::Real { values, .. } => self.part(values.inner())?,
                Column::Code { values, .. } => self.part(values.inner())?,
                Column::Text { values, .. } => {
                    let rows = values.rows();
                    entry.terms.push(rows.codes().len());
                    self.part(&Buffer::from_vec(from_zero(rows.starts())))?
                        + self.part(&Buffer::from_slice_ref(rows.codes()))?
                        + self.part(&Buffer::from_slice_ref(rows.counts()))?
                }
            };
            entry.nullable.push(column.nulls().is_some());
            if let Some(nulls) = column.nulls() {
                entry.bytes += self.part(&nulls.inner().sliced())?;
            }
        }
        if let Some(weights) = chunk.weights() {
            entry.bytes += self.part(&Buffer::from_slice_ref(weights))?;
        }
        self.end += entry.bytes as u64;
        self.rows += chunk.rows() as u64;
        self.index.push(entry);
        Ok(())
    }

    fn part(&mut self, bytes: &[u8]) -> Result<usize> {
        let padding = bytes.len().next_multiple_of(8) - bytes.len();
        self.file
            .write_all(bytes)
            .and_then(|()| self.file.write_all(&[0; 8][..padding]))
            .map_err(no_room)?;
        Ok(bytes.len() + padding)
    }

    pub fn finish(self, schema: Schema) -> Result<Streamed> {
        let file = self
            .file
            .into_inner()
            .map_err(|e| no_room(e.into_error()))?;
        Ok(Streamed {
            shared: Arc::new(Shared {
                file,
                kinds: schema.fields.iter().map(|f| f.kind).collect(),
                index: self.index,
            }),
            schema,
            rows: self.rows,
        })
    }
}

/// A source whose chunks are in a temporary file.
pub(crate) struct Streamed {
    schema: Schema,
    rows: u64,
    shared: Arc<Shared>,
}

struct Shared {
    file: File,
    index: Vec<Entry>,
    kinds: Vec<Kind>,
}

impl Source for Streamed {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn scan(&self) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + '_>> {
        let (sender, receiver) = sync_channel(AHEAD);
        let shared = Arc::clone(&self.shared);
        std::thread::Builder::new()
            .name("read ahead".into())
            .spawn(move || {
                for entry in &shared.index {
                    // The receiver is gone if a scan is abandoned.
                    if sender.send(shared.read(entry)).is_err() {
                        break;
                    }
                }
            })?;
        Ok(Box::new(receiver.into_iter()))
    }
}

impl Shared {
    fn read(&self, entry: &Entry) -> Result<Chunk> {
        let mut bytes = MutableBuffer::from_len_zeroed(entry.bytes);
        read_exact_at(&self.file, bytes.as_slice_mut(), entry.at).map_err(|error| {
            Error::io(format!("the temporary file cannot be read back: {error}"))
        })?;
        let bytes = Buffer::from(bytes);
        let rows = entry.rows;
        let mut at = 0;
        let mut part = |size: usize| {
            let part = bytes.slice_with_length(at, size);
            at += size.next_multiple_of(8);
            part
        };
        let mut columns = Vec::with_capacity(self.kinds.len());
        let mut terms = entry.terms.iter();
        for (kind, nullable) in self.kinds.iter().zip(&entry.nullable) {
            let mut column = match kind {
                Kind::Text => {
                    let terms = terms.next().copied().unwrap_or(0);
                    let starts = ScalarBuffer::new(part(4 * (rows + 1)), 0, rows + 1);
                    let codes = ScalarBuffer::new(part(4 * terms), 0, terms);
                    let counts = ScalarBuffer::new(part(8 * terms), 0, terms);
                    Column::Text {
                        values: Terms::from_lists(starts, codes, counts),
                        nulls: None,
                    }
                }
                kind if kind.is_coded() => Column::Code {
                    values: ScalarBuffer::new(part(4 * rows), 0, rows),
                    nulls: None,
                },
                _ => Column::Real {
                    values: ScalarBuffer::new(part(8 * rows), 0, rows),
                    nulls: None,
                },
            };
            if *nullable {
                let bits = BooleanBuffer::new(part(rows.div_ceil(8)), 0, rows);
                match &mut column {
                    Column::Real { nulls, .. }
                    | Column::Code { nulls, .. }
                    | Column::Text { nulls, .. } => *nulls = Some(NullBuffer::new(bits)),
                }
            }
            columns.push(column);
        }
        let weights = entry
            .weighted
            .then(|| ScalarBuffer::<f64>::new(part(rows * 8), 0, rows).to_vec());
        Ok(Chunk::new(rows, columns, weights))
    }
}

/// The starts relative to the first one.
fn from_zero(starts: &[u32]) -> Vec<u32> {
    let first = starts.first().copied().unwrap_or(0);
    starts.iter().map(|start| start - first).collect()
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        let read = file.seek_read(bytes, at)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Field;

    fn chunk(rows: usize, salt: usize) -> Chunk {
        let x = (0..rows).map(|i| (i % 7 != salt % 7).then_some(i as f64 / 3.0));
        let c = (0..rows).map(|i| Some(((i + salt) % 3) as u32));
        let weights = (0..rows).map(|i| i as f64).collect();
        let words = |i: usize| (0..(i + salt) % 4).map(move |t| (t as u32, 1.0 + i as f64));
        let t = (0..rows).map(|i| (i % 5 != 0).then(|| words(i).collect()));
        let columns = vec![
            Column::from_numbers(x),
            Column::from_codes(c),
            Column::from_terms(t),
        ];
        Chunk::new(rows, columns, Some(weights))
    }

    #[test]
    fn every_scan_returns_the_chunks_that_were_written() {
        let chunks = [chunk(4096, 0), chunk(4096, 1), chunk(13, 2)];
        let mut spill = Spill::new().unwrap();
        for chunk in &chunks {
            spill.write(chunk).unwrap();
        }
        let schema = Schema::new(vec![
            Field::new("x", Kind::Real),
            Field::with_levels("c", Kind::Categorical, ["a", "b", "c"]),
            Field::new("t", Kind::Text),
        ]);
        let source = spill.finish(schema).unwrap();
        assert_eq!(source.rows(), 8205);
        for _ in 0..2 {
            let back: Vec<Chunk> = source.scan().unwrap().map(Result::unwrap).collect();
            assert_eq!(back, chunks);
        }
        assert!(source.scan().unwrap().next().is_some());
    }
}
