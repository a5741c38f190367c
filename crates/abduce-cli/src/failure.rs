//! Why a command ended early, and the exit code that tells scripts.

use crate::escape;
use crate::interrupt;
use abduce::{Error, ErrorKind};
use std::io;
use unicode_width::UnicodeWidthStr;

pub type Outcome<T = ()> = Result<T, Failure>;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// The library says why.
    Engine(Error),
    /// The same about a character of a question.
    Question {
        /// What is wrong.
        error: Error,
        /// The question, and below it a mark at the character.
        marked: String,
    },
    /// The work was done and its result is no.
    Work(String),
    /// The same, after it was told on stdout.
    Told,
    /// A signal asked a fit to stop; the message is absent where everything has
    /// been reported.
    Interrupted(Option<String>),
    /// Nobody reads stdout any more; that is no trouble.
    Closed,
}

impl Failure {
    pub fn work(message: impl Into<String>) -> Failure {
        Failure::Work(message.into())
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Engine(Error::parameter(message))
    }

    /// What is wrong with a question.
    pub fn question(error: Error, question: &str) -> Failure {
        let Some(position) = error.position() else {
            return Failure::Engine(error);
        };
        let before: String = question.chars().take(position - 1).collect();
        let indent = " ".repeat(escape::line(&before).width());
        let marked = format!("  {}\n  {indent}^", escape::line(question));
        Failure::Question { error, marked }
    }

    pub fn code(&self) -> u8 {
        match self {
            Failure::Closed => 0,
            Failure::Work(_) | Failure::Told => 1,
            Failure::Interrupted(_) => interrupt::exit_code(),
            Failure::Engine(error) | Failure::Question { error, .. } => match error.kind() {
                ErrorKind::Numeric => 1,
                _ => 2,
            },
        }
    }

    /// The one line to be said, if there is one.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::Engine(error) | Failure::Question { error, .. } => Some(error.to_string()),
            Failure::Work(message) => Some(message.clone()),
            Failure::Interrupted(message) => message.clone(),
            Failure::Told | Failure::Closed => None,
        }
    }

    /// The lines below it.
    pub fn below(&self) -> Option<&str> {
        match self {
            Failure::Question { marked, .. } => Some(marked),
            _ => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Engine(error)
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
            // What is read comes through the library; this is a result that
            // could not be written, such as to a full disk.
            _ => Failure::Work(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        io::Error::from(error).into()
    }
}
