//! Validation of model files. Parsing guarantees the types of a file; what it cannot
//! guarantee, that lengths, positions and ranges agree with each other, is checked here
//! and in the `check` of each [`Body`], before anything is computed. Every other
//! function may then index and unwrap what the checks have established.
//!
//! Errors name the place in the file as a path of keys, such as `body.seen.columns`.

use super::{Body, FitRecord, Model};
use crate::data::{Kind, Schema};
use crate::{Error, Result};
use std::collections::HashSet;

/// Counts above this are not exact in double precision, and sums of them may overflow.
const MOST_ROWS: u64 = 1 << 53;

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

/// Requires numbers to be finite and not negative.
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
    match rows <= MOST_ROWS {
        true => Ok(()),
        false => Err(contradiction(place, format!("{rows} rows are too many"))),
    }
}

impl Model {
    /// Checks that the parts of the file fit together.
    pub(super) fn check(&self) -> Result<()> {
        let schema = match &self.body {
            Body::Mixture(mixture) => &mixture.schema,
            Body::Density(densities) => &densities.schema,
            Body::KMeans(clusters) => &clusters.schema,
        };
        check_schema(schema)?;
        match &self.body {
            Body::Mixture(mixture) => mixture.check()?,
            Body::Density(densities) => densities.check()?,
            Body::KMeans(clusters) => clusters.check()?,
        }
        if let Some(calibration) = &self.calibration {
            calibration.check(self.joint().names().len())?;
        }
        self.fit.check()
    }
}

impl FitRecord {
    fn check(&self) -> Result<()> {
        countable("fit.rows", self.rows)?;
        countable("fit.parameters", self.parameters as u64)?;
        countable("fit.iterations", self.iterations as u64)?;
        not_negative("fit.weight", [&self.weight])
    }
}

/// Checks the columns of a model: distinct names, levels for the coded kinds alone,
/// terms for text alone.
fn check_schema(schema: &Schema) -> Result<()> {
    let mut names = HashSet::new();
    for (number, field) in schema.fields.iter().enumerate() {
        let place = |key: &str| format!("body.schema.fields[{number}].{key}");
        if !names.insert(&field.name) {
            let twice = format!("two columns are named \"{}\"", field.name);
            return Err(contradiction(&place("name"), twice));
        }
        let most = match field.kind {
            Kind::Binary => 2,
            Kind::Categorical | Kind::Ordinal => u32::MAX as usize - 1,
            Kind::Real | Kind::Count | Kind::Text => 0,
        };
        if field.levels.len() > most {
            let kind = field.kind.name();
            let many = format!("{} levels of a column of kind {kind}", field.levels.len());
            return Err(contradiction(&place("levels"), many));
        }
        let distinct: HashSet<&String> = field.levels.iter().collect();
        if distinct.len() < field.levels.len() {
            return Err(contradiction(&place("levels"), "a level occurs twice"));
        }
        if field.text.is_some() && field.kind != Kind::Text {
            return Err(contradiction(&place("text"), "the column is not text"));
        }
        if !(field.unit.is_normal() && field.unit > 0.0) {
            return Err(contradiction(&place("unit"), "the unit is not positive"));
        }
    }
    match &schema.weight {
        Some(weight) if names.contains(weight) => Err(contradiction(
            "body.schema.weight",
            format!("\"{weight}\" is also a column of the model"),
        )),
        _ => Ok(()),
    }
}
