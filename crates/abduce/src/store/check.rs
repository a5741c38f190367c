//! Validation of model files. Parsing guarantees the types of a file; what it cannot
//! guarantee, that lengths, positions and ranges agree with each other, is checked here
//! and in [`FittedModel::check`](crate::model::FittedModel::check), before anything is computed. Every other
//! function may then index and unwrap what the checks have established.
//!
//! Errors name the place in the file as a path of keys, such as `body.seen.columns`.

use super::Model;
use crate::Result;
use crate::data::{Kind, Schema};
use crate::validate::contradiction;
use std::collections::HashSet;

impl Model {
    /// Checks that the parts of the file fit together.
    pub(super) fn check(&self) -> Result<()> {
        check_schema(self.schema())?;
        self.body.check()?;
        if let Some(calibration) = &self.calibration {
            calibration.check(self.names().len())?;
        }
        self.fit.check()
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
