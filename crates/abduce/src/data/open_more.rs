//! More rows for a fitted model: its columns and kinds, with the levels and terms found in
//! the new files.

use crate::data::open::{Opened, check_names, lacking, open_inputs};
use crate::data::options::{KindOverride, ReadOptions, TextOptions, kind_option};
use crate::data::read::Inputs;
use crate::data::table::schema::{Kind, Schema};
use crate::text::{Encoding, Limits};
use crate::{Error, Result};

/// Opens files as [`open`](crate::data::open) does, with the columns and kinds of a
/// model's schema, but with the levels and terms found in the files. Columns that only the
/// files have are left out; columns that only the schema has are absent, with a note. The
/// kinds of `unsettled` columns are inferred. The options' kinds and text options are ignored.
///
/// ```
/// use abduce::data::{Field, Kind, ReadOptions, Schema, open_more};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("more.csv");
/// std::fs::write(&path, "id,size,color\n7,2,blue\n8,3,red\n")?;
/// let color = Field::with_levels("color", Kind::Binary, ["green", "red"]);
/// let known = Schema::new(vec![color, Field::new("size", Kind::Real)]);
/// let opened = open_more(&[path.display().to_string()], &ReadOptions::default(), &known, &[])?;
/// let found = opened.source.schema();
/// assert_eq!(found.fields[0].kind, Kind::Real);
/// assert_eq!(found.fields[1].levels, ["blue", "red"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`open`](crate::data::open); also if no column of the schema is in the files.
pub fn open_more(
    paths: &[String],
    options: &ReadOptions,
    schema: &Schema,
    unsettled: &[String],
) -> Result<Opened> {
    let inputs = Inputs::new(paths, options)?;
    let is_kept = |name: &str| {
        let among = |names: &[String]| names.iter().any(|other| other == name);
        !among(&options.drop) && options.columns.as_deref().is_none_or(among)
    };
    let present = |name: &str| inputs.position(name).filter(|_| is_kept(name));
    check_names(&inputs, options)?;
    let mut notes = lacking(&inputs, schema, options.target.as_deref(), present)?;
    let fields = schema.fields.iter();
    let fields = fields.filter(|field| present(&field.name).is_some());
    let kind = |kind: Kind| match kind {
        // The new rows may have a third level.
        Kind::Binary => Kind::Categorical,
        kind => kind,
    };
    let weight = weight_column(&inputs, options, schema, &mut notes)?;
    let options = ReadOptions {
        kinds: fields
            .clone()
            .filter(|field| !unsettled.contains(&field.name))
            .map(|field| (field.name.clone(), KindOverride::from(kind(field.kind))))
            .collect(),
        schema: Vec::new(),
        otherwise: None,
        columns: Some(fields.map(|field| field.name.clone()).collect()),
        target: None,
        weight,
        text: text_options(schema),
        more_rows: true,
        ..options.clone()
    };
    open_inputs(inputs, &options, notes).map_err(|error| match error.readable_as() {
        // The kind of a fitted column cannot change.
        Some(kind) => {
            let fit = kind_option(error.column().unwrap_or_default(), kind);
            error.with_hint(format!("fit the model to all rows again with {fit}"))
        }
        None => error,
    })
}

/// The column of weights: the one named in the options, else the model's if the files have it.
fn weight_column(
    inputs: &Inputs,
    options: &ReadOptions,
    schema: &Schema,
    notes: &mut Vec<String>,
) -> Result<Option<String>> {
    let in_files = |name: &&String| inputs.position(name).is_some();
    if let Some(absent) = schema.weight.as_ref().filter(|name| !in_files(name))
        && options.weight.is_none()
    {
        notes.push(format!(
            "the data have no column {absent}; every row weighs 1"
        ));
    }
    let weight = schema.weight.as_ref().filter(in_files);
    let weight = options.weight.as_ref().or(weight);
    if let Some(name) = weight.filter(|name| schema.position(name).is_ok()) {
        return Err(Error::parameter(
            "the model was fitted to this column, so it cannot hold the weights",
        )
        .at_column(name)
        .with_hint("name another with `weight`"));
    }
    Ok(weight.cloned())
}

/// How the schema's columns of text were read, without their vocabulary.
fn text_options(schema: &Schema) -> Option<TextOptions> {
    let text = schema.fields.iter().find_map(|field| field.text.as_ref())?;
    Some(TextOptions {
        analyzer: text.analyzer.clone(),
        limits: Limits::default(),
        hashing: match &text.encoding {
            Encoding::Hashing(hashing) => Some(*hashing),
            Encoding::Vocabulary(_) => None,
        },
        wordless: true,
    })
}
