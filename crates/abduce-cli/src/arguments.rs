//! The arguments that say which data to read and how; the same for every
//! command that reads data.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use abduce::ask::Predict;
use abduce::data::{Kind, KindOverride, Opened, ReadOptions, TextOptions, parse_kind_override};
use abduce::store::{Model, read_kinds};
use clap::Args;
use std::path::{Path, PathBuf};

/// The data, and how to read them.
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

    /// The words that stand for a missing value [default: NA,N/A,#N/A,NaN,null,None,?, but none in
    /// columns of text]; an empty cell always does
    #[arg(long, value_name = "WORDS", help_heading = "Data options")]
    pub missing: Vec<String>,

    /// The first line is a row, not the names of the columns
    #[arg(long, help_heading = "Data options")]
    pub no_header: bool,

    /// The names of the columns, instead of those in the file
    #[arg(long, value_name = "A,B", help_heading = "Data options")]
    pub names: Vec<String>,

    /// Character between cells, or tab [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Data options")]
    pub delimiter: Option<u8>,

    /// Character that quotes cells containing delimiters or line breaks, or none [default: "]
    #[arg(long, value_name = "CHAR", value_parser = quote, help_heading = "Data options")]
    pub quote: Option<Quote>,

    /// How much of the table may stay in memory, as in 256M or 2G; the rest is
    /// kept in a temporary file [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Data options")]
    pub memory: Option<u64>,
}

/// What the columns are, where that is not to be inferred.
#[derive(Args, Clone, Default)]
pub struct KindArguments {
    /// The kind of a column, as in year=categorical or size=ordinal(small,large): real, count,
    /// binary, categorical, ordinal, text; * in a name stands for any characters, as in
    /// 'pixel_*=real', and later kinds win over earlier ones [repeatable; default: 0/1 and yes/no
    /// are binary; whole numbers from 0 with a mean up to 10, a variance up to 4 times the mean
    /// and at least 1% zeros are counts; other numbers are real; words are categorical; numbered
    /// columns that look alike get one kind]
    #[arg(long, value_name = "COL=KIND", help_heading = "Data options")]
    pub kind: Vec<String>,

    /// Take kinds and levels from a model file, or from a text with one COL=KIND to a line;
    /// --kind wins over them
    #[arg(long, value_name = "FILE", help_heading = "Data options")]
    pub schema: Option<PathBuf>,
}

/// The character around a cell, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quote(Option<u8>);

impl DataArguments {
    /// How the files are read.
    pub fn options(&self, target: Option<&str>) -> ReadOptions {
        let default = ReadOptions::default();
        let list = |given: &[String]| given.iter().flat_map(|text| split_list(text)).collect();
        let some = |given: &[String]| (!given.is_empty()).then(|| list(given));
        ReadOptions {
            drop: list(&self.drop),
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

    /// The column that holds the classes, where the data say so by what they
    /// are.
    pub fn label_column(&self) -> Outcome<Option<String>> {
        Ok(abduce::data::label_column(&self.data, &self.options(None))?)
    }

    /// Opens the data and finds out what the columns are, but for the `kinds`
    /// that the user says; columns of text only if it is said how.
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
        let opened = abduce::data::open(&self.data, &options)?;
        opened.notes.iter().for_each(|note| context.note(note));
        Ok(opened)
    }

    /// Opens some columns of the data, all read as one kind if that is given; no
    /// columns named means all.
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
        let opened = abduce::data::open(&self.data, &options)?;
        opened.notes.iter().for_each(|note| context.note(note));
        Ok(opened)
    }

    /// Opens more rows for a model, with the levels and terms that are new.
    pub fn open_more(&self, model: &Model, context: &Context) -> Outcome<Opened> {
        let (schema, unsettled) = (model.schema(), model.incremental()?.unsettled());
        let options = self.options(None);
        let opened = abduce::data::open_more(&self.data, &options, schema, &unsettled)?;
        opened.notes.iter().for_each(|note| context.note(note));
        Ok(opened)
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
        let opened = abduce::data::open_with(&self.data, &options, schema)?;
        opened.notes.iter().for_each(|note| context.note(note));
        Ok(opened)
    }
}

/// A number from 0 up.
pub fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a number, 0 or more".into()),
    }
}

/// The files a command reads that asks a model about data.
pub fn files_read(opened: &Opened, model: &Path) -> Vec<PathBuf> {
    let files = opened.files.iter().map(PathBuf::from);
    files.chain([model.to_path_buf()]).collect()
}

/// Cuts `a,b` at its commas; a name that holds one stands in double quotes.
pub fn split_list(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match (c, parts.last_mut()) {
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => parts.push(String::new()),
            (c, Some(part)) => part.push(c),
            _ => {}
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

fn parse_kinds(given: &[String]) -> Outcome<Vec<(String, KindOverride)>> {
    let wishes = given.iter().flat_map(|text| split_wishes(text));
    wishes.map(|wish| Ok(parse_kind_override(wish)?)).collect()
}

/// Cuts `a=x,b=y(1,2)` into what it says of each column.
pub fn split_wishes(text: &str) -> Vec<&str> {
    let parts = split_outside_parentheses(text);
    // A column's name may hold a comma: then the text is one wish.
    match parts.iter().all(|part| part.contains('=')) {
        true => parts,
        false => vec![text],
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    let (mut quoted, mut before) = (false, ',');
    for (at, c) in text.char_indices() {
        // A quote in the middle of a word is a letter.
        if c == '"' && (quoted || matches!(before, '(' | ',' | ' ')) {
            quoted = !quoted;
        }
        before = c;
        match c {
            _ if quoted => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A whole number that may be 0.
pub fn whole(text: &str) -> Result<u64, String> {
    let wrong = |_| "must be a whole number, 0 or more".to_string();
    text.parse().map_err(wrong)
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            [byte] if *byte != b'\n' && *byte != b'\r' => Ok(*byte),
            _ => Err("a delimiter is one ASCII character, or \"tab\"".into()),
        },
    }
}

fn quote(text: &str) -> Result<Quote, String> {
    match text.as_bytes() {
        b"none" => Ok(Quote(None)),
        [byte] if !b"\r\n".contains(byte) && byte.is_ascii() => Ok(Quote(Some(*byte))),
        _ => Err("a quote is one ASCII character, or \"none\"".into()),
    }
}

fn memory(text: &str) -> Result<u64, String> {
    let wrong = || format!("\"{text}\" is not a size; write 256M or 2G");
    let upper = text.trim().to_ascii_uppercase();
    let plain = upper.trim_end_matches('B').trim_end_matches('I');
    let (digits, shift) = match plain.chars().last() {
        Some('K') => (&plain[..plain.len() - 1], 10),
        Some('M') => (&plain[..plain.len() - 1], 20),
        Some('G') => (&plain[..plain.len() - 1], 30),
        Some('T') => (&plain[..plain.len() - 1], 40),
        _ => (plain, 0),
    };
    let size: f64 = digits.trim().parse().map_err(|_| wrong())?;
    if !size.is_finite() || size < 0.0 {
        return Err(wrong());
    }
    Ok((size * (1u64 << shift) as f64) as u64)
}

/// Reads `column=value`, the column being one that `known` knows; it may hold
/// an `=` itself.
pub fn split_assignment(text: &str, known: impl Fn(&str) -> bool) -> Outcome<(&str, &str)> {
    let cuts = text.match_indices('=').map(|(at, _)| at);
    let cut = |at: usize| (text[..at].trim(), text[at + 1..].trim());
    let mut cuts: Vec<(&str, &str)> = cuts.map(cut).collect();
    let place = cuts.iter().rposition(|(column, _)| known(column));
    match (place, cuts.is_empty()) {
        (Some(place), _) => Ok(cuts.swap_remove(place)),
        (None, false) => Ok(cuts.swap_remove(0)),
        (None, true) => Err(Failure::usage(format!(
            "\"{text}\" does not say a column and its value; write column=value"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_at_commas_outside_quotes() {
        assert_eq!(split_list("a, b,c"), ["a", "b", "c"]);
        assert_eq!(split_list("\"a,b\",c"), ["a,b", "c"]);
    }

    #[test]
    fn several_kinds_stand_in_one_argument() {
        let read = |text: &str| parse_kinds(&[text.to_string()]).unwrap();
        assert_eq!(read("a=real,b=count").len(), 2);
        assert_eq!(read("a=ordinal(x,y),b=count").len(), 2);
        assert_eq!(read("a,b=count")[0].0, "a,b");
        let quoted = read("a=ordinal(\"é,è\",\")\"),b=count");
        assert_eq!(quoted[0].1.levels, ["é,è", ")"]);
        assert_eq!(quoted[1].0, "b");
    }

    #[test]
    fn sizes_and_delimiters_are_read() {
        assert_eq!(memory("256M"), Ok(256 << 20));
        assert_eq!(memory("1.5GiB"), Ok(3 << 29));
        assert!(memory("much").is_err() && memory("-1").is_err());
        assert_eq!(delimiter("tab"), Ok(b'\t'));
        assert_eq!(delimiter(";"), Ok(b';'));
        assert!(delimiter("ab").is_err());
        assert_eq!(quote("none"), Ok(Quote(None)));
        assert_eq!(quote("'"), Ok(Quote(Some(b'\''))));
        assert!(quote("").is_err());
    }

    #[test]
    fn a_column_may_hold_an_equals_sign() {
        let known = |name: &str| name == "a=b" || name == "a";
        assert_eq!(split_assignment("a=b=c", known).unwrap(), ("a=b", "c"));
        assert_eq!(split_assignment("a=x=y", known).unwrap(), ("a", "x=y"));
        assert!(split_assignment("a", known).is_err());
    }
}
