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
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod shared_file;
mod svmlight;
#[cfg_attr(not(feature = "text"), path = "no_texts.rs")]
mod texts;

pub(crate) use batch::{Batch, Cell};
pub(crate) use frame::Frame;
pub(crate) use input::{no_room, not_opened};
pub(crate) use inputs::{Inputs, Located, label_column};
pub(crate) use number::{Key, TOO_LARGE, key, number, token};

use crate::Result;
use crate::data::options::ReadOptions;
use input::Input;

/// All formats, in the order in which they are documented.
pub(crate) const FORMATS: [&Format; 7] = [
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
}
