//! How a model treats a category that the fitted rows do not have.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How a model treats a category that the fitted rows do not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unseen {
    /// A category like the others: it has the probability that smoothing gives it, and is
    /// impossible without smoothing.
    #[default]
    Impossible,
    /// A missing value, with or without smoothing.
    Missing,
}

impl Unseen {
    /// Whether it is the default.
    pub(crate) fn is_impossible(&self) -> bool {
        *self == Unseen::Impossible
    }
}

impl FromStr for Unseen {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "impossible" => Ok(Unseen::Impossible),
            "missing" => Ok(Unseen::Missing),
            _ => Err(
                Error::parameter(format!("an unseen category cannot be \"{name}\""))
                    .with_hint("it is impossible or missing"),
            ),
        }
    }
}
