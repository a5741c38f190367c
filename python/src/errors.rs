//! Python exceptions: errors of data or options are a `ValueError`, errors of files an `OSError` or its
//! subclass, numeric errors a `FloatingPointError`.

use crate::messages::{hint_in_python, position_of, with_parameters};
use abduce::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::{PyFloatingPointError, PyOSError, PyRuntimeError, PyValueError};
use std::io;

/// The message of an error in Python: position, message and hint.
fn text_of(error: &Error) -> String {
    let position = position_of(error).map_or(String::new(), |position| format!("{position}: "));
    let hint = error.hint().and_then(hint_in_python);
    let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
    format!("{position}{}{hint}", with_parameters(error.message()))
}

/// The Python exception of an error.
pub fn exception(error: Error) -> PyErr {
    let text = text_of(&error);
    match error.kind() {
        ErrorKind::Data | ErrorKind::Parameter => PyValueError::new_err(text),
        ErrorKind::Io => match error.cause().and_then(number_of) {
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
        ErrorKind::Numeric => PyFloatingPointError::new_err(text),
    }
}

/// The Python exception of an answer that fails. Numeric errors mean impossible conditions, so they
/// are a `ValueError`.
pub fn answer_exception(error: Error) -> PyErr {
    match error.kind() {
        ErrorKind::Numeric => PyValueError::new_err(text_of(&error)),
        _ => exception(error),
    }
}

/// The error number from which Python creates a `FileNotFoundError`, `PermissionError` or
/// `IsADirectoryError` on every system.
fn number_of(cause: io::ErrorKind) -> Option<i32> {
    Some(match cause {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::IsADirectory => 21,
        _ => return None,
    })
}

/// The Python exception of a panic.
pub fn internal_error() -> PyErr {
    PyRuntimeError::new_err("internal error; please report it")
}

/// A `ValueError`.
pub fn value_error(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}
