//! The error type of the library: its kind, its place (file, line, column, component) and a
//! hint. Bad input is an `Error`, never a panic.

use std::fmt;
use std::io;

/// The result of an operation that may fail with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The data are invalid: a ragged row, an unknown column.
    Data,
    /// An option or argument is invalid or does not match the data.
    Parameter,
    /// A computation failed.
    Numeric,
    /// A file cannot be read or written.
    Io,
}

/// An error with its place and, if there is one, a hint.
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
pub struct Error(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    kind: ErrorKind,
    cause: Option<io::ErrorKind>,
    message: String,
    hint: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    row: Option<u64>,
    column: Option<String>,
    component: Option<usize>,
    position: Option<usize>,
    readable_as: Option<&'static str>,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Details {
            kind,
            cause: None,
            message: message.into(),
            hint: None,
            file: None,
            line: None,
            row: None,
            column: None,
            component: None,
            position: None,
            readable_as: None,
        }))
    }

    /// An error in the data.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// An invalid option or argument.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parameter, message)
    }

    /// A failed computation.
    pub fn numeric(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Numeric, message)
    }

    /// A file that cannot be read or written.
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, message)
    }

    /// Attaches the kind of the OS error unless one is already set.
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

    /// Attaches the file unless one is already set.
    pub fn at_file(mut self, file: impl Into<String>) -> Self {
        self.0.file.get_or_insert(file.into());
        self
    }

    /// Attaches the line of the file, counted from 1, unless one is already set.
    pub fn at_line(mut self, line: u64) -> Self {
        self.0.line.get_or_insert(line);
        self
    }

    /// Attaches the row of the data, counted from 1 over all files, unless one is already set.
    /// It is displayed if the line is unknown.
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.row.get_or_insert(row);
        self
    }

    /// Removes the row.
    pub(crate) fn without_row(mut self) -> Self {
        self.0.row = None;
        self
    }

    /// Attaches the column unless one is already set.
    pub fn at_column(mut self, column: impl Into<String>) -> Self {
        self.0.column.get_or_insert(column.into());
        self
    }

    /// Attaches the component of the model unless one is already set.
    pub fn at_component(mut self, component: usize) -> Self {
        self.0.component.get_or_insert(component);
        self
    }

    /// Attaches the character of a question, counted from 1, unless one is already set.
    pub fn at_position(mut self, position: usize) -> Self {
        self.0.position.get_or_insert(position);
        self
    }

    /// Marks the column's kind as the cause, with a kind that its cells can be read as.
    pub fn about_kind(mut self, readable_as: &'static str) -> Self {
        self.0.readable_as = Some(readable_as);
        self
    }

    /// Sets the hint: what to do about the error.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The kind of the OS error, if it is known.
    pub fn cause(&self) -> Option<io::ErrorKind> {
        self.0.cause
    }

    /// A kind that the column's cells can be read as, if the column's kind is the cause.
    ///
    /// ```
    /// let error = abduce::Error::data("2.5 is not a count").about_kind("real");
    /// assert_eq!(error.readable_as(), Some("real"));
    /// assert_eq!(abduce::Error::data("no rows").readable_as(), None);
    /// ```
    pub fn readable_as(&self) -> Option<&'static str> {
        self.0.readable_as
    }

    /// The message, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about the error, if it is known.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The file, if it is known.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The line, counted from 1, if it is known.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The row, counted from 1 over all files, if it is known.
    pub fn row(&self) -> Option<u64> {
        self.0.row
    }

    /// The column, if it is known.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// The component, if it is known.
    pub fn component(&self) -> Option<usize> {
        self.0.component
    }

    /// The character of a question, counted from 1, where one is to blame.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &self.0;
        let mut place = Vec::new();
        if let Some(file) = &details.file {
            place.push(file.clone());
        }
        if let Some(line) = details.line {
            place.push(format!("line {line}"));
        } else if let Some(row) = details.row {
            place.push(format!("row {row}"));
        }
        if let Some(column) = &details.column {
            place.push(format!("column \"{column}\""));
        }
        if let Some(component) = details.component {
            place.push(format!("component {component}"));
        }
        if let Some(position) = details.position {
            place.push(format!("character {position}"));
        }
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&details.message)?;
        if let Some(hint) = &details.hint {
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
