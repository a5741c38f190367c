//! A line of the list of models, and how a model of its kind is read from a file.

use crate::model::fitted::{Fitted, FittedModel};
use crate::model::{AnyModel, Learner};

/// A model in the list.
#[derive(Debug)]
pub struct ModelInfo {
    /// The name that users type.
    pub name: &'static str,
    /// What the model is, in a few words.
    pub about: &'static str,
    /// The name of its kind in model files, which several models may share.
    pub kind: &'static str,
    /// Reads a model of this kind from the parts of a file.
    pub(crate) read: for<'a> fn(&Parts<'a>) -> Result<AnyModel, Damaged<'a>>,
}

/// The parts of a model file, as JSON.
pub(crate) struct Parts<'a> {
    pub(crate) body: &'a str,
    pub(crate) fit: &'a str,
    pub(crate) provenance: &'a str,
}

/// A part that cannot be read, and why.
pub(crate) struct Damaged<'a> {
    pub(crate) part: &'a str,
    pub(crate) error: serde_json::Error,
}

impl ModelInfo {
    pub(super) const fn of<L: Learner>() -> ModelInfo {
        ModelInfo {
            name: L::NAME,
            about: L::ABOUT,
            kind: L::Model::KIND,
            read: read::<L::Model>,
        }
    }
}

fn read<'a, M: FittedModel>(parts: &Parts<'a>) -> Result<AnyModel, Damaged<'a>> {
    Ok(AnyModel::from(Fitted::<M> {
        model: parsed(parts.body)?,
        recipe: parsed(parts.provenance)?,
        details: parsed(parts.fit)?,
    }))
}

fn parsed<'a, T: serde::Deserialize<'a>>(part: &'a str) -> Result<T, Damaged<'a>> {
    serde_json::from_str(part).map_err(|error| Damaged { part, error })
}
