//! Why a command failed, and its exit code.

use crate::io::escape;
use crate::io::interrupt;
use abduce::{Error, ErrorKind};
use std::io;
use unicode_width::UnicodeWidthStr;

pub type Outcome<T = ()> = Result<T, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// An error of the library, or wrong usage.
    Error(Error),
    /// An error at one character of a question.
    Question {
        /// What is wrong.
        error: Error,
        /// The question, and below it a mark at the character.
        marked: String,
    },
    /// The computation failed, or the answer is no: exit code 1.
    Work(String),
    /// The same, already reported on stdout.
    Reported,
    /// A signal stopped a fit; there is no message if everything has been reported.
    Interrupted(Option<String>),
    /// The reader of stdout closed it, which is not an error.
    Closed,
}

impl Failure {
    pub fn work(message: impl Into<String>) -> Failure {
        Failure::Work(message.into())
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Error(Error::parameter(message))
    }

    /// What is wrong with a question.
    pub fn question(error: Error, question: &str) -> Failure {
        let Some(position) = error.position() else {
            return Failure::Error(error);
        };
        let before: String = question.chars().take(position - 1).collect();
        let indent = " ".repeat(escape::line(&before).width());
        let marked = format!("  {}\n  {indent}^", escape::line(question));
        Failure::Question { error, marked }
    }

    pub fn code(&self) -> u8 {
        match self {
            Failure::Closed => 0,
            Failure::Work(_) | Failure::Reported => 1,
            Failure::Interrupted(_) => interrupt::exit_code(),
            Failure::Error(error) | Failure::Question { error, .. } => match error.kind() {
                ErrorKind::Numeric => 1,
                _ => 2,
            },
        }
    }

    /// The line to print on stderr, if there is one.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::Error(error) | Failure::Question { error, .. } => Some(error.to_string()),
            Failure::Work(message) => Some(message.clone()),
            Failure::Interrupted(message) => message.clone(),
            Failure::Reported | Failure::Closed => None,
        }
    }

    /// The lines to print below the message.
    pub fn lines_below(&self) -> Option<&str> {
        match self {
            Failure::Question { marked, .. } => Some(marked),
            _ => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

impl From<abduce::plot::Error> for Failure {
    fn from(error: abduce::plot::Error) -> Failure {
        Error::from(error).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            // Input is read by the library, so this is output that could not be written, for
            // example to a full disk.
            _ => Failure::Work(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        io::Error::from(error).into()
    }
}
