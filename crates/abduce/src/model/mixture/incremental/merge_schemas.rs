//! The schema of several models together.

use super::FittedMixture;
use crate::data::{Field, number_token};
use crate::{Error, Result};

/// A field that also contains the value of a constant column, whose kind is not known.
pub(super) fn with_constant(field: &Field, x: f64) -> Field {
    if !field.kind.is_coded() || field.level_numbers().is_none() {
        let whole = field.whole && x.fract() == 0.0;
        return Field {
            whole,
            ..field.clone()
        };
    }
    let constant = Field::with_levels(&field.name, field.kind, [number_token(x)]);
    field.union(&constant).unwrap_or_else(|_| field.clone())
}

/// The union of a field over all models in which the column has values.
pub(super) fn union_of(parts: &[&FittedMixture], first: &Field) -> Result<Field> {
    let mut union: Option<Field> = None;
    let mut constants = Vec::new();
    for part in parts {
        let column = part.schema.position(&first.name)?;
        let field = &part.schema.fields[column];
        if let Some(x) = part.constant(column) {
            constants.push(x);
            continue;
        }
        if !part.is_modelled(column) {
            continue;
        }
        union = Some(match union {
            None => field.clone(),
            Some(union) => {
                let is_limited = |field: &Field| field.text.as_ref().is_some_and(|t| !t.may_grow());
                if (is_limited(&union) || is_limited(field)) && union.text != field.text {
                    let message = "the models have kept different terms";
                    return Err(Error::data(message)
                        .at_column(&first.name)
                        .with_hint("fit without limits on terms, or with hashing"));
                }
                union.union(field)?
            }
        });
    }
    Ok(match union {
        Some(union) => constants
            .into_iter()
            .fold(union, |union, x| with_constant(&union, x)),
        None => first.clone(),
    })
}
