//! Record batches in memory, such as a data frame from Python.

use crate::data::options::ReadOptions;
use crate::data::read::arrow::{in_order, positions};
use crate::data::read::input::Input;
use crate::data::read::{Batches, Format};
use crate::{Error, Result};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

/// Batches in memory.
pub(super) const FRAME: Format = Format {
    name: "frame",
    extensions: &[],
    magic: |_| false,
    seeks: true,
    sparse: false,
    known: |_| &[],
    header,
    batches,
    parts: None,
};

/// Batches of one schema.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

fn of(input: &Input) -> Result<&Frame> {
    let absent = || Error::data("there are no batches in memory");
    input.frame().ok_or_else(absent)
}

fn header(input: &Input, _: &ReadOptions) -> Result<Vec<String>> {
    let fields = of(input)?.schema.fields();
    Ok(fields.iter().map(|field| field.name().clone()).collect())
}

fn batches(input: &Input, _: &ReadOptions, wanted: &[bool]) -> Result<Batches> {
    let frame = of(input)?;
    let wanted = positions(frame.schema.fields(), wanted);
    let mut chosen = Vec::with_capacity(frame.batches.len());
    for batch in &frame.batches {
        let batch = batch.project(&wanted);
        chosen.push(batch.map_err(|why| Error::data(format!("the frame is damaged: {why}"))));
    }
    let width = frame.schema.fields().len();
    Ok(in_order(chosen.into_iter(), wanted, width))
}
