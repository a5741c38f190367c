//! Reading files of every format as batches of raw rows. A new format is one
//! file here and one entry in [`FORMATS`]; what wraps a file (compression,
//! standard input) is in `input`, which files arguments, globs and folders mean
//! in `gather`, how several files fit together in `inputs`.

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
mod parquet;
mod shared_file;
mod svmlight;
mod texts;

pub(crate) use batch::{Batch, Cell};
pub(crate) use frame::Frame;
pub(crate) use input::{no_room, not_opened};
pub(crate) use inputs::{Inputs, Located, label_column};
pub(crate) use number::{Key, TOO_LARGE, key, number, token};

use crate::Result;
use crate::data::options::ReadOptions;
use input::Input;

/// The formats there are, in the order in which they are documented.
pub(crate) const FORMATS: [&Format; 7] = [
    &delimited::CSV,
    &delimited::TSV,
    &parquet::PARQUET,
    &arrow::ARROW,
    &jsonl::JSONL,
    &svmlight::SVMLIGHT,
    &texts::MAILBOX,
];

/// The rows of one file, in order.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<Batch>> + Send>;

/// What a column holds, where its format says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The class of each row.
    Label,
    /// Texts, however short or alike they are.
    Text,
    /// Terms with their weights.
    Pairs,
}

/// One file format.
pub(crate) struct Format {
    /// What to call it.
    pub name: &'static str,
    /// How its files' names end, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether a file that starts with these bytes is surely of this format.
    pub magic: fn(&[u8]) -> bool,
    /// Whether it is read out of order, so that a compressed file must be
    /// unpacked first.
    pub seeks: bool,
    /// Whether a row may leave cells out, so that files need not have the
    /// same columns.
    pub sparse: bool,
    /// What the columns are known to hold before anyone looks at their cells;
    /// nothing in a format of tables.
    pub known: fn(&Input) -> &'static [Known],
    /// The names of the columns; an unnamed one is empty.
    pub header: fn(&Input, &ReadOptions) -> Result<Vec<String>>,
    /// The rows; columns that are not wanted may be left out.
    pub batches: fn(&Input, &ReadOptions, wanted: &[bool]) -> Result<Batches>,
}
