//! svmlight, also known as libsvm: a row is a line
//!
//!   label index:value index:value … # comment
//!
//! with the nonzero values (Joachims 1999, "Making large-scale SVM learning practical"). The
//! columns are `label` and `features`; a cell of `features` is a sparse document whose terms
//! are the indices and whose counts are the values. A `qid:` is ignored.

use crate::data::CHUNK_ROWS;
use crate::data::missing::Missing;
use crate::data::options::ReadOptions;
use crate::data::read::batch::{Batch, TextRows};
use crate::data::read::input::Input;
use crate::data::read::lines::Lines;
use crate::data::read::{BATCH_BYTES, Batches, Format, Known, number};
use crate::text::pair;
use crate::{Error, Result};

/// Labels with sparse features.
pub(super) const SVMLIGHT: Format = Format {
    name: "svmlight",
    extensions: &["svm", "svmlight", "libsvm"],
    magic: |_| false,
    seeks: false,
    sparse: true,
    known: |_| &[Known::Label, Known::Pairs],
    header: |_, _| Ok(["label", "features"].map(String::from).into()),
    batches,
    parts: None,
};

/// The cell of a row in which every feature is 0; an empty cell would be a missing value.
const NOTHING: &str = "0:0";

fn batches(input: &Input, options: &ReadOptions, _: &[bool]) -> Result<Batches> {
    let mut lines = Lines::open(input)?;
    let missing = Missing::new(&options.missing);
    Ok(Box::new(std::iter::from_fn(move || {
        next_batch(&mut lines, &missing).transpose()
    })))
}

fn next_batch(lines: &mut Lines, missing: &Missing) -> Result<Option<Batch>> {
    let mut batch = TextRows {
        width: 2,
        ..TextRows::default()
    };
    while batch.lines.len() < CHUNK_ROWS && batch.text.len() < BATCH_BYTES {
        let Some((number, line)) = lines.next_line()? else {
            break;
        };
        let row = line.split('#').next().unwrap_or_default();
        let mut words = row.split_ascii_whitespace();
        let Some(label) = words.next() else {
            continue;
        };
        read_row(label, words, missing, &mut batch).map_err(|error| error.at_line(number))?;
        batch.lines.push(number);
    }
    Ok((!batch.lines.is_empty()).then_some(Batch::Text(batch)))
}

fn read_row<'a>(
    label: &str,
    features: impl Iterator<Item = &'a str>,
    missing: &Missing,
    batch: &mut TextRows,
) -> Result<()> {
    if number(label).is_none() && !missing.is(label) {
        return Err(not_a_label(label));
    }
    batch.text.push_str(label);
    batch.ends.push(batch.text.len());
    let start = batch.text.len();
    let mut indices: Vec<u64> = Vec::new();
    for feature in features.filter(|feature| !feature.starts_with("qid:")) {
        let (name, _) = pair(feature)?;
        let index: u64 = name.parse().map_err(|_| {
            Error::data(format!("\"{name}\" is not the number of a feature"))
                .with_hint("write index:value, as in 17:2")
        })?;
        indices.push(index);
        if batch.text.len() > start {
            batch.text.push(' ');
        }
        // 7 and 07 are the same feature.
        batch.text.push_str(&index.to_string());
        batch.text.push_str(&feature[name.len()..]);
    }
    if !indices.is_sorted_by(|one, next| one < next) {
        indices.sort_unstable();
        if let Some(twice) = indices.windows(2).find(|two| two[0] == two[1]) {
            return Err(Error::data(format!(
                "feature {} is on the line twice",
                twice[0]
            )));
        }
    }
    if batch.text.len() == start {
        batch.text.push_str(NOTHING);
    }
    batch.ends.push(batch.text.len());
    Ok(())
}

fn not_a_label(word: &str) -> Error {
    if word.contains(':') {
        return Error::data("the line does not begin with a label")
            .with_hint("write label index:value …, with ? for an unknown label");
    }
    if word.contains(',') {
        return Error::data(format!("the line has several labels, {word}"))
            .with_hint("multiple labels are not supported; keep one of them");
    }
    Error::data(format!("the label \"{word}\" is not a number"))
        .with_hint("number the classes, or list it in `missing` if it stands for a missing label")
}
