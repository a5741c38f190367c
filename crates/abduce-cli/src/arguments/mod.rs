//! The arguments of every command that reads data: which data to read, and how.

pub mod costs;
pub mod text;
pub mod values;

use crate::context::Context;
use crate::io::failure::Outcome;
use abduce::ask::Predict;
use abduce::data::{Kind, KindOverride, Opened, ReadOptions, TextOptions, parse_kind_override};
use abduce::store::{Model, read_kinds};
use clap::Args;
use std::path::{Path, PathBuf};
use values::{Quote, delimiter, memory, quote, split_assignments, split_lists};

/// The data, and how to read it.
#[derive(Args, Clone)]
pub struct DataArguments {
    /// Input files or globs (read as one table), mailboxes, or a folder with one subfolder of
    /// texts per class; - reads standard input, which is copied to a temporary file (at most 64
    /// GiB, or ABDUCE_SPOOL_LIMIT bytes)
    #[arg(value_name = "DATA", required = true)]
    pub data: Vec<String>,

    /// Columns to leave out
    #[arg(long, value_name = "A,B", help_heading = "Data options")]
    pub drop: Vec<String>,

    /// The only columns to use
    #[arg(long, value_name = "A,B", help_heading = "Data options")]
    pub columns: Vec<String>,

    /// Column of row weights
    #[arg(long, value_name = "COL", help_heading = "Data options")]
    pub weight: Option<String>,

    /// Words that stand for a missing value, in addition to an empty cell [default:
    /// NA,N/A,#N/A,NaN,null,None,?, but none in text columns]
    #[arg(long, value_name = "WORDS", help_heading = "Data options")]
    pub missing: Vec<String>,

    /// Read the first line as data, not as column names
    #[arg(long, help_heading = "Data options")]
    pub no_header: bool,

    /// Column names to use instead of those in the file
    #[arg(long, value_name = "A,B", help_heading = "Data options")]
    pub names: Vec<String>,

    /// Character that separates cells, or tab or space [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Data options")]
    pub delimiter: Option<u8>,

    /// Character that quotes cells containing delimiters or line breaks, or none [default: "]
    #[arg(long, value_name = "CHAR", value_parser = quote, help_heading = "Data options")]
    pub quote: Option<Quote>,

    /// How much of the table to keep in memory, as in 256M or 2G; a larger table is read from a
    /// temporary file [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Data options")]
    pub memory: Option<u64>,
}

/// The kinds of columns that are given instead of inferred.
#[derive(Args, Clone, Default)]
pub struct KindArguments {
    /// The kind of a column, as in year=categorical or size=ordinal(small,large): real, count,
    /// binary, categorical, ordinal, text; * in a name matches any characters, as in
    /// 'pixel_*=real', and later kinds override earlier ones [repeatable; default: 0/1 and yes/no
    /// are binary; whole numbers from 0 with a mean up to 10, a variance up to 4 times the mean
    /// and at least 1% zeros are counts; other numbers are real; words are categorical; numbered
    /// columns that look alike get one kind]
    #[arg(long, value_name = "COL=KIND", help_heading = "Data options")]
    pub kind: Vec<String>,

    /// Take kinds and levels from a model file, or from a text file with one COL=KIND per line;
    /// --kind overrides them
    #[arg(long, value_name = "FILE", help_heading = "Data options")]
    pub schema: Option<PathBuf>,
}

impl DataArguments {
    /// How the files are read.
    pub fn options(&self, target: Option<&str>) -> ReadOptions {
        let default = ReadOptions::default();
        let some = |given: &[String]| (!given.is_empty()).then(|| split_lists(given));
        ReadOptions {
            drop: split_lists(&self.drop),
            columns: some(&self.columns),
            target: target.map(String::from),
            weight: self.weight.clone(),
            missing: some(&self.missing).unwrap_or(default.missing),
            no_header: self.no_header,
            names: some(&self.names),
            delimiter: self.delimiter,
            quote: self.quote.map_or(default.quote, |Quote(quote)| quote),
            memory_budget: self.memory.unwrap_or(default.memory_budget),
            ..default
        }
    }

    /// The column of labels, if the format of the data determines it.
    pub fn label_column(&self) -> Outcome<Option<String>> {
        Ok(abduce::data::label_column(&self.data, &self.options(None))?)
    }

    /// Opens the data and infers the kinds that `kinds` does not set; `text` says how text columns
    /// are read. Prints the notes of the reader.
    pub fn open(
        &self,
        target: Option<&str>,
        kinds: &KindArguments,
        text: Option<TextOptions>,
        context: &Context,
    ) -> Outcome<Opened> {
        let options = ReadOptions {
            kinds: parse_kinds(&kinds.kind)?,
            schema: (kinds.schema.as_ref()).map_or(Ok(Vec::new()), read_kinds)?,
            text,
            units: true,
            ..self.options(target)
        };
        note_all(abduce::data::open(&self.data, &options)?, context)
    }

    /// Opens some columns of the data, or all if `columns` is empty; with `kind`, all of them are
    /// of that kind.
    pub fn open_columns(
        &self,
        columns: &[String],
        kind: Option<Kind>,
        context: &Context,
    ) -> Outcome<Opened> {
        let mut options = self.options(None);
        if !columns.is_empty() {
            options.columns = Some(columns.to_vec());
        }
        options.otherwise = kind.map(KindOverride::from);
        note_all(abduce::data::open(&self.data, &options)?, context)
    }

    /// Opens more rows for a model, including new levels and terms.
    pub fn open_more(&self, model: &Model, context: &Context) -> Outcome<Opened> {
        let (schema, unsettled) = (model.schema(), model.incremental()?.unsettled());
        let options = self.options(None);
        let opened = abduce::data::open_more(&self.data, &options, schema, &unsettled)?;
        note_all(opened, context)
    }

    /// Opens the data with the columns of a model.
    pub fn open_for(&self, model: &dyn Predict, context: &Context) -> Outcome<Opened> {
        let schema = model.schema();
        let target = model
            .target()
            .map(|target| schema.fields[target].name.as_str());
        let options = ReadOptions {
            unseen: model.unseen_categories(),
            ..self.options(target)
        };
        note_all(
            abduce::data::open_with(&self.data, &options, schema)?,
            context,
        )
    }
}

/// Prints the notes of opened data.
pub fn note_all(opened: Opened, context: &Context) -> Outcome<Opened> {
    opened.notes.iter().for_each(|note| context.note(note));
    Ok(opened)
}

/// The data files and the model file that a command reads.
pub fn files_read(opened: &Opened, model: &Path) -> Vec<PathBuf> {
    let files = opened.files.iter().map(PathBuf::from);
    files.chain([model.to_path_buf()]).collect()
}

fn parse_kinds(given: &[String]) -> Outcome<Vec<(String, KindOverride)>> {
    let kinds = given.iter().flat_map(|text| split_assignments(text));
    kinds.map(|kind| Ok(parse_kind_override(kind)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_argument_may_hold_several_kinds() {
        let read = |text: &str| parse_kinds(&[text.to_string()]).unwrap();
        assert_eq!(read("a=real,b=count").len(), 2);
        assert_eq!(read("a=ordinal(x,y),b=count").len(), 2);
        assert_eq!(read("a,b=count")[0].0, "a,b");
        let quoted = read("a=ordinal(\"é,è\",\")\"),b=count");
        assert_eq!(quoted[0].1.levels, ["é,è", ")"]);
        assert_eq!(quoted[1].0, "b");
    }
}
