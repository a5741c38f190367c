//! Kinds of columns read from a file, to use the same ones for several tables: from a model
//! file, or from lines of the form `column=kind`.

use super::Model;
use crate::data::{KindOverride, Schema, not_opened, parse_kind_override};
use crate::{Error, Result};
use std::path::Path;

/// Reads kinds, and levels where there are any, from a model file or from a text file with one
/// `column=kind` or `column=kind(level,level,…)` per line. Empty lines and lines that begin
/// with `#` are skipped.
///
/// ```
/// use abduce::{data::Kind, store::read_kinds};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("kinds.txt");
/// std::fs::write(&path, "# scans\npixel_*=real\nsize=ordinal(small,large)\n")?;
/// let kinds = read_kinds(&path)?;
/// assert_eq!(kinds[0], ("pixel_*".to_string(), Kind::Real.into()));
/// assert_eq!(kinds[1].1.levels, ["small", "large"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be read, or a line does not give a column and its kind.
pub fn read_kinds(path: impl AsRef<Path>) -> Result<Vec<(String, KindOverride)>> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| not_opened(error).at_file(&file))?;
    if text.trim_start().starts_with('{') {
        return Ok(kinds_of(Model::load(path)?.schema()));
    }
    let lines = text.lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let parse = |(line, number): (&str, u64)| {
        parse_kind_override(line).map_err(|error| error.at_file(&file).at_line(number))
    };
    let kinds: Vec<_> = lines.map(parse).collect::<Result<_>>()?;
    if kinds.is_empty() {
        return Err(Error::data("the file contains no kinds")
            .at_file(&file)
            .with_hint("write one column=kind per line, or name a model file"));
    }
    Ok(kinds)
}

/// The kinds and levels of a schema's columns.
fn kinds_of(schema: &Schema) -> Vec<(String, KindOverride)> {
    let kinds = schema.fields.iter().map(|field| {
        let kind = KindOverride {
            kind: field.kind,
            levels: field.levels.clone(),
        };
        (field.name.clone(), kind)
    });
    kinds.collect()
}
