//! Data frames of any library, through the Arrow interface. The kinds of columns are inferred as for
//! files; dates, times and nested columns are refused.

use crate::aligned::Aligned1;
use crate::errors::{exception, value_error};
use crate::labels::Labels;
use crate::messages::warning;
use crate::model::Model;
use crate::table::Table;
use crate::threads::pooled;
use abduce::data::{
    Field, Kind, KindOverride, ReadOptions, Source, TextOptions, open_frame, open_frame_with,
};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::collections::HashSet;

fn unsupported_type(kind: &DataType) -> Option<&'static str> {
    Some(match kind {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => "dates",
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) => "times",
        DataType::Interval(_) => "intervals",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "bytes",
        // Python objects in polars, whose addresses Arrow gets.
        DataType::FixedSizeBinary(_) => "objects or bytes",
        DataType::Dictionary(_, values) => return unsupported_type(values),
        kind if kind.is_nested() => "lists or records",
        _ => return None,
    })
}

fn check(schema: &SchemaRef) -> PyResult<()> {
    for field in schema.fields() {
        if let Some(what) = unsupported_type(field.data_type()) {
            return Err(PyTypeError::new_err(format!(
                "column \"{}\" holds {what} ({}), which are not supported; convert them to numbers or strings, or leave the column out",
                field.name(),
                field.data_type()
            )));
        }
    }
    Ok(())
}

/// Sets the kinds of columns by their types, unless the user has set them: categories and strings are
/// categorical even if they look like numbers, and floats are real even if they are whole. The kind of
/// integers is inferred from their values.
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

/// A table from a frame, and notes about its columns. With a model, columns and levels are those of the
/// model. `kinds` has the kinds of columns that are not inferred.
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
        let kind: Kind = kind.parse().map_err(exception)?;
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
    let opened = opened?.map_err(exception)?;
    let Some(table) = opened.source.table() else {
        return Err(value_error("the frame does not fit into memory"));
    };
    let rows = table.rows() as usize;
    let mut fields = table.schema().fields.clone();
    if model.is_none() {
        // Floats are not whole numbers, even if their values are.
        let is_integer = |field: &Field| integers.contains(&field.name);
        let these = fields.iter_mut().filter(|field| !is_integer(field));
        these.for_each(|field| field.whole = false);
    }
    let chunks = table.chunks().iter().map(|chunk| chunk.columns().to_vec());
    let chunks: Vec<_> = chunks.collect();
    let weights = crate::table::weights(weights, rows)?;
    let table = Table::of(fields, chunks, rows, labels, weights)?;
    let notes = opened.notes.iter().map(|note| warning(note));
    Ok((table, notes.collect()))
}
