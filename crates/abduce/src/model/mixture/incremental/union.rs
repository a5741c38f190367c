//! What columns are in all models together.

use super::Mixture;
use crate::data::{Field, number_token};
use crate::{Error, Result};

/// A column in which there is also a constant number. All that is known of such a
/// column is its number, so that its kind is any that can have it.
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

/// What a column is in all the models that have seen something of it.
pub(super) fn union_of(parts: &[&Mixture], own: &Field) -> Result<Field> {
    let mut union: Option<Field> = None;
    let mut constants = Vec::new();
    for part in parts {
        let place = part.schema.position(&own.name)?;
        let field = &part.schema.fields[place];
        if let Some(x) = part.constant(place) {
            constants.push(x);
            continue;
        }
        if !part.models(place) {
            continue;
        }
        union = Some(match union {
            None => field.clone(),
            Some(union) => {
                let closed = |field: &Field| field.text.as_ref().is_some_and(|t| !t.may_grow());
                if (closed(&union) || closed(field)) && union.text != field.text {
                    let message = "each model has kept other terms of its own documents";
                    return Err(Error::data(message)
                        .at_column(&own.name)
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
        None => own.clone(),
    })
}
