//! What to fit: the kind of density and how it is tuned.

use crate::data::{Field, Kind, Schema, kind_option};
use crate::density::{Bins, Kernel, Selection};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A kind of density with its options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "estimator", rename_all = "lowercase")]
pub enum Estimator {
    /// A kernel density.
    Kde {
        /// The bump on every point.
        kernel: Kernel,
        /// How wide it is.
        selection: Selection,
    },
    /// A histogram.
    Histogram {
        /// How many bins each column has.
        bins: Bins,
        /// The weight spread evenly over the whole range.
        smoothing: f64,
    },
    /// A k-nearest-neighbour density.
    Knn {
        /// k; by default the square root of the number of points.
        neighbours: Option<usize>,
    },
}

impl Estimator {
    /// The name users read.
    pub fn name(&self) -> &'static str {
        match self {
            Estimator::Kde { .. } => "kde",
            Estimator::Histogram { .. } => "histogram",
            Estimator::Knn { .. } => "knn",
        }
    }
}

/// What to fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Specification {
    /// The column that holds the label: a density for each of its levels.
    pub target: Option<String>,
    /// The kind of density.
    #[serde(flatten)]
    pub estimator: Estimator,
}

impl Specification {
    /// The position of the target and of the columns that the density is over.
    ///
    /// # Errors
    /// If the target has no levels, another column has, or nothing is left.
    pub fn columns(&self, schema: &Schema) -> Result<(Option<usize>, Vec<usize>)> {
        let target = self.target.as_deref();
        let target = target.map(|name| schema.position(name)).transpose()?;
        if let Some(field) = target.map(|target| &schema.fields[target]) {
            if !field.kind.is_coded() {
                return Err(Error::parameter(format!(
                    "a target must have levels, not be {}",
                    field.kind.name()
                ))
                .at_column(&field.name)
                .with_hint(format!(
                    "pass {}",
                    kind_option(&field.name, Kind::Categorical.name())
                )));
            }
            if field.levels.is_empty() {
                return Err(Error::data("no row has a label").at_column(&field.name));
            }
        }
        let mut columns = Vec::new();
        let mut unfit: Vec<&Field> = Vec::new();
        for (position, field) in schema.fields.iter().enumerate() {
            match field.kind {
                Kind::Real | Kind::Count => columns.push(position),
                _ if Some(position) == target || field.kind == Kind::Text => {}
                _ => unfit.push(field),
            }
        }
        if !unfit.is_empty() {
            return Err(self.over_numbers(&unfit));
        }
        if columns.is_empty() {
            return Err(Error::parameter("there is no column of numbers"));
        }
        Ok((target, columns))
    }

    /// What to say where columns are no numbers: all of them, and what to type.
    fn over_numbers(&self, unfit: &[&Field]) -> Error {
        let told: Vec<String> = unfit
            .iter()
            .map(|field| format!("{} ({})", field.name, field.kind.name()))
            .collect();
        // A comma in a name would be read as its end, and a shell reads more.
        let typed = unfit.iter().map(|field| match field.name.contains(',') {
            true => format!("\"{}\"", field.name),
            false => field.name.clone(),
        });
        let mut typed = typed.collect::<Vec<String>>().join(",");
        if !typed
            .chars()
            .all(|c| c.is_alphanumeric() || "_-.,".contains(c))
        {
            typed = format!("'{typed}'");
        }
        let name = self.estimator.name();
        let numeric = |field: &&Field| field.level_numbers().is_some();
        if unfit.iter().all(numeric) {
            let kinds = unfit
                .iter()
                .map(|field| kind_option(&field.name, Kind::Real.name()));
            let kinds: Vec<String> = kinds.collect();
            let kinds = match kinds.len() {
                0..=3 => kinds.join(" "),
                _ => "--kind \"*=real\"".to_string(),
            };
            return Error::parameter(format!(
                "{name} needs real columns or counts, and these are not: {}",
                told.join(", ")
            ))
            .with_hint(format!(
                "pass {kinds}, or leave them out with --drop {typed}"
            ));
        }
        let hint = match self.target {
            Some(_) => format!("leave out what is not a number with --drop {typed}"),
            None => format!("leave them out with --drop {typed}, or make one of them the --target"),
        };
        match unfit {
            [one] => Error::parameter(format!(
                "{name} is over numbers, and this column is {}",
                one.kind.name()
            ))
            .at_column(&one.name),
            _ => Error::parameter(format!(
                "{name} is over numbers, and these columns are not: {}",
                told.join(", ")
            )),
        }
        .with_hint(hint)
    }
}
