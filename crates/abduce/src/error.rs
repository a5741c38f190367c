//! The one error type: what kind of trouble, where it is (file, line, column,
//! component) and what to do about it. Bad input becomes an `Error`, never a
//! panic.

use std::fmt;
use std::io;

/// The result of anything that can go wrong in abduce.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of trouble an [`Error`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The data are not what they should be: a ragged row, an unknown column.
    Data,
    /// An option or argument is wrong or does not fit the data.
    Parameter,
    /// The arithmetic cannot go on.
    Numeric,
    /// A file cannot be read or written.
    Io,
}

/// One trouble, with its place and, where there is one, its cure.
///
/// ```
/// use abduce::{Error, ErrorKind};
/// let error = Error::data("\"tall\" is not a number")
///     .at_file("people.csv")
///     .at_line(7)
///     .at_column("height")
///     .with_hint("correct the cell or pass `missing=tall`");
/// assert_eq!(error.kind(), ErrorKind::Data);
/// assert_eq!(
///     error.to_string(),
///     "people.csv, line 7, column \"height\": \"tall\" is not a number; \
///      correct the cell or pass `missing=tall`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Trouble>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Trouble {
    kind: ErrorKind,
    cause: Option<io::ErrorKind>,
    message: String,
    hint: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    row: Option<u64>,
    column: Option<String>,
    component: Option<usize>,
    readable_as: Option<&'static str>,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Trouble {
            kind,
            cause: None,
            message: message.into(),
            hint: None,
            file: None,
            line: None,
            row: None,
            column: None,
            component: None,
            readable_as: None,
        }))
    }

    /// Trouble with the data.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// Trouble with an option or argument.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parameter, message)
    }

    /// Trouble with the arithmetic.
    pub fn numeric(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Numeric, message)
    }

    /// Trouble with a file.
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, message)
    }

    /// Says what the system had against it; an earlier, closer word on it stays.
    ///
    /// ```
    /// use abduce::{Error, store};
    /// use std::io::ErrorKind;
    /// let missing = store::Model::load("there/is/none.abduce").unwrap_err();
    /// assert_eq!(missing.cause(), Some(ErrorKind::NotFound));
    /// let full = Error::io("no room").caused_by(ErrorKind::StorageFull);
    /// assert_eq!(full.cause(), Some(ErrorKind::StorageFull));
    /// ```
    pub fn caused_by(mut self, cause: io::ErrorKind) -> Self {
        self.0.cause.get_or_insert(cause);
        self
    }

    /// Says in which file; an earlier, closer word on it stays.
    pub fn at_file(mut self, file: impl Into<String>) -> Self {
        self.0.file.get_or_insert(file.into());
        self
    }

    /// Says on which line of the file, counted from 1.
    pub fn at_line(mut self, line: u64) -> Self {
        self.0.line.get_or_insert(line);
        self
    }

    /// Says in which row of the data, counted from 1 over all files, where the
    /// line is not known.
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.row.get_or_insert(row);
        self
    }

    /// Leaves the row unsaid, where the file is all that there is to say.
    pub(crate) fn without_row(mut self) -> Self {
        self.0.row = None;
        self
    }

    /// Says in which column of the table.
    pub fn at_column(mut self, column: impl Into<String>) -> Self {
        self.0.column.get_or_insert(column.into());
        self
    }

    /// Says in which component of the model.
    pub fn at_component(mut self, component: usize) -> Self {
        self.0.component.get_or_insert(component);
        self
    }

    /// Marks the column's kind as the cause, and names the kind that its cells can be read as.
    pub fn about_kind(mut self, readable_as: &'static str) -> Self {
        self.0.readable_as = Some(readable_as);
        self
    }

    /// Says what to do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What kind of trouble this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What the system had against it, where it is known.
    pub fn cause(&self) -> Option<io::ErrorKind> {
        self.0.cause
    }

    /// The kind that the column's cells can be read as, where its present kind is the cause.
    ///
    /// ```
    /// let error = abduce::Error::data("2.5 is not a count").about_kind("real");
    /// assert_eq!(error.readable_as(), Some("real"));
    /// assert_eq!(abduce::Error::data("no rows").readable_as(), None);
    /// ```
    pub fn readable_as(&self) -> Option<&'static str> {
        self.0.readable_as
    }

    /// What is wrong, without its place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The file, where one is to blame.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The line, counted from 1, where one is to blame.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The row, counted from 1 over all files, where one is to blame.
    pub fn row(&self) -> Option<u64> {
        self.0.row
    }

    /// The column, where one is to blame.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// The component, where one is to blame.
    pub fn component(&self) -> Option<usize> {
        self.0.component
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trouble = &self.0;
        let mut place = Vec::new();
        if let Some(file) = &trouble.file {
            place.push(file.clone());
        }
        if let Some(line) = trouble.line {
            place.push(format!("line {line}"));
        } else if let Some(row) = trouble.row {
            place.push(format!("row {row}"));
        }
        if let Some(column) = &trouble.column {
            place.push(format!("column \"{column}\""));
        }
        if let Some(component) = trouble.component {
            place.push(format!("component {component}"));
        }
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&trouble.message)?;
        if let Some(hint) = &trouble.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::io(error.to_string()).caused_by(error.kind())
    }
}
