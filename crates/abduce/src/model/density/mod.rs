//! Densities of a table: one for all rows or, with a target, one for each class,
//!
//!   p(x, z) = π_z f_z(x),
//!
//! with f a kernel density, a histogram or a k-nearest-neighbour density of the numeric
//! columns. Densities are estimated from complete rows; of a row with missing values only the
//! label is used, for π. Queries may have missing values.

mod check;
mod diagnose;
mod fill;
mod fit;
mod fitted;
mod joint;
mod likelihood;
mod points;
mod specification;

pub use diagnose::took_another_rule;
pub use fit::{Fit, fit, fit_unscored};
pub use fitted::{Details, HistogramDensity, Kde, Knn, Recipe};
pub use specification::{Estimator, Specification};

use crate::Result;
use crate::data::Schema;
use crate::density::{ConditionalDensity, Histogram, KernelDensity, NearestNeighbours, Tolerance};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A density of any kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "estimator", rename_all = "lowercase")]
pub enum Density {
    /// A kernel density.
    Kde(KernelDensity),
    /// A histogram.
    Histogram(Histogram),
    /// A k-nearest-neighbour density.
    Knn(NearestNeighbours),
}

/// Densities fitted to a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DensityModel {
    /// The columns of the table.
    pub schema: Schema,
    /// The column that holds the label, if there is one: its levels are the
    /// classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<usize>,
    /// The columns of the densities.
    pub columns: Vec<usize>,
    /// Columns that were constant in the fitted rows, and their values. They have no part
    /// in densities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<(usize, f64)>,
    /// The probability of each class; a single 1 without a target.
    pub weights: Vec<f64>,
    /// The density of each class; `None` for a class without complete rows.
    pub densities: Vec<Option<Density>>,
    #[serde(skip)]
    patterns: Patterns,
}

/// Kernel densities prepared for the patterns of missing values met so far: a cache, empty in
/// a clone.
#[derive(Debug, Default)]
struct Patterns(Mutex<HashMap<Pattern, Arc<ConditionalDensity>>>);

/// A class and the columns with values.
type Pattern = (usize, Vec<usize>);

impl Clone for Patterns {
    fn clone(&self) -> Self {
        Patterns::default()
    }
}

impl Patterns {
    /// The density of a class prepared for values in exactly these columns.
    fn of(
        &self,
        class: usize,
        density: &KernelDensity,
        seen: &[usize],
    ) -> Result<Arc<ConditionalDensity>> {
        // Bounds the memory used if every row has another pattern.
        const MAX_PATTERNS: usize = 64;
        let key = (class, seen.to_vec());
        let cached = |patterns: &Self| Some(patterns.0.lock().ok()?.get(&key)?.clone());
        if let Some(prepared) = cached(self) {
            return Ok(prepared);
        }
        let prepared = Arc::new(density.given(seen)?);
        if let Ok(mut patterns) = self.0.lock() {
            if patterns.len() >= MAX_PATTERNS {
                patterns.clear();
            }
            patterns.insert(key, prepared.clone());
        }
        Ok(prepared)
    }
}

impl DensityModel {
    /// The same model with another tolerance of kernel density sums.
    pub fn with_tolerance(self, tolerance: Tolerance) -> DensityModel {
        let with_tolerance = |density: Density| match density {
            Density::Kde(density) => Density::Kde(density.with_tolerance(tolerance)),
            other => other,
        };
        let densities = self.densities.into_iter();
        DensityModel {
            densities: densities
                .map(|density| density.map(with_tolerance))
                .collect(),
            patterns: Patterns::default(),
            ..self
        }
    }

    /// The names of the classes; without a target, there is one class.
    pub fn names(&self) -> Vec<String> {
        match self.target {
            Some(target) => self.schema.fields[target].levels.clone(),
            None => vec!["1".into()],
        }
    }
}
