//! The specification of a density: its kind and options.

use crate::data::{Field, Kind, Schema, kind_option};
use crate::density::{Bins, Kernel, Selection};
use crate::model::classes_of;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A kind of density with its options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "estimator", rename_all = "lowercase")]
pub enum Estimator {
    /// A kernel density.
    Kde {
        /// The kernel.
        kernel: Kernel,
        /// How its bandwidth is chosen.
        selection: Selection,
    },
    /// A histogram.
    Histogram {
        /// The rule for the bins of each column.
        bins: Bins,
        /// The pseudocount spread evenly over all cells.
        smoothing: f64,
    },
    /// A k-nearest-neighbour density.
    Knn {
        /// The number of neighbours; by default the square root of the number of points.
        neighbours: Option<usize>,
    },
}

impl Estimator {
    /// The name of the estimator.
    pub fn name(&self) -> &'static str {
        match self {
            Estimator::Kde { .. } => "kde",
            Estimator::Histogram { .. } => "histogram",
            Estimator::Knn { .. } => "knn",
        }
    }
}

/// The specification of a density of all rows, or of one for each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Specification {
    /// The column of labels, if there is a density for each class.
    pub target: Option<String>,
    /// The kind of density.
    #[serde(flatten)]
    pub estimator: Estimator,
}

impl Specification {
    /// The positions of the target and of the columns of the density.
    ///
    /// # Errors
    /// If the target is not categorical, another column is, or there is no numeric column.
    pub fn columns(&self, schema: &Schema) -> Result<(Option<usize>, Vec<usize>)> {
        let target = self.target.as_deref();
        let target = target.map(|name| schema.position(name)).transpose()?;
        if let Some(field) = target.map(|target| &schema.fields[target]) {
            classes_of(field)?;
        }
        let mut columns = Vec::new();
        let mut other: Vec<&Field> = Vec::new();
        for (position, field) in schema.fields.iter().enumerate() {
            match field.kind {
                Kind::Real | Kind::Count => columns.push(position),
                _ if Some(position) == target || field.kind == Kind::Text => {}
                _ => other.push(field),
            }
        }
        if !other.is_empty() {
            return Err(self.not_numeric(&other));
        }
        if columns.is_empty() {
            return Err(Error::parameter("there is no numeric column"));
        }
        Ok((target, columns))
    }

    /// The error about columns that are not numeric, with the options that help.
    fn not_numeric(&self, columns: &[&Field]) -> Error {
        let name = self.estimator.name();
        let kinds = columns
            .iter()
            .map(|field| format!("{} ({})", field.name, field.kind.name()));
        let kinds = kinds.collect::<Vec<String>>().join(", ");
        let error = match columns {
            [field] => {
                let kind = field.kind.name();
                let message = format!("{name} needs numeric columns, and this one is {kind}");
                Error::parameter(message).at_column(&field.name)
            }
            _ => Error::parameter(format!(
                "{name} needs numeric columns, and these are not: {kinds}"
            )),
        };
        let drop = drop_option(columns);
        let has_numbers = |field: &&Field| field.level_numbers().is_some();
        error.with_hint(if columns.iter().all(has_numbers) {
            let options = match columns.len() {
                0..=3 => {
                    let options = columns.iter();
                    let options = options.map(|field| kind_option(&field.name, Kind::Real.name()));
                    options.collect::<Vec<String>>().join(" ")
                }
                _ => kind_option("*", Kind::Real.name()),
            };
            format!("pass {options}, or leave them out with {drop}")
        } else if self.target.is_some() {
            format!("leave out columns that are not numeric with {drop}")
        } else {
            format!("leave them out with {drop}, or make one of them the `target`")
        })
    }
}

/// The option that leaves columns out, quoted where a shell or a comma in a name needs it.
fn drop_option(columns: &[&Field]) -> String {
    let names = columns.iter().map(|field| {
        if field.name.contains(',') {
            format!("\"{}\"", field.name)
        } else {
            field.name.clone()
        }
    });
    let names = names.collect::<Vec<String>>().join(",");
    let is_plain = |c: char| c.is_alphanumeric() || "_-.,".contains(c);
    if names.chars().all(is_plain) {
        format!("`drop={names}`")
    } else {
        format!("`drop='{names}'`")
    }
}
