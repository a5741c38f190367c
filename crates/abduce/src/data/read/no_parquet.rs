//! Parquet files in builds without the feature `parquet`: every file is an error.

use crate::data::options::ReadOptions;
use crate::data::read::input::Input;
use crate::data::read::{Batches, Format};
use crate::{Error, Result};

/// Apache Parquet.
pub(super) const PARQUET: Format = Format {
    name: "Parquet",
    extensions: &["parquet"],
    magic: |head| head.starts_with(b"PAR1"),
    seeks: true,
    sparse: false,
    known: |_| &[],
    header,
    batches,
    parts: None,
};

fn not_supported() -> Error {
    Error::parameter("this build does not support Parquet files")
        .with_hint("write the table as Arrow or CSV, or enable the feature parquet of abduce")
}

fn header(_: &Input, _: &ReadOptions) -> Result<Vec<String>> {
    Err(not_supported())
}

fn batches(_: &Input, _: &ReadOptions, _: &[bool]) -> Result<Batches> {
    Err(not_supported())
}
