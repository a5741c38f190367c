//! Arrow IPC, as a file (Feather version 2) or as a stream, and the conversion of record
//! batches that it shares with Parquet.

use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::data::read::arrow_lengths;
use crate::data::read::batch::{Arrays, Batch};
use crate::data::read::input::Input;
use crate::data::read::{Batches, Format};
use crate::{Error, Result};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Fields, SchemaRef};
use std::io::{BufReader, Read, Seek};

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
    parts: None,
};

/// A stream starts with a marker and the length of its schema, below 2²⁴.
fn is_stream(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..])
}

type Record = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

fn open(input: &Input, wanted: Option<Vec<usize>>) -> Result<(SchemaRef, Record)> {
    let mut file = input.file()?;
    let size = file.size()?;
    let mut head = [0; 6];
    let is_file = file.read_exact(&mut head).is_ok() && &head == b"ARROW1";
    let fits = if is_file {
        arrow_lengths::check_file(&mut file, size)
    } else {
        arrow_lengths::check_stream(&mut file, size)
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

/// The positions of the wanted columns, readable or not.
pub(super) fn positions(fields: &Fields, wanted: &[bool]) -> Vec<usize> {
    let wanted = |at: &usize| wanted.get(*at).copied().unwrap_or(false);
    (0..fields.len()).filter(wanted).collect()
}

/// Splits record batches of the wanted columns into batches of at most [`CHUNK_ROWS`], each
/// column at its position among the `width` columns of the file.
pub(super) fn in_order(
    records: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    wanted: Vec<usize>,
    width: usize,
) -> Batches {
    let mut first = 1;
    Box::new(records.flat_map(move |record| -> Batches {
        let record = match record {
            Ok(record) => record,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let (wanted, start_of_record) = (wanted.clone(), first);
        let rows = record.num_rows();
        first += rows as u64;
        Box::new((0..rows).step_by(CHUNK_ROWS).map(move |start| {
            let len = CHUNK_ROWS.min(rows - start);
            let mut columns = vec![None; width];
            for (at, array) in wanted.iter().zip(record.columns()) {
                columns[*at] = Some(array.slice(start, len));
            }
            Ok(Batch::Arrow(Arrays {
                first: start_of_record + start as u64,
                rows: len,
                columns,
            }))
        }))
    }))
}
