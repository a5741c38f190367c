//! How files are to be read: which columns, what they mean, which words stand
//! for a missing value, how a line is cut. Everything here has a default that suits a
//! well-kept file.

use crate::data::encode::pattern::{fits, is_pattern};
use crate::data::table::schema::Kind;
use crate::text::{Analyzer, AnalyzerOptions, Hashing, Limits, Unit};
use crate::{Error, Result};

/// How [`open`](crate::data::open) and its kin read files.
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
    /// Columns whose kind is not to be inferred. A `*` in a name stands for any
    /// characters, and later entries win over earlier ones. What is no kind of labels does
    /// not apply to the target where a pattern says it.
    pub kinds: Vec<(String, KindOverride)>,
    /// Kinds taken from another table, as [`store::read_kinds`](crate::store::read_kinds)
    /// reads them: as `kinds`, which win over them, but columns that are not in the data
    /// are only noted.
    pub schema: Vec<(String, KindOverride)>,
    /// Columns that hold names of categories even where every cell looks like a number:
    /// columns of strings in a typed table.
    pub words: Vec<String>,
    /// The kind of all other columns; inferred when `None`.
    pub otherwise: Option<KindOverride>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// The only columns to keep, besides the target and the weight.
    pub columns: Option<Vec<String>>,
    /// The column of labels: categorical, whatever its cells look like.
    pub target: Option<String>,
    /// The column that says how often each row counts.
    pub weight: Option<String>,
    /// The words that stand for a missing value. An empty cell always does.
    pub missing: Vec<String>,
    /// The first line is a row, not the names of the columns.
    pub no_header: bool,
    /// The names of the columns, instead of those in the file.
    pub names: Option<Vec<String>>,
    /// The byte between two cells; found from the file when `None`.
    pub delimiter: Option<u8>,
    /// The byte around a cell that holds delimiters or line ends; `None` when
    /// the files have no such thing.
    pub quote: Option<u8>,
    /// What the model that the rows are read for makes of unseen categories, for each column of
    /// its schema, for notes about them; they are missing values where this is empty.
    pub unseen: Vec<UnseenCategory>,
    /// How text is read; without it, columns of text are left out.
    pub text: Option<TextOptions>,
    /// Whether numbers beyond 1e140, whose squares would leave double precision, are read
    /// in a [unit](crate::data::Field::unit) of their own; they are refused otherwise.
    pub units: bool,
    /// Whether the rows are more rows for a model: kinds are then the model's and not the
    /// user's, and every row may have weight 0.
    pub more_rows: bool,
    /// How many bytes of the encoded table may stay in memory; a larger table
    /// is kept in a temporary file.
    pub memory_budget: u64,
}

/// What a model makes of a category that the fitted rows did not have.
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
    /// What a note says becomes of such cells.
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
    /// The kind that the user gives a column, by its name or by a pattern such as `pixel_*`.
    ///
    /// ```
    /// use abduce::data::{Kind, ReadOptions};
    /// let options = ReadOptions {
    ///     kinds: vec![("pixel_*".into(), Kind::Real.into())],
    ///     ..ReadOptions::default()
    /// };
    /// assert_eq!(options.kind_override("pixel_7").map(|own| own.kind), Some(Kind::Real));
    /// assert!(options.kind_override("label").is_none());
    /// ```
    pub fn kind_override(&self, column: &str) -> Option<&KindOverride> {
        let target = self.target.as_deref() == Some(column);
        let applies = |(name, asked): &&(String, KindOverride)| {
            let labels = !target || !is_pattern(name) || name == column;
            fits(name, column) && (labels || asked.kind.is_coded())
        };
        let last =
            |kinds: &'_ [(String, KindOverride)]| kinds.iter().rposition(|own| applies(&own));
        let asked = last(&self.kinds).map(|place| &self.kinds[place].1);
        let kept = || last(&self.schema).map(|place| &self.schema[place].1);
        asked.or_else(kept).or(self.otherwise.as_ref())
    }
}

/// What to type so that a column has a kind.
pub(crate) fn kind_option(column: &str, kind: &str) -> String {
    format!("--kind {}", quoted(&format!("{column}={kind}")))
}

/// What to type so that a column has a family.
pub(crate) fn family_option(column: &str, family: &str) -> String {
    format!("--family {}", quoted(&format!("{column}={family}")))
}

/// What to type so that a column is left out.
pub(crate) fn drop_option(column: &str) -> String {
    let name = match column.contains(',') {
        true => format!("\"{column}\""),
        false => column.to_string(),
    };
    format!("--drop {}", quoted(&name))
}

/// A word as a shell reads it as one: in double quotes, or in single quotes where it has
/// characters that mean something within double ones.
fn quoted(word: &str) -> String {
    match word.contains(['"', '$', '`', '\\', '!']) && !word.contains('\'') {
        true => format!("'{word}'"),
        false => format!("\"{word}\""),
    }
}

/// How columns of text become counts of terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextOptions {
    /// How texts are taken apart.
    pub analyzer: Analyzer,
    /// Which terms are kept.
    pub limits: Limits,
    /// Codes by hashing to so many bits, instead of a vocabulary; for streams.
    pub hashing: Option<Hashing>,
    /// Whether there may be no term at all, as in a few new texts.
    pub wordless: bool,
}

impl TextOptions {
    /// How columns are read whose terms come with their weights.
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

/// A kind the user asks for, with the order of its levels where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOverride {
    /// The kind.
    pub kind: Kind,
    /// All levels, code 0 first; empty when they are to be found in the data.
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

/// Reads `column=kind` or `column=kind(level,level,…)`; a `*` in the column stands for
/// any characters.
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
/// If there is no `=`, the kind is unknown, or levels are given where none can
/// be or twice.
pub fn parse_kind_override(text: &str) -> Result<(String, KindOverride)> {
    let wrong = |message: String| {
        Error::parameter(message)
            .with_hint("write column=kind, or column=ordinal(low,middle,high) for levels in order")
    };
    // A column's name may hold "=", a kind's name never does; a level may.
    let head = text.find('(').filter(|_| text.trim_end().ends_with(')'));
    let (column, kind) = match head.and_then(|end| text[..end].rfind('=')) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => text
            .rsplit_once('=')
            .ok_or_else(|| wrong(format!("\"{text}\" does not say a column and its kind")))?,
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
    if let Some((i, level)) = levels
        .iter()
        .enumerate()
        .find(|(i, level)| levels[..*i].contains(level))
    {
        let message = format!("level {} is \"{level}\" again", i + 1);
        return Err(wrong(message).at_column(column));
    }
    if kind == Kind::Binary && !levels.is_empty() && levels.len() != 2 {
        let message = format!("{} levels for a binary column, which has two", levels.len());
        return Err(wrong(message).at_column(column));
    }
    Ok((column.to_string(), KindOverride { kind, levels }))
}

/// Cuts `a,"b,c"` at its commas; a level that holds one stands in quotes.
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

/// The words that stand for a missing value, ready to be asked for every cell.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    tokens: Vec<String>,
    starts: [bool; 256],
    longest: usize,
}

impl Missing {
    pub fn new(tokens: &[String]) -> Self {
        let tokens: Vec<String> = tokens
            .iter()
            .map(|token| token.trim_ascii().to_string())
            .filter(|token| !token.is_empty())
            .collect();
        let mut starts = [false; 256];
        for token in &tokens {
            let start = token.as_bytes()[0];
            starts[start as usize] = true;
            if any_case(token) {
                starts[start.to_ascii_lowercase() as usize] = true;
                starts[start.to_ascii_uppercase() as usize] = true;
            }
        }
        Missing {
            longest: tokens.iter().map(String::len).max().unwrap_or(0),
            starts,
            tokens,
        }
    }

    /// Whether these are the words that stand for a missing value unless the user says others.
    pub fn are_usual(&self) -> bool {
        let usual = Missing::new(&ReadOptions::default().missing);
        self.tokens == usual.tokens
    }

    /// Whether a cell without the blanks around it stands for a missing value.
    #[inline]
    pub fn is(&self, trimmed: &str) -> bool {
        let Some(&start) = trimmed.as_bytes().first() else {
            return true;
        };
        self.starts[start as usize] && trimmed.len() <= self.longest && self.is_token(trimmed)
    }

    fn is_token(&self, trimmed: &str) -> bool {
        self.tokens.iter().any(|token| {
            token == trimmed || (any_case(token) && token.eq_ignore_ascii_case(trimmed))
        })
    }

    /// What to type so that one more word stands for a missing value.
    pub fn with(&self, word: &str) -> String {
        let mut tokens: Vec<String> = self.tokens.clone();
        tokens.push(match word.contains(',') {
            true => format!("\"{word}\""),
            false => word.to_string(),
        });
        format!("--missing {}", quoted(&tokens.join(",")))
    }
}

/// The usual words are spelt every way; but "none" is an answer where "None"
/// is a missing value, and a user's own words may differ likewise.
fn any_case(token: &str) -> bool {
    let usual = ["na", "n/a", "#n/a", "nan", "null"];
    usual.iter().any(|word| token.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_words_stand_for_a_hole_and_others_do_not() {
        let missing = Missing::new(&ReadOptions::default().missing);
        for word in [
            "", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "Null",
            "None", "?",
        ] {
            assert!(missing.is(word), "{word}");
        }
        for word in ["NAA", "0", "-", "??", "nul", "none", "#"] {
            assert!(!missing.is(word), "{word}");
        }
        assert!(Missing::new(&[]).is(""));
    }

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
