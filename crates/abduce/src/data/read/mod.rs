//! Reads files of every format as batches of raw rows. A new format is one file here and one
//! entry in [`FORMATS`]. `gather` expands arguments, globs and folders to files, `input`
//! handles compression and standard input, `inputs` joins several files to one table.

mod arrow;
mod arrow_lengths;
mod batch;
mod delimited;
mod frame;
mod gather;
mod input;
mod inputs;
mod jsonl;
mod lines;
mod number;
mod numbers;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod scan;
mod shared_file;
mod split;
mod svmlight;
#[cfg_attr(not(feature = "text"), path = "no_texts.rs")]
mod texts;

pub(crate) use batch::{Batch, Cell, KeptRows, MISSING_WORD, Words};
pub(crate) use frame::Frame;
pub(crate) use input::{no_room, not_opened};
pub(crate) use inputs::{Inputs, label_column};
pub(crate) use number::{Key, TOO_LARGE, key, number, token};
pub(crate) use numbers::Numbers;
pub(crate) use scan::{Located, Parse};

use crate::Result;
use crate::data::options::ReadOptions;
use input::Input;

/// All formats, in the order in which they are documented.
pub(crate) const FORMATS: &[&Format] = &[
    &delimited::CSV,
    &delimited::TSV,
    &parquet::PARQUET,
    &arrow::ARROW,
    &jsonl::JSONL,
    &svmlight::SVMLIGHT,
    &texts::MAILBOX,
];

/// A text format starts a new batch after this many bytes.
pub(crate) const BATCH_BYTES: usize = 4 << 20;

/// The rows of one file, in order.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<Batch>> + Send>;

/// The rows of one file, in order, in parts that several threads can decode.
pub(crate) type Parts = Box<dyn Iterator<Item = Result<Part>> + Send>;

/// Some rows of a file.
pub(crate) enum Part {
    Batch(Batch),
    /// Decodes the rows, on any thread; nothing follows an error.
    Work(Work),
    /// Decodes the next rows on all threads, after those of the part before.
    Turn(Work),
}

type Work = Box<dyn FnOnce() -> Vec<Result<Batch>> + Send>;

impl Part {
    /// The rows, decoded.
    pub fn decode(self) -> Vec<Result<Batch>> {
        match self {
            Part::Batch(batch) => vec![Ok(batch)],
            Part::Work(work) | Part::Turn(work) => work(),
        }
    }
}

/// What a column holds, if the format determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The class of each row.
    Label,
    /// Texts.
    Text,
    /// Terms with weights.
    Pairs,
}

/// One file format.
pub(crate) struct Format {
    /// Its name in messages.
    pub name: &'static str,
    /// The file name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether a file that starts with these bytes has this format.
    pub magic: fn(&[u8]) -> bool,
    /// Whether reading needs random access, so that a compressed file is unpacked first.
    pub seeks: bool,
    /// Whether rows may omit cells, so that files may have different columns.
    pub sparse: bool,
    /// What each column holds, if the format determines it; empty for tables.
    pub known: fn(&Input) -> &'static [Known],
    /// The names of the columns; empty for an unnamed one.
    pub header: fn(&Input, &ReadOptions) -> Result<Vec<String>>,
    /// The rows; unwanted columns may be left out.
    pub batches: fn(&Input, &ReadOptions, wanted: &[bool]) -> Result<Batches>,
    /// The same rows in parts, if several threads can decode them.
    pub parts: Option<PartsOf>,
}

type PartsOf = fn(&Input, &ReadOptions, wanted: &[bool]) -> Result<Parts>;
