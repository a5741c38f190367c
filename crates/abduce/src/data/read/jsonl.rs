//! JSON lines: one object per line. The columns are all keys of the file, in order of first
//! appearance; a key that is absent from a line or null is a missing value.

use crate::data::CHUNK_ROWS;
use crate::data::options::ReadOptions;
use crate::data::read::batch::{Batch, TextRows};
use crate::data::read::input::Input;
use crate::data::read::lines::Lines;
use crate::data::read::{BATCH_BYTES, Batches, Format};
use crate::{Error, Result};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// One JSON object per line.
pub(super) const JSONL: Format = Format {
    name: "JSON lines",
    extensions: &["jsonl", "ndjson"],
    magic: |_| false,
    seeks: false,
    sparse: true,
    known: |_| &[],
    header,
    batches,
    parts: None,
};

fn header(input: &Input, _: &ReadOptions) -> Result<Vec<String>> {
    let mut lines = Lines::open(input)?;
    let mut keys = Keys::default();
    while let Some((number, line)) = lines.next_line()? {
        parse(line, number, &mut keys)?;
    }
    if keys.names.is_empty() {
        return Err(Error::data("the file is empty"));
    }
    Ok(keys.names)
}

fn batches(input: &Input, _: &ReadOptions, wanted: &[bool]) -> Result<Batches> {
    let names = input.header.clone();
    let mut lines = Lines::open(input)?;
    let mut cells = Cells {
        positions: names.iter().cloned().zip(0..).collect(),
        wanted: wanted.to_vec(),
        row: vec![(0, 0); names.len()],
        text: String::new(),
        nested: None,
        last_lines: vec![0; names.len()],
        line: 0,
        repeated: None,
    };
    Ok(Box::new(std::iter::from_fn(move || {
        next_batch(&mut lines, &mut cells, &names).transpose()
    })))
}

fn next_batch(lines: &mut Lines, cells: &mut Cells, names: &[String]) -> Result<Option<Batch>> {
    let mut batch = TextRows {
        width: names.len(),
        ..TextRows::default()
    };
    while batch.lines.len() < CHUNK_ROWS && batch.text.len() < BATCH_BYTES {
        let Some((number, line)) = lines.next_line()? else {
            break;
        };
        cells.row.fill((0, 0));
        cells.line = number;
        cells.text.clear();
        parse(line, number, &mut *cells)?;
        if let Some(column) = cells.repeated.take() {
            return Err(Error::data("the line has this key twice")
                .at_line(number)
                .at_column(&names[column]));
        }
        if let Some(column) = cells.nested.take() {
            return Err(Error::data("the value is itself an object or an array")
                .at_line(number)
                .at_column(&names[column])
                .with_hint("flatten it, or leave the column out with `drop`"));
        }
        for (start, end) in &cells.row {
            batch.text.push_str(&cells.text[*start..*end]);
            batch.ends.push(batch.text.len());
        }
        batch.lines.push(number);
    }
    Ok((!batch.lines.is_empty()).then_some(Batch::Text(batch)))
}

fn parse<'de, S: DeserializeSeed<'de>>(line: &'de str, number: u64, seed: S) -> Result<()> {
    let mut json = serde_json::Deserializer::from_str(line);
    let read = seed.deserialize(&mut json).and_then(|_| json.end());
    read.map_err(|error| {
        Error::data(format!("this is not a JSON object: {error}"))
            .at_line(number)
            .with_hint("each line must hold one object, such as {\"a\": 1, \"b\": \"x\"}")
    })
}

/// Collects the keys.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    known: HashSet<String>,
}

impl<'de> DeserializeSeed<'de> for &mut Keys {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Keys {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key_seed(KeySeed)? {
            map.next_value::<IgnoredAny>()?;
            if !self.known.contains(&*key) {
                self.known.insert(key.clone().into_owned());
                self.names.push(key.into_owned());
            }
        }
        Ok(())
    }
}

/// Collects the cells of one line.
struct Cells {
    positions: HashMap<String, usize>,
    wanted: Vec<bool>,
    /// The start and end of each cell in `text`.
    row: Vec<(usize, usize)>,
    text: String,
    /// The first wanted column whose value is an object or an array.
    nested: Option<usize>,
    /// The last line that has each key.
    last_lines: Vec<u64>,
    line: u64,
    /// The first column whose key is on the line twice.
    repeated: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for &mut Cells {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Cells {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key_seed(KeySeed)? {
            let value = map.next_value::<&RawValue>()?.get();
            let Some(&at) = self.positions.get(&*key) else {
                continue;
            };
            if std::mem::replace(&mut self.last_lines[at], self.line) == self.line {
                self.repeated.get_or_insert(at);
            }
            let start = self.text.len();
            match value.as_bytes().first() {
                Some(b'"') if !value.contains('\\') => {
                    self.text.push_str(&value[1..value.len() - 1]);
                }
                Some(b'"') => {
                    let text: String =
                        serde_json::from_str(value).map_err(serde::de::Error::custom)?;
                    self.text.push_str(&text);
                }
                Some(b'{' | b'[') if self.wanted[at] => {
                    self.nested.get_or_insert(at);
                }
                Some(b'n') | None => {}
                Some(_) => self.text.push_str(value),
            }
            self.row[at] = (start, self.text.len());
        }
        Ok(())
    }
}

/// A key, borrowed from the line unless it holds escapes.
struct Key<'de>(Cow<'de, str>);
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key<'de>;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Key<'de>, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Key<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_borrowed_str<E>(self, key: &'de str) -> std::result::Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(key)))
    }
    fn visit_str<E>(self, key: &str) -> std::result::Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(key.to_string())))
    }
}
