//! Laws of reading in one pass: cells that are kept or parsed ahead as numbers equal the cells that
//! a second pass reads one by one.

use crate::Result;
use crate::data::encode::infer::Summary;
use crate::data::missing::Missing;
use crate::data::open::Opened;
use crate::data::options::{KindOverride, ReadOptions, TextOptions};
use crate::data::passes::{Levels, empty_summaries, encode, infer};
use crate::data::read::{Inputs, Parse};
use crate::data::table::column::Column;
use crate::data::table::schema::{Field, Kind};
use std::fmt::Write;

const ROWS: usize = 20_000;

/// Tables of several blocks whose first rows suggest other kinds of columns than all rows do.
fn misleading_tables() -> Vec<(&'static str, String, ReadOptions)> {
    let table = |row: &dyn Fn(usize) -> String| {
        let mut text = "a,b,c,d,e\n".to_string();
        for i in 0..ROWS {
            let _ = writeln!(text, "{}", row(i));
        }
        text
    };
    let late = |i: usize| i > ROWS - 20;
    let plain = ReadOptions::default();
    let of = |kinds: &[(&str, Kind)]| ReadOptions {
        kinds: (kinds.iter())
            .map(|(name, kind)| (name.to_string(), KindOverride::from(*kind)))
            .collect(),
        ..ReadOptions::default()
    };
    let numbers = |i: usize| format!("{},{},{}", i % 7, i as f64 / 3.0, 1 - i as i64 % 2);
    let words = table(&|i| {
        if late(i) {
            format!("{},unknown,z", numbers(i))
        } else {
            format!("{},{},{}", numbers(i), i % 3, ["x", "y"][i % 2])
        }
    });
    let weights = |row: &dyn Fn(usize) -> &'static str| {
        let text = table(&|i| format!("{},{},{}", numbers(i), row(i), ["x", "NA"][i % 2]));
        let weight = Some("d".to_string());
        (
            text,
            ReadOptions {
                weight,
                ..plain.clone()
            },
        )
    };
    let (zero, zero_options) = weights(&|i| ["0", "2.5", "1"][i % 3]);
    let (negative, negative_options) = weights(&|i| if late(i) { "-1" } else { "1" });
    let target = ReadOptions {
        target: Some("a".into()),
        text: Some(TextOptions::default()),
        ..of(&[("d", Kind::Text)])
    };
    vec![
        ("late words", words.clone(), plain.clone()),
        ("a text column", words.clone(), target),
        (
            "asked",
            words,
            of(&[
                ("a", Kind::Categorical),
                ("b", Kind::Real),
                ("c", Kind::Count),
            ]),
        ),
        (
            "late quotes",
            table(&|i| {
                if late(i) {
                    format!("{},\"q, \"\"{}\"\"\",\"false\"", numbers(i), i % 2)
                } else {
                    format!("{},é{},TRUE", numbers(i), i % 2)
                }
            }),
            plain.clone(),
        ),
        (
            "missing words and spaces",
            table(&|i| format!(" {} ,{},?,NA,{}", i % 2, ["", "nan", "-0"][i % 3], i % 300)),
            plain.clone(),
        ),
        (
            "counts that turn real, codes, booleans",
            table(&|i| {
                let real = if late(i) { "0.5" } else { "1" };
                let yes = if late(i) {
                    "1"
                } else {
                    ["yes", "No", ""][i % 3]
                };
                format!("{real},00{},{yes},{}e15,{}", i % 5, i % 9, i)
            }),
            plain.clone(),
        ),
        (
            "crlf and blank lines",
            table(&|i| format!("{},u,v\r\n \r\n", numbers(i))),
            plain.clone(),
        ),
        (
            "too large",
            table(&|i| format!("{},1e150,2", numbers(i))),
            plain.clone(),
        ),
        (
            "units",
            table(&|i| format!("{},{i}e150,2", numbers(i))),
            ReadOptions {
                units: true,
                ..plain
            },
        ),
        ("weights of zero", zero, zero_options),
        ("a negative weight", negative, negative_options),
    ]
}

/// The result of opening a table as text, with the bits of its numbers.
fn shown(opened: Result<Opened>) -> String {
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) => return format!("{error:?}"),
    };
    let mut text = format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n",
        opened.source.schema(),
        opened.notes,
        opened.left_out,
        opened.missing_values
    );
    for chunk in opened.source.scan().unwrap() {
        let chunk = chunk.unwrap();
        let _ = writeln!(text, "{:?}", chunk.weights());
        for column in chunk.columns() {
            let seen: Option<Vec<bool>> = column.nulls().map(|nulls| nulls.iter().collect());
            let _ = match column {
                Column::Real { values, .. } => {
                    let bits: Vec<u64> = values.iter().map(|x| x.to_bits()).collect();
                    writeln!(text, "{bits:?} {seen:?}")
                }
                Column::Code { values, .. } => writeln!(text, "{values:?} {seen:?}"),
                Column::Text { values, .. } => writeln!(text, "{:?} {seen:?}", values.rows()),
            };
        }
    }
    text
}

/// Opens a file, with or without the cells kept from the first pass; also whether there were
/// such cells.
fn open(path: &str, options: &ReadOptions, keep: bool) -> (Result<Opened>, bool) {
    let mut inputs = Inputs::new(&[path.to_string()], options).unwrap();
    inputs.weight = options
        .weight
        .as_ref()
        .and_then(|name| inputs.position(name));
    let (weight, mut notes) = (inputs.weight, Vec::new());
    let wanted = vec![true; inputs.names.len()];
    let (schema, kept) = match infer(&inputs, options, &wanted, &mut notes) {
        Ok(found) => found,
        Err(error) => return (Err(error), false),
    };
    let kept = kept.filter(|_| keep);
    let has_kept = kept.is_some();
    let levels = Levels::Found(kept);
    let opened = encode(inputs, options, schema, weight, notes, &wanted, levels);
    (opened, has_kept)
}

/// Calls `each` with every one of these tables in a file.
fn for_each_table(mut each: impl FnMut(&str, &str, &ReadOptions)) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, options) in misleading_tables() {
        let path = folder.path().join(format!("{name}.csv"));
        std::fs::write(&path, text).unwrap();
        each(name, &path.display().to_string(), &options);
    }
}

#[test]
fn kept_cells_give_what_a_second_pass_gives() {
    let mut one_pass = 0;
    for_each_table(|name, path, options| {
        let (first, kept) = open(path, options, true);
        let (second, _) = open(path, options, false);
        assert!(shown(first) == shown(second), "{name}");
        one_pass += usize::from(kept);
    });
    assert!(one_pass >= 7, "{one_pass} tables have kept cells");
}

#[test]
fn cells_beyond_the_memory_budget_are_read_again() {
    for_each_table(|name, path, options| {
        let little = ReadOptions {
            memory_budget: 1 << 16,
            ..options.clone()
        };
        let (first, kept) = open(path, &little, true);
        assert!(!kept, "{name}");
        assert!(shown(first) == shown(open(path, options, true).0), "{name}");
    });
}

/// The field of a column and its notes, or the error.
type Found = (Option<Option<Field>>, Vec<String>, String);

fn summarised(path: &str, options: &ReadOptions, ahead: bool) -> Vec<Found> {
    let inputs = Inputs::new(&[path.to_string()], options).unwrap();
    let wanted = vec![true; inputs.names.len()];
    let missing = Missing::new(&options.missing);
    let mut summaries = empty_summaries(&inputs, options, &wanted);
    let parse = Parse {
        columns: &wanted,
        missing: &missing,
    };
    let mut failed = vec![String::new(); summaries.len()];
    let read = inputs.scan_parsed(&wanted, ahead.then_some(parse), |round| {
        for located in round {
            for ((at, summary), failed) in summaries.iter_mut().zip(&mut failed) {
                if let (true, Err(error)) =
                    (failed.is_empty(), summary.observe(located, *at, &missing))
                {
                    *failed = format!("{error:?}");
                }
            }
        }
        Ok(())
    });
    read.unwrap();
    let finish = |((_, summary), failed): ((usize, Summary), String)| {
        let mut notes = Vec::new();
        if !failed.is_empty() {
            return (None, notes, failed);
        }
        match summary.finish(&missing, true, &mut notes) {
            Ok(field) => (Some(field), notes, failed),
            Err(error) => (None, notes, format!("{error:?}")),
        }
    };
    summaries.into_iter().zip(failed).map(finish).collect()
}

#[test]
fn numbers_parsed_ahead_are_summarised_as_their_cells_are() {
    for_each_table(|name, path, options| {
        let expected = summarised(path, options, false);
        assert_eq!(summarised(path, options, true), expected, "{name}");
    });
}

/// Columns of many types.
#[cfg(feature = "parquet")]
fn typed() -> arrow_array::RecordBatch {
    use arrow_array::*;
    use std::sync::Arc;
    let rows = 0..ROWS as i64;
    let sparse = |i: i64| i % 11 > 0;
    let real = rows
        .clone()
        .map(|i| sparse(i).then(|| [i as f64 / 7.0, f64::NAN, -0.0][i as usize % 3]));
    let large = rows.clone().map(|i| sparse(i).then_some((1 << 60) + i % 4));
    let level = rows.clone().map(|i| sparse(i).then_some((i % 3) as u8));
    let single = rows.clone().map(|i| i as f32 / 3.0);
    let word = rows.clone().map(|i| ["7", "x", " NA "][i as usize % 3]);
    let number = rows.clone().map(|i| ["1", "1.0", "01"][i as usize % 3]);
    let yes = rows.map(|i| sparse(i).then_some(i % 2 == 0));
    RecordBatch::try_from_iter([
        ("real", Arc::new(real.collect::<Float64Array>()) as ArrayRef),
        ("large", Arc::new(large.collect::<Int64Array>())),
        ("level", Arc::new(level.collect::<UInt8Array>())),
        ("single", Arc::new(Float32Array::from_iter_values(single))),
        ("word", Arc::new(StringArray::from_iter_values(word))),
        ("number", Arc::new(StringArray::from_iter_values(number))),
        ("yes", Arc::new(yes.collect::<BooleanArray>())),
    ])
    .unwrap()
}

#[cfg(feature = "parquet")]
#[test]
fn columns_decoded_side_by_side_are_those_of_the_frame() {
    use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
    let batch = typed();
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3000));
    let writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build()));
    let mut writer = writer.unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("typed.parquet").display().to_string();
    std::fs::write(&path, bytes).unwrap();
    let asked = |name: &str, kind: Kind| (name.to_string(), KindOverride::from(kind));
    for (target, drop) in [(None, ""), (Some("level"), "yes"), (Some("large"), "yes")] {
        let options = ReadOptions {
            target: target.map(String::from),
            drop: vec![drop.to_string()]
                .into_iter()
                .filter(|name| !name.is_empty())
                .collect(),
            words: vec!["number".to_string()],
            kinds: vec![asked("single", Kind::Real)],
            ..ReadOptions::default()
        };
        let frame = crate::data::open_frame(batch.schema(), vec![batch.clone()], &options);
        let file = crate::data::open(std::slice::from_ref(&path), &options);
        let table = |opened: Result<Opened>| shown(opened).replace(path.as_str(), "the frame");
        let file = table(file);
        assert!(file == table(frame), "{target:?}");
        if drop.is_empty() {
            assert!(file == table(open(&path, &options, false).0), "{target:?}");
        }
    }
}
