//! How files are read: which columns are used, their kinds, the words for a missing value,
//! delimiter and quote. The defaults suit a well-formed file.

use crate::data::encode::pattern::{fits, is_pattern};
use crate::data::table::schema::Kind;
use crate::text::{Analyzer, AnalyzerOptions, Hashing, Limits, Unit};
use crate::{Error, Result};

/// How [`open`](crate::data::open) and related functions read files.
///
/// ```
/// use abduce::data::{Kind, ReadOptions};
/// let options = ReadOptions {
///     target: Some("species".into()),
///     kinds: vec![("year".into(), Kind::Ordinal.into())],
///     ..ReadOptions::default()
/// };
/// assert!(options.missing.iter().any(|token| token == "NA"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// The kinds of columns, instead of inferring them. A `*` in a name matches any
    /// characters, and later entries win over earlier ones. A pattern applies to the target
    /// only if its kind has levels.
    pub kinds: Vec<(String, KindOverride)>,
    /// Kinds taken from another table by [`store::read_kinds`](crate::store::read_kinds).
    /// `kinds` wins over them, and a column that the data lack is a note, not an error.
    pub schema: Vec<(String, KindOverride)>,
    /// Columns of strings in a typed table: categories even where every cell looks like a
    /// number.
    pub words: Vec<String>,
    /// The kind of all other columns; inferred when `None`.
    pub otherwise: Option<KindOverride>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// The only columns to keep, besides the target and the weight.
    pub columns: Option<Vec<String>>,
    /// The column of labels, read as categorical.
    pub target: Option<String>,
    /// The column of weights: how often each row counts.
    pub weight: Option<String>,
    /// The words that stand for a missing value. An empty cell always does.
    pub missing: Vec<String>,
    /// Whether the first line is a row, not the names of the columns.
    pub no_header: bool,
    /// The names of the columns, instead of those in the file.
    pub names: Option<Vec<String>>,
    /// The byte between two cells; detected when `None`.
    pub delimiter: Option<u8>,
    /// The byte around a cell that holds delimiters or line ends; `None` if cells are never
    /// quoted.
    pub quote: Option<u8>,
    /// How the model treats unseen categories in each column of its schema, to be named in
    /// notes; as missing values where this is empty.
    pub unseen: Vec<UnseenCategory>,
    /// How text is read; without it, columns of text are left out.
    pub text: Option<TextOptions>,
    /// Whether columns with numbers beyond 1e140, whose squares overflow double precision,
    /// are rescaled to a [unit](crate::data::Field::unit); such numbers are an error otherwise.
    pub units: bool,
    /// Whether the rows are more rows for a model: the kinds come from the model, not the
    /// user, and every row may have weight 0.
    pub more_rows: bool,
    /// How many bytes of the encoded table may stay in memory; a larger table
    /// is kept in a temporary file.
    pub memory_budget: u64,
}

/// How a model treats a category that the fitted rows did not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnseenCategory {
    /// The cell counts as a missing value.
    #[default]
    Missing,
    /// The category has the probability that smoothing gives it.
    Smoothed,
    /// The category has probability 0.
    Impossible,
}

impl UnseenCategory {
    /// How a note describes the treatment.
    pub(super) fn consequence(self) -> &'static str {
        match self {
            UnseenCategory::Missing => "treated as missing",
            UnseenCategory::Smoothed => "given the smoothed probability of an unseen category",
            UnseenCategory::Impossible => "the model gives it probability 0",
        }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            kinds: Vec::new(),
            schema: Vec::new(),
            words: Vec::new(),
            otherwise: None,
            drop: Vec::new(),
            columns: None,
            target: None,
            weight: None,
            missing: ["", "NA", "N/A", "#N/A", "NaN", "null", "None", "?"]
                .map(String::from)
                .into(),
            no_header: false,
            names: None,
            delimiter: None,
            quote: Some(b'"'),
            unseen: Vec::new(),
            text: None,
            units: false,
            more_rows: false,
            memory_budget: 256 << 20,
        }
    }
}

impl ReadOptions {
    /// The kind requested for a column, by its name or by a pattern such as `pixel_*`.
    ///
    /// ```
    /// use abduce::data::{Kind, ReadOptions};
    /// let options = ReadOptions {
    ///     kinds: vec![("pixel_*".into(), Kind::Real.into())],
    ///     ..ReadOptions::default()
    /// };
    /// assert_eq!(options.kind_override("pixel_7").map(|asked| asked.kind), Some(Kind::Real));
    /// assert!(options.kind_override("label").is_none());
    /// ```
    pub fn kind_override(&self, column: &str) -> Option<&KindOverride> {
        let target = self.target.as_deref() == Some(column);
        let applies = |(name, asked): &&(String, KindOverride)| {
            let by_name = !is_pattern(name) || name == column;
            fits(name, column) && (!target || by_name || asked.kind.is_coded())
        };
        let last =
            |kinds: &'_ [(String, KindOverride)]| kinds.iter().rposition(|entry| applies(&entry));
        let asked = last(&self.kinds).map(|place| &self.kinds[place].1);
        let kept = || last(&self.schema).map(|place| &self.schema[place].1);
        asked.or_else(kept).or(self.otherwise.as_ref())
    }
}

/// The option that gives a column a kind, as messages name it.
pub(crate) fn kind_option(column: &str, kind: &str) -> String {
    format!("`kind={}`", quoted(&format!("{column}={kind}")))
}

/// The option that gives a column a family, as messages name it.
pub(crate) fn family_option(column: &str, family: &str) -> String {
    format!("`family={}`", quoted(&format!("{column}={family}")))
}

/// The option that leaves out a column, as messages name it.
pub(crate) fn drop_option(column: &str) -> String {
    let name = if column.contains(',') {
        format!("\"{column}\"")
    } else {
        column.to_string()
    };
    format!("`drop={}`", quoted(&name))
}

/// A word quoted for a shell: in double quotes, or in single quotes if it has characters
/// that are special within double quotes.
pub(super) fn quoted(word: &str) -> String {
    if word.contains(['"', '$', '`', '\\', '!']) && !word.contains('\'') {
        format!("'{word}'")
    } else {
        format!("\"{word}\"")
    }
}

/// How columns of text become counts of terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextOptions {
    /// How texts are split into terms.
    pub analyzer: Analyzer,
    /// Which terms are kept.
    pub limits: Limits,
    /// Hashes terms to this many bits instead of building a vocabulary; for streams.
    pub hashing: Option<Hashing>,
    /// Whether the vocabulary may be empty, as with a few new texts.
    pub wordless: bool,
}

impl TextOptions {
    /// How columns of terms with weights are read.
    pub(crate) fn of_pairs() -> Result<TextOptions> {
        let options = AnalyzerOptions {
            unit: Unit::Pairs,
            ..AnalyzerOptions::default()
        };
        Ok(TextOptions {
            analyzer: Analyzer::new(options)?,
            ..TextOptions::default()
        })
    }
}

/// A kind requested by the user, with its levels in order where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOverride {
    /// The kind.
    pub kind: Kind,
    /// All levels, code 0 first; empty to take them from the data.
    pub levels: Vec<String>,
}

impl From<Kind> for KindOverride {
    fn from(kind: Kind) -> Self {
        KindOverride {
            kind,
            levels: Vec::new(),
        }
    }
}

/// Parses `column=kind` or `column=kind(level,level,…)`; a `*` in the column matches any
/// characters.
///
/// ```
/// use abduce::data::{Kind, parse_kind_override};
/// let (column, asked) = parse_kind_override("size=ordinal(small, medium, large)")?;
/// assert_eq!(column, "size");
/// assert_eq!(asked.kind, Kind::Ordinal);
/// assert_eq!(asked.levels, ["small", "medium", "large"]);
/// assert!(parse_kind_override("size=tall").is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
///
/// # Errors
/// If there is no `=`, the kind is unknown or has no levels, or a level is given twice.
pub fn parse_kind_override(text: &str) -> Result<(String, KindOverride)> {
    let wrong = |message: String| {
        Error::parameter(message)
            .with_hint("write column=kind, or column=ordinal(low,middle,high) for levels in order")
    };
    // Names of columns and levels may contain "=", names of kinds do not.
    let head = text.find('(').filter(|_| text.trim_end().ends_with(')'));
    let (column, kind) = match head.and_then(|end| text[..end].rfind('=')) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => text
            .rsplit_once('=')
            .ok_or_else(|| wrong(format!("\"{text}\" does not name a column and its kind")))?,
    };
    let (column, kind) = (column.trim(), kind.trim());
    let (kind, levels) = match kind.strip_suffix(')').and_then(|k| k.split_once('(')) {
        Some((kind, levels)) => (kind.trim(), Some(levels)),
        None => (kind, None),
    };
    let kind: Kind = kind.parse()?;
    let levels: Vec<String> = levels.map(split_levels).unwrap_or_default();
    if !levels.is_empty() && !kind.is_coded() {
        let message = format!("a {} column has no levels", kind.name());
        return Err(wrong(message).at_column(column));
    }
    if levels.iter().any(String::is_empty) {
        return Err(wrong("a level is empty".into()).at_column(column));
    }
    let mut repeated = (1..levels.len()).filter(|i| levels[..*i].contains(&levels[*i]));
    if let Some(level) = repeated.next().map(|i| &levels[i]) {
        let message = format!("level \"{level}\" is given twice");
        return Err(wrong(message).at_column(column));
    }
    if kind == Kind::Binary && !levels.is_empty() && levels.len() != 2 {
        let message = format!("{} levels for a binary column, which has two", levels.len());
        return Err(wrong(message).at_column(column));
    }
    Ok((column.to_string(), KindOverride { kind, levels }))
}

/// Splits `a,"b,c"` at its commas; a level that contains a comma is quoted.
fn split_levels(text: &str) -> Vec<String> {
    let mut levels = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.trim_start();
        let quoted = start.strip_prefix('"').and_then(|inner| {
            let (level, after) = inner.split_once('"')?;
            let after = after.trim_start();
            (after.is_empty() || after.starts_with(',')).then_some((level, after))
        });
        let (level, after) = match quoted {
            Some((level, after)) => (level, after.strip_prefix(',')),
            None => match rest.split_once(',') {
                Some((level, after)) => (level, Some(after)),
                None => (rest, None),
            },
        };
        levels.push(level.trim().to_string());
        match after {
            Some(after) => rest = after,
            None => return levels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_read_with_and_without_levels() {
        let read = |text: &str| parse_kind_override(text);
        assert_eq!(read("a=real").unwrap(), ("a".into(), Kind::Real.into()));
        assert_eq!(read("a=b=count").unwrap().0, "a=b");
        assert_eq!(
            read("f(x)=binary").unwrap(),
            ("f(x)".into(), Kind::Binary.into())
        );
        assert_eq!(
            read("a=ordinal(x=1,y)").unwrap().1.levels,
            ["x=1", "y"].map(String::from)
        );
        let quoted = read("a=ordinal(\"é,è\", x, 5\")").unwrap().1;
        assert_eq!(quoted.levels, ["é,è", "x", "5\""]);
        for wrong in [
            "a",
            "a=",
            "a=tall",
            "a=real(1,2)",
            "a=ordinal(x,,y)",
            "a=ordinal(x,x)",
            "a=binary(x)",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
