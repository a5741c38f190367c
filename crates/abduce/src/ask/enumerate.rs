//! The joint distribution of several columns of levels, by the chain rule:
//!
//!   P(a, b | given) = P(a | given) P(b | given, a).

use super::{Conditional, Joint};
use crate::{Error, Result};

/// The most combinations of levels that are gone through.
const MOST: usize = 1_000_000;

/// The probability of every combination of levels of some columns given what is known of others,
/// the levels of the last column fastest; combinations that cannot be are among them.
///
/// # Errors
/// If a column holds numbers, is asked about twice or is given, if there are more than a million
/// combinations, or if what is given is impossible.
pub fn joint_of_levels(
    model: &dyn Joint,
    given: &[Option<f64>],
    columns: &[usize],
) -> Result<Vec<(Vec<usize>, f64)>> {
    let fields = &model.schema().fields;
    let mut combinations = 1usize;
    for (place, column) in columns.iter().enumerate() {
        let field = &fields[*column];
        if columns[..place].contains(column) || given[*column].is_some() {
            return Err(
                Error::parameter("a column is asked about once, and not what is given")
                    .at_column(&field.name),
            );
        }
        if !field.kind.is_coded() {
            return Err(Error::parameter(
                "of several columns together, only those of levels can be asked about",
            )
            .at_column(&field.name)
            .with_hint("ask about a column of numbers by itself"));
        }
        combinations = combinations.saturating_mul(field.levels.len());
    }
    if combinations > MOST {
        return Err(
            Error::parameter(format!("there are more than {MOST} combinations of levels"))
                .with_hint("ask about fewer columns at once"),
        );
    }
    let mut found = vec![(Vec::new(), 1.0)];
    for column in columns {
        let mut longer = Vec::with_capacity(found.len() * fields[*column].levels.len());
        for (levels, probability) in found {
            let own = match probability > 0.0 {
                true => {
                    let mut known = given.to_vec();
                    for (column, level) in columns.iter().zip(&levels) {
                        known[*column] = Some(*level as f64);
                    }
                    match model.condition(&known, *column)? {
                        Conditional::Levels(own) => own,
                        Conditional::Numbers(_) => {
                            return Err(Error::parameter("the model says nothing of its levels")
                                .at_column(&fields[*column].name));
                        }
                    }
                }
                false => vec![0.0; fields[*column].levels.len()],
            };
            for (level, share) in own.into_iter().enumerate() {
                let longer_levels = levels.iter().copied().chain([level]).collect();
                longer.push((longer_levels, probability * share));
            }
        }
        found = longer;
    }
    Ok(found)
}
