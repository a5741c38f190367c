//! Deserialization of options that a specification may hold as text, such as `"m=2,pooled"`.

use crate::Error;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::str::FromStr;

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrFields<T> {
    Text(String),
    Fields(T),
}

/// Deserializes an option from text or from its fields.
pub(crate) fn text_or_fields<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + FromStr<Err = Error>,
{
    match TextOrFields::deserialize(deserializer)? {
        TextOrFields::Text(text) => text.parse().map_err(D::Error::custom),
        TextOrFields::Fields(fields) => Ok(fields),
    }
}

/// Like [`text_or_fields`], for an option that may be absent.
pub(crate) fn optional_text_or_fields<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + FromStr<Err = Error>,
{
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(TextOrFields::Text(text)) => text.parse().map(Some).map_err(D::Error::custom),
        Some(TextOrFields::Fields(fields)) => Ok(Some(fields)),
    }
}
