//! Errors as Python knows them: what is wrong with data or options is a
//! `ValueError`, a file an `OSError` of the kind that Python has for it, arithmetic that cannot go on a
//! `FloatingPointError`.

use crate::words::{advice, place_of, spoken};
use abduce::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::{PyFloatingPointError, PyOSError, PyRuntimeError, PyValueError};
use std::io;

/// What an error says in Python: where, what, and what to do about it.
fn text_of(error: &Error) -> String {
    let place = place_of(error).map_or(String::new(), |place| format!("{place}: "));
    let hint = error.hint().and_then(advice);
    let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
    format!("{place}{}{hint}", spoken(error.message()))
}

/// The Python exception of an error.
pub fn raised(error: Error) -> PyErr {
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

/// The Python exception of a question whose conditions are impossible: they are a wrong value, not
/// a failure of arithmetic.
pub fn refused(error: Error) -> PyErr {
    match error.kind() {
        ErrorKind::Numeric => PyValueError::new_err(text_of(&error)),
        _ => raised(error),
    }
}

/// The number by which Python tells what the system had against a file: it makes a
/// `FileNotFoundError` of it, a `PermissionError` and so on, on every system.
fn number_of(cause: io::ErrorKind) -> Option<i32> {
    Some(match cause {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::IsADirectory => 21,
        _ => return None,
    })
}

/// What is raised of a panic.
pub fn broken() -> PyErr {
    PyRuntimeError::new_err("internal error; please report it")
}

/// A value that is wrong.
pub fn wrong(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}
