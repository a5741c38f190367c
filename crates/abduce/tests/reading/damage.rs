//! Damaged files never panic: truncated files, flipped bits, random bytes.

use super::*;
use abduce::data::*;
use abduce::{Error, ErrorKind};

fn fails(files: &Files, name: &str, bytes: impl AsRef<[u8]>) -> Error {
    open(&[files.write(name, bytes)], &ReadOptions::default()).unwrap_err()
}

#[test]
fn truncated_compressed_files_are_an_error() {
    let files = Files::new();
    let mut random = 1u64;
    let mut text = String::from("x\n");
    for _ in 0..100_000 {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        text.push_str(&format!("{random}\n"));
    }
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, bytes) in [
        ("cut.csv.gz", gzip(text.as_bytes())),
        ("cut.csv.zst", packed),
    ] {
        for part in [bytes.len() / 2, bytes.len() - 1, 12] {
            let error = fails(&files, name, &bytes[..part]);
            assert_eq!(error.kind(), ErrorKind::Io);
            assert!(error.to_string().contains("cut short"), "{error}");
        }
    }
}

#[test]
fn random_bytes_never_panic() {
    use proptest::prelude::*;
    let files = Files::new();
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        proptest::collection::vec(
            proptest::sample::select(b"a1,;\t\"\n\r .-e{}[]:\xff\xc3\xa9".to_vec()),
            0..200
        ),
    ];
    let magic = proptest::sample::select(vec![
        &b""[..],
        b"PAR1",
        b"ARROW1\0\0",
        b"\xff\xff\xff\xff\x10\0\0\0",
        b"\x1f\x8b\x08",
        b"\x28\xb5\x2f\xfd",
        b"\xef\xbb\xbf",
    ]);
    let names = proptest::sample::select(vec!["a.csv", "a.tsv", "a.jsonl", "a.arrow", "a.parquet"]);
    proptest!(ProptestConfig::with_cases(500), |(head in magic, bytes in bytes, name in names)| {
        let path = [files.write(name, [head, &bytes].concat())];
        let read = std::panic::catch_unwind(|| {
            if let Ok(opened) = open(&path, &ReadOptions::default()) {
                let raw = opened.raw_rows().unwrap().map(|batch| batch.unwrap().rows());
                assert_eq!(raw.sum::<usize>() as u64, opened.source.rows());
            }
        });
        prop_assert!(read.is_ok());
    });
}

#[test]
fn damaged_arrow_and_parquet_files_never_panic() {
    use arrow_array::*;
    let words: ArrayRef = std::sync::Arc::new(StringArray::from(vec!["a", "b", "a"]));
    let codes: DictionaryArray<types::Int8Type> = ["x", "y", "x"].into_iter().collect();
    let codes: ArrayRef = std::sync::Arc::new(codes);
    let numbers: ArrayRef = std::sync::Arc::new(Float64Array::from(vec![Some(1.5), None, None]));
    let columns = [("w", words, true), ("c", codes, true), ("x", numbers, true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let files = Files::new();
    for (name, bytes) in [
        ("a.parquet", parquet_bytes(&batch)),
        ("a.arrow", arrow_file(&batch)),
        ("b.arrow", arrow_stream(&batch)),
    ] {
        for cut in [bytes.len() / 4, bytes.len() / 2, bytes.len() - 1] {
            let error = fails(&files, name, &bytes[..cut]);
            assert!(error.to_string().contains("damaged"), "{error}");
        }
        for at in (0..bytes.len()).step_by(3) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0xff >> (at % 8);
            let path = [files.write(name, bytes)];
            if let Ok(opened) = open(&path, &ReadOptions::default()) {
                assert!(opened.source.rows() > 0);
            }
        }
    }
}

#[test]
fn impossible_lengths_in_compressed_arrow_files_are_an_error() {
    use arrow_array::*;
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    let numbers = Float64Array::from_iter_values((0..500).map(|i| f64::from(i % 2)));
    let words = StringArray::from_iter_values((0..500).map(|i| ["a", "b"][i % 2]));
    let columns: [(&str, ArrayRef); 2] = [
        ("x", std::sync::Arc::new(numbers)),
        ("w", std::sync::Arc::new(words)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let files = Files::new();
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default();
        let options = options.try_with_compression(Some(codec)).unwrap();
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.into_inner().unwrap();
        let whole = [files.write("whole.feather", &bytes)];
        let whole = open(&whole, &ReadOptions::default()).unwrap();
        assert_eq!(whole.source.rows(), 500);
        let mut impossible = 0;
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x04;
            let path = [files.write("a.feather", bytes)];
            if let Err(error) = open(&path, &ReadOptions::default()) {
                impossible += usize::from(error.to_string().contains("impossible length"));
            }
        }
        assert!(
            impossible >= 3,
            "only {impossible} impossible lengths were found"
        );
    }
}

#[test]
fn impossible_lengths_in_parquet_files_are_never_allocated() {
    use arrow_array::*;
    let numbers = Float64Array::from_iter_values((0..40).map(|i| f64::from(i % 7)));
    let words = StringArray::from_iter_values((0..40).map(|i| ["a", "b"][i % 2]));
    let columns: [(&str, ArrayRef); 2] = [
        ("x", std::sync::Arc::new(numbers)),
        ("w", std::sync::Arc::new(words)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let bytes = parquet_bytes(&batch);
    let files = Files::new();
    // The length of the metadata is stored before the last four bytes.
    let mut too_long = bytes.clone();
    let at = bytes.len() - 8;
    too_long[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = fails(&files, "a.parquet", too_long);
    assert!(error.to_string().contains("damaged"), "{error}");
    // Page headers and metadata store numbers as varints; these are 2³¹ − 2 and 2⁶².
    let huge: [&[u8]; 2] = [
        &[0xfc, 0xff, 0xff, 0xff, 0x0f],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ];
    for (place, huge) in (4..at).flat_map(|place| huge.map(|huge| (place, huge))) {
        let mut bytes = bytes.clone();
        let end = (place + huge.len()).min(at);
        bytes[place..end].copy_from_slice(&huge[..end - place]);
        let path = [files.write("a.parquet", bytes)];
        if let Ok(opened) = open(&path, &ReadOptions::default()) {
            assert!(opened.source.rows() <= 40);
        }
    }
}
