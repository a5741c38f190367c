//! Arrow IPC, as a file (Feather version 2) or as a stream, and what Parquet
//! shares with it: which columns can be read, and batches cut to size.

use super::batch::{Arrays, Batch};
use super::input::Input;
use super::{Batches, Format};
use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::{Error, Result};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Fields, SchemaRef};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Arrow IPC.
pub(super) const ARROW: Format = Format {
    name: "Arrow",
    extensions: &["arrow", "feather", "ipc", "arrows"],
    magic: |head| head.starts_with(b"ARROW1") || is_stream(head),
    seeks: true,
    sparse: false,
    known: |_| &[],
    header,
    batches,
};

/// A stream starts with a marker and the length of its schema, which is small.
fn is_stream(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..])
}

type Record = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

fn open(input: &Input, wanted: Option<Vec<usize>>) -> Result<(SchemaRef, Record)> {
    let mut file = input.file()?;
    let size = file.metadata()?.len();
    let mut head = [0; 6];
    let is_file = file.read_exact(&mut head).is_ok() && &head == b"ARROW1";
    let fits = if is_file {
        blocks_fit(&mut file, size)
    } else {
        messages_fit(&mut file, size)
    };
    fits.map_err(damaged)?;
    file.rewind()?;
    if is_file {
        let reader = FileReader::try_new_buffered(file, wanted).map_err(damaged)?;
        Ok((reader.schema(), Box::new(reader)))
    } else {
        let reader = StreamReader::try_new(BufReader::new(file), wanted).map_err(damaged)?;
        Ok((reader.schema(), Box::new(reader)))
    }
}

// The readers allocate whatever length a damaged file claims, and running out
// of memory cannot be caught; so lengths are held against the file's first.

fn too_long() -> io::Error {
    io::Error::other("a part is longer than the file")
}

/// Checks the lengths in the footer of an Arrow file.
fn blocks_fit(file: &mut File, size: u64) -> io::Result<()> {
    let mut tail = [0; 10];
    file.seek(SeekFrom::End(-(tail.len() as i64)))?;
    file.read_exact(&mut tail)?;
    let length = arrow_ipc::reader::read_footer_length(tail).map_err(io::Error::other)?;
    if length as u64 > size {
        return Err(too_long());
    }
    let mut footer = vec![0; length];
    file.seek(SeekFrom::End(-((length + tail.len()) as i64)))?;
    file.read_exact(&mut footer)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(|e| io::Error::other(e.to_string()))?;
    let blocks = footer.dictionaries().into_iter().flatten();
    for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
        fits(
            block.offset(),
            block.metaDataLength(),
            block.bodyLength(),
            size,
        )?;
    }
    Ok(())
}

/// Checks the lengths of the messages of an Arrow stream.
fn messages_fit(file: &mut File, size: u64) -> io::Result<()> {
    let mut at = 0;
    while at + 8 <= size {
        let mut head = [0; 8];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut head)?;
        let [a, b, c, d, e, f, g, h] = head;
        // Streams of old writers have no marker before the length.
        let marked = [a, b, c, d] == [0xff; 4];
        let start = at + if marked { 8 } else { 4 };
        let length = i32::from_le_bytes(if marked { [e, f, g, h] } else { [a, b, c, d] });
        if length == 0 {
            break;
        }
        let metadata_end = fits(start as i64, length, 0, size)?;
        let mut metadata = vec![0; (metadata_end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut metadata)?;
        let message =
            arrow_ipc::root_as_message(&metadata).map_err(|e| io::Error::other(e.to_string()))?;
        at = fits(start as i64, length, message.bodyLength(), size)?;
    }
    Ok(())
}

/// Where a part ends, if that is within the file.
fn fits(offset: i64, metadata: i32, body: i64, size: u64) -> io::Result<u64> {
    let part = |length: i64| u64::try_from(length).ok();
    let end = part(offset)
        .zip(part(i64::from(metadata)))
        .zip(part(body))
        .and_then(|((offset, metadata), body)| offset.checked_add(metadata)?.checked_add(body));
    end.filter(|end| *end <= size).ok_or_else(too_long)
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::data(format!("the Arrow file is cut short or damaged: {error}"))
}

fn header(input: &Input, _: &ReadOptions) -> Result<Vec<String>> {
    let (schema, _) = open(input, None)?;
    let fields = schema.fields().iter();
    Ok(fields.map(|field| field.name().clone()).collect())
}

fn batches(input: &Input, _: &ReadOptions, wanted: &[bool]) -> Result<Batches> {
    let (schema, _) = open(input, None)?;
    let wanted = positions(schema.fields(), wanted);
    let (_, records) = open(input, Some(wanted.clone()))?;
    let width = schema.fields().len();
    Ok(in_order(records.map(|r| r.map_err(damaged)), wanted, width))
}

/// The positions of the wanted columns. Whether their cells can be read is
/// for those to say who look at them: a table is passed on with all columns.
pub(super) fn positions(fields: &Fields, wanted: &[bool]) -> Vec<usize> {
    let wanted = |at: &usize| wanted.get(*at).copied().unwrap_or(false);
    (0..fields.len()).filter(wanted).collect()
}

/// Batches of at most a chunk's rows, with the wanted columns where the file
/// has them.
pub(super) fn in_order(
    records: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    wanted: Vec<usize>,
    width: usize,
) -> Batches {
    let mut first = 1;
    Box::new(records.flat_map(move |record| {
        let record = match record {
            Ok(record) => record,
            Err(error) => return vec![Err(error)],
        };
        let rows = record.num_rows();
        let batches = (0..rows)
            .step_by(CHUNK_ROWS)
            .map(|start| {
                let len = CHUNK_ROWS.min(rows - start);
                let mut columns = vec![None; width];
                for (at, array) in wanted.iter().zip(record.columns()) {
                    columns[*at] = Some(array.slice(start, len));
                }
                Ok(Batch::Arrow(Arrays {
                    first: first + start as u64,
                    rows: len,
                    columns,
                }))
            })
            .collect::<Vec<_>>();
        first += rows as u64;
        batches
    }))
}
