//! The rows of a source as numbers, each checked against the domain of the family.

use crate::data::Source;
use crate::{Error, Result};

/// The counts of the rows, and of those with missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    pub rows: u64,
    pub hidden: u64,
    pub weight: f64,
    /// The sum of the squared weights.
    pub squares: f64,
}

impl Seen {
    /// Kish's effective sample size, (Σ w)² / Σ w².
    pub fn kish_sample_size(&self) -> f64 {
        if self.squares > 0.0 {
            self.weight * self.weight / self.squares
        } else {
            0.0
        }
    }
}

/// Calls `visit` with every complete row and its weight; rows with missing values are only
/// counted. A value for which `wrong` returns a message is an error.
pub(super) fn for_each_row(
    source: &dyn Source,
    wrong: impl Fn(f64) -> Option<String>,
    mut visit: impl FnMut(&[f64], f64),
) -> Result<Seen> {
    let fields = &source.schema().fields;
    let mut seen = Seen::default();
    let mut number = 0;
    let mut row = vec![0.0; fields.len()];
    for chunk in source.scan()? {
        let chunk = chunk?;
        let columns: Vec<_> = chunk
            .columns()
            .iter()
            .map(|c| c.cells(0, chunk.rows()))
            .collect();
        for i in 0..chunk.rows() {
            number += 1;
            let weight = chunk.weights().map_or(1.0, |weights| weights[i]);
            if weight <= 0.0 {
                continue;
            }
            if !columns.iter().all(|cells| cells.number(i).is_some()) {
                seen.hidden += 1;
                continue;
            }
            for ((cell, cells), field) in row.iter_mut().zip(&columns).zip(fields) {
                *cell = cells.number(i).unwrap_or_default();
                if let Some(why) = wrong(*cell) {
                    return Err(Error::data(why)
                        .at_row(number)
                        .at_column(&field.name)
                        .with_hint("fix or remove the row, or choose another family"));
                }
            }
            seen.rows += 1;
            seen.weight += weight;
            seen.squares += weight * weight;
            visit(&row, weight);
        }
    }
    Ok(seen)
}

/// The weighted mean of a function of the rows; 0 if there are none.
pub(super) fn mean(
    source: &dyn Source,
    wrong: impl Fn(f64) -> Option<String>,
    f: impl Fn(&[f64]) -> f64,
) -> Result<f64> {
    let mut sum = 0.0;
    let seen = for_each_row(source, wrong, |row, weight| sum += weight * f(row))?;
    Ok(sum / seen.weight.max(f64::MIN_POSITIVE))
}

/// The error message for an invalid number, if it is one.
pub(super) fn error_unless(is_valid: bool, x: f64, expected: &str) -> Option<String> {
    (!is_valid).then(|| format!("{x} is not {expected}"))
}
