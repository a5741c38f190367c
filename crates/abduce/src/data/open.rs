//! Opens files as a source: one pass to infer what the columns are and to keep their cells, a
//! second one if the kept cells do not suffice to encode them. A table within the memory
//! budget stays in memory, a larger one goes to a temporary file.

use crate::data::encode::pattern::{fits, is_pattern};
use crate::data::options::{ReadOptions, kind_option};
use crate::data::passes::{Levels, encode, infer};
use crate::data::raw::RawRows;
use crate::data::read::{self, Frame, Inputs, number};
use crate::data::table::names::{listed, nearest, shortly};
use crate::data::table::schema::{Kind, Schema};
use crate::data::table::source::{Source, Table};
use crate::{Error, Result};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::path::Path;
use std::sync::Arc;

/// A column name of more bytes than this is probably a cell: the first line is a row, not a header.
const LONG_NAME: usize = 60;

/// Opened files: their encoded rows, and notes for the user.
pub struct Opened {
    /// The encoded rows.
    pub source: Box<dyn Source>,
    /// Notes for the user, such as columns left out or cells treated as missing.
    pub notes: Vec<String>,
    /// The files that were read, globs expanded.
    pub files: Vec<String>,
    /// The columns of the files that are not in the schema, in order.
    pub left_out: Vec<String>,
    /// The number of missing values in each column of the schema.
    pub missing_values: Vec<u64>,
    pub(super) inputs: Arc<Inputs>,
}

impl Opened {
    /// The rows as they are in the files, in the order of the source.
    ///
    /// # Errors
    /// If a file can no longer be read.
    pub fn raw_rows(&self) -> Result<RawRows> {
        RawRows::new(Arc::clone(&self.inputs))
    }

    /// Replaces the row number in an error by the row's file and line.
    pub fn locate(&self, error: Error) -> Error {
        let Some(row) = error.row() else {
            return error;
        };
        let mut before = 0;
        let found = self
            .inputs
            .scan(&vec![false; self.inputs.names.len()], |located| {
                let rows = located.batch.rows() as u64;
                if before + rows < row {
                    before += rows;
                    return Ok(());
                }
                let line = located.batch.line((row - before - 1) as usize);
                let error = error.clone();
                Err(match self.inputs.file_of_text(located.file, line) {
                    Some(text) => error.at_file(text).without_row(),
                    None => error.at_line(line),
                })
            });
        found.err().unwrap_or(error)
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("schema", self.source.schema())
            .field("rows", &self.source.rows())
            .field("notes", &self.notes)
            .field("files", &self.files)
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Reads a file into memory, and infers what its columns are.
    ///
    /// Columns whose kinds are not as wanted are read by [`open`] with [`ReadOptions`], and so
    /// are tables larger than memory.
    ///
    /// ```
    /// use abduce::data::{Source, Table};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("penguins.csv");
    /// std::fs::write(&path, "species,mass\nadelie,3750\ngentoo,NA\n")?;
    /// let table = Table::read(&path)?;
    /// assert_eq!(table.rows(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`].
    pub fn read(path: impl AsRef<Path>) -> Result<Table> {
        let options = ReadOptions {
            memory_budget: u64::MAX,
            ..ReadOptions::default()
        };
        let opened = open(&[path.as_ref().display().to_string()], &options)?;
        let chunks = opened.source.scan()?.collect::<Result<Vec<_>>>()?;
        Ok(Table::from_chunks(opened.source.schema().clone(), chunks))
    }
}

/// Opens files, globs, folders of texts or `-` for standard input as one table, and infers
/// what its columns are.
///
/// ```
/// use abduce::data::{Kind, ReadOptions, open};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("penguins.csv");
/// std::fs::write(&path, "species,mass\nadelie,3750\ngentoo,NA\nadelie,3251.5\n")?;
/// let opened = open(&[path.display().to_string()], &ReadOptions::default())?;
/// let schema = opened.source.schema();
/// assert_eq!(opened.source.rows(), 3);
/// assert_eq!(schema.fields[0].levels, ["adelie", "gentoo"]);
/// assert_eq!(schema.fields[1].kind, Kind::Real);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a file cannot be read, has no rows or malformed ones, or an option names a column
/// that does not exist.
pub fn open(paths: &[String], options: &ReadOptions) -> Result<Opened> {
    let inputs = Inputs::new(paths, options)?;
    let notes = inputs.notes.clone();
    open_inputs(inputs, options, notes)
}

/// Infers the schema and encodes the rows.
pub(super) fn open_inputs(
    mut inputs: Inputs,
    options: &ReadOptions,
    mut notes: Vec<String>,
) -> Result<Opened> {
    let wanted = wanted(&inputs, options)?;
    if let Some(first) = numeric_header(&inputs) {
        notes.push(format!(
            "the columns are named by numbers ({first}, …); pass `no_header` if the first line is a row"
        ));
    }
    let weight_column = options
        .weight
        .as_ref()
        .and_then(|name| inputs.position(name));
    inputs.weight = weight_column;
    notes.extend(absent_of_schema(&inputs, options));
    let (schema, kept) = infer(&inputs, options, &wanted, &mut notes)?;
    encode(
        inputs,
        options,
        schema,
        weight_column,
        notes,
        &wanted,
        Levels::Found(kept),
    )
}

/// Opens files as [`open`] does, with the columns, kinds and levels of a model's schema.
/// Columns that only the files have are left out. Columns that only the schema has are
/// filled with missing values, with a note unless it is the target. Levels that the schema
/// lacks get the code after its last; in the target they are missing values. The options'
/// kinds are ignored.
///
/// # Errors
/// As [`open`]; also if no column of the schema is in the files.
pub fn open_with(paths: &[String], options: &ReadOptions, schema: &Schema) -> Result<Opened> {
    inputs_with(Inputs::new(paths, options)?, options, schema)
}

fn inputs_with(inputs: Inputs, options: &ReadOptions, schema: &Schema) -> Result<Opened> {
    let target = options.target.as_deref();
    let options = &ReadOptions {
        kinds: Vec::new(),
        schema: Vec::new(),
        otherwise: None,
        target: None,
        ..options.clone()
    };
    let wanted = wanted(&inputs, options)?;
    let present = |name: &str| inputs.position(name).filter(|at| wanted[*at]);
    let notes = lacking(&inputs, schema, target, present)?;
    let named = options.weight.as_ref().or(schema.weight.as_ref());
    let weight_column = named.and_then(|name| inputs.position(name));
    let mut schema = schema.clone();
    if let Some(weight) = &options.weight {
        schema.weight = Some(weight.clone());
    }
    let levels = Levels::Known { target };
    encode(
        inputs,
        options,
        schema,
        weight_column,
        notes,
        &wanted,
        levels,
    )
}

/// Opens record batches in memory as [`open`] opens files.
///
/// ```
/// use abduce::data::{Kind, ReadOptions, open_frame};
/// use arrow_array::{Float64Array, RecordBatch, StringArray};
/// use std::sync::Arc;
/// let species = StringArray::from(vec!["adelie", "gentoo", "adelie"]);
/// let mass = Float64Array::from(vec![Some(3750.0), None, Some(3251.5)]);
/// let batch = RecordBatch::try_from_iter([
///     ("species", Arc::new(species) as _),
///     ("mass", Arc::new(mass) as _),
/// ])?;
/// let opened = open_frame(batch.schema(), vec![batch], &ReadOptions::default())?;
/// assert_eq!(opened.source.schema().fields[0].levels, ["adelie", "gentoo"]);
/// assert_eq!(opened.source.schema().fields[1].kind, Kind::Real);
/// assert_eq!(opened.missing_values, [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`open`].
pub fn open_frame(
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    options: &ReadOptions,
) -> Result<Opened> {
    let inputs = Inputs::in_memory(Frame { schema, batches }, options)?;
    open_inputs(inputs, options, Vec::new())
}

/// Opens record batches in memory as [`open_with`] opens files.
///
/// # Errors
/// As [`open_with`].
pub fn open_frame_with(
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    options: &ReadOptions,
    model: &Schema,
) -> Result<Opened> {
    let inputs = Inputs::in_memory(Frame { schema, batches }, options)?;
    inputs_with(inputs, options, model)
}

/// Notes about columns of a schema, other than the target, that the data lack.
///
/// # Errors
/// If the data have none of its columns.
pub(super) fn lacking(
    inputs: &Inputs,
    schema: &Schema,
    target: Option<&str>,
    present: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<String>> {
    let absent: Vec<&str> = schema
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .filter(|name| present(name).is_none())
        .collect();
    if absent.len() == schema.fields.len() {
        return Err(Error::data(format!(
            "the data have none of the model's columns {}",
            listed(absent.iter().copied())
        ))
        .with_hint(format!(
            "the columns are {}",
            listed(inputs.names.iter().map(String::as_str))
        )));
    }
    let lacking: Vec<&str> = absent.into_iter().filter(|n| Some(*n) != target).collect();
    let mut notes = inputs.notes.clone();
    match lacking.as_slice() {
        [] => {}
        [name] => notes.push(format!(
            "the data have no column {name}; its cells are treated as missing"
        )),
        names => notes.push(format!(
            "the data lack {} of the model's columns: {}; their cells are treated as missing",
            names.len(),
            shortly(3, names.iter().copied())
        )),
    }
    Ok(notes)
}

/// The column of classes, where the file format has one: `class` for several mailboxes or a
/// folder with one folder per class, `label` for svmlight files. `None` for other formats
/// and for standard input, which can be read only once.
///
/// ```
/// use abduce::data::{ReadOptions, label_column};
/// let folder = tempfile::tempdir()?;
/// for (class, text) in [("ham", "see you at noon"), ("spam", "win a prize")] {
///     std::fs::create_dir(folder.path().join(class))?;
///     std::fs::write(folder.path().join(class).join("1.txt"), text)?;
/// }
/// let path = folder.path().display().to_string();
/// let label = label_column(&[path], &ReadOptions::default())?;
/// assert_eq!(label.as_deref(), Some("class"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a file or folder cannot be read.
pub fn label_column(paths: &[String], options: &ReadOptions) -> Result<Option<String>> {
    let label = read::label_column(paths, options)?;
    Ok(label.filter(|name| !options.drop.contains(name)))
}

/// Which columns the options keep.
///
/// # Errors
/// As [`check_names`].
fn wanted(inputs: &Inputs, options: &ReadOptions) -> Result<Vec<bool>> {
    check_names(inputs, options)?;
    let names = inputs.names.iter();
    Ok(names
        .map(|name| {
            let is = |other: &Option<String>| other.as_ref() == Some(name);
            let kept = options.columns.as_ref().is_none_or(|c| c.contains(name));
            is(&options.target) || is(&options.weight) || (kept && !options.drop.contains(name))
        })
        .collect())
}

/// # Errors
/// If an option names a column that does not exist, or two options contradict each other.
pub(super) fn check_names(inputs: &Inputs, options: &ReadOptions) -> Result<()> {
    let kept = options.columns.iter().flatten();
    let named = (options.drop.iter().map(|name| (name, "`drop`: ")))
        .chain(kept.map(|name| (name, "")))
        .chain((options.kinds.iter()).filter_map(|(name, _)| {
            let plain = !is_pattern(name);
            plain.then_some((name, "`kind`: "))
        }))
        .chain(options.target.iter().map(|name| (name, "`target`: ")))
        .chain(options.weight.iter().map(|name| (name, "`weight`: ")));
    for (name, option) in named {
        if inputs.position(name).is_none() {
            return Err(
                Error::parameter(format!("{option}there is no column \"{name}\""))
                    .with_hint(columns_hint(name, &inputs.names)),
            );
        }
    }
    check_patterns(inputs, options)?;
    check_roles(options)
}

/// A hint for an unknown column: the existing columns, and how the header may have been misread.
fn columns_hint(name: &str, names: &[String]) -> String {
    if let [only] = names {
        return format!("the only column is \"{only}\"; if it contains several, set `delimiter`");
    }
    let near = nearest(name, names);
    let meant = near.map_or(String::new(), |near| format!("did you mean {near}? "));
    let listed = listed(names.iter().map(String::as_str));
    let is_value = |name: &String| name.parse::<f64>().is_ok() || name.len() > LONG_NAME;
    let header = if names.iter().any(is_value) {
        "; if the first line is a row and not a header, pass `no_header` and `names`"
    } else {
        ""
    };
    format!("{meant}the columns are {listed}{header}")
}

/// # Errors
/// If the target or the weight is dropped, one column is both, or the target is not to have
/// levels.
fn check_roles(options: &ReadOptions) -> Result<()> {
    for (needed, option) in [(&options.target, "`target`"), (&options.weight, "`weight`")] {
        let dropped = needed.as_ref().filter(|name| options.drop.contains(name));
        if let Some(name) = dropped {
            let message = format!("column \"{name}\" is both in `drop` and {option}");
            return Err(Error::parameter(message));
        }
    }
    if let Some(target) = &options.target {
        if options.weight.as_ref() == Some(target) {
            let message = format!("column \"{target}\" is both the target and the weight");
            return Err(Error::parameter(message));
        }
        if let Some(asked) = options.kind_override(target)
            && !asked.kind.is_coded()
        {
            return Err(Error::parameter(format!(
                "the target \"{target}\" holds labels and cannot be {}",
                asked.kind.name()
            ))
            .with_hint(format!(
                "pass {}, or leave out `target`",
                kind_option(target, Kind::Categorical.name())
            )));
        }
    }
    Ok(())
}

/// # Errors
/// If a pattern of `kind` matches no column, or nothing in `schema` does.
fn check_patterns(inputs: &Inputs, options: &ReadOptions) -> Result<()> {
    let names = &inputs.names;
    let is_absent = |name: &str| !names.iter().any(|column| fits(name, column));
    let hint = || {
        format!(
            "the columns are {}",
            listed(names.iter().map(String::as_str))
        )
    };
    if let Some((name, _)) = options.kinds.iter().find(|(name, _)| is_absent(name)) {
        let message = format!("`kind`: no column matches \"{name}\"");
        return Err(Error::parameter(message).with_hint(hint()));
    }
    let kept = &options.schema;
    if !kept.is_empty() && kept.iter().all(|(name, _)| is_absent(name)) {
        let message = "`schema`: the data have none of its columns";
        return Err(Error::parameter(message).with_hint(hint()));
    }
    Ok(())
}

/// A note about columns of `schema` that the data lack.
fn absent_of_schema(inputs: &Inputs, options: &ReadOptions) -> Option<String> {
    let names = &inputs.names;
    let is_absent = |name: &&str| !names.iter().any(|column| fits(name, column));
    let kept = options.schema.iter().map(|(name, _)| name.as_str());
    let absent: Vec<&str> = kept.filter(is_absent).collect();
    (!absent.is_empty()).then(|| {
        format!(
            "`schema`: the data have no column {}",
            shortly(3, absent.iter().copied())
        )
    })
}

/// The first name of a header in which all names are numbers, as in a row of data.
fn numeric_header(inputs: &Inputs) -> Option<&str> {
    let numbers = inputs.names.iter().all(|name| number(name).is_some());
    let first = inputs.names.first().map(String::as_str);
    first.filter(|_| numbers && inputs.named_by_a_line())
}
