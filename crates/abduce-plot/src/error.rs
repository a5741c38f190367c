//! The error of a plot that cannot be drawn.

use std::fmt;

/// Why a plot cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

/// The result of drawing a plot.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
