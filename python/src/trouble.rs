//! Errors as Python knows them: what is wrong with data or options is a
//! `ValueError`, a file an `OSError`, arithmetic that cannot go on a
//! `FloatingPointError`.

use crate::words::{place_of, spoken};
use abduce::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::{PyFloatingPointError, PyOSError, PyValueError};

/// The Python exception of an error.
pub fn raised(error: Error) -> PyErr {
    let place = place_of(&error).map_or(String::new(), |place| format!("{place}: "));
    let hint = error
        .hint()
        .map_or(String::new(), |hint| format!("; {hint}"));
    let text = format!("{place}{}", spoken(&format!("{}{hint}", error.message())));
    match error.kind() {
        ErrorKind::Data | ErrorKind::Parameter => PyValueError::new_err(text),
        ErrorKind::Io => PyOSError::new_err(text),
        ErrorKind::Numeric => PyFloatingPointError::new_err(text),
    }
}

/// A value that is wrong.
pub fn wrong(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}
