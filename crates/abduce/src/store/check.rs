//! Validation of model files. Parsing guarantees the types of the fields. That lengths, positions
//! and ranges agree with each other is checked here and in
//! [`FittedModel::check`](crate::model::FittedModel::check) before anything is computed, so that
//! other functions may index and unwrap.
//!
//! Errors name the place in the file as a path of keys, such as `body.seen.columns`.

use super::Model;
use crate::Result;
use crate::data::{Kind, Schema};
use crate::validate::contradiction;
use std::collections::HashSet;

impl Model {
    /// Checks that the parts of the file are consistent with each other.
    pub(super) fn check(&self) -> Result<()> {
        check_schema(self.schema())?;
        self.body.check()?;
        if let Some(calibration) = &self.calibration {
            calibration.check(self.names().len())?;
        }
        self.fit.check()
    }
}

/// Checks the columns of a model: distinct names, levels only for the coded kinds, terms only
/// for text.
fn check_schema(schema: &Schema) -> Result<()> {
    let mut names = HashSet::new();
    for (number, field) in schema.fields.iter().enumerate() {
        let path = |key: &str| format!("body.schema.fields[{number}].{key}");
        if !names.insert(&field.name) {
            let message = format!("two columns are named \"{}\"", field.name);
            return Err(contradiction(&path("name"), message));
        }
        let max_levels = match field.kind {
            Kind::Binary => 2,
            Kind::Categorical | Kind::Ordinal => u32::MAX as usize - 1,
            Kind::Real | Kind::Count | Kind::Text => 0,
        };
        if field.levels.len() > max_levels {
            let kind = field.kind.name();
            let message = format!("{} levels for a column of kind {kind}", field.levels.len());
            return Err(contradiction(&path("levels"), message));
        }
        let distinct: HashSet<&String> = field.levels.iter().collect();
        if distinct.len() < field.levels.len() {
            return Err(contradiction(&path("levels"), "a level occurs twice"));
        }
        if field.text.is_some() && field.kind != Kind::Text {
            return Err(contradiction(&path("text"), "the column is not text"));
        }
        if !(field.unit.is_normal() && field.unit > 0.0) {
            return Err(contradiction(&path("unit"), "the unit is not positive"));
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
