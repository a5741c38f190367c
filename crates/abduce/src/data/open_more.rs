//! More rows for a model that has seen others: its columns and kinds, with
//! whatever levels and terms are new.

use crate::data::open::{Opened, check_names, lacking, open_inputs};
use crate::data::options::{KindOverride, ReadOptions, TextOptions, kind_option};
use crate::data::read::Inputs;
use crate::data::table::schema::{Kind, Schema};
use crate::text::{Encoding, Limits};
use crate::{Error, Result};

/// Opens files as [`open`](crate::data::open) does, with the columns and kinds of a
/// model's schema, but with the levels and terms that the files have. Columns that
/// the schema lacks are left out; those that the files lack are not there, with
/// a note. Of `unsettled` columns the files decide what they are. The options' kinds and
/// texts are not used.
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
    let left = |name: &str| {
        let among = |names: &[String]| names.iter().any(|own| own == name);
        !among(&options.drop) && options.columns.as_deref().is_none_or(among)
    };
    let present = |name: &str| inputs.position(name).filter(|_| left(name));
    check_names(&inputs, options)?;
    let mut notes = lacking(&inputs, schema, options.target.as_deref(), present)?;
    let fields = schema.fields.iter();
    let fields = fields.filter(|field| present(&field.name).is_some());
    let kind = |kind: Kind| match kind {
        // There may be a third.
        Kind::Binary => Kind::Categorical,
        kind => kind,
    };
    let texts = schema.fields.iter().filter_map(|field| field.text.as_ref());
    let text = texts.map(|text| TextOptions {
        analyzer: text.analyzer.clone(),
        limits: Limits::default(),
        hashing: match &text.encoding {
            Encoding::Hashing(hashing) => Some(*hashing),
            Encoding::Vocabulary(_) => None,
        },
        wordless: true,
    });
    let there = |name: &&String| inputs.position(name).is_some();
    if let Some(own) = schema.weight.as_ref().filter(|own| !there(own))
        && options.weight.is_none()
    {
        notes.push(format!("the data have no column {own}; every row weighs 1"));
    }
    let weight = schema.weight.as_ref().filter(there);
    let weight = options.weight.as_ref().or(weight);
    if let Some(own) = weight.filter(|own| schema.position(own).is_ok()) {
        return Err(Error::parameter(
            "the model has learned from this column, so it cannot weigh rows",
        )
        .at_column(own)
        .with_hint("name another with --weight"));
    }
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
        weight: weight.cloned(),
        text: text.into_iter().next(),
        more_rows: true,
        ..options.clone()
    };
    open_inputs(inputs, &options, notes).map_err(|error| match error.readable_as() {
        // What the model has learned of a column is of its kind.
        Some(kind) => {
            let fit = kind_option(error.column().unwrap_or_default(), kind);
            error.with_hint(format!("fit the model to all rows again with {fit}"))
        }
        None => error,
    })
}
