//! What `evaluate` is about: a kind of model, or the file of a fitted one.

use crate::commands::fit::{ModelName, ModelParser};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A kind of model, or the file of a fitted one.
#[derive(Clone, Debug)]
pub enum Subject {
    Name(ModelName),
    File(PathBuf),
}

/// Reads the name of a model, or that of a file.
#[derive(Clone)]
pub struct SubjectParser;

impl TypedValueParser for SubjectParser {
    type Value = Subject;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Subject, clap::Error> {
        let path = Path::new(value);
        let like_a_file = path.extension().is_some() || path.components().count() > 1;
        match ModelParser.parse_ref(command, argument, value) {
            Ok(name) => Ok(Subject::Name(name)),
            Err(_) if like_a_file || path.is_file() => Ok(Subject::File(path.into())),
            Err(error) => Err(error),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        ModelParser.possible_values()
    }
}
