//! Every format gives the same table; chunks do not depend on the division into files; streamed
//! tables equal those in memory; raw rows are the cells as written.

use super::*;
use abduce::data::*;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

const PEOPLE: &str =
    "name,age,smokes,visits,height\nann,31,yes,0,1.7\nbob,?,no,2,1.85\nann,45,no,1,NA\n";

#[test]
fn kinds_levels_and_cells_of_a_small_table() {
    let files = Files::new();
    let opened = files.open("people.csv", PEOPLE);
    let kinds: Vec<&str> = fields(&opened).iter().map(|f| f.kind.name()).collect();
    assert_eq!(kinds, ["categorical", "real", "binary", "count", "real"]);
    assert_eq!(fields(&opened)[0].levels, ["ann", "bob"]);
    assert_eq!(fields(&opened)[2].levels, ["no", "yes"]);
    assert_eq!(codes(&opened, 2), [Some(1), Some(0), Some(0)]);
    assert_eq!(numbers(&opened, 1), [Some(31.0), None, Some(45.0)]);
    assert_eq!(numbers(&opened, 4), [Some(1.7), Some(1.85), None]);
    assert!(opened.notes.is_empty(), "{:?}", opened.notes);
    assert!(opened.left_out.is_empty());
}

#[test]
fn every_text_format_and_wrapping_gives_the_same_table() {
    let files = Files::new();
    let expected = files.open("people.csv", PEOPLE);
    let json = "{\"name\":\"ann\",\"age\":31,\"smokes\":\"yes\",\"visits\":0,\"height\":1.7}\n\
                \n{\"name\":\"b\\u006fb\",\"smokes\":\"no\",\"visits\":2,\"height\":1.85,\"age\":null}\n\
                {\"name\":\"ann\",\"age\":45,\"smokes\":\"no\",\"visits\":1}\n";
    let gz = gzip(PEOPLE.as_bytes());
    let zst = zstd::encode_all(PEOPLE.as_bytes(), 3).unwrap();
    let mut two_members = gzip(&PEOPLE.as_bytes()[..40]);
    two_members.extend(gzip(&PEOPLE.as_bytes()[40..]));
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("a.tsv", PEOPLE.replace(',', "\t").into()),
        ("a.tab", PEOPLE.replace(',', "\t").into()),
        ("semicolon.csv", PEOPLE.replace(',', ";").into()),
        ("bar.txt", PEOPLE.replace(',', "|").into()),
        ("crlf.csv", PEOPLE.replace('\n', "\r\n").into()),
        ("bom.csv", format!("\u{feff}{PEOPLE}").into()),
        ("blank.csv", PEOPLE.replace('\n', "\n\n  \n").into()),
        ("no_end.csv", PEOPLE.trim_end().into()),
        ("spaces.csv", PEOPLE.replace(',', " , ").into()),
        ("quotes.csv", PEOPLE.replace("ann", "\"ann\"").into()),
        ("a.jsonl", json.into()),
        ("a.ndjson", json.replace('\n', "\r\n").into()),
        ("b.jsonl.gz", gzip(json.as_bytes())),
        ("a.csv.gz", gz.clone()),
        ("members.csv.gz", two_members),
        ("a.csv.zst", zst.clone()),
        ("packed_but_named_plainly.csv", gz),
        ("named_wrongly.csv.gz", zst),
    ];
    for (name, bytes) in cases {
        let opened = files.open(name, bytes);
        assert_eq!(opened.source.schema(), expected.source.schema(), "{name}");
        assert_eq!(chunks(&opened), chunks(&expected), "{name}");
    }
}

#[test]
fn arrow_and_parquet_of_any_column_types_give_the_same_table() {
    use arrow_array::types::*;
    use arrow_array::*;
    let names = ["ann", "bob", "ann"];
    let ages = [Some(31u8), None, Some(45)];
    let narrow: DictionaryArray<Int8Type> = names.into_iter().collect();
    let wide: DictionaryArray<UInt64Type> = names.into_iter().collect();
    let decimal = Decimal128Array::from(vec![Some(170), Some(185), None])
        .with_precision_and_scale(5, 2)
        .unwrap();
    let people: [ArrayRef; 5] = [
        Arc::new(StringArray::from(names.to_vec())),
        Arc::new(LargeStringArray::from(names.to_vec())),
        Arc::new(StringViewArray::from(names.to_vec())),
        Arc::new(narrow),
        Arc::new(wide),
    ];
    fn primitive<T: ArrowPrimitiveType<Native: From<u8>>>(cells: [Option<u8>; 3]) -> ArrayRef {
        let cells = cells.map(|cell| cell.map(T::Native::from));
        Arc::new(PrimitiveArray::<T>::from_iter(cells))
    }
    let old: [ArrayRef; 5] = [
        primitive::<Int32Type>(ages),
        Arc::new(Float64Array::from(vec![31.0, f64::NAN, 45.0])),
        primitive::<UInt64Type>(ages),
        primitive::<Int16Type>(ages),
        primitive::<Float32Type>(ages),
    ];
    let tall: [ArrayRef; 2] = [
        Arc::new(Float64Array::from(vec![Some(1.7), Some(1.85), None])),
        Arc::new(decimal),
    ];
    let smokes: ArrayRef = Arc::new(StringArray::from(vec!["yes", "no", "no"]));
    let visits: ArrayRef = Arc::new(UInt8Array::from(vec![0, 2, 1]));
    let files = Files::new();
    let expected = files.open("people.csv", PEOPLE);
    for case in 0..5 {
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("name", people[case].clone(), true),
            ("age", old[case].clone(), true),
            ("smokes", smokes.clone(), true),
            ("visits", visits.clone(), true),
            ("height", tall[case % 2].clone(), true),
        ])
        .unwrap();
        let packed = zstd::encode_all(&parquet_bytes(&batch)[..], 3).unwrap();
        let cases = [
            ("a.parquet", parquet_bytes(&batch)),
            ("a.parquet.zst", packed),
            ("a.arrow", arrow_file(&batch)),
            ("a.feather", arrow_file(&batch)),
            ("stream.arrow", arrow_stream(&batch)),
            ("arrow_named_wrongly.csv", arrow_file(&batch)),
            ("parquet_without_an_extension", parquet_bytes(&batch)),
        ];
        for (name, bytes) in cases {
            let opened = files.open(name, bytes);
            let schema = opened.source.schema();
            assert_eq!(schema, expected.source.schema(), "{name} {case}");
            assert_eq!(chunks(&opened), chunks(&expected), "{name} {case}");
            let batch = opened.raw_rows().unwrap().next().unwrap().unwrap();
            assert_eq!(batch.cell(1, 0).text, "bob");
            assert!(batch.cell(1, 1).missing);
        }
    }
}

#[test]
fn arrow_booleans_and_nulls_are_read_and_dates_are_an_error() {
    use arrow_array::*;
    let truths: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(true)]));
    let nulls: ArrayRef = Arc::new(NullArray::new(3));
    let days: ArrayRef = Arc::new(Date32Array::from(vec![1, 2, 3]));
    let columns = [("b", truths, true), ("n", nulls, true), ("d", days, true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let files = Files::new();
    for (name, bytes) in [
        ("a.parquet", parquet_bytes(&batch)),
        ("a.arrow", arrow_file(&batch)),
    ] {
        let path = [files.write(name, bytes)];
        let error = open(&path, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.column(), Some("d"));
        assert!(error.to_string().contains("`drop`"), "{error}");
        let opened = open(&path, &drop_columns(&["d"])).unwrap();
        assert_eq!(fields(&opened)[0].kind, Kind::Binary);
        assert_eq!(fields(&opened)[0].levels, ["false", "true"]);
        assert_eq!(codes(&opened, 0), [Some(1), None, Some(1)]);
        assert_eq!(fields(&opened)[1].kind, Kind::Real);
        assert_eq!(numbers(&opened, 1), [None; 3]);
        assert_eq!(opened.left_out, ["d"]);
    }
}

#[test]
fn chunks_are_full_across_files_and_identical_when_streamed() {
    let files = Files::new();
    let mut paths = Vec::new();
    let mut first = 0;
    for (number, rows) in [1, 4095, 5000, 4096, 3, 10_000].into_iter().enumerate() {
        let forward = number % 2 == 0;
        let mut text = String::from(if forward { "x,c,w,n\n" } else { "n,w,c,x\n" });
        for i in first..first + rows {
            let mut cells = [
                (i % 11 != 3).then(|| (i as f64 / 7.0).to_string()),
                ["red", "green", "", "blue"]
                    .get(i % 4)
                    .map(|c| c.to_string()),
                Some((i % 5).to_string()),
                Some(i.to_string()),
            ]
            .map(|cell| cell.unwrap_or("NA".into()));
            if !forward {
                cells.reverse();
            }
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        first += rows;
        paths.push(files.write(&format!("{number}.csv"), text));
    }
    let options = ReadOptions {
        weight: Some("w".into()),
        ..ReadOptions::default()
    };
    let memory = open(&paths, &options).unwrap();
    assert!(memory.source.table().is_some());
    let tiny = ReadOptions {
        memory_budget: 100_000,
        ..options
    };
    let streamed = open(&[files.path("*.csv")], &tiny).unwrap();
    assert!(streamed.source.table().is_none());
    assert_eq!(streamed.files, paths);
    assert_eq!(memory.source.rows(), first as u64);
    let sizes: Vec<usize> = chunks(&memory).iter().map(Chunk::rows).collect();
    assert_eq!(sizes, [4096, 4096, 4096, 4096, 4096, first - 5 * 4096]);
    for _ in 0..2 {
        assert_eq!(chunks(&memory), chunks(&streamed));
    }
    assert_eq!(memory.source.schema(), streamed.source.schema());
    // Every fifth row has weight 0, and its cells are read as missing.
    let cell = |i: usize| (!i.is_multiple_of(5)).then_some(i as f64);
    let rows: Vec<Option<f64>> = (0..first).map(cell).collect();
    assert_eq!(numbers(&streamed, 2), rows);
    let weights = chunks(&memory)[0].weights().unwrap()[..6].to_vec();
    assert_eq!(weights, [0.0, 1.0, 2.0, 3.0, 4.0, 0.0]);
    let raw = streamed.raw_rows().unwrap();
    assert_eq!(raw.map(|batch| batch.unwrap().rows()).sum::<usize>(), first);
}

#[test]
fn absent_keys_of_json_lines_are_missing_values() {
    let files = Files::new();
    let a = files.write("a.jsonl", "{\"x\":1.5}\n{\"y\":\"u\",\"x\":2}\n");
    let b = files.write("b.jsonl", "{\"z\":3.5,\"y\":\"v\"}\n");
    let opened = open(&[a, b], &ReadOptions::default()).unwrap();
    let names: Vec<&str> = fields(&opened).iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "z"]);
    assert_eq!(numbers(&opened, 0), [Some(1.5), Some(2.0), None]);
    assert_eq!(codes(&opened, 1), [None, Some(0), Some(1)]);
    assert_eq!(numbers(&opened, 2), [None, None, Some(3.5)]);
}

#[test]
fn raw_rows_keep_every_cell_as_written() {
    let files = Files::new();
    let first = files.write("a.csv", "id,x\n 007 ,1.50\n\"a,b\",NA\n");
    let second = files.write("b.csv", "x,id\n,z\n");
    let rows = raw_rows(&[first, second], &ReadOptions::default()).unwrap();
    assert_eq!(rows.header(), ["id", "x"]);
    let mut cells = Vec::new();
    for batch in rows {
        let batch = batch.unwrap();
        for (row, column) in (0..batch.rows()).flat_map(|row| [(row, 0), (row, 1)]) {
            let cell = batch.cell(row, column);
            cells.push((cell.text.into_owned(), cell.missing));
        }
    }
    let texts: Vec<&str> = cells.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, [" 007 ", "1.50", "a,b", "NA", "z", ""]);
    let missing: Vec<bool> = cells.iter().map(|(_, missing)| *missing).collect();
    assert_eq!(missing, [false, false, false, true, false, true]);
}

#[test]
fn tables_of_one_row_and_with_unicode_are_read() {
    let files = Files::new();
    assert_eq!(files.open("a.csv", "x\n1\n").source.rows(), 1);
    assert_eq!(files.open("a.csv", "x,y\n,\nNA,?\n").source.rows(), 2);
    let opened = files.open("a.csv", "x,y\n1,a\n1,a\n,\n1,a\n");
    assert_eq!(numbers(&opened, 0), [Some(1.0), Some(1.0), None, Some(1.0)]);
    let opened = files.open("a.csv", "größe,名\n1.5,猫\n2,犬\n");
    assert_eq!(fields(&opened)[0].name, "größe");
    assert_eq!(fields(&opened)[1].levels, ["犬", "猫"]);
}

#[test]
fn standard_input_can_be_scanned_twice() {
    let run = |folder: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "reading::formats::child_reads_standard_input",
                "--ignored",
            ])
            .env("TMPDIR", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A child that fails early closes its input.
        let _ = stdin.write_all(&gzip(PEOPLE.as_bytes()));
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    };
    let files = Files::new();
    let (success, text) = run(&files.path(""));
    assert!(success, "{text}");
    let (success, text) = run(&files.path("none"));
    assert!(!success && text.contains("set TMPDIR"), "{text}");
}

#[test]
#[ignore = "run by standard_input_can_be_scanned_twice"]
fn child_reads_standard_input() {
    let opened = match open(&["-".into()], &ReadOptions::default()) {
        Ok(opened) => opened,
        Err(error) => {
            println!("{error}");
            panic!("standard input was not read");
        }
    };
    assert_eq!(opened.source.rows(), 3);
    assert_eq!(opened.files, ["standard input"]);
    let batch = opened.raw_rows().unwrap().next().unwrap().unwrap();
    assert_eq!(batch.cell(1, 1).text, "?");
}

#[test]
fn dropped_columns_are_absent_from_raw_rows() {
    let files = Files::new();
    let path = [files.write("a.jsonl", "{\"a\":{\"b\":1},\"c\":2.50}\n")];
    let error = open(&path, &ReadOptions::default()).unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(1), Some("a")));
    let opened = open(&path, &drop_columns(&["a"])).unwrap();
    let mut raw = opened.raw_rows().unwrap();
    assert_eq!(raw.header(), ["c"]);
    assert_eq!(raw.next().unwrap().unwrap().cell(0, 0).text, "2.50");
}

#[test]
fn raw_rows_include_columns_that_models_cannot_read() {
    use arrow_array::{Array, BinaryArray, Date32Array, RecordBatch, TimestampMillisecondArray};
    let files = Files::new();
    let times = TimestampMillisecondArray::from(vec![Some(0), None]);
    let days = Date32Array::from(vec![Some(1), Some(-1)]);
    let bytes = BinaryArray::from(vec![&b"x"[..], b"y"]);
    let numbers = arrow_array::Float64Array::from(vec![1.5, 2.0]);
    let columns: [(&str, std::sync::Arc<dyn Array>, bool); 4] = [
        ("t", std::sync::Arc::new(times), true),
        ("d", std::sync::Arc::new(days), true),
        ("b", std::sync::Arc::new(bytes), true),
        ("x", std::sync::Arc::new(numbers), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    for (name, bytes) in [
        ("a.parquet", parquet_bytes(&batch)),
        ("a.arrow", arrow_file(&batch)),
    ] {
        let path = [files.write(name, bytes)];
        let error = open(&path, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.column(), Some("t"), "{error}");
        let schema = Schema::new(vec![Field::new("x", Kind::Real)]);
        let opened = open_with(&path, &ReadOptions::default(), &schema).unwrap();
        let rows = opened.raw_rows().unwrap().next().unwrap().unwrap();
        let row = |row| {
            (0..4)
                .map(|c| rows.cell(row, c).text.into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(row(0), ["1970-01-01 00:00:00", "1970-01-02", "", "1.5"]);
        assert_eq!(row(1), ["", "1969-12-31", "", "2"]);
        assert_eq!(
            [0, 1, 2, 3].map(|c| rows.has_text(c)),
            [true, true, false, true]
        );
    }
    let path = [files.write("a.jsonl", "{\"a\":{\"b\":1},\"c\":2.50}\n")];
    let schema = Schema::new(vec![Field::new("c", Kind::Real)]);
    let opened = open_with(&path, &ReadOptions::default(), &schema).unwrap();
    let rows = opened.raw_rows().unwrap().next().unwrap().unwrap();
    assert_eq!(rows.cell(0, 0).text, "{\"b\":1}");
}

#[test]
fn parquet_is_read_with_every_compression() {
    use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
    use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
    let files = Files::new();
    let values = arrow_array::Float64Array::from(vec![1.5, 2.0, 2.0]);
    let column: arrow_array::ArrayRef = std::sync::Arc::new(values);
    let batch = arrow_array::RecordBatch::try_from_iter([("x", column)]).unwrap();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
    ] {
        let properties = WriterProperties::builder().set_compression(compression);
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let opened = files.open("a.parquet", bytes);
        assert_eq!(
            numbers(&opened, 0),
            [Some(1.5), Some(2.0), Some(2.0)],
            "{compression}"
        );
    }
}
