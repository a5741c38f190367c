//! Options that may stand in a specification as users type them, such as `"m=2,pooled"`.

use crate::Error;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::str::FromStr;

#[derive(Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Text(String),
    Fields(T),
}

/// Reads an option that is given as text or by its fields.
pub(crate) fn text_or_fields<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + FromStr<Err = Error>,
{
    match Written::deserialize(deserializer)? {
        Written::Text(text) => text.parse().map_err(D::Error::custom),
        Written::Fields(fields) => Ok(fields),
    }
}

/// The same for an option that may be left out.
pub(crate) fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + FromStr<Err = Error>,
{
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(Written::Text(text)) => text.parse().map(Some).map_err(D::Error::custom),
        Some(Written::Fields(fields)) => Ok(Some(fields)),
    }
}
