//! Data frames through the Arrow interface, whatever library they are of. What columns
//! are is found out from their cells as it is of files; dates and nested things are
//! refused.

use crate::aligned::Aligned1;
use crate::model::Model;
use crate::pools::pooled;
use crate::table::{Labels, Table};
use crate::trouble::{raised, wrong};
use crate::words::warning;
use abduce::data::{
    Field, Kind, KindOverride, ReadOptions, Source, TextOptions, open_frame, open_frame_with,
};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::collections::HashSet;

fn is_nested_or_of_time(kind: &DataType) -> Option<&'static str> {
    Some(match kind {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => "dates",
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) => "times",
        DataType::Interval(_) => "intervals",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "bytes",
        // Cells of several types in polars, of which Arrow sees where they lie.
        DataType::FixedSizeBinary(_) => "objects or bytes",
        DataType::Dictionary(_, values) => return is_nested_or_of_time(values),
        kind if kind.is_nested() => "lists or records",
        _ => return None,
    })
}

fn check(schema: &SchemaRef) -> PyResult<()> {
    for field in schema.fields() {
        if let Some(what) = is_nested_or_of_time(field.data_type()) {
            return Err(PyTypeError::new_err(format!(
                "column \"{}\" holds {what} ({}), which no model takes; turn them into numbers or levels, or leave the column out",
                field.name(),
                field.data_type()
            )));
        }
    }
    Ok(())
}

/// Lets the type of a column decide what it is, unless the user has: categories and strings are
/// levels even if they look like numbers, and floats are real even if they are whole. What
/// integers are is found out from their values.
fn decide_by_type(schema: &SchemaRef, options: &mut ReadOptions) {
    for field in schema.fields() {
        let name = field.name();
        if options.kind_override(name).is_some() {
            continue;
        }
        match field.data_type() {
            DataType::Dictionary(..) => {
                options.kinds.push((name.clone(), Kind::Categorical.into()));
            }
            DataType::Float16
            | DataType::Float32
            | DataType::Float64
            | DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => options.kinds.push((name.clone(), Kind::Real.into())),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                options.words.push(name.clone());
            }
            _ => {}
        }
    }
}

/// A table of a frame, and what is to be said of its columns. With a model, columns
/// and levels are the model's. `kinds` are of columns whose kind is not to be found out.
#[pyfunction]
#[pyo3(signature = (frame, kinds=Vec::new(), labels=None, weights=None, model=None, target=None))]
pub fn table_of_frame(
    py: Python<'_>,
    frame: PyTable,
    kinds: Vec<(String, String)>,
    labels: Option<Labels<'_>>,
    weights: Option<Aligned1<'_, f64>>,
    model: Option<&Model>,
    target: Option<String>,
) -> PyResult<(Table, Vec<String>)> {
    let (batches, schema): (Vec<RecordBatch>, SchemaRef) = frame.into_inner();
    check(&schema)?;
    let integers = schema.fields().iter();
    let integers = integers.filter(|field| field.data_type().is_integer());
    let integers: HashSet<String> = integers.map(|field| field.name().clone()).collect();
    let mut options = ReadOptions {
        missing: Vec::new(),
        memory_budget: u64::MAX,
        target,
        ..ReadOptions::default()
    };
    for (name, kind) in kinds {
        let kind: Kind = kind.parse().map_err(raised)?;
        options.kinds.push((name, kind.into()));
    }
    if model.is_none() {
        decide_by_type(&schema, &mut options);
    }
    let is_text = |(_, kind): &(String, KindOverride)| kind.kind == Kind::Text;
    options.text = options.kinds.iter().any(is_text).then(TextOptions::default);
    let model = model.map(|model| model.model.schema());
    let opened = pooled(py, None, || match model {
        Some(model) => open_frame_with(schema, batches, &options, model),
        None => open_frame(schema, batches, &options),
    });
    let opened = opened?.map_err(raised)?;
    let Some(table) = opened.source.table() else {
        return Err(wrong("the frame does not fit into memory"));
    };
    let rows = table.rows() as usize;
    let mut fields = table.schema().fields.clone();
    if model.is_none() {
        // Floats that happen to be whole are not: the type of a column decides.
        let own = |field: &Field| integers.contains(&field.name);
        let these = fields.iter_mut().filter(|field| !own(field));
        these.for_each(|field| field.whole = false);
    }
    let chunks = table.chunks().iter().map(|chunk| chunk.columns().to_vec());
    let chunks: Vec<_> = chunks.collect();
    let weights = crate::table::weights(weights, rows)?;
    let table = Table::of(fields, chunks, rows, labels, weights)?;
    let notes = opened.notes.iter().map(|note| warning(note));
    Ok((table, notes.collect()))
}
