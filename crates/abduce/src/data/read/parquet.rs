//! Parquet files; only wanted columns are decoded.

use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::data::read::arrow::{in_order, positions};
use crate::data::read::input::Input;
use crate::data::read::shared_file::SharedFile;
use crate::data::read::{Batches, Format};
use crate::{Error, Result};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::{self, ParquetError};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{BufReader, Read, Seek, SeekFrom};

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
    parts: None,
};

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
