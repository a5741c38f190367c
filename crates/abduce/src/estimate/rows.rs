//! The rows of a source as numbers, each checked to be possible.

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

/// Passes every row on with its weight; rows with a missing value are counted and left out. A
/// value for which `wrong` gives a message is an error.
pub(super) fn each(
    source: &dyn Source,
    wrong: impl Fn(f64) -> Option<String>,
    mut pass_on: impl FnMut(&[f64], f64),
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
                        .with_hint("fix or leave out the row, or choose another family"));
                }
            }
            seen.rows += 1;
            seen.weight += weight;
            seen.squares += weight * weight;
            pass_on(&row, weight);
        }
    }
    Ok(seen)
}

/// The message for a number that is not what it should be.
pub(super) fn must(ok: bool, x: f64, what: &str) -> Option<String> {
    (!ok).then(|| format!("{x} is not {what}"))
}
