//! Arrow and Parquet files in many of their encodings.

use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use std::sync::Arc;

/// A table of many column types with missing cells.
fn batch() -> RecordBatch {
    let numbers = [Some(1.5), None, Some(-3.0), Some(0.25), Some(8.0)];
    let words = [Some("red"), Some("green"), None, Some("red"), Some("")];
    let whole = [Some(3), Some(0), Some(1), None, Some(7)];
    let codes: DictionaryArray<Int8Type> = words.into_iter().collect();
    let columns: [(&str, ArrayRef); 9] = [
        ("x", Arc::new(Float64Array::from(numbers.to_vec()))),
        ("name", Arc::new(StringArray::from(words.to_vec()))),
        ("z", Arc::new(Int32Array::from(whole.to_vec()))),
        ("label", Arc::new(codes)),
        (
            "b",
            Arc::new(BooleanArray::from(vec![true, false, true, true, false])),
        ),
        ("day", Arc::new(Date32Array::from(whole.to_vec()))),
        (
            "when",
            Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3, 4, 1 << 50])),
        ),
        ("view", Arc::new(StringViewArray::from(words.to_vec()))),
        ("large", Arc::new(LargeStringArray::from(words.to_vec()))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .expect("a table")
}

/// Files of both formats: a name with its ending, and the bytes.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = vec![
        ("plain.arrow".to_string(), arrow_file(None)),
        (
            "lz4.feather".into(),
            arrow_file(Some(CompressionType::LZ4_FRAME)),
        ),
        (
            "zstd.feather".into(),
            arrow_file(Some(CompressionType::ZSTD)),
        ),
        ("stream.arrows".into(), arrow_stream()),
    ];
    let compressed = [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(Default::default())),
        ("lz4", Compression::LZ4_RAW),
        ("gzip", Compression::GZIP(Default::default())),
        ("brotli", Compression::BROTLI(Default::default())),
    ];
    for (name, compression) in compressed {
        let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][seeds.len() % 2];
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_writer_version(version);
        seeds.push((format!("{name}.parquet"), parquet(properties.build())));
    }
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("x".into(), Encoding::BYTE_STREAM_SPLIT)
        .set_column_encoding("z".into(), Encoding::DELTA_BINARY_PACKED)
        .set_column_encoding("name".into(), Encoding::DELTA_BYTE_ARRAY)
        .set_column_encoding("large".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY);
    seeds.push(("encodings.parquet".into(), parquet(properties.build())));
    seeds
}

fn arrow_file(compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default();
    let options = options.try_with_compression(compression).expect("a codec");
    let batch = batch();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options)
        .expect("an Arrow file");
    writer.write(&batch).expect("an Arrow file");
    writer.finish().expect("an Arrow file");
    writer.into_inner().expect("an Arrow file")
}

fn arrow_stream() -> Vec<u8> {
    let batch = batch();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("an Arrow stream");
    writer.write(&batch).expect("an Arrow stream");
    writer.finish().expect("an Arrow stream");
    writer.into_inner().expect("an Arrow stream")
}

fn parquet(properties: WriterProperties) -> Vec<u8> {
    let (batch, mut bytes) = (batch(), Vec::new());
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a Parquet file");
    writer.write(&batch).expect("a Parquet file");
    writer.close().expect("a Parquet file");
    bytes
}
