//! Checks shared by all parts of a model file. Errors name the place in the file as a path of
//! keys, such as `body.seen.columns`.

use crate::{Error, Result};
use serde::Deserialize;

/// The largest number of rows; larger counts are not exact in double precision.
const MAX_ROWS: u64 = 1 << 53;

/// An error about a place in a model file, given as a path of keys.
pub(crate) fn contradiction(place: &str, what: impl std::fmt::Display) -> Error {
    Error::data(format!(
        "the model file contradicts itself: {place}: {what}"
    ))
}

/// Requires a list to have as many entries as another.
pub(crate) fn same_length(
    place: &str,
    found: usize,
    expected: usize,
    counterpart: &str,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(contradiction(
        place,
        format!("{found} entries, but {counterpart} has {expected}"),
    ))
}

/// Requires numbers to be finite and nonnegative.
pub(crate) fn not_negative<'a>(
    place: &str,
    numbers: impl IntoIterator<Item = &'a f64>,
) -> Result<()> {
    match numbers.into_iter().find(|x| !(**x >= 0.0 && x.is_finite())) {
        None => Ok(()),
        Some(x) => Err(contradiction(place, format!("{x} is not a weight"))),
    }
}

/// Requires numbers to be probabilities that sum to 1.
pub(crate) fn probabilities(place: &str, numbers: &[f64]) -> Result<()> {
    let sum: f64 = numbers.iter().sum();
    let all = numbers.iter().all(|p| (0.0..=1.0).contains(p));
    if all && (sum - 1.0).abs() <= 1e-6 {
        return Ok(());
    }
    Err(contradiction(
        place,
        "these are not probabilities that sum to 1",
    ))
}

/// Requires a number of rows to be small enough to be counted exactly.
pub(crate) fn countable(place: &str, rows: u64) -> Result<()> {
    if rows <= MAX_ROWS {
        Ok(())
    } else {
        Err(contradiction(place, format!("{rows} rows are too many")))
    }
}

/// Reads a number where null stands for −∞, which JSON does not have.
pub(crate) fn number_or_minus_infinity<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> std::result::Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NEG_INFINITY))
}

/// Reads a number where null stands for ∞.
pub(crate) fn number_or_infinity<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> std::result::Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::INFINITY))
}
