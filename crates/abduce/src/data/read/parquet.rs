//! Parquet files; only wanted columns are decoded, several at a time.

use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::data::read::arrow::{in_order, positions};
use crate::data::read::batch::{Arrays, Batch};
use crate::data::read::input::Input;
use crate::data::read::inputs::guarded;
use crate::data::read::shared_file::SharedFile;
use crate::data::read::{Batches, Format, Part, Parts};
use crate::{Error, Result};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{self, ParquetError};
use parquet::file::reader::{ChunkReader, Length};
use rayon::prelude::*;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Apache Parquet.
pub(super) const PARQUET: Format = Format {
    name: "Parquet",
    extensions: &["parquet"],
    magic: |head| head.starts_with(b"PAR1"),
    seeks: true,
    sparse: false,
    known: |_| &[],
    header,
    batches,
    parts: Some(parts),
};

/// The number of rows that are decoded together.
const ROWS: usize = 2 * CHUNK_ROWS;

fn open(input: &Input) -> Result<ParquetRecordBatchReaderBuilder<SharedFile>> {
    ParquetRecordBatchReaderBuilder::try_new(input.file()?).map_err(damaged)
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::data(format!("the Parquet file is cut short or damaged: {error}"))
}

fn header(input: &Input, _: &ReadOptions) -> Result<Vec<String>> {
    let builder = open(input)?;
    let fields = builder.schema().fields();
    Ok(fields.iter().map(|field| field.name().clone()).collect())
}

fn batches(input: &Input, _: &ReadOptions, wanted: &[bool]) -> Result<Batches> {
    let builder = open(input)?;
    let wanted = positions(builder.schema().fields(), wanted);
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let width = builder.schema().fields().len();
    let reader = builder
        .with_projection(mask)
        .with_batch_size(CHUNK_ROWS)
        .build()
        .map_err(damaged)?;
    let batches = reader.map(|batch| batch.map_err(damaged));
    Ok(in_order(batches, wanted, width))
}

fn parts(input: &Input, options: &ReadOptions, wanted: &[bool]) -> Result<Parts> {
    let file = input.file()?;
    let metadata = ArrowReaderMetadata::load(&file, Default::default()).map_err(damaged)?;
    let columns = positions(metadata.schema().fields(), wanted);
    if columns.len() < 2 {
        let batches = batches(input, options, wanted)?;
        return Ok(Box::new(batches.map(|batch| batch.map(Part::Batch))));
    }
    let mut readers = Vec::new();
    let count = columns.len().min(2 * rayon::current_num_threads());
    for first in 0..count {
        let columns: Vec<usize> = columns.iter().copied().skip(first).step_by(count).collect();
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let builder = builder.with_projection(mask).with_batch_size(ROWS);
        let reader = builder.build().map_err(damaged)?;
        readers.push(Reader { columns, reader });
    }
    let columns = Arc::new(Mutex::new(Columns {
        readers,
        width: metadata.schema().fields().len(),
        first: 1,
        ended: false,
    }));
    Ok(Box::new(std::iter::from_fn(move || {
        if lock(&columns).ended {
            return None;
        }
        let columns = Arc::clone(&columns);
        let next = move || lock(&columns).next().into_iter().collect();
        Some(Ok(Part::Turn(Box::new(next))))
    })))
}

fn lock(columns: &Mutex<Columns>) -> MutexGuard<'_, Columns> {
    columns.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The columns of a file, each read by one of several readers.
struct Columns {
    readers: Vec<Reader>,
    /// The number of columns of the file.
    width: usize,
    /// The number of the next row, from 1.
    first: u64,
    ended: bool,
}

/// A reader of some columns.
struct Reader {
    columns: Vec<usize>,
    reader: ParquetRecordBatchReader,
}

impl Columns {
    /// The next rows, decoded on all threads.
    fn next(&mut self) -> Option<Result<Batch>> {
        if self.ended {
            return None;
        }
        let next = self.decode();
        self.ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }

    fn decode(&mut self) -> Result<Option<Batch>> {
        let readers = self.readers.par_iter_mut();
        let read = readers.map(|reader| {
            let record = guarded(|| reader.reader.next().transpose().map_err(damaged))?;
            Ok((&reader.columns, record))
        });
        let mut columns = vec![None; self.width];
        let mut rows = None;
        for read in read.collect::<Vec<Result<_>>>() {
            let (positions, record) = read?;
            let found = record.as_ref().map_or(0, |record| record.num_rows());
            if *rows.get_or_insert(found) != found {
                return Err(damaged("its columns have different lengths"));
            }
            for (at, array) in positions
                .iter()
                .zip(record.iter().flat_map(|r| r.columns()))
            {
                columns[*at] = Some(array.clone());
            }
        }
        let rows = rows.unwrap_or(0);
        let first = self.first;
        self.first += rows as u64;
        Ok((rows > 0).then_some(Batch::Arrow(Arrays {
            first,
            rows,
            columns,
        })))
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.size().unwrap_or(0)
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<SharedFile>;

    fn get_read(&self, start: u64) -> errors::Result<Self::T> {
        let mut reader = self.clone();
        reader.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(reader))
    }

    fn get_bytes(&self, start: u64, length: usize) -> errors::Result<Bytes> {
        // A damaged file may give any length, and that many bytes would be allocated.
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.len()) {
            let message = "a part is longer than the file";
            return Err(ParquetError::EOF(message.into()));
        }
        let mut bytes = Vec::with_capacity(length);
        let read = self.get_read(start)?.take(length as u64);
        if { read }.read_to_end(&mut bytes)? != length {
            return Err(ParquetError::EOF("the file is cut short".into()));
        }
        Ok(bytes.into())
    }
}
