//! Reading files of every format. The functions here write temporary files and read the cells
//! of opened tables.

mod damage;
mod errors;
mod formats;
mod kinds;
mod mailbox;
mod new_data;
mod texts;

use abduce::data::*;
use arrow_array::RecordBatch;
use std::io::Write;

/// A temporary folder.
pub struct Files(tempfile::TempDir);

impl Files {
    pub fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn open(&self, name: &str, bytes: impl AsRef<[u8]>) -> Opened {
        open(&[self.write(name, bytes)], &ReadOptions::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

pub fn fields(opened: &Opened) -> &[Field] {
    &opened.source.schema().fields
}

pub fn chunks(opened: &Opened) -> Vec<Chunk> {
    opened.source.scan().unwrap().map(Result::unwrap).collect()
}

pub fn numbers(opened: &Opened, column: usize) -> Vec<Option<f64>> {
    cells(opened, column, |cells, i| cells.reals()[i])
}

pub fn codes(opened: &Opened, column: usize) -> Vec<Option<u32>> {
    cells(opened, column, |cells, i| cells.codes()[i])
}

fn cells<T>(opened: &Opened, column: usize, value: impl Fn(&Cells, usize) -> T) -> Vec<Option<T>> {
    let mut all = Vec::new();
    for chunk in chunks(opened) {
        let cells = chunk.column(column).cells(0, chunk.rows());
        all.extend((0..chunk.rows()).map(|i| cells.is_seen(i).then(|| value(&cells, i))));
    }
    all
}

pub fn kinds(texts: &[&str]) -> Vec<(String, KindOverride)> {
    texts
        .iter()
        .map(|text| parse_kind_override(text).unwrap())
        .collect()
}

pub fn target(name: &str) -> ReadOptions {
    ReadOptions {
        target: Some(name.into()),
        ..ReadOptions::default()
    }
}

pub fn drop_columns(names: &[&str]) -> ReadOptions {
    let drop = names.iter().map(|name| name.to_string()).collect();
    ReadOptions {
        drop,
        ..ReadOptions::default()
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn parquet_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}
